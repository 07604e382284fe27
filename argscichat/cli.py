"""The command line: `score` is here, the other commands are in `*_command.py` and `*_commands.py`."""

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from argscichat import (
    baseline_commands,
    compare_command,
    data_commands,
    publish_command,
    retrieval_command,
    score_options,
)
from argscichat.folds import names_folds, score_folds
from argscichat.output_files import check_can_write, json_text, write_json_lines, write_whole
from argscichat.scoring import score_file
from argscichat.tables import fold_table, score_table
from argscichat_metric.options import Options
from argscichat_metric.version import __version__

USAGE_ERROR = 2
"""Exit code for input that cannot be scored, as typer gives for arguments that cannot be read."""

app = typer.Typer(
    help="Scores for dialogue agents on scientific papers (ArgSciChat).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_commands.app, name="data")
app.add_typer(baseline_commands.app, name="baseline")


def main() -> None:
    """Run the command line; bad input ends with one message on stderr and exit code 2."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)  # a warning about each of five folds is one line
        warnings.showwarning = _show_warning
        try:
            app()
        except (ValueError, TypeError, OSError) as error:
            _print_line(f"error: {error}", "red")
            sys.exit(USAGE_ERROR)


def _show_warning(message: Warning | str, *_place: Any) -> None:
    """Show what a warning says, without the line of our code that it comes from."""
    _print_line(f"warning: {message}", "yellow")


def _print_line(text: str, style: str) -> None:
    Console(stderr=True).print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"argscichat {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command(no_args_is_help=True)
def score(
    predictions: Annotated[
        Path,
        typer.Argument(help="JSON Lines: {'id', 'message', 'facts'} a query. '{fold}' in both names: several folds."),
    ],
    references: score_options.ReferencesPlace,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the result as JSON.")] = None,
    per_example: Annotated[Path | None, typer.Option(help="Write the scores of each query as JSON Lines.")] = None,
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
    confidence: Annotated[float | None, typer.Option(help="Level of bootstrap intervals, such as 0.95.")] = None,
    n_resamples: score_options.NResamples = Options.n_resamples,
    seed: score_options.Seed = Options.seed,
    device: score_options.Device = None,
    batch_tokens: score_options.BatchTokens = Options.batch_tokens,
    max_length: score_options.MaxLength = None,
    cache_mb: score_options.CacheMb = Options.cache_mb,
    no_progress: score_options.NoProgress = False,
) -> None:
    """Score the predictions of an agent: Fact-F1, Message-F1, BERTScore and MoverScore."""
    options = score_options.scoring_options(locals()) | {"per_example": per_example is not None}
    for file in filter(None, (json_file, per_example)):
        check_can_write(file)
    score_all, table_of = (
        (score_folds, fold_table) if names_folds(predictions, references) else (score_file, score_table)
    )
    scored = score_all(predictions, references, ignore_unknown=ignore_unknown, **options)
    Console(highlight=False).print(table_of(scored, f"{predictions.name} on {Path(references).name}"), soft_wrap=True)
    if json_file:
        write_whole(json_file, json_text(scored.summary()))
    if per_example:
        write_json_lines(per_example, scored.per_example())


# Here, as the help lists the commands in the order in which they are registered.
app.command(no_args_is_help=True)(compare_command.compare)
app.command(no_args_is_help=True)(retrieval_command.retrieval)
app.command(no_args_is_help=True)(publish_command.publish)
