"""Predictions by fold -> each fold, the mean of the folds as papers report it, and the mean over all queries."""

import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any

from argscichat.handed_in import read_predictions, read_references
from argscichat.scoring import MatchedRows, ScoredFile, match_rows
from argscichat_dataset.built import built_configs
from argscichat_metric.compute import RowScores, check_units, result_of, score_rows
from argscichat_metric.options import Options
from argscichat_metric.report import Column, summarize
from argscichat_metric.rows import Pairs, pair_rows
from argscichat_metric.shortened import shorten

FOLD = "{fold}"
"""What stands for the name of the fold in the names of files and configs."""


@dataclass(frozen=True)
class ScoredFolds:
    """The scores of one agent on several folds.

    Args:
        folds: name of the fold -> its scores, `per_example` included; numbers in the names are in their order.
        mean_of_folds: score -> mean of the means of the folds; a fold where no query counts takes no part.
        std_of_folds: score -> sample standard deviation (of n - 1) of the means of the folds; None for fewer than two.
        pooled: what `compute_scores` returns, over the queries of all folds together; each query has the scores that it
            has in its fold.
    """

    folds: dict[str, ScoredFile]
    mean_of_folds: dict[str, float]
    std_of_folds: dict[str, float | None]
    pooled: dict[str, Any]

    def summary(self) -> dict[str, Any]:
        """All results as one dict for JSON, without the scores of each query."""
        return {
            "folds": {fold: scored.summary() for fold, scored in self.folds.items()},
            "mean_of_folds": self.mean_of_folds,
            "std_of_folds": self.std_of_folds,
            "pooled": self.pooled,
        }

    def per_example(self) -> list[dict[str, Any]]:
        """One dict a query: its fold, its id and its scores, None where a rule leaves the query out of a mean."""
        return [{"fold": fold} | row for fold, scored in self.folds.items() for row in scored.per_example()]


def score_folds(
    predictions: str | os.PathLike[str],
    references: str | os.PathLike[str],
    *,
    ignore_unknown: bool = False,
    **options: Any,
) -> ScoredFolds:
    """Score the predictions of an agent on several folds.

    The folds are those of the references: every file, or config of a built dataset, whose name fits.

    Args:
        predictions: names of JSON Lines files with `{fold}` for the fold: `"predictions/fold_{fold}.jsonl"`.
        references: likewise, names of official fold files (`"fold_{fold}_test.json"`) or JSON Lines files, or
            `"DIR:papers_{fold}:test"` of a dataset that `argscichat data build` wrote.
        ignore_unknown: leave predictions out whose id, or whose fold, is not in the references, instead of refusing
            them.
        **options: options of `compute_scores`; the scores of every query are kept in any case. With `confidence`, each
            fold and `pooled` have intervals.

    Returns:
        The scores by fold, and over the folds in two ways.

    Raises:
        OSError: a file cannot be read, or a fold has no predictions.
        TypeError: a value of the wrong type, an unknown option.
        ValueError: no fold, names without `{fold}`, malformed input, ids that do not match, folds whose rows carry
            different fields; the text names file and place, or the fold.
    """
    checked = Options.of(options | {"per_example": True})
    matched = {
        fold: match_rows(read_predictions(ours), read_references(theirs), ignore_unknown=ignore_unknown)
        for fold, (ours, theirs) in _find_folds(predictions, references, ignore_unknown).items()
    }
    pairs = {fold: _pairs_of(fold, rows) for fold, rows in matched.items()}
    _check_alike(pairs, with_papers=checked.confidence is not None)
    parts = {fold: _score_fold(fold, of_fold, checked) for fold, of_fold in pairs.items()}
    folds = {
        fold: ScoredFile(result_of([parts[fold]], pairs[fold].paper_ids, checked), rows)
        for fold, rows in matched.items()
    }
    means = _means_by_fold([scored.result for scored in folds.values()])
    # From the scores in the folds: with idf, texts scored together have other weights than by fold.
    paper_ids = [paper_id for of_fold in pairs.values() for paper_id in of_fold.paper_ids]
    pooled = result_of(list(parts.values()), paper_ids, replace(checked, per_example=False))
    return ScoredFolds(
        folds,
        summarize(means),
        {key: _deviation(column) for key, column in means.items()},
        pooled,
    )


def names_folds(predictions: str | os.PathLike[str], references: str | os.PathLike[str]) -> bool:
    """Whether one of the names stands for several folds, so that `score_folds` is to read them."""
    return FOLD in os.fspath(predictions) or FOLD in os.fspath(references)


def _find_folds(
    predictions: str | os.PathLike[str], references: str | os.PathLike[str], ignore_unknown: bool
) -> dict[str, tuple[str, str]]:
    """Name of the fold -> its predictions and its references, in the order of the numbers in the names."""
    templates = {"predictions": os.fspath(predictions), "references": os.fspath(references)}
    for argument, template in templates.items():
        if FOLD not in template:
            raise ValueError(
                f"{argument}: expected a name with '{FOLD}' in it, as the other side has, got {shorten(template, 200)}"
            )
    files = _files_by_fold(templates["predictions"])
    found = _files_by_fold(templates["references"]) or _splits_by_fold(templates["references"])
    if not found:
        raise ValueError(f"references: no file and no config of a dataset fits {shorten(templates['references'], 200)}")
    for fold in found:
        if fold not in files:
            raise FileNotFoundError(
                f"{templates['predictions'].replace(FOLD, fold)}: there are no predictions for fold {fold!r} of "
                f"the references ({found[fold]})"
            )
    if unknown := [fold for fold in files if fold not in found]:
        if not ignore_unknown:
            raise ValueError(
                f"{files[unknown[0]]}: there are no references for fold {unknown[0]!r}; pass --ignore-unknown "
                "(ignore_unknown=True) to leave it out"
            )
    return {fold: (files[fold], found[fold]) for fold in sorted(found, key=_number_order)}


def _files_by_fold(template: str) -> dict[str, str]:
    template = os.path.normpath(template)
    files = glob.glob("*".join(map(glob.escape, template.split(FOLD))))
    return _names_by_fold(template, [file for file in map(os.path.normpath, files) if os.path.isfile(file)])


def _splits_by_fold(template: str) -> dict[str, str]:
    place = template.rsplit(":", 2)
    if len(place) < 3 or FOLD in place[0]:
        return {}
    configs = built_configs(place[0])
    return _names_by_fold(
        template, [f"{place[0]}:{config}:{split}" for config, splits in configs.items() for split in splits]
    )


def _names_by_fold(template: str, names: Sequence[str]) -> dict[str, str]:
    start, *rest = map(re.escape, template.split(FOLD))
    # The fold may stand in a folder and in the file's own name; it is the same in both.
    pattern = re.compile(start + r"(?P<fold>[^/\\]+)" + "(?P=fold)".join(rest))
    return {match["fold"]: name for name in names if (match := pattern.fullmatch(name))}


def _number_order(fold: str) -> list[tuple[int, str]]:
    """Sorts 10 behind 9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", fold)]


def _pairs_of(fold: str, rows: MatchedRows) -> Pairs:
    try:
        return pair_rows(rows.predictions, rows.references)
    except ValueError as error:
        raise ValueError(f"fold {shorten(fold)}: {error}") from error


def _score_fold(fold: str, pairs: Pairs, options: Options) -> RowScores:
    try:
        check_units(pairs, options)
        return score_rows(pairs, options)
    except ValueError as error:
        raise ValueError(f"fold {shorten(fold)}: {error}") from error


def _check_alike(pairs: Mapping[str, Pairs], with_papers: bool) -> None:
    """Refuse folds of which only some have messages, facts, or papers to resample: they have no common mean."""
    first = next(iter(pairs))
    for fold in pairs:
        fields = [_fields(pairs[name], with_papers) for name in (first, fold)]
        if fields[0] != fields[1]:
            raise ValueError(
                f"fold {shorten(fold)}: expected rows with {fields[0]}, as in fold {shorten(first)}, got {fields[1]}"
            )


def _fields(pairs: Pairs, with_papers: bool) -> str:
    has = {
        "message": pairs.predicted_messages is not None,
        "facts": pairs.predicted_facts is not None,
        "paper_id": with_papers and None not in pairs.paper_ids,
    }
    return " and ".join(repr(field) for field in has if has[field])


def _means_by_fold(results: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    return {
        key: [
            result[key] if any(value is not None for value in result["per_example"][key]) else None
            for result in results
        ]
        for key in results[0]["per_example"]
    }


def _deviation(column: Column) -> float | None:
    means = [value for value in column if value is not None]
    return stdev(means) if len(means) > 1 else None
