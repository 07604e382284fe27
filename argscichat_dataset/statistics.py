"""Counts of a dataset: what its card and `argscichat data stats` say."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from argscichat_dataset.alignment import alignment_report
from argscichat_dataset.built import papers_to_align
from argscichat_dataset.corpus import Row


@dataclass(frozen=True)
class CorpusStatistics:
    """Counts of message pairs that are taken together.

    Attributes:
        papers: papers that the pairs are about.
        dialogues: dialogues.
        pairs: message pairs, which is queries.
        sentences: sentences of the papers.
        annotated_facts: spans as published.
        facts: gold sentences after alignment.
        queries_with_facts: pairs with at least one gold sentence.
        alignment: what `alignment.alignment_report` counts.
    """

    papers: int
    dialogues: int
    pairs: int
    sentences: int
    annotated_facts: int
    facts: int
    queries_with_facts: int
    alignment: dict[str, int | dict[int, int]]


def corpus_statistics(rows: Iterable[Row]) -> CorpusStatistics:
    """Count papers, dialogues, pairs and facts.

    Args:
        rows: message pairs, each once.

    Returns:
        The counts.
    """
    rows = list(rows)
    papers = papers_to_align(rows)
    return CorpusStatistics(
        papers=len(papers),
        dialogues=len({row["dialogue_id"] for row in rows}),
        pairs=len(rows),
        sentences=sum(len(paper.sentences) for paper in papers),
        annotated_facts=sum(len(row["annotated_facts"]) for row in rows),
        facts=sum(len(row["facts"]) for row in rows),
        queries_with_facts=sum(bool(row["facts"]) for row in rows),
        alignment=alignment_report(papers),
    )


def papers_tested(test_splits: Iterable[Iterable[Mapping[str, str]]]) -> int:
    """How many papers the test splits of several folds cover together.

    Args:
        test_splits: rows with a `paper_id`, one collection a fold.

    Returns:
        The number of distinct papers.
    """
    return len({row["paper_id"] for rows in test_splits for row in rows})
