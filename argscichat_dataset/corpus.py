"""The corpus as rows: one row a message pair with everything that a model or a score needs, and one row a paper."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from argscichat_dataset.alignment import PaperAligner, gold_facts
from argscichat_dataset.source import SHOWN_PATH_BYTES, MessagePair, Paper, Place, SourceError, read_fold, shown

FilePath = str | os.PathLike[str]


class Exchange(TypedDict):
    """One earlier turn of a dialogue: both messages, and the aligned facts of the reply."""

    query: str
    reply: str
    facts: list[str]


class Row(TypedDict):
    """One message pair.

    Keys:
        id: official id of the pair.
        paper_id: official id of the paper.
        title: title of the paper.
        dialogue_id: id of the first pair of the dialogue; the same in every official fold.
        turn: number of earlier pairs in the dialogue, from 0.
        query: message of the proponent.
        reply: message of the domain expert.
        history: the earlier turns, oldest first, with their aligned facts.
        history_sentences: the earlier messages as published, split into sentences, with the annotated facts in between.
        paper: sentences of the paper.
        facts: gold facts, as sentences of the paper; see `alignment.gold_facts`.
        fact_ids: their indices in `paper`.
        annotated_facts: spans that the expert selected, as published.
    """

    id: str
    paper_id: str
    title: str
    dialogue_id: str
    turn: int
    query: str
    reply: str
    history: list[Exchange]
    history_sentences: list[str]
    paper: list[str]
    facts: list[str]
    fact_ids: list[int]
    annotated_facts: list[str]


class PaperRow(TypedDict):
    """One paper: its official id, title and sentences, and how many dialogues and message pairs are about it."""

    paper_id: str
    title: str
    sentences: list[str]
    n_dialogues: int
    n_pairs: int


def read_pairs(path: FilePath) -> list[Row]:
    """Read one official fold file as rows.

    Args:
        path: the file.

    Returns:
        One row a message pair, in the order of the file.

    Raises:
        SourceError: the file cannot be read or does not have the official format; see `source.read_fold`.
        AlignmentError: a fact matches no sentence.
    """
    return pair_rows(read_fold(path), path)


def pair_rows(papers: Iterable[Paper], file: FilePath | None = None) -> list[Row]:
    """Message pairs of papers as rows.

    Args:
        papers: the papers.
        file: file that they come from, for the message of an error.

    Returns:
        One row a message pair, in the order of the papers and of their pairs.

    Raises:
        SourceError: the history of a pair is not the earlier part of one dialogue.
        AlignmentError: a fact matches no sentence and not the title.
    """
    return [row for paper in papers for row in _rows_of(paper, file)]


def paper_rows(papers: Iterable[Paper], file: FilePath | None = None) -> list[PaperRow]:
    """Papers as rows.

    Args:
        papers: the papers.
        file: file that they come from, for the message of an error.

    Returns:
        One row a paper, in the given order.

    Raises:
        SourceError: the history of a pair is not the earlier part of one dialogue.
    """
    return [
        PaperRow(
            paper_id=paper.paper_id,
            title=paper.title,
            sentences=list(paper.sentences),
            n_dialogues=len(set(dialogue_ids(paper, file))),
            n_pairs=len(paper.pairs),
        )
        for paper in papers
    ]


def dialogue_ids(paper: Paper, file: FilePath | None = None) -> list[str]:
    """The dialogue of each message pair of a paper.

    A dialogue starts where `history_ids` is empty, and is called by the id of that pair.

    Args:
        paper: the paper.
        file: file that it comes from, for the message of an error.

    Returns:
        One id a pair, in the order of the pairs.

    Raises:
        SourceError: the `history_ids` of a pair are not the ids of all earlier pairs of its dialogue in their order;
            the message names file, paper and pair.
    """
    earlier_ids: dict[str, list[str]] = {}
    of_pair: list[str] = []
    for pair in paper.pairs:
        dialogue_id = pair.history_ids[0] if pair.history_ids else pair.id
        earlier = earlier_ids.setdefault(dialogue_id, [])
        if list(pair.history_ids) != earlier:
            raise _history_error(paper, pair, earlier, file)
        earlier.append(pair.id)
        of_pair.append(dialogue_id)
    return of_pair


def check_distinct_ids(files: Mapping[str, Sequence[Row]]) -> None:
    """Refuse files that share a pair id; inside one file the ids are distinct already.

    Args:
        files: name of a file -> its rows.

    Raises:
        SourceError: a pair id is in two files; the message names both, paper and pair.
    """
    owner: dict[str, str] = {}
    for name, rows in files.items():
        for row in rows:
            if owner.setdefault(row["id"], name) != name:
                place = Place(shown(name, SHOWN_PATH_BYTES), shown(row["paper_id"]), shown(row["id"]))
                raise place.error("field 'id'", "an id that no other file has", f"one of {owner[row['id']]} too")


def _rows_of(paper: Paper, file: FilePath | None) -> list[Row]:
    aligner = PaperAligner(paper.sentences, paper.title)
    facts: dict[str, list[str]] = {}
    pairs = {pair.id: pair for pair in paper.pairs}
    rows: list[Row] = []
    for pair, dialogue_id in zip(paper.pairs, dialogue_ids(paper, file), strict=True):
        fact_ids = gold_facts(paper, pair, aligner, file)
        facts[pair.id] = [paper.sentences[index] for index in fact_ids]
        history = [_exchange(pairs[earlier], facts[earlier]) for earlier in pair.history_ids]
        rows.append(
            Row(
                id=pair.id,
                paper_id=paper.paper_id,
                title=paper.title,
                dialogue_id=dialogue_id,
                turn=len(history),
                query=pair.query,
                reply=pair.reply,
                history=history,
                history_sentences=list(pair.history),
                paper=list(paper.sentences),
                facts=list(facts[pair.id]),
                fact_ids=fact_ids,
                annotated_facts=list(pair.annotated_facts),
            )
        )
    return rows


def _exchange(pair: MessagePair, facts: list[str]) -> Exchange:
    # A list of its own: whoever changes one row must not change the history of another.
    return Exchange(query=pair.query, reply=pair.reply, facts=list(facts))


def _history_error(paper: Paper, pair: MessagePair, earlier: list[str], file: FilePath | None) -> SourceError:
    place = Place(
        shown(os.fspath(file), SHOWN_PATH_BYTES) if file is not None else "papers",
        shown(paper.paper_id),
        shown(pair.id),
    )
    expected = "the first pair of a dialogue in the first place"
    if earlier:
        expected = f"the {len(earlier)} earlier pairs of the dialogue in their order"
    got = f"{len(pair.history_ids)}, the last one {shown(pair.history_ids[-1])}" if pair.history_ids else "none"
    return place.error("field 'history_ids'", expected, got)
