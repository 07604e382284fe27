"""A comparison of systems as a table for a terminal, as LaTeX and as Markdown, all from the same cells."""

import re
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from argscichat.comparison import Comparison, Interval, PairOfSystems, ScoreDifference, ShownQuery, ShownReply
from argscichat.plain_text import one_line
from argscichat.scoring import MAIN_SCORES
from argscichat_metric.confidence import FEW_UNITS

_NAME_WIDTH = 16
_SMALLEST_P = 0.0001
DIFFERENCE_COLUMNS = ("Score", "Baseline", "System", "Difference", "p", "p (Holm)", "W/T/L")

_LATEX_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "`": r"\textasciigrave{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        # Behind the \\ of the row before, these two would be taken for its arguments.
        "[": "{[}",
        "*": "{*}",
        "]": "{]}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#])")


def comparison_table(comparison: Comparison) -> RenderableType:
    """A comparison for a terminal of 100 columns.

    Args:
        comparison: what `compare_systems` returned.

    Returns:
        Something that `rich` prints. No text of the files is taken as markup.
    """
    parts: list[RenderableType] = [
        _rich_table("Systems", ["System", *_score_names(comparison)], system_rows(comparison))
    ]
    for pair in comparison.pairs:
        parts.append(_rich_table(_title(pair), DIFFERENCE_COLUMNS, difference_rows(pair)))
    for title, shown in _shown_queries(comparison):
        parts += [Text(), Text(one_line(title), style="bold")]
        parts += [Text.assemble((f"  {one_line(label)}: ", "dim"), one_line(text)) for label, text in shown]
    return Group(*parts, Text(), *(Text(f"Note: {one_line(note)}") for note in comparison_notes(comparison)))


def latex_table(comparison: Comparison) -> str:
    """A comparison for a paper: two tables in the style of the package booktabs, and the queries that are shown.

    Args:
        comparison: what `compare_systems` returned.

    Returns:
        LaTeX for the body of a document that loads booktabs; every text of the files is escaped.
    """
    header = ["System", *_score_names(comparison)]
    rows = [_latex_row([latex_escape(name), *map(_latex_number, cells)]) for name, *cells in system_rows(comparison)]
    systems = _tabular("l" * len(header), [_latex_row(header), r"\midrule", *rows])
    lines = [_latex_row(DIFFERENCE_COLUMNS)]
    for pair in comparison.pairs:
        lines += [r"\midrule", rf"\multicolumn{{{len(DIFFERENCE_COLUMNS)}}}{{l}}{{{latex_escape(_title(pair))}}} \\"]
        lines += [_latex_row([name, *map(_latex_number, cells)]) for name, *cells in difference_rows(pair)]
    differences = _tabular("lrrrrrr", lines)
    caption = latex_escape(" ".join(comparison_notes(comparison)))
    shown = [
        line
        for title, items in _shown_queries(comparison)
        for line in (
            rf"\paragraph{{{latex_escape(title)}}}",
            r"\begin{description}",
            *(rf"\item[{{{latex_escape(label)}}}] {latex_escape(text)}" for label, text in items),
            r"\end{description}",
        )
    ]
    table = [r"\begin{table*}", r"\centering", *systems, "", r"\bigskip", "", *differences]
    return "\n".join([*table, rf"\caption{{{caption}}}", r"\end{table*}", *shown]) + "\n"


def markdown_table(comparison: Comparison) -> str:
    """A comparison for a page in Markdown: a table of systems, one of each pair, and the queries that are shown.

    Args:
        comparison: what `compare_systems` returned.

    Returns:
        Markdown (GitHub's tables); every text of the files is escaped.
    """
    systems = [[markdown_escape(name), *cells] for name, *cells in system_rows(comparison)]
    lines = markdown_rows(["System", *_score_names(comparison)], systems)
    for pair in comparison.pairs:
        lines += ["", f"**{markdown_escape(_title(pair))}**", ""]
        lines += markdown_rows(DIFFERENCE_COLUMNS, difference_rows(pair))
    for title, shown in _shown_queries(comparison):
        lines += ["", f"**{markdown_escape(title)}**", ""]
        lines += [f"- {markdown_escape(label)}: {markdown_escape(text)}" for label, text in shown]
    return "\n".join([*lines, "", *map(markdown_escape, comparison_notes(comparison))]) + "\n"


def latex_escape(text: str) -> str:
    r"""Escape a text for the body of a LaTeX document.

    Args:
        text: any text; a line end or a control character becomes a space.

    Returns:
        LaTeX that prints the text.

    Example:
        >>> print(latex_escape("led_base & 50%"))
        led\_base \& 50\%
    """
    # Two hyphens would be printed as one dash.
    return one_line(text).translate(_LATEX_SPECIAL).replace("--", "-{}-").replace("--", "-{}-")


def markdown_escape(text: str) -> str:
    r"""Escape a text for a line, or a cell of a table, in Markdown.

    Args:
        text: any text; a line end or a control character becomes a space.

    Returns:
        Markdown that prints the text.

    Example:
        >>> print(markdown_escape("led_base | 50%"))
        led\_base \| 50%
    """
    return _MARKDOWN_SPECIAL.sub(r"\\\1", one_line(text))


def _score_names(comparison: Comparison) -> list[str]:
    return [MAIN_SCORES[key] for key in comparison.score_keys]


def system_rows(comparison: Comparison) -> list[list[str]]:
    """One row a system: its name, and its mean with its interval in each score of `score_keys`."""
    return [
        [system.name, *(_estimate(system.means[key], system.intervals[key]) for key in comparison.score_keys)]
        for system in comparison.systems
    ]


def difference_rows(pair: PairOfSystems) -> list[list[str]]:
    """One row a score, under the `DIFFERENCE_COLUMNS`."""
    return [_difference_row(score) for score in pair.scores]


def _difference_row(score: ScoreDifference) -> list[str]:
    return [
        MAIN_SCORES[score.score],
        f"{score.baseline:.4f}",
        f"{score.system:.4f}",
        _estimate(score.difference, score.interval, "+.3f", "+.3f"),
        _p_value(score.p_value),
        _p_value(score.p_holm),
        f"{score.wins}/{score.ties}/{score.losses}",
    ]


def _estimate(value: float, interval: Interval | None, form: str = ".3f", end_form: str = ".2f") -> str:
    ends = f" [{interval[0]:{end_form}}, {interval[1]:{end_form}}]" if interval else ""
    return f"{value:{form}}{ends}"


def _p_value(value: float) -> str:
    return f"{value:.4f}" if value >= _SMALLEST_P else f"<{_SMALLEST_P:.4f}"


def _title(pair: PairOfSystems) -> str:
    return f"{pair.system} against {pair.baseline} (baseline)"


def comparison_notes(comparison: Comparison) -> list[str]:
    """Sentences on what the numbers are, and on what to know before trusting them."""
    units = f"{comparison.n_units} {_plural(comparison.unit, comparison.n_units)}"
    notes = [
        f"Brackets: {100 * comparison.confidence:.10g} % intervals, bootstrap over {units} ({comparison.n_resamples} "
        f"resamples, seed {comparison.seed}).",
        f"p: paired permutation test that swaps the systems on every {comparison.unit}; Holm: corrected for "
        f"{sum(len(pair.scores) for pair in comparison.pairs)} tests. "
        "W/T/L: queries that the system wins, ties and loses.",
    ]
    if comparison.n_units < FEW_UNITS:
        notes.append(f"With fewer than {FEW_UNITS} units, the intervals are too narrow and no p-value can be small.")
    for system in comparison.systems:
        if n := len(system.missing):
            notes.append(f"{system.name} has no prediction for {n} {_plural('query', n)}, scored as empty.")
        if n := len(system.unknown):
            notes.append(f"{system.name} has {n} {_plural('prediction', n)} with an unknown id, left out.")
    return notes


def _plural(noun: str, n: int) -> str:
    return noun if n == 1 else {"query": "queries"}.get(noun, noun + "s")


def _shown_queries(comparison: Comparison) -> Iterable[tuple[str, list[tuple[str, str]]]]:
    """For every query that is shown, a title and pairs of a label and a text."""
    for pair in comparison.pairs:
        for place, query in enumerate(pair.shown, start=1):
            yield f"{pair.system} against {pair.baseline}, query {place}: {query.id}", list(_lines_of(pair, query))


def _lines_of(pair: PairOfSystems, query: ShownQuery) -> Iterable[tuple[str, str]]:
    if query.query is not None:
        yield "query", query.query
    for name, reply in (("reference", query.reference), (pair.baseline, query.baseline), (pair.system, query.system)):
        yield name, _reply_text(reply)
        for fact in reply.facts or ():
            yield f"{name}, fact", str(fact)


def _reply_text(reply: ShownReply) -> str:
    scores = ", ".join(f"{MAIN_SCORES[key]} {value:.3f}" for key, value in reply.scores.items() if value is not None)
    message = "" if reply.message is None else reply.message.strip() or "(empty)"
    return " ".join(filter(None, (message, f"({scores})" if scores else "")))


def _rich_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=Text(one_line(title)), title_justify="left", title_style="bold", padding=(0, 0, 0, 1))
    for i, column in enumerate(columns):
        table.add_column(
            column, justify="right" if i else "left", max_width=None if i else _NAME_WIDTH, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    return table


def _tabular(columns: str, lines: Iterable[str]) -> list[str]:
    return [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"]


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_number(cell: str) -> str:
    return cell.replace("-", "$-$").replace("<", "$<$")


def markdown_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown, whose first column names the row and whose other columns are numbers.

    Args:
        header: one text a column.
        rows: one text a cell, in which Markdown has nothing to read.

    Returns:
        One line a row, after the header and the rule below it.
    """
    alignment = ["---", *["---:"] * (len(header) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (header, alignment, *rows)]
