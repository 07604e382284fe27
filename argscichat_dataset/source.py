"""The official ArgSciChat files: reading one fold file and checking all of it.

The file format is that of github.com/UKPLab/acl2023-argscichat at commit ad4680ec5ce5f274b3ddec05a237e39b33dc1bd5
(Ruggeri, Mesgar, Gurevych; arXiv 2202.06690): one JSON object, title -> paper, where a paper holds its sentences
(`content`) and its message pairs (`message_pairs`).

What is read is kept byte for byte: no text is stripped, no id is repaired. What does not have the official shape raises
`SourceError`, so that whoever uses the papers afterwards need not check them again. Keys that the format does not have
are ignored.
"""

import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# Byte limits of what a message quotes. A title has up to 119 characters and a pair id 123 (its number is at the end,
# hence the cut in the middle); with these limits every message stays under 1 kB.
SHOWN_BYTES = 140
SHOWN_PATH_BYTES = 300


class SourceError(ValueError):
    """A file that cannot be read, or that does not have the official format."""


@dataclass(frozen=True)
class MessagePair:
    """One query of the proponent and the reply of the domain expert.

    Attributes:
        id: official id (`id`), unique in its file; holds spaces and may hold double quotes.
        query: message of the proponent (`P_Message`); may be empty or end in a space.
        reply: message of the domain expert (`DE_Message`); may be empty or end in a space.
        annotated_facts: spans that the expert selected (`facts`), as published: 0 to 10 in the official files, each a
            sentence of the paper, a part of one, or the title.
        history: earlier messages of the dialogue, split into sentences, with the facts of each reply after it
            (`history`).
        history_ids: ids of the earlier pairs of the dialogue (`history_ids`), oldest first; empty where a dialogue
            starts.
        history_facts: facts of the earlier pairs (`history_facts`), as long as `history_ids`. They are kept as
            annotated: a span may run over several sentences, where `annotated_facts` of that pair has them apart.
    """

    id: str
    query: str
    reply: str
    annotated_facts: tuple[str, ...]
    history: tuple[str, ...]
    history_ids: tuple[str, ...]
    history_facts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Paper:
    """One paper and the dialogues about it.

    Attributes:
        paper_id: official id (`id`), which is also the key of the paper in its file; the title, in the official files.
        title: title of the paper (`title`).
        sentences: sentences of the paper (`content`), at least one; a sentence may occur more than once.
        pairs: message pairs (`message_pairs`) in the order of the file, which holds the dialogues one after the other.
    """

    paper_id: str
    title: str
    sentences: tuple[str, ...]
    pairs: tuple[MessagePair, ...]


def read_fold(path: str | os.PathLike[str]) -> list[Paper]:
    """Read one official fold file, such as `fold_0_test.json`, and check all of it.

    Args:
        path: the file; UTF-8, with or without a byte order mark.

    Returns:
        The papers in the order of the file; at least one.

    Raises:
        SourceError: the file cannot be read or does not have the official format. The message stays under 1 kB and
            names the file and, where they are known, paper, pair and field, what was expected and what was found.
    """
    file = Path(path)
    place = Place(file=shown(str(file), SHOWN_PATH_BYTES))
    records = _object(_parsed(file_text(file, place), place), "top level", place)
    if not records:
        raise place.error("top level", "at least one paper", "an empty object")
    papers = [_paper(key, record, place) for key, record in records.items()]
    _check_unique_pair_ids(papers, place)
    return papers


def shown(value: object, limit: int = SHOWN_BYTES) -> str:
    """A JSON value as an error message quotes it.

    Lists and objects are described, not printed: printing one that is nested deeply raises RecursionError.

    Args:
        value: what `json.loads` returned.
        limit: the most UTF-8 bytes that the result may have; at least 16.

    Returns:
        Text that can be encoded as UTF-8 (lone surrogates are escaped), cut in the middle where it is too long.

    Example:
        >>> shown(True), shown(["a"]), shown("a" * 40, 16)
        ('the boolean true', 'a list of length 1', "'aaaaa...aaaaaa'")
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, list | tuple):
        return f"a list of length {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    return _cut_in_the_middle(repr(value), limit)


def _cut_in_the_middle(text: str, limit: int) -> str:
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    head = (limit - 3) // 2
    tail = limit - 3 - head
    # "ignore" drops the pieces of a character that the cut went through.
    return f"{data[:head].decode('utf-8', 'ignore')}...{data[-tail:].decode('utf-8', 'ignore')}"


@dataclass(frozen=True)
class Place:
    """Where in a file a check is made; the parts are ready to be printed, as `shown` gives them."""

    file: str
    paper: str | None = None
    pair: str | None = None

    def error(self, field: str, expected: str, got: str) -> SourceError:
        """The error to raise for one field, or line, of this place."""
        parts = [f"paper {self.paper}" if self.paper else "", f"pair {self.pair}" if self.pair else "", field]
        return SourceError(f"{self.file}: {', '.join(filter(None, parts))}: expected {expected}, got {got}")


def file_text(file: Path, place: Place) -> str:
    """The text of a UTF-8 file, without its byte order mark; an error is a SourceError at `place`."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"byte 0x{error.object[error.start]:02x} at offset {error.start} ({error.reason})"
        raise place.error("encoding", "UTF-8 text", got) from error
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        got = getattr(error, "strerror", None) or str(error)
        raise place.error("file", "a file that can be read", _cut_in_the_middle(got, SHOWN_BYTES)) from error


def _parsed(text: str, place: Place) -> Any:
    """The JSON value of a text; repeated keys, NaN and Infinity, which `json` lets pass, are refused."""

    def refuse_constant(name: str) -> None:
        raise place.error("JSON text", "numbers that JSON has", name)

    try:
        return json.loads(text, object_pairs_hook=_unique_keys(place), parse_constant=refuse_constant)
    except SourceError:
        raise
    except json.JSONDecodeError as error:
        got = f"an error at line {error.lineno} column {error.colno}: {error.msg}"
        raise place.error("JSON text", "valid JSON", got) from error
    except RecursionError as error:
        raise place.error("JSON text", "at most a few levels of nesting", "nesting too deep to read") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise place.error("JSON text", "valid JSON", _cut_in_the_middle(str(error), SHOWN_BYTES)) from error


def _unique_keys(place: Place) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """The hook that builds objects for `json.loads`; by itself `json` keeps the last of two equal keys in silence."""

    def build(items: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(items)
        if len(record) < len(items):
            key, times = Counter(key for key, _ in items).most_common(1)[0]
            # Paper and pair are not known yet while the text is parsed; the id of the object stands in for them.
            owner = f" of the object with id {shown(record['id'])}" if "id" in record else ""
            raise place.error(f"key {shown(key)}{owner}", "each key once", f"it {times} times")
        return record

    return build


def _paper(key: str, record: Any, place: Place) -> Paper:
    place = replace(place, paper=shown(key))
    record = _object(record, "record", place)
    paper_id = _identifier(record, place)
    if paper_id != key:
        raise place.error("field 'id'", "the key of the paper", shown(paper_id))
    sentences = _texts(_value(record, "content", place), "content", place)
    if not any(sentence.strip() for sentence in sentences):
        raise place.error("field 'content'", "at least one sentence that is not blank", shown(sentences))
    title = _text(_value(record, "title", place), "title", place)
    return Paper(paper_id=paper_id, title=title, sentences=sentences, pairs=_pairs(record, place))


def _pairs(record: dict[str, Any], place: Place) -> tuple[MessagePair, ...]:
    pairs: list[MessagePair] = []
    earlier_ids: set[str] = set()
    for number, item in enumerate(_list(_value(record, "message_pairs", place), "message_pairs", place)):
        pair_record = _object(item, "record", replace(place, pair=f"number {number}"))
        pair_id = _identifier(pair_record, replace(place, pair=f"number {number}"))
        pair_place = replace(place, pair=shown(pair_id))
        pair = _pair(pair_id, pair_record, pair_place)
        _check_history(pair, earlier_ids, pair_place)
        earlier_ids.add(pair_id)
        pairs.append(pair)
    return tuple(pairs)


def _pair(pair_id: str, record: dict[str, Any], place: Place) -> MessagePair:
    history_facts = _list(_value(record, "history_facts", place), "history_facts", place)
    return MessagePair(
        id=pair_id,
        query=_text(_value(record, "P_Message", place), "P_Message", place),
        reply=_text(_value(record, "DE_Message", place), "DE_Message", place),
        annotated_facts=_texts(_value(record, "facts", place), "facts", place),
        history=_texts(_value(record, "history", place), "history", place),
        history_ids=_texts(_value(record, "history_ids", place), "history_ids", place),
        history_facts=tuple(_texts(facts, f"history_facts[{turn}]", place) for turn, facts in enumerate(history_facts)),
    )


def _check_history(pair: MessagePair, earlier_ids: set[str], place: Place) -> None:
    for turn, history_id in enumerate(pair.history_ids):
        if history_id not in earlier_ids:
            expected = "the id of an earlier pair of the same paper"
            raise place.error(f"field 'history_ids[{turn}]'", expected, shown(history_id))
    if len(set(pair.history_ids)) < len(pair.history_ids):
        history_id, times = Counter(pair.history_ids).most_common(1)[0]
        raise place.error("field 'history_ids'", "each earlier pair once", f"{shown(history_id)} {times} times")
    if len(pair.history_facts) != len(pair.history_ids):
        expected = f"one list for each of the {len(pair.history_ids)} history_ids"
        raise place.error("field 'history_facts'", expected, shown(pair.history_facts))


def _check_unique_pair_ids(papers: list[Paper], place: Place) -> None:
    owners: dict[str, Paper] = {}
    for paper in papers:
        for pair in paper.pairs:
            if pair.id in owners:
                found = replace(place, paper=shown(paper.paper_id), pair=shown(pair.id))
                got = f"the id of an earlier pair, of paper {shown(owners[pair.id].paper_id)}"
                raise found.error("field 'id'", "an id that is unique in the file", got)
            owners[pair.id] = paper


def _value(record: dict[str, Any], key: str, place: Place) -> Any:
    if key not in record:
        raise place.error(f"key {key!r}", "it to be there", f"the keys {shown(', '.join(record))}")
    return record[key]


def _identifier(record: dict[str, Any], place: Place) -> str:
    identifier = _text(_value(record, "id", place), "id", place)
    if not identifier.strip():
        raise place.error("field 'id'", "an id that is not blank", shown(identifier))
    return identifier


def _object(value: Any, field: str, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.error(field, "an object", shown(value))
    return value


def _list(value: Any, field: str, place: Place) -> list[Any]:
    if not isinstance(value, list):
        raise place.error(f"field {field!r}", "a list", shown(value))
    return value


def _texts(value: Any, field: str, place: Place) -> tuple[str, ...]:
    return tuple(_text(item, f"{field}[{index}]", place) for index, item in enumerate(_list(value, field, place)))


def _text(value: Any, field: str, place: Place) -> str:
    if not isinstance(value, str):
        raise place.error(f"field {field!r}", "a string", shown(value))
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        # An escape such as \ud800 without its second half: json takes it, Arrow and every later write would not.
        got = f"a lone surrogate at character {error.start} of {shown(value)}"
        raise place.error(f"field {field!r}", "text that UTF-8 can encode", got) from error
    return value
