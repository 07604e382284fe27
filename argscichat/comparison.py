"""What a comparison of systems found, as plain data."""

from dataclasses import asdict, dataclass
from typing import Any

Interval = tuple[float, float]
Column = list[float | None]


@dataclass(frozen=True)
class SystemScores:
    """The scores of one system.

    Args:
        name: name of the system.
        means: key of `MAIN_SCORES` -> mean over the queries that count.
        intervals: key -> bootstrap interval of the mean, None where fewer than two units have queries that count.
        per_query: key -> score of every query in the order of the references, None where a rule leaves it out.
        missing: ids of the queries that the system gave no prediction for, scored as empty ones.
        unknown: ids of its predictions that are in no reference, left out.
    """

    name: str
    means: dict[str, float]
    intervals: dict[str, Interval | None]
    per_query: dict[str, Column]
    missing: list[str]
    unknown: list[str]


@dataclass(frozen=True)
class ScoreDifference:
    """One score of a system beside that of its baseline.

    Args:
        score: key of `MAIN_SCORES`.
        baseline: mean of the baseline, over the queries that count for both.
        system: mean of the system, over the same queries.
        difference: system minus baseline.
        interval: bootstrap interval of the difference, None where fewer than two units have queries that count.
        p_value: of the paired permutation test, see `permutation.paired_p_value`.
        p_holm: corrected for all scores of all pairs of systems in the comparison.
        wins: queries where the system scores higher.
        ties: queries where they score the same, up to rounding.
        losses: queries where the baseline scores higher.
    """

    score: str
    baseline: float
    system: float
    difference: float
    interval: Interval | None
    p_value: float
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class ShownReply:
    """One answer to a query; `scores` is empty for the reference."""

    message: str | None
    facts: list[str | int] | None
    scores: dict[str, float | None]


@dataclass(frozen=True)
class ShownQuery:
    """A query that two systems answer differently.

    Args:
        id: id of the query.
        query: its text, None where the references do not hold it.
        reference: the reference reply and the gold facts.
        baseline: the answer of the baseline.
        system: the answer of the system.
    """

    id: str
    query: str | None
    reference: ShownReply
    baseline: ShownReply
    system: ShownReply


@dataclass(frozen=True)
class PairOfSystems:
    """A system beside its baseline.

    Args:
        baseline: name of the system that is compared with.
        system: name of the system that is compared.
        scores: one row a score, in the order of `MAIN_SCORES`.
        shown: the queries with the largest mean of the absolute differences of these scores, largest first.
    """

    baseline: str
    system: str
    scores: list[ScoreDifference]
    shown: list[ShownQuery]


@dataclass(frozen=True)
class Comparison:
    """What `compare.compare_systems` returns.

    Args:
        systems: the systems, in the order given.
        pairs: the pairs that were compared.
        ids: id of every query, in the order of the references.
        paper_ids: the paper of every query, or None where the references do not name papers.
        unit: what the intervals resample and the test flips: `"paper"` or `"query"`.
        n_units: how many of them there are.
        confidence: level of the intervals.
        n_resamples: resamples of the intervals, and most sign patterns of the test.
        seed: seed of both.
        signature: what changes the scores, see `report.signature`.
    """

    systems: list[SystemScores]
    pairs: list[PairOfSystems]
    ids: list[str]
    paper_ids: list[str] | None
    unit: str
    n_units: int
    confidence: float
    n_resamples: int
    seed: int
    signature: str

    @property
    def score_keys(self) -> list[str]:
        """Keys of the scores that were compared, in the order of `MAIN_SCORES`."""
        return list(self.systems[0].means)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain lists and dicts of what JSON can hold, each field under its name."""
        return asdict(self)
