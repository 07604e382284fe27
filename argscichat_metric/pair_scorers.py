"""BERTScore and MoverScore of one pair of embedded texts, under the options of a call."""

import string
from collections.abc import Sequence
from functools import cache

import numpy as np

from .bertscore import EMPTY, BertScore, bertscore, rescale
from .embedding_pass import EmbeddedText, EncoderPass
from .encoder import TokenizedText
from .idf import InverseDocumentFrequency
from .moverscore import moverscore, ngrams, power_means
from .options import Options

PairUnits = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Vectors of the reply's and of the reference's units, then their weights."""


class BertScorer:
    """BERTScore of one pair, under the options of a call.

    Args:
        run: the pass that embeds the texts.
        layer: the hidden layer that is compared.
        baseline: what to rescale with; None leaves the score as it is.
        idf: weights of the tokens; None weighs them equally.

    Attributes:
        keys: result keys, in the order of the values.
        empty: the values of a pair of which one text holds no token.
        n_unweighted_texts: texts so far whose weights summed to 0, and were made equal.
    """

    keys = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
    empty: tuple[float, ...] = EMPTY

    def __init__(self, run: EncoderPass, layer: int, baseline: BertScore | None, idf: InverseDocumentFrequency | None):
        self.run = run
        self.n_unweighted_texts = 0
        self._place = run.layers.index(layer)
        self._baseline = baseline
        self._idf = idf

    def score(self, predicted: EmbeddedText, reference: EmbeddedText) -> tuple[float, ...]:
        """Score one pair.

        Args:
            predicted: the reply.
            reference: the reference reply.

        Returns:
            One value for each of `keys`.
        """
        raw = bertscore(*self.units(predicted, reference))
        return rescale(raw, self._baseline) if self._baseline else raw

    def units(self, predicted: EmbeddedText, reference: EmbeddedText) -> PairUnits:
        """The tokens of both texts, and their weights."""
        return (
            predicted.vectors[self._place],
            reference.vectors[self._place],
            self._weights(predicted.tokens),
            self._weights(reference.tokens),
        )

    def labels(self, text: EmbeddedText) -> list[str]:
        """What the tokens of a text spell."""
        return self.run.labels(text.tokens)

    def _weights(self, tokens: TokenizedText) -> np.ndarray:
        counts = np.ones(len(tokens.ids))
        for token_id in self.run.encoder.unweighted_ids:
            counts[tokens.ids == token_id] = 0.0
        weights = counts * self._idf.weights(tokens.ids) if self._idf else counts
        if weights.any():
            return weights
        self.n_unweighted_texts += 1
        return counts if counts.any() else np.ones(len(counts))


class MoverScorer:
    """MoverScore of one pair, under the options of a call.

    Args:
        run: the pass that embeds the texts.
        layers: the hidden layers that are compared or pooled.
        options: checked options of the call.
        idf_of_predictions: weights of the tokens of replies; None weighs them equally.
        idf_of_references: likewise of reference replies.

    Attributes:
        keys: result keys, in the order of the values.
        empty: the values of a pair of which one text holds no token.
        n_unweighted_texts: texts so far whose weights summed to 0, and were made equal.
    """

    keys = ("moverscore",)
    empty: tuple[float, ...] = (0.0,)

    def __init__(
        self,
        run: EncoderPass,
        layers: Sequence[int],
        options: Options,
        idf_of_predictions: InverseDocumentFrequency | None,
        idf_of_references: InverseDocumentFrequency | None,
    ):
        self.run = run
        self.n_unweighted_texts = 0
        self._places = [run.layers.index(layer) for layer in layers]
        self._pools_layers = options.moverscore_layers == "power_means"
        self._options = options
        unmoved_words = frozenset(string.punctuation) | options.stop_words
        self._is_moved = cache(lambda token_id: run.encoder.spelling(token_id) not in unmoved_words)
        self._idf_of_predictions, self._idf_of_references = idf_of_predictions, idf_of_references

    def score(self, predicted: EmbeddedText, reference: EmbeddedText) -> tuple[float, ...]:
        """Score one pair.

        Args:
            predicted: the reply.
            reference: the reference reply.

        Returns:
            One value for each of `keys`.
        """
        formula = self._options.moverscore_formula
        return (moverscore(*self.units(predicted, reference), squared=self._pools_layers, formula=formula),)

    def units(self, predicted: EmbeddedText, reference: EmbeddedText) -> PairUnits:
        """The tokens or n-grams of both texts that are moved, and their weights."""
        vectors, weights = self._units_of(predicted, self._idf_of_predictions)
        reference_vectors, reference_weights = self._units_of(reference, self._idf_of_references)
        return vectors, reference_vectors, weights, reference_weights

    def labels(self, text: EmbeddedText) -> list[str]:
        """What the tokens or n-grams of a text that are moved spell."""
        labels = self.run.labels(text.tokens)
        moved = [labels[i] for i in self._moved(text.tokens)]
        size = min(self._options.moverscore_ngram, len(moved))
        return [" ".join(moved[start : start + size]) for start in range(len(moved) - size + 1)]

    def _units_of(self, text: EmbeddedText, idf: InverseDocumentFrequency | None) -> tuple[np.ndarray, np.ndarray]:
        moved = self._moved(text.tokens)
        weights = idf.weights(text.tokens.ids[moved]) if idf else np.ones(len(moved))
        if idf and not weights.any():
            self.n_unweighted_texts += 1
            weights = np.ones(len(moved))
        if self._pools_layers:
            vectors = power_means(text.vectors[self._places].take(moved, axis=1))
        else:
            vectors = text.vectors[self._places[0]].take(moved, axis=0)
        return ngrams(vectors, weights, self._options.moverscore_ngram)

    def _moved(self, tokens: TokenizedText) -> list[int]:
        """Places of the tokens with weight: first pieces of words that are neither punctuation nor stop words."""
        # Lists, not arrays: a reply has so few tokens that calling numpy costs more than the loop.
        pieces = zip(tokens.is_continuation.tolist(), map(self._is_moved, tokens.ids.tolist()), strict=True)
        moved = [i for i, (continues, is_moved) in enumerate(pieces) if is_moved and not continues]
        return moved or list(range(len(tokens.ids)))


Scorer = BertScorer | MoverScorer
