"""What rankings and judgments may be, what is refused, and the options of the retrieval scores."""

import math
from typing import Any

import numpy as np
import pytest

from argscichat_metric import compute_retrieval, retrieval_rows
from argscichat_metric.retrieval_options import CUTOFFS, RetrievalOptions
from argscichat_metric.retrieval_rows import MAX_GRADE, MAX_RANKED, Judgments, Ranking, read_judgment, read_ranking

MESSAGE_LIMIT = 1000
HUGE_TEXT = "x" * 100_000
HUGE_NUMBER = 10**10_000
GOOD_RANKING, GOOD_JUDGMENTS = ["a", "b"], ["a"]


def ids(*more: Any) -> dict:
    """A ranking or judgments whose third id is of interest."""
    return {"ids": ["a", "b", *more]}


# field of the row -> (row, error, part of the text)
BOTH_SIDES = [
    ("a text", ValueError, "[1]: expected a dict with 'id', 'ids'"),
    (b"bytes", ValueError, "[1]: expected a dict with 'id', 'ids'"),
    (HUGE_TEXT, ValueError, "[1]: expected a dict"),
    (None, TypeError, "[1]: expected a dict"),
    (7, TypeError, "[1]: expected a dict"),
    ({"a", "b"}, TypeError, "or a list of ids, got set"),
    (iter(["a"]), TypeError, "or a list of ids, got list_iterator"),
    ({"message": "a"}, ValueError, "[1]: unknown key 'message'"),
    ({HUGE_TEXT: 1}, ValueError, "[1]: unknown key 'xxx"),
    ({}, ValueError, "[1]: 'ids' is missing; found are the keys []"),
    ({"id": "q"}, ValueError, "[1]: 'ids' is missing; found are the keys ['id']"),
    ({"ids": "abc"}, ValueError, "[1]['ids']: expected a list of ids (str or int), got one text 'abc'"),
    ({"ids": None}, TypeError, "[1]['ids']: expected a list of ids (str or int), got NoneType"),
    ({"ids": {"a": 1.0}}, TypeError, "[1]['ids']: expected a list of ids (str or int), got dict"),
    ({"ids": np.zeros((2, 2))}, TypeError, "[1]['ids']: expected a list of ids (str or int), got ndarray"),
    (ids(None), TypeError, "[1]['ids'][2]: expected a text (str), got NoneType"),
    (ids(1.0), TypeError, "[1]['ids'][2]: expected a text (str), got float"),
    (ids(True), TypeError, "[1]['ids'][2]: expected a text (str), got bool"),
    (ids(["a"]), TypeError, "[1]['ids'][2]: expected a text (str), got list"),
    (ids(HUGE_NUMBER), ValueError, "[1]['ids'][2]: expected a text or a number of at most 4300 digits"),
    (ids("\ud800"), ValueError, "[1]['ids'][2]: expected valid Unicode"),
    (ids("a"), ValueError, "[1]['ids'][2]: expected each id once, got 'a' again, which is at [0]"),
    ([1, 2, "1"], ValueError, "[1]['ids'][2]: expected each id once, got '1' again, which is at [0]"),
    ([HUGE_TEXT, HUGE_TEXT], ValueError, "[1]['ids'][1]: expected each id once"),
    (ids() | {"id": None}, TypeError, "[1]['id']: expected a text"),
    (ids() | {"id": 1.5}, TypeError, "[1]['id']: expected a text"),
]
BAD_RANKINGS = [
    *BOTH_SIDES,
    (ids() | {"grades": [1, 1]}, ValueError, "[1]: unknown key 'grades'; a row may hold 'id', 'ids', 'scores'"),
    (ids() | {"scores": [1.0]}, ValueError, "[1]['scores']: expected 2 numbers, one for each id, got 1"),
    (ids() | {"scores": [3, 2, 1]}, ValueError, "[1]['scores']: expected 2 numbers, one for each id, got 3"),
    (
        ids() | {"scores": "12"},
        ValueError,
        "[1]['scores']: expected a list with a finite number for each id, got one text",
    ),
    (ids() | {"scores": None}, TypeError, "[1]['scores']: expected a list with a finite number for each id"),
    (ids() | {"scores": {1.0, 2.0}}, TypeError, "[1]['scores']: expected a list with a finite number for each id"),
    (
        ids() | {"scores": [1.0, math.nan]},
        ValueError,
        "[1]['scores'][1]: expected a finite number for the id 'b', got nan",
    ),
    (
        ids() | {"scores": [-math.inf, 1]},
        ValueError,
        "[1]['scores'][0]: expected a finite number for the id 'a', got -inf",
    ),
    (
        ids() | {"scores": np.array([1, np.inf])},
        ValueError,
        "[1]['scores'][1]: expected a finite number for the id 'b'",
    ),
    (ids() | {"scores": [1.0, HUGE_NUMBER]}, ValueError, "[1]['scores'][1]: expected a finite number for the id 'b'"),
    (
        ids() | {"scores": [1.0, "2"]},
        TypeError,
        "[1]['scores'][1]: expected a finite number for the id 'b', got str '2'",
    ),
    (ids() | {"scores": [True, 2.0]}, TypeError, "[1]['scores'][0]: expected a finite number for the id 'a', got bool"),
    (ids() | {"scores": [None, 2.0]}, TypeError, "[1]['scores'][0]: expected a finite number for the id 'a'"),
    (ids() | {"scores": [1j, 2.0]}, TypeError, "[1]['scores'][0]: expected a finite number for the id 'a'"),
    ({"ids": [HUGE_TEXT], "scores": [math.nan]}, ValueError, "[1]['scores'][0]: expected a finite number"),
]
BAD_JUDGMENTS = [
    *BOTH_SIDES,
    (ids() | {"scores": [1, 1]}, ValueError, "[1]: unknown key 'scores'"),
    (ids() | {"grades": [1]}, ValueError, "[1]['grades']: expected 2 numbers, one for each id, got 1"),
    (ids() | {"grades": 1}, TypeError, "[1]['grades']: expected a list with a whole number"),
    (ids() | {"grades": "11"}, ValueError, "[1]['grades']: expected a list with a whole number"),
    (
        ids() | {"grades": [1, 1.0]},
        TypeError,
        "[1]['grades'][1]: expected a whole number from -10000 to 10000 for the id 'b'",
    ),
    (ids() | {"grades": [1, True]}, TypeError, "[1]['grades'][1]: expected a whole number"),
    (ids() | {"grades": [None, 1]}, TypeError, "[1]['grades'][0]: expected a whole number"),
    (ids() | {"grades": [MAX_GRADE + 1, 1]}, ValueError, "for the id 'a', got 10001"),
    (ids() | {"grades": [-MAX_GRADE - 1, 1]}, ValueError, "for the id 'a', got -10001"),
    (ids() | {"grades": [HUGE_NUMBER, 1]}, ValueError, "for the id 'a', got <int of"),
    (ids() | {"candidates": "ab"}, ValueError, "[1]['candidates']: expected a list of ids (str or int), got one text"),
    (ids() | {"candidates": None}, TypeError, "[1]['candidates']: expected a list of ids (str or int), got NoneType"),
    (ids() | {"candidates": ["a", "b", "a"]}, ValueError, "[1]['candidates'][2]: expected each id once, got 'a' again"),
    (
        ids() | {"candidates": ["a", "c"]},
        ValueError,
        "[1]['candidates']: expected every relevant id among them, got 2 candidates without 'b'",
    ),
    (ids() | {"candidates": []}, ValueError, "[1]['candidates']: expected every relevant id among them"),
]


@pytest.mark.parametrize(("row", "kind", "part"), BAD_RANKINGS)
def test_a_bad_ranking_is_refused_by_argument_row_and_field(row, kind, part):
    check_refused(kind, "predictions" + part if part[0] == "[" else part, [GOOD_RANKING, row], [GOOD_JUDGMENTS] * 2)


@pytest.mark.parametrize(("row", "kind", "part"), BAD_JUDGMENTS)
def test_bad_judgments_are_refused_by_argument_row_and_field(row, kind, part):
    check_refused(kind, "references" + part if part[0] == "[" else part, [GOOD_RANKING] * 2, [GOOD_JUDGMENTS, row])


@pytest.mark.parametrize(
    ("predictions", "references", "kind", "part"),
    [
        ("ab", [["a"]], ValueError, "predictions: expected a list with one entry a query, got one text"),
        ([["a"]], "ab", ValueError, "references: expected a list with one entry a query, got one text"),
        ({"ids": ["a"]}, [["a"]], TypeError, "predictions: expected a list"),
        ([["a"]], None, TypeError, "references: expected a list"),
        ([["a"], ["b"]], [["a"]], ValueError, "got 2 predictions and 1 references"),
        ([], [], ValueError, "hold no rows"),
        ([{"ids": ["a"], "id": 1}], [{"ids": ["a"], "id": 2}], ValueError, "row 0: predictions[0] has the id '1'"),
    ],
)
def test_sides_that_are_no_lists_or_do_not_fit_together_are_refused(predictions, references, kind, part):
    check_refused(kind, part, predictions, references)


def check_refused(kind: type[Exception], part: str, predictions: Any, references: Any) -> None:
    with pytest.raises(kind) as error:
        compute_retrieval(predictions, references)
    assert part in str(error.value)
    assert len(str(error.value)) < MESSAGE_LIMIT


def test_a_ranking_longer_than_its_ranks_can_be_told_apart_is_refused(monkeypatch):
    assert np.float32(MAX_RANKED) != np.float32(MAX_RANKED - 1)
    assert np.float32(MAX_RANKED + 1) == np.float32(MAX_RANKED)
    monkeypatch.setattr(retrieval_rows, "MAX_RANKED", 2)
    assert read_ranking(["a", "b"], "row").ids == ("a", "b")
    with pytest.raises(ValueError, match=r"row\['ids'\]: expected at most 2 ids, got 3"):
        read_ranking(["a", "b", "c"], "row")


# --- What is accepted ---


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([], Ranking(())),
        (["b", "a"], Ranking(("b", "a"))),
        ((2, "é", ""), Ranking(("2", "é", ""))),
        (np.array([3, -1]), Ranking(("3", "-1"))),
        ({"ids": ["a", "b"], "scores": [1, 2.5], "id": 7}, Ranking(("b", "a"), "7")),
        ({"ids": ["b", "a", "c"], "scores": [0.0, -0.0, 0]}, Ranking(("b", "a", "c"))),
        ({"ids": [], "scores": []}, Ranking(())),
    ],
)
def test_rankings_come_in_these_forms(row, expected):
    assert read_ranking(row, "row") == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([], Judgments({})),
        ([1, "b"], Judgments({"1": 1, "b": 1})),
        ({"ids": ["a", "b"], "grades": [-MAX_GRADE, MAX_GRADE]}, Judgments({"a": -MAX_GRADE, "b": MAX_GRADE})),
        ({"ids": ["a"], "candidates": [5, "a"], "id": "q"}, Judgments({"a": 1}, ("5", "a"), "q")),
        ({"ids": ["a", "b"], "grades": [0, 1], "candidates": ["b"]}, Judgments({"a": 0, "b": 1}, ("b",))),
    ],
)
def test_judgments_come_in_these_forms(row, expected):
    assert read_judgment(row, "row") == expected


# --- Options ---


@pytest.mark.parametrize(
    ("given", "kind", "part"),
    [
        ({"k": "10"}, TypeError, "k: expected a whole number or a list of them, got str '10'"),
        ({"k": None}, TypeError, "k: expected a whole number or a list of them, got NoneType"),
        ({"k": 1.0}, TypeError, "k: expected a whole number or a list of them, got float"),
        ({"k": True}, TypeError, "k: expected a whole number of at least 1, got bool True"),
        ({"k": [1, "2"]}, TypeError, "k: expected a whole number of at least 1, got str '2'"),
        ({"k": [1, 2.0]}, TypeError, "k: expected a whole number of at least 1, got float 2.0"),
        ({"k": []}, ValueError, "k: expected at least one cutoff, got none"),
        ({"k": [5, 0]}, ValueError, "k: expected a whole number of at least 1, got 0"),
        ({"k": -1}, ValueError, "k: expected a whole number of at least 1, got -1"),
        ({"k": MAX_RANKED + 1}, ValueError, "k: expected at most 16777216"),
        ({"k": HUGE_NUMBER}, ValueError, "got <int of"),
        ({"per_example": 1}, TypeError, "per_example: expected True or False, got int 1"),
        ({"ks": [1]}, TypeError, "'ks' is not an option of compute(); did you mean 'k'?"),
        ({"metrics": ["map"]}, TypeError, "'metrics' is not an option of compute(); known are: k, per_example"),
    ],
)
def test_bad_options_are_refused_before_any_row_is_read(given, kind, part):
    with pytest.raises(kind) as error:
        compute_retrieval(None, None, **given)
    assert part in str(error.value)
    assert len(str(error.value)) < MESSAGE_LIMIT


def test_the_default_cutoffs_hold_those_of_beir_and_the_two_sentences_of_argscichat():
    assert RetrievalOptions().k == CUTOFFS
    assert {1, 2, 3, 5, 10, 100} == set(CUTOFFS)
