"""The scores of a file as the page shows them: tables, queries from the worst to the best, and one query explained."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from argscichat.compare_tables import DIFFERENCE_COLUMNS, comparison_notes, difference_rows, system_rows
from argscichat.comparison import Comparison
from argscichat.comparison_figures import systems_figure
from argscichat.explain import Explanation, explain_pair
from argscichat.handed_in import References
from argscichat.plain_text import one_line
from argscichat.scoring import MAIN_SCORES, ScoredFile
from argscichat.space import markup
from argscichat.space.figures import figure_html
from argscichat.space.replies import facts_html, heat_maps_html, words_html
from argscichat.tables import score_cells, score_notes
from argscichat_metric.confidence import FEW_UNITS

QUERY_COLUMNS = ("#", "Query", *MAIN_SCORES.values())
"""Header of `query_rows`."""

_SHOWN_CHARACTERS = 110


@dataclass(frozen=True)
class Shown:
    """What a page keeps of the file that it shows.

    Args:
        scored: the scores, with `per_example`.
        references: what they were scored against.
    """

    scored: ScoredFile
    references: References


def scores_html(scored: ScoredFile) -> str:
    """The means with their intervals and counts, notes on what to look at, and the scores by paper."""
    cells = [row for block in score_cells(scored.result) for row in block]
    papers = list(dict.fromkeys(row.paper_id for row in scored.rows.references))
    remarks = score_notes(scored)
    if None not in papers and len(papers) < FEW_UNITS:
        remarks.append(f"The intervals rest on {len(papers)} papers; with fewer than {FEW_UNITS}, they are too narrow")
    means = markup.table(("Score", "Mean [95 % interval]", "Over"), cells, "Means") + markup.notes(remarks)
    return means if None in papers else markup.in_a_row(means, _by_paper(scored, papers))


def comparison_html(comparison: Comparison) -> str:
    """Two systems side by side: a figure, the means, the differences with tests, and notes."""
    names = [MAIN_SCORES[key] for key in comparison.score_keys]
    pair = comparison.pairs[0]
    return (
        markup.heading("Comparison", f"{pair.system} against {pair.baseline}, the baseline.")
        + markup.in_a_row(
            markup.table(("System", *names), system_rows(comparison), "Systems")
            + markup.table(DIFFERENCE_COLUMNS, difference_rows(pair), "Differences"),
            figure_html(lambda: systems_figure(comparison), "Means of both systems with their intervals"),
        )
        + markup.notes(note.removesuffix(".") for note in comparison_notes(comparison))
    )


def query_rows(shown: Shown) -> list[list[Any]]:
    """One row a query under the `QUERY_COLUMNS`, the lowest mean of its scores first.

    Args:
        shown: what was scored.

    Returns:
        The number of the query from 1, its text (or its id), and its scores, None where it does not count.
    """
    columns = shown.scored.result["per_example"]
    rows = []
    for i, reference in enumerate(shown.scored.rows.references):
        text = shown.references.queries[i] if shown.references.queries else reference.id
        scores = [columns[key][i] if key in columns else None for key in MAIN_SCORES]
        rows.append([i + 1, _cut(text), *(None if score is None else round(score, 3) for score in scores)])
    return sorted(rows, key=lambda row: _mean(row[2:]))


def query_html(shown: Shown, i: int) -> tuple[str, Explanation | None]:
    """One query explained.

    Args:
        shown: what was scored.
        i: place of the query, from 0.

    Returns:
        HTML with its messages, scores, facts and shared words; and what `heat_maps_html` takes, None without messages.
    """
    predicted, reference = shown.scored.rows.predictions[i], shown.scored.rows.references[i]
    columns = shown.scored.result["per_example"]
    scores = {key: columns[key][i] for key in MAIN_SCORES if key in columns}
    remarks = {"fact_f1": "no gold facts: does not count"} if scores.get("fact_f1", 0.0) is None else {}
    sentences = shown.references.sentences[i] if shown.references.sentences else None
    explanation = None
    left = markup.heading(f"Query {i + 1}")
    if shown.references.queries:
        left += markup.message("Query", shown.references.queries[i])
    if predicted.message is not None and reference.message is not None:
        explanation = explain_pair(predicted.message, reference.message)
        left += markup.message("Reply", predicted.message) + markup.message("Reference reply", reference.message)
    left += markup.score_tiles(scores, remarks) + (words_html(explanation) if explanation else "")
    right = markup.heading("Facts") + facts_html(sentences, reference.facts, predicted.facts)
    return markup.side_by_side(left, right), explanation


def query_heat_maps_html(explanation: Explanation | None) -> str:
    """The heat maps of a query; nothing where the files carry no messages."""
    return heat_maps_html(explanation) if explanation else ""


def _by_paper(scored: ScoredFile, papers: Sequence[str]) -> str:
    columns = {key: scored.result["per_example"][key] for key in MAIN_SCORES if key in scored.result}
    places: dict[str, list[int]] = {paper: [] for paper in papers}
    for i, row in enumerate(scored.rows.references):
        places[row.paper_id].append(i)
    means = {
        paper: [_mean_of_counted([column[i] for i in rows]) for column in columns.values()]
        for paper, rows in places.items()
    }
    order = sorted(papers, key=lambda paper: _mean(means[paper]))
    cells = [[_cut(paper), *map(_number, means[paper]), str(len(places[paper]))] for paper in order]
    header = ("Paper", *(MAIN_SCORES[key] for key in columns), "Queries")
    return markup.table(header, cells, "By paper, the lowest scores first", long_names=True)


def _mean_of_counted(values: Sequence[float | None]) -> float | None:
    counted = [value for value in values if value is not None]
    return fmean(counted) if counted else None


def _mean(values: Sequence[float | None]) -> float:
    return _mean_of_counted(values) or 0.0


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _cut(text: str) -> str:
    line = one_line(text).strip()
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
