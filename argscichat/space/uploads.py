"""Files of strangers: checked before they are parsed, read under names of ours, errors without a path of the server."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from argscichat.handed_in import References, read_predictions, read_references
from argscichat.json_lines import JSON_LINES_SUFFIXES
from argscichat.space.limits import (
    MAX_FILE_BYTES,
    MAX_ROWS,
    MEGABYTE,
    InputError,
    check_paper,
    check_rows,
)
from argscichat_metric.options import MAX_FACTS
from argscichat_metric.rows import Row
from argscichat_metric.shortened import shorten

ReadT = TypeVar("ReadT")


def read_uploaded_predictions(path: str, field: str) -> list[Row]:
    """Read the predictions that a person uploaded.

    Args:
        path: where the server keeps the upload.
        field: field of the page, for the errors.

    Returns:
        The rows in the order of the file.

    Raises:
        InputError: a file that is too large, empty, binary or malformed; the text names the line or row.
    """
    rows = _read(path, field, ".jsonl", read_predictions)
    check_rows(rows, field)
    for number, row in enumerate(rows, start=1):
        if (n := len(set(row.facts or ()))) > MAX_FACTS:
            raise InputError(
                field, f"Row {number} (id {shorten(row.id, 120)}) has {n} facts; at most {MAX_FACTS} may be selected."
            )
    return rows


def read_uploaded_references(path: str, field: str) -> References:
    """Read the references that a person uploaded: JSON Lines, or an official fold file.

    Args:
        path: where the server keeps the upload.
        field: field of the page, for the errors.

    Returns:
        The references in the order of the file.

    Raises:
        InputError: as `read_uploaded_predictions`.
    """
    suffix = ".jsonl" if Path(path).suffix.lower() in JSON_LINES_SUFFIXES else ".json"
    references = _read(path, field, suffix, read_references)
    check_rows(references.rows, field)
    for sentences in dict.fromkeys(references.sentences or ()):
        check_paper(sentences, field)
    return references


def _read(path: str, field: str, suffix: str, read: Callable[[Path], ReadT]) -> ReadT:
    data = _checked_bytes(Path(path), field, suffix == ".jsonl")
    with tempfile.TemporaryDirectory(prefix="argscichat-") as folder:
        copy = Path(folder) / f"{field}{suffix}"
        copy.write_bytes(data)
        try:
            return read(copy)
        except (OSError, TypeError, ValueError) as error:
            raise InputError(field, str(error).replace(f"{folder}/", "")) from None


def _checked_bytes(path: Path, field: str, one_row_a_line: bool) -> bytes:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise InputError(
            field, f"The file has {size / MEGABYTE:.1f} MB; at most {MAX_FILE_BYTES // MEGABYTE} MB are read."
        )
    data = path.read_bytes()
    if not data.strip():
        raise InputError(field, "The file is empty.")
    if b"\0" in data:
        raise InputError(field, "The file is binary; a text file (JSON) is expected.")
    n_lines = sum(1 for line in data.split(b"\n") if line.strip())
    if one_row_a_line and n_lines > MAX_ROWS:
        raise InputError(field, f"The file has {n_lines:,} rows; at most {MAX_ROWS:,} are read.")
    return data
