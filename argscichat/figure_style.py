"""What all figures share: sizes, fonts and colours for a column of a paper, texts as they are, and saving to a file."""

import io
import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from argscichat.output_files import write_whole
from argscichat.plain_text import one_line

COLUMN_WIDTH = 3.3
"""Width of a column of a paper with two of them, in inches (7.0 for both)."""

FORMATS = ("pdf", "png", "svg")
"""Suffixes of the files that `save_figure` writes."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""The palette of Okabe and Ito, which people with any kind of colour vision can tell apart; its yellow, too light for
lines on white, is a grey here."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
FONT_SIZE = 7

_STYLE = {
    "font.size": FONT_SIZE,
    "axes.titlesize": 8,
    "axes.labelsize": FONT_SIZE,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    # Type 42 is what publishers ask for; the salt and the dates make the same figure the same file.
    "pdf.fonttype": 42,
    "svg.hashsalt": "argscichat",
}
_DPI = 300

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def styled(function: FunctionT) -> FunctionT:
    """Let a function draw in our style, whatever the settings of the caller's matplotlib are."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        import matplotlib

        # Setting the backend, even to what it is, would load pyplot and choose a window system.
        defaults = {key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"}
        with matplotlib.rc_context(defaults | _STYLE):
            return function(*args, **kwargs)

    return call


def new_figure(width: float, height: float) -> Any:
    """An empty figure that belongs to no window and to no state of pyplot.

    Args:
        width: in inches.
        height: in inches.

    Returns:
        A `matplotlib.figure.Figure` that fits its parts into its size when it is drawn.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03)
    return figure


@styled
def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure whole, or not at all.

    Args:
        figure: a `matplotlib.figure.Figure`.
        path: file to write; its suffix, one of `FORMATS`, says in which format. PNG has 300 dots an inch.

    Raises:
        OSError: the file cannot be written.
        ValueError: another suffix.
    """
    path = Path(path)
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise ValueError(f"{path}: expected a name that ends in {', '.join('.' + name for name in FORMATS)}")
    dates: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    content = io.BytesIO()
    figure.savefig(content, format=suffix, dpi=_DPI, metadata=dates.get(suffix))
    write_whole(path, content.getvalue())


def label(text: str, width: int) -> str:
    """A text of a user as the label of something in a figure.

    Args:
        text: any text.
        width: most characters, >= 3.

    Returns:
        One line; the middle is left out of a longer text, as names often differ at their ends.

    Example:
        >>> label("led-base-16384-with-history-run-2", 20)
        'led-base-1…ory-run-2'
    """
    line = " ".join(one_line(text).split())
    if len(line) <= width:
        return line
    kept = width - 1
    return line[: kept - kept // 2] + "…" + line[len(line) - kept // 2 :]


def name_ticks(axis: Any, names: Sequence[str], **properties: Any) -> None:
    """Label the places 0, 1, 2 ... of an axis.

    Args:
        axis: an axis of matplotlib.
        names: one text a place, none of it read as mathematics.
        **properties: of the texts.
    """
    axis.set_ticks(range(len(names)), names, parse_math=False, **properties)


def add_legend(figure: Any, handles: Sequence[Any], names: Sequence[str], *, height: float) -> None:
    """Name systems below the axes, in as many columns as fit, and make room for it.

    Args:
        figure: the figure.
        handles: what each name is drawn with.
        names: one text a handle, none of it read as mathematics.
        height: of a line, in inches.
    """
    shown = [label(name, 40) for name in names]
    widest = max(map(len, shown)) + 6
    columns = max(1, min(len(shown), 3, 68 // widest))
    n_lines = -(-len(shown) // columns)
    figure.set_figheight(figure.get_figheight() + height * n_lines)
    # matplotlib leaves out names that start with a low line, so the names come after the legend.
    legend = figure.legend(
        handles, ["-"] * len(shown), loc="outside lower center", ncols=columns, handletextpad=0.4, columnspacing=1.0
    )
    for text, name in zip(legend.get_texts(), shown, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
