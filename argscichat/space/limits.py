"""How much a stranger may hand in, checked before a model or a parser sees it."""

from collections.abc import Sequence

from argscichat_metric.rows import Row
from argscichat_metric.shortened import shorten

MEGABYTE = 2**20

MAX_FILE_BYTES = 5 * MEGABYTE
"""More than twice the largest official file."""

MAX_ROWS = 2_000
"""Eight times the queries of ArgSciChat."""

MAX_MESSAGE = 5_000
"""Characters of a message; the longest of ArgSciChat has fewer than a thousand."""

MAX_ALL_MESSAGES = 400_000
"""Characters of all messages of a file, ten times those of ArgSciChat: bounds the work to less than a minute."""

MAX_SENTENCES = 500
"""Sentences of a paper; the longest of ArgSciChat has 88."""

MAX_SENTENCE = 2_000
"""Characters of a sentence, or of a fact."""

FILE_LIMITS = (
    f"At most {MAX_FILE_BYTES // MEGABYTE} MB and {MAX_ROWS:,} rows a file, {MAX_MESSAGE:,} characters a message, "
    f"{MAX_ALL_MESSAGES:,} for all of them."
)
TEXT_LIMITS = (
    f"At most {MAX_SENTENCES} sentences of {MAX_SENTENCE:,} characters, and {MAX_MESSAGE:,} characters a message."
)


class InputError(ValueError):
    """Something that a person gave and that cannot be used.

    Args:
        field: name of the field of the page that it was given in.
        text: a sentence that says what is wrong.
    """

    def __init__(self, field: str, text: str):
        super().__init__(text)
        self.field = field


def check_message(text: str, field: str) -> None:
    """Refuse a message that is too long.

    Args:
        text: the message.
        field: field of the page, for the error.

    Raises:
        InputError: it has more than `MAX_MESSAGE` characters.
    """
    if len(text) > MAX_MESSAGE:
        raise InputError(field, f"The text has {len(text):,} characters; at most {MAX_MESSAGE:,} are read.")


def paper_sentences(text: str, field: str) -> list[str]:
    r"""The sentences of a paper that a person pasted, one a line.

    Args:
        text: the paper; blank lines are left out.
        field: field of the page, for the error.

    Returns:
        The sentences, at least one.

    Raises:
        InputError: no sentence, too many, or one that is too long.

    Example:
        >>> paper_sentences("We test on two corpora.  \n\nThe code is public.", "paper")
        ['We test on two corpora.', 'The code is public.']
    """
    if len(text) > MAX_SENTENCES * (MAX_SENTENCE + 1):
        raise InputError(field, f"The paper has {len(text):,} characters. {TEXT_LIMITS}")
    sentences = [line.strip() for line in text.splitlines() if line.strip()]
    if not sentences:
        raise InputError(field, "Paste the sentences of the paper, one a line.")
    check_paper(sentences, field)
    return sentences


def check_paper(sentences: Sequence[str], field: str) -> None:
    """Refuse a paper with too many sentences or with one that is too long.

    Args:
        sentences: the paper.
        field: field of the page, for the error.

    Raises:
        InputError: more than `MAX_SENTENCES`, or more than `MAX_SENTENCE` characters in one.
    """
    if len(sentences) > MAX_SENTENCES:
        raise InputError(field, f"The paper has {len(sentences):,} sentences; at most {MAX_SENTENCES} are read.")
    for number, sentence in enumerate(sentences, start=1):
        _check_sentence(sentence, f"Sentence {number}", field)


def check_rows(rows: Sequence[Row], field: str) -> None:
    """Refuse a file with too many rows or with texts that are too long.

    Args:
        rows: the rows in the order of the file.
        field: field of the page, for the error.

    Raises:
        InputError: names the first row, counted from 1, that is beyond a limit.
    """
    if len(rows) > MAX_ROWS:
        raise InputError(field, f"The file has {len(rows):,} rows; at most {MAX_ROWS:,} are read.")
    for number, row in enumerate(rows, start=1):
        place = f"Row {number} (id {shorten(row.id, 120)})"
        if len(row.message or "") > MAX_MESSAGE:
            raise InputError(
                field, f"{place}: the message has {len(row.message):,} characters; at most {MAX_MESSAGE:,} are read."
            )
        for fact in row.facts or ():
            if isinstance(fact, str):
                _check_sentence(fact, f"{place}: a fact", field)
    n_characters = sum(len(row.message or "") for row in rows)
    if n_characters > MAX_ALL_MESSAGES:
        raise InputError(
            field, f"All messages together have {n_characters:,} characters; at most {MAX_ALL_MESSAGES:,} are read."
        )


def _check_sentence(sentence: str, name: str, field: str) -> None:
    if len(sentence) > MAX_SENTENCE:
        raise InputError(field, f"{name} has {len(sentence):,} characters; at most {MAX_SENTENCE:,} are read.")
