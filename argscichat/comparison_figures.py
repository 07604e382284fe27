"""The figures of a comparison of systems."""

from collections.abc import Iterator
from typing import Any

from argscichat.comparison import Comparison
from argscichat.explain import explain_pair
from argscichat.pair_plots import plot_matching, plot_transport
from argscichat.plots import plot_by_paper, plot_distribution, plot_scores
from argscichat.scoring import MAIN_SCORES


def comparison_figures(comparison: Comparison, **options: Any) -> Iterator[tuple[str, Any]]:
    """Draw a comparison.

    Args:
        comparison: what `compare_systems` returned.
        **options: the options of `compute_scores` that it was called with.

    Yields:
        Pairs of a name, for a file, and a `matplotlib.figure.Figure`: `scores`; for every score `distribution_<score>`
        and, where papers are known, `by_paper_<score>`; and for the first of the queries that are shown where both the
        baseline and the next system have a reply, `matching_<system>` and `transport_<system>`, with 1 for the baseline
        and 2 for the system. The last two are left out without such a query, without their scores, and with `idf`,
        whose weights come from all texts.
    """
    keys = comparison.score_keys
    yield "scores", systems_figure(comparison)
    for key in keys:
        columns = {system.name: system.per_query[key] for system in comparison.systems}
        if all(value is None for value in comparison.systems[0].per_query[key]):
            continue
        yield f"distribution_{key}", plot_distribution(columns, MAIN_SCORES[key])
        if comparison.paper_ids:
            yield f"by_paper_{key}", plot_by_paper(columns, comparison.paper_ids, MAIN_SCORES[key])
    if not options.get("idf"):
        yield from _reply_figures(comparison, options)


def systems_figure(comparison: Comparison) -> Any:
    """Draw the means of all systems with their intervals.

    Args:
        comparison: what `compare_systems` returned.

    Returns:
        A `matplotlib.figure.Figure`.
    """
    return plot_scores(*(_named(comparison, field) for field in ("means", "intervals")))


def _named(comparison: Comparison, field: str) -> dict[str, dict[str, Any]]:
    return {
        system.name: {MAIN_SCORES[key]: getattr(system, field)[key] for key in comparison.score_keys}
        for system in comparison.systems
    }


def _reply_figures(comparison: Comparison, options: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    metrics = [key.removesuffix("_f1") for key in comparison.score_keys if key in ("bertscore_f1", "moverscore")]
    answered = (q for q in comparison.pairs[0].shown if all((r.message or "").strip() for r in (q.baseline, q.system)))
    query = next(answered, None)
    if not query or not metrics:
        return
    for number, reply in enumerate((query.baseline, query.system), start=1):
        parts = explain_pair(reply.message, query.reference.message, **options | {"metrics": metrics})
        if parts.matching:
            yield f"matching_{number}", plot_matching(parts.matching)
        if parts.transport:
            yield f"transport_{number}", plot_transport(parts.transport)
