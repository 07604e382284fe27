"""Fact-F1: the counts of one query, the rules for no gold and too many facts, and the mean over queries."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argscichat_metric.compute import compute_scores
from argscichat_metric.fact_f1 import fact_f1, fact_scores, limit_facts, scores_without_gold

# predicted, gold, (precision, recall, f1). All worked by hand: shared / predicted, shared / gold,
# 2 * shared / (predicted + gold), each side counted without repeats.
GOLDEN = {
    "identical": (["s1", "s2"], ["s1", "s2"], (1.0, 1.0, 1.0)),
    "identical, other order": (["s2", "s1"], ["s1", "s2"], (1.0, 1.0, 1.0)),
    "disjoint": (["s1", "s2"], ["s3"], (0.0, 0.0, 0.0)),
    "one of two right": (["s1", "s2"], ["s2"], (1 / 2, 1.0, 2 / 3)),
    "one of two found": (["s1"], ["s1", "s2"], (1.0, 1 / 2, 2 / 3)),
    "one right, one missed": (["s1", "s2"], ["s2", "s3"], (1 / 2, 1 / 2, 1 / 2)),
    "nothing predicted": ([], ["s1"], (0.0, 0.0, 0.0)),
    "nothing in gold": (["s1"], [], (0.0, 0.0, 0.0)),
    "repeats predicted": (["s1", "s1", "s1", "s2"], ["s1"], (1 / 2, 1.0, 2 / 3)),
    "repeats in gold": (["s1"], ["s1", "s1"], (1.0, 1.0, 1.0)),
    # 14 of 249 real queries have more than two gold facts; two selected sentences cannot reach 1 there.
    "two of three gold facts": (["s1", "s2"], ["s1", "s2", "s3"], (1.0, 2 / 3, 4 / 5)),
    "two of ten gold facts": ([0, 1], list(range(10)), (1.0, 1 / 5, 1 / 3)),
    "indices, with the first sentence": ([0, 3], [0], (1 / 2, 1.0, 2 / 3)),
    "sentences are compared as they are": (["A small corpus."], ["a small corpus"], (0.0, 0.0, 0.0)),
}

FACTS = st.lists(st.integers(0, 6), max_size=5)


@pytest.mark.parametrize(("predicted", "gold", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_golden_counts(predicted, gold, expected):
    assert fact_scores(predicted, gold) == pytest.approx(expected)
    assert fact_f1(predicted, gold) == pytest.approx(expected[2])


def _reference_authors_f1(predicted: list[int], gold: list[int], n_sentences: int) -> float:
    """F1 of the positive class over a paper's sentences as a 0/1 mask each, the way the authors' code counts it."""
    masks = [(sentence in predicted, sentence in gold) for sentence in range(n_sentences)]
    true_positives, false_positives, false_negatives = (
        masks.count(outcome) for outcome in ((True, True), (True, False), (False, True))
    )
    return 2 * true_positives / (2 * true_positives + false_positives + false_negatives) if true_positives else 0.0


@given(FACTS, FACTS)
def test_sets_agree_with_the_masks_of_the_authors(predicted, gold):
    assert fact_f1(predicted, gold) == pytest.approx(_reference_authors_f1(predicted, gold, n_sentences=7))


@given(FACTS, FACTS, st.randoms(use_true_random=False))
def test_order_and_repeats_do_not_matter(predicted, gold, chance: random.Random):
    shuffled = [*predicted, *predicted[:2]]
    chance.shuffle(shuffled)
    assert fact_scores(shuffled, gold) == fact_scores(predicted, gold)


@given(FACTS, FACTS)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(predicted, gold):
    precision, recall, f1 = fact_scores(predicted, gold)
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert f1 == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rule", "predicted", "expected"),
    [
        ("skip", [], None),
        ("skip", ["s1"], None),
        ("zero", [], 0.0),
        ("zero", ["s1"], 0.0),
        ("squad", [], 1.0),
        ("squad", ["s1"], 0.0),
    ],
)
def test_a_query_without_gold_scores_by_the_rule(rule, predicted, expected):
    scores = scores_without_gold(predicted, rule)
    assert scores == (None if expected is None else (expected, expected, expected))


@pytest.mark.parametrize(
    ("facts", "max_facts", "kept", "n_cut"),
    [
        ([], 2, [], 0),
        (["b", "a"], 2, ["b", "a"], 0),
        (["b", "a", "c"], 2, ["b", "a"], 1),
        (["b", "b", "a", "b", "a"], 2, ["b", "a"], 0),
        (["b", "b", "a", "c", "a", "d"], 2, ["b", "a"], 2),
        ([3, 1, 2], 1, [3], 2),
    ],
)
def test_the_first_distinct_facts_are_kept_in_order(facts, max_facts, kept, n_cut):
    given_facts = list(facts)
    assert limit_facts(facts, max_facts) == (kept, n_cut)
    assert facts == given_facts


# One row each: predicted facts, gold facts. F1 by hand: 2/3, 0 (nothing predicted), no gold twice.
ROWS = [(["s1", "s2"], ["s2"]), ([], ["s1"]), (["s1"], []), ([], [])]


@pytest.mark.parametrize(
    ("rule", "column", "mean", "n_counted"),
    [
        ("skip", [2 / 3, 0.0, None, None], 1 / 3, 2),
        ("zero", [2 / 3, 0.0, 0.0, 0.0], 1 / 6, 4),
        ("squad", [2 / 3, 0.0, 0.0, 1.0], 5 / 12, 4),
    ],
)
def test_the_mean_and_the_count_follow_the_rule_for_no_gold(rule, column, mean, n_counted):
    predictions, references = ([list(facts) for facts in side] for side in zip(*ROWS, strict=True))
    result = compute_scores(predictions, references, no_gold_facts=rule, per_example=True)
    assert result["per_example"]["fact_f1"] == column
    assert result["fact_f1"] == pytest.approx(mean)
    assert (result["n_queries"], result["n_fact_queries"]) == (4, n_counted)


def test_no_query_with_gold_scores_0_with_a_warning_and_a_count_of_0():
    with pytest.warns(UserWarning, match="no query has gold facts") as warned:
        result = compute_scores([["s1"], []], [[], []])
    assert len(warned) == 1
    assert (result["fact_f1"], result["fact_precision"], result["fact_recall"]) == (0.0, 0.0, 0.0)
    assert (result["n_queries"], result["n_fact_queries"]) == (2, 0)


def test_more_than_two_predicted_facts_are_an_error_that_names_the_row():
    with pytest.raises(ValueError, match=r"predictions\[1\]\['facts'\].*at most 2 distinct facts, got 3") as error:
        compute_scores([["s1"], ["s1", "s2", "s3"]], [["s1"], ["s1"]])
    assert "excess_facts='truncate'" in str(error.value)


def test_repeats_are_removed_before_predicted_facts_are_counted():
    result = compute_scores([["s2", "s2", "s1", "s1"]], [["s1"]])
    assert result["fact_f1"] == pytest.approx(2 / 3)
    assert result["n_excess_facts"] == 0


def test_truncation_keeps_the_first_two_distinct_facts_and_counts_the_others():
    predictions = [["s9", "s9", "s8", "s1", "s2"], ["s1", "s2", "s3"]]
    result = compute_scores(predictions, [["s1"], ["s1"]], excess_facts="truncate", per_example=True)
    assert result["per_example"]["fact_f1"] == [0.0, pytest.approx(2 / 3)]
    assert result["n_excess_facts"] == 3


def test_more_than_two_gold_facts_are_never_cut():
    gold = [f"s{number}" for number in range(10)]
    result = compute_scores([["s0", "s9"]], [gold], excess_facts="truncate")
    assert result["fact_recall"] == pytest.approx(2 / 10)
    assert result["fact_f1"] == pytest.approx(2 * 2 / (2 + 10))
    assert result["n_excess_facts"] == 0
