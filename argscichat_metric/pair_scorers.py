"""BERTScore and MoverScore of one pair of embedded texts, under the options of a call."""

import string
from collections.abc import Callable, Sequence

import numpy as np

from .bertscore import EMPTY, BertScore, bertscore, rescale
from .embedding_pass import EmbeddedPair, EmbeddedText, EncoderPass
from .encoder import TokenizedText
from .idf import InverseDocumentFrequency
from .moverscore import moverscore, ngrams, power_means, squared_distances, unit_vectors
from .options import Options

Units = tuple[np.ndarray, np.ndarray, np.ndarray]
"""What a score takes of a pair: cosines or distances of p units and r units, (p, r), and weights, (p,) and (r,)."""

_UNKNOWN = -1.0


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
        unweighted = run.encoder.unweighted_ids
        self._counts = PerToken(lambda token_id: float(token_id not in unweighted))
        self._idf = idf

    def score(self, pair: EmbeddedPair) -> tuple[float, ...]:
        """Score one pair; one value for each of `keys`."""
        raw = bertscore(*self.units(pair))
        return rescale(raw, self._baseline) if self._baseline else raw

    def units(self, pair: EmbeddedPair) -> Units:
        """Cosines of the tokens of both texts, and the weights of the tokens."""
        return pair.cosines(self._place), self._weights(pair.predicted.tokens), self._weights(pair.reference.tokens)

    def labels(self, text: EmbeddedText) -> list[str]:
        """What the tokens of a text spell."""
        return self.run.labels(text.tokens)

    def _weights(self, tokens: TokenizedText) -> np.ndarray:
        counts = self._counts.of(tokens.ids)
        weights = counts * self._idf.weights(tokens.ids) if self._idf else counts
        if np.count_nonzero(weights):
            return weights
        self.n_unweighted_texts += 1
        return counts if np.count_nonzero(counts) else np.ones(len(counts))


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
        self._is_moved = PerToken(lambda token_id: float(run.encoder.spelling(token_id) not in unmoved_words))
        self._idf_of_predictions, self._idf_of_references = idf_of_predictions, idf_of_references

    def score(self, pair: EmbeddedPair) -> tuple[float, ...]:
        """Score one pair; one value for each of `keys`."""
        return (moverscore(*self.units(pair), formula=self._options.moverscore_formula),)

    def units(self, pair: EmbeddedPair) -> Units:
        """Distances of the tokens or n-grams of both texts that are moved, and their weights."""
        moved, reference_moved = self._moved(pair.predicted.tokens), self._moved(pair.reference.tokens)
        weights = self._weights(pair.predicted.tokens.ids[moved], self._idf_of_predictions)
        reference_weights = self._weights(pair.reference.tokens.ids[reference_moved], self._idf_of_references)
        if not self._pools_layers:
            (place,) = self._places
            squares = squared_distances(*pair.vectors(place), pair.cosines(place))
            distances = np.sqrt(squares.take(moved, axis=0).take(reference_moved, axis=1))
            return distances, weights, reference_weights
        vectors, weights = self._pooled(pair.predicted, moved, weights)
        reference_vectors, reference_weights = self._pooled(pair.reference, reference_moved, reference_weights)
        squares = squared_distances(vectors, reference_vectors, vectors @ reference_vectors.T)
        return squares, weights, reference_weights

    def labels(self, text: EmbeddedText) -> list[str]:
        """What the tokens or n-grams of a text that are moved spell."""
        labels = self.run.labels(text.tokens)
        moved = [labels[i] for i in self._moved(text.tokens)]
        size = min(self._options.moverscore_ngram, len(moved))
        return [" ".join(moved[start : start + size]) for start in range(len(moved) - size + 1)]

    def _weights(self, ids: np.ndarray, idf: InverseDocumentFrequency | None) -> np.ndarray:
        if idf is None:
            return np.ones(len(ids))
        weights = idf.weights(ids)
        if weights.any():
            return weights
        self.n_unweighted_texts += 1
        return np.ones(len(ids))

    def _pooled(self, text: EmbeddedText, moved: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pooled = power_means(text.vectors[self._places].take(moved, axis=1))
        vectors, weights = ngrams(pooled, weights, self._options.moverscore_ngram)
        return unit_vectors(vectors), weights

    def _moved(self, tokens: TokenizedText) -> np.ndarray:
        """Places of the tokens with weight: first pieces of words that are neither punctuation nor stop words."""
        # 1 where the word is moved, above False where the token starts it: one comparison for both conditions.
        (moved,) = (self._is_moved.of(tokens.ids) > tokens.is_continuation).nonzero()
        return moved if len(moved) else np.arange(len(tokens.ids))


class PerToken:
    """A number >= 0 for every token id, computed once: the first time that the id is seen.

    Args:
        function: token id -> its number.
    """

    def __init__(self, function: Callable[[int], float]):
        self._function = function
        self._known = np.empty(0)

    def of(self, ids: np.ndarray) -> np.ndarray:
        """Look token ids up.

        Args:
            ids: token ids, shape (n_tokens,).

        Returns:
            Their numbers, shape (n_tokens,), float64.
        """
        try:
            numbers = self._known[ids]
        except IndexError:
            size = max(int(ids.max()) + 1, 2 * len(self._known))
            self._known = np.pad(self._known, (0, size - len(self._known)), constant_values=_UNKNOWN)
            numbers = self._known[ids]
        if np.count_nonzero(numbers == _UNKNOWN):
            for token_id in ids[numbers == _UNKNOWN].tolist():
                self._known[token_id] = self._function(token_id)
            numbers = self._known[ids]
        return numbers


Scorer = BertScorer | MoverScorer
