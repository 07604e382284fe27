"""What the scores of one reply are made of: shared words, matched tokens and moved tokens, as plain data."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from argscichat_metric.compute import EMBEDDING_METRICS
from argscichat_metric.message_f1 import squad_words, word_f1
from argscichat_metric.options import Options
from argscichat_metric.rows import read_row


@dataclass(frozen=True)
class SharedWords:
    """What Message-F1 counts.

    Args:
        predicted: words of the reply, as SQuAD 2.0 counts them.
        reference: words of the reference reply.
        predicted_is_shared: whether each word of the reply is counted as shared; a word that the reference has once
            is shared once, where it comes first.
        reference_is_shared: likewise for the reference.
        f1: Message-F1, in [0, 1].
    """

    predicted: list[str]
    reference: list[str]
    predicted_is_shared: list[bool]
    reference_is_shared: list[bool]
    f1: float


@dataclass(frozen=True)
class Matching:
    """What BERTScore counts: for every token, the most similar token of the other text.

    Args:
        predicted: the p tokens of the reply; the continuation of a word starts with `##`.
        reference: the r tokens of the reference reply.
        similarity: cosine of every predicted (row) with every reference token (column), p lists of r values.
        predicted_weights: weight of each token in the mean, >= 0, with the sum 1; 0 for special tokens.
        reference_weights: likewise for the reference.
        best_of_predicted: for each token of the reply, the place of its match in the reference.
        best_of_reference: for each token of the reference, the place of its match in the reply.
        precision: the score as reported, after any rescaling.
        recall: likewise.
        f1: likewise.
    """

    predicted: list[str]
    reference: list[str]
    similarity: list[list[float]]
    predicted_weights: list[float]
    reference_weights: list[float]
    best_of_predicted: list[int]
    best_of_reference: list[int]
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Transport:
    """What MoverScore counts: the cheapest way to move the words of one text onto those of the other.

    Args:
        predicted: the p tokens (or n-grams) of the reply that are moved.
        reference: the r tokens of the reference reply that they are moved onto.
        predicted_weights: share of each token, >= 0, with the sum 1.
        reference_weights: likewise for the reference.
        distances: cost of moving all weight from a predicted (row) to a reference token (column), p lists of r values.
        plan: which share of all weight is moved from which token to which, p lists of r values >= 0, with the sum 1.
        cost: sum of plan times distances.
        score: MoverScore as reported.
    """

    predicted: list[str]
    reference: list[str]
    predicted_weights: list[float]
    reference_weights: list[float]
    distances: list[list[float]]
    plan: list[list[float]]
    cost: float
    score: float


@dataclass(frozen=True)
class Explanation:
    """What the scores of one reply are made of; `dataclasses.asdict` turns it into what JSON can hold.

    Args:
        words: what Message-F1 counts; None if it was not asked for.
        matching: what BERTScore counts; None if it was not asked for, or a text holds no token (the score is 0.0).
        transport: what MoverScore counts; None likewise.
    """

    words: SharedWords | None
    matching: Matching | None
    transport: Transport | None


def explain_pair(predicted: str, reference: str, **options: Any) -> Explanation:
    """Take the scores of one reply apart.

    Args:
        predicted: the agent's reply.
        reference: the reference reply.
        **options: options of `compute_scores`; `metrics` says what to take apart, by default all but `fact_f1`. `idf`
            cannot be used, as its weights come from all texts of a set.

    Returns:
        The parts, from the same functions that compute the scores.

    Raises:
        TypeError: a text that is none, an unknown option, a value of the wrong type.
        ValueError: options that cannot be used; an encoder that cannot be loaded.

    Example:
        >>> words = explain_pair("a small corpus", "the corpus is small", metrics=["message_f1"]).words
        >>> list(zip(words.reference, words.reference_is_shared))
        [('corpus', True), ('is', False), ('small', True)]
    """
    checked = Options.of(options)
    predicted, reference = _checked_text(predicted, "predicted"), _checked_text(reference, "reference")
    metrics = checked.metrics or ("message_f1", *EMBEDDING_METRICS)
    words = _shared_words(predicted, reference) if "message_f1" in metrics else None
    parts: dict[str, Any] = {}
    if embedding_metrics := [metric for metric in EMBEDDING_METRICS if metric in metrics]:
        # Imported here, because the module needs numpy, and the encoder torch.
        from argscichat_metric.embedding_scores import paired_units

        parts = paired_units(predicted, reference, embedding_metrics, checked)
    matching = _matching(parts["bertscore"]) if parts.get("bertscore") else None
    transport = _transport(parts["moverscore"]) if parts.get("moverscore") else None
    return Explanation(words, matching, transport)


def _checked_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a text (str), got {type(value).__name__}")
    return read_row(value, name, "predictions").message


def _shared_words(predicted: str, reference: str) -> SharedWords:
    of_predicted, of_reference = squad_words(predicted), squad_words(reference)
    shared = Counter(of_predicted) & Counter(of_reference)
    return SharedWords(
        of_predicted,
        of_reference,
        _first_occurrences(of_predicted, shared),
        _first_occurrences(of_reference, shared),
        word_f1(of_predicted, of_reference),
    )


def _first_occurrences(words: list[str], counts: Counter[str]) -> list[bool]:
    left = Counter(counts)
    marks = []
    for word in words:
        marks.append(left[word] > 0)
        left[word] -= 1
    return marks


def _matching(units: Any) -> Matching:
    return Matching(
        units.predicted_labels,
        units.reference_labels,
        units.matrix.tolist(),
        _shares(units.predicted_weights),
        _shares(units.reference_weights),
        units.matrix.argmax(axis=1).tolist(),
        units.matrix.argmax(axis=0).tolist(),
        *units.scores.values(),
    )


def _transport(units: Any) -> Transport:
    from argscichat_metric.moverscore import transport_plan

    plan = transport_plan(units.predicted_weights, units.reference_weights, units.matrix)
    return Transport(
        units.predicted_labels,
        units.reference_labels,
        _shares(units.predicted_weights),
        _shares(units.reference_weights),
        units.matrix.tolist(),
        plan.tolist(),
        float((plan * units.matrix).sum()),
        *units.scores.values(),
    )


def _shares(weights: Any) -> list[float]:
    return (weights / weights.sum()).tolist()
