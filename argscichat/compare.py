"""Paired comparison of two or more systems on the same queries."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from argscichat.comparison import (
    Column,
    Comparison,
    Interval,
    PairOfSystems,
    ScoreDifference,
    ShownQuery,
    ShownReply,
    SystemScores,
)
from argscichat.handed_in import References, read_predictions, read_references, read_rows_with_ids
from argscichat.permutation import TIE_TOLERANCE, holm, paired_p_value
from argscichat.scoring import MAIN_SCORES, MatchedRows, match_rows
from argscichat_metric.compute import score_pairs
from argscichat_metric.confidence import Units, bootstrap_intervals, unit_totals, units_of
from argscichat_metric.options import Options, check_type, check_whole_number
from argscichat_metric.rows import Row, pair_rows
from argscichat_metric.shortened import shorten


@dataclass(frozen=True)
class _Settings:
    """How differences are judged, checked; see `compare_systems`."""

    confidence: float
    n_resamples: int
    seed: int
    show: int

    def __post_init__(self) -> None:
        check_type("confidence", self.confidence, float, "a number above 0 and below 1")
        Options(confidence=self.confidence, n_resamples=self.n_resamples, seed=self.seed)  # checks the three
        check_whole_number("show", self.show, 0)


@dataclass(frozen=True)
class _Scored:
    """One system on the references: its main scores of every query, and its rows."""

    name: str
    columns: dict[str, Column]
    rows: MatchedRows
    signature: str


def compare_systems(
    systems: Mapping[str, Any],
    references: Any,
    *,
    all_pairs: bool = False,
    show: int = 5,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    ignore_unknown: bool = False,
    **options: Any,
) -> Comparison:
    """Compare systems on the same queries.

    A query that a rule leaves out of a mean (one without gold facts, say) is left out for both systems of a pair.
    Intervals resample papers, and the permutation test flips them, where the references name the paper of every query;
    else both take queries.

    Args:
        systems: name -> predictions, two systems or more: a file as `handed_in.read_predictions` takes it, or a list of
            dicts with `id`, `message`, `facts`. The first one is the baseline.
        references: a file as `handed_in.read_references` takes it, or a list of dicts with `id`, `message`, `facts` and
            optionally `paper_id`.
        all_pairs: compare every system with every one before it, instead of with the first only.
        show: how many of the queries to show where a pair differs most, >= 0.
        confidence: level of the intervals, in (0, 1).
        n_resamples: resamples of the intervals, >= 100; a permutation test with no more sign patterns is exact.
        seed: seed of the resampling, >= 0.
        ignore_unknown: leave predictions out whose id is in no reference, instead of refusing them.
        **options: options of `compute_scores`.

    Returns:
        The comparison. The p-values of all scores and all pairs are corrected together, as one table shows them.

    Raises:
        OSError: a file cannot be read.
        TypeError: a value of the wrong type, an unknown option.
        ValueError: malformed input, ids that do not match, systems that carry different fields; the text names system
            or file, and place.

    References:
        Dror et al., The Hitchhiker's Guide to Testing Statistical Significance in NLP, ACL 2018.
    """
    settings = _Settings(confidence, n_resamples, seed, show)
    checked = Options.of(options | {"per_example": True})
    _check_systems(systems)
    known = read_references(references) if _is_path(references) else _references_at_hand(references)
    scored = [_score(name, predictions, known, checked, ignore_unknown) for name, predictions in systems.items()]
    _check_same_scores(scored)
    paper_ids = [row.paper_id for row in known.rows]
    units = units_of(paper_ids, len(paper_ids))
    pairs = [pair for pair in combinations(scored, 2) if all_pairs or pair[0] is scored[0]]
    return Comparison(
        systems=[_system_scores(system, units, settings) for system in scored],
        pairs=_compared(pairs, known, units, settings),
        ids=[row.id for row in known.rows],
        paper_ids=paper_ids if units.kind == "paper" else None,
        unit=units.kind,
        n_units=len(units.names),
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
        signature=scored[0].signature,
    )


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _references_at_hand(values: Any) -> References:
    return References(read_rows_with_ids(values, "references"))


def _check_systems(systems: Any) -> None:
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems: expected a dict of name -> predictions, got {type(systems).__name__}")
    if len(systems) < 2:
        raise ValueError(f"systems: expected at least two, got {len(systems)}")
    for name in systems:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"systems: expected names that are texts and not empty, got {shorten(name)}")


def _score(name: str, predictions: Any, references: References, options: Options, ignore_unknown: bool) -> _Scored:
    rows = read_predictions(predictions) if _is_path(predictions) else None
    try:
        rows = read_rows_with_ids(predictions, "predictions") if rows is None else rows
        matched = match_rows(rows, references, ignore_unknown=ignore_unknown)
        result = score_pairs(pair_rows(matched.predictions, matched.references), options)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"system {shorten(name, 120)}: {error}") from None
    columns = {key: column for key, column in result["per_example"].items() if key in MAIN_SCORES}
    return _Scored(name, {key: columns[key] for key in MAIN_SCORES if key in columns}, matched, result["signature"])


def _check_same_scores(scored: Sequence[_Scored]) -> None:
    first = scored[0]
    for other in scored[1:]:
        if other.columns.keys() != first.columns.keys():
            raise ValueError(
                f"system {shorten(first.name, 120)} has {', '.join(first.columns)}, and system "
                f"{shorten(other.name, 120)} {', '.join(other.columns)}; choose metrics that the fields of all systems "
                "allow"
            )


def _system_scores(scored: _Scored, units: Units, settings: _Settings) -> SystemScores:
    estimates = {key: _estimate(column, units, settings) for key, column in scored.columns.items()}
    return SystemScores(
        name=scored.name,
        means={key: mean for key, (mean, _) in estimates.items()},
        intervals={key: interval for key, (_, interval) in estimates.items()},
        per_query=scored.columns,
        missing=scored.rows.missing,
        unknown=scored.rows.unknown,
    )


def _estimate(column: Sequence[float | None], units: Units, settings: _Settings) -> tuple[float, Interval | None]:
    """The mean of a column, 0.0 where no query counts, and its interval."""
    sums, counts = unit_totals(column, units.unit_of_row, len(units.names))
    (low, high), *_ = bootstrap_intervals(
        sums[:, None], counts[:, None], settings.confidence, settings.n_resamples, settings.seed
    )
    interval = None if math.isnan(low) else (float(low), float(high))
    return (float(sums.sum() / counts.sum()) if counts.any() else 0.0), interval


def _compared(
    pairs: Sequence[tuple[_Scored, _Scored]], references: References, units: Units, settings: _Settings
) -> list[PairOfSystems]:
    found = [[_compare_score(key, *pair, units, settings) for key in pair[0].columns] for pair in pairs]
    corrected = iter(holm([score["p_value"] for scores in found for score in scores]))
    return [
        PairOfSystems(
            baseline.name,
            system.name,
            [ScoreDifference(**score, p_holm=next(corrected)) for score in scores],
            _shown(baseline, system, references, settings.show),
        )
        for (baseline, system), scores in zip(pairs, found, strict=True)
    ]


def _compare_score(key: str, baseline: _Scored, system: _Scored, units: Units, settings: _Settings) -> dict[str, Any]:
    """The fields of a `ScoreDifference` but for the correction, which needs all of them."""
    differences = _differences(baseline.columns[key], system.columns[key])
    counted = [i for i, difference in enumerate(differences) if difference is not None]
    difference, interval = _estimate(differences, units, settings)
    sums, _ = unit_totals(differences, units.unit_of_row, len(units.names))
    signs = [0 if abs(differences[i]) <= TIE_TOLERANCE else math.copysign(1, differences[i]) for i in counted]
    means = (float(np.mean([side.columns[key][i] for i in counted])) if counted else 0.0 for side in (baseline, system))
    return {
        "score": key,
        **dict(zip(("baseline", "system"), means, strict=True)),
        "difference": difference,
        "interval": interval,
        "p_value": paired_p_value(sums.tolist(), n_resamples=settings.n_resamples, seed=settings.seed),
        "wins": signs.count(1),
        "ties": signs.count(0),
        "losses": signs.count(-1),
    }


def _differences(baseline: Sequence[float | None], system: Sequence[float | None]) -> Column:
    return [
        None if before is None or after is None else after - before
        for before, after in zip(baseline, system, strict=True)
    ]


def _shown(baseline: _Scored, system: _Scored, references: References, show: int) -> list[ShownQuery]:
    per_score = [_differences(baseline.columns[key], system.columns[key]) for key in baseline.columns]
    sizes = []
    for of_query in zip(*per_score, strict=True):
        counted = [abs(difference) for difference in of_query if difference is not None]
        sizes.append(sum(counted) / len(counted) if counted else 0.0)
    largest = sorted((i for i, size in enumerate(sizes) if size > TIE_TOLERANCE), key=lambda i: -sizes[i])[:show]
    return [
        ShownQuery(
            references.rows[i].id,
            references.queries[i] if references.queries else None,
            _reply(references.rows[i], i, references, {}),
            *(
                _reply(side.rows.predictions[i], i, references, {key: c[i] for key, c in side.columns.items()})
                for side in (baseline, system)
            ),
        )
        for i in largest
    ]


def _reply(row: Row, i: int, references: References, scores: dict[str, float | None]) -> ShownReply:
    facts = None if row.facts is None else [_as_sentence(fact, i, references) for fact in row.facts]
    return ShownReply(row.message, facts, scores)


def _as_sentence(fact: str | int, i: int, references: References) -> str | int:
    """The sentence of an index, where the references hold the paper and the paper has such a sentence."""
    sentences = references.sentences[i] if references.sentences else ()
    return sentences[fact] if isinstance(fact, int) and fact < len(sentences) else fact
