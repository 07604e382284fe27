"""Fact selection without training: what every new agent should beat, and the ceiling that none can pass.

    scores = score_sentences("bm25", rows)
    predictions = select_facts(rows, scores)

Every baseline scores all sentences of the query's own paper. The two best are the selected facts, and the reply is
their text. Of sentences with one score the earlier one comes first.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from argscichat_dataset.corpus import Row
from argscichat_metric.options import BATCH_TOKENS, EMBEDDED_ENCODER, MAX_FACTS
from argscichat_metric.shortened import shorten

QUERIES = ("message", "history")
"""What a query is: the last message of the proponent, or all messages of the dialogue up to it."""

NEVER_SELECTED = -np.inf


@dataclass(frozen=True)
class BaselineOptions:
    """What changes the scores of a baseline.

    Args:
        query: a member of `QUERIES`; `first`, `random` and `oracle` do not read it.
        seed: seed of `random`, >= 0.
        encoder: what `encoder` embeds with: the embedded encoder, a model id of the Hub or a local folder.
        device: a torch device; None is cuda where there is one, else cpu.

    Raises:
        TypeError: `seed` is no whole number.
        ValueError: a value out of range.
    """

    query: str = "message"
    seed: int = 0
    encoder: str = EMBEDDED_ENCODER
    device: str | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        if self.query not in QUERIES:
            raise ValueError(f"query: expected one of {', '.join(QUERIES)}, got {shorten(self.query)}")
        if not isinstance(self.seed, int) or isinstance(self.seed, bool):
            raise TypeError(f"seed: expected a whole number, got {type(self.seed).__name__} {shorten(self.seed)}")
        if self.seed < 0:
            raise ValueError(f"seed: expected a whole number of at least 0, got {self.seed}")


DEFAULT_OPTIONS = BaselineOptions()


def score_sentences(name: str, rows: Sequence[Row], options: BaselineOptions = DEFAULT_OPTIONS) -> list[np.ndarray]:
    """Score the sentences of each row's paper as an answer to its query.

    Args:
        name: a key of `BASELINES`.
        rows: message pairs.
        options: what changes the scores.

    Returns:
        For each row an array of shape (n_sentences,), the higher the better; `NEVER_SELECTED` where a sentence must not
        be selected.

    Raises:
        EncoderError: the encoder cannot be loaded.
        ValueError: there is no such baseline.
    """
    if name not in BASELINES:
        raise ValueError(f"baseline: expected one of {', '.join(BASELINES)}, got {shorten(name)}")
    return BASELINES[name](rows, options)


def ranked(scores: np.ndarray) -> list[int]:
    """All sentences of a paper, best first; of equal ones the earlier one first.

    Args:
        scores: one number a sentence, shape (n_sentences,).

    Returns:
        Sentence indices.

    Example:
        >>> ranked(np.array([0.5, 2.0, 0.5]))
        [1, 0, 2]
    """
    return np.argsort(-scores, kind="stable").tolist()


def select_facts(
    rows: Sequence[Row], scores: Sequence[np.ndarray], *, max_facts: int = MAX_FACTS
) -> list[dict[str, Any]]:
    """Answer each query with the best sentences.

    Args:
        rows: message pairs.
        scores: what `score_sentences` returned for them.
        max_facts: how many sentences to select, >= 1.

    Returns:
        One `{"id", "message", "facts"}` a row, as `argscichat score` takes it. The facts are sentences, the best first,
        and the message is their text.
    """
    predictions = []
    for row, of_row in zip(rows, scores, strict=True):
        selected = [index for index in ranked(of_row)[:max_facts] if of_row[index] > NEVER_SELECTED]
        facts = [row["paper"][index] for index in selected]
        predictions.append({"id": row["id"], "message": " ".join(facts), "facts": facts})
    return predictions


class Bm25:
    """BM25 over a list of texts: the variant and parameters that bm25s takes by default, Snowball stems, no stop words.

    Args:
        texts: the documents, at least one.

    References:
        Robertson and Zaragoza 2009; the variant of Lucene (Kamphuis et al. 2020), as in bm25s (Lù, arXiv 2407.03618).
    """

    METHOD, K1, B = "lucene", 1.5, 0.75
    LANGUAGE = "english"

    def __init__(self, texts: Sequence[str]):
        import bm25s
        import Stemmer

        self._n = len(texts)
        self._stemmer = Stemmer.Stemmer(self.LANGUAGE)
        self._index = bm25s.BM25(method=self.METHOD, k1=self.K1, b=self.B)
        words = self._words(texts)
        self._vocabulary = {word for of_text in words for word in of_text}
        if self._vocabulary:
            self._index.index(words, show_progress=False)

    def scores(self, query: str) -> np.ndarray:
        """Score all documents.

        Args:
            query: any text.

        Returns:
            float32, shape (n_texts,), >= 0; 0 where a document shares no word with the query.
        """
        (words,) = self._words([query])
        known = [word for word in words if word in self._vocabulary]
        return self._index.get_scores(known) if known else np.zeros(self._n, dtype=np.float32)

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        import bm25s

        return bm25s.tokenize(
            list(texts), stopwords=self.LANGUAGE, stemmer=self._stemmer, return_ids=False, show_progress=False
        )


def _first(rows: Sequence[Row], _options: BaselineOptions) -> list[np.ndarray]:
    return [-np.arange(len(row["paper"]), dtype=np.float64) for row in rows]


def _random(rows: Sequence[Row], options: BaselineOptions) -> list[np.ndarray]:
    # Seeded by the id too, so that a query gets the same sentences in whatever file it stands.
    return [
        np.random.default_rng((options.seed, zlib.crc32(row["id"].encode()))).random(len(row["paper"])) for row in rows
    ]


def _tfidf(rows: Sequence[Row], options: BaselineOptions) -> list[np.ndarray]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    def fitted(sentences: Sequence[str]) -> Callable[[str], np.ndarray]:
        vectorizer = TfidfVectorizer(strip_accents="unicode", stop_words="english")
        try:
            matrix = vectorizer.fit_transform(sentences)
        except ValueError:  # no sentence holds a word that counts
            return lambda _query: np.zeros(len(sentences))
        # The vectors have length 1, so their products are cosines.
        return lambda query: (matrix @ vectorizer.transform([query]).T).toarray()[:, 0]

    return _scored_by_paper(rows, options, fitted)


def _bm25(rows: Sequence[Row], options: BaselineOptions) -> list[np.ndarray]:
    return _scored_by_paper(rows, options, lambda sentences: Bm25(sentences).scores)


def _encoder(rows: Sequence[Row], options: BaselineOptions) -> list[np.ndarray]:
    from argscichat_metric.encoder import load_encoder

    encoder = load_encoder(options.encoder, None, options.device)
    texts = list(dict.fromkeys(text for row in rows for text in (*row["paper"], query_text(row, options.query))))
    tokens = encoder.tokenize(texts, encoder.limit(None))
    vectors = dict(zip(texts, encoder.mean_vectors(tokens, BATCH_TOKENS), strict=True))
    return [
        # Sentence by sentence, as a product of matrices may round equal sentences differently.
        np.array([float(vectors[sentence] @ vectors[query_text(row, options.query)]) for sentence in row["paper"]])
        for row in rows
    ]


def _oracle(rows: Sequence[Row], _options: BaselineOptions) -> list[np.ndarray]:
    return [
        np.array([1.0 if index in row["fact_ids"] else NEVER_SELECTED for index in range(len(row["paper"]))])
        for row in rows
    ]


BASELINES: Mapping[str, Callable[[Sequence[Row], BaselineOptions], list[np.ndarray]]] = {
    "random": _random,
    "first": _first,
    "tfidf": _tfidf,
    "bm25": _bm25,
    "encoder": _encoder,
    "oracle": _oracle,
}
"""Name -> the scores of the sentences of each row's paper."""

READ_THE_QUERY = ("tfidf", "bm25", "encoder")
"""Baselines that depend on the query, and so on what it is."""


def query_text(row: Row, query: str) -> str:
    """What a sentence is compared with.

    Args:
        row: a message pair.
        query: a member of `QUERIES`.

    Returns:
        The last message, or all messages of the dialogue up to it.
    """
    if query == "message":
        return row["query"]
    earlier = [message for exchange in row["history"] for message in (exchange["query"], exchange["reply"])]
    return " ".join([*earlier, row["query"]])


def _scored_by_paper(
    rows: Sequence[Row], options: BaselineOptions, fitted: Callable[[Sequence[str]], Callable[[str], np.ndarray]]
) -> list[np.ndarray]:
    """Scores by something that is fitted on each paper once."""
    of_paper: dict[tuple[str, ...], Callable[[str], np.ndarray]] = {}
    scores = []
    for row in rows:
        paper = tuple(row["paper"])
        if paper not in of_paper:
            of_paper[paper] = fitted(paper)
        scores.append(of_paper[paper](query_text(row, options.query)))
    return scores
