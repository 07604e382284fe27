"""Raw input of `compute()` -> checked rows: every input rule and every error text, and no score.

Rows are checked before they reach Arrow, which converts silently: it would take the list `["x"]` for the text
"['x']", and the text "abc" for the facts a, b and c.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

from .shortened import shorten

Fact = str | int

_KEYS = {
    "predictions": ("id", "message", "facts"),
    "references": ("id", "message", "facts", "paper_id"),
}
_ROW_SHAPES = "a dict with 'message' and/or 'facts', a message (str), or a list of facts"


class HasId(Protocol):
    """A row that may carry the id of its query."""

    id: str | None


@dataclass(frozen=True, slots=True)  # slots, as there may be a hundred thousand of them
class Row:
    """One checked row of one side.

    Args:
        message: the reply; None where the row carries none.
        facts: selected sentences or sentence indices; None where the row carries none.
        id: id of the query, if given.
        paper_id: the paper of the query, if given.
    """

    message: str | None = None
    facts: tuple[Fact, ...] | None = None
    id: str | None = None
    paper_id: str | None = None


@dataclass(frozen=True)
class Pairs:
    """Checked rows of both sides, aligned: what the scores read.

    Args:
        predicted_messages: one text a row, or None where a side carries no messages.
        reference_messages: likewise.
        predicted_facts: facts of each row, or None where a side carries no facts.
        gold_facts: likewise.
        n: number of rows, >= 1.
        paper_ids: the paper of each row, None where the reference names none.
    """

    predicted_messages: list[str] | None
    reference_messages: list[str] | None
    predicted_facts: list[tuple[Fact, ...]] | None
    gold_facts: list[tuple[Fact, ...]] | None
    n: int
    paper_ids: list[str | None]


def read_rows(values: Any, argument: str) -> list[Row]:
    """Check the rows of one side and bring the shorthands to one form.

    Args:
        values: a list (tuple, array, dataset column ...) of rows. A row is a dict with `message` (str) and/or `facts`
            (list of str, or list of int >= 0), and optionally `id`, in references also `paper_id`; or just a message;
            or just a list of facts.
        argument: `"predictions"` or `"references"`, for the error texts and the allowed keys.

    Returns:
        One `Row` a row; all of them with the same fields.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: one text instead of a list, an unknown or missing key, a text that is not valid Unicode.
    """
    check_is_list(values, argument)
    rows = [read_row(value, f"{argument}[{i}]", argument) for i, value in enumerate(values)]
    check_same_fields(rows, lambda i: f"{argument}[{i}]")
    return rows


def read_row(value: Any, where: str, argument: str) -> Row:
    """Check one row and bring the shorthands to one form.

    Args:
        value: a dict, a message or a list of facts; see `read_rows`.
        where: what the error texts call the row.
        argument: `"predictions"` or `"references"`, for the allowed keys.

    Returns:
        The row.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: an unknown or missing key, a text that is not valid Unicode.
    """
    if isinstance(value, str):
        return Row(message=_checked_text(value, where))
    if isinstance(value, Mapping):
        return _read_mapping(value, where, _KEYS[argument])
    if is_ordered_list(value):
        return Row(facts=_checked_facts(value, where))
    raise TypeError(f"{where}: expected {_ROW_SHAPES}, got {type(value).__name__} {shorten(value)}")


def pair_rows(predictions: Sequence[Row], references: Sequence[Row]) -> Pairs:
    """Check that two sides fit together.

    Args:
        predictions: checked rows.
        references: checked rows, aligned with the predictions.

    Returns:
        The columns that both sides carry.

    Raises:
        ValueError: no rows, unequal lengths, different ids in a row, sentences on one side and indices on the other,
            a field that only some rows carry, or nothing that both sides carry.
    """
    check_aligned(predictions, references)
    check_same_fields(predictions, lambda i: f"predictions[{i}]")
    check_same_fields(references, lambda i: f"references[{i}]")
    has_messages = predictions[0].message is not None and references[0].message is not None
    has_facts = predictions[0].facts is not None and references[0].facts is not None
    if not has_messages and not has_facts:
        raise ValueError(
            f"predictions carry only {_fields_of(predictions[0])} and references only {_fields_of(references[0])}: "
            "there is nothing to compare"
        )
    if has_facts:
        _check_one_kind_of_fact(predictions, references)
    return Pairs(
        [row.message for row in predictions] if has_messages else None,
        [row.message for row in references] if has_messages else None,
        [row.facts for row in predictions] if has_facts else None,
        [row.facts for row in references] if has_facts else None,
        len(predictions),
        [row.paper_id for row in references],
    )


def check_lengths(n_predictions: int, n_references: int) -> None:
    """Refuse sides of different lengths.

    Args:
        n_predictions: number of predictions.
        n_references: number of references.

    Raises:
        ValueError: the numbers differ.
    """
    if n_predictions != n_references:
        raise ValueError(
            f"predictions and references must be aligned row by row, got {n_predictions} predictions "
            f"and {n_references} references"
        )


def check_aligned(predictions: Sequence[HasId], references: Sequence[HasId]) -> None:
    """Refuse sides that are not aligned row by row.

    Args:
        predictions: checked rows; an id of None fits every id.
        references: checked rows.

    Raises:
        ValueError: no rows, unequal lengths, or two different ids in a row.
    """
    check_lengths(len(predictions), len(references))
    if not predictions:
        raise ValueError("predictions and references hold no rows: there is nothing to score")
    for i, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        if None not in (prediction.id, reference.id) and prediction.id != reference.id:
            raise ValueError(
                f"row {i}: predictions[{i}] has the id {shorten(prediction.id, 120)} and references[{i}] "
                f"{shorten(reference.id, 120)}; rows are compared in order, so sort both sides alike"
            )


def check_same_fields(rows: Sequence[Row], name_of: Callable[[int], str]) -> None:
    """Refuse rows of which only some carry messages, or only some carry facts.

    Args:
        rows: checked rows of one side.
        name_of: what the error text calls the row of an index.

    Raises:
        ValueError: names the first row that differs from row 0.
    """
    for field in ("message", "facts"):
        absent = [getattr(row, field) is None for row in rows]
        if any(absent) and not all(absent):
            without, having = absent.index(True), absent.index(False)
            raise ValueError(
                f"{name_of(without)}: {field!r} is missing, but {name_of(having)} has it; "
                f"give {field!r} in every row, or in none to leave its scores out"
            )


def check_is_list(values: Any, argument: str) -> None:
    """Refuse what is no list of rows.

    Args:
        values: what a caller gave as one side.
        argument: name of the side, for the error text.

    Raises:
        TypeError: a dict, a set, a table, an iterator, or no collection at all.
        ValueError: one text.
    """
    if isinstance(values, str | bytes):
        raise ValueError(
            f"{argument}: expected a list with one entry a query, got one text ({type(values).__name__}) "
            f"{shorten(values)}"
        )
    # Iterating a table of pandas or polars gives its column names or columns, not its rows.
    is_table = hasattr(values, "columns")
    is_unordered = isinstance(values, Mapping | set | frozenset)
    if is_table or is_unordered or not isinstance(values, Iterable) or not _has_length(values):
        raise TypeError(
            f"{argument}: expected a list with one entry a query, got {type(values).__name__} {shorten(values)}"
        )


def checked_id(value: Any, where: str) -> str:
    """Check an id, and write a number out as text, so that 7 and "7" are the same id.

    Args:
        value: str or int, also of numpy.
        where: what the error texts call it.

    Returns:
        The id.

    Raises:
        TypeError: another type.
        ValueError: a text that is not valid Unicode, a number of thousands of digits.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        try:
            return str(int(value))
        except ValueError:  # Python refuses to write out an integer of more than 4300 digits
            raise ValueError(
                f"{where}: expected a text or a number of at most 4300 digits, got {shorten(value)}"
            ) from None
    return _checked_text(value, where)


def is_ordered_list(value: Any) -> bool:
    """Whether a value is a list, a tuple or an array of one dimension: collections that have an order."""
    # Order matters (only the first facts are kept under excess_facts="truncate"), so sets and dicts are refused.
    is_array = hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1
    return isinstance(value, list | tuple) or is_array


def _has_length(values: Any) -> bool:
    try:
        len(values)
    except TypeError:  # iterators, and arrays of no dimension, whose class does have a length
        return False
    return True


def _read_mapping(value: Mapping, where: str, keys: tuple[str, ...]) -> Row:
    for key in value:
        if key not in keys:
            raise ValueError(f"{where}: unknown key {shorten(key)}; a row may hold {', '.join(map(repr, keys))}")
    if "message" not in value and "facts" not in value:
        raise ValueError(f"{where}: expected {_ROW_SHAPES}, got a dict with neither 'message' nor 'facts'")
    return Row(
        message=_checked_text(value["message"], f"{where}['message']") if "message" in value else None,
        facts=_checked_facts(value["facts"], f"{where}['facts']") if "facts" in value else None,
        id=checked_id(value["id"], f"{where}['id']") if "id" in value else None,
        paper_id=_checked_text(value["paper_id"], f"{where}['paper_id']") if "paper_id" in value else None,
    )


def _checked_text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{where}: expected a text (str), got {type(value).__name__} {shorten(value)}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{where}: expected valid Unicode, got half of a surrogate pair at character {error.start} "
                f"of {shorten(value)}"
            ) from None
    return str(value)  # numpy's str_ is a str that Arrow and json treat differently


def _checked_facts(value: Any, where: str) -> tuple[Fact, ...]:
    expected = "a list of sentences (str) or of sentence indices (int >= 0)"
    if isinstance(value, str | bytes):
        raise ValueError(f"{where}: expected {expected}, got one text {shorten(value)}")
    if not is_ordered_list(value):
        raise TypeError(f"{where}: expected {expected}, got {type(value).__name__} {shorten(value)}")
    items = value if isinstance(value, list | tuple) else value.tolist()
    facts = tuple(_checked_fact(item, f"{where}[{i}]") for i, item in enumerate(items))
    kinds = {type(fact) for fact in facts}
    if len(kinds) > 1:
        raise ValueError(f"{where}: expected all sentences or all sentence indices, got both in {shorten(items)}")
    return facts


def _checked_fact(value: Any, where: str) -> Fact:
    if isinstance(value, str):
        return _checked_text(value, where)
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(
            f"{where}: expected a sentence (str) or a sentence index (int), got {type(value).__name__} {shorten(value)}"
        )
    if not 0 <= value < 2**63:
        raise ValueError(f"{where}: expected a sentence index of at least 0 and below 2**63, got {shorten(value)}")
    return int(value)


def _check_one_kind_of_fact(predictions: Sequence[Row], references: Sequence[Row]) -> None:
    first_of_kind: dict[type, str] = {}
    for argument, rows in (("predictions", predictions), ("references", references)):
        for i, row in enumerate(rows):
            if row.facts:
                first_of_kind.setdefault(type(row.facts[0]), f"{argument}[{i}]")
    if len(first_of_kind) > 1:
        raise ValueError(
            f"facts must be all sentences or all sentence indices on both sides, got sentences in "
            f"{first_of_kind[str]} and indices in {first_of_kind[int]}"
        )


def _fields_of(row: Row) -> str:
    return " and ".join(f"'{field}'" for field in ("message", "facts") if getattr(row, field) is not None)
