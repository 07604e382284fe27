"""The options of scoring that several commands take, declared once."""

import sys
from typing import Annotated, Any

import typer

from argscichat_metric.options import METRICS, Options

ReferencesPlace = Annotated[
    str, typer.Argument(help="Official fold file (.json), JSON Lines (.jsonl), or DIR:config:split of a built dataset.")
]
IgnoreUnknown = Annotated[bool, typer.Option("--ignore-unknown", help="Leave out predictions with an unknown id.")]
Metrics = Annotated[str | None, typer.Option(help=f"Some of {','.join(METRICS)}; default: all.")]
Encoder = Annotated[str, typer.Option(help="Embedded encoder, Hub id or local folder.")]
Preset = Annotated[str | None, typer.Option(help="'paper': the encoders of the original packages.")]
BertscoreEncoder = Annotated[str | None, typer.Option(help="Another encoder for BERTScore.")]
MoverscoreEncoder = Annotated[str | None, typer.Option(help="Another encoder for MoverScore.")]
BertscoreLayer = Annotated[int | None, typer.Option(help="Hidden layer; default: recommended, or last.")]
RescaleWithBaseline = Annotated[bool, typer.Option("--rescale-with-baseline", help="Rescale BERTScore.")]
Idf = Annotated[bool, typer.Option("--idf", help="Weigh tokens by inverse document frequency.")]
MoverscoreFormula = Annotated[str, typer.Option(help="reciprocal or linear.")]
MoverscoreLayers = Annotated[str, typer.Option(help="last or power_means.")]
MoverscoreNgram = Annotated[int, typer.Option(help="Length of n-grams.")]
StopWords = Annotated[str, typer.Option(help="Words of weight 0 in MoverScore, with commas.")]
MaxFacts = Annotated[int, typer.Option(help="Facts that a prediction may hold.")]
ExcessFacts = Annotated[str, typer.Option(help="With more: error or truncate.")]
NoGoldFacts = Annotated[str, typer.Option(help="Without gold: skip, zero, squad.")]
NResamples = Annotated[int, typer.Option(help="Resamples behind an interval or a test.")]
Seed = Annotated[int, typer.Option(help="Seed of the resampling.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps; default: cuda if there is one.")]
BatchTokens = Annotated[int, typer.Option(help="Padded tokens in a batch.")]
MaxLength = Annotated[int | None, typer.Option(help="Cut texts at this number of tokens.")]
CacheMb = Annotated[int, typer.Option(help="Limit of the cache of embeddings.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="No bar on long work.")]


def scoring_options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of compute() among the arguments of a command.

    Args:
        given: names and values of the arguments, among them `metrics`, `stop_words` and `no_progress`.

    Returns:
        Options as `options.Options` takes them; `per_example` is left to the command.
    """
    options = {name: given[name] for name in Options.__dataclass_fields__ if name in given and name != "per_example"}
    options["metrics"] = _split(given["metrics"]) if given["metrics"] is not None else None
    options["stop_words"] = _split(given["stop_words"])
    options["progress"] = sys.stderr.isatty() and not given["no_progress"]
    return options


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
