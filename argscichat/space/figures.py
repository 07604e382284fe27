"""Figures as pictures in a page, drawn one at a time."""

import base64
import io
import threading
from collections.abc import Callable
from typing import Any

from argscichat.space import markup

_DPI = 200
_CSS_PIXELS = 110
"""Pixels of the page an inch of a figure: its labels of 7 points are then as large as the small text of the page."""

# The settings of matplotlib belong to the process, and drawing changes and restores them.
_DRAWING = threading.Lock()


def figure_html(draw: Callable[[], Any], alternative: str) -> str:
    """Draw a figure for a page.

    Args:
        draw: returns a `matplotlib.figure.Figure`.
        alternative: a text for people who do not see it.

    Returns:
        HTML with the picture in it.
    """
    content = io.BytesIO()
    with _DRAWING:
        figure = draw()
        figure.savefig(content, format="png", dpi=_DPI)
    encoded = base64.b64encode(content.getvalue()).decode("ascii")
    return markup.picture(encoded, alternative, round(figure.get_figwidth() * _CSS_PIXELS))
