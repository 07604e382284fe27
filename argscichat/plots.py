"""Figures of the scores of systems, at the width of a column of a paper."""

from collections.abc import Mapping, Sequence
from typing import Any

from argscichat.figure_style import (
    COLOURS,
    COLUMN_WIDTH,
    MARKERS,
    add_legend,
    label,
    name_ticks,
    new_figure,
    styled,
)

_LINE = 0.15
"""Height of a line of text with the space around it, in inches."""

_JITTER_SEED = 0


@styled
def plot_scores(
    means: Mapping[str, Mapping[str, float]],
    intervals: Mapping[str, Mapping[str, tuple[float, float] | None]] | None = None,
) -> Any:
    """Scores of systems with their intervals, grouped by score.

    Args:
        means: system -> name of a score -> mean.
        intervals: system -> name of a score -> lower and upper end, None where there is none.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: no system, or systems with different scores.
    """
    names = _checked_systems(means)
    scores = list(means[names[0]])
    if any(list(of_system) != scores for of_system in means.values()):
        raise ValueError(f"means: expected the same scores for every system, those of the first are {scores}")
    figure = new_figure(COLUMN_WIDTH, 0.45 + _LINE * len(scores) * (0.7 * len(names) + 0.8))
    axes = figure.add_subplot()
    handles = []
    for i, name in enumerate(names):
        places = [place + _offset(i, len(names), 0.7) for place in range(len(scores))]
        values = list(means[name].values())
        ends = [
            ((intervals or {}).get(name) or {}).get(score) or (value, value) for score, value in means[name].items()
        ]
        axes.hlines(places, *zip(*ends, strict=True), color=_colour(i))
        handles += axes.plot(values, places, color=_colour(i), marker=_marker(i), linestyle="none")
    _rows(axes, scores, 20)
    _score_axis(axes, "score")
    add_legend(figure, handles, names, height=_LINE)
    return figure


@styled
def plot_by_paper(
    scores: Mapping[str, Sequence[float | None]], papers: Sequence[str], score_name: str = "score"
) -> Any:
    """Mean score of every system on every paper, the paper with the lowest mean at the bottom.

    Args:
        scores: system -> score of every query, None where it does not count.
        papers: title or id of each query's paper.
        score_name: what the axis is called.

    Returns:
        A `matplotlib.figure.Figure`. A paper without a query that counts is left out; the number behind a paper is
        that of its queries that count.

    Raises:
        ValueError: no system, columns of different lengths, or no query that counts.
    """
    names = _checked_columns(scores, len(papers), "papers")
    by_paper = {paper: [_mean_of(scores[name], papers, paper) for name in names] for paper in dict.fromkeys(papers)}
    by_paper = {paper: means for paper, means in by_paper.items() if any(n for _, n in means)}
    order = sorted(by_paper, key=lambda paper: -sum(mean for mean, n in by_paper[paper] if n))
    figure = new_figure(COLUMN_WIDTH, 0.45 + max(_LINE, 0.042 * len(names)) * len(order))
    axes = figure.add_subplot()
    handles = []
    for i, _ in enumerate(names):
        of_system = [(by_paper[paper][i][0], place) for place, paper in enumerate(order) if by_paper[paper][i][1]]
        places = [place + _offset(i, len(names), 0.6) for _, place in of_system]
        handles += axes.plot(
            [mean for mean, _ in of_system], places, color=_colour(i), marker=_marker(i), linestyle="none"
        )
    axes.hlines(range(len(order)), 0, 1, transform=axes.get_yaxis_transform(), color="0.9", linewidth=0.5, zorder=0)
    counts = [max(n for _, n in by_paper[paper]) for paper in order]
    _rows(axes, [f"{label(paper, 25)} ({n})" for paper, n in zip(order, counts, strict=True)], 40)
    _score_axis(axes, score_name)
    add_legend(figure, handles, names, height=_LINE)
    return figure


@styled
def plot_distribution(scores: Mapping[str, Sequence[float | None]], score_name: str = "score") -> Any:
    """Scores of the single queries: every query a dot, and a box from the first to the third quartile.

    Args:
        scores: system -> score of every query, None where it does not count.
        score_name: what the axis is called.

    Returns:
        A `matplotlib.figure.Figure`. The line in a box is the median, the diamond the mean; whiskers reach to the
        lowest and the highest score. Dots are spread over the height of a row, which means nothing.

    Raises:
        ValueError: no system, or no query that counts.
    """
    import numpy as np

    names = _checked_columns(scores, None, "scores")
    columns = [[value for value in scores[name] if value is not None] for name in names]
    figure = new_figure(COLUMN_WIDTH, 0.45 + 0.34 * len(names))
    axes = figure.add_subplot()
    spread = np.random.default_rng(_JITTER_SEED)
    for i, values in enumerate(columns):
        places = i + spread.uniform(-0.28, 0.28, size=len(values))
        axes.scatter(values, places, s=3, color=_colour(i), alpha=0.45, linewidths=0)
    axes.boxplot(
        columns,
        orientation="horizontal",
        positions=range(len(columns)),
        widths=0.5,
        whis=(0, 100),
        showmeans=True,
        meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 3.5},
        medianprops={"color": "black", "linewidth": 1.2},
        boxprops={"linewidth": 0.7},
        whiskerprops={"linewidth": 0.7},
        capprops={"linewidth": 0.7},
    )
    _rows(axes, names, 24)
    _score_axis(axes, score_name)
    return figure


def _checked_systems(systems: Mapping[str, Any]) -> list[str]:
    if not systems:
        raise ValueError("expected at least one system to draw, got none")
    return list(systems)


def _checked_columns(scores: Mapping[str, Sequence[float | None]], n: int | None, what: str) -> list[str]:
    names = _checked_systems(scores)
    for name, column in scores.items():
        if n is not None and len(column) != n:
            raise ValueError(
                f"scores of {label(name, 60)!r}: expected {n} values, one a row of {what}, got {len(column)}"
            )
        if all(value is None for value in column):
            raise ValueError(f"scores of {label(name, 60)!r}: expected at least one query that counts, got none")
    return names


def _mean_of(column: Sequence[float | None], papers: Sequence[str], paper: str) -> tuple[float, int]:
    """Mean of the queries of one paper that count, 0.0 where none does, and their number."""
    values = [value for value, of in zip(column, papers, strict=True) if of == paper and value is not None]
    return (sum(values) / len(values) if values else 0.0), len(values)


def _colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]


def _marker(i: int) -> str:
    # Behind the last colour, the same colours come back with other markers.
    return MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def _offset(i: int, n: int, height: float) -> float:
    """Where in its row, of height 1 around its place, the system i of n is drawn; the first one on top."""
    return height * ((i + 0.5) / n - 0.5)


def _rows(axes: Any, names: Sequence[str], width: int) -> None:
    """Name the rows and put the first one on top."""
    name_ticks(axes.yaxis, [label(name, width) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def _score_axis(axes: Any, name: str) -> None:
    axes.set_xlabel(label(name, 50), parse_math=False)
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
