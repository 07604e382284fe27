"""All baselines on the test splits of the corpus: the table that a new agent is compared with."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from tqdm.auto import tqdm

from argscichat.baselines import (
    BASELINES,
    QUERIES,
    READ_THE_QUERY,
    BaselineOptions,
    ranked,
    score_sentences,
    select_facts,
)
from argscichat_dataset.built import read_built_pairs
from argscichat_dataset.configs import FOLD_CONFIGS, PAPERS_CONFIGS, config_files, config_rows
from argscichat_dataset.corpus import Row
from argscichat_dataset.official_files import fold_files, local_files
from argscichat_metric.compute import compute_scores
from argscichat_metric.retrieval import compute_retrieval

FAMILIES = {"fold": FOLD_CONFIGS, "papers": PAPERS_CONFIGS}
"""Configs that are the folds of one kind: the official ones, and those that test every paper once."""

COLUMNS = {
    "fact_f1": "Fact-F1",
    "ndcg@10": "nDCG@10",
    "mrr": "MRR",
    "message_f1": "Message-F1",
    "bertscore_f1": "BERTScore",
    "moverscore": "MoverScore",
}
"""Result key -> name in a table."""

_CUTOFF = 10


@dataclass(frozen=True)
class BaselineResult:
    """The scores of one baseline.

    Args:
        name: a key of `BASELINES`, with ` + history` where the query is the whole dialogue.
        by_fold: config -> key of `COLUMNS` -> mean over the queries of its test split.
        signatures: those of the dialogue scores and of the retrieval scores.
    """

    name: str
    by_fold: dict[str, dict[str, float]]
    signatures: tuple[str, str]

    @property
    def mean(self) -> dict[str, float]:
        """Key of `COLUMNS` -> mean of the means of the folds, as the paper reports."""
        return {key: fmean(scores[key] for scores in self.by_fold.values()) for key in COLUMNS}


def read_test_splits(folder: str | os.PathLike[str], family: str) -> dict[str, list[Row]]:
    """Read the test splits of the folds of one kind.

    Args:
        folder: a dataset that `argscichat data build` wrote, or a folder with the official files.
        family: a key of `FAMILIES`.

    Returns:
        Config -> message pairs of its test split.

    Raises:
        SourceError: the folder is neither, or a file cannot be read.
    """
    if os.path.isfile(os.path.join(folder, fold_files(0)["test"])):
        files = {name: local_files(folder, config_files(name)) for name in FAMILIES[family]}
        return {name: config_rows(name, paths)["test"] for name, paths in files.items()}
    return {name: read_built_pairs(folder, name, "test") for name in FAMILIES[family]}


def baseline_results(
    folds: Mapping[str, Sequence[Row]], options: BaselineOptions, *, progress: bool = False
) -> list[BaselineResult]:
    """Score all baselines; those that read the query with the last message, and again with the whole dialogue.

    Args:
        folds: config -> message pairs of its test split.
        options: what changes a baseline; its `query` is not used.
        progress: whether to show a progress bar on stderr.

    Returns:
        One result a baseline and kind of query, in the order of `BASELINES`.

    Raises:
        EncoderError: the encoder cannot be loaded.
    """
    variants = [(name, query) for name in BASELINES for query in (QUERIES if name in READ_THE_QUERY else QUERIES[:1])]
    return [
        _result(name, folds, replace(options, query=query))
        for name, query in tqdm(variants, disable=not progress, unit="baseline")
    ]


def _result(name: str, folds: Mapping[str, Sequence[Row]], options: BaselineOptions) -> BaselineResult:
    by_fold, signatures = {}, ("", "")
    for fold, rows in folds.items():
        scores = score_sentences(name, rows, options)
        references = [{"message": row["reply"], "facts": row["facts"]} for row in rows]
        predictions = [
            {"message": prediction["message"], "facts": prediction["facts"]}
            for prediction in select_facts(rows, scores)
        ]
        # The scores are measured with the embedded encoder, whatever the baseline embeds with.
        answered = compute_scores(predictions, references, device=options.device)
        retrieved = compute_retrieval(
            [ranked(of_row) for of_row in scores], [row["fact_ids"] for row in rows], k=[_CUTOFF]
        )
        both = retrieved | answered
        by_fold[fold] = {key: both[key] for key in COLUMNS}
        signatures = (answered["signature"], retrieved["signature"])
    return BaselineResult(name + (" + history" if options.query == "history" else ""), by_fold, signatures)
