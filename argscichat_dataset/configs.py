"""The configs of the dataset: what each is called, which official files it needs, and its rows, split by split.

Rows of an official fold are in the order of its files. Other message pairs and papers are in the order of the paper
ids, which is the order inside every official file, and the pairs of one paper in the order of the file. All official
files that hold a paper agree on it, so the whole corpus is read from the three files of fold 0.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from argscichat_dataset.corpus import Row, check_distinct_ids, paper_rows, read_pairs
from argscichat_dataset.intents import intent_rows, read_intents
from argscichat_dataset.official_files import INTENTS_FILE, N_FOLDS, fold_files
from argscichat_dataset.source import read_fold, shown
from argscichat_dataset.splits import DEFAULT_K, DEFAULT_SEED, check_k_and_seed, check_no_leakage, fold_splits

FOLD_CONFIGS = tuple(f"fold_{fold}" for fold in range(N_FOLDS))
PAPERS_CONFIGS = tuple(f"papers_{fold}" for fold in range(DEFAULT_K))
# One split, `train`, as `datasets` calls the only split of data that is not divided.
WHOLE_CONFIGS = ("all", "papers", "intents")
# Of these, the ones whose rows are no message pairs.
CONFIGS_WITHOUT_PAIRS = ("papers", "intents")
CONFIG_NAMES = (*FOLD_CONFIGS, *PAPERS_CONFIGS, *WHOLE_CONFIGS)

Splits = dict[str, list[Any]]


def stratified_fold(name: str) -> int | None:
    """Number of the fold that a config `papers_<number>` tests.

    Args:
        name: name of a config.

    Returns:
        The number, or None where the config is another one.

    Example:
        >>> stratified_fold("papers_12"), stratified_fold("papers")
        (12, None)
    """
    match = re.fullmatch(r"papers_(0|[1-9][0-9]{0,5})", name)
    return int(match[1]) if match else None


def check_config(name: str, k: int = DEFAULT_K, seed: int = DEFAULT_SEED) -> None:
    """Refuse a config that does not exist.

    Args:
        name: name of the config.
        k: number of folds of `papers_*`; the other configs have no use for it.
        seed: seed of the folds of `papers_*`; likewise.

    Raises:
        TypeError: `k` or `seed` is not an integer.
        ValueError: no config has this name, `k` is below 3, or the fold is not one of `k`.
    """
    fold = stratified_fold(name)
    if fold is None:
        if name not in CONFIG_NAMES:
            raise ValueError(f"config: expected one of {', '.join(CONFIG_NAMES)}, got {shown(name)}")
        if (k, seed) != (DEFAULT_K, DEFAULT_SEED):
            raise ValueError(
                f"config {name!r}: k and seed are options of papers_0, papers_1 and so on, and not of this one"
            )
        return
    check_k_and_seed(k, seed)
    if fold >= k:
        raise ValueError(f"config {name!r}: expected papers_0 to papers_{k - 1} for k={k}")


def config_files(name: str) -> tuple[str, ...]:
    """Names of the official files that a config is made of.

    Args:
        name: name of the config.

    Returns:
        The names; no other file needs to be there.

    Example:
        >>> config_files("fold_3")
        ('fold_3_train.json', 'fold_3_val.json', 'fold_3_test.json')
    """
    if name in FOLD_CONFIGS:
        return tuple(fold_files(FOLD_CONFIGS.index(name)).values())
    corpus_files = tuple(fold_files(0).values())
    return (*corpus_files, INTENTS_FILE) if name == "intents" else corpus_files


def config_rows(name: str, paths: Mapping[str, Path], k: int = DEFAULT_K, seed: int = DEFAULT_SEED) -> Splits:
    """Rows of a config.

    Args:
        name: name of the config.
        paths: name of an official file -> path, for each of `config_files(name)`.
        k: number of folds of `papers_*`.
        seed: seed of the folds of `papers_*`.

    Returns:
        Split -> its rows: `IntentRow` in "intents", `PaperRow` in "papers", `Row` in all others.

    Raises:
        SourceError: a file cannot be read or does not have the official format.
        AlignmentError: a fact matches no sentence.
        LeakageError: a paper or dialogue is in two splits, or in two files of the corpus.
        TypeError: `k` or `seed` is not an integer.
        ValueError: no config has this name, or `k` is out of range.
    """
    check_config(name, k, seed)
    if name in FOLD_CONFIGS:
        return _official_fold(FOLD_CONFIGS.index(name), paths)
    if name == "papers":
        return {"train": _papers(paths)}
    pairs = _corpus(paths)
    if name == "intents":
        return {"train": list(intent_rows(read_intents(paths[INTENTS_FILE]), pairs))}
    fold = stratified_fold(name)
    return {"train": pairs} if fold is None else stratified_splits(pairs, fold, k, seed)


def stratified_splits(pairs: Sequence[Row], fold: int, k: int = DEFAULT_K, seed: int = DEFAULT_SEED) -> Splits:
    """Divide message pairs by paper into the three splits of one fold.

    Args:
        pairs: the message pairs.
        fold: number of the fold that is tested, from 0 to `k - 1`.
        k: number of folds, from 3 to the number of papers.
        seed: seed of the folds.

    Returns:
        "train", "validation", "test" -> rows, in the order of `pairs` by paper.

    Raises:
        LeakageError: a paper is in two splits, under two ids.
        TypeError: `k` or `seed` is not an integer.
        ValueError: `k` or `fold` is out of range.
    """
    by_paper: dict[str, list[Row]] = {}
    for row in pairs:
        by_paper.setdefault(row["paper_id"], []).append(row)
    papers = fold_splits({paper: len(rows) for paper, rows in by_paper.items()}, fold, k, seed)
    splits = {split: [row for paper in ids for row in by_paper[paper]] for split, ids in papers.items()}
    check_no_leakage(splits)
    return splits


def _official_fold(fold: int, paths: Mapping[str, Path]) -> Splits:
    splits = {split: read_pairs(paths[file]) for split, file in fold_files(fold).items()}
    check_no_leakage(splits)
    check_distinct_ids({file: splits[split] for split, file in fold_files(fold).items()})
    return dict(splits)


def _corpus(paths: Mapping[str, Path]) -> list[Row]:
    files = {file: read_pairs(paths[file]) for file in fold_files(0).values()}
    check_no_leakage(files)
    check_distinct_ids(files)
    # The sort is stable: the pairs of a paper stay in the order of the file.
    return sorted((row for rows in files.values() for row in rows), key=lambda row: row["paper_id"])


def _papers(paths: Mapping[str, Path]) -> list[Any]:
    files = {file: paper_rows(read_fold(paths[file]), paths[file]) for file in fold_files(0).values()}
    check_no_leakage(files)
    return sorted((row for rows in files.values() for row in rows), key=lambda row: row["paper_id"])
