"""The lines of each file of a BEIR folder as values: documents, queries, judgments and candidates.

The format is that of BEIR (Thakur et al., NeurIPS 2021 Datasets and Benchmarks; github.com/beir-cellar/beir), with what
published folders do differently: integers for ids, judgments of four columns as TREC writes them, no header, "1.0".
"""

import json
import re
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from argscichat_dataset.beir_lines import (
    CONFLICT,
    DANGLING,
    EMPTY_ID,
    REPEATED,
    FilePath,
    Findings,
    Item,
    Malformed,
    checked_lines,
)
from argscichat_dataset.source import shown

Qrels = dict[str, dict[str, int]]

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]{1,10})(?:\.0*)?")
# Names of the last column in the headers of BEIR, ir_datasets and of files that are written by hand.
_SCORE_COLUMNS = {"score", "rel", "relevance", "label", "grade", "judgment", "judgement", "rating"}
_INT32 = range(-(2**31), 2**31)
_COLUMNS = "3 columns with tabs between them, or the 4 of TREC"


class Document(NamedTuple):
    """A document of a corpus.

    Attributes:
        title: its title; empty where there is none.
        text: its text.
    """

    title: str
    text: str


def documents(path: FilePath, findings: Findings) -> Iterator[Item[Document]]:
    """Go over the lines of `corpus.jsonl`.

    Args:
        path: the file.
        findings: gets the malformed lines.

    Yields:
        Number of the line, and the id and the document; an id may come again.

    Raises:
        SourceError: the file cannot be read, or a line is malformed and the findings are strict.
    """
    return checked_lines(path, findings, _document)


def queries(path: FilePath, findings: Findings) -> Iterator[Item[str]]:
    """Go over the lines of `queries.jsonl`.

    Args:
        path: the file.
        findings: gets the malformed lines.

    Yields:
        Number of the line, and the id and the text of the query; an id may come again.

    Raises:
        SourceError: as `documents`.
    """
    return checked_lines(path, findings, _query)


def candidates(path: FilePath, findings: Findings) -> Iterator[Item[tuple[str, ...]]]:
    """Go over the lines of `candidates.jsonl`: the documents out of which a query is to be answered.

    Args:
        path: the file.
        findings: gets the malformed lines.

    Yields:
        Number of the line, and the id of the query and the ids of the documents; a query may come again.

    Raises:
        SourceError: as `documents`.
    """
    return checked_lines(path, findings, _candidates)


def collect_qrels(
    path: FilePath,
    findings: Findings,
    query_ids: Container[str] | None = None,
    corpus_ids: Container[str] | None = None,
) -> Qrels:
    """Read the judgments of one file.

    Args:
        path: the file; 3 columns with or without a header, or the 4 of TREC.
        findings: gets malformed lines, conflicts (of which the first score is kept) and ids that are not known.
        query_ids: the queries that there are; None where nothing is known of them.
        corpus_ids: the documents that there are, likewise.

    Returns:
        Query id -> document id -> score, in the order of the file.

    Raises:
        SourceError: the file cannot be read, or the first fault where the findings are strict.
    """
    qrels: Qrels = {}
    for line, (query_field, document_field, score) in checked_lines(path, findings, _JudgmentLine()):
        query_id, corpus_id = _known(query_field, query_ids), _known(document_field, corpus_ids)
        found = [
            is_known(query_id, query_ids, "query", path, line, findings),
            is_known(corpus_id, corpus_ids, "document", path, line, findings),
        ]
        if not all(found):
            continue
        of_query = qrels.setdefault(query_id, {})
        if corpus_id not in of_query:
            of_query[corpus_id] = score
        elif of_query[corpus_id] == score:
            findings.notes[REPEATED] += 1
        else:
            expected = f"one score for query {shown(query_id)} and document {shown(corpus_id)}"
            findings.fault(CONFLICT, path, line, expected, f"{of_query[corpus_id]} before and {score} here")
    return qrels


def is_known(name: str, known: Container[str] | None, what: str, path: FilePath, line: int, findings: Findings) -> bool:
    """Whether an id is one of those that there are; if not, that is a fault.

    Args:
        name: the id.
        known: the ids that there are; None where nothing is known of them.
        what: "query" or "document".
        path: file that names the id.
        line: number of the line that does.
        findings: gets the fault.

    Returns:
        True where it is known, or where nothing is known of the ids.

    Raises:
        SourceError: it is not known, and the findings are strict.
    """
    if known is None or name in known:
        return True
    findings.fault(DANGLING, path, line, f"the id of a {what} that there is", shown(name))
    return False


def _document(text: str) -> tuple[str, Document]:
    record = _record(text)
    title = record.get("title")
    return _id(_field(record, "_id")), Document("" if title is None else _text(title, "title"), _body(record))


def _query(text: str) -> tuple[str, str]:
    record = _record(text)
    return _id(_field(record, "_id")), _body(record)


def _candidates(text: str) -> tuple[str, tuple[str, ...]]:
    record = _record(text)
    ids = _field(record, "corpus-ids")
    if not isinstance(ids, list):
        raise Malformed("a list as 'corpus-ids'", shown(ids))
    return _id(_field(record, "query-id")), tuple(_id(name) for name in ids)


def _body(record: dict[str, Any]) -> str:
    return _text(_field(record, "text"), "text")


def _record(text: str) -> dict[str, Any]:
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed("a JSON object", f"an error at column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise Malformed("a JSON object", "nesting too deep to read") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise Malformed("a JSON object", shown(str(error))) from error
    if not isinstance(value, dict):
        raise Malformed("a JSON object", shown(value))
    return value


def _unique_keys(items: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(items)
    if len(record) < len(items):
        raise Malformed("each key once", f"one of the keys {shown(', '.join(record))} twice")
    return record


# One for all lines, as `json.loads` makes a new one in every call that has options.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _field(record: dict[str, Any], key: str) -> Any:
    if key not in record:
        raise Malformed(f"the key {key!r}", f"the keys {shown(', '.join(record))}")
    return record[key]


def _id(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    name = _text(value, "id")
    if not name.strip():
        raise Malformed("an id that is not blank", shown(name), EMPTY_ID)
    return name


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise Malformed(f"a string as {field}", shown(value))
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        # An escape such as \ud800 without its second half: json takes it, no later write would.
        raise Malformed(f"text that UTF-8 can encode as {field}", shown(value)) from error
    return value


class _JudgmentLine:
    """Reads the lines of one file of judgments, whose first line says how many columns they have."""

    def __init__(self) -> None:
        self._n_columns: int | None = None

    def __call__(self, text: str) -> tuple[str, str, int] | None:
        fields = text.split("\t") if "\t" in text else text.split()
        if len(fields) not in (3, 4) or (len(fields) == 3 and "\t" not in text):
            raise Malformed(_COLUMNS, f"{len(fields)} columns in {shown(text)}")
        is_first, self._n_columns = self._n_columns is None, self._n_columns or len(fields)
        if len(fields) != self._n_columns:
            raise Malformed(f"{self._n_columns} columns as in the lines before", f"{len(fields)} in {shown(text)}")
        score = _unquoted(fields[-1].strip())
        if is_first and score.lower() in _SCORE_COLUMNS:
            return None
        # TREC's second column is the iteration, which nobody uses.
        query_id, corpus_id = fields[0], fields[-2]
        for name in (query_id, corpus_id):
            _id(_unquoted(name))
        return query_id, corpus_id, _whole(score)


def _whole(text: str) -> int:
    match = _WHOLE_NUMBER.fullmatch(text)
    if match is None or int(match[1]) not in _INT32:
        raise Malformed("a whole number of 32 bits as score", shown(text))
    return int(match[1])


def _known(field: str, known: Container[str] | None) -> str:
    """The id that a field stands for: itself where there is such an id, else what csv would read."""
    return field if known is not None and field in known else _unquoted(field)


def _unquoted(field: str) -> str:
    """What csv reads in a quoted field. A quote that nothing closes is a part of the id, where csv would run on."""
    if not field.startswith('"') or not _QUOTED.fullmatch(field):
        return field
    return field[1:-1].replace('""', '"')
