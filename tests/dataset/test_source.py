"""Reading of the official files: what is kept, and what every malformed file gets."""

import copy
import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_dataset.source import MessagePair, Paper, SourceError, read_fold, shown

SAMPLE = Path(__file__).parents[2] / "argscichat_dataset" / "sample" / "sample_test.json"
SAMPLE_BYTES = SAMPLE.read_bytes()
SAMPLE_RECORDS = json.loads(SAMPLE_BYTES)
# Mutations work on two papers: small enough for many examples, with quotes in the ids of the first one.
TWO_PAPERS = dict(list(SAMPLE_RECORDS.items())[:2])
MESSAGE_LIMIT = 1000

# Message pairs of the published files at the pinned commit, counted in them by a script of its own. Papers: 16 in a
# train file, 2 in a validation or test file.
PAIRS_BY_FILE = {
    (0, "train"): 199,
    (0, "val"): 27,
    (0, "test"): 23,
    (1, "train"): 200,
    (1, "val"): 14,
    (1, "test"): 35,
    (2, "train"): 183,
    (2, "val"): 39,
    (2, "test"): 27,
    (3, "train"): 212,
    (3, "val"): 27,
    (3, "test"): 10,
    (4, "train"): 207,
    (4, "val"): 22,
    (4, "test"): 20,
}


def small_corpus() -> dict[str, Any]:
    """Two papers with two pairs each, the second of which continues the first."""

    def pair(title: str, number: int) -> dict[str, Any]:
        earlier = [f"{title}_{index}" for index in range(number)]
        return {
            "id": f"{title}_{number}",
            "P_Message": "Why? ",
            "DE_Message": "Because.",
            "history": ["Why?", "Because."] * number,
            "history_ids": earlier,
            "history_facts": [["One."] for _ in earlier],
            "facts": ["One."],
        }

    return {
        title: {
            "id": title,
            "title": title,
            "content": ["One.", "Two."],
            "message_pairs": [pair(title, 0), pair(title, 1)],
        }
        for title in ("On Tea", 'On "Coffee"')
    }


def written(folder: Path, content: object) -> Path:
    """Write text, bytes or a JSON value as a file."""
    file = folder / "fold_9_test.json"
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return file


def error_of(file: Path) -> str:
    """The message with which the file is refused, after the rules for every message were checked."""
    with pytest.raises(SourceError) as caught:
        read_fold(file)
    message = str(caught.value)
    assert len(message.encode("utf-8")) < MESSAGE_LIMIT
    assert file.name[-20:] in message
    assert "expected" in message and "got" in message
    return message


# What is kept


def test_sample_is_kept_byte_for_byte() -> None:
    """Turned back into records, the papers are what the file holds, in its order."""
    papers = read_fold(SAMPLE)
    again = {
        paper.paper_id: {
            "id": paper.paper_id,
            "title": paper.title,
            "content": list(paper.sentences),
            "message_pairs": [as_record(pair) for pair in paper.pairs],
        }
        for paper in papers
    }
    assert again == SAMPLE_RECORDS
    assert [paper.paper_id for paper in papers] == list(SAMPLE_RECORDS)
    assert (len(papers), sum(len(paper.pairs) for paper in papers)) == (5, 40)


def as_record(pair: MessagePair) -> dict[str, Any]:
    """A message pair in the form of the file."""
    return {
        "id": pair.id,
        "P_Message": pair.query,
        "DE_Message": pair.reply,
        "facts": list(pair.annotated_facts),
        "history": list(pair.history),
        "history_ids": list(pair.history_ids),
        "history_facts": [list(facts) for facts in pair.history_facts],
    }


def test_papers_and_pairs_cannot_be_changed() -> None:
    """The records are frozen and hashable, so that they can be shared."""
    paper = read_fold(SAMPLE)[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        paper.title = "other"  # type: ignore[misc]
    assert len({paper, *paper.pairs}) == 1 + len(paper.pairs)


def test_path_may_be_a_string() -> None:
    """Both kinds of path give the same papers."""
    assert read_fold(str(SAMPLE)) == read_fold(SAMPLE)


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    """A byte order mark, which editors on Windows add, is not part of the text."""
    assert read_fold(written(tmp_path, b"\xef\xbb\xbf" + SAMPLE_BYTES)) == read_fold(SAMPLE)


@pytest.mark.parametrize("field", ["P_Message", "DE_Message"])
@pytest.mark.parametrize("text", ["", "  ", " a\u00a0\t", "\U0001f600 e\u0301 \u0000"])
def test_messages_are_not_stripped_and_may_be_empty(tmp_path: Path, field: str, text: str) -> None:
    """No official message is empty, but nine queries have a space at an end; an empty one is data, not a fault."""
    corpus = small_corpus()
    corpus["On Tea"]["message_pairs"][0][field] = text
    pair = read_fold(written(tmp_path, corpus))[0].pairs[0]
    assert (pair.query if field == "P_Message" else pair.reply) == text


def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    """Keys beside the official ones change nothing."""
    corpus = small_corpus()
    corpus["On Tea"]["year"] = 2021
    corpus["On Tea"]["message_pairs"][0]["comment"] = None
    assert read_fold(written(tmp_path, corpus)) == read_fold(written(tmp_path, small_corpus()))


# What is refused

Change = Callable[[dict[str, Any]], object]


def _pair(corpus: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return corpus["On Tea"]["message_pairs"][number]


REFUSED: dict[str, tuple[Change, tuple[str, ...]]] = {
    "record is a list": (lambda c: c.update({"On Tea": []}), ("paper 'On Tea'", "an object", "a list of length 0")),
    "record is null": (lambda c: c.update({"On Tea": None}), ("paper 'On Tea'", "an object", "null")),
    "id is not the key": (lambda c: c["On Tea"].update(id="On tea"), ("paper 'On Tea'", "field 'id'", "got 'On tea'")),
    "id is missing": (lambda c: c["On Tea"].pop("id"), ("paper 'On Tea'", "key 'id'", "title, content")),
    "title is missing": (lambda c: c["On Tea"].pop("title"), ("paper 'On Tea'", "key 'title'")),
    "title is a number": (lambda c: c["On Tea"].update(title=7), ("field 'title'", "a string", "got 7")),
    "content is a string": (lambda c: c["On Tea"].update(content="One."), ("field 'content'", "a list", "'One.'")),
    "content is empty": (lambda c: c["On Tea"].update(content=[]), ("field 'content'", "at least one", "length 0")),
    "content is blank": (lambda c: c["On Tea"].update(content=["", " "]), ("field 'content'", "not blank")),
    "sentence is null": (lambda c: c["On Tea"].update(content=["a", None]), ("'content[1]'", "a string", "null")),
    "pairs are an object": (lambda c: c["On Tea"].update(message_pairs={}), ("'message_pairs'", "a list", "0 keys")),
    "pair is a string": (lambda c: c["On Tea"].update(message_pairs=["x"]), ("pair number 0", "an object", "'x'")),
    "pair id is empty": (lambda c: _pair(c).update(id=""), ("pair number 1", "field 'id'", "not blank", "''")),
    "pair id is blank": (lambda c: _pair(c).update(id=" \n"), ("pair number 1", "field 'id'", "not blank")),
    "pair id is a number": (lambda c: _pair(c).update(id=1), ("pair number 1", "field 'id'", "a string", "got 1")),
    "query is missing": (lambda c: _pair(c).pop("P_Message"), ("pair 'On Tea_1'", "key 'P_Message'")),
    "query is a boolean": (lambda c: _pair(c).update(P_Message=True), ("'P_Message'", "a string", "the boolean true")),
    "reply is a list": (
        lambda c: _pair(c).update(DE_Message=["a"]),
        ("'DE_Message'", "a string", "a list of length 1"),
    ),
    "facts are a string": (lambda c: _pair(c).update(facts="One."), ("'facts'", "a list", "'One.'")),
    "fact is a float": (lambda c: _pair(c).update(facts=["a", 0.5]), ("'facts[1]'", "a string", "0.5")),
    "history is an object": (lambda c: _pair(c).update(history={"a": 1}), ("'history'", "a list", "1 keys")),
    "history_ids is null": (lambda c: _pair(c).update(history_ids=None), ("'history_ids'", "a list", "null")),
    "history_facts is flat": (
        lambda c: _pair(c).update(history_facts=["One."]),
        ("'history_facts[0]'", "a list", "'One.'"),
    ),
    "history fact is a number": (
        lambda c: _pair(c).update(history_facts=[["One.", 3]]),
        ("'history_facts[0][1]'", "a string", "got 3"),
    ),
    "history_facts is too short": (
        lambda c: _pair(c).update(history_facts=[]),
        ("pair 'On Tea_1'", "'history_facts'", "each of the 1 history_ids", "a list of length 0"),
    ),
    "history_facts is too long": (
        lambda c: _pair(c, 0).update(history_facts=[[]]),
        ("pair 'On Tea_0'", "each of the 0 history_ids", "a list of length 1"),
    ),
    "history of itself": (
        lambda c: _pair(c).update(history_ids=["On Tea_1"]),
        ("pair 'On Tea_1'", "'history_ids[0]'", "an earlier pair of the same paper", "'On Tea_1'"),
    ),
    "history of a later pair": (
        lambda c: _pair(c, 0).update(history_ids=["On Tea_1"], history_facts=[[]]),
        ("pair 'On Tea_0'", "'history_ids[0]'", "an earlier pair"),
    ),
    "history of another paper": (
        lambda c: c['On "Coffee"']["message_pairs"][1].update(history_ids=["On Tea_0"]),
        ("paper 'On \"Coffee\"'", "'history_ids[0]'", "the same paper", "'On Tea_0'"),
    ),
    "history twice": (
        lambda c: _pair(c).update(history_ids=["On Tea_0"] * 2, history_facts=[[], []]),
        ("'history_ids'", "each earlier pair once", "'On Tea_0' 2 times"),
    ),
    "pair id twice in a paper": (
        lambda c: _pair(c).update(id="On Tea_0"),
        ("paper 'On Tea'", "pair 'On Tea_0'", "unique in the file", "of paper 'On Tea'"),
    ),
    "pair id twice in the file": (
        lambda c: c['On "Coffee"']["message_pairs"][1].update(id="On Tea_0"),
        ("paper 'On \"Coffee\"'", "pair 'On Tea_0'", "unique in the file", "of paper 'On Tea'"),
    ),
    "surrogate in a message": (
        lambda c: _pair(c).update(P_Message="ab\ud83d"),
        ("pair 'On Tea_1'", "'P_Message'", "UTF-8", "lone surrogate at character 2", "\\ud83d"),
    ),
    "surrogate in a history fact": (
        lambda c: _pair(c).update(history_facts=[["\udc00"]]),
        ("'history_facts[0][0]'", "lone surrogate"),
    ),
    "surrogate in an id": (lambda c: _pair(c).update(id="\udc00"), ("pair number 1", "field 'id'", "lone surrogate")),
    "surrogate in a title": (lambda c: c.update({"\udc00": {"id": "\udc00"}}), ("'\\udc00'", "lone surrogate")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_malformed_record_is_refused(tmp_path: Path, name: str) -> None:
    """The message names paper, pair and field, what was expected and what was found."""
    change, fragments = REFUSED[name]
    corpus = small_corpus()
    change(corpus)
    message = error_of(written(tmp_path, corpus))
    assert [fragment for fragment in fragments if fragment not in message] == [], message


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        pytest.param(b"", ("valid JSON", "line 1 column 1"), id="empty file"),
        pytest.param(SAMPLE_BYTES[:5000], ("valid JSON", "line ", "column "), id="truncated"),
        pytest.param('{\n "a": }', ("line 2 column 7",), id="no value"),
        pytest.param(SAMPLE_BYTES + b"{}", ("valid JSON", "Extra data"), id="two values"),
        pytest.param("[]", ("top level", "an object", "a list of length 0"), id="list"),
        pytest.param('"text"', ("top level", "an object", "'text'"), id="string"),
        pytest.param("null", ("top level", "an object", "null"), id="null"),
        pytest.param("{}", ("top level", "at least one paper", "an empty object"), id="no papers"),
        pytest.param(
            SAMPLE_BYTES.decode().encode("utf-16"), ("encoding", "UTF-8", "byte 0xff at offset 0"), id="utf-16"
        ),
        pytest.param('{"a": 1}'.encode("utf-16-le"), ("line 1 column 2",), id="utf-16 without mark"),
        pytest.param('{"é": 1}'.encode("latin-1"), ("encoding", "UTF-8", "byte 0xe9 at offset 2"), id="latin-1"),
        pytest.param(b'{"\xed\xa0\x80": 1}', ("encoding", "UTF-8"), id="surrogate as bytes"),
        pytest.param(b"\xef\xbb\xbf" * 2 + b"{}", ("valid JSON", "BOM"), id="two byte order marks"),
        pytest.param('{"a": 1, "b": 2, "a": 3}', ("key 'a'", "each key once", "it 2 times"), id="title twice"),
        pytest.param('{"p": {"id": "p", "x": 1, "x": 1}}', ("key 'x' of the object with id 'p'",), id="key twice"),
        pytest.param('{"\\ud800": 1, "\\ud800": 2}', ("key '\\ud800'", "it 2 times"), id="surrogate twice"),
        pytest.param('{"p": {"id": NaN}}', ("numbers that JSON has", "NaN"), id="NaN"),
        pytest.param('{"p": {"year": Infinity}}', ("numbers that JSON has", "Infinity"), id="Infinity"),
        pytest.param('{"p": {"year": -Infinity}}', ("numbers that JSON has", "-Infinity"), id="-Infinity"),
        pytest.param('{"p": ' + "[" * 100_000, ("nesting",), id="nested lists"),
        pytest.param('{"p": ' * 100_000, ("nesting",), id="nested objects"),
        pytest.param('{"p": ' + "[" * 500 + "]" * 500 + "}", ("an object", "a list of length 1"), id="nested value"),
        pytest.param('{"p": ' + "9" * 5000 + "}", (), id="long integer"),
        pytest.param('{"p": 1e999}', ("an object", "inf"), id="number out of range"),
    ],
)
def test_malformed_text_is_refused(tmp_path: Path, content: bytes | str, fragments: tuple[str, ...]) -> None:
    """Encoding, JSON syntax and top level."""
    message = error_of(written(tmp_path, content))
    assert [fragment for fragment in fragments if fragment not in message] == [], message


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """The message gives the reason of the operating system."""
    assert "No such file" in error_of(tmp_path / "fold_7_val.json")


def test_directory_is_refused(tmp_path: Path) -> None:
    """A folder is not a file."""
    assert "irectory" in error_of(tmp_path)


def test_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated, because a permission does not stop the administrator."""

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "Permission denied" in error_of(tmp_path / "fold_7_val.json")


def test_path_with_null_character_is_refused() -> None:
    """`open` raises a plain ValueError for it."""
    with pytest.raises(SourceError, match="expected a file that can be read, got embedded null"):
        read_fold("fold\0.json")


@pytest.mark.parametrize("letter", ["x", "\u0001", "\u4e2d", "\U000e0001", '"', "\U0001f600"])
def test_long_values_are_shortened(tmp_path: Path, letter: str) -> None:
    """Path, title, id and value are all long here, with letters that take up to ten characters when escaped."""
    folder = tmp_path / ("d" * 200) / ("e" * 200)
    folder.mkdir(parents=True)
    corpus = small_corpus()
    record = corpus["On Tea"]
    record["id"] = record["title"] = letter * 5000
    record["message_pairs"][1].update(id=letter * 6000, history_ids=[letter * 7000])
    message = error_of(written(folder, {letter * 5000: record}))
    assert message.count("...") == 4
    assert "field 'history_ids[0]'" in message


def test_shortening_keeps_both_ends() -> None:
    """Ids differ in the number after the title, so the end must stay."""
    assert shown("A long title" * 20 + "_12", 40).endswith("_12'")
    assert shown("A long title" * 20 + "_12", 40).startswith("'A long title")


# Letters of one to four bytes, and those that are escaped to up to ten. The whole of Unicode takes seconds to set up.
LETTERS = st.sampled_from("a\"'\\\n\0\u00e9\u4e2d\U0001f600\U000e0001\ud800")


@given(st.text(LETTERS), st.integers(16, 200))
def test_shown_text_fits_and_can_be_encoded(text: str, limit: int) -> None:
    """Whatever the letters, the limit is one of bytes."""
    assert len(shown(text, limit).encode("utf-8")) <= limit


# Nothing but SourceError, whatever the file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property: hypothesis does not take a fixture that is made anew for each."""
    return tmp_path_factory.mktemp("mutated")


def check_read_or_refused(file: Path) -> None:
    """The file is read in full, or refused with a message that keeps the rules."""
    try:
        papers = read_fold(file)
    except SourceError:
        error_of(file)
    else:
        assert papers and all(paper.sentences for paper in papers)
        json.dumps([dataclasses.asdict(paper) for paper in papers], ensure_ascii=False).encode("utf-8")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container inside a JSON value with every key or index of it."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from places(value[key])


N_PLACES = sum(1 for _ in places(TWO_PAPERS))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(LETTERS, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(LETTERS, max_size=5), inner, max_size=3),
    max_leaves=5,
)
MUTATIONS = st.tuples(
    st.sampled_from(["delete", "swap", "repeat", "rename"]), st.integers(0, N_PLACES - 1), JSON_VALUES
)


def mutate(corpus: dict[str, Any], kind: str, number: int, value: Any) -> None:
    """Change one place of a corpus: delete it, give it another value, repeat it, or rename its key."""
    every = list(places(corpus))
    if not every:
        return
    owner, key = every[number % len(every)]
    if kind == "delete":
        del owner[key]
    elif kind == "swap":
        owner[key] = value
    elif isinstance(owner, list):
        owner.append(copy.deepcopy(owner[key]))
    else:
        owner[f"{key}x" if kind == "rename" else "id"] = owner.pop(key)


@settings(max_examples=60, deadline=None)
@given(mutations=st.lists(MUTATIONS, min_size=1, max_size=3))
def test_mutated_values_are_read_or_refused(folder: Path, mutations: list[tuple[str, int, Any]]) -> None:
    """Deleted keys, values of other types, repeated items and renamed keys, at any depth."""
    corpus = copy.deepcopy(TWO_PAPERS)
    for mutation in mutations:
        mutate(corpus, *mutation)
    check_read_or_refused(written(folder, corpus))


@settings(max_examples=50, deadline=None)
@given(length=st.integers(0, len(SAMPLE_BYTES.rstrip()) - 1))
def test_truncated_bytes_are_refused(folder: Path, length: int) -> None:
    """A download that stopped half way is never taken for the whole, wherever it stopped."""
    message = error_of(written(folder, SAMPLE_BYTES[:length]))
    assert re.search(r"line \d+ column \d+|encoding", message)


@settings(max_examples=50, deadline=None)
@given(start=st.integers(0, len(SAMPLE_BYTES)), cut=st.integers(0, 50), inserted=st.binary(max_size=8))
def test_damaged_bytes_are_read_or_refused(folder: Path, start: int, cut: int, inserted: bytes) -> None:
    """Bytes overwritten, lost or inserted anywhere."""
    check_read_or_refused(written(folder, SAMPLE_BYTES[:start] + inserted + SAMPLE_BYTES[start + cut :]))


@settings(max_examples=40, deadline=None)
@given(
    encoding=st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "cp037", "utf-7"]),
    letter=st.sampled_from("\u00e9\u00ff\u00a7"),
)
def test_other_encodings_are_refused(folder: Path, encoding: str, letter: str) -> None:
    """A text that is not ASCII, in other encodings; UTF-7 is ASCII bytes, and is read as what they say."""
    corpus = small_corpus()
    corpus["On Tea"]["message_pairs"][0]["P_Message"] = letter * 3
    file = written(folder, json.dumps(corpus, ensure_ascii=False).encode(encoding))
    if encoding == "utf-7":
        check_read_or_refused(file)
    else:
        error_of(file)


# The published files


def dialogues(paper: Paper) -> list[list[MessagePair]]:
    """The pairs of a paper, split where `history_ids` is empty."""
    found: list[list[MessagePair]] = []
    for pair in paper.pairs:
        if not pair.history_ids:
            found.append([])
        found[-1].append(pair)
    return found


def check_shape(papers: list[Paper]) -> None:
    """Rules that the published files keep beyond those that the reader enforces."""
    for paper in papers:
        assert paper.title == paper.paper_id
        for dialogue in dialogues(paper):
            ids = tuple(pair.id for pair in dialogue)
            assert [pair.history_ids for pair in dialogue] == [ids[:turn] for turn in range(len(ids))]
            assert all(pair.query.strip() and pair.reply.strip() for pair in dialogue)
        texts = [text for pair in paper.pairs for text in (*pair.annotated_facts, *pair.history)]
        assert all(text.strip() for text in (*texts, *paper.sentences))


def test_sample_has_the_shape_of_the_published_files() -> None:
    """Ten dialogues of three to five pairs, as the README of the sample says."""
    papers = read_fold(SAMPLE)
    check_shape(papers)
    lengths = [len(dialogue) for paper in papers for dialogue in dialogues(paper)]
    assert (len(lengths), min(lengths), max(lengths)) == (10, 3, 5)


@pytest.mark.parametrize(("fold", "split"), PAIRS_BY_FILE)
def test_published_file(shared_dir: Path, fold: int, split: str) -> None:
    """Each of the 15 files is read without an error and has the known size and shape."""
    papers = read_fold(shared_dir / "argscichat" / f"fold_{fold}_{split}.json")
    assert len(papers) == (16 if split == "train" else 2)
    assert sum(len(paper.pairs) for paper in papers) == PAIRS_BY_FILE[fold, split]
    check_shape(papers)


def test_published_corpus(shared_dir: Path) -> None:
    """The five folds are five splits of one corpus; it has 41 dialogues of 498 messages."""
    folds = [
        [
            paper
            for split in ("train", "val", "test")
            for paper in read_fold(shared_dir / "argscichat" / f"{name}_{split}.json")
        ]
        for name in (f"fold_{fold}" for fold in range(5))
    ]
    corpus = {paper.paper_id: paper for paper in folds[0]}
    assert all(len(fold) == 20 and {paper.paper_id: paper for paper in fold} == corpus for fold in folds)
    lengths = [len(dialogue) for paper in folds[0] for dialogue in dialogues(paper)]
    assert (len(lengths), min(lengths), max(lengths), 2 * sum(lengths)) == (41, 4, 9, 498)
    sizes = [len(paper.sentences) for paper in folds[0]]
    assert (sum(sizes), min(sizes), max(sizes)) == (652, 12, 88)
    pairs = [pair for paper in folds[0] for pair in paper.pairs]
    assert Counter(len(pair.annotated_facts) for pair in pairs) == {0: 38, 1: 124, 2: 73, 3: 13, 10: 1}
    assert sum('"' in pair.id for pair in pairs) == 18
    assert len({pair.id.rpartition("_")[2] for pair in pairs}) == 249
    assert sum(pair.query != pair.query.strip() for pair in pairs) == 9
