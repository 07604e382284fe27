"""Figures of one reply beside its reference: what BERTScore matches and what MoverScore moves."""

import math
from collections.abc import Sequence
from typing import Any

from argscichat.explain import Matching, Transport
from argscichat.figure_style import COLUMN_WIDTH, FONT_SIZE, label, name_ticks, new_figure, styled

MOST_TOKENS = 60
"""Tokens of a text that fit a figure across both columns of a paper; of a longer text, the first ones are drawn."""

_CELL = 1.2 * FONT_SIZE / 72
"""Side of a cell that is high enough for its label, in inches."""

_MARGIN = 0.95
"""Room for labels and the scale, in inches."""

_TOKEN_WIDTH = 14
_NO_MOVE = 1e-12


@styled
def plot_transport(transport: Transport) -> Any:
    """MoverScore's transport as a heat map: how much of which token of the reply goes to which of the reference.

    Args:
        transport: of `explain.explain_pair`.

    Returns:
        A `matplotlib.figure.Figure`, one column of a paper wide up to about 20 tokens of the reference and wider for
        more. Of a text with more than `MOST_TOKENS` tokens, the first ones are drawn, and the axis says so.
    """
    figure, _ = _heat_map(
        # NaN leaves a cell white; what is below the rounding of the plan's sum is no move.
        [[share if share > _NO_MOVE else math.nan for share in row] for row in transport.plan],
        transport.predicted,
        transport.reference,
        title=f"MoverScore {transport.score:.3f}",
        scale="share of the weight that is moved",
        colours="viridis_r",
        lowest=0.0,
    )
    return figure


@styled
def plot_matching(matching: Matching) -> Any:
    """BERTScore's matching matrix: the cosines of all tokens, and which of them are taken.

    Args:
        matching: of `explain.explain_pair`.

    Returns:
        A `matplotlib.figure.Figure` of the size that `plot_transport` has. A circle marks the best match of a token of
        the reply (precision, P), a cross that of a token of the reference (recall, R). Tokens of weight 0 have no mark.
    """
    from matplotlib.patheffects import withStroke

    figure, axes = _heat_map(
        matching.similarity,
        matching.predicted,
        matching.reference,
        title=f"BERTScore F1 {matching.f1:.3f} (P {matching.precision:.3f}, R {matching.recall:.3f})",
        scale="cosine\n○ matches of the reply   × of the reference",
        colours="cividis",
        lowest=None,
    )
    weighted = zip(matching.best_of_predicted, matching.predicted_weights, strict=True)
    rows = [(column, row) for row, (column, weight) in enumerate(weighted) if weight]
    weighted = zip(matching.best_of_reference, matching.reference_weights, strict=True)
    columns = [(column, row) for column, (row, weight) in enumerate(weighted) if weight]
    # The white rim sets the marks off from either end of the scale.
    style = {"zorder": 3, "path_effects": [withStroke(linewidth=1.8, foreground="white")]}
    _mark(axes, rows, marker="o", s=22, linewidths=0.9, facecolors="none", edgecolors="#D55E00", **style)
    _mark(axes, columns, marker="x", s=9, linewidths=0.9, color="black", **style)
    return figure


def _heat_map(
    values: Sequence[Sequence[float]],
    predicted: Sequence[str],
    reference: Sequence[str],
    *,
    title: str,
    scale: str,
    colours: str,
    lowest: float | None,
) -> tuple[Any, Any]:
    """The figure and its axes; rows are tokens of the reply, columns those of the reference."""
    rows, columns = predicted[:MOST_TOKENS], reference[:MOST_TOKENS]
    width = max(COLUMN_WIDTH, _MARGIN + _CELL * len(columns))
    figure = new_figure(width, 1.7 + _CELL * len(rows))
    axes = figure.add_subplot()
    image = axes.imshow([line[:MOST_TOKENS] for line in values[:MOST_TOKENS]], cmap=colours, vmin=lowest, aspect="auto")
    name_ticks(axes.xaxis, [label(token, _TOKEN_WIDTH) for token in columns], rotation=90)
    name_ticks(axes.yaxis, [label(token, _TOKEN_WIDTH) for token in rows])
    axes.tick_params(length=0, pad=2)
    axes.set_xlabel(_side("reference", reference))
    axes.set_ylabel(_side("reply", predicted))
    axes.set_title(title)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.8, aspect=30, pad=0.02)
    bar.set_label(scale)
    bar.outline.set_linewidth(0.4)
    return figure, axes


def _side(name: str, tokens: Sequence[str]) -> str:
    return f"{name} (first {MOST_TOKENS} of {len(tokens)} tokens)" if len(tokens) > MOST_TOKENS else name


def _mark(axes: Any, cells: Sequence[tuple[int, int]], **style: Any) -> None:
    drawn = [(column, row) for column, row in cells if column < MOST_TOKENS and row < MOST_TOKENS]
    axes.scatter([column for column, _ in drawn], [row for _, row in drawn], **style)
