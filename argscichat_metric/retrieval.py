"""Retrieval scores of ranked documents: nDCG, MAP, MRR, recall, precision, R-precision, Fact-F1 of the top two.

The counting is trec_eval's, through pytrec-eval-terrier: nDCG gains are the grades themselves (linear), a document of
grade 1 or more is relevant, and one that nobody judged is not. trec_eval breaks ties by the id of the document, so that
renaming documents would change scores; here a ranking has one order before it gets there, see
`retrieval_rows.read_ranking`.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from .fact_f1 import fact_f1
from .options import MAX_FACTS
from .report import Column, signature_of, summarize, version_of
from .retrieval_options import RetrievalOptions
from .retrieval_rows import Judgments, Ranking, read_judgments, read_rankings
from .rows import check_aligned
from .version import __version__


def compute_retrieval(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    """Compute retrieval scores.

    The same as `evaluate.load("argscichat_metric", "retrieval").compute(...)` without the `evaluate` library; usable
    from several threads at once.

    Args:
        predictions: one ranking a query; see `retrieval_rows.read_ranking` for what a row may be.
        references: the judgments of each query, aligned with the predictions; see `retrieval_rows.read_judgment`.
        **options: see `retrieval_options.RetrievalOptions`.

    Returns:
        See `score_rankings`.

    Raises:
        TypeError: an unknown option, or a value of the wrong type.
        ValueError: input or options that cannot be scored; the text names argument, row, expected and got.

    Example:
        >>> result = compute_retrieval([["d1", "d2", "d3"]], [{"ids": ["d2", "d4"], "grades": [2, 1]}], k=[2])
        >>> result["mrr"], result["recall@2"], result["precision@2"], round(result["ndcg@2"], 4)
        (0.5, 0.5, 0.5, 0.4796)
    """
    checked = RetrievalOptions.of(options)
    return score_rankings(read_rankings(predictions), read_judgments(references), checked)


def score_rankings(
    rankings: Sequence[Ranking], judgments: Sequence[Judgments], options: RetrievalOptions
) -> dict[str, Any]:
    """Compute the retrieval scores of checked rows.

    Args:
        rankings: one ranking a query.
        judgments: the judgments of each query, aligned with the rankings.
        options: checked options.

    Returns:
        Means over the queries with a relevant document, each in [0, 1]: for every cutoff k `ndcg@k`, `mrr@k`,
        `recall@k` and `precision@k`; `map`, `mrr` and `r_precision` over the whole ranking; `fact_f1@2`. Without any
        such query they are 0.0. The counts `n_queries`, `n_judged_queries` (with a relevant document),
        `n_empty_rankings` (judged queries without a ranked document, which score 0) and `n_outside_candidates`
        (ranked documents that are no candidates of their query, removed before scoring); `missing`, the ids (or
        row numbers, where a row has no id) of the empty rankings; `signature`; and `per_example` if asked for: one
        list a score, in input order, None where a query has no relevant document.

    Raises:
        ValueError: no rows, or sides that do not fit together.
    """
    check_aligned(rankings, judgments)
    ranked = [_among_candidates(ranking, judged) for ranking, judged in zip(rankings, judgments, strict=True)]
    relevant = [judged.relevant() for judged in judgments]
    if not any(relevant):
        warnings.warn(
            "no query has a relevant document, so the scores are means over nothing: they are given as 0.0 with "
            "n_judged_queries = 0",
            stacklevel=2,
        )
    columns = _columns(ranked, relevant, options.k)
    missing = [i for i, ranking in enumerate(rankings) if relevant[i] and not ranking.ids]
    result: dict[str, Any] = summarize(columns) | {
        "n_queries": len(rankings),
        "n_judged_queries": sum(map(bool, relevant)),
        "n_empty_rankings": len(missing),
        "n_outside_candidates": sum(len(row.ids) - len(ids) for row, ids in zip(rankings, ranked, strict=True)),
        "missing": [_name_of_query(i, rankings[i], judgments[i]) for i in missing],
        "signature": _signature(judgments, options),
    }
    if options.per_example:
        result["per_example"] = columns
    return result


def _among_candidates(ranking: Ranking, judged: Judgments) -> tuple[str, ...]:
    if judged.candidates is None:
        return ranking.ids
    candidates = set(judged.candidates)
    return tuple(document for document in ranking.ids if document in candidates)


def _columns(
    ranked: Sequence[tuple[str, ...]], relevant: Sequence[dict[str, int]], cutoffs: tuple[int, ...]
) -> dict[str, Column]:
    """Result key -> the score of every query, None where it has no relevant document."""
    counted = _counted(ranked, relevant, cutoffs)

    def column(name: str) -> Column:
        return [None if row is None else row[name] for row in counted]

    reciprocal_ranks = column("recip_rank")
    return {
        **{f"ndcg@{k}": column(f"ndcg_cut_{k}") for k in cutoffs},
        "map": column("map"),
        "mrr": reciprocal_ranks,
        **{f"mrr@{k}": [_cut_reciprocal_rank(value, k) for value in reciprocal_ranks] for k in cutoffs},
        **{f"recall@{k}": column(f"recall_{k}") for k in cutoffs},
        **{f"precision@{k}": column(f"P_{k}") for k in cutoffs},
        "r_precision": column("Rprec"),
        f"fact_f1@{MAX_FACTS}": [
            fact_f1(ids[:MAX_FACTS], gold) if gold else None for ids, gold in zip(ranked, relevant, strict=True)
        ],
    }


def _cut_reciprocal_rank(value: float | None, k: int) -> float | None:
    # Both are 1 divided by a whole number, rounded alike, so the comparison is exact.
    return value if value is None or value >= 1 / k else 0.0


def _counted(
    ranked: Sequence[tuple[str, ...]], relevant: Sequence[dict[str, int]], cutoffs: tuple[int, ...]
) -> list[dict[str, float] | None]:
    """What trec_eval counts for every query, under its names; None where a query has no relevant document."""
    from pytrec_eval import RelevanceEvaluator

    run_of_length = {length: _run(length) for length in {len(ids) for ids in ranked}}
    judged = [i for i, gold in enumerate(relevant) if gold]
    levels = ",".join(map(str, cutoffs))
    evaluator = RelevanceEvaluator(
        {str(i): _by_position(ranked[i], relevant[i]) for i in judged},
        {f"ndcg_cut.{levels}", f"recall.{levels}", f"P.{levels}", "map", "recip_rank", "Rprec"},
    )
    found = evaluator.evaluate({str(i): run_of_length[len(ranked[i])] for i in judged})
    return [found.get(str(i)) for i in range(len(ranked))]


def _run(length: int) -> dict[str, float]:
    """A ranking for pytrec_eval: positions for ids, and strictly falling scores, so that it finds no tie to break."""
    return {str(position): float(length - position) for position in range(length)}


def _by_position(ids: tuple[str, ...], gold: dict[str, int]) -> dict[str, int]:
    """Grades of the relevant documents, named as in `_run`; those that are not ranked get names of their own."""
    # Ids of our own, because a C string ends at a NUL, which an id may hold.
    position_of = {document: position for position, document in enumerate(ids) if document in gold}
    return {str(position_of.get(document, f"not ranked {i}")): gold[document] for i, document in enumerate(gold)}


def _name_of_query(i: int, ranking: Ranking, judged: Judgments) -> str | int:
    query_id = judged.id if ranking.id is None else ranking.id
    return i if query_id is None else query_id


def _signature(judgments: Sequence[Judgments], options: RetrievalOptions) -> str:
    limited = [judged.candidates is not None for judged in judgments]
    return signature_of(
        {
            "argscichat": __version__,
            "config": "retrieval",
            "k": "+".join(map(str, options.k)),
            "ties": "given_order",
            "gain": "linear",
            "relevant": "grade>=1",
            "candidates": "all" if all(limited) else "some" if any(limited) else "none",
            "pytrec-eval-terrier": version_of("pytrec-eval-terrier"),
        }
    )
