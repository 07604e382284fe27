"""The whole computation as one function: rows in, result out. Orchestrates, computes nothing itself."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .confidence import units_of
from .fact_f1 import FactScores, fact_scores, limit_facts, scores_without_gold
from .message_f1 import message_f1, message_f1_whitespace
from .options import METRICS, Options
from .report import Column, intervals, signature, summarize
from .rows import Fact, Pairs, pair_rows, read_rows
from .shortened import shorten

EMBEDDING_METRICS = ("bertscore", "moverscore")


def compute_scores(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    """Compute the scores of ArgSciChat: Fact-F1, Message-F1, BERTScore and MoverScore.

    The same as `evaluate.load("argscichat_metric").compute(...)` without the `evaluate` library; usable from several
    threads at once.

    Args:
        predictions: one row a query; see `rows.read_rows` for what a row may be.
        references: one row a query, aligned with the predictions.
        **options: see `options.Options`.

    Returns:
        `fact_f1`, `fact_precision`, `fact_recall`, `message_f1`, `message_f1_whitespace`, `moverscore` in [0, 1];
        `bertscore_precision`, `bertscore_recall`, `bertscore_f1` in [-1, 1]; the counts `n_queries`,
        `n_fact_queries`, `n_empty_predictions`, `n_empty_references`, `n_truncated_texts`, `n_excess_facts`;
        `signature`; `<score>_ci` (`[low, high]`, or None where too few rows count) with `confidence`; and `per_example`
        if asked for. Scores whose field the rows do not carry are left out.

    Raises:
        TypeError: an unknown option, or a value of the wrong type.
        ValueError: input or options that cannot be scored; the text names argument, row, expected and got.

    Example:
        >>> compute_scores(["a small corpus"], ["the corpus is small"], metrics=["message_f1"])["message_f1"]
        0.8
    """
    checked = Options.of(options)
    return score_pairs(pair_rows(read_rows(predictions, "predictions"), read_rows(references, "references")), checked)


@dataclass(frozen=True)
class RowScores:
    """The scores of rows, before any mean is taken.

    Args:
        columns: result key -> one value a row, None where a rule leaves the row out.
        counts: key of a count in the result -> count.
        metrics: the metrics that were computed.
        encoders: metric -> encoder, revision and layers, of the embedding scores.
    """

    columns: dict[str, Column]
    counts: dict[str, int]
    metrics: tuple[str, ...]
    encoders: dict[str, str]


def score_pairs(pairs: Pairs, options: Options) -> dict[str, Any]:
    """Compute the scores of checked rows.

    Args:
        pairs: checked rows of both sides.
        options: checked options.

    Returns:
        See `compute_scores`.

    Raises:
        ValueError: a metric that the rows have no field for, too many facts, an encoder that cannot be used, papers
            named in some rows only where intervals are asked for.
    """
    check_units(pairs, options)
    return result_of([score_rows(pairs, options)], pairs.paper_ids, options)


def check_units(pairs: Pairs, options: Options) -> None:
    """Refuse rows that intervals cannot be computed of, before the long work.

    Args:
        pairs: all rows that a result is about.
        options: checked options.

    Raises:
        ValueError: papers named in some rows only, where intervals are asked for.
    """
    if options.confidence is not None:
        units_of(pairs.paper_ids, pairs.n)


def score_rows(pairs: Pairs, options: Options) -> RowScores:
    """Compute the scores of every row.

    Args:
        pairs: checked rows of both sides.
        options: checked options.

    Returns:
        The scores by row; with `idf`, they depend on the other rows.

    Raises:
        ValueError: a metric that the rows have no field for, too many facts, an encoder that cannot be used.
    """
    metrics = _metrics_of(pairs, options)
    columns: dict[str, Column] = {}
    encoders: dict[str, str] = {}
    n_excess = n_truncated = 0
    if "fact_f1" in metrics:
        fact_columns, n_excess = _fact_columns(pairs, options)
        columns |= fact_columns
    if "message_f1" in metrics:
        columns |= _message_columns(pairs)
    if embedding_metrics := [metric for metric in EMBEDDING_METRICS if metric in metrics]:
        # Imported here, because these modules need numpy, and the encoder torch.
        from .embedding_scores import embedding_scores

        embedded = embedding_scores(pairs.predicted_messages, pairs.reference_messages, embedding_metrics, options)
        columns |= embedded.columns
        n_truncated, encoders = embedded.n_truncated_texts, embedded.encoders
    counts = {
        "n_queries": pairs.n,
        "n_fact_queries": sum(value is not None for value in columns.get("fact_f1", ())),
        "n_empty_predictions": _count_empty(pairs.predicted_messages),
        "n_empty_references": _count_empty(pairs.reference_messages),
        "n_truncated_texts": n_truncated,
        "n_excess_facts": n_excess,
    }
    return RowScores(columns, counts, metrics, encoders)


def result_of(parts: Sequence[RowScores], paper_ids: Sequence[str | None] | None, options: Options) -> dict[str, Any]:
    """Take the means over rows.

    Args:
        parts: scores of the rows, in one part or several, all with the same options and fields.
        paper_ids: the paper of each row, None where a row names none; or None where no row does.
        options: checked options.

    Returns:
        See `compute_scores`.

    Raises:
        ValueError: papers named in some rows only where intervals are asked for.
    """
    first = parts[0]
    columns = {key: [value for part in parts for value in part.columns[key]] for key in first.columns}
    counts = {key: sum(part.counts[key] for part in parts) for key in first.counts}
    if "fact_f1" in columns and not counts["n_fact_queries"]:
        warnings.warn(
            "no query has gold facts, so Fact-F1 is a mean over nothing: it is given as 0.0 with n_fact_queries = 0",
            stacklevel=2,
        )
    units = None if options.confidence is None else units_of(paper_ids, counts["n_queries"])
    text = signature(options, first.metrics, first.encoders, units and units.kind)
    result: dict[str, Any] = summarize(columns) | counts | {"signature": text}
    if units:
        result |= intervals(columns, units, options)
    if options.per_example:
        result["per_example"] = columns
    return result


def _metrics_of(pairs: Pairs, options: Options) -> tuple[str, ...]:
    """The metrics to compute: those asked for, or all that the rows have fields for."""
    has_field = {metric: pairs.predicted_messages is not None for metric in METRICS}
    has_field["fact_f1"] = pairs.predicted_facts is not None
    if options.metrics is None:
        return tuple(metric for metric in METRICS if has_field[metric])
    for metric in options.metrics:
        if not has_field[metric]:
            field = "facts" if metric == "fact_f1" else "message"
            raise ValueError(f"metrics: {metric!r} needs {field!r} in predictions and references, and a side has none")
    return options.metrics


def _fact_columns(pairs: Pairs, options: Options) -> tuple[dict[str, Column], int]:
    selected, n_excess = _limited(pairs.predicted_facts, options)
    rows = [_score_facts(*row, options.no_gold_facts) for row in zip(selected, pairs.gold_facts, strict=True)]
    keys = {"fact_f1": "f1", "fact_precision": "precision", "fact_recall": "recall"}
    return {key: [getattr(row, name, None) for row in rows] for key, name in keys.items()}, n_excess


def _score_facts(selected: Sequence[Fact], gold: Sequence[Fact], no_gold_facts: str) -> FactScores | None:
    return fact_scores(selected, gold) if gold else scores_without_gold(selected, no_gold_facts)


def _limited(predicted: Sequence[Sequence[Fact]], options: Options) -> tuple[list[list[Fact]], int]:
    limited, n_excess = [], 0
    for i, facts in enumerate(predicted):
        kept, n_cut = limit_facts(facts, options.max_facts)
        if n_cut and options.excess_facts == "error":
            raise ValueError(
                f"predictions[{i}]['facts']: expected at most {options.max_facts} distinct facts, got "
                f"{len(kept) + n_cut}: {shorten(list(facts), 200)}; select the best {options.max_facts}, or pass "
                "excess_facts='truncate' to score the first ones only"
            )
        limited.append(kept)
        n_excess += n_cut
    return limited, n_excess


def _message_columns(pairs: Pairs) -> dict[str, Column]:
    texts = list(zip(pairs.predicted_messages, pairs.reference_messages, strict=True))
    return {
        "message_f1": [message_f1(predicted, reference) for predicted, reference in texts],
        "message_f1_whitespace": [message_f1_whitespace(predicted, reference) for predicted, reference in texts],
    }


def _count_empty(texts: Sequence[str] | None) -> int:
    return sum(not text.strip() for text in texts or ())
