"""Inverse document frequency of tokens, by the one formula that BERTScore and MoverScore share."""

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np


class InverseDocumentFrequency:
    """Weights log((N + 1) / (n + 1)) of token ids, where n of N texts hold the token.

    Args:
        documents: token ids of each text, special tokens included; a text that is scored twice counts twice.

    References:
        Zhang et al., arXiv 1904.09675, section 3 ("Importance Weighting"), with the plus-one smoothing of
        bert_score/utils.py `get_idf_dict` (bert-score 0.3.13) and moverscore_v2.py `get_idf_dict`.
    """

    def __init__(self, documents: Iterable[np.ndarray]):
        counts: Counter[int] = Counter()
        n_documents = 0
        for ids in documents:
            counts.update(np.unique(ids).tolist())
            n_documents += 1
        self._unseen = math.log(n_documents + 1)
        self._weights = {token: math.log((n_documents + 1) / (count + 1)) for token, count in counts.items()}

    def weights(self, ids: np.ndarray) -> np.ndarray:
        """Weight of every token of a text.

        Args:
            ids: token ids, shape (n_tokens,).

        Returns:
            Weights >= 0, shape (n_tokens,), float64.
        """
        return np.array([self._weights.get(token, self._unseen) for token in ids.tolist()], dtype=np.float64)
