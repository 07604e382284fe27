"""Scores while a model is trained: `compute_metrics` for the Trainers of transformers, and the file of predictions.

    compute_metrics = build_compute_metrics(tokenizer, dataset["validation"])
    Seq2SeqTrainer(..., compute_metrics=compute_metrics)

The scores are those that `argscichat score` gives for the file that `write_predictions` writes.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from argscichat.model_outputs import (
    Answers,
    Targets,
    best_ids,
    best_sentences,
    decoded,
    read_answers,
    read_targets,
)
from argscichat.output_files import check_can_write, write_json_lines
from argscichat_metric.compute import score_pairs
from argscichat_metric.fact_f1 import fact_scores
from argscichat_metric.message_f1 import squad_words
from argscichat_metric.options import MAX_FACTS, Options
from argscichat_metric.rows import Row, pair_rows, read_row
from argscichat_metric.shortened import shorten

TRAINING_CACHE_MB = 256
"""Limit of the cache of embeddings in a training, in megabytes. A reply of ArgSciChat (30 tokens) takes 47 kB of it
with the embedded encoder, 124 kB with one of 1,024 numbers a token: room for 5,700 or 2,100 references."""

_ROW_FIELDS = {"id": "id", "reply": "message", "fact_ids": "facts", "paper_id": "paper_id"}
"""Field of a row of the dataset -> its name in a reference row."""

_NOT_FLAT = ("per_example", "confidence")
"""Options whose results are no single numbers."""


def build_compute_metrics(tokenizer: Any, references: Any = None, **options: Any) -> Callable[[Any], dict[str, float]]:
    """Build what `Trainer` and `Seq2SeqTrainer` take as `compute_metrics`.

    Predictions are token ids as `predict_with_generate=True` gives them, or logits, of which the best ids are taken
    with a warning that this is teacher-forced. In a tuple, the next part of shape (n, sentences) is sentence logits and
    the one after that their mask (0 or below: padding). Of the sentences the best `max_facts` are the selected facts,
    of equals the earlier one. Besides the mask, sentences end where the `paper` of the reference row ends, and where
    sentence labels are negative; one of the three must be there.

    Labels are the token ids of the reference replies. In a tuple (`label_names`), whole numbers of shape (n, sentences)
    are sentence labels (1: gold), used where there are no `references`; and of shape (n,) they are the numbers of the
    rows in the dataset. Ids below 0 are taken for padding on both sides, and no array is changed.

    Rows that were repeated to fill the batches of several processes count once: by row number where there is one, by
    `id` where the references hold one twice, and else the rows beyond the references are dropped, if their labels are
    those of the first rows. From labels alone, without row numbers, a repeated row cannot be told from another one.

    Args:
        tokenizer: what the token ids are decoded with.
        references: rows of the split that is evaluated, in its order: a `datasets.Dataset` or a list of
            `corpus.Row`, with `id`, `reply` and, if facts are scored, `fact_ids`; also `paper` and `paper_id`. They are
            read once. None scores against the labels alone.
        **options: options of `compute_scores` but `per_example` and `confidence`; `cache_mb` is `TRAINING_CACHE_MB` by
            default, so that the embeddings of the references are computed in the first evaluation only.

    Returns:
        A function from an `EvalPrediction` to score -> float, the counts included; usable as `metric_for_best_model`,
        such as `"eval_message_f1"`. The signature is no number: `argscichat score` prints it.

    Raises:
        TypeError: an option that does not exist; a value of the wrong type in the references.
        ValueError: an option that is not allowed; references without an id or a reply. The function raises ValueError
            or TypeError for predictions that do not fit labels or references.
    """
    checked = Options.of({"cache_mb": TRAINING_CACHE_MB} | options)
    for name in _NOT_FLAT:
        if getattr(checked, name):
            raise ValueError(f"{name}: expected {getattr(Options, name)!r}, as a Trainer logs single numbers only")
    split = None if references is None else _read_references(references)

    def compute_metrics(evaluation: Any) -> dict[str, float]:
        predictions, gold = _aligned_rows(tokenizer, evaluation, split, checked.max_facts)
        if predictions and predictions[0].facts is not None and gold[0].facts is None:
            raise ValueError(
                "predictions: there are sentence logits, but no gold facts: give references with 'fact_ids', or "
                "sentence labels as a second part of label_ids, or drop the logits in preprocess_logits_for_metrics"
            )
        scores = score_pairs(pair_rows(predictions, gold), checked)
        return {key: float(value) for key, value in scores.items() if key != "signature"}

    return compute_metrics


def preprocess_logits_for_metrics(logits: Any, labels: Any) -> Any:
    """Keep token ids instead of logits, batch by batch, so that an evaluation does not hold n * tokens * vocabulary.

    To be passed to a Trainer under its own name, with or without `predict_with_generate`.

    Args:
        logits: what the model returned for a batch: generated ids, logits, or a tuple with one of them first.
        labels: the labels of the batch, a tuple of several, or None.

    Returns:
        Token ids, -100 where the label is ignored; in a tuple with the parts of two axes (sentence logits and mask) if
        there are any. Hidden states, attentions and caches are dropped.
    """
    first, *others = logits if isinstance(logits, tuple) else (logits,)
    if first.ndim == 3:
        first = best_ids(first, labels[0] if isinstance(labels, tuple) else labels)
    kept = [part for part in others if getattr(part, "ndim", None) == 2]
    return (first, *kept) if kept else first


def decode_predictions(
    tokenizer: Any, output: Any, references: Any, *, max_facts: int = MAX_FACTS
) -> list[dict[str, Any]]:
    """The answers of a model as rows of a file of predictions.

    Args:
        tokenizer: what the token ids are decoded with.
        output: what `trainer.predict` returned; see `build_compute_metrics` for what it may hold.
        references: rows of the split that was predicted, in its order, with `id` and `reply`.
        max_facts: how many sentences are selected where there are sentence logits, >= 1.

    Returns:
        One `{"id": ..., "message": ...}` a row of the split, each with `facts` (sentence indices, the best first) where
        there are sentence logits.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: predictions that do not fit labels or references.
    """
    checked = Options(max_facts=max_facts)
    rows, _ = _aligned_rows(tokenizer, output, _read_references(references), checked.max_facts)
    return [
        {"id": row.id, "message": row.message} | ({} if row.facts is None else {"facts": list(row.facts)})
        for row in rows
    ]


def write_predictions(
    path: str | os.PathLike[str], tokenizer: Any, output: Any, references: Any, *, max_facts: int = MAX_FACTS
) -> None:
    """Write the answers of a model as the file that `argscichat score` takes.

    Args:
        path: JSON Lines file to write; an existing one is replaced.
        tokenizer: see `decode_predictions`.
        output: likewise.
        references: likewise.
        max_facts: likewise.

    Raises:
        OSError: the file cannot be written.
        TypeError: as `decode_predictions`.
        ValueError: likewise.
    """
    check_can_write(Path(path))
    write_json_lines(Path(path), decode_predictions(tokenizer, output, references, max_facts=max_facts))


@dataclass(frozen=True)
class _References:
    """The evaluated split: its rows, the row numbers of distinct ids, and the lengths of the papers if known."""

    rows: list[Row]
    numbers: list[int]
    n_sentences: list[int] | None


def _read_references(references: Any) -> _References:
    if isinstance(references, str | bytes | Mapping) or not isinstance(references, Iterable):
        raise TypeError(
            f"references: expected the rows of one split, got {type(references).__name__} {shorten(references)}"
        )
    values = list(references)
    rows = [_reference_row(value, f"references[{i}]") for i, value in enumerate(values)]
    if not rows:
        raise ValueError("references: expected the rows of one split, got none")
    has_papers = all(value.get("paper") is not None for value in values)
    return _References(rows, _numbers_of_ids(rows), [len(value["paper"]) for value in values] if has_papers else None)


def _reference_row(value: Any, where: str) -> Row:
    if not isinstance(value, Mapping):
        raise TypeError(f"{where}: expected a dict with 'id' and 'reply', got {type(value).__name__} {shorten(value)}")
    for field in ("id", "reply"):
        if field not in value:
            raise ValueError(f"{where}: {field!r} is missing; found are the keys {shorten(list(value), 120)}")
    return read_row({name: value[field] for field, name in _ROW_FIELDS.items() if field in value}, where, "references")


def _numbers_of_ids(rows: Sequence[Row]) -> list[int]:
    first: dict[str | None, int] = {}
    for number, row in enumerate(rows):
        known = first.setdefault(row.id, number)
        if rows[known] != row:
            raise ValueError(
                f"references[{number}]: the id {shorten(row.id, 200)} is that of references[{known}], with another "
                "reply, other facts or another paper"
            )
    return list(first.values())


def _aligned_rows(
    tokenizer: Any, output: Any, references: _References | None, max_facts: int
) -> tuple[list[Row], list[Row]]:
    """Predictions and gold of the rows that count, in the order of the dataset."""
    if not hasattr(output, "predictions") or not hasattr(output, "label_ids"):
        raise TypeError(
            f"expected an EvalPrediction or the output of trainer.predict, got {type(output).__name__} "
            f"{shorten(output)}"
        )
    targets = read_targets(output.label_ids)
    answers = read_answers(output.predictions, targets)
    texts = decoded(tokenizer, answers.token_ids)
    labels = None if targets.token_ids is None else decoded(tokenizer, targets.token_ids)
    places = _places(len(texts), references, targets.row_numbers, labels)
    if references is None:
        gold = _gold_of_labels(places, labels, targets)
    else:
        gold = [references.rows[number] for number in places]
        if labels is not None:
            _warn_of_another_split([labels[place] for place in places.values()], gold)
    facts = _selected_facts(places, answers, targets, references, max_facts)
    predictions = [
        Row(message=texts[place], facts=selected, id=row.id)
        for place, selected, row in zip(places.values(), facts, gold, strict=True)
    ]
    return predictions, gold


def _places(
    n: int, references: _References | None, row_numbers: Sequence[int] | None, labels: Sequence[str] | None
) -> dict[int, int]:
    """Number of a row in the dataset -> where its prediction stands, each id once."""
    if row_numbers is not None:
        places = _places_by_number(row_numbers, references, labels)
    else:
        places = _places_in_order(n, n if references is None else len(references.rows), labels)
    return places if references is None else {number: places[number] for number in references.numbers}


def _places_by_number(
    row_numbers: Sequence[int], references: _References | None, labels: Sequence[str]
) -> dict[int, int]:
    places: dict[int, int] = {}
    for place, number in enumerate(row_numbers):
        first = places.setdefault(number, place)
        if labels[place] != labels[first]:
            # Else a column of classes, say, would be taken for row numbers, and nearly all rows dropped.
            raise ValueError(
                f"label_ids: rows {first} and {place} have the row number {number} and different labels; whole numbers "
                "of shape (n,) are the places of the rows in the dataset"
            )
    if references is not None and sorted(places) != list(range(len(references.rows))):
        raise ValueError(
            f"label_ids: expected each row number from 0 to {len(references.rows) - 1}, the rows of the references, "
            f"got {len(places)} different ones from {min(places, default=None)} to {max(places, default=None)}"
        )
    return dict(sorted(places.items()))


def _places_in_order(n: int, n_references: int, labels: Sequence[str] | None) -> dict[int, int]:
    # To give every process the same number of rows, samplers start again with the first rows after the last.
    is_repeat = [labels is not None and labels[i] == labels[i % n_references] for i in range(n_references, n)]
    if n < n_references or not all(is_repeat):
        raise ValueError(
            f"predictions: expected one row for each of the {n_references} references, got {n}"
            + (", and the last ones are no repeated first rows" if n > n_references else "")
            + "; build compute_metrics with the rows of the split that is evaluated"
        )
    return {number: number for number in range(n_references)}


def _gold_of_labels(places: Mapping[int, int], labels: Sequence[str] | None, targets: Targets) -> list[Row]:
    if labels is None:
        raise ValueError("label_ids: expected the token ids of the reference replies, as there are no references")
    marks = targets.sentence_labels
    return [
        Row(
            message=labels[place],
            facts=None if marks is None else tuple(np.flatnonzero(marks[place] == 1).tolist()),
        )
        for place in places.values()
    ]


def _warn_of_another_split(labels: Sequence[str], gold: Sequence[Row]) -> None:
    """Warn where the labels are not the replies of the references: then all scores are of unrelated texts."""
    words = [(squad_words(label), squad_words(row.message)) for label, row in zip(labels, gold, strict=True)]
    shared = [fact_scores(of_label, of_reply).precision for of_label, of_reply in words if of_label]
    if shared and fmean(shared) < 0.5:
        warnings.warn(
            f"on average {fmean(shared):.0%} of the words of a label are in the reply of its reference; are the "
            "references the rows of the split that is evaluated, in the same order?",
            stacklevel=4,
        )


def _selected_facts(
    places: Mapping[int, int],
    answers: Answers,
    targets: Targets,
    references: _References | None,
    max_facts: int,
) -> list[tuple[int, ...] | None]:
    if answers.sentence_logits is None:
        return [None] * len(places)
    selected: list[tuple[int, ...] | None] = []
    for number, place in places.items():
        logits = answers.sentence_logits[place]
        masks = []
        if answers.sentence_mask is not None:
            masks.append(answers.sentence_mask[place] > 0)
        if targets.sentence_labels is not None:
            masks.append(targets.sentence_labels[place] >= 0)
        if references is not None and references.n_sentences is not None:
            masks.append(np.arange(len(logits)) < references.n_sentences[number])
        selected.append(tuple(best_sentences(logits, _all_of(masks, logits, place), max_facts)))
    return selected


def _all_of(masks: Sequence[np.ndarray], logits: np.ndarray, place: int) -> np.ndarray:
    if not masks:
        raise ValueError(
            "predictions: the sentence logits need a mask, so that no padding is selected: a third part of the "
            "predictions, sentence labels that are negative at padding, or references with 'paper'"
        )
    for mask in masks:
        if mask.shape != logits.shape:
            raise ValueError(
                f"predictions: row {place} has {len(logits)} sentence logits, but a mask or sentence labels of "
                f"{len(mask)}"
            )
    return np.logical_and.reduce(masks)
