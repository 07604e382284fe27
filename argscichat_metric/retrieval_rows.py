"""Raw input of the config `"retrieval"` -> checked rows: every input rule and every error text, and no score."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from .rows import check_is_list, checked_id, is_ordered_list
from .shortened import shorten

MAX_RANKED = 2**24
"""Longest ranking: pytrec_eval compares single-precision scores, which tell whole numbers apart up to here."""

MAX_GRADE = 10_000
"""Highest grade: trec_eval loops over all numbers up to the grade, so a grade of a billion would take a minute."""

_RANKING_KEYS = ("id", "ids", "scores")
_JUDGMENTS_KEYS = ("id", "ids", "grades", "candidates")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents that a system ranked for one query, checked.

    Args:
        ids: ids of the documents, best first, each once; empty where the system found none.
        id: id of the query, if given.
    """

    ids: tuple[str, ...]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Judgments:
    """What is known to be relevant to one query, checked.

    Args:
        grades: id of a judged document -> its grade. From 1 on it is relevant; 0 and below it is judged not relevant,
            which counts as a document that nobody judged does.
        candidates: ids of the documents that the query may be answered with; None where it may be any.
        id: id of the query, if given.
    """

    grades: Mapping[str, int]
    candidates: tuple[str, ...] | None = None
    id: str | None = None

    def relevant(self) -> dict[str, int]:
        """The relevant documents and their grades."""
        return {document: grade for document, grade in self.grades.items() if grade > 0}


def read_rankings(values: Any) -> list[Ranking]:
    """Check the predictions.

    Args:
        values: a list (tuple, array, dataset column ...) with one row a query; see `read_ranking`.

    Returns:
        One ranking a query.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: a row that cannot be scored; the text names row and field.
    """
    check_is_list(values, "predictions")
    return [read_ranking(value, f"predictions[{i}]") for i, value in enumerate(values)]


def read_ranking(value: Any, where: str) -> Ranking:
    """Check one ranking and bring it to the order that is scored.

    Args:
        value: a dict with `ids` (documents, best first; str or int, where 7 and "7" are the same id) and optionally
            `scores` (one finite number an id) and `id`; or just the list of ids. Scores decide the order, the highest
            first, and ids of equal score stay in the given order.
        where: what the error texts call the row.

    Returns:
        The ranking.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: an unknown or missing key, a repeated id, scores of another number than ids, a score that is not
            finite, more than `MAX_RANKED` ids.
    """
    fields = _fields(value, where, _RANKING_KEYS)
    place = f"{where}['ids']"
    ids = _checked_ids(fields["ids"], place)
    if len(ids) > MAX_RANKED:
        raise ValueError(f"{place}: expected at most {MAX_RANKED} ids, got {len(ids)}")
    if "scores" in fields:
        scores = _checked_scores(fields["scores"], ids, f"{where}['scores']")
        # sorted() is stable, in reverse too: ids of equal score stay in the given order.
        ids = tuple(ids[i] for i in sorted(range(len(ids)), key=scores.__getitem__, reverse=True))
    return Ranking(ids, _query_id(fields, where))


def read_judgments(values: Any) -> list[Judgments]:
    """Check the references.

    Args:
        values: a list (tuple, array, dataset column ...) with one row a query; see `read_judgment`.

    Returns:
        The judgments of every query.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: a row that cannot be used; the text names row and field.
    """
    check_is_list(values, "references")
    return [read_judgment(value, f"references[{i}]") for i, value in enumerate(values)]


def read_judgment(value: Any, where: str) -> Judgments:
    """Check what is relevant to one query.

    Args:
        value: a dict with `ids` (judged documents, str or int) and optionally `grades` (one whole number an id, from
            -`MAX_GRADE` to `MAX_GRADE`; 1 where there are none), `candidates` (ids of the documents that the query may
            be answered with) and `id`; or just the list of the relevant ids.
        where: what the error texts call the row.

    Returns:
        The judgments.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: an unknown or missing key, a repeated id, grades of another number than ids or out of range, a
            relevant id that is no candidate.
    """
    fields = _fields(value, where, _JUDGMENTS_KEYS)
    ids = _checked_ids(fields["ids"], f"{where}['ids']")
    grades = _checked_grades(fields["grades"], ids, f"{where}['grades']") if "grades" in fields else [1] * len(ids)
    candidates = _checked_ids(fields["candidates"], f"{where}['candidates']") if "candidates" in fields else None
    judgments = Judgments(dict(zip(ids, grades, strict=True)), candidates, _query_id(fields, where))
    _check_relevant_are_candidates(judgments, where)
    return judgments


def _fields(value: Any, where: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """The fields of a row; a list alone is its ids."""
    expected = f"a dict with {', '.join(map(repr, keys))}, of which 'ids' is needed, or a list of ids"
    if is_ordered_list(value):
        return {"ids": value}
    if isinstance(value, str | bytes):
        raise ValueError(f"{where}: expected {expected}, got one text {shorten(value)}")
    if not isinstance(value, Mapping):
        raise TypeError(f"{where}: expected {expected}, got {type(value).__name__} {shorten(value)}")
    for key in value:
        if key not in keys:
            raise ValueError(f"{where}: unknown key {shorten(key)}; a row may hold {', '.join(map(repr, keys))}")
    if "ids" not in value:
        raise ValueError(f"{where}: 'ids' is missing; found are the keys {shorten(list(value), 120)}")
    return value


def _query_id(fields: Mapping[str, Any], where: str) -> str | None:
    return checked_id(fields["id"], f"{where}['id']") if "id" in fields else None


def _items(value: Any, where: str, expected: str) -> Sequence[Any]:
    if isinstance(value, str | bytes):
        raise ValueError(f"{where}: expected {expected}, got one text {shorten(value)}")
    if not is_ordered_list(value):
        raise TypeError(f"{where}: expected {expected}, got {type(value).__name__} {shorten(value)}")
    return value if isinstance(value, list | tuple) else value.tolist()


def _checked_ids(value: Any, where: str) -> tuple[str, ...]:
    items = _items(value, where, "a list of ids (str or int)")
    if set(map(type, items)) == {str} and "".join(items).isascii():  # the usual case, as it takes a tenth of the time
        ids = tuple(items)
    else:
        ids = tuple(checked_id(item, f"{where}[{i}]") for i, item in enumerate(items))
    if len(set(ids)) < len(ids):
        _raise_repeated(ids, where)
    return ids


def _raise_repeated(ids: tuple[str, ...], where: str) -> None:
    first_place: dict[str, int] = {}
    for i, document in enumerate(ids):
        if first_place.setdefault(document, i) != i:
            raise ValueError(
                f"{where}[{i}]: expected each id once, got {shorten(document, 120)} again, which is at "
                f"[{first_place[document]}]"
            )


def _checked_scores(value: Any, ids: Sequence[str], where: str) -> list[float]:
    return _checked_numbers(value, ids, where, "a finite number", _checked_score)


def _checked_grades(value: Any, ids: Sequence[str], where: str) -> list[int]:
    return _checked_numbers(value, ids, where, f"a whole number from {-MAX_GRADE} to {MAX_GRADE}", _checked_grade)


def _checked_numbers(
    value: Any, ids: Sequence[str], where: str, expected: str, checked: Callable[[Any], float | None]
) -> list[float]:
    """One number an id.

    Args:
        value: what the caller gave.
        ids: the ids that the numbers belong to.
        where: what the error texts call the list.
        expected: what the error texts say of one number.
        checked: gives the number, or None where it is not allowed; raises TypeError where it is no such number.
    """
    items = _items(value, where, f"a list with {expected} for each id")
    if len(items) != len(ids):
        raise ValueError(f"{where}: expected {len(ids)} numbers, one for each id, got {len(items)}")
    numbers = []
    for i, item in enumerate(items):
        try:
            number = checked(item)
        except TypeError:
            raise TypeError(
                f"{where}[{i}]: expected {expected} for the id {shorten(ids[i], 120)}, got {type(item).__name__} "
                f"{shorten(item)}"
            ) from None
        if number is None:
            raise ValueError(
                f"{where}[{i}]: expected {expected} for the id {shorten(ids[i], 120)}, got {shorten(item)}"
            )
        numbers.append(number)
    return numbers


def _checked_score(value: Any) -> float | None:
    if type(value) is not float and (not isinstance(value, Real) or isinstance(value, bool)):
        raise TypeError
    try:
        score = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return None
    return score if math.isfinite(score) else None


def _checked_grade(value: Any) -> int | None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError
    return int(value) if -MAX_GRADE <= value <= MAX_GRADE else None


def _check_relevant_are_candidates(judgments: Judgments, where: str) -> None:
    if judgments.candidates is None:
        return
    candidates = set(judgments.candidates)
    for document in judgments.relevant():
        if document not in candidates:
            raise ValueError(
                f"{where}['candidates']: expected every relevant id among them, got {len(candidates)} candidates "
                f"without {shorten(document, 120)}"
            )
