"""BERTScore: greedy matching of the tokens of a reply with the tokens of the reference reply.

No model in here: cosines of token embeddings go in, numbers come out.
"""

from typing import NamedTuple

import numpy as np


class BertScore(NamedTuple):
    """Precision, recall and F1 of one pair of texts, each in [-1, 1], before or after rescaling."""

    precision: float
    recall: float
    f1: float


EMPTY = BertScore(0.0, 0.0, 0.0)


def bertscore(similarity: np.ndarray, predicted_weights: np.ndarray, reference_weights: np.ndarray) -> BertScore:
    """BERTScore of one pair of texts.

    Every token may be matched; a token of weight 0 (the special tokens, in the original package) does not count
    itself. Only tokens of the two texts take part, never padding, so the score does not depend on a batch.

    Args:
        similarity: cosine of every token of the reply and every token of the reference reply, shape (p, r), p >= 1,
            r >= 1.
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: weights >= 0 with a positive sum, shape (r,).

    Returns:
        Values in [-1, 1]; F1 is 0.0 where precision and recall cancel out.

    References:
        Zhang et al., arXiv 1904.09675, section 3; bert_score/utils.py `greedy_cos_idf` (bert-score 0.3.13).
    """
    precision = _mean(similarity.max(axis=1), predicted_weights)
    recall = _mean(similarity.max(axis=0), reference_weights)
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total else 0.0)


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    # Not np.average: for the few tokens of a text, its checks take ten times as long as the mean.
    return float(values @ weights / weights.sum())


def rescale(score: BertScore, baseline: BertScore) -> BertScore:
    """Stretch a score so that unrelated texts score about 0.

    Args:
        score: the raw score.
        baseline: mean score of unrelated texts for this encoder and layer, each below 1.

    Returns:
        (score - baseline) / (1 - baseline) for each of the three; at most 1, below 0 where the score is below the
        baseline.

    References:
        bert_score/scorer.py `BERTScorer.score` (bert-score 0.3.13).
    """
    return BertScore(*((value - base) / (1 - base) for value, base in zip(score, baseline, strict=True)))
