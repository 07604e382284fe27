"""What a Trainer gathers in an evaluation -> rows: token ids, sentence logits and their mask, labels.

A Trainer of transformers hands over one array, a tuple of arrays (one for each output of the model or each name in
`label_names`), or, with `eval_do_concat_batches=False`, a list with such an array or tuple for each batch. Rows of
unequal length come as a list of arrays. Everything is read without a change to the arrays.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from argscichat_metric.shortened import shorten

IGNORED = -100
"""What torch's cross-entropy ignores as a label, and what a Trainer pads with, also sentence logits."""


@dataclass(frozen=True)
class Targets:
    """The labels of an evaluation, n rows.

    Args:
        token_ids: one array of token ids a row, padding below 0 or the tokenizer's; None where there are no labels.
        sentence_labels: for each row one number a sentence, 1 for gold, 0 for not, below 0 for padding; or None.
        row_numbers: the place of each row in the dataset; or None.
    """

    token_ids: list[np.ndarray] | None = None
    sentence_labels: list[np.ndarray] | None = None
    row_numbers: list[int] | None = None


@dataclass(frozen=True)
class Answers:
    """The outputs of a model in an evaluation, n rows.

    Args:
        token_ids: one array of token ids a row, padding below 0 or the tokenizer's.
        sentence_logits: for each row one number a sentence, the higher the better; or None.
        sentence_mask: for each row one number a sentence, above 0 for a sentence and else padding; or None.
    """

    token_ids: list[np.ndarray]
    sentence_logits: list[np.ndarray] | None = None
    sentence_mask: list[np.ndarray] | None = None


def read_targets(label_ids: Any) -> Targets:
    """Read the labels of an evaluation.

    Args:
        label_ids: token ids of the reference replies, (n, tokens); or a tuple with them first. In a tuple, whole
            numbers of shape (n, sentences) are sentence labels, and of shape (n,) row numbers. None: no labels.

    Returns:
        The labels by kind.

    Raises:
        TypeError: something else than whole numbers.
        ValueError: parts of different lengths, or two of the same kind.
    """
    if label_ids is None:
        return Targets()
    first, *others = _columns(label_ids, "label_ids")
    rows = _token_rows(first, "label_ids")
    if any(row.ndim > 1 for row in rows):
        raise TypeError(
            f"label_ids: expected token ids (whole numbers), got {rows[0].dtype} of shape {rows[0].shape} a row"
        )
    sentence_labels = _only(_with_axes(others, 1), "label_ids", "arrays of sentence labels")
    row_numbers = _only(_with_axes(others, 0), "label_ids", "arrays of row numbers")
    _check_lengths(rows, {"sentence labels": sentence_labels, "row numbers": row_numbers}, "label_ids")
    return Targets(rows, sentence_labels, None if row_numbers is None else [int(number) for number in row_numbers])


def read_answers(predictions: Any, targets: Targets) -> Answers:
    """Read the outputs of a model.

    Args:
        predictions: token ids (n, tokens) or logits (n, tokens, vocabulary), of which the best ids are taken with a
            warning, once in a process; or a tuple with them first. In a tuple, the next part of shape (n, sentences)
            is the sentence logits and the one after that their mask; parts of other shapes, such as hidden states,
            are left out.
        targets: the labels, n rows; where logits stand at ignored labels, nothing was predicted.

    Returns:
        The outputs by kind.

    Raises:
        TypeError: something that is neither token ids nor logits.
        ValueError: parts of different lengths, or more than two of the shape (n, sentences).
    """
    first, *others = _columns(predictions, "predictions")
    rows = _token_rows(first, "predictions")
    _check_lengths(rows, {"label_ids": targets.token_ids}, "predictions")
    labels = targets.token_ids or [None] * len(rows)
    token_ids = [best_ids(row, label) if row.ndim == 2 else row for row, label in zip(rows, labels, strict=True)]
    of_sentences = _with_axes(others, 1)
    if len(of_sentences) > 2:
        raise ValueError(
            "predictions: expected at most two parts of shape (n, sentences), the logits and their mask, got "
            f"{len(of_sentences)}"
        )
    logits, mask = (*of_sentences, None, None)[:2]
    _check_lengths(rows, {"sentence logits": logits, "sentence mask": mask}, "predictions")
    return Answers(token_ids, logits, mask)


def best_ids(logits: Any, labels: Any) -> Any:
    """The most probable token at each place, with a warning, once in a process, that this is teacher-forced.

    Args:
        logits: array or tensor, (..., tokens, vocabulary), of an encoder-decoder: those at a place predict its label.
        labels: token ids of the same kind, (..., tokens), or None.

    Returns:
        Token ids, (..., tokens); `IGNORED` where a label is below 0, as what stands there was never meant to be read.
    """
    _warn_of_teacher_forcing()
    ids = logits.argmax(-1)
    if labels is None or labels.shape != ids.shape:
        return ids
    counts = labels >= 0
    return ids * counts + IGNORED * ~counts


def best_sentences(logits: np.ndarray, is_sentence: np.ndarray, n: int) -> list[int]:
    """The sentences with the highest logits.

    Args:
        logits: one number a sentence, shape (s,); what is -inf, NaN or `IGNORED` is never selected.
        is_sentence: False at padding, shape (s,).
        n: how many to select, >= 1.

    Returns:
        At most `n` indices, the best first; of two with the same logit the earlier one.

    Example:
        >>> best_sentences(np.array([0.5, 2.0, 0.5, 9.0]), np.array([True, True, True, False]), 2)
        [1, 0]
    """
    # A Trainer that joins batches pads a mask of bools with -100 too, which is then True; but also the logits.
    candidates = np.flatnonzero(is_sentence & (logits > -np.inf) & (logits != IGNORED))
    return candidates[np.argsort(-logits[candidates], kind="stable")[:n]].tolist()


def decoded(tokenizer: Any, rows: Sequence[np.ndarray]) -> list[str]:
    """Token ids as texts, ids below 0 as padding.

    Args:
        tokenizer: a tokenizer of transformers.
        rows: one array of token ids a text; not changed.

    Returns:
        One text a row, without special tokens and outer white space.

    Raises:
        ValueError: the tokenizer has neither a padding nor an end token.
    """
    padding = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    if padding is None:
        raise ValueError("tokenizer: expected a pad_token or an eos_token, to put in place of ids below 0, got neither")
    texts = tokenizer.batch_decode([np.where(row < 0, padding, row).tolist() for row in rows], skip_special_tokens=True)
    return [text.strip() for text in texts]


@lru_cache(maxsize=1)
def _warn_of_teacher_forcing() -> None:
    warnings.warn(
        "the predictions are logits, so the text is what the model says with the reference reply before its eyes "
        "(teacher-forced), and scores higher than what it generates; pass predict_with_generate=True to a "
        "Seq2SeqTrainer to score generated replies",
        stacklevel=3,
    )


def _columns(values: Any, argument: str) -> list[list[Any]]:
    """The parts of what was gathered, the items (rows or batches) of each in a list."""
    if isinstance(values, tuple):
        columns = [list(part) for part in values if not (part is None or isinstance(part, tuple))]
    elif isinstance(values, list) and values and all(map(_is_batch_of_parts, values)):
        columns = [[row for part in parts for row in part] for parts in zip(*values, strict=True)]
    elif np.iterable(values) and not isinstance(values, str | dict):
        columns = [list(values)]
    else:
        columns = []
    if not columns:
        raise TypeError(f"{argument}: expected arrays of n rows, got {type(values).__name__} {shorten(values)}")
    return columns


def _is_batch_of_parts(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and np.ndim(value[0]) > 0


def _token_rows(items: Sequence[Any], argument: str) -> list[np.ndarray]:
    """One array a row: token ids with one axis, or logits with two."""
    rows: list[np.ndarray] = []
    for number, item in enumerate(items):
        array = np.asarray(item)
        is_ids = np.issubdtype(array.dtype, np.integer)
        if array.ndim == 1 and (is_ids or not array.size):
            rows.append(array.astype(np.int64))
        elif array.ndim == 2 and not is_ids:
            rows.append(array)
        elif array.ndim == (2 if is_ids else 3):
            rows.extend(array)
        else:
            raise TypeError(
                f"{argument}[{number}]: expected token ids (whole numbers) or logits (tokens, vocabulary), got "
                f"{array.dtype} of shape {array.shape}"
            )
    return rows


def _with_axes(columns: Sequence[list[Any]], n_axes: int) -> list[list[np.ndarray]]:
    """The parts whose rows have so many axes."""
    return [[np.asarray(row) for row in column] for column in columns if column and np.ndim(column[0]) == n_axes]


def _only(found: Sequence[list[np.ndarray]], argument: str, what: str) -> list[np.ndarray] | None:
    if len(found) > 1:
        raise ValueError(f"{argument}: expected at most one of the {what}, got {len(found)}")
    return found[0] if found else None


def _check_lengths(rows: Sequence[Any], others: dict[str, Sequence[Any] | None], argument: str) -> None:
    for name, other in others.items():
        if other is not None and len(other) != len(rows):
            raise ValueError(f"{argument}: expected as many {name} as rows of tokens, {len(rows)}, got {len(other)}")
