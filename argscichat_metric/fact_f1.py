"""Fact-F1: overlap of the facts that a reply cites with the facts that it should cite."""

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple


class FactScores(NamedTuple):
    """Precision, recall and F1 of the facts of one query, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def fact_scores(predicted: Collection[Hashable], gold: Collection[Hashable]) -> FactScores:
    """Precision, recall and F1 of two sets of facts, for one query.

    Args:
        predicted: facts the agent selected; order and repeats do not matter.
        gold: facts the annotators selected.

    Returns:
        Three values in [0, 1]; all 0.0 where either side is empty.

    Example:
        >>> fact_scores(["s1", "s2"], ["s2"])
        FactScores(precision=0.5, recall=1.0, f1=0.6666666666666666)

    References:
        Ruggeri, Mesgar and Gurevych, arXiv 2202.06690, section 5 (F1 of the selected sentences of one query).
    """
    selected, expected = set(predicted), set(gold)
    if not selected or not expected:
        return FactScores(0.0, 0.0, 0.0)
    shared = len(selected & expected)
    return FactScores(shared / len(selected), shared / len(expected), 2 * shared / (len(selected) + len(expected)))


def fact_f1(predicted: Collection[Hashable], gold: Collection[Hashable]) -> float:
    """F1 of two sets of facts, for one query.

    Args:
        predicted: facts the agent selected; order and repeats do not matter.
        gold: facts the annotators selected.

    Returns:
        A value in [0, 1]; 0.0 where either side is empty.

    Example:
        >>> fact_f1(["s1", "s2"], ["s2"])
        0.6666666666666666
    """
    return fact_scores(predicted, gold).f1


def scores_without_gold(predicted: Collection[Hashable], rule: str) -> FactScores | None:
    """The score of a query that has no gold facts.

    Args:
        predicted: facts the agent selected.
        rule: `"skip"` leaves the query out (the authors' code), `"zero"` scores 0.0 (the recipe in the card of the
            benchmark), `"squad"` scores 1.0 if nothing was predicted and 0.0 otherwise (SQuAD 2.0's rule for
            questions without an answer).

    Returns:
        The scores, or None where the query is left out of the mean.
    """
    if rule == "skip":
        return None
    value = 1.0 if rule == "squad" and not predicted else 0.0
    return FactScores(value, value, value)


def limit_facts(facts: Sequence[Hashable], max_facts: int) -> tuple[list[Hashable], int]:
    """Remove repeats and keep the first facts only.

    Args:
        facts: selected facts, best first.
        max_facts: how many distinct facts an answer may hold; 2 in ArgSciChat.

    Returns:
        The first `max_facts` distinct facts, and the number of distinct facts that were cut.

    Example:
        >>> limit_facts(["s1", "s1", "s2", "s3"], max_facts=2)
        (['s1', 's2'], 1)
    """
    distinct = list(dict.fromkeys(facts))
    return distinct[:max_facts], max(0, len(distinct) - max_facts)
