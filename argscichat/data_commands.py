"""The commands `argscichat data build`, `stats`, `beir` and `check`."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from argscichat_dataset.beir_check import BeirReport, check_beir
from argscichat_dataset.built import built_configs, read_built_intents, read_built_pairs
from argscichat_dataset.configs import CONFIGS_WITHOUT_PAIRS
from argscichat_dataset.splits import check_no_leakage
from argscichat_dataset.statistics import CorpusStatistics, corpus_statistics

app = typer.Typer(help="Build and inspect the dataset, and folders in the format of BEIR.", no_args_is_help=True)

# BEIR's name for a split, where it is another one.
_BEIR_SPLITS = {"validation": "dev"}


@app.command(no_args_is_help=True)
def build(
    output: Annotated[Path, typer.Option(help="Folder to write; must not exist yet.")],
    data_dir: Annotated[Path | None, typer.Option(help="Folder with the official files; default: download.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier build.")] = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar.")] = False,
) -> None:
    """Write every config as Parquet with a dataset card, for load_dataset and the Hub."""
    # Imported here: the library `datasets` takes a second to load.
    from argscichat_dataset.export import build_dataset

    progress = sys.stderr.isatty() and not no_progress
    folder = build_dataset(output, data_dir, overwrite=overwrite, progress=progress)
    configs = built_configs(folder)
    n_splits = sum(map(len, configs.values()))
    typer.echo(f"Wrote {len(configs)} configs with {n_splits} splits and a dataset card to {folder}.")
    typer.echo(f'Load it with load_dataset("{folder}", "{next(iter(configs))}").')


@app.command(no_args_is_help=True)
def stats(folder: Annotated[Path, typer.Argument(help="Folder that `argscichat data build` wrote.")]) -> None:
    """Print papers, dialogues, pairs and facts of a built dataset, the alignment report and the leakage check."""
    splits = {
        config: {split: read_built_pairs(folder, config, split) for split in names}
        for config, names in built_configs(folder).items()
        if config not in CONFIGS_WITHOUT_PAIRS
    }
    for of_config in splits.values():
        check_no_leakage(of_config)
    table = Table(title="Message pairs", title_justify="left", title_style="bold")
    for column in ("config", "split", "papers", "dialogues", "pairs", "with facts", "facts"):
        table.add_column(column, justify="left" if column in ("config", "split") else "right")
    for config, of_config in splits.items():
        for split, rows in of_config.items():
            table.add_row(config, split, *_counts(corpus_statistics(rows)))
        table.add_section()
    whole = corpus_statistics(splits["all"]["train"])
    leakage = f"Leakage check: no paper and no dialogue is in two splits of a config ({len(splits)} configs)."
    lines = [*_alignment_lines(whole), _intents_line(folder), leakage]
    Console(highlight=False).print(Group(table, *map(Text, lines)), soft_wrap=True)


@app.command(no_args_is_help=True)
def beir(
    output: Annotated[Path, typer.Option(help="Folder to write; must not exist yet.")],
    data_dir: Annotated[Path | None, typer.Option(help="Folder with the official files; default: download.")] = None,
    config: Annotated[str, typer.Option(help="A config of message pairs.")] = "all",
    split: Annotated[
        str | None, typer.Option(help="A split of it; default: test, or the only one of 'all', written as test.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier export.")] = False,
) -> None:
    """Write ArgSciChat in the format of BEIR: sentences, queries, gold facts and the candidates of each query."""
    # Imported here: the library `datasets` takes a second to load.
    from argscichat_dataset.beir_export import DEFAULT_SPLIT, export_beir, pairs_of_split

    rows = pairs_of_split(config, split or ("train" if config == "all" else "test"), data_dir)
    name = _BEIR_SPLITS.get(split, split) if split else DEFAULT_SPLIT
    folder = export_beir(rows, output, split=name, overwrite=overwrite)
    report = check_beir(folder)
    counts = report.splits[name]
    typer.echo(
        f"Wrote {report.documents} sentences, {report.queries} queries ({counts.judged_queries} judged) and "
        f"{counts.judgments} judgments to {folder}, as split {name}."
    )


@app.command(no_args_is_help=True)
def check(folder: Annotated[Path, typer.Argument(help="Folder in the format of BEIR.")]) -> None:
    """Check a BEIR folder: counts, dangling, duplicate and empty ids, queries without judgments; exit 2 on a fault."""
    report = check_beir(folder)
    table = Table(title="Judgments", title_justify="left", title_style="bold")
    table.add_column("split")
    for column in ("judgments", "judged queries"):
        table.add_column(column, justify="right")
    for split, counts in report.splits.items():
        table.add_row(Text(split), str(counts.judgments), str(counts.judged_queries))
    Console(highlight=False).print(Group(*map(Text, _check_lines(report)), table), soft_wrap=True)
    if not report.sound:
        raise ValueError(f"{folder}: {sum(report.faults.values())} faults; the first of each kind are listed above")


def _check_lines(report: BeirReport) -> list[str]:
    return [
        f"Corpus: {report.documents} documents. Queries: {report.queries}, {report.unjudged_queries} of them without "
        "judgments in any split.",
        *(f"Note: {kind}: {times}." for kind, times in report.notes.items()),
        f"Faults: {', '.join(f'{kind}: {times}' for kind, times in report.faults.items())}.",
        *(f"  {message}" for message in report.first_faults),
    ]


def _counts(statistics: CorpusStatistics) -> list[str]:
    counts = (
        statistics.papers,
        statistics.dialogues,
        statistics.pairs,
        statistics.queries_with_facts,
        statistics.facts,
    )
    return [str(count) for count in counts]


def _intents_line(folder: Path) -> str:
    rows = read_built_intents(folder)
    unmatched = sum(row["id"] is None for row in rows)
    return f"Dialogue acts: {len(rows)} sentences, {unmatched} of them without a message that they are from."


def _alignment_lines(statistics: CorpusStatistics) -> list[str]:
    report = statistics.alignment
    kinds = ("exact", "normalised", "partial", "title", "unmatched")
    per_pair = ", ".join(f"{facts} in {pairs}" for facts, pairs in report["gold_sentences_per_pair"].items())
    return [
        f"Alignment: {report['spans']} annotated facts; "
        + ", ".join(f"{report[kind]} {kind}" for kind in kinds)
        + f"; {report['ambiguous']} match more than one sentence.",
        f"Sentences: {statistics.sentences}, {report['duplicate_sentences']} of them repeated in their paper.",
        f"Gold sentences of a pair: {per_pair}.",
    ]
