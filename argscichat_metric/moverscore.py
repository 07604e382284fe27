"""MoverScore: the cost of moving the words of a reply onto the words of the reference reply.

No model in here: token embeddings and weights go in, numbers come out.
"""

import numpy as np

POWER_MEAN_LAYERS = 5
"""How many of the last layers the version of 2019 pools (moverscore.py: `embedding[-5:]`)."""

FORMULAS = {"reciprocal": lambda cost: 1.0 / (1.0 + cost), "linear": lambda cost: 1.0 - cost}
"""From transport cost to score: moverscore_v2.py on GitHub since 2021-01, and moverscore 1.0.3 on PyPI."""

_NEAR = 0.1
"""Squared distances below this are computed from the difference of the two vectors.

The originals compute |x|^2 + |y|^2 - 2xy in float32. Its rounding is about 1e-7 before the root and so 3e-4 after it
where two tokens are equal, which makes identical texts score 0.9998 there. Here they score 1.
"""

_MAX_ITERATIONS = 100_000  # the default of `ot.emd2`


def moverscore(
    distances: np.ndarray, predicted_weights: np.ndarray, reference_weights: np.ndarray, *, formula: str = "reciprocal"
) -> float:
    """MoverScore of one pair of texts.

    Args:
        distances: cost of moving each token or n-gram of the reply onto each of the reference reply, shape (p, r),
            float64: the Euclidean distance of unit vectors (moverscore_v2), or its square (the version of 2019).
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: weights >= 0 with a positive sum, shape (r,).
        formula: a key of `FORMULAS`.

    Returns:
        A value in (0, 1] for `"reciprocal"`; for `"linear"` a value in [-1, 1], or in [-3, 1] for squared distances.

    References:
        Zhao et al., EMNLP 2019, section 3 (Word Mover's Distance); moverscore_v2.py and moverscore.py
        `word_mover_score` of github.com/AIPHES/emnlp19-moverscore at 0c93804.
    """
    return float(FORMULAS[formula](transport_cost(predicted_weights, reference_weights, distances)))


def squared_distances(predicted: np.ndarray, reference: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Squared Euclidean distance of every predicted from every reference token.

    Args:
        predicted: embeddings of length 1, shape (p, dim).
        reference: embeddings of length 1, shape (r, dim).
        cosines: their products, shape (p, r). An n-gram without weight has length 0, and counts as orthogonal to all.

    Returns:
        float64, shape (p, r), in [0, 4] up to rounding.
    """
    squares = cosines.astype(np.float64)
    squares *= -2.0
    squares += 2.0
    near = squares < _NEAR
    if np.count_nonzero(near):
        rows, columns = near.nonzero()
        differences = predicted[rows].astype(np.float64) - reference[columns]
        squares[rows, columns] = np.vecdot(differences, differences)
    return squares


def transport_cost(predicted_weights: np.ndarray, reference_weights: np.ndarray, distances: np.ndarray) -> float:
    """Cost of `transport_plan`.

    Args:
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: weights >= 0 with a positive sum, shape (r,).
        distances: cost of moving one unit, shape (p, r), >= 0, float64.

    Returns:
        A value between the smallest and the largest distance.
    """
    return _transport(predicted_weights, reference_weights, distances)[1]


def transport_plan(predicted_weights: np.ndarray, reference_weights: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """The cheapest way to move all weight of one text onto the other (exact optimal transport).

    Args:
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: weights >= 0 with a positive sum, shape (r,).
        distances: cost of moving one unit, shape (p, r), >= 0, float64.

    Returns:
        Which share of all weight is moved from which token to which, shape (p, r), >= 0, with the sum 1.
    """
    return _transport(predicted_weights, reference_weights, distances)[0]


def _transport(
    predicted_weights: np.ndarray, reference_weights: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, float]:
    """Plan and cost by the solver of `ot.emd2` (POT; Flamary et al., JMLR 2021).

    `ot.emd2` itself looks for the arrays' framework, checks, centres and converts for longer than the solver needs for
    the tokens of two replies.
    """
    from ot.lp.emd_wrap import check_result, emd_c

    supply = np.divide(predicted_weights, predicted_weights.sum(), dtype=np.float64)
    demand = np.divide(reference_weights, reference_weights.sum(), dtype=np.float64)
    plan, cost, _, _, status = emd_c(supply, demand, distances, _MAX_ITERATIONS, 1)
    check_result(status)  # warns where there is no optimum
    return plan, cost


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors to length 1.

    Args:
        vectors: shape (n, dim).

    Returns:
        The same shape; a vector of length 0 stays as it is.
    """
    lengths = np.sqrt(np.vecdot(vectors, vectors))
    return vectors / np.maximum(lengths, np.finfo(lengths.dtype).tiny)[:, None]


def power_means(layers: np.ndarray) -> np.ndarray:
    """Pool layers into one vector a token: minimum, mean and maximum over the layers, side by side.

    Args:
        layers: embeddings of the pooled layers, each of length 1, shape (n_layers, n_tokens, dim).

    Returns:
        Shape (n_tokens, 3 * dim).

    References:
        Zhao et al., EMNLP 2019, section 3.2 (power means with p = -inf, 1, +inf); moverscore.py normalises each
        layer's vector first.
    """
    # l: layers, t: tokens, d: dimension
    return np.concatenate([layers.min(axis=0), layers.mean(axis=0), layers.max(axis=0)], axis=-1)


def ngrams(embeddings: np.ndarray, weights: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Pool the tokens that count into n-grams.

    Args:
        embeddings: token embeddings, shape (n_tokens, dim).
        weights: weights >= 0 with a positive sum, shape (n_tokens,). All tokens given here take part in a window,
            those of weight 0 (an idf of 0) too.
        n: length of a window; a shorter text is one window.

    Returns:
        Weighted mean vector of every window of n neighbouring tokens, shape (n_windows, dim), and the sum of each
        window's weights, shape (n_windows,). A window without weight has the vector 0 and takes no part.

    References:
        Zhao et al., EMNLP 2019, equations 3 and 4; moverscore.py `load_ngram`.
    """
    if n == 1:
        return embeddings, weights
    size = min(n, len(weights))
    # w: windows, n: place in the window, d: dimension
    windows = np.lib.stride_tricks.sliding_window_view(weights, size)
    tokens = np.lib.stride_tricks.sliding_window_view(embeddings, size, axis=0)
    sums = windows.sum(axis=1)
    shares = windows / np.where(sums > 0, sums, 1.0)[:, None]
    return np.einsum("wn,wdn->wd", shares, tokens), sums
