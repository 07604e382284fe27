"""Is a difference between two systems more than chance? A paired permutation test, and Holm's correction.

No files and no scores in here: sums of differences go in, p-values come out.
"""

from collections.abc import Sequence

TIE_TOLERANCE = 1e-12
"""Differences this close are equal: they come from the same scores, summed in another order."""


def paired_p_value(differences: Sequence[float], *, n_resamples: int = 10_000, seed: int = 0) -> float:
    """P-value of a paired permutation test, two-sided.

    Were the two systems equally good, swapping their scores on a unit (a paper with all its queries) would change
    nothing but the sign of the unit's difference. The p-value is the share of the sign patterns whose mean difference
    is at least as far from 0 as the one that was seen. All patterns are counted where there are at most `n_resamples`
    of them; else that many are drawn, and the one that was seen is added to them, so that no p-value is 0.

    Args:
        differences: one number a unit, the sum over its queries of one system's score minus the other's.
        n_resamples: most sign patterns to look at, >= 1.
        seed: seed of the draw, >= 0.

    Returns:
        A value in (0, 1]; 1.0 where no unit or one unit differs.

    Example:
        >>> paired_p_value([0.5, 0.25, 1.0])
        0.25

    References:
        Noreen, Computer-Intensive Methods for Testing Hypotheses (1989); Phipson and Smyth, arXiv 1603.05766, for the
        count that is one higher; `scipy.stats.permutation_test`.
    """
    # A unit without a difference has two equal signs, so leaving it out keeps the p-value and halves the patterns.
    moving = [difference for difference in differences if abs(difference) > TIE_TOLERANCE]
    if len(moving) < 2:  # either sign is as far from 0, and scipy refuses a single observation
        return 1.0
    import numpy as np
    from scipy.stats import permutation_test

    # The number of queries is the same in every pattern, so the sum orders the patterns as the mean does.
    result = permutation_test(
        (np.array(moving),),
        lambda values, axis: np.abs(values.sum(axis=axis)),
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    # Counted here, as the tolerance of scipy (2e-14 of the statistic) is below the rounding of a long sum.
    n_extreme = int(np.count_nonzero(result.null_distribution >= result.statistic - TIE_TOLERANCE))
    n_patterns = len(result.null_distribution)
    if 2 ** len(moving) <= n_resamples:
        return n_extreme / n_patterns
    return (n_extreme + 1) / (n_patterns + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for the number of tests.

    Rejecting where a corrected value is at most alpha keeps the chance of any false rejection at or below alpha,
    however the tests depend on each other.

    Args:
        p_values: one value in [0, 1] a test.

    Returns:
        The corrected values, each in [0, 1] and not below the one given, in the order given.

    Example:
        >>> holm([0.25, 0.0625, 0.5])
        [0.5, 0.1875, 0.5]

    References:
        Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected
