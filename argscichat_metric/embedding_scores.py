"""BERTScore and MoverScore of many pairs: one encoder pass over the distinct texts, a window of pairs at a time."""

import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from threadpoolctl import ThreadpoolController
from tqdm.auto import tqdm

from .bertscore_tables import recommended_layer, rescale_baseline
from .embedding_pass import EmbeddedPair, EmbeddedText, EncoderPass, start_call
from .encoder import Encoder, load_encoder
from .encoder_files import is_on_hub
from .moverscore import POWER_MEAN_LAYERS
from .options import Options
from .pair_scorers import BertScorer, MoverScorer, Scorer

WINDOW_BYTES = 32 << 20
"""Token embeddings that are held at a time, besides the cache; enough texts to sort by length, little memory."""

_CHARACTERS_PER_TOKEN = 4
_PROGRESS_DELAY = 1.0
_BLAS_LOCK = threading.Lock()


@dataclass(frozen=True)
class EmbeddingScores:
    """Scores of every pair, in input order.

    Args:
        columns: result key (`bertscore_f1`, `moverscore` ...) -> one value a pair.
        n_truncated_texts: how many of the 2 * n texts were longer than an encoder takes.
        encoders: metric -> encoder and hidden layers, as `name@revision/layers`.
    """

    columns: dict[str, list[float]]
    n_truncated_texts: int
    encoders: dict[str, str]


@dataclass(frozen=True)
class PairedUnits:
    """What one score compares in one pair of texts: tokens, or n-grams of tokens.

    Args:
        predicted_labels: what the p units of the reply spell; the continuation of a word starts with `##`.
        reference_labels: what the r units of the reference reply spell.
        matrix: how each unit of the reply compares with each of the reference reply, shape (p, r): for BERTScore the
            cosine, for MoverScore the distance, squared if so asked.
        predicted_weights: weights >= 0 with a positive sum, shape (p,).
        reference_weights: shape (r,).
        scores: result key -> score of the pair.
    """

    predicted_labels: list[str]
    reference_labels: list[str]
    matrix: np.ndarray
    predicted_weights: np.ndarray
    reference_weights: np.ndarray
    scores: dict[str, float]


def embedding_scores(
    predictions: Sequence[str], references: Sequence[str], metrics: Sequence[str], options: Options
) -> EmbeddingScores:
    """Compute BERTScore and/or MoverScore of aligned texts.

    Args:
        predictions: replies, n texts.
        references: reference replies, n texts.
        metrics: `"bertscore"` and/or `"moverscore"`.
        options: checked options of the call.

    Returns:
        One value a pair and key. A pair of which one text holds no token scores 0.0, after any rescaling.

    Raises:
        EncoderError: an encoder cannot be loaded or used as asked.
        ValueError: there is no baseline for the encoder.
    """
    start_call(options.cache_mb)
    predictions, references = [text.strip() for text in predictions], [text.strip() for text in references]
    encoders = _encoders(metrics, options)
    layers = {metric: _layers(metric, encoder, options) for metric, encoder in encoders.items()}
    scorers = _scorers(predictions, references, encoders, layers, options)
    passes = list(dict.fromkeys(scorer.run for scorer in scorers))
    scores = {scorer: [scorer.empty] * len(predictions) for scorer in scorers}
    n_truncated = 0
    with tqdm(
        total=len(predictions),
        disable=not options.progress,
        delay=_PROGRESS_DELAY,
        unit="pair",
        desc="embedding scores",
    ) as bar:
        for window in _windows(predictions, references, _window_characters(passes)):
            pairs = [(i, predictions[i], references[i]) for i in window]
            n_truncated += _score_window(pairs, passes, options.batch_tokens, scores)
            bar.update(len(window))
    _warn_of_unweighted_texts(scorers)
    columns = {
        key: [values[place] for values in scores[scorer]] for scorer in scorers for place, key in enumerate(scorer.keys)
    }
    names = {metric: _identity(encoder, layers[metric]) for metric, encoder in encoders.items()}
    return EmbeddingScores(columns, n_truncated, names)


def paired_units(
    predicted: str, reference: str, metrics: Sequence[str], options: Options
) -> dict[str, PairedUnits | None]:
    """What the scores of one pair of texts are made of, to show or draw it.

    Args:
        predicted: the reply.
        reference: the reference reply.
        metrics: `"bertscore"` and/or `"moverscore"`.
        options: checked options of the call, without `idf`, whose weights depend on more than one pair.

    Returns:
        Metric -> the units that `embedding_scores` compares and the scores that it gives, or None where one of the
        texts holds no token.

    Raises:
        EncoderError: an encoder cannot be loaded or used as asked.
        ValueError: there is no baseline for the encoder, or `idf` is set.
    """
    if options.idf:
        raise ValueError(
            "idf: expected False, as its weights come from all texts of a set, not from one pair; got True"
        )
    sides = [predicted.strip(), reference.strip()]
    encoders = _encoders(metrics, options)
    layers = {metric: _layers(metric, encoder, options) for metric, encoder in encoders.items()}
    scorers = _scorers(sides[:1], sides[1:], encoders, layers, options)
    texts = list(dict.fromkeys(filter(None, sides)))
    parts: dict[str, PairedUnits | None] = {}
    for metric, scorer in zip(encoders, scorers, strict=True):
        known = scorer.run.embed(texts, set(sides[1:]), options.batch_tokens)
        parts[metric] = _paired(scorer, *map(known.get, sides))
    return parts


def _paired(scorer: Scorer, predicted: EmbeddedText | None, reference: EmbeddedText | None) -> PairedUnits | None:
    pair = _pair(predicted, reference)
    if pair is None:
        return None
    scores = dict(zip(scorer.keys, scorer.score(pair), strict=True))
    return PairedUnits(scorer.labels(pair.predicted), scorer.labels(pair.reference), *scorer.units(pair), scores)


def _scorers(
    predictions: Sequence[str],
    references: Sequence[str],
    encoders: dict[str, Encoder],
    layers: dict[str, list[int]],
    options: Options,
) -> list[Scorer]:
    runs = {}
    for encoder in encoders.values():
        needed = {layer for metric in encoders if encoders[metric] is encoder for layer in layers[metric]}
        runs[encoder] = EncoderPass(encoder, tuple(sorted(needed)), encoder.limit(options.max_length))
    idf_of_references = {encoder: run.idf(references) if options.idf else None for encoder, run in runs.items()}
    scorers: list[Scorer] = []
    if encoder := encoders.get("bertscore"):
        (layer,) = layers["bertscore"]
        baseline = rescale_baseline(encoder.name, layer) if options.rescale_with_baseline else None
        scorers.append(BertScorer(runs[encoder], layer, baseline, idf_of_references[encoder]))
    if encoder := encoders.get("moverscore"):
        idf = runs[encoder].idf(predictions) if options.idf else None
        scorers.append(MoverScorer(runs[encoder], layers["moverscore"], options, idf, idf_of_references[encoder]))
    return scorers


def _encoders(metrics: Sequence[str], options: Options) -> dict[str, Encoder]:
    """One encoder for both scores where one pass can serve them, else one each."""
    names = {metric: options.encoder_of(metric) for metric in metrics}
    layer = _wanted_bert_layer(options) if "bertscore" in metrics else None
    if len(names) == 2 and len(set(names.values())) == 1:
        whole = load_encoder(names["moverscore"], None, options.device)
        if layer in (None, whole.depth) or (layer < whole.depth and not whole.has_final_norm):
            return dict.fromkeys(names, whole)
    depths = {"bertscore": layer, "moverscore": None}
    return {metric: load_encoder(name, depths[metric], options.device) for metric, name in names.items()}


def _wanted_bert_layer(options: Options) -> int | None:
    """The caller's layer, else the recommended one, else None: the last."""
    name = options.encoder_of("bertscore")
    if options.bertscore_layer is None and is_on_hub(name):
        return recommended_layer(name)
    return options.bertscore_layer


def _layers(metric: str, encoder: Encoder, options: Options) -> list[int]:
    if metric == "bertscore":
        wanted = _wanted_bert_layer(options)
        return [encoder.depth if wanted is None else wanted]
    first = encoder.depth if options.moverscore_layers == "last" else max(1, encoder.depth - POWER_MEAN_LAYERS + 1)
    return list(range(first, encoder.depth + 1))


def _identity(encoder: Encoder, layers: Sequence[int]) -> str:
    # A local folder is named by its last part: a signature goes into papers, where a path of one machine says nothing.
    name = encoder.name if is_on_hub(encoder.name) else Path(encoder.name).name
    return f"{name}@{encoder.revision}/{'-'.join(map(str, dict.fromkeys((layers[0], layers[-1]))))}"


def _window_characters(passes: Iterable[EncoderPass]) -> int:
    """Characters whose token embeddings fill a window."""
    bytes_per_token = sum(4 * len(run.layers) * run.encoder.dim for run in passes)
    return _CHARACTERS_PER_TOKEN * WINDOW_BYTES // bytes_per_token


def _windows(predictions: Sequence[str], references: Sequence[str], max_characters: int) -> Iterator[list[int]]:
    """Split the pairs into windows; pairs of one reference and of similar length come together."""
    order = sorted(range(len(references)), key=lambda i: (len(references[i]), references[i], len(predictions[i])))
    window: list[int] = []
    n_characters = 0
    for i in order:
        window.append(i)
        n_characters += len(predictions[i]) + len(references[i])
        if n_characters >= max_characters:
            yield window
            window, n_characters = [], 0
    if window:
        yield window


def _score_window(
    pairs: Sequence[tuple[int, str, str]],
    passes: Sequence[EncoderPass],
    batch_tokens: int,
    scores: dict[Scorer, list[tuple[float, ...]]],
) -> int:
    """Put the scores of the pairs of a window in their places; returns how many of their texts were cut."""
    of_references = {reference for _, _, reference in pairs}
    texts = [text for text in dict.fromkeys(text for _, *sides in pairs for text in sides) if text]
    embedded = {run: run.embed(texts, of_references, batch_tokens) for run in passes}
    # The products of a pair are so small that the threads of BLAS spend more time waiting for each other than
    # multiplying, milliseconds on a busy machine. The lock keeps a second call from taking 1 for the number to restore.
    with _BLAS_LOCK, _blas().limit(limits=1, user_api="blas"):
        for run, known in embedded.items():
            _score_pairs(pairs, known, {scorer: of_all for scorer, of_all in scores.items() if scorer.run is run})
    cut = {text for known in embedded.values() for text, entry in known.items() if entry.tokens.is_truncated}
    return sum(text in cut for _, *sides in pairs for text in sides)


def _score_pairs(
    pairs: Sequence[tuple[int, str, str]],
    known: dict[str, EmbeddedText],
    scores: dict[Scorer, list[tuple[float, ...]]],
) -> None:
    for i, predicted, reference in pairs:
        if pair := _pair(known.get(predicted), known.get(reference)):
            for scorer, of_all in scores.items():
                of_all[i] = scorer.score(pair)


def _pair(predicted: EmbeddedText | None, reference: EmbeddedText | None) -> EmbeddedPair | None:
    """Both texts, or None where one of them holds no token."""
    if predicted and reference and predicted.tokens.has_content and reference.tokens.has_content:
        return EmbeddedPair(predicted, reference)
    return None


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries, so once


def _warn_of_unweighted_texts(scorers: Iterable[Scorer]) -> None:
    if any(scorer.n_unweighted_texts for scorer in scorers):
        warnings.warn(
            "the idf weights of some texts sum to 0 (every token of them occurs in every text); "
            "their tokens are weighted equally",
            stacklevel=2,
        )
