"""The command `argscichat compare`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from argscichat import score_options
from argscichat.compare_tables import comparison_table, latex_table, markdown_table
from argscichat.comparison import Comparison
from argscichat.figure_style import FORMATS, save_figure
from argscichat.output_files import check_can_write, json_text, write_whole
from argscichat_metric.options import Options
from argscichat_metric.shortened import shorten


def compare(
    predictions: Annotated[
        list[Path], typer.Argument(help="Two or more files of predictions; the first is the baseline.")
    ],
    references: score_options.ReferencesPlace,
    name: Annotated[
        list[str] | None, typer.Option(help="Name of a system, once for each file; default: names of the files.")
    ] = None,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Every system against all before it, not the baseline alone.")
    ] = False,
    show: Annotated[int, typer.Option(help="How many of the queries to show where two systems differ most.")] = 5,
    confidence: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    n_resamples: score_options.NResamples = 10_000,
    seed: score_options.Seed = Options.seed,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the comparison as JSON.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the tables as LaTeX (booktabs).")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables as Markdown.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Folder to write the figures to; made if it is not there.")] = None,
    plot_format: Annotated[str, typer.Option(help=f"Format of the figures: {', '.join(FORMATS)}.")] = "pdf",
    ignore_unknown: score_options.IgnoreUnknown = False,
    metrics: score_options.Metrics = None,
    encoder: score_options.Encoder = Options.encoder,
    preset: score_options.Preset = None,
    bertscore_encoder: score_options.BertscoreEncoder = None,
    moverscore_encoder: score_options.MoverscoreEncoder = None,
    bertscore_layer: score_options.BertscoreLayer = None,
    rescale_with_baseline: score_options.RescaleWithBaseline = False,
    idf: score_options.Idf = False,
    moverscore_formula: score_options.MoverscoreFormula = Options.moverscore_formula,
    moverscore_layers: score_options.MoverscoreLayers = Options.moverscore_layers,
    moverscore_ngram: score_options.MoverscoreNgram = Options.moverscore_ngram,
    stop_words: score_options.StopWords = "",
    max_facts: score_options.MaxFacts = Options.max_facts,
    excess_facts: score_options.ExcessFacts = Options.excess_facts,
    no_gold_facts: score_options.NoGoldFacts = Options.no_gold_facts,
    device: score_options.Device = None,
    batch_tokens: score_options.BatchTokens = Options.batch_tokens,
    max_length: score_options.MaxLength = None,
    cache_mb: score_options.CacheMb = Options.cache_mb,
    no_progress: score_options.NoProgress = False,
) -> None:
    """Compare systems on the same queries: differences, intervals, permutation tests, and where they differ most."""
    # Imported here: these need numpy.
    from argscichat.compare import compare_systems

    options = score_options.scoring_options(locals())
    systems = dict(zip(_names(name, predictions), predictions, strict=True))
    writers = [
        (json_file, lambda comparison: json_text(comparison.to_dict())),
        (latex, latex_table),
        (markdown, markdown_table),
    ]
    for file, _ in writers:
        if file:
            check_can_write(file)
    if plot:
        _check_figures(plot, plot_format)
    comparison = compare_systems(
        systems, references, all_pairs=all_pairs, show=show, ignore_unknown=ignore_unknown, **options
    )
    Console(highlight=False).print(comparison_table(comparison), soft_wrap=True)
    for file, text_of in writers:
        if file:
            write_whole(file, text_of(comparison))
    if plot:
        _write_figures(comparison, options, plot, plot_format)


def file_names(files: Sequence[Path]) -> list[str]:
    """Names of systems from those of their files.

    Args:
        files: one file a system.

    Returns:
        The stem of each file; where stems repeat, with the folder before it, and a number if that repeats, too.

    Example:
        >>> file_names([Path("a/run.jsonl"), Path("b/run.jsonl"), Path("tfidf.jsonl")])
        ['a/run', 'b/run', 'tfidf']
    """
    stems = [file.stem for file in files]
    names: list[str] = []
    for file, stem in zip(files, stems, strict=True):
        wanted = stem if stems.count(stem) == 1 else f"{file.parent.name}/{stem}"
        number = 1
        while (candidate := wanted if number == 1 else f"{wanted} ({number})") in names:
            number += 1
        names.append(candidate)
    return names


def _names(given: Sequence[str] | None, files: Sequence[Path]) -> list[str]:
    if not given:
        return file_names(files)
    if len(given) != len(files):
        raise ValueError(f"--name: expected one name for each of the {len(files)} files, got {len(given)}")
    repeated = next((name for name in given if given.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(f"--name: expected names that differ, got {shorten(repeated)} more than once")
    return list(given)


def _check_figures(folder: Path, file_format: str) -> None:
    if file_format not in FORMATS:
        raise ValueError(f"--plot-format: expected one of {', '.join(FORMATS)}, got {shorten(file_format)}")
    check_can_write(folder / f"scores.{file_format}" if folder.is_dir() else folder)
    if folder.is_file():
        raise NotADirectoryError(f"{folder}: expected a folder for the figures, got a file")


def _write_figures(comparison: Comparison, options: dict[str, Any], folder: Path, file_format: str) -> None:
    from argscichat.comparison_figures import comparison_figures

    folder.mkdir(exist_ok=True)
    for name, figure in comparison_figures(comparison, **options):
        save_figure(figure, folder / f"{name}.{file_format}")
