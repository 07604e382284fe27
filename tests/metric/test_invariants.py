"""What holds for every score, whatever it measures: a new score joins by being listed in `SCORES`."""

import json
import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from argscichat_metric.compute import compute_scores

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@dataclass(frozen=True)
class Score:
    """Properties of one score.

    Args:
        low: the smallest possible value.
        high: the largest possible value.
        swapped: the score that it equals when predictions and references change places; itself where symmetric.
        identity: the value of identical sides.
    """

    low: float
    high: float
    swapped: str
    identity: float = 1.0


SCORES = {
    "fact_f1": Score(0, 1, swapped="fact_f1"),
    "fact_precision": Score(0, 1, swapped="fact_recall"),
    "fact_recall": Score(0, 1, swapped="fact_precision"),
    "message_f1": Score(0, 1, swapped="message_f1"),
    "message_f1_whitespace": Score(0, 1, swapped="message_f1_whitespace"),
    "bertscore_precision": Score(-1, 1, swapped="bertscore_recall"),
    "bertscore_recall": Score(-1, 1, swapped="bertscore_precision"),
    "bertscore_f1": Score(-1, 1, swapped="bertscore_f1"),
    "moverscore": Score(0, 1, swapped="moverscore"),
}
COUNTS = (
    "n_queries",
    "n_fact_queries",
    "n_empty_predictions",
    "n_empty_references",
    "n_truncated_texts",
    "n_excess_facts",
)
ROUNDING = 1e-6

# Both sides have one or two facts in every row, so that no rule for missing or excess facts takes part.
PREDICTIONS = [
    {"message": "We use a small corpus of dialogues.", "facts": ["s1", "s2"]},
    {"message": "It is not clear to me.", "facts": ["s3"]},
    {"message": "the parser", "facts": ["s2", "s5"]},
    {"message": "Yes, two of the authors did.", "facts": ["s1"]},
    {"message": "naïve 😀 tokens\nof two lines", "facts": ["s9"]},
    {"message": "", "facts": ["s4"]},
    {"message": "Zurück? No.", "facts": ["s4", "s3"]},
]
REFERENCES = [
    {"message": "The corpus is small.", "facts": ["s2"]},
    {"message": "I do not know.", "facts": ["s3"]},
    {"message": "a parser of dialogues", "facts": ["s5", "s6"]},
    {"message": "Two of us annotated the papers.", "facts": ["s2", "s1"]},
    {"message": "naive tokens", "facts": ["s8"]},
    {"message": "The annotators agreed.", "facts": ["s4"]},
    {"message": "zurück? no, no.", "facts": ["s3", "s4"]},
]


def score(predictions: list[dict], references: list[dict], **options: Any) -> dict[str, Any]:
    """All scores, of every row too."""
    return compute_scores(predictions, references, per_example=True, **options)


@cache
def original() -> dict[str, Any]:
    """The result on the rows above; nobody changes it."""
    return score(PREDICTIONS, REFERENCES)


@cache
def swapped() -> dict[str, Any]:
    return score(REFERENCES, PREDICTIONS)


@cache
def identical() -> dict[str, Any]:
    rows = [row for row in PREDICTIONS if row["message"]]
    return score(rows, rows)


@cache
def shuffled() -> tuple[list[int], dict[str, Any]]:
    """An order of the rows, and the result in it, without what the cache knows."""
    order = list(range(len(PREDICTIONS)))
    random.Random(5).shuffle(order)
    return order, score([PREDICTIONS[i] for i in order], [REFERENCES[i] for i in order], cache_mb=0)


@cache
def doubled() -> dict[str, Any]:
    return score(PREDICTIONS * 2, REFERENCES * 2)


def test_scores_and_counts_are_exactly_the_keys_of_a_result():
    assert original().keys() == {*SCORES, *COUNTS, "signature", "per_example"}
    assert original()["per_example"].keys() == SCORES.keys()


@pytest.mark.parametrize("key", SCORES)
def test_values_are_in_the_range(key):
    for value in (*original()["per_example"][key], original()[key]):
        assert SCORES[key].low - ROUNDING <= value <= SCORES[key].high + ROUNDING


@pytest.mark.parametrize("key", SCORES)
def test_the_rows_here_differ_in_every_score(key):
    # Else the other tests here would hold of a constant.
    assert len(set(original()["per_example"][key])) >= 3


@pytest.mark.parametrize("key", SCORES)
def test_identical_sides_have_the_identity_value(key):
    values = identical()["per_example"][key]
    assert values == pytest.approx([SCORES[key].identity] * len(values), abs=ROUNDING)


@pytest.mark.parametrize("key", SCORES)
def test_no_row_scores_above_identity(key):
    assert max(original()["per_example"][key]) <= SCORES[key].identity + ROUNDING


@pytest.mark.parametrize("key", SCORES)
def test_sides_that_change_places_change_precision_and_recall_only(key):
    expected = original()["per_example"][SCORES[key].swapped]
    assert swapped()["per_example"][key] == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("key", SCORES)
def test_rows_keep_their_value_in_any_order(key):
    order, result = shuffled()
    expected = [original()["per_example"][key][i] for i in order]
    assert result["per_example"][key] == pytest.approx(expected, abs=ROUNDING)
    assert result[key] == pytest.approx(original()[key], abs=ROUNDING)


@pytest.mark.parametrize("row", range(len(PREDICTIONS)))
def test_a_row_alone_has_the_value_that_it_has_among_others(row):
    alone = score(PREDICTIONS[row : row + 1], REFERENCES[row : row + 1], cache_mb=0)
    for key in SCORES:
        assert alone[key] == pytest.approx(original()["per_example"][key][row], abs=ROUNDING), key


@pytest.mark.parametrize("key", SCORES)
def test_rows_given_twice_leave_the_mean_as_it_is(key):
    assert doubled()[key] == pytest.approx(original()[key], abs=ROUNDING)


@pytest.mark.parametrize("key", SCORES)
def test_the_score_is_the_mean_of_its_rows(key):
    column = original()["per_example"][key]
    assert len(column) == len(PREDICTIONS)
    assert original()[key] == pytest.approx(sum(column) / len(column))


@pytest.mark.parametrize("options", [{}, {"cache_mb": 0}, {"idf": True}], ids=str)
def test_a_repeated_call_gives_the_same_result(options):
    assert score(PREDICTIONS, REFERENCES, **options) == score(PREDICTIONS, REFERENCES, **options)


def test_a_result_survives_json_and_holds_plain_python_types_only():
    assert json.loads(json.dumps(original(), allow_nan=False)) == original()
    columns = original()["per_example"]
    assert type(columns) is dict
    assert {type(column) for column in columns.values()} == {list}
    assert {type(value) for column in columns.values() for value in column} == {float}
    assert {type(original()[key]) for key in SCORES} == {float}
    assert {type(original()[key]) for key in COUNTS} == {int}
    assert type(original()["signature"]) is str


def test_the_counts_say_what_the_rows_are():
    assert {key: original()[key] for key in COUNTS} == dict.fromkeys(COUNTS, 0) | {
        "n_queries": 7,
        "n_fact_queries": 7,
        "n_empty_predictions": 1,
    }
    assert {key: doubled()[key] for key in COUNTS} == {key: 2 * original()[key] for key in COUNTS}
