"""Input rules: every shape that is accepted, and what every other one gets."""

import copy
import json
import math
import warnings
from collections import OrderedDict, UserDict, deque
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_metric.compute import compute_scores
from argscichat_metric.rows import Row, pair_rows, read_rows

MESSAGE_LIMIT = 1000


def dataset_column(values: list) -> Any:
    """A column of a `datasets.Dataset`, which is neither a list nor an array."""
    import datasets

    return datasets.Dataset.from_dict({"values": values})["values"]


def score(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    """Scores of what the rows carry, without an encoder."""
    return compute_scores(predictions, references, **options)


# --- What a row may be ---

ROWS = {
    "dict": ({"message": "m", "facts": ["s"]}, Row(message="m", facts=("s",))),
    "message only": ({"message": "m"}, Row(message="m")),
    "facts only": ({"facts": ["s"]}, Row(facts=("s",))),
    "no facts": ({"message": "m", "facts": []}, Row(message="m", facts=())),
    "empty message": ({"message": ""}, Row(message="")),
    "indices": ({"facts": [3, 0]}, Row(facts=(3, 0))),
    "largest index": ({"facts": [2**63 - 1]}, Row(facts=(2**63 - 1,))),
    "repeats are kept": ({"facts": ["s", "s"]}, Row(facts=("s", "s"))),
    "id": ({"message": "m", "id": "q1"}, Row(message="m", id="q1")),
    "whole number as id": ({"message": "m", "id": 7}, Row(message="m", id="7")),
    "numpy number as id": ({"message": "m", "id": np.int32(7)}, Row(message="m", id="7")),
    "shorthand for a message": ("m", Row(message="m")),
    "shorthand for facts": (["s", "t"], Row(facts=("s", "t"))),
    "shorthand for no facts": ([], Row(facts=())),
    "shorthand, tuple": (("s",), Row(facts=("s",))),
    "numpy text": (np.str_("m"), Row(message="m")),
    "numpy indices": (np.array([3, 0], dtype=np.uint8), Row(facts=(3, 0))),
    "numpy texts": (np.array(["s", "t"]), Row(facts=("s", "t"))),
    "numpy objects": (np.array(["s", "t"], dtype=object), Row(facts=("s", "t"))),
    "empty numpy array": (np.array([]), Row(facts=())),
    "list of numpy numbers": ([np.int64(3), np.int16(0)], Row(facts=(3, 0))),
    "list of numpy texts": ({"facts": [np.str_("s")]}, Row(facts=("s",))),
    "series of texts": (pd.Series(["s", "t"], index=[5, 9]), Row(facts=("s", "t"))),
    "series of indices": ({"facts": pd.Series([3, 0])}, Row(facts=(3, 0))),
    "OrderedDict": (OrderedDict(message="m"), Row(message="m")),
    "other mappings": (UserDict(message="m"), Row(message="m")),
    "read-only mapping": (MappingProxyType({"facts": ["s"]}), Row(facts=("s",))),
    "any Unicode": ("naïve 😀\u0000\u200b", Row(message="naïve 😀\u0000\u200b")),
}


@pytest.mark.parametrize(("value", "row"), ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("argument", ["predictions", "references"])
def test_a_row_may_be(argument, value, row):
    assert read_rows([value], argument) == [row]


def test_a_reference_may_carry_the_paper():
    assert read_rows([{"message": "m", "paper_id": "p1"}], "references") == [Row(message="m", paper_id="p1")]


def test_rows_hold_plain_python_types_that_json_and_arrow_know():
    (row,) = read_rows([{"message": np.str_("m"), "facts": np.array([1]), "id": np.str_("q")}], "predictions")
    assert [type(value) for value in (row.message, row.facts[0], row.id)] == [str, int, str]


LISTS = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "numpy array": np.array,
    "series": pd.Series,
    "series with an index of its own": lambda values: pd.Series(values, index=[2, 1]),
    "dataset column": dataset_column,
    "dict view": lambda values: dict(enumerate(values)).values(),
}


@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_rows_may_come_in(make):
    assert read_rows(make(["m", "n"]), "predictions") == [Row(message="m"), Row(message="n")]


@pytest.mark.parametrize("make", [list, tuple, np.array, dataset_column])
def test_fact_lists_may_come_in(make):
    assert read_rows(make([[3], [0]]), "predictions") == [Row(facts=(3,)), Row(facts=(0,))]


def test_a_dataset_is_a_list_of_rows():
    import datasets

    rows = datasets.Dataset.from_dict({"message": ["m", "n"], "facts": [["s"], []]})
    assert read_rows(rows, "predictions") == [Row(message="m", facts=("s",)), Row(message="n", facts=())]


def test_the_shorthands_score_as_the_rows_they_stand_for():
    messages = score(["a b", "c"], ["a", "c"], metrics=["message_f1"])
    assert messages == score(
        [{"message": "a b"}, {"message": "c"}], [{"message": "a"}, {"message": "c"}], metrics=["message_f1"]
    )
    facts = score([[1, 2], [3]], [[2], [4]])
    assert facts == score([{"facts": [1, 2]}, {"facts": [3]}], [{"facts": [2]}, {"facts": [4]}])
    assert {"message_f1", "fact_f1"} & messages.keys() == {"message_f1"}
    assert {"message_f1", "fact_f1"} & facts.keys() == {"fact_f1"}


def test_a_field_that_one_side_leaves_out_in_every_row_leaves_its_scores_out():
    result = score([{"message": "a", "facts": ["s"]}], [{"facts": ["s"]}])
    assert result["fact_f1"] == 1.0
    assert not [key for key in result if key.startswith(("message", "bertscore", "moverscore"))]


def test_ids_of_one_side_alone_are_not_compared():
    assert score([{"facts": [1], "id": "q1"}], [[1]])["fact_f1"] == 1.0


def test_equal_ids_pass_as_text_and_as_number():
    assert score([{"facts": [1], "id": 7}], [{"facts": [1], "id": "7"}])["fact_f1"] == 1.0


# --- What is refused ---

HUGE_TEXT = "x" * 1_000_000
HUGE_NUMBER = 10**10_000
SURROGATE = "half of a pair: \ud83d"

# value of row 1 -> error type, and what its text must hold besides the place
BAD_ROWS: dict[str, tuple[Any, type[Exception], list[str]]] = {
    "None": (None, TypeError, ["expected a dict", "NoneType"]),
    "bool": (True, TypeError, ["expected a dict", "bool", "True"]),
    "int": (3, TypeError, ["expected a dict", "int", "3"]),
    "float": (0.5, TypeError, ["expected a dict", "float", "0.5"]),
    "bytes": (b"m", TypeError, ["expected a dict", "bytes"]),
    "set": ({"s"}, TypeError, ["expected a dict", "set"]),
    "frozenset": (frozenset({"s"}), TypeError, ["expected a dict", "frozenset"]),
    "iterator": (iter(["s"]), TypeError, ["expected a dict", "iterator"]),
    "two-dimensional array": (np.array([["s"]]), TypeError, ["expected a dict", "ndarray"]),
    "array of no dimension": (np.array("s"), TypeError, ["expected a dict", "ndarray"]),
    "object": (object(), TypeError, ["expected a dict", "object"]),
    "half of a surrogate pair": (SURROGATE, ValueError, ["valid Unicode", "character 16"]),
    "empty dict": ({}, ValueError, ["neither 'message' nor 'facts'"]),
    "unknown key": ({"message": "m", "fact": []}, ValueError, ["unknown key 'fact'", "'facts'"]),
    "huge key": ({HUGE_TEXT: "m"}, ValueError, ["unknown key 'xxx"]),
    "key that is no text": ({1: "m"}, ValueError, ["unknown key 1"]),
    "message None": ({"message": None, "facts": []}, TypeError, ["['message']", "expected a text", "NoneType"]),
    "message list": ({"message": ["m"]}, TypeError, ["['message']", "expected a text", "list", "['m']"]),
    "message number": ({"message": 1}, TypeError, ["['message']", "expected a text", "int"]),
    "message bytes": ({"message": b"m"}, TypeError, ["['message']", "expected a text", "bytes"]),
    "message NaN": ({"message": math.nan}, TypeError, ["['message']", "expected a text", "float", "nan"]),
    "message surrogate": ({"message": SURROGATE}, ValueError, ["['message']", "valid Unicode", "character 16"]),
    "facts None": ({"message": "m", "facts": None}, TypeError, ["['facts']", "expected a list", "NoneType"]),
    "facts text": ({"facts": "a sentence"}, ValueError, ["['facts']", "one text 'a sentence'"]),
    "facts bytes": ({"facts": b"s"}, ValueError, ["['facts']", "one text b's'"]),
    "facts number": ({"facts": 3}, TypeError, ["['facts']", "expected a list", "int 3"]),
    "facts bool": ({"facts": False}, TypeError, ["['facts']", "expected a list", "bool"]),
    "facts set": ({"facts": {"s"}}, TypeError, ["['facts']", "expected a list", "set"]),
    "facts dict": ({"facts": {"s": 1}}, TypeError, ["['facts']", "expected a list", "dict"]),
    "facts iterator": ({"facts": iter(["s"])}, TypeError, ["['facts']", "expected a list", "iterator"]),
    "fact None": (["s", None], TypeError, ["[1]", "expected a sentence", "NoneType"]),
    "fact bool": ({"facts": [0, True]}, TypeError, ["['facts'][1]", "expected a sentence", "bool True"]),
    "fact numpy bool": (np.array([True]), TypeError, ["[0]", "expected a sentence", "bool"]),
    "fact float": ({"facts": [1.0]}, TypeError, ["['facts'][0]", "expected a sentence", "float 1.0"]),
    "facts of a float array": (np.array([1.0]), TypeError, ["[0]", "expected a sentence", "float 1.0"]),
    "fact NaN": (pd.Series(["s", None]), TypeError, ["[1]", "expected a sentence"]),
    "fact bytes": ([b"s"], TypeError, ["[0]", "expected a sentence", "bytes"]),
    "fact list": ([["s"]], TypeError, ["[0]", "expected a sentence", "list ['s']"]),
    "fact dict": ([{"s": 1}], TypeError, ["[0]", "expected a sentence", "dict"]),
    "fact surrogate": (["s", SURROGATE], ValueError, ["[1]", "valid Unicode"]),
    "fact below 0": ({"facts": [-1]}, ValueError, ["['facts'][0]", "at least 0", "-1"]),
    "fact of 64 bits": ({"facts": [2**63]}, ValueError, ["['facts'][0]", "2**63"]),
    "fact of 10,001 digits": ({"facts": [HUGE_NUMBER]}, ValueError, ["['facts'][0]", "2**63"]),
    "sentences and indices": ({"facts": ["s", 1]}, ValueError, ["['facts']", "got both", "['s', 1]"]),
    "many of both": (["s", 1] * 100_000, ValueError, ["got both"]),
    "id None": ({"message": "m", "id": None}, TypeError, ["['id']", "NoneType"]),
    "id float": ({"message": "m", "id": 1.0}, TypeError, ["['id']", "float"]),
    "id bool": ({"message": "m", "id": True}, TypeError, ["['id']", "bool"]),
    "id surrogate": ({"message": "m", "id": SURROGATE}, ValueError, ["['id']", "valid Unicode"]),
    "id of 10,001 digits": ({"message": "m", "id": HUGE_NUMBER}, ValueError, ["['id']"]),
    "huge text where a list belongs": ({"facts": HUGE_TEXT}, ValueError, ["['facts']", "one text 'xxx"]),
    "huge list where a text belongs": ({"message": [HUGE_TEXT] * 1000}, TypeError, ["['message']", "list ['xxx"]),
    "huge surrogate": (HUGE_TEXT + SURROGATE, ValueError, ["valid Unicode", "character 1000016"]),
}
# What every row of such a list carries, so that the bad row differs in nothing else.
GOOD_ROW = {"message": "m"}


@pytest.mark.parametrize(("value", "kind", "expected"), BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.parametrize("argument", ["predictions", "references"])
def test_a_row_may_not_be(argument, value, kind, expected):
    with pytest.raises(kind) as error:
        read_rows([GOOD_ROW, value, GOOD_ROW], argument)
    text = str(error.value)
    assert text.startswith(f"{argument}[1]")
    assert len(text) < MESSAGE_LIMIT
    for part in expected:
        assert part in text


def test_only_a_reference_carries_the_paper():
    with pytest.raises(ValueError, match=r"predictions\[0\]: unknown key 'paper_id'"):
        read_rows([{"message": "m", "paper_id": "p1"}], "predictions")


@pytest.mark.parametrize("value", [None, 1, ["p1"], SURROGATE], ids=["None", "int", "list", "surrogate"])
def test_the_paper_is_a_text(value):
    with pytest.raises((TypeError, ValueError), match=r"^references\[0\]\['paper_id'\]: expected"):
        read_rows([{"message": "m", "paper_id": value}], "references")


BAD_LISTS: dict[str, tuple[Any, type[Exception], str]] = {
    "one text": ("a reply", ValueError, "one text (str) 'a reply'"),
    "one numpy text": (np.str_("a reply"), ValueError, "one text"),
    "bytes": (b"a reply", ValueError, "one text (bytes)"),
    "one huge text": (HUGE_TEXT, ValueError, "one text (str) 'xxx"),
    "None": (None, TypeError, "NoneType None"),
    "number": (3, TypeError, "int 3"),
    "huge number": (HUGE_NUMBER, TypeError, "int"),
    "bool": (True, TypeError, "bool True"),
    "dict of columns": ({"message": ["a"]}, TypeError, "dict {'message': ['a']}"),
    "set": ({"a"}, TypeError, "set {'a'}"),
    "frozenset": (frozenset(["a"]), TypeError, "frozenset"),
    "generator": ((text for text in ["a"]), TypeError, "generator"),
    "array of no dimension": (np.array("a"), TypeError, "ndarray"),
    # Iterating a table gives its column names, which would be scored as replies.
    "table": (pd.DataFrame({"message": ["a", "b"]}), TypeError, "DataFrame"),
}


@pytest.mark.parametrize(("values", "kind", "expected"), BAD_LISTS.values(), ids=BAD_LISTS)
@pytest.mark.parametrize("argument", ["predictions", "references"])
def test_rows_may_not_come_in(argument, values, kind, expected):
    sides = {"predictions": ["a"], "references": ["a"]} | {argument: values}
    with pytest.raises(kind) as error:
        score(**sides)
    text = str(error.value)
    assert text.startswith(f"{argument}: expected a list with one entry a query, got ")
    assert expected in text
    assert len(text) < MESSAGE_LIMIT


@pytest.mark.parametrize(
    ("predictions", "references", "n_predictions", "n_references"),
    [(["a"], ["a", "b"], 1, 2), ([[1], [2]], [[1]], 2, 1), ([], ["a"], 0, 1), (["a"], [], 1, 0)],
)
def test_unequal_lengths_are_refused_with_both_lengths(predictions, references, n_predictions, n_references):
    with pytest.raises(ValueError, match=f"{n_predictions} predictions and {n_references} references"):
        score(predictions, references)


@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_no_rows_are_refused(make):
    if make is LISTS["series with an index of its own"]:
        make = pd.Series
    with pytest.raises(ValueError, match="no rows"):
        score(make([]), make([]))


@pytest.mark.parametrize("field", ["message", "facts"])
@pytest.mark.parametrize("argument", ["predictions", "references"])
def test_a_field_missing_in_some_rows_is_refused_with_both_rows(argument, field):
    whole = {"message": "m", "facts": ["s"]}
    part = {key: value for key, value in whole.items() if key != field}
    sides = {"predictions": [whole] * 3, "references": [whole] * 3} | {argument: [whole, part, whole]}
    with pytest.raises(ValueError) as error:
        score(**sides)
    assert str(error.value).startswith(f"{argument}[1]: {field!r} is missing, but {argument}[0] has it")


def test_a_field_missing_in_the_first_row_only_is_refused_there():
    with pytest.raises(ValueError, match=r"^predictions\[0\]: 'message' is missing, but predictions\[2\] has it"):
        score([[1], [2], {"message": "m", "facts": [3]}], [[1], [2], [3]])


def test_a_message_among_fact_lists_is_refused():
    with pytest.raises(ValueError, match=r"^predictions\[0\]: 'message' is missing, but predictions\[1\] has it"):
        score([["s"], "m"], [["s"], ["s"]])


def test_nothing_in_common_is_refused():
    with pytest.raises(ValueError, match="predictions carry only 'message' and references only 'facts'"):
        score(["m"], [["s"]])


@pytest.mark.parametrize(
    ("predictions", "references", "sentences", "indices"),
    [
        ([["s"]], [[1]], r"predictions\[0\]", r"references\[0\]"),
        ([[1]], [["s"]], r"references\[0\]", r"predictions\[0\]"),
        ([[], ["s"], [1]], [[], [], []], r"predictions\[1\]", r"predictions\[2\]"),
        ([[1], [], [2]], [[1], [], ["s"]], r"references\[2\]", r"predictions\[0\]"),
    ],
)
def test_sentences_and_indices_do_not_mix(predictions, references, sentences, indices):
    with pytest.raises(ValueError, match=f"got sentences in {sentences} and indices in {indices}"):
        score(predictions, references)


def test_different_ids_are_refused_with_row_and_both_ids():
    predictions = [{"message": "m", "id": "q1"}, {"message": "m", "id": "q3"}]
    references = [{"message": "m", "id": "q1"}, {"message": "m", "id": "q2"}]
    with pytest.raises(ValueError, match=r"row 1: predictions\[1\] has the id 'q3' and references\[1\] 'q2'"):
        score(predictions, references)


def test_huge_ids_are_cut_in_the_error_text():
    with pytest.raises(ValueError, match=r"^row 0: ") as error:
        score([{"message": "m", "id": HUGE_TEXT}], [{"message": "m", "id": HUGE_TEXT + "y"}])
    assert len(str(error.value)) < MESSAGE_LIMIT


@pytest.mark.parametrize(
    ("metric", "predictions", "field"), [("fact_f1", ["m"], "facts"), ("bertscore", [[1]], "message")]
)
def test_a_metric_without_its_field_is_refused(metric, predictions, field):
    with pytest.raises(ValueError, match=f"metrics: '{metric}' needs '{field}'"):
        score(predictions, predictions, metrics=[metric])


def test_pair_rows_checks_rows_that_came_in_several_batches():
    with pytest.raises(ValueError, match=r"^references\[1\]: 'message' is missing"):
        pair_rows([Row(message="m"), Row(message="m")], [Row(message="m"), Row(facts=())])


# --- Anything at all ---

JUNK_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=8),  # with surrogates
    st.binary(max_size=4),
    st.sampled_from([HUGE_TEXT, np.int64(1), np.str_("m"), np.float64(0.5)]),
    st.sampled_from([1, -1]).map(lambda sign: sign * HUGE_NUMBER),  # mapped, as its repr() is an error
)
KEYS = st.sampled_from(["message", "facts", "id", "paper_id", "fact"]) | st.text(max_size=3)
JUNK = st.recursive(
    JUNK_LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=12,
)
# Mostly good rows, so that many examples get past the first check.
ALMOST_ROWS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"message": st.text(max_size=5) | JUNK, "facts": st.lists(st.integers(0, 3) | st.text(max_size=2)) | JUNK},
            optional={"id": st.sampled_from(["q", 1]) | JUNK},
        ),
        st.fixed_dictionaries({"message": st.text(max_size=5)}),
        st.lists(st.integers(0, 3), max_size=3),
        JUNK,
    ),
    max_size=3,
)
SIDES = st.one_of(JUNK, ALMOST_ROWS)


@settings(max_examples=300)
@given(
    st.one_of(st.tuples(SIDES, SIDES), SIDES.map(lambda side: (side, copy.deepcopy(side)))),
    st.sampled_from([["fact_f1"], ["message_f1"], ["message_f1", "fact_f1"]]),
    st.booleans(),
)
def test_any_junk_gives_a_json_result_or_a_short_error_and_stays_as_it_was(sides, metrics, per_example):
    before = copy.deepcopy(sides)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no query has gold facts")
            result = score(*sides, metrics=metrics, per_example=per_example, excess_facts="truncate")
    except (TypeError, ValueError) as error:
        assert 0 < len(str(error)) < MESSAGE_LIMIT
    else:
        assert json.loads(json.dumps(result, allow_nan=False)) == result
        assert result["n_queries"] == len(sides[0]) == len(sides[1])
    # repr, because NaN differs from itself; it also tells 1, True and 1.0 apart.
    assert _shown(sides) == _shown(before)


def _shown(value: Any) -> Any:
    """A form that can be compared, for numbers of any length."""
    if isinstance(value, dict):
        return [(_shown(key), _shown(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [_shown(item) for item in value]
    return type(value).__name__, hex(value) if isinstance(value, int) else repr(value)


def test_the_callers_objects_are_unchanged():
    facts = np.array([1, 2])
    predictions = [{"message": "a", "facts": ["s", "s", "t", "u"], "id": 1}, {"message": "b", "facts": [], "id": 2}]
    references = [{"message": "a", "facts": ["s"], "paper_id": "p"}, {"message": "b", "facts": ["t"], "paper_id": "p"}]
    before = copy.deepcopy((predictions, references))
    score(predictions, references, metrics=["fact_f1", "message_f1"], excess_facts="truncate", per_example=True)
    score([facts], [facts])
    assert (predictions, references) == before
    assert facts.tolist() == [1, 2]
