"""The commands `argscichat baseline NAME` and `argscichat baseline all`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from argscichat.baseline_results import COLUMNS, FAMILIES, BaselineResult, baseline_results, read_test_splits
from argscichat.baselines import BaselineOptions, ranked, score_sentences, select_facts
from argscichat.compare_tables import markdown_rows
from argscichat.handed_in import read_message_pairs
from argscichat.output_files import check_can_write, json_text, write_json_lines, write_whole
from argscichat_dataset.corpus import Row

app = typer.Typer(help="Select facts without training: what every new agent should beat.", no_args_is_help=True)

Data = Annotated[str, typer.Option(help="Official fold file (.json), or DIR:config:split of a built dataset.")]
Output = Annotated[Path, typer.Option(help="Predictions to write, as `argscichat score` takes them.")]
Run = Annotated[
    Path | None,
    typer.Option(help="TREC run to write: all sentences ranked, under the ids of `argscichat data beir`."),
]
Query = Annotated[str, typer.Option(help="message: the last message; history: all messages up to it.")]
Seed = Annotated[int, typer.Option(help="Seed of the random choice.")]
Encoder = Annotated[str, typer.Option(help="Embedded encoder, Hub id or local folder.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps; default: cuda if there is one.")]

_TITLES = {
    "fold": "Official folds",
    "papers": "Folds that test every paper once",
}
_PAGE = """\
# Baselines

Fact selection without training, and the reply made of the selected sentences. Made with

    argscichat data build --output argscichat-data
    argscichat baseline all --data argscichat-data --markdown docs/baselines.md

A fold's score is the mean over the queries of its test split; "mean" and the columns after it are means over the folds,
as the paper reports. Fact-F1, nDCG@10 and MRR leave out queries without gold facts. "+ history" reads all messages of
the dialogue up to the query, the others read the query alone. `oracle` selects gold sentences: more than two cannot be
selected, so it stays below 1.

{tables}

Dialogue scores: `{dialogue}`

Retrieval scores: `{retrieval}`
"""


@app.command(no_args_is_help=True)
def random(data: Data, output: Output, run: Run = None, seed: Seed = BaselineOptions.seed) -> None:
    """Sentences at random; a query gets the same ones in every file."""
    _write("random", data, output, run, BaselineOptions(seed=seed))


@app.command(no_args_is_help=True)
def first(data: Data, output: Output, run: Run = None) -> None:
    """The first sentences of the paper."""
    _write("first", data, output, run, BaselineOptions())


@app.command(no_args_is_help=True)
def tfidf(data: Data, output: Output, run: Run = None, query: Query = BaselineOptions.query) -> None:
    """Cosine of TF-IDF vectors (scikit-learn), fitted on the sentences of the paper."""
    _write("tfidf", data, output, run, BaselineOptions(query=query))


@app.command(no_args_is_help=True)
def bm25(data: Data, output: Output, run: Run = None, query: Query = BaselineOptions.query) -> None:
    """BM25 (bm25s) over the sentences of the paper, with Snowball stems."""
    _write("bm25", data, output, run, BaselineOptions(query=query))


@app.command(no_args_is_help=True)
def encoder(
    data: Data,
    output: Output,
    run: Run = None,
    query: Query = BaselineOptions.query,
    encoder: Encoder = BaselineOptions.encoder,
    device: Device = None,
) -> None:
    """Cosine of the mean-pooled embeddings of sentence and query."""
    _write("encoder", data, output, run, BaselineOptions(query=query, encoder=encoder, device=device))


@app.command(no_args_is_help=True)
def oracle(data: Data, output: Output, run: Run = None) -> None:
    """Gold sentences, the ceiling; a query without gold facts is answered with nothing."""
    _write("oracle", data, output, run, BaselineOptions())


@app.command("all", no_args_is_help=True)
def all_baselines(
    data: Annotated[
        Path, typer.Option(help="Folder that `argscichat data build` wrote, or folder with the official files.")
    ],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the scores of every fold as JSON.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables as a page in Markdown.")] = None,
    seed: Seed = BaselineOptions.seed,
    encoder: Encoder = BaselineOptions.encoder,
    device: Device = None,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar.")] = False,
) -> None:
    """Score all baselines on the test splits of the official folds, and of those that test every paper once."""
    for file in filter(None, (json_file, markdown)):
        check_can_write(file)
    options = BaselineOptions(seed=seed, encoder=encoder, device=device)
    progress = sys.stderr.isatty() and not no_progress
    splits = {family: read_test_splits(data, family) for family in FAMILIES}
    results = {family: baseline_results(folds, options, progress=progress) for family, folds in splits.items()}
    tables = [_terminal_table(_title(family, splits[family]), of_family) for family, of_family in results.items()]
    note = Text("The mean of Fact-F1 and all other columns are means over the folds, as the paper reports.")
    Console(highlight=False).print(Group(*tables, note))
    if json_file:
        write_whole(json_file, json_text(_as_json(results)))
    if markdown:
        write_whole(markdown, _page(splits, results))


def _write(name: str, data: str, output: Path, run: Path | None, options: BaselineOptions) -> None:
    for file in filter(None, (output, run)):
        check_can_write(file)
    rows = read_message_pairs(data)
    scores = score_sentences(name, rows, options)
    if run:
        # Imported here: the library `datasets`, which the export builds with, takes a second to load.
        from argscichat.rankings import write_run
        from argscichat_dataset.beir_export import query_id, sentence_id
        from argscichat_metric.retrieval_rows import Ranking

        rankings = {
            query_id(row["paper_id"], row["id"]): Ranking(
                tuple(sentence_id(row["paper_id"], index) for index in ranked(of_row))
            )
            for row, of_row in zip(rows, scores, strict=True)
        }
        write_run(run, rankings, tag=name)
    write_json_lines(output, select_facts(rows, scores))
    typer.echo(f"Wrote {len(rows)} predictions to {output}" + (f" and their rankings to {run}." if run else "."))


def _title(family: str, folds: Mapping[str, Sequence[Row]]) -> str:
    rows = [row for of_fold in folds.values() for row in of_fold]
    n_judged = sum(bool(row["fact_ids"]) for row in rows)
    return f"{_TITLES[family]}: {len(rows)} queries, {n_judged} of them with gold facts"


def _numbers(result: BaselineResult) -> list[str]:
    fact_f1, *others = COLUMNS
    values = [scores[fact_f1] for scores in result.by_fold.values()]
    values += [result.mean[key] for key in (fact_f1, *others)]
    return [f"{value:.3f}" for value in values]


def _terminal_table(title: str, results: list[BaselineResult]) -> Table:
    # No padding beside the space between two columns, and headers of several lines: so it fits into 80 columns.
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=0)
    table.show_edge = False
    table.add_column("baseline")
    folds = [f"Fact-\nF1\n{fold.rpartition('_')[2]}" for fold in results[0].by_fold]
    for header in (*folds, "Fact-\nF1\nmean", "nDCG\n@10", "MRR", "Mes-\nsage-\nF1", "BERT-\nScore", "Mover-\nScore"):
        table.add_column(header, justify="right", vertical="bottom")
    for result in results:
        name, plus, history = result.name.partition(" + ")
        table.add_row(f"  + {history}" if plus else name, *_numbers(result))
    return table


def _page(splits: dict[str, dict[str, list[Row]]], results: dict[str, list[BaselineResult]]) -> str:
    tables = []
    for family, of_family in results.items():
        header = ["baseline", *(f"Fact-F1, {fold}" for fold in splits[family]), "mean", *list(COLUMNS.values())[1:]]
        lines = markdown_rows(header, [[result.name, *_numbers(result)] for result in of_family])
        tables.append("\n".join([f"## {_title(family, splits[family])}", "", *lines]))
    dialogue, retrieval = results["fold"][0].signatures
    return _PAGE.format(tables="\n\n".join(tables), dialogue=dialogue, retrieval=retrieval)


def _as_json(results: dict[str, list[BaselineResult]]) -> dict[str, Any]:
    """Family -> baseline -> config, or `mean_of_folds` -> score -> value."""
    return {
        family: {result.name: {**result.by_fold, "mean_of_folds": result.mean} for result in of_family}
        for family, of_family in results.items()
    }
