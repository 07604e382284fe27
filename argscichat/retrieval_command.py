"""The command `argscichat retrieval`: scores of a run against judgments."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from argscichat.output_files import check_can_write, json_text, write_json_lines, write_whole
from argscichat.rankings import read_run, score_run
from argscichat.scoring import some_ids
from argscichat_dataset.beir import read_candidates, read_qrels
from argscichat_dataset.beir_layout import existing_folder, qrels_file
from argscichat_metric.options import MAX_FACTS
from argscichat_metric.retrieval_options import CUTOFFS

_AT_CUTOFFS = {"ndcg": "nDCG", "mrr": "MRR", "recall": "Recall", "precision": "Precision"}
_OF_RANKINGS = {
    "map": "MAP",
    "mrr": "MRR of the whole ranking",
    "r_precision": "R-precision",
    f"fact_f1@{MAX_FACTS}": f"Fact-F1 of the first {MAX_FACTS}",
}


def retrieval(
    run: Annotated[Path, typer.Argument(help="TREC run, or JSON Lines (.jsonl): {'id', 'ids', 'scores'} a query.")],
    qrels: Annotated[str, typer.Argument(help="Judgments (.tsv of BEIR or TREC), or DIR:split of a BEIR folder.")],
    k: Annotated[str, typer.Option(help="Cutoffs, with commas.")] = ",".join(map(str, CUTOFFS)),
    candidates: Annotated[
        Path | None,
        typer.Option(help="BEIR folder whose candidates.jsonl limits each query; with DIR:split it is DIR."),
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the result as JSON.")] = None,
    per_example: Annotated[Path | None, typer.Option(help="Write the scores of each query as JSON Lines.")] = None,
) -> None:
    """Score rankings: nDCG, MAP, MRR, recall, precision, R-precision, and Fact-F1 of the first two."""
    for file in filter(None, (json_file, per_example)):
        check_can_write(file)
    judgments, folder = _read_judgments(qrels)
    folder = candidates or folder
    result = score_run(
        read_run(run),
        judgments,
        None if folder is None else _candidates(folder, required=candidates is not None),
        k=_cutoffs(k),
        per_example=per_example is not None,
    )
    columns = result.pop("per_example", {})
    Console(highlight=False).print(_tables(result, f"{run.name} on {Path(qrels).name}"), soft_wrap=True)
    if json_file:
        write_whole(json_file, json_text(result))
    if per_example:
        rows = [
            {"id": query, **{key: column[i] for key, column in columns.items()}} for i, query in enumerate(judgments)
        ]
        write_json_lines(per_example, rows)


def _read_judgments(qrels: str) -> tuple[dict[str, dict[str, int]], Path | None]:
    """The judgments, and the BEIR folder that they were named by."""
    folder, colon, split = qrels.rpartition(":")
    if colon and not os.path.isfile(qrels):
        return read_qrels(qrels_file(existing_folder(folder), split)), Path(folder)
    return read_qrels(qrels), None


def _candidates(folder: Path, required: bool) -> dict[str, list[str]] | None:
    found = read_candidates(folder)
    if found is None and required:
        raise ValueError(f"{folder}: expected a folder with candidates.jsonl, as `argscichat data beir` writes it")
    return found


def _cutoffs(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--k: expected whole numbers with commas between them, got {text[:100]!r}") from None


def _tables(result: Mapping[str, Any], title: str) -> RenderableType:
    cutoffs = [key.partition("@")[2] for key in result if key.startswith("ndcg@")]
    at_cutoffs = Table("Score", title=Text(title), title_justify="left", title_style="bold")
    for k in cutoffs:
        at_cutoffs.add_column(f"@{k}", justify="right")
    for key, name in _AT_CUTOFFS.items():
        at_cutoffs.add_row(name, *(f"{result[f'{key}@{k}']:.4f}" for k in cutoffs))
    of_rankings = Table("Score", Column("Mean", justify="right"))
    for key, name in _OF_RANKINGS.items():
        of_rankings.add_row(name, f"{result[key]:.4f}")
    notes = [Text(f"Note: {note}.") for note in _notes(result)]
    means = Text(f"Means over {result['n_judged_queries']} judged queries.")
    return Group(at_cutoffs, of_rankings, means, *notes, Text(f"Signature: {result['signature']}"))


def _notes(result: Mapping[str, Any]) -> list[str]:
    """What a reader should know before trusting the means."""
    notes = []
    if result["missing"]:
        notes.append(f"judged queries without a ranking, which score 0: {some_ids(result['missing'])}")
    if unjudged := result["n_unjudged_queries"]:
        notes.append(f"queries of the run that are not in the judgments, left out: {unjudged}")
    if outside := result["n_outside_candidates"]:
        notes.append(f"ranked documents that are no candidates of their query, removed: {outside}")
    return notes
