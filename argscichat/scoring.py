"""Predictions and references -> rows matched by id -> the result; what the command line and the app both call."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from argscichat.handed_in import References, as_sentence_ids, read_predictions, read_references
from argscichat_metric.compute import check_units, result_of, score_pairs, score_rows
from argscichat_metric.options import Options
from argscichat_metric.rows import Row, pair_rows
from argscichat_metric.shortened import shorten

MAIN_SCORES = {
    "fact_f1": "Fact-F1",
    "message_f1": "Message-F1",
    "bertscore_f1": "BERTScore F1",
    "moverscore": "MoverScore",
}
"""The score of each metric that papers report: result key -> name in tables and figures."""

_IDS_SHOWN = 5


@dataclass(frozen=True)
class MatchedRows:
    """Predictions and references of the same queries, in the order of the references.

    Args:
        predictions: one row a query; an empty one where the agent gave none.
        references: one row a query.
        missing: ids of the references that no prediction was given for.
        unknown: ids of the predictions that no reference was given for; they are left out.
        n_foreign_facts: predicted facts that are no sentence of their paper; None where the papers are not known.
    """

    predictions: list[Row]
    references: list[Row]
    missing: list[str]
    unknown: list[str]
    n_foreign_facts: int | None


@dataclass(frozen=True)
class ScoredFile:
    """The scores of one file of predictions.

    Args:
        result: what `compute_scores` returns.
        rows: the matched rows, in the order of `result["per_example"]`.
    """

    result: dict[str, Any]
    rows: MatchedRows

    def summary(self) -> dict[str, Any]:
        """The result as a dict for JSON, with the missing ids, and without the scores of each query."""
        result = {key: value for key, value in self.result.items() if key != "per_example"}
        return result | {"missing": self.rows.missing}

    def per_example(self) -> list[dict[str, Any]]:
        """One dict a query: its id and its scores, None where a rule leaves the query out of a mean.

        Raises:
            KeyError: the scores were computed without `per_example=True`.
        """
        columns = self.result["per_example"]
        return [
            {"id": row.id, **{key: column[i] for key, column in columns.items()}}
            for i, row in enumerate(self.rows.references)
        ]


def score_file(
    predictions: str | os.PathLike[str],
    references: str | os.PathLike[str],
    *,
    ignore_unknown: bool = False,
    **options: Any,
) -> ScoredFile:
    """Score a file of predictions.

    Args:
        predictions: JSON Lines file, see `handed_in.read_predictions`.
        references: official fold file or JSON Lines file, see `handed_in.read_references`.
        ignore_unknown: leave predictions out whose id is in no reference, instead of refusing them.
        **options: options of `compute_scores`.

    Returns:
        The result and the rows it was computed from.

    Raises:
        OSError: a file cannot be read.
        TypeError: a value of the wrong type, an unknown option.
        ValueError: malformed input, ids that do not match; the text names file and place.
    """
    checked = Options.of(options)
    rows = match_rows(read_predictions(predictions), read_references(references), ignore_unknown=ignore_unknown)
    return ScoredFile(score_pairs(pair_rows(rows.predictions, rows.references), checked), rows)


def score_in_windows(rows: MatchedRows, size: int, **options: Any) -> Iterator[tuple[int, ScoredFile | None]]:
    """Score matched rows a window at a time, for callers that show how far it is or stop before the end.

    Args:
        rows: the matched rows.
        size: rows in a window, >= 1; no score depends on it.
        **options: options of `compute_scores`, but for `idf`, whose weights come from all rows at once.

    Yields:
        How many rows are scored, and None; at last all of them, and what `score_file` returns.

    Raises:
        TypeError: a value of the wrong type, an unknown option.
        ValueError: `idf`, or rows that cannot be scored.
    """
    checked = Options.of(options)
    if checked.idf:
        raise ValueError("idf: its weights come from all rows, so they cannot be scored a window at a time")
    pairs = pair_rows(rows.predictions, rows.references)
    check_units(pairs, checked)
    parts = []
    for start in range(0, pairs.n, size):
        window = slice(start, start + size)
        parts.append(score_rows(pair_rows(rows.predictions[window], rows.references[window]), checked))
        yield min(start + size, pairs.n), None
    yield pairs.n, ScoredFile(result_of(parts, pairs.paper_ids, checked), rows)


def match_rows(predictions: Sequence[Row], references: References, *, ignore_unknown: bool = False) -> MatchedRows:
    """Match predictions with references by id; the order of either does not matter.

    Args:
        predictions: rows with unique ids.
        references: rows with unique ids.
        ignore_unknown: leave predictions out whose id is in no reference, instead of refusing them.

    Returns:
        One pair of rows a reference. A query that the agent gave no prediction for has an empty one, so that an agent
        does not gain by leaving out what is hard.

    Raises:
        ValueError: no id in common, or unknown ids.
    """
    by_id = {row.id: row for row in predictions}
    known = {row.id for row in references.rows}
    unknown = [row.id for row in predictions if row.id not in known]
    if len(unknown) == len(predictions):
        raise ValueError(
            f"no id of the predictions is in the references: predictions have {some_ids(list(by_id))}, "
            f"references have {some_ids([row.id for row in references.rows])}"
        )
    if unknown and not ignore_unknown:
        raise ValueError(
            f"{len(unknown)} of {len(predictions)} predictions have an id that is in no reference: "
            f"{some_ids(unknown)}; pass --ignore-unknown (ignore_unknown=True) to leave them out"
        )
    if any(row.facts and isinstance(row.facts[0], int) for row in predictions):
        references = as_sentence_ids(references)
    empty = _empty_prediction(predictions[0])
    matched = [by_id.get(row.id, replace(empty, id=row.id)) for row in references.rows]
    missing = [row.id for row in references.rows if row.id not in by_id]
    return MatchedRows(matched, references.rows, missing, unknown, _count_foreign_facts(matched, references))


def some_ids(ids: Sequence[str]) -> str:
    """The first five of some ids, for an error text, and how many there are beyond."""
    shown = ", ".join(shorten(query_id, 120) for query_id in ids[:_IDS_SHOWN])
    return shown + (f" and {len(ids) - _IDS_SHOWN} more" if len(ids) > _IDS_SHOWN else "")


def _empty_prediction(like: Row) -> Row:
    return Row(message=None if like.message is None else "", facts=None if like.facts is None else ())


def _count_foreign_facts(predictions: Sequence[Row], references: References) -> int | None:
    if references.sentences is None:
        return None
    return sum(
        not (0 <= fact < len(sentences) if isinstance(fact, int) else fact in sentences)
        for row, sentences in zip(predictions, references.sentences, strict=True)
        for fact in row.facts or ()
    )
