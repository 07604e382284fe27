"""Rows of the corpus: every field, dialogues and turns, the counts of the published files, and what is refused."""

import copy
import dataclasses
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_dataset.alignment import AlignmentError
from argscichat_dataset.corpus import Row, check_distinct_ids, dialogue_ids, pair_rows, paper_rows, read_pairs
from argscichat_dataset.official_files import fold_files
from argscichat_dataset.source import MessagePair, Paper, SourceError, read_fold

SAMPLE = Path(__file__).parents[2] / "argscichat_dataset" / "sample" / "sample_test.json"
SENTENCES = ("Tea is hot.", "We like tea.", "Milk is cold.")


def pair(number: int, *history: int, facts: tuple[str, ...] = ()) -> MessagePair:
    """A message pair of "On Tea"; its history holds the pairs with these numbers."""
    return MessagePair(
        id=f"On Tea_{number}",
        query=f"Question {number}?",
        reply=f"Answer {number}.",
        annotated_facts=facts,
        history=tuple(f"Sentence {turn}." for turn in history),
        history_ids=tuple(f"On Tea_{turn}" for turn in history),
        history_facts=tuple(() for _ in history),
    )


def paper(*pairs: MessagePair) -> Paper:
    """A paper of three sentences."""
    return Paper("On Tea", "On Tea", SENTENCES, pairs)


@pytest.fixture(scope="module")
def corpus(shared_dir: Path) -> list[Row]:
    """The real corpus, from the files of fold 0."""
    return [row for file in fold_files(0).values() for row in read_pairs(shared_dir / "argscichat" / file)]


# Rows


def test_every_field_of_a_row() -> None:
    """Facts are aligned sentences, in the history as well; the published texts stay beside them."""
    rows = pair_rows([paper(pair(0, facts=("like tea", "tea is HOT")), pair(1, 0, facts=("On Tea",)))])
    assert rows[1] == {
        "id": "On Tea_1",
        "paper_id": "On Tea",
        "title": "On Tea",
        "dialogue_id": "On Tea_0",
        "turn": 1,
        "query": "Question 1?",
        "reply": "Answer 1.",
        "history": [{"query": "Question 0?", "reply": "Answer 0.", "facts": ["We like tea.", "Tea is hot."]}],
        "history_sentences": ["Sentence 0."],
        "paper": list(SENTENCES),
        "facts": [],
        "fact_ids": [],
        "annotated_facts": ["On Tea"],
    }
    assert (rows[0]["facts"], rows[0]["fact_ids"]) == (["We like tea.", "Tea is hot."], [1, 0])
    assert (rows[0]["history"], rows[0]["turn"]) == ([], 0)


def test_rows_share_nothing() -> None:
    """Changing one row leaves the others as they are."""
    rows = pair_rows([paper(pair(0, facts=("Tea is hot.",)), pair(1, 0), pair(2, 0, 1))])
    before = copy.deepcopy(rows[1:])
    rows[0]["facts"].append("x")
    rows[0]["paper"].clear()
    assert rows[1:] == before
    rows[1]["history"][0]["facts"].append("x")
    assert rows[2] == before[1]


def test_rows_stay_in_the_order_of_the_file() -> None:
    """Also where two dialogues take turns, which the official files do not have."""
    rows = pair_rows([paper(pair(0), pair(1), pair(2, 0), pair(3, 1), pair(4, 0, 2))])
    assert [row["id"] for row in rows] == [f"On Tea_{number}" for number in range(5)]
    assert [row["dialogue_id"] for row in rows] == [f"On Tea_{number}" for number in (0, 1, 0, 1, 0)]
    assert [row["turn"] for row in rows] == [0, 0, 1, 1, 2]


def test_paper_rows() -> None:
    """A paper may have no pairs."""
    rows = paper_rows([paper(pair(0), pair(1, 0), pair(2)), paper()])
    assert rows[0] == {
        "paper_id": "On Tea",
        "title": "On Tea",
        "sentences": list(SENTENCES),
        "n_dialogues": 2,
        "n_pairs": 3,
    }
    assert (rows[1]["n_dialogues"], rows[1]["n_pairs"]) == (0, 0)


# Dialogues


def test_dialogue_ids() -> None:
    """A dialogue starts where the history is empty, and is called by that pair."""
    assert dialogue_ids(paper(pair(0), pair(1, 0), pair(7), pair(8, 7))) == ["On Tea_0"] * 2 + ["On Tea_7"] * 2


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((pair(0), pair(1, 0), pair(2, 1)), "the first pair of a dialogue in the first place"),
        ((pair(0), pair(1, 0), pair(2, 0)), "the 2 earlier pairs of the dialogue in their order"),
        ((pair(0), pair(1, 0), pair(2, 0, 1), pair(3, 0, 2, 1)), "the 3 earlier pairs"),
        ((pair(0), pair(1), pair(2, 0, 1)), "the 1 earlier pairs"),
    ],
    ids=["start missing", "pair left out", "order changed", "other dialogue"],
)
def test_broken_history_is_refused(pairs: tuple[MessagePair, ...], expected: str) -> None:
    """The message names file, paper, pair and field, and stays under 1 kB."""
    with pytest.raises(SourceError) as caught:
        pair_rows([paper(*pairs)], "fold_9_val.json")
    message = str(caught.value)
    assert message.startswith(
        f"'fold_9_val.json': paper 'On Tea', pair {pairs[-1].id!r}, field 'history_ids': expected "
    )
    assert expected in message and len(message) < 1000


def test_broken_history_in_a_file(tmp_path: Path, sample_records: dict[str, Any]) -> None:
    """An earlier pair of the same paper, which the reader lets pass, but not of the same dialogue."""
    record = next(iter(sample_records.values()))
    last = record["message_pairs"][-1]
    last["history_ids"][0] = record["message_pairs"][0]["id"]
    file = tmp_path / "fold_0_val.json"
    file.write_text(json.dumps(sample_records), encoding="utf-8")
    with pytest.raises(SourceError, match="fold_0_val.json") as caught:
        read_pairs(file)
    assert last["id"][-20:] in str(caught.value)


def test_fact_that_matches_nothing_is_refused() -> None:
    """The message names file, paper, pair and span."""
    with pytest.raises(AlignmentError, match="'f.json': paper 'On Tea', pair 'On Tea_0': span 'Coffee'"):
        pair_rows([paper(pair(0, facts=("Coffee",)))], "f.json")


def test_shared_pair_id_is_refused() -> None:
    """Two files with one pair id; the message names both."""
    rows = pair_rows([paper(pair(0))])
    other = [dict(rows[0], paper_id="On Milk")]
    check_distinct_ids({"a.json": rows, "b.json": []})
    with pytest.raises(SourceError, match="'b.json': paper 'On Milk', pair 'On Tea_0', field 'id'.*a.json"):
        check_distinct_ids({"a.json": rows, "b.json": other})


ID = st.integers(0, 9)
FACTS = st.lists(st.sampled_from([*SENTENCES, "like TEA", "On Tea", "", "?", "Coffee"]), max_size=2).map(tuple)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(ID, max_size=4), max_size=6), FACTS)
def test_any_pairs_are_read_or_refused(histories: list[list[int]], facts: tuple[str, ...]) -> None:
    """Nothing but SourceError and AlignmentError; what is accepted adds up to whole dialogues."""
    pairs = tuple(pair(number, *history, facts=facts) for number, history in enumerate(histories))
    try:
        rows = pair_rows([paper(*pairs)])
    except (SourceError, AlignmentError):
        return
    for dialogue_id in {row["dialogue_id"] for row in rows}:
        turns = [row for row in rows if row["dialogue_id"] == dialogue_id]
        assert [row["turn"] for row in turns] == list(range(len(turns)))
        assert all(
            [turn["query"] for turn in row["history"]] == [t["query"] for t in turns[: row["turn"]]] for row in turns
        )


# The sample


def test_sample_counts() -> None:
    """As its README says."""
    rows = read_pairs(SAMPLE)
    assert (len(rows), len({row["paper_id"] for row in rows}), len({row["dialogue_id"] for row in rows})) == (40, 5, 10)
    assert Counter(len(row["facts"]) for row in rows) == {0: 7, 1: 20, 2: 10, 3: 3}
    assert {row["facts"] == [row["paper"][index] for index in row["fact_ids"]] for row in rows} == {True}


# The published corpus


def test_corpus_counts(corpus: list[Row]) -> None:
    """20 papers, 41 dialogues of 4 to 9 pairs, 249 pairs."""
    assert (len(corpus), len({row["id"] for row in corpus}), len({row["paper_id"] for row in corpus})) == (249, 249, 20)
    dialogues = Counter(row["dialogue_id"] for row in corpus)
    assert (len(dialogues), min(dialogues.values()), max(dialogues.values())) == (41, 4, 9)
    assert sum(row["turn"] == 0 for row in corpus) == 41


def test_corpus_sentences(corpus: list[Row]) -> None:
    """652 sentences, 12 to 88 a paper, 3 of them twice in their paper."""
    papers = {row["paper_id"]: row["paper"] for row in corpus}
    sizes = [len(sentences) for sentences in papers.values()]
    assert (sum(sizes), min(sizes), max(sizes)) == (652, 12, 88)
    assert sum(len(sentences) - len(set(sentences)) for sentences in papers.values()) == 3


def test_corpus_facts(corpus: list[Row]) -> None:
    """319 annotated facts; after alignment 208 queries have gold facts, 14 of them more than two."""
    assert Counter(len(row["annotated_facts"]) for row in corpus) == {0: 38, 1: 124, 2: 73, 3: 13, 10: 1}
    assert sum(len(row["annotated_facts"]) for row in corpus) == 319
    assert Counter(len(row["facts"]) for row in corpus) == {0: 41, 1: 125, 2: 69, 3: 13, 10: 1}
    assert sum(bool(row["facts"]) for row in corpus) == 208


def test_corpus_ids(corpus: list[Row]) -> None:
    """18 ids hold a double quote, all hold spaces; the number at the end is unique."""
    ids = [row["id"] for row in corpus]
    assert sum('"' in name for name in ids) == 18
    assert all(" " in name and name.isascii() and name.isprintable() for name in ids)
    assert len({name.rsplit("_", 1)[1] for name in ids}) == 249


def test_corpus_history(corpus: list[Row]) -> None:
    """The history of a row is the earlier rows of its dialogue."""
    by_place = {(row["dialogue_id"], row["turn"]): row for row in corpus}
    for row in corpus:
        earlier = [by_place[row["dialogue_id"], turn] for turn in range(row["turn"])]
        assert row["history"] == [{key: turn[key] for key in ("query", "reply", "facts")} for turn in earlier]


def test_a_paper_has_the_same_rows_in_every_fold(shared_dir: Path) -> None:
    """So dialogue ids are stable across folds, and the corpus can be read from the files of one fold."""
    rows_of: dict[str, list[list[Row]]] = {}
    for fold in range(5):
        for file in fold_files(fold).values():
            for item in read_fold(shared_dir / "argscichat" / file):
                rows_of.setdefault(item.paper_id, []).append(pair_rows([item]))
    assert {len(versions) for versions in rows_of.values()} == {5}
    assert all(rows == versions[0] for versions in rows_of.values() for rows in versions)


def test_rows_keep_the_published_texts(shared_dir: Path) -> None:
    """Byte for byte, nothing stripped."""
    file = shared_dir / "argscichat" / "fold_0_test.json"
    records = json.loads(file.read_bytes())
    published = [item for record in records.values() for item in record["message_pairs"]]
    keys = {
        "id": "id",
        "query": "P_Message",
        "reply": "DE_Message",
        "annotated_facts": "facts",
        "history_sentences": "history",
    }
    rows = read_pairs(file)
    assert [{key: row[key] for key in keys} for row in rows] == [
        {key: item[theirs] for key, theirs in keys.items()} for item in published
    ]
    assert all(row["paper"] == records[row["paper_id"]]["content"] for row in rows)


# Import


@pytest.mark.parametrize(
    "module",
    ["source", "alignment", "corpus", "splits", "intents", "configs", "official_files", "fingerprint", "sample_rows"],
)
def test_import_is_light(root: Path, module: str) -> None:
    """No module but `builder` and `features` needs the datasets library."""
    code = (
        f"import sys, argscichat_dataset.{module}; "
        "print(sorted({'datasets', 'numpy', 'pandas', 'pyarrow', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pairs_cannot_be_changed() -> None:
    """What was checked stays as it was checked."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair(0).id = "x"
