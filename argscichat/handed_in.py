"""The two files that people hand in: the predictions of an agent, and the references to score them against."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from argscichat_dataset.built import read_built_pairs
from argscichat_dataset.corpus import Row as PairRow
from argscichat_dataset.corpus import read_pairs
from argscichat_metric.rows import Row, check_same_fields, read_row, read_rows
from argscichat_metric.shortened import shorten

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class References:
    """What predictions are scored against, in the order of the file.

    Args:
        rows: one row a query, with an id; facts are sentences, or indices where the file gives indices.
        fact_ids: the facts of each row as sentence indices, or None where the file does not hold the papers.
        sentences: the sentences of each row's paper, or None likewise.
        queries: the query that each row answers, or None where the file does not hold it.
    """

    rows: list[Row]
    fact_ids: list[tuple[int, ...]] | None = None
    sentences: list[tuple[str, ...]] | None = None
    queries: list[str] | None = None


def read_predictions(path: str | os.PathLike[str]) -> list[Row]:
    """Read the predictions of an agent.

    Args:
        path: JSON Lines file, one `{"id": ..., "message": ..., "facts": [...]}` a query, UTF-8 with or without BOM.

    Returns:
        The rows in file order; each has an id that is unique, and all carry the same fields.

    Raises:
        OSError: the file cannot be read.
        TypeError: a value of the wrong type; the text names file and line.
        ValueError: a malformed line, a missing or repeated id, an unknown key; the text names file and line.
    """
    return _read_json_lines(Path(path), "predictions")


def read_references(path: str | os.PathLike[str]) -> References:
    """Read references: an official fold file, JSON Lines, or a split of a built dataset.

    JSON Lines hold `id, message, facts[, paper_id]`.

    The gold facts of a fold file are the sentences that the annotated spans belong to, never the spans themselves: a
    third of them are only a part of a sentence, which no agent that selects sentences could match.

    Args:
        path: a file whose name ends in `.jsonl` or `.ndjson`, an official fold file, or `DIR:config:split` where
            `argscichat data build` wrote DIR.

    Returns:
        The references in file order.

    Raises:
        OSError: the file cannot be read.
        TypeError: a value of the wrong type; the text names file and place.
        ValueError: malformed content; the text names file and place.
    """
    place = os.fspath(path).rsplit(":", 2)
    if len(place) == 3 and not os.path.isfile(path):
        return _references_of_rows(read_built_pairs(*place))
    path = Path(path)
    if path.suffix.lower() in JSON_LINES_SUFFIXES:
        return References(_read_json_lines(path, "references"))
    rows = read_pairs(path)
    if not rows:
        raise ValueError(f"{path}: expected at least one message pair, got none")
    return _references_of_rows(rows)


def read_rows_with_ids(values: Any, argument: str) -> list[Row]:
    """Check rows that are at hand in Python as those of a file are checked.

    Args:
        values: list of dicts with the keys that a line of the file holds.
        argument: `"predictions"` or `"references"`, for the error texts and the allowed keys.

    Returns:
        The rows; each has an id that is unique, and all carry the same fields.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: no rows, a missing or repeated id, an unknown key.
    """
    rows = read_rows(values, argument)
    if not rows:
        raise ValueError(f"{argument}: expected at least one row, got none")
    row_of_id: dict[str | None, int] = {}
    for i, row in enumerate(rows):
        if row.id is None:
            raise ValueError(f"{argument}[{i}]: 'id' is missing, by which predictions and references are matched")
        if row.id in row_of_id:
            raise ValueError(
                f"{argument}[{i}]: the id {shorten(row.id, 200)} was given in {argument}[{row_of_id[row.id]}] already"
            )
        row_of_id[row.id] = i
    return rows


def as_sentence_ids(references: References) -> References:
    """The same references with sentence indices for facts, for agents that answer with indices."""
    if references.fact_ids is None:
        return references
    rows = [replace(row, facts=ids) for row, ids in zip(references.rows, references.fact_ids, strict=True)]
    return replace(references, rows=rows)


def _references_of_rows(rows: list[PairRow]) -> References:
    return References(
        [Row(message=row["reply"], facts=tuple(row["facts"]), id=row["id"], paper_id=row["paper_id"]) for row in rows],
        [tuple(row["fact_ids"]) for row in rows],
        [tuple(row["paper"]) for row in rows],
        [row["query"] for row in rows],
    )


def _read_json_lines(path: Path, argument: str) -> list[Row]:
    rows: list[Row] = []
    lines: list[int] = []
    line_of_id: dict[str, int] = {}
    for number, value in _json_lines(path):
        where = f"{path}, line {number}"
        row = _checked_row(value, where, argument)
        if row.id in line_of_id:
            raise ValueError(f"{where}: the id {shorten(row.id, 200)} was given in line {line_of_id[row.id]} already")
        line_of_id[row.id] = number
        rows.append(row)
        lines.append(number)
    if not rows:
        raise ValueError(f"{path}: expected one JSON object a line, got an empty file")
    check_same_fields(rows, lambda i: f"{path}, line {lines[i]}")
    return rows


def _checked_row(value: Any, where: str, argument: str) -> Row:
    if not isinstance(value, dict):
        raise TypeError(f"{where}: expected a JSON object with 'id', got {type(value).__name__} {shorten(value)}")
    if "id" not in value:
        raise ValueError(f"{where}: 'id' is missing; found are the keys {shorten(list(value), 120)}")
    return read_row(value, where, argument)


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: expected UTF-8, got byte 0x{data[error.start]:02x}") from None
    # Not splitlines(): U+2028 and its like may stand inside a JSON text.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parsed(line, f"{path}, line {number}")


def _parsed(line: str, where: str) -> Any:
    try:
        return json.loads(line, object_pairs_hook=_refuse_repeated_keys(where))
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: expected a JSON object, got {shorten(line)} ({error.msg})") from None
    except RecursionError:
        raise ValueError(f"{where}: expected a JSON object, got one nested too deeply") from None


def _refuse_repeated_keys(where: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def build(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) < len(items):
            raise ValueError(f"{where}: a key is given twice in {shorten([key for key, _ in items], 120)}")
        return value

    return build
