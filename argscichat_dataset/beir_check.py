"""The pre-flight of a BEIR folder: counts, and all faults in one run, in the memory that its ids take."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from argscichat_dataset import beir_records
from argscichat_dataset.beir_layout import (
    CANDIDATES_FILE,
    CORPUS_FILE,
    QRELS_FOLDER,
    QUERIES_FILE,
    existing_folder,
    qrels_files,
)
from argscichat_dataset.beir_lines import (
    EMPTY_DOCUMENT,
    EMPTY_QUERY,
    FAULTS,
    MISSING,
    FilePath,
    Findings,
    Item,
    Value,
    distinct,
)
from argscichat_dataset.beir_records import Document, collect_qrels, is_known


@dataclass(frozen=True)
class SplitCounts:
    """Counts of one split: `judgments` (pairs of query and document) and `judged_queries`, without faulty lines."""

    judgments: int
    judged_queries: int


@dataclass(frozen=True)
class BeirReport:
    """What a check of a BEIR folder found.

    Attributes:
        documents: distinct documents of the corpus.
        queries: distinct queries.
        splits: name of a split -> its counts.
        unjudged_queries: queries that no split judges.
        faults: kind of fault -> how many; every kind is there, with 0 where there are none.
        first_faults: the first of each kind, with file and line.
        notes: kind -> how many, of what a reader can take but may want to know: empty texts, repeated lines.
    """

    documents: int
    queries: int
    splits: dict[str, SplitCounts]
    unjudged_queries: int
    faults: dict[str, int]
    first_faults: tuple[str, ...]
    notes: dict[str, int]

    @property
    def sound(self) -> bool:
        """Whether every split can be read with `strict`."""
        return not any(self.faults.values())


def check_beir(folder: FilePath) -> BeirReport:
    """Check all files of a BEIR folder by the rules of `beir.read_beir`, without holding its texts in memory.

    Args:
        folder: the folder.

    Returns:
        Counts and faults.

    Raises:
        SourceError: there is no such folder, or a file cannot be read.
    """
    place = existing_folder(folder)
    findings = Findings(strict=False)
    corpus_ids = _ids_of(place / CORPUS_FILE, beir_records.documents, _text_of_document, EMPTY_DOCUMENT, findings)
    query_ids = _ids_of(place / QUERIES_FILE, beir_records.queries, str, EMPTY_QUERY, findings)
    splits: dict[str, SplitCounts] = {}
    judged: set[str] = set()
    # Where a file is missing, that is the fault, and not every id that it would define.
    known = (query_ids or None, corpus_ids or None)
    for split, file in qrels_files(place).items():
        qrels = collect_qrels(file, findings, *known)
        if not qrels:
            findings.fault(MISSING, file, None, "at least one judgment", "none")
        splits[split] = SplitCounts(sum(map(len, qrels.values())), len(qrels))
        judged |= qrels.keys()
    if not splits:
        findings.fault(MISSING, place / QRELS_FOLDER, None, "a file such as test.tsv", "none")
    _check_candidates(place / CANDIDATES_FILE, findings, *known)
    return BeirReport(
        documents=len(corpus_ids),
        queries=len(query_ids),
        splits=splits,
        unjudged_queries=len(query_ids.keys() - judged),
        faults={kind: findings.faults[kind] for kind in FAULTS},
        first_faults=tuple(message for messages in findings.first.values() for message in messages),
        notes=dict(findings.notes),
    )


def _ids_of(
    path: Path,
    read: Callable[[FilePath, Findings], Iterator[Item[Value]]],
    text_of: Callable[[Value], str],
    empty: str,
    findings: Findings,
) -> dict[str, int]:
    """The ids of a file, each with a hash of its content; counts the empty texts among them under the note `empty`."""
    seen: dict[str, int] = {}
    if path.is_file():
        for _, (_, value) in distinct(read(path, findings), path, findings, seen):
            if not text_of(value).strip():
                findings.notes[empty] += 1
    if not seen:
        findings.fault(MISSING, path, None, "at least one line", "none")
    return seen


def _text_of_document(document: Document) -> str:
    return document.text


def _check_candidates(
    path: Path, findings: Findings, query_ids: Container[str] | None, corpus_ids: Container[str] | None
) -> None:
    if not path.is_file():
        return
    for line, (query_id, of_query) in distinct(beir_records.candidates(path, findings), path, findings, {}):
        is_known(query_id, query_ids, "query", path, line, findings)
        for corpus_id in of_query:
            is_known(corpus_id, corpus_ids, "document", path, line, findings)
