"""Confidence intervals of means over queries, by resampling whole papers where they are known.

The queries of one paper share its difficulty, so they are not independent: an interval that resamples queries is too
narrow. No score in here: columns of row scores go in, intervals come out.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .shortened import shorten

if TYPE_CHECKING:  # scores without intervals leave numpy out
    import numpy as np

FEW_UNITS = 6
"""Below this number of units, intervals of 95 % cover the true mean clearly too rarely: on simulated corpora those of
two papers in 50 %, of three in 67 to 76 %, of five in 84 to 91 %, and of six in 86 to 94 %."""

_BATCH_VALUES = 2**18
"""Resampled values of one column that are held at a time: 2 MB, and faster than all at once."""


class Units(NamedTuple):
    """What is resampled, and to which unit each row belongs.

    Args:
        names: paper ids in the order of their first row, or row numbers.
        unit_of_row: the place in `names` of the unit of each row.
        kind: `"paper"` or `"query"`.
    """

    names: list[str]
    unit_of_row: list[int]
    kind: str


def units_of(paper_ids: Sequence[str | None] | None, n: int) -> Units:
    """The units to resample: papers where every row names its paper, else queries.

    Args:
        paper_ids: the paper of each row, None where a row names none; or None where no row does.
        n: number of rows, >= 1.

    Returns:
        The units, and the unit of every row.

    Raises:
        ValueError: only some rows name their paper.

    Example:
        >>> units_of(["p", "q", "p"], 3)
        Units(names=['p', 'q'], unit_of_row=[0, 1, 0], kind='paper')
    """
    papers = [None] * n if paper_ids is None else list(paper_ids)
    if None not in papers:
        place = {paper: i for i, paper in enumerate(dict.fromkeys(papers))}
        return Units(list(place), [place[paper] for paper in papers], "paper")
    known = [i for i, paper in enumerate(papers) if paper is not None]
    if known:
        raise ValueError(
            f"references[{papers.index(None)}]: 'paper_id' is missing, but references[{known[0]}] has "
            f"{shorten(papers[known[0]])}; confidence resamples papers or queries, so give 'paper_id' in every row or "
            "in none"
        )
    return Units([str(i) for i in range(n)], list(range(n)), "query")


def unit_totals(
    column: Sequence[float | None], unit_of_row: Sequence[int], n_units: int
) -> "tuple[np.ndarray, np.ndarray]":
    """Sum of a score in every unit, and number of rows behind it.

    Args:
        column: one finite value a row, None where the row does not count.
        unit_of_row: unit of each row, in [0, n_units).
        n_units: number of units.

    Returns:
        Sums and counts, both of shape (n_units,) and float64.

    Raises:
        ValueError: a value that is not finite.
    """
    import numpy as np

    counted = [i for i, value in enumerate(column) if value is not None]
    values = np.array([column[i] for i in counted], dtype=np.float64)
    if not np.isfinite(values).all():
        row = counted[int(np.argmin(np.isfinite(values)))]
        raise ValueError(f"row {row}: expected a finite score, got {column[row]}")
    units = np.asarray(unit_of_row, dtype=np.intp)[counted]
    return np.bincount(units, values, minlength=n_units), np.bincount(units, minlength=n_units).astype(np.float64)


def bootstrap_intervals(
    sums: "np.ndarray", counts: "np.ndarray", confidence: float, n_resamples: int, seed: int
) -> "np.ndarray":
    """Bootstrap intervals of means over rows, where whole units are resampled.

    A unit without a counted row takes no part in the interval of that score, so no resample is empty. The resamples of
    scores with the same units are the same, and an interval does not depend on the other columns. The method is the
    percentile bootstrap with the quantiles widened for few units: on simulated corpora of 20 papers, intervals of 95 %
    covered the true mean in 92 to 94 %, against 91 to 92 % plain and with BCa, and 87 to 92 % with "basic"; of ten
    papers, in 90 to 93 % against 86 to 88 % (plain) and 87 to 89 % (BCa).

    Args:
        sums: sum of score m in unit u, shape (u, m).
        counts: number of rows behind each sum, shape (u, m).
        confidence: level of the intervals, in (0, 1).
        n_resamples: number of resamples, >= 1.
        seed: seed of the resampling, >= 0.

    Returns:
        Lower and upper ends, shape (m, 2); NaN where fewer than two units have counted rows.

    References:
        Hesterberg, arXiv 1411.5279, section 3.4 (the expanded percentile interval).
    """
    import numpy as np

    intervals = np.full((sums.shape[1], 2), np.nan)
    taking_part, group_of_column = np.unique(counts > 0, axis=1, return_inverse=True)
    for group, units in enumerate(taking_part.T):
        columns = np.flatnonzero(group_of_column.ravel() == group)
        if units.sum() >= 2:
            block = np.ix_(units, columns)
            intervals[columns] = _resampled(sums[block], counts[block], confidence, n_resamples, seed)
    return intervals


def _resampled(
    sums: "np.ndarray", counts: "np.ndarray", confidence: float, n_resamples: int, seed: int
) -> "np.ndarray":
    import numpy as np
    from scipy.stats import bootstrap

    n_units = len(sums)
    found = bootstrap(
        (sums, counts),
        lambda sums, counts, axis: sums.sum(axis=axis) / counts.sum(axis=axis),
        paired=True,
        vectorized=True,
        axis=0,
        method="percentile",
        confidence_level=_expanded(confidence, n_units),
        n_resamples=n_resamples,
        batch=max(1, _BATCH_VALUES // n_units),
        rng=np.random.default_rng(seed),
    )
    return np.stack(found.confidence_interval, axis=1)


def _expanded(confidence: float, n_units: int) -> float:
    """The level at which the percentile interval is as wide as Student's t makes the usual one for so few units."""
    from scipy.stats import norm, t

    tail = norm.cdf(math.sqrt(n_units / (n_units - 1)) * t.ppf((1 - confidence) / 2, n_units - 1))
    return float(1 - 2 * tail)
