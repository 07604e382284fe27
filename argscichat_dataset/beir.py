"""Reading any BEIR folder: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`.

    data = read_beir(beir_download.beir_folder("scifact"), "test")

Ids are strings on every route; an integer in JSON is taken as its decimal text. Of judgments, 3 columns with or without
a header and the 4 columns of TREC are read; a field in double quotes is read as csv reads it, any other quote is a part
of the id. What is malformed, given twice with different content, or names what is not there, is a `SourceError` with
file and line, or with `strict=False` left out and counted: one warning for each kind.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from argscichat_dataset import beir_records
from argscichat_dataset.beir_layout import CANDIDATES_FILE, CORPUS_FILE, QUERIES_FILE, existing_folder, qrels_file
from argscichat_dataset.beir_lines import MISSING, FilePath, Findings, Item, Value, distinct
from argscichat_dataset.beir_records import Document, Qrels, collect_qrels


@dataclass(frozen=True)
class BeirData:
    """One split of a BEIR folder.

    Attributes:
        corpus: id -> document.
        queries: id -> text; all queries of the folder, also those that the split does not judge.
        qrels: query id -> document id -> score; every id is in `queries` and `corpus`.
    """

    corpus: dict[str, Document]
    queries: dict[str, str]
    qrels: Qrels


def read_beir(folder: FilePath, split: str, *, strict: bool = True) -> BeirData:
    """Read one split of a BEIR folder; every call reads all anew.

    Args:
        folder: the folder.
        split: name of a file in `qrels`, without its ending, such as "test".
        strict: raise the first fault; else leave faulty lines out and warn. Of two lines with one id and different
            content the first is kept.

    Returns:
        Corpus, queries and judgments, in the order of the files; at least one of each where `strict`.

    Raises:
        SourceError: there is no such folder, file or split, or a fault where `strict`.
    """
    place = existing_folder(folder)
    files = place / CORPUS_FILE, place / QUERIES_FILE, qrels_file(place, split)
    findings = Findings(strict)
    corpus = _collected(files[0], beir_records.documents(files[0], findings), findings)
    queries = _collected(files[1], beir_records.queries(files[1], findings), findings)
    qrels = collect_qrels(files[2], findings, queries, corpus)
    for file, content in zip(files, (corpus, queries, qrels), strict=True):
        if not content:
            findings.fault(MISSING, file, None, "at least one line", "none")
    findings.warn()
    return BeirData(corpus, queries, qrels)


def read_qrels(path: FilePath, *, strict: bool = True) -> Qrels:
    """Read a file of judgments by itself.

    Args:
        path: the file; BEIR's 3 columns with or without a header, or TREC's 4.
        strict: raise the first fault; else leave faulty lines out and warn.

    Returns:
        Query id -> document id -> score, in the order of the file.

    Raises:
        SourceError: the file cannot be read, or a fault where `strict`.
    """
    findings = Findings(strict)
    qrels = collect_qrels(path, findings)
    findings.warn()
    return qrels


def iter_corpus(path: FilePath, *, strict: bool = True) -> Iterator[tuple[str, Document]]:
    """Go over a corpus of any size, of which one document at a time is held in memory.

    Args:
        path: the file `corpus.jsonl`.
        strict: raise the first malformed line; else leave malformed lines out and warn at the end.

    Yields:
        Id and document. Whether an id comes twice is not looked at, as that would take the memory of all ids.

    Raises:
        SourceError: the file cannot be read, or a line is malformed where `strict`.
    """
    findings = Findings(strict)
    for _, item in beir_records.documents(path, findings):
        yield item
    findings.warn()


def iter_queries(path: FilePath, *, strict: bool = True) -> Iterator[tuple[str, str]]:
    """Go over the queries, of which one at a time is held in memory.

    Args:
        path: the file `queries.jsonl`.
        strict: as in `iter_corpus`.

    Yields:
        Id and text of the query; as in `iter_corpus`, an id may come twice.

    Raises:
        SourceError: as `iter_corpus`.
    """
    findings = Findings(strict)
    for _, item in beir_records.queries(path, findings):
        yield item
    findings.warn()


def read_candidates(folder: FilePath) -> dict[str, list[str]] | None:
    """The documents out of which each query is to be answered, as `beir_export` writes them.

    Args:
        folder: a BEIR folder.

    Returns:
        Query id -> ids of its candidates in the order of the file; None where the whole corpus is meant, as in all
        published BEIR sets.

    Raises:
        SourceError: there is no such folder, a line is malformed, or a query has two lists that differ.
    """
    path = existing_folder(folder) / CANDIDATES_FILE
    if not path.is_file():
        return None
    findings = Findings(strict=True)
    lists = _collected(path, beir_records.candidates(path, findings), findings)
    return {query_id: list(corpus_ids) for query_id, corpus_ids in lists.items()}


def _collected(path: Path, items: Iterator[Item[Value]], findings: Findings) -> dict[str, Value]:
    return {name: value for _, (name, value) in distinct(items, path, findings, {})}
