"""Errors beside the fields that caused them."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from argscichat.space import markup
from argscichat.space.limits import InputError


def error_box() -> gr.HTML:
    """The place of the error of a field, right below it; hidden until there is one."""
    return gr.HTML(visible=False, elem_classes="asc-error")


def error_updates(fields: Sequence[str], error: InputError | None = None) -> list[Any]:
    """What the places of errors show.

    Args:
        fields: names of the fields, in the order of their places.
        error: what is wrong, or None to clear all places.

    Returns:
        One update a field.

    Raises:
        InputError: the error itself, where none of the fields is the one that it names.
    """
    if error is not None and error.field not in fields:
        raise error
    texts = [str(error) if error is not None and error.field == field else "" for field in fields]
    return [gr.update(value=markup.alert(text), visible=bool(text)) for text in texts]
