"""MoverScore: the cost of moving the words of a reply onto the words of the reference reply.

No model in here: token embeddings and weights go in, numbers come out.
"""

import numpy as np

POWER_MEAN_LAYERS = 5
"""How many of the last layers the version of 2019 pools (moverscore.py: `embedding[-5:]`)."""

FORMULAS = {"reciprocal": lambda cost: 1.0 / (1.0 + cost), "linear": lambda cost: 1.0 - cost}
"""From transport cost to score: moverscore_v2.py on GitHub since 2021-01, and moverscore 1.0.3 on PyPI."""


def moverscore(
    predicted: np.ndarray,
    reference: np.ndarray,
    predicted_weights: np.ndarray,
    reference_weights: np.ndarray,
    *,
    squared: bool = False,
    formula: str = "reciprocal",
) -> float:
    """MoverScore of one pair of texts.

    Args:
        predicted: token or n-gram embeddings of the reply, shape (p, dim).
        reference: token or n-gram embeddings of the reference reply, shape (r, dim).
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: weights >= 0 with a positive sum, shape (r,).
        squared: whether moving costs the squared Euclidean distance of unit vectors (the version of 2019) or the
            distance itself (moverscore_v2).
        formula: a key of `FORMULAS`.

    Returns:
        A value in (0, 1] for `"reciprocal"`; for `"linear"` a value in [-1, 1], or in [-3, 1] where `squared`.

    References:
        Zhao et al., EMNLP 2019, section 3 (Word Mover's Distance); moverscore_v2.py and moverscore.py
        `word_mover_score` of github.com/AIPHES/emnlp19-moverscore at 0c93804.
    """
    distances = distance_matrix(predicted, reference, squared=squared)
    return float(FORMULAS[formula](transport_cost(predicted_weights, reference_weights, distances)))


def distance_matrix(predicted: np.ndarray, reference: np.ndarray, *, squared: bool = False) -> np.ndarray:
    """Euclidean distance of every predicted from every reference token, on unit vectors.

    Args:
        predicted: embeddings, shape (p, dim).
        reference: embeddings, shape (r, dim).
        squared: whether to return the squared distance.

    Returns:
        float64, shape (p, r), in [0, 2], or in [0, 4] where `squared`.
    """
    # The originals compute |x|^2 + |y|^2 - 2xy in float32. Its rounding is about 1e-7 before the root and so 3e-4
    # after it, which makes identical texts score 0.9998 there. In float64 they score 1.
    predicted, reference = predicted.astype(np.float64), reference.astype(np.float64)
    # Dividing the products is less work than dividing the vectors, which are longer than the texts. An n-gram without
    # weight has length 0.
    lengths = np.outer(_lengths(predicted), _lengths(reference))
    cosines = predicted @ reference.T / np.maximum(lengths, np.finfo(lengths.dtype).tiny)
    squares = np.maximum(2.0 - 2.0 * cosines, 0.0)
    return squares if squared else np.sqrt(squares)


def _lengths(vectors: np.ndarray) -> np.ndarray:
    # A third of the time of np.linalg.norm, which makes an array of squares first.
    return np.sqrt(np.vecdot(vectors, vectors))


def transport_cost(predicted_weights: np.ndarray, reference_weights: np.ndarray, distances: np.ndarray) -> float:
    """Cost of `transport_plan`.

    Args:
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: weights >= 0 with a positive sum, shape (r,).
        distances: cost of moving one unit, shape (p, r), >= 0.

    Returns:
        A value between the smallest and the largest distance.
    """
    return float(np.vdot(transport_plan(predicted_weights, reference_weights, distances), distances))


def transport_plan(predicted_weights: np.ndarray, reference_weights: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """The cheapest way to move all weight of one text onto the other (exact optimal transport).

    Args:
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: weights >= 0 with a positive sum, shape (r,).
        distances: cost of moving one unit, shape (p, r), >= 0.

    Returns:
        Which share of all weight is moved from which token to which, shape (p, r), >= 0, with the sum 1.

    References:
        `ot.emd` of POT (Flamary et al., JMLR 2021), the solver of `ot.emd2` without the gradients of its cost.
    """
    import ot

    supply, demand = predicted_weights / predicted_weights.sum(), reference_weights / reference_weights.sum()
    if supply.all() and demand.all():
        # Neither check costs less than the transport of two short texts, and both sides sum to 1 here.
        return ot.emd(supply, demand, distances, check_marginals=False, center_dual=False)
    # POT takes weights of 0, but then estimates the dual potentials of their tokens, which nobody reads.
    plan = np.zeros(distances.shape)
    cells = np.ix_(np.flatnonzero(supply), np.flatnonzero(demand))
    plan[cells] = transport_plan(supply[supply > 0], demand[demand > 0], distances[cells])
    return plan


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
