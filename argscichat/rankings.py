"""Rankings of whole query sets: reading and writing run files, and scoring a run against judgments by query id."""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argscichat.json_lines import JSON_LINES_SUFFIXES, read_json_lines, text_lines
from argscichat.output_files import write_whole
from argscichat.scoring import some_ids
from argscichat_metric.retrieval import score_rankings
from argscichat_metric.retrieval_options import RetrievalOptions
from argscichat_metric.retrieval_rows import Judgments, Ranking, read_judgment, read_ranking
from argscichat_metric.shortened import shorten

_TREC_COLUMNS = "query Q0 document rank score tag"
# Without the white space of C, which is where trec_eval parts columns: an id may hold a no-break space.
_COLUMN = re.compile(r"[^ \t\n\r\f\v]+")


def read_run(path: str | os.PathLike[str]) -> dict[str, Ranking]:
    """Read the rankings of a system.

    Args:
        path: a file whose name ends in `.jsonl` or `.ndjson` with one `{"id": ..., "ids": [best first ...]}` a query,
            in which `scores` decide the order where they are given (see `retrieval_rows.read_ranking`); else a TREC
            run: six columns `query Q0 document rank score tag` a line, apart by spaces or tabs. Of these the score
            decides, the highest first, and documents of equal score stay in the order of the file; the second, fourth
            and sixth column are not read, as in trec_eval. UTF-8 with or without BOM; blank lines are left out.

    Returns:
        Query id -> its ranking, in the order of the first line of each query.

    Raises:
        OSError: the file cannot be read.
        TypeError: a value of the wrong type in JSON Lines; the text names file and line.
        ValueError: a malformed line, a repeated document or query, a score that is not finite, an empty file; the text
            names file and line.
    """
    path = Path(path)
    if path.suffix.lower() in JSON_LINES_SUFFIXES:
        return {ranking.id: ranking for ranking in read_json_lines(path, read_ranking).values()}
    return _read_trec_run(path)


def write_run(path: str | os.PathLike[str], rankings: Mapping[str, Ranking], tag: str) -> None:
    """Write rankings as a TREC run, whole or not at all.

    The scores are the number of documents, that number less one, and so on to 1: strictly falling, so that the order
    is kept by trec_eval too, whatever its rule for ties.

    Args:
        path: file to write; an existing one is replaced.
        rankings: query id -> its ranking. A query without a ranked document has no line.
        tag: name of the system, for the last column.

    Raises:
        OSError: the file cannot be written; an existing one is unchanged then.
        ValueError: an id or a tag that is empty or holds white space, which the format has no way to write.
    """
    _check_column(tag, "tag")
    lines = [line for query, ranking in rankings.items() for line in _trec_lines(query, ranking, tag)]
    write_whole(Path(path), "".join(lines))


def score_run(
    run: Mapping[str, Ranking | Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    candidates: Mapping[str, Sequence[str]] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Score a run against judgments, matched by query id.

    Args:
        run: query id -> its ranking, or just the ids of the documents, best first.
        qrels: query id -> document id -> grade; from 1 on a document is relevant.
        candidates: query id -> the documents that it may be answered with, for every query of the qrels; None where
            all documents are candidates.
        **options: see `retrieval_options.RetrievalOptions`.

    Returns:
        What `retrieval.score_rankings` returns, over the queries of the qrels and in their order: a query that the run
        lacks, or answers with nothing, scores 0 and is listed under `missing`. And `n_unjudged_queries`, the queries of
        the run that are not in the qrels, which are left out.

    Raises:
        TypeError: an unknown option, or a value of the wrong type.
        ValueError: no query in common, a judged query without candidates, judgments that cannot be used.
    """
    checked = RetrievalOptions.of(options)
    n_unjudged = sum(query not in qrels for query in run)
    if n_unjudged == len(run):
        raise ValueError(
            f"no query of the run is in the qrels: the run has {_some_or_none(run)}, the qrels have "
            f"{_some_or_none(qrels)}"
        )
    judgments = [_judgments_of(query, qrels, candidates) for query in qrels]
    rankings = [_ranking_of(query, run) for query in qrels]
    return score_rankings(rankings, judgments, checked) | {"n_unjudged_queries": n_unjudged}


def _some_or_none(queries: Mapping[str, Any]) -> str:
    return some_ids(list(queries)) if queries else "no queries"


def _ranking_of(query: str, run: Mapping[str, Ranking | Sequence[str]]) -> Ranking:
    found = run.get(query, ())
    # Checked again, since a ranking may come from elsewhere than a file.
    ids = found.ids if isinstance(found, Ranking) else found
    return read_ranking({"id": query, "ids": ids}, f"run[{shorten(query, 120)}]")


def _judgments_of(
    query: str, qrels: Mapping[str, Mapping[str, int]], candidates: Mapping[str, Sequence[str]] | None
) -> Judgments:
    grades = qrels[query]
    if not isinstance(grades, Mapping):
        raise TypeError(
            f"qrels[{shorten(query, 120)}]: expected a dict of document ids and grades, got {type(grades).__name__} "
            f"{shorten(grades)}"
        )
    row = {"id": query, "ids": list(grades), "grades": list(grades.values())}
    if candidates is not None:
        if query not in candidates:
            raise ValueError(
                f"candidates: expected those of every query of the qrels, got none for {shorten(query, 120)}"
            )
        row["candidates"] = candidates[query]
    return read_judgment(row, f"qrels[{shorten(query, 120)}]")


def _read_trec_run(path: Path) -> dict[str, Ranking]:
    scores: dict[str, dict[str, float]] = {}
    for number, line in text_lines(path):
        columns = line.encode().split()  # as bytes it is parted at the white space of C only
        score = _finite(columns[4]) if len(columns) == 6 else None
        if score is None:
            raise _malformed(path, number, line, columns)
        query, document = columns[0].decode(), columns[2].decode()
        of_query = scores.setdefault(query, {})
        if document in of_query:
            raise _repeated(path, number, query, document)
        of_query[document] = score
    if not scores:
        raise ValueError(f"{path}: expected the columns {_TREC_COLUMNS}, got an empty file")
    # sorted() is stable, in reverse too: documents of equal score stay in the order of the file.
    return {
        query: Ranking(tuple(sorted(of_query, key=of_query.__getitem__, reverse=True)), query)
        for query, of_query in scores.items()
    }


def _finite(text: bytes) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # float() also takes digits that are joined by low lines.
    return number if math.isfinite(number) and b"_" not in text else None


def _malformed(path: Path, number: int, line: str, columns: Sequence[bytes]) -> ValueError:
    if len(columns) != 6:
        return ValueError(
            f"{path}, line {number}: expected the 6 columns {_TREC_COLUMNS}, got {len(columns)}: {shorten(line)}; the "
            f"name of a file of JSON Lines ends in {' or '.join(JSON_LINES_SUFFIXES)}"
        )
    return ValueError(
        f"{path}, line {number}: expected a finite number as the score of {shorten(columns[2].decode(), 120)}, got "
        f"{shorten(columns[4].decode())}"
    )


def _repeated(path: Path, number: int, query: str, document: str) -> ValueError:
    sought = [query.encode(), document.encode()]
    first = next(earlier for earlier, line in text_lines(path) if line.encode().split()[0:3:2] == sought)
    return ValueError(
        f"{path}, line {number}: the document {shorten(document, 120)} of the query {shorten(query, 120)} was given in "
        f"line {first} already"
    )


def _trec_lines(query: str, ranking: Ranking, tag: str) -> Iterator[str]:
    _check_column(query, "query id")
    n = len(ranking.ids)
    for position, document in enumerate(ranking.ids):
        _check_column(document, "document id")
        yield f"{query} Q0 {document} {position + 1} {n - position} {tag}\n"


def _check_column(text: str, what: str) -> None:
    if not _COLUMN.fullmatch(text):
        raise ValueError(
            f"{what}: expected a text without white space, as a column of a TREC run, got {shorten(text, 120)}"
        )
