"""Texts of users in one line, without the characters that move a cursor or turn the direction of writing."""

import re

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def one_line(text: str) -> str:
    r"""A text for a cell, a title or a label.

    Args:
        text: any text.

    Returns:
        The text with a space in place of every line end and control character.

    Example:
        >>> one_line("Yes.\nOn two\tcorpora.")
        'Yes. On two corpora.'
    """
    return _CONTROLS.sub(" ", text)
