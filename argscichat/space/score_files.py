"""The tab that scores files of predictions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from argscichat.compare import compare_systems
from argscichat.comparison import Comparison
from argscichat.handed_in import References
from argscichat.scoring import MatchedRows, match_rows, score_in_windows
from argscichat.space import markup
from argscichat.space.downloads import remove_downloads, write_downloads
from argscichat.space.fields import error_box, error_updates
from argscichat.space.file_scores import (
    QUERY_COLUMNS,
    Shown,
    comparison_html,
    query_heat_maps_html,
    query_html,
    query_rows,
    scores_html,
)
from argscichat.space.limits import FILE_LIMITS, InputError
from argscichat.space.sample import AGENTS, sample_predictions, sample_references
from argscichat.space.uploads import read_uploaded_predictions, read_uploaded_references
from argscichat_metric.confidence import units_of
from argscichat_metric.rows import Row, pair_rows

SOURCES = ("The sample's two agents", "My files")
_FIELDS = ("predictions", "second", "references")
_LABELS = {
    "predictions": "Predictions (.jsonl)",
    "second": "Second predictions, to compare (optional)",
    "references": "References (.jsonl, or official .json)",
}
_CONFIDENCE = 0.95
_WINDOW = 32
_KEPT_SECONDS = 3600


@dataclass(frozen=True)
class HandedIn:
    """What is to be scored.

    Args:
        systems: name -> predictions matched with the references, one system or two.
        references: what they are scored against.
    """

    systems: dict[str, MatchedRows]
    references: References


def build_score_files(signature: gr.Textbox) -> None:
    """Put the tab into the page that is being built.

    Args:
        signature: shows the signature of what was scored last.
    """
    source = gr.Radio(SOURCES, value=SOURCES[0], label="What to score", elem_id="asc-files-source")
    with gr.Column(visible=False) as own:
        files, errors, ignore_unknown = _file_fields()
    with gr.Row(elem_classes="asc-buttons"):
        button = gr.Button("Score the files", variant="primary", elem_id="asc-score-files")
        stop = gr.Button("Stop", elem_id="asc-stop", interactive=False)
    kept = gr.State(time_to_live=_KEPT_SECONDS)
    folder = gr.State(time_to_live=_KEPT_SECONDS, delete_callback=remove_downloads)
    summary = gr.HTML(markup.hint("The scores appear here: with the sample, one click is enough."))
    with gr.Column(visible=False) as results:
        with gr.Row(elem_classes="asc-buttons"):
            downloads = [gr.DownloadButton(f"Download {name}", size="md") for name in ("scores.json", "queries.csv")]
        gr.HTML(
            markup.heading("By query", "Lowest first; the menu of a column sorts. Choose a row to see it explained.")
        )
        queries = _query_table()
        number = gr.Dropdown(label="Or choose the query here", elem_id="asc-number")
    explained = gr.HTML(elem_id="asc-explained")
    heat_maps = gr.HTML()
    shared = {"api_visibility": "private", "show_progress": "hidden"}
    source.input(lambda name: gr.update(visible=name == SOURCES[1]), source, own, **shared)
    scoring = button.click(
        _score,
        [source, *files, ignore_unknown, folder],
        [summary, results, queries, number, *downloads, kept, folder, signature, explained, heat_maps, stop, *errors],
        api_visibility="private",
        show_progress_on=summary,
        concurrency_id="score",
    )
    stop.click(_stopped, None, [summary, stop], cancels=[scoring], **shared)
    explaining = shared | {"concurrency_id": "score", "trigger_mode": "always_last"}
    queries.select(_explain_row, kept, [explained, heat_maps], **explaining)
    number.input(_explain, [kept, number], [explained, heat_maps], **explaining)


def _file_fields() -> tuple[list[gr.File], list[gr.HTML], gr.Checkbox]:
    files, errors = [], []
    with gr.Row(equal_height=False):
        for field in _FIELDS:
            with gr.Column(min_width=220):
                files.append(gr.File(label=_LABELS[field], height=130, elem_id=f"asc-file-{field}"))
                errors.append(error_box())
    ignore_unknown = gr.Checkbox(label="Leave out predictions with an id that is in no reference")
    gr.HTML(markup.hint(FILE_LIMITS))
    return files, errors, ignore_unknown


def _query_table() -> gr.Dataframe:
    return gr.Dataframe(
        headers=list(QUERY_COLUMNS),
        datatype=["number", "str", *["number"] * (len(QUERY_COLUMNS) - 2)],
        column_widths=["64px", "440px", *["140px"] * (len(QUERY_COLUMNS) - 2)],
        interactive=False,
        max_height=380,
        show_label=False,
        elem_id="asc-queries",
        buttons=[],
    )


def _score(
    source: str, first: str, second: str, references: str, ignore_unknown: bool, old: Path | None
) -> Iterator[list[Any]]:
    """Score a window at a time: between two windows, a request that nobody waits for any more ends."""
    try:
        handed_in = _sample() if source == SOURCES[0] else _uploaded(first, second, references, ignore_unknown)
    except InputError as error:
        yield _outputs(markup.hint("Nothing was scored."), stop=False, error=error)
        return
    name, rows = next(iter(handed_in.systems.items()))
    yield _outputs(markup.progress(0, len(rows.references)), stop=True)
    scored = None
    for n_done, scored in score_in_windows(rows, _WINDOW, per_example=True, confidence=_CONFIDENCE):  # noqa: B007
        yield _outputs(markup.progress(n_done, len(rows.references)), stop=True)
    comparison = _compared(handed_in) if len(handed_in.systems) > 1 else None
    shown = Shown(scored, handed_in.references)
    rows_shown = query_rows(shown)
    remove_downloads(old)
    folder = write_downloads(scored, comparison and comparison.to_dict())
    summary = markup.heading(f"Scores of {name}") + scores_html(scored)
    yield _outputs(
        summary + (comparison_html(comparison) if comparison else ""),
        stop=False,
        results=[
            gr.update(visible=True),
            _table_of(rows_shown),
            gr.update(choices=[(f"{row[0]}. {row[1]}", row[0]) for row in rows_shown], value=None),
            str(folder / "scores.json"),
            str(folder / "queries.csv"),
            shown,
            folder,
            scored.result["signature"],
        ],
    )


def _outputs(summary: str, *, stop: bool, results: Sequence[Any] = (), error: InputError | None = None) -> list[Any]:
    results = results or [gr.update(visible=False), *[gr.skip()] * 7]
    return [summary, *results, "", "", gr.update(interactive=stop), *error_updates(_FIELDS, error)]


def _stopped() -> list[Any]:
    return [markup.hint("Stopped. Nothing was scored."), gr.update(interactive=False)]


def _sample() -> HandedIn:
    references = sample_references()
    return HandedIn({agent: match_rows(sample_predictions(agent), references) for agent in AGENTS}, references)


def _uploaded(first: str | None, second: str | None, references: str | None, ignore_unknown: bool) -> HandedIn:
    if not first:
        raise InputError("predictions", "Choose a file of predictions.")
    if not references:
        raise InputError("references", "Choose the references that the predictions are scored against.")
    rows = {"first file": read_uploaded_predictions(first, "predictions")}
    if second:
        rows["second file"] = read_uploaded_predictions(second, "second")
    known = read_uploaded_references(references, "references")
    try:
        units_of([row.paper_id for row in known.rows], len(known.rows))
    except ValueError as error:
        raise InputError("references", str(error)) from None
    fields = zip(rows.items(), _FIELDS, strict=False)
    return HandedIn(
        {name: _matched(of_system, known, ignore_unknown, field) for (name, of_system), field in fields}, known
    )


def _matched(predictions: list[Row], references: References, ignore_unknown: bool, field: str) -> MatchedRows:
    try:
        rows = match_rows(predictions, references, ignore_unknown=ignore_unknown)
        pair_rows(rows.predictions, rows.references)
    except ValueError as error:
        raise InputError(field, str(error)) from None
    return rows


def _compared(handed_in: HandedIn) -> Comparison:
    systems = {}
    for name, rows in handed_in.systems.items():
        # Without the empty rows that stand in for missing predictions, which the comparison counts.
        missing = set(rows.missing)
        systems[name] = [_as_dict(row) for row in rows.predictions if row.id not in missing]
    references = next(iter(handed_in.systems.values())).references
    return compare_systems(systems, [_as_dict(row) for row in references], confidence=_CONFIDENCE)


def _as_dict(row: Row) -> dict[str, Any]:
    fields = {"id": row.id, "message": row.message, "facts": row.facts, "paper_id": row.paper_id}
    return {key: value for key, value in fields.items() if value is not None}


def _table_of(rows: Sequence[Sequence[Any]]) -> Any:
    """The rows with three decimals, which sort as the numbers that they are."""
    import pandas

    table = pandas.DataFrame(rows, columns=list(QUERY_COLUMNS))
    return table.style.format(precision=3, na_rep="–")


def _explain_row(shown: Shown | None, event: gr.SelectData) -> Iterator[list[str]]:
    """Explain the query whose row was chosen, however the table is sorted."""
    yield from _explain(shown, int(event.row_value[0]))


def _explain(shown: Shown | None, number: int) -> Iterator[list[str]]:
    if shown is None:
        yield [markup.hint("The page has been open for long; score the files again."), ""]
        return
    text, explanation = query_html(shown, number - 1)
    yield [text, markup.hint("Drawing ...")]
    yield [text, query_heat_maps_html(explanation)]
