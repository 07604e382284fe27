"""The sentence-level dialogue acts (`intents.csv`): reading them, and finding the message that each sentence is from.

The file has no id of a paper, dialogue or pair. Its rows come in blocks, the sentences of one speaker in one dialogue,
with message numbers that count both speakers: message 2t of the proponent and message 2t + 1 of the expert are query
and reply of turn t. A block fits a dialogue if the words of every sentence of the block, in lower case and without
ASCII punctuation, follow one another in the message at its place. A block is matched where it fits exactly one dialogue
and no other block of the same speaker fits that dialogue too. On the official file this matches every row.
"""

import csv
import io
import os
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from argscichat_dataset.corpus import Row
from argscichat_dataset.source import SHOWN_PATH_BYTES, Place, file_text, shown

COLUMNS = ("Role", "Message Number", "Sentence Number", "Sentence", "Tag")
# In the order in which they speak: message numbers are even for the first and odd for the second.
ROLES = ("Proponent", "Domain Expert")
SIDES: dict[str, Literal["query", "reply"]] = {"Proponent": "query", "Domain Expert": "reply"}
# All seven of the official file, in alphabetical order.
TAGS = ("Ask_Info", "Ask_Rebuttal", "Ask_Suggestion", "Give_Opinion", "Intro", "Outro", "Reply_Info")

_PUNCTUATION_TO_SPACE = str.maketrans(string.punctuation, " " * len(string.punctuation))
# 16 sentences of the official file end so.
_TOOL_REST = re.compile(r"\n\s*Facts:\s*\Z")


@dataclass(frozen=True)
class IntentSentence:
    """One row of the file, as published.

    Attributes:
        role: who speaks, one of `ROLES`.
        message_number: number of the message in its dialogue, from 0, both speakers counted.
        sentence_number: number of the sentence in its message, from 0; a sentence with two tags comes twice.
        sentence: the sentence; may end in a line break and "Facts:", a rest of the annotation tool.
        tag: dialogue act, one of `TAGS`.
    """

    role: str
    message_number: int
    sentence_number: int
    sentence: str
    tag: str


class IntentRow(TypedDict):
    """A sentence with the id of its pair and the side ("query" or "reply"), or None twice where it is not matched."""

    id: str | None
    side: str | None
    role: str
    message_number: int
    sentence_number: int
    sentence: str
    tag: str


def read_intents(path: str | os.PathLike[str]) -> list[IntentSentence]:
    """Read the dialogue acts.

    Args:
        path: the CSV file; UTF-8, with or without a byte order mark.

    Returns:
        The sentences in the order of the file.

    Raises:
        SourceError: the file cannot be read or does not have the official format; the message names file, line and
            column.
    """
    place = Place(shown(str(path), SHOWN_PATH_BYTES))
    reader = csv.reader(io.StringIO(file_text(Path(path), place), newline=""), strict=True)
    sentences: list[IntentSentence] = []
    line, header = 1, True
    try:
        for record in reader:
            if header:
                _check_header(record, place)
                header = False
            elif record:  # a blank line is an empty record
                sentences.append(_sentence(record, line, place))
            # A quoted sentence may run over several lines; the first one is named.
            line = reader.line_num + 1
    except csv.Error as error:
        raise place.error(f"line {line}", "valid CSV", shown(str(error))) from error
    if not sentences:
        raise place.error("file", f"a header and at least one row of {', '.join(COLUMNS)}", "none")
    return sentences


def intent_rows(sentences: Iterable[IntentSentence], pairs: Iterable[Row]) -> list[IntentRow]:
    """The sentences with the message pair that each is from.

    Args:
        sentences: the dialogue acts in the order of their file.
        pairs: rows of the whole corpus, in any order.

    Returns:
        One row a sentence, in the given order.
    """
    rows: list[IntentRow] = []
    for block, dialogue, _ in _matched_blocks(sentences, pairs):
        for sentence in block:
            pair_id = dialogue[sentence.message_number // 2]["id"] if dialogue else None
            rows.append(IntentRow(id=pair_id, side=SIDES[sentence.role] if dialogue else None, **vars(sentence)))
    return rows


def intents_report(sentences: Iterable[IntentSentence], pairs: Iterable[Row]) -> dict[str, int]:
    """Count how the dialogue acts match the corpus.

    Args:
        sentences: the dialogue acts in the order of their file.
        pairs: rows of the whole corpus, in any order.

    Returns:
        `rows` and, adding up to it, `matched`, `ambiguous` (the block fits more than one dialogue, or another block
        fits the same) and `unmatched` (it fits none); and likewise `blocks`, with `matched_blocks` and so on.
    """
    rows: Counter[str] = Counter()
    blocks: Counter[str] = Counter()
    for block, _, outcome in _matched_blocks(sentences, pairs):
        rows[outcome] += len(block)
        blocks[outcome] += 1
    outcomes = ("matched", "ambiguous", "unmatched")
    return {
        "rows": rows.total(),
        **{outcome: rows[outcome] for outcome in outcomes},
        "blocks": blocks.total(),
        **{f"{outcome}_blocks": blocks[outcome] for outcome in outcomes},
    }


def _check_header(record: list[str], place: Place) -> None:
    if tuple(record) != COLUMNS:
        raise place.error("line 1", f"the columns {', '.join(COLUMNS)}", shown(", ".join(record)))


def _sentence(record: list[str], line: int, place: Place) -> IntentSentence:
    if len(record) != len(COLUMNS):
        raise place.error(f"line {line}", f"{len(COLUMNS)} values", str(len(record)))
    role, message_number, sentence_number, sentence, tag = record
    for column, value, known in (("Role", role, ROLES), ("Tag", tag, TAGS)):
        if value not in known:
            raise place.error(f"line {line}, column {column!r}", f"one of {', '.join(known)}", shown(value))
    for column, value in (("Message Number", message_number), ("Sentence Number", sentence_number)):
        # At most 9 digits: what a column of 32 bits takes.
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise place.error(f"line {line}, column {column!r}", "a number from 0", shown(value))
    return IntentSentence(role, int(message_number), int(sentence_number), sentence, tag)


def _matched_blocks(
    sentences: Iterable[IntentSentence], pairs: Iterable[Row]
) -> list[tuple[list[IntentSentence], list[Row] | None, str]]:
    """Blocks in the order of the file, each with its dialogue, if there is one, and the outcome."""
    dialogues = _dialogues(pairs)
    messages = {
        dialogue_id: [_words(row[side]) for row in rows for side in ("query", "reply")]
        for dialogue_id, rows in dialogues.items()
    }
    blocks = _blocks(sentences)
    fitting = [[name for name, texts in messages.items() if _fits(block, texts)] for block in blocks]
    claims = Counter((block[0].role, name) for block, names in zip(blocks, fitting, strict=True) for name in names)
    matched: list[tuple[list[IntentSentence], list[Row] | None, str]] = []
    for block, names in zip(blocks, fitting, strict=True):
        if len(names) == 1 and claims[block[0].role, names[0]] == 1:
            matched.append((block, dialogues[names[0]], "matched"))
        else:
            matched.append((block, None, "ambiguous" if names else "unmatched"))
    return matched


def _dialogues(pairs: Iterable[Row]) -> dict[str, list[Row]]:
    dialogues: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(pairs, key=lambda row: row["turn"]):
        dialogues[row["dialogue_id"]].append(row)
    return dialogues


def _blocks(sentences: Iterable[IntentSentence]) -> list[list[IntentSentence]]:
    blocks: list[list[IntentSentence]] = []
    for sentence in sentences:
        last = blocks[-1][-1] if blocks else None
        if last and last.role == sentence.role and last.message_number <= sentence.message_number:
            blocks[-1].append(sentence)
        else:
            blocks.append([sentence])
    return blocks


def _fits(block: Sequence[IntentSentence], messages: Sequence[str]) -> bool:
    """Whether each sentence is part of the message at its place; `messages` are `_words`, in order of speaking."""
    return all(
        sentence.message_number < len(messages)
        and sentence.message_number % 2 == ROLES.index(sentence.role)
        and _words(_TOOL_REST.sub("", sentence.sentence)) in messages[sentence.message_number]
        for sentence in block
    )


def _words(text: str) -> str:
    """Its words, each between two spaces, so that `in` finds whole words only: "Hi!" is not a part of "this"."""
    return f" {' '.join(text.lower().translate(_PUNCTUATION_TO_SPACE).split())} "
