"""Lines of the files of a BEIR folder, and what is found wrong in them.

Reading, checking and the builder go over the same lines by the same rules; they differ in what becomes of a fault. It
is raised (strict), or counted with its file and line, so that one run finds many.
"""

import codecs
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

from argscichat_dataset.source import SHOWN_PATH_BYTES, Place, shown

FilePath = str | os.PathLike[str]
Value = TypeVar("Value")
Item = tuple[int, tuple[str, Value]]
"""Number of a line, from 1, and the id and the value that it gives."""

# Kinds of faults, as a report and a warning call them.
MALFORMED = "malformed lines"
EMPTY_ID = "lines with an empty id"
CONFLICT = "conflicting duplicates"
DANGLING = "ids that no line defines"
MISSING = "files that are missing or empty"
FAULTS = (MALFORMED, EMPTY_ID, CONFLICT, DANGLING, MISSING)

# Notes: counted, but nothing that a reader could not take.
REPEATED = "lines that repeat an earlier one"
EMPTY_DOCUMENT = "documents with an empty text"
EMPTY_QUERY = "queries with an empty text"

KEPT_PER_KIND = 5


class Malformed(Exception):
    """What is wrong with one line; never leaves `checked_lines`.

    Args:
        expected: what the line should hold.
        got: what it holds, short enough for a message.
        kind: kind of the fault.
    """

    def __init__(self, expected: str, got: str, kind: str = MALFORMED) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got
        self.kind = kind


class Findings:
    """What is found in the files of a BEIR folder.

    Args:
        strict: whether the first fault is raised; else faults are counted.

    Attributes:
        faults: kind of a fault -> how often it was found.
        first: kind of a fault -> messages of the first ones, each with its file and line; at most `KEPT_PER_KIND`.
        notes: kind of a note -> how often it was found.
    """

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.faults: Counter[str] = Counter()
        self.first: dict[str, list[str]] = {}
        self.notes: Counter[str] = Counter()

    def fault(self, kind: str, path: FilePath, line: int | None, expected: str, got: str) -> None:
        """Raise a fault, or count it.

        Args:
            kind: one of the kinds above.
            path: the file.
            line: number of the line, from 1; None where the whole file is meant.
            expected: what should be there.
            got: what is there.

        Raises:
            SourceError: the findings are strict.
        """
        self.faults[kind] += 1
        first = self.first.setdefault(kind, [])
        if self.strict or len(first) < KEPT_PER_KIND:
            place = Place(shown(os.fspath(path), SHOWN_PATH_BYTES))
            error = place.error("file" if line is None else f"line {line}", expected, got)
            if self.strict:
                raise error
            first.append(str(error))

    def warn(self) -> None:
        """Warn of the faults that were counted, once for each kind, in the name of the caller of our caller."""
        for kind, times in self.faults.items():
            warnings.warn(f"{kind}: {times}, left out; the first: {self.first[kind][0]}", stacklevel=3)


def checked_lines(
    path: FilePath, findings: Findings, read: Callable[[str], Value | None]
) -> Iterator[tuple[int, Value]]:
    """Go over the lines of a file; no more than one of them is held in memory.

    Args:
        path: the file: UTF-8 with or without a byte order mark, lines ended by LF or CRLF. Blank lines are skipped.
        findings: gets the lines that cannot be read.
        read: makes the value of a line, None where it has none, or raises `Malformed`.

    Yields:
        Number of the line, from 1, and its value.

    Raises:
        SourceError: the file cannot be read, or a line is malformed and the findings are strict.
    """
    for number, data in _raw_lines(path):
        try:
            text = _decoded(data)
            value = read(text) if text.strip() else None
        except Malformed as fault:
            findings.fault(fault.kind, path, number, fault.expected, fault.got)
            continue
        if value is not None:
            yield number, value


def distinct(
    items: Iterator[Item[Value]], path: FilePath, findings: Findings, seen: dict[str, int]
) -> Iterator[Item[Value]]:
    """Leave out what an earlier line gave already; the same id with another value is a fault.

    Args:
        items: number of the line, id and value.
        path: file that they are from.
        findings: gets the conflicts, of which the first value is kept, and counts plain repeats.
        seen: filled with the ids and a hash of each value, which is all that is held in memory.

    Yields:
        The items that are left.

    Raises:
        SourceError: a conflict, where the findings are strict.
    """
    for number, (name, value) in items:
        if name not in seen:
            seen[name] = hash(value)
            yield number, (name, value)
        elif seen[name] == hash(value):
            findings.notes[REPEATED] += 1
        else:
            expected = f"one content for the id {shown(name)}"
            findings.fault(CONFLICT, path, number, expected, "another one than in an earlier line")


def _raw_lines(path: FilePath) -> Iterator[tuple[int, bytes]]:
    try:
        with open(path, "rb") as file:
            for number, data in enumerate(file, start=1):
                yield number, data.removeprefix(codecs.BOM_UTF8) if number == 1 else data
    except OSError as error:
        got = shown(error.strerror or str(error))
        place = Place(shown(os.fspath(path), SHOWN_PATH_BYTES))
        raise place.error("file", "a file that can be read", got) from error


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        got = f"byte 0x{data[error.start]:02x} at offset {error.start} of the line ({error.reason})"
        raise Malformed("UTF-8 text", got) from error
