"""Dialogue acts of sentences: what the file must look like, and which message a sentence is from."""

import csv
import io
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_dataset.corpus import Row, read_pairs
from argscichat_dataset.intents import COLUMNS, TAGS, IntentSentence, intent_rows, intents_report, read_intents
from argscichat_dataset.official_files import fold_files
from argscichat_dataset.source import SourceError

HEADER = "Role,Message Number,Sentence Number,Sentence,Tag\n"


def dialogue(name: str, *messages: tuple[str, str]) -> list[Row]:
    """Rows of one dialogue, with no more than the matching looks at."""
    return [
        Row(id=f"{name}_{turn}", dialogue_id=f"{name}_0", turn=turn, query=query, reply=reply)
        for turn, (query, reply) in enumerate(messages)
    ]


def said(role: str, number: int, sentence: str, part: int = 0) -> IntentSentence:
    """A sentence; the tag does not matter."""
    return IntentSentence(role, number, part, sentence, "Reply_Info")


def proponent(number: int, sentence: str) -> IntentSentence:
    """A sentence of the proponent."""
    return said("Proponent", number, sentence)


def expert(number: int, sentence: str) -> IntentSentence:
    """A sentence of the expert."""
    return said("Domain Expert", number, sentence)


TEA = dialogue("tea", ("Hi! What is it about?", "It is about tea."), ("Why tea?", "Tea is hot. Milk is not."))
MILK = dialogue("milk", ("Hi! What is it about?", "This is about milk."), ("Why milk?", "Milk is cold."))


def ids(sentences: list[IntentSentence], pairs: list[Row] = TEA + MILK) -> list[tuple[str | None, str | None]]:
    """Id and side of each sentence."""
    return [(row["id"], row["side"]) for row in intent_rows(sentences, pairs)]


# Matching


def test_blocks_are_matched() -> None:
    """One block of the proponent, one of the expert; the first sentence alone would fit both dialogues."""
    sentences = [proponent(0, "Hi!"), proponent(2, "Why tea?"), expert(1, "It is about tea."), expert(3, "milk is not")]
    assert ids(sentences) == [("tea_0", "query"), ("tea_1", "query"), ("tea_0", "reply"), ("tea_1", "reply")]


def test_ambiguous_block() -> None:
    """What both dialogues hold is of neither without doubt."""
    sentences = [proponent(0, "Hi!"), expert(1, "It is about tea.")]
    assert ids(sentences) == [(None, None), ("tea_0", "reply")]
    report = intents_report(sentences, TEA + MILK)
    assert report == {
        "rows": 2,
        "matched": 1,
        "ambiguous": 1,
        "unmatched": 0,
        "blocks": 2,
        "matched_blocks": 1,
        "ambiguous_blocks": 1,
        "unmatched_blocks": 0,
    }


def test_two_blocks_for_one_dialogue() -> None:
    """The same block twice: one of them is wrong, and nothing says which."""
    block = [expert(1, "It is about tea."), expert(3, "Tea is hot.")]
    assert ids(block + block) == [(None, None)] * 4
    assert intents_report(block + block, TEA)["ambiguous_blocks"] == 2


@pytest.mark.parametrize(
    "sentence",
    [
        proponent(0, "Something else."),
        proponent(2, "Hi!"),
        proponent(4, "Hi!"),
        proponent(1, "It is about tea."),
        expert(0, "Why tea?"),
        expert(3, "It is about tea."),
    ],
    ids=["not said", "other turn", "no such turn", "odd proponent", "even expert", "other reply"],
)
def test_unmatched_block(sentence: IntentSentence) -> None:
    """One sentence that is not at its place, and the whole block is in doubt."""
    sentences = [proponent(0, "What is it about?"), sentence] if sentence.role == "Proponent" else [sentence]
    assert set(ids(sentences, TEA)) == {(None, None)}
    assert intents_report(sentences, TEA)["unmatched"] == len(sentences)


def test_whole_words_only() -> None:
    """ "Hi" is in "This", and "tea" in "steam"."""
    assert ids([expert(1, "Hi!")], MILK) == [(None, None)]
    assert ids([expert(1, "is about milk!")], MILK) == [("milk_0", "reply")]


def test_rest_of_the_annotation_tool() -> None:
    """16 published sentences end in a line break and "Facts:"; they are kept and matched."""
    sentence = expert(1, "It is about tea.\n Facts:")
    row = intent_rows([sentence], TEA)[0]
    assert (row["id"], row["sentence"]) == ("tea_0", "It is about tea.\n Facts:")


def test_a_block_ends_where_numbers_fall() -> None:
    """Also between two blocks of one speaker."""
    sentences = [
        expert(1, "It is about tea."),
        expert(1, "It is about tea."),
        expert(3, "Tea is hot."),
        expert(1, "This"),
    ]
    assert intents_report(sentences, TEA + MILK)["blocks"] == 2


def test_order_of_the_pairs_does_not_matter() -> None:
    """Turns are put in order."""
    assert ids([proponent(0, "Hi"), proponent(2, "Why milk")], MILK[::-1] + TEA[::-1]) == [
        ("milk_0", "query"),
        ("milk_1", "query"),
    ]


def test_nothing_to_match() -> None:
    """An empty corpus, no sentences."""
    assert intent_rows([], TEA) == []
    assert intents_report([proponent(0, "Hi!")], [])["unmatched"] == 1


# The file


def write(folder: Path, text: str | bytes) -> Path:
    """A file with this content."""
    file = folder / "intents.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return file


def test_read(tmp_path: Path) -> None:
    """Quotes, commas, line breaks, a byte order mark, a blank line, no line end at the end."""
    text = HEADER + 'Proponent,0,0,"Hi, ""you""\nthere",Intro\r\n\nDomain Expert,1,12, 007 ,Outro'
    for content in (text, "\ufeff" + text):
        assert read_intents(write(tmp_path, content)) == [
            IntentSentence("Proponent", 0, 0, 'Hi, "you"\nthere', "Intro"),
            IntentSentence("Domain Expert", 1, 12, " 007 ", "Outro"),
        ]


GOOD = 'Proponent,0,0,"Two\nlines",Intro\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file: expected a header"),
        (HEADER, "file: expected a header and at least one row"),
        ("Role,Sentence\n", "line 1: expected the columns Role, Message Number"),
        (HEADER + GOOD + "Proponent,0,0,Hi\n", "line 4: expected 5 values, got 4"),
        (HEADER + GOOD + "Proponent,0,0,Hi, you,Intro\n", "line 4: expected 5 values, got 6"),
        (
            HEADER + GOOD + "Chair,0,0,Hi,Intro\n",
            "line 4, column 'Role': expected one of Proponent, Domain Expert, got 'Chair'",
        ),
        (HEADER + GOOD + "Proponent,0,0,Hi,intro\n", "line 4, column 'Tag': expected one of Ask_Info,"),
        (
            HEADER + GOOD + "Proponent,x,0,Hi,Intro\n",
            "line 4, column 'Message Number': expected a number from 0, got 'x'",
        ),
        (
            HEADER + GOOD + "Proponent,0,-1,Hi,Intro\n",
            "line 4, column 'Sentence Number': expected a number from 0, got '-1'",
        ),
        (HEADER + GOOD + "Proponent,0,1e999,Hi,Intro\n", "line 4, column 'Sentence Number'"),
        (HEADER + GOOD + "Proponent,9999999999,0,Hi,Intro\n", "line 4, column 'Message Number'"),
        (HEADER + GOOD + 'Proponent,0,0,"Hi"x,Intro\n', "line 4: expected valid CSV"),
        (HEADER + GOOD + 'Proponent,0,0,"Hi,Intro\n', "line 4: expected valid CSV"),
        (HEADER + GOOD + f"Proponent,0,0,{'x' * 200_000},Intro\n", "line 4: expected valid CSV"),
        (HEADER.encode() + b"Proponent,0,0,\xff,Intro\n", "encoding: expected UTF-8 text, got byte 0xff"),
    ],
)
def test_malformed_file_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    """The message names file, line and column, and stays under 1 kB."""
    with pytest.raises(SourceError) as caught:
        read_intents(write(tmp_path, text))
    assert message in str(caught.value) and "intents.csv" in str(caught.value) and len(str(caught.value)) < 1000


def test_missing_file_is_refused(tmp_path: Path) -> None:
    """As for the other files."""
    with pytest.raises(SourceError, match="intents.csv': file: expected a file that can be read"):
        read_intents(tmp_path / "intents.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("intents")


FIELDS = st.text("\"',\n\r\0;x\u00e9 0", max_size=6) | st.sampled_from(["Proponent", "0", "1", "Intro"])


@settings(max_examples=100, deadline=None)
@given(
    text=st.text("\"',\n\r\0Px0\u00e9", max_size=40),
    rows=st.lists(st.lists(FIELDS, min_size=4, max_size=6), max_size=3),
)
def test_any_file_is_read_or_refused(folder: Path, text: str, rows: list[list[str]]) -> None:
    """Nothing but SourceError, for raw text and for cells of any content."""
    cells = io.StringIO(newline="")
    csv.writer(cells, quoting=csv.QUOTE_ALL).writerows([COLUMNS, *rows])
    for content in (HEADER + text, cells.getvalue()):
        try:
            sentences = read_intents(write(folder, content))
        except SourceError:
            continue
        assert sentences


# The published file


def test_published_file(shared_dir: Path) -> None:
    """881 rows; the declared tags are those of the file; every row is matched, and its words are in the message."""
    folder = shared_dir / "argscichat"
    sentences = read_intents(folder / "intents.csv")
    assert Counter(sentence.role for sentence in sentences) == {"Domain Expert": 464, "Proponent": 417}
    assert sorted({sentence.tag for sentence in sentences}) == list(TAGS)
    pairs = [row for file in fold_files(0).values() for row in read_pairs(folder / file)]
    report = intents_report(sentences, pairs)
    assert report == {
        "rows": 881,
        "matched": 881,
        "ambiguous": 0,
        "unmatched": 0,
        "blocks": 82,
        "matched_blocks": 82,
        "ambiguous_blocks": 0,
        "unmatched_blocks": 0,
    }
    messages = {row["id"]: row for row in pairs}
    for row in intent_rows(sentences, pairs):
        said_first = row["sentence"].split()[0].strip(".,!?")
        assert said_first in messages[row["id"]][row["side"]]
