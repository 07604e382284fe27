"""Row scores -> the result of `compute()`: means, confidence intervals, explicit counts, and the signature."""

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

from .confidence import FEW_UNITS, Units, bootstrap_intervals, unit_totals
from .options import Options
from .version import __version__

Column = Sequence[float | None]
"""One score for every row, in input order; None where a rule leaves the row out of the mean."""

_PLURALS = {"paper": "papers", "query": "queries"}
_LIBRARIES = ("torch", "transformers", "tokenizers", "POT")


def summarize(columns: Mapping[str, Column]) -> dict[str, float]:
    """Mean of every score.

    Args:
        columns: result key -> one value or None a row.

    Returns:
        Result key -> mean over the rows that count; 0.0 where none does.
    """
    counted = {key: [value for value in column if value is not None] for key, column in columns.items()}
    return {key: fmean(values) if values else 0.0 for key, values in counted.items()}


def intervals(columns: Mapping[str, Column], units: Units, options: Options) -> dict[str, list[float] | None]:
    """Bootstrap interval of the mean of every score.

    Args:
        columns: result key -> one value or None a row.
        units: what is resampled; see `confidence.units_of`.
        options: options of the call, with a `confidence`.

    Returns:
        `<result key>_ci` -> `[low, high]`; None where the rows that count belong to fewer than two units, with a
        warning. Few units give a warning, too.
    """
    import numpy as np

    totals = [unit_totals(column, units.unit_of_row, len(units.names)) for column in columns.values()]
    sums, counts = (np.stack(side, axis=1) for side in zip(*totals, strict=True))
    found = bootstrap_intervals(sums, counts, options.confidence, options.n_resamples, options.seed)
    _warn_of_few_units(dict(zip(columns, (counts > 0).sum(axis=0).tolist(), strict=True)), _PLURALS[units.kind])
    return {
        f"{key}_ci": None if np.isnan(ends).any() else ends.tolist() for key, ends in zip(columns, found, strict=True)
    }


def _warn_of_few_units(n_of_score: Mapping[str, int], units: str) -> None:
    for n in sorted(set(n_of_score.values())):
        scores = ", ".join(key for key, value in n_of_score.items() if value == n)
        if n < 2:
            warnings.warn(f"no interval of {scores}: it takes two {units} that count, got {n}", stacklevel=3)
        elif n < FEW_UNITS:
            warnings.warn(
                f"the intervals of {scores} rest on {n} {units}; with fewer than {FEW_UNITS} they are too narrow",
                stacklevel=3,
            )


def signature(
    options: Options, metrics: Sequence[str], encoders: Mapping[str, str], resampled: str | None = None
) -> str:
    """Everything that changes a number, in one line to print beside the scores.

    Args:
        options: options of the call.
        metrics: the metrics that were computed.
        encoders: metric -> encoder, revision and layers, of the embedding scores.
        resampled: `"paper"` or `"query"`, where there are intervals.

    Returns:
        `key:value` parts joined by `|`, in the manner of sacreBLEU (Post, arXiv 1804.08771).
    """
    parts: dict[str, Any] = {"argscichat": __version__, "metrics": "+".join(metrics)}
    if "fact_f1" in metrics:
        parts |= {"max_facts": options.max_facts, "excess": options.excess_facts, "no_gold": options.no_gold_facts}
    if "message_f1" in metrics:
        parts |= {"words": "squad2"}
    if encoders:
        parts |= {"idf": _yes(options.idf), "max_length": options.max_length or "encoder"}
    if "bertscore" in encoders:
        parts |= {"bertscore": encoders["bertscore"], "rescaled": _yes(options.rescale_with_baseline)}
    if "moverscore" in encoders:
        parts |= {"moverscore": encoders["moverscore"], "layers": options.moverscore_layers}
        parts |= {"ngram": options.moverscore_ngram, "formula": options.moverscore_formula}
        parts |= {"stop_words": "+".join(sorted(options.stop_words)) or "none"}
    if resampled:
        parts |= {"ci": options.confidence, "resampled": _PLURALS[resampled]}
        parts |= {"resamples": options.n_resamples, "seed": options.seed}
    if encoders:
        parts |= {name.lower(): version_of(name) for name in _LIBRARIES}
    return signature_of(parts)


def signature_of(parts: Mapping[str, Any]) -> str:
    """The parts of a signature as one text: `key:value`, joined by `|`."""
    return "|".join(f"{key}:{value}" for key, value in parts.items())


@cache  # reading the metadata of a package takes milliseconds
def version_of(library: str) -> str:
    """The installed version of a library, `"unknown"` where it is not installed.

    Args:
        library: name of its distribution.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(library)
    except PackageNotFoundError:
        return "unknown"


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
