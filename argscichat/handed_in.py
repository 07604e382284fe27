"""The two files that people hand in: the predictions of an agent, and the references to score them against."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from argscichat.json_lines import JSON_LINES_SUFFIXES, read_json_lines
from argscichat_dataset.built import read_built_pairs
from argscichat_dataset.corpus import Row as PairRow
from argscichat_dataset.corpus import read_pairs
from argscichat_metric.rows import Row, check_same_fields, read_row, read_rows
from argscichat_metric.shortened import shorten


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
    return _read_rows(Path(path), "predictions")


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
    if Path(path).suffix.lower() in JSON_LINES_SUFFIXES:
        return References(_read_rows(Path(path), "references"))
    return _references_of_rows(read_message_pairs(path))


def read_message_pairs(path: str | os.PathLike[str]) -> list[PairRow]:
    """Read message pairs with everything that an agent may see: query, history, paper.

    Args:
        path: an official fold file, or `DIR:config:split` where `argscichat data build` wrote DIR.

    Returns:
        The pairs in file order, at least one.

    Raises:
        OSError: the file cannot be read.
        ValueError: malformed content; the text names file and place.
    """
    place = os.fspath(path).rsplit(":", 2)
    if len(place) == 3 and not os.path.isfile(path):
        return read_built_pairs(*place)
    rows = read_pairs(path)
    if not rows:
        raise ValueError(f"{path}: expected at least one message pair, got none")
    return rows


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


def _read_rows(path: Path, argument: str) -> list[Row]:
    rows = read_json_lines(path, lambda value, where: read_row(value, where, argument))
    check_same_fields(list(rows.values()), lambda i: f"{path}, line {list(rows)[i]}")
    return list(rows.values())
