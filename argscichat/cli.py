"""The command line: `score` is here, the other commands are in `*_command.py` and `*_commands.py`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from argscichat import baseline_commands, data_commands, publish_command, retrieval_command
from argscichat.output_files import check_can_write, write_json_lines, write_whole
from argscichat.scoring import ScoredFile, score_file
from argscichat.tables import score_table
from argscichat_metric.options import METRICS, Options
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
    try:
        app()
    except (ValueError, TypeError, OSError) as error:
        Console(stderr=True).print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(USAGE_ERROR)


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
    predictions: Annotated[Path, typer.Argument(help="JSON Lines: {'id', 'message', 'facts'} a query.")],
    references: Annotated[
        str,
        typer.Argument(help="Official fold file (.json), JSON Lines (.jsonl), or DIR:config:split of a built dataset."),
    ],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the result as JSON.")] = None,
    per_example: Annotated[Path | None, typer.Option(help="Write the scores of each query as JSON Lines.")] = None,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="Leave out predictions with an unknown id.")
    ] = False,
    metrics: Annotated[str | None, typer.Option(help=f"Some of {','.join(METRICS)}; default: all.")] = None,
    encoder: Annotated[str, typer.Option(help="Embedded encoder, Hub id or local folder.")] = Options.encoder,
    preset: Annotated[str | None, typer.Option(help="'paper': the encoders of the original packages.")] = None,
    bertscore_encoder: Annotated[str | None, typer.Option(help="Another encoder for BERTScore.")] = None,
    moverscore_encoder: Annotated[str | None, typer.Option(help="Another encoder for MoverScore.")] = None,
    bertscore_layer: Annotated[int | None, typer.Option(help="Hidden layer; default: recommended, or last.")] = None,
    rescale_with_baseline: Annotated[bool, typer.Option("--rescale-with-baseline", help="Rescale BERTScore.")] = False,
    idf: Annotated[bool, typer.Option("--idf", help="Weigh tokens by inverse document frequency.")] = False,
    moverscore_formula: Annotated[str, typer.Option(help="reciprocal or linear.")] = Options.moverscore_formula,
    moverscore_layers: Annotated[str, typer.Option(help="last or power_means.")] = Options.moverscore_layers,
    moverscore_ngram: Annotated[int, typer.Option(help="Length of n-grams.")] = Options.moverscore_ngram,
    stop_words: Annotated[str, typer.Option(help="Words of weight 0 in MoverScore, with commas.")] = "",
    max_facts: Annotated[int, typer.Option(help="Facts that a prediction may hold.")] = Options.max_facts,
    excess_facts: Annotated[str, typer.Option(help="With more: error or truncate.")] = Options.excess_facts,
    no_gold_facts: Annotated[str, typer.Option(help="Without gold: skip, zero, squad.")] = Options.no_gold_facts,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps; default: cuda if there is one.")] = None,
    batch_tokens: Annotated[int, typer.Option(help="Padded tokens in a batch.")] = Options.batch_tokens,
    max_length: Annotated[int | None, typer.Option(help="Cut texts at this number of tokens.")] = None,
    cache_mb: Annotated[int, typer.Option(help="Limit of the cache of embeddings.")] = Options.cache_mb,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No bar on long work.")] = False,
) -> None:
    """Score the predictions of an agent: Fact-F1, Message-F1, BERTScore and MoverScore."""
    given = dict(locals())
    for file in filter(None, (json_file, per_example)):
        check_can_write(file)
    scored = score_file(predictions, references, ignore_unknown=ignore_unknown, **_options(given))
    Console(highlight=False).print(
        score_table(scored, f"{predictions.name} on {Path(references).name}"), soft_wrap=True
    )
    if json_file:
        write_whole(json_file, _result_text(scored))
    if per_example:
        write_json_lines(per_example, scored.per_example())


# Here, as the help lists the commands in the order in which they are registered.
app.command(no_args_is_help=True)(retrieval_command.retrieval)
app.command(no_args_is_help=True)(publish_command.publish)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of compute() among the arguments of the command."""
    options = {name: given[name] for name in Options.__dataclass_fields__ if name in given}
    options["metrics"] = _split(given["metrics"]) if given["metrics"] is not None else None
    options["stop_words"] = _split(given["stop_words"])
    options["per_example"] = given["per_example"] is not None
    options["progress"] = sys.stderr.isatty() and not given["no_progress"]
    return options


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _result_text(scored: ScoredFile) -> str:
    result = {key: value for key, value in scored.result.items() if key != "per_example"}
    return json.dumps(result | {"missing": scored.rows.missing}, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
