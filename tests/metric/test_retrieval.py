"""The retrieval scores: their values, what may not change them, and the counts beside them."""

import copy
import json
import random
import threading
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_metric import compute_retrieval
from argscichat_metric.retrieval_options import CUTOFFS
from tests.metric import retrieval_oracle

KEYS = [
    *(f"{name}@{k}" for name in ("ndcg", "mrr", "recall", "precision") for k in CUTOFFS),
    "map",
    "mrr",
    "r_precision",
    "fact_f1@2",
]
NO_QUERY_IS_JUDGED = "ignore:no query has a relevant document"


def made_up_rows(seed: int, n_queries: int = 60, n_documents: int = 300) -> tuple[list[dict], list[dict]]:
    """Rankings with many ties, some empty; graded judgments, some of documents that are not ranked, some without any
    relevant one."""
    chance = random.Random(seed)
    documents = [f"d{i}" for i in range(n_documents)]
    predictions, references = [], []
    for i in range(n_queries):
        ids = chance.sample(documents, chance.choice([0, 1, 2, 9, 150]))
        judged = chance.sample(documents, chance.choice([0, 1, 3, 40]))
        predictions.append({"ids": ids, "scores": [chance.randrange(5) / 3 for _ in ids], "id": f"q{i}"})
        references.append({"ids": judged, "grades": [chance.choice([-2, 0, 0, 1, 1, 2, 7]) for _ in judged]})
    return predictions, references


def oracle_rows(predictions: list[dict], references: list[dict]) -> list[dict[str, float] | None]:
    return [
        retrieval_oracle.scores_of_query(
            retrieval_oracle.order(prediction["ids"], prediction.get("scores")),
            dict(zip(reference["ids"], reference["grades"], strict=True)),
            CUTOFFS,
        )
        for prediction, reference in zip(predictions, references, strict=True)
    ]


# --- Values ---


@pytest.mark.parametrize("seed", range(5))
def test_every_value_is_the_oracles_bit_for_bit(seed):
    predictions, references = made_up_rows(seed)
    rows = oracle_rows(predictions, references)
    judged = [row for row in rows if row is not None]
    assert 0 < len(judged) < len(rows)
    result = compute_retrieval(predictions, references, per_example=True)
    for key in KEYS:
        assert result["per_example"][key] == [None if row is None else row[key] for row in rows], key
        assert result[key] == fmean(row[key] for row in judged), key
    assert set(KEYS) == set(result["per_example"])


@settings(max_examples=100, deadline=None)
@given(
    ids=st.lists(st.text(max_size=3), unique=True, max_size=12),
    judged=st.dictionaries(st.text(max_size=3), st.integers(-3, 10_000), max_size=12),
    data=st.data(),
)
@pytest.mark.filterwarnings(NO_QUERY_IS_JUDGED)
def test_ids_of_any_text_score_as_the_oracle_says_and_stay_in_range(ids, judged, data):
    scores = data.draw(
        st.lists(st.sampled_from([0.0, -0.0, 1.5, -3, 1e300, 5e-324]), min_size=len(ids), max_size=len(ids))
    )
    reference = {"ids": list(judged), "grades": list(judged.values())}
    prediction = {"ids": ids, "scores": scores}
    expected = oracle_rows([prediction], [reference])[0]
    result = compute_retrieval([prediction], [reference], per_example=True)
    for key in KEYS:
        assert result["per_example"][key] == [None if expected is None else expected[key]]
        assert 0.0 <= result[key] <= 1.0


def test_hand_worked_values():
    # Relevant at ranks 1 and 3 of 4, grades 1 and 2, a third document of grade 1 is not ranked:
    # DCG = 1 + 2/2 = 2; ideal DCG = 2 + 1/log2(3) + 1/2 = 3.1309; AP = (1 + 2/3) / 3.
    prediction = {"ids": ["a", "x", "b", "y"]}
    reference = {"ids": ["a", "b", "c", "x"], "grades": [1, 2, 1, 0]}
    result = compute_retrieval([prediction], [reference], k=[2, 3, 10])
    expected = {
        "ndcg@2": 1 / 2.63093,
        "ndcg@3": 2 / 3.13093,
        "ndcg@10": 2 / 3.13093,
        "map": 5 / 9,
        "mrr": 1.0,
        "mrr@2": 1.0,
        "recall@2": 1 / 3,
        "recall@10": 2 / 3,
        "precision@3": 2 / 3,
        "precision@10": 0.2,
        "r_precision": 2 / 3,
        "fact_f1@2": 2 / 5,
    }
    assert {key: result[key] for key in expected} == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("rank", "k", "value"), [(3, 2, 0.0), (3, 3, 1 / 3), (3, 4, 1 / 3), (49, 49, 1 / 49), (49, 48, 0)]
)
def test_the_reciprocal_rank_at_k_is_0_below_rank_k(rank, k, value):
    ids = [f"x{i}" for i in range(rank - 1)] + ["right"]
    result = compute_retrieval([ids], [["right"]], k=k)
    assert (result[f"mrr@{k}"], result["mrr"]) == (value, 1 / rank)


def test_a_ranking_by_falling_grade_scores_exactly_1():
    chance = random.Random(1)
    references = [
        {"ids": [f"d{i}" for i in range(n)], "grades": [chance.randrange(1, 4) for _ in range(n)]}
        for n in (1, 2, 3, 7, 29)
    ]
    # Of equal grade the last comes first: which of them does, does not matter.
    predictions = [
        [document for _, document in sorted(zip(row["grades"], row["ids"], strict=True), reverse=True)]
        for row in references
    ]
    result = compute_retrieval(predictions, references)
    ones = [key for key in KEYS if key.startswith(("ndcg", "mrr", "map", "r_precision"))] + ["recall@100"]
    assert {key: result[key] for key in ones} == dict.fromkeys(ones, 1.0)
    # What cannot be 1: precision beyond the relevant documents, and recall and Fact-F1 of fewer than there are.
    assert result["precision@1"] == 1.0
    assert result["precision@100"] == pytest.approx(fmean([1, 2, 3, 7, 29]) / 100)


# --- What may not change them ---


def test_twenty_repeats_are_identical():
    rows = made_up_rows(3)
    results = [json.dumps(compute_retrieval(*rows, per_example=True), allow_nan=False) for _ in range(20)]
    assert len(set(results)) == 1


def test_renaming_documents_changes_nothing():
    predictions, references = made_up_rows(4)
    expected = compute_retrieval(predictions, references, per_example=True)
    names = [f"d{i}" for i in range(300)]
    for seed in range(5):
        new = dict(zip(names, random.Random(seed).sample(names, len(names)), strict=True))
        renamed = [
            [row | {"ids": [new[name] for name in row["ids"]]} for row in side] for side in (predictions, references)
        ]
        assert compute_retrieval(*renamed, per_example=True) == expected


def test_ids_of_equal_score_stay_in_the_given_order():
    reference = [["right"]]
    for ids in (["right", "a", "z"], ["a", "right", "z"], ["z", "a", "right"]):
        tied = compute_retrieval([{"ids": ids, "scores": [0.5, 0.5, 0.5]}], reference)
        assert tied == compute_retrieval([ids], reference)
        assert tied["mrr"] == 1 / (ids.index("right") + 1)


def test_scores_decide_the_order_also_where_single_precision_takes_them_for_equal():
    ids, scores = ["first", "second"], [1.0, 1.0 + 2**-40]
    assert compute_retrieval([{"ids": ids, "scores": scores}], [["second"]])["mrr"] == 1.0


def test_long_rankings_keep_their_order():
    n = 70_000
    result = compute_retrieval([list(range(n))], [[n - 1]], k=n)
    assert (result["mrr"], result[f"mrr@{n}"], result[f"recall@{n}"]) == (1 / n, 1 / n, 1.0)


def test_judged_documents_that_are_not_relevant_count_as_unjudged_ones():
    ranked = [["a", "b", "c"]]
    graded = [{"ids": ["a", "b", "c"], "grades": [-1, 0, 1]}]
    assert compute_retrieval(ranked, graded, per_example=True) == compute_retrieval(ranked, [["c"]], per_example=True)


def test_numbers_and_texts_are_the_same_ids():
    as_numbers = compute_retrieval([[3, 1, 2]], [{"ids": [1], "candidates": [1, 2, 3]}])
    as_texts = compute_retrieval([["3", "1", "2"]], [{"ids": ["1"], "candidates": ["1", "2", "3"]}])
    assert as_numbers == as_texts
    assert as_numbers["mrr"] == 0.5


def test_numbers_and_arrays_of_numpy_score_as_those_of_python():
    plain = compute_retrieval(
        [{"ids": [3, 1, 2], "scores": [0.5, 2.5, 1.0]}], [{"ids": [2, 3], "grades": [1, 2]}], k=[1, 2]
    )
    arrays = compute_retrieval(
        [{"ids": np.array([3, 1, 2]), "scores": np.array([0.5, 2.5, 1.0], dtype=np.float32)}],
        [{"ids": np.array(["2", "3"]), "grades": np.array([1, 2], dtype=np.int8)}],
        k=np.array([1, 2]),
    )
    scalars = compute_retrieval(
        [{"ids": [np.int64(3), np.str_("1"), 2], "scores": [np.float32(0.5), np.float64(2.5), np.int32(1)]}],
        [{"ids": (2, 3), "grades": [np.int64(1), np.uint8(2)]}],
        k=(np.int64(1), 2),
    )
    assert arrays == plain
    assert scalars == plain


def test_the_objects_of_the_caller_stay_as_they_are():
    predictions, references = made_up_rows(5)
    references = [row | {"candidates": [f"d{i}" for i in range(300)]} for row in references]
    before = copy.deepcopy((predictions, references))
    compute_retrieval(predictions, references)
    assert (predictions, references) == before


def test_threads_do_not_disturb_one_another():
    rows = made_up_rows(6)
    wanted = {k: compute_retrieval(*rows, k=k) for k in range(1, 9)}
    found: dict[int, list] = {k: [] for k in wanted}

    def work(k: int) -> None:
        found[k] = [compute_retrieval(*rows, k=k) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(k,)) for k in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[k] == [result] * 5 for k, result in wanted.items())


# --- Options, counts, and what is missing ---


def test_k_is_one_cutoff_or_several_in_any_order_and_decides_the_keys():
    rows = made_up_rows(7)
    assert compute_retrieval(*rows, k=[10, 3, 3]) == compute_retrieval(*rows, k=iter((3, 10)))
    keys = set(compute_retrieval(*rows, k=7))
    assert {key for key in keys if "@" in key} == {"ndcg@7", "mrr@7", "recall@7", "precision@7", "fact_f1@2"}


def test_a_larger_cutoff_changes_no_score_at_a_smaller_one():
    rows = made_up_rows(8)
    alone, among_others = compute_retrieval(*rows, k=9), compute_retrieval(*rows, k=[9, 10, 11, 100, 2**24])
    names = ("ndcg@9", "mrr@9", "recall@9", "precision@9")
    assert [alone[name] for name in names] == [among_others[name] for name in names]


def test_scores_of_every_query_come_only_where_they_are_asked_for():
    assert "per_example" not in compute_retrieval([["a"]], [["a"]])
    assert compute_retrieval([["a"], ["b"]], [["a"], []], per_example=True)["per_example"]["map"] == [1.0, None]


def test_queries_without_a_relevant_document_are_left_out_and_counted():
    result = compute_retrieval([["a"], ["a"], []], [["a"], {"ids": ["a"], "grades": [0]}, []])
    assert (result["map"], result["n_queries"], result["n_judged_queries"]) == (1.0, 3, 1)
    # An empty ranking that no mean has room for is not missed.
    assert (result["n_empty_rankings"], result["missing"]) == (0, [])


def test_an_empty_ranking_scores_0_and_is_listed_by_id_or_row():
    predictions = [["a"], [], {"ids": [], "id": 7}, []]
    references = [["a"], ["a"], ["a"], {"ids": ["a"], "id": "q3"}]
    result = compute_retrieval(predictions, references, per_example=True)
    assert (result["n_empty_rankings"], result["missing"]) == (3, [1, "7", "q3"])
    assert all(result["per_example"][key][1:] == [0.0, 0.0, 0.0] for key in KEYS)
    assert result["map"] == 0.25


def test_without_any_relevant_document_the_scores_are_0_and_a_warning_says_so():
    with pytest.warns(UserWarning, match="no query has a relevant document"):
        result = compute_retrieval([["a"], []], [[], []])
    assert {result[key] for key in KEYS} == {0.0}
    assert (result["n_queries"], result["n_judged_queries"]) == (2, 0)


def test_documents_that_are_no_candidates_are_removed_before_scoring_and_counted():
    prediction = {"ids": ["x", "a", "y", "b"]}
    reference = {"ids": ["b"], "candidates": ["a", "b", "c"]}
    result = compute_retrieval([prediction, ["z"]], [reference, {"ids": ["a"], "candidates": ["a"]}])
    assert result["n_outside_candidates"] == 3
    expected = compute_retrieval([["a", "b"], ["z"]], [["b"], ["a"]])
    assert [result[key] for key in KEYS] == [expected[key] for key in KEYS]
    # The second query was answered, if only with a document that it may not be answered with.
    assert (result["n_empty_rankings"], result["missing"]) == (0, [])


def test_the_signature_names_what_changes_a_number():
    candidates = {"ids": ["a"], "candidates": ["a"]}
    parts = dict(
        part.split(":")
        for part in compute_retrieval([["a"], []], [["a"], candidates], k=[1, 5])["signature"].split("|")
    )
    assert (parts["config"], parts["k"], parts["candidates"]) == ("retrieval", "1+5", "some")
    assert (parts["ties"], parts["gain"], parts["relevant"]) == ("given_order", "linear", "grade>=1")
    assert parts["pytrec-eval-terrier"][0].isdigit()
    assert "candidates:all" in compute_retrieval([["a"]], [candidates])["signature"]
    assert "candidates:none" in compute_retrieval([["a"]], [["a"]])["signature"]


def test_the_result_is_json():
    predictions, references = made_up_rows(9)
    result = compute_retrieval(predictions, references, per_example=True)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
