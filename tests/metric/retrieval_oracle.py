"""The retrieval scores once more, in plain Python after their definitions and without trec_eval.

nDCG after Jarvelin and Kekalainen (2002) with the discount log2(1 + rank) and the grade itself as gain; the others
after trec_eval (Voorhees and Harman, TREC, 2005). Sums run from the first rank on, as trec_eval's do, so that the
values can be compared bit for bit.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any


def order(ids: Sequence[Any], scores: Sequence[float] | None) -> list[Any]:
    """Ids by falling score, those of equal score as given; by repeated search, unlike the code under test."""
    if scores is None:
        return list(ids)
    left = list(range(len(ids)))
    ordered = []
    while left:
        best = left[0]
        for i in left[1:]:
            if scores[i] > scores[best]:
                best = i
        left.remove(best)
        ordered.append(ids[best])
    return ordered


def scores_of_query(
    ranked: Sequence[Any], grades: Mapping[Any, int], cutoffs: Sequence[int]
) -> dict[str, float] | None:
    """All scores of one query, None where it has no relevant document."""
    gains = [max(0, grades.get(document, 0)) for document in ranked]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    if not ideal:
        return None
    hits = [gain > 0 for gain in gains]
    ranks = [rank for rank, hit in enumerate(hits, start=1) if hit]
    scores = {
        "map": sum(n / rank for n, rank in enumerate(ranks, start=1)) / len(ideal),
        "mrr": 1 / ranks[0] if ranks else 0.0,
        "r_precision": sum(hits[: len(ideal)]) / len(ideal),
        "fact_f1@2": 2 * sum(hits[:2]) / (len(hits[:2]) + len(ideal)),
    }
    for k in cutoffs:
        scores[f"ndcg@{k}"] = _discounted(gains[:k]) / _discounted(ideal[:k])
        scores[f"mrr@{k}"] = 1 / ranks[0] if ranks and ranks[0] <= k else 0.0
        scores[f"recall@{k}"] = sum(hits[:k]) / len(ideal)
        scores[f"precision@{k}"] = sum(hits[:k]) / k
    return scores


def _discounted(gains: Sequence[int]) -> float:
    total = 0.0
    for rank, gain in enumerate(gains, start=1):
        if gain:
            total += gain / math.log2(1 + rank)
    return total
