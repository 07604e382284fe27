"""One encoder over distinct texts: what it embeds, and what it kept of earlier calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .embedding_cache import EmbeddingCache
from .encoder import Encoder, TokenizedText
from .idf import InverseDocumentFrequency

_TOKENIZE_AT_ONCE = 4096
_MEGABYTE = 1 << 20
_CACHE = EmbeddingCache()  # of all encoders together


def start_call(cache_mb: int) -> None:
    """Tell the cache that a call begins, which may use what the one before left there.

    Args:
        cache_mb: limit of the cache from now on, in megabytes.
    """
    _CACHE.start_generation(cache_mb * _MEGABYTE)


@dataclass(frozen=True)
class EmbeddedText:
    """One text as an encoder sees it.

    Args:
        tokens: its tokens, special tokens included.
        vectors: their embeddings of length 1, shape (layers of the pass, n_tokens, dim), float32.
    """

    tokens: TokenizedText
    vectors: np.ndarray

    @property
    def n_bytes(self) -> int:
        """What the text takes in the cache."""
        return self.vectors.nbytes + self.tokens.ids.nbytes + self.tokens.is_continuation.nbytes


@dataclass(frozen=True)
class EmbeddedPair:
    """A reply and its reference reply, embedded by one pass.

    Args:
        predicted: the reply.
        reference: the reference reply.
    """

    predicted: EmbeddedText
    reference: EmbeddedText
    _cosines: dict[int, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def vectors(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """The token embeddings of both texts, shapes (p, dim) and (r, dim), in one layer of the pass."""
        return self.predicted.vectors[place], self.reference.vectors[place]

    def cosines(self, place: int) -> np.ndarray:
        """Cosine of every token of the reply and every token of the reference reply, shape (p, r).

        They are computed once, for whichever score asks first.
        """
        if place not in self._cosines:
            predicted, reference = self.vectors(place)
            self._cosines[place] = predicted @ reference.T
        return self._cosines[place]


@dataclass(frozen=True)
class EncoderPass:
    """One run of an encoder, which may serve both scores.

    Args:
        encoder: the encoder.
        layers: hidden layers that it returns, ascending.
        limit: number of tokens at which a text is cut.
    """

    encoder: Encoder
    layers: tuple[int, ...]
    limit: int

    def embed(self, texts: Sequence[str], references: set[str], batch_tokens: int) -> dict[str, EmbeddedText]:
        """Embed distinct texts; those of earlier calls come out of the cache.

        Args:
            texts: the texts, each once.
            references: those of them that a later call may have again.
            batch_tokens: padded tokens in a batch.

        Returns:
            Text -> its tokens and their embeddings.
        """
        keys = {text: (self.encoder.key, self.layers, self.limit, text) for text in texts}
        found = {text: entry for text, key in keys.items() if (entry := _CACHE.get(key)) is not None}
        new = [text for text in texts if text not in found]
        tokens = self.encoder.tokenize(new, self.limit) if new else []
        embedded = self.encoder.embed(tokens, self.layers, batch_tokens)
        for text, tokenized, vectors in zip(new, tokens, embedded, strict=True):
            entry = found[text] = EmbeddedText(tokenized, vectors)
            _CACHE.put(keys[text], entry, entry.n_bytes + len(text), is_reference=text in references)
        return found

    def labels(self, tokens: TokenizedText) -> list[str]:
        """What the tokens of a text spell; tokenizers mark continuations in many ways, here it is one.

        Args:
            tokens: the tokens.

        Returns:
            One text a token; the continuation of a word starts with `##`.
        """
        pieces = zip(tokens.ids.tolist(), tokens.is_continuation.tolist(), strict=True)
        spelt = ((self.encoder.spelling(token_id), continues) for token_id, continues in pieces)
        return ["##" + text.removeprefix("##") if continues else text for text, continues in spelt]

    def idf(self, texts: Sequence[str]) -> InverseDocumentFrequency:
        """Document frequencies of the tokens of all texts of one side.

        Args:
            texts: the texts; a repeated one is counted again.

        Returns:
            The weights of their tokens.
        """
        return InverseDocumentFrequency(
            tokens.ids
            for start in range(0, len(texts), _TOKENIZE_AT_ONCE)
            for tokens in self.encoder.tokenize(texts[start : start + _TOKENIZE_AT_ONCE], self.limit)
        )
