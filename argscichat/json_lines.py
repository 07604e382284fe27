"""JSON Lines whose objects have ids: reading a file and naming the line that is wrong."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from argscichat_metric.rows import HasId
from argscichat_metric.shortened import shorten

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
"""How the name of a file ends that holds one JSON object a line."""


RowT = TypeVar("RowT", bound=HasId)


def read_json_lines(path: Path, read: Callable[[Any, str], RowT]) -> dict[int, RowT]:
    """Read a file of JSON objects with ids.

    Args:
        path: UTF-8 with or without BOM; blank lines are left out.
        read: checks one object; gets what the error texts call it, too.

    Returns:
        Line number, from 1 -> what `read` returned, in file order; the ids are unique.

    Raises:
        OSError: the file cannot be read.
        TypeError: a line that is no object; the text names file and line.
        ValueError: malformed JSON, a missing or repeated id, an empty file; the text names file and line.
    """
    rows: dict[int, RowT] = {}
    line_of_id: dict[str | None, int] = {}
    for number, line in text_lines(path):
        where = f"{path}, line {number}"
        row = read(_object_with_id(line, where), where)
        if row.id in line_of_id:
            raise ValueError(f"{where}: the id {shorten(row.id, 200)} was given in line {line_of_id[row.id]} already")
        line_of_id[row.id] = number
        rows[number] = row
    if not rows:
        raise ValueError(f"{path}: expected one JSON object a line, got an empty file")
    return rows


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file that are not blank.

    Args:
        path: UTF-8 with or without BOM.

    Yields:
        Line number, from 1, and the line; a carriage return at its end stays.

    Raises:
        OSError: the file cannot be read.
        ValueError: a byte that is not UTF-8; the text names file and line.
    """
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: expected UTF-8, got byte 0x{data[error.start]:02x}") from None
    # Not splitlines(): U+2028 and its like may stand inside a JSON text.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _object_with_id(line: str, where: str) -> dict[str, Any]:
    value = _parsed(line, where)
    if not isinstance(value, dict):
        raise TypeError(f"{where}: expected a JSON object with 'id', got {type(value).__name__} {shorten(value)}")
    if "id" not in value:
        raise ValueError(f"{where}: 'id' is missing; found are the keys {shorten(list(value), 120)}")
    return value


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
