"""Splits by paper: folds in which every paper is tested once, and a check that no paper is in two splits.

The official folds (`official_files.fold_files`) test only 10 of the 20 papers. The folds made here test all of them,
and hold about the same number of message pairs.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, product
from typing import Any

from argscichat_dataset.source import shown

DEFAULT_K = 5
DEFAULT_SEED = 0
# Test, validation and training papers come from different folds.
MIN_K = 3


class LeakageError(ValueError):
    """The same paper or the same dialogue in two splits."""


def paper_folds(n_pairs: Mapping[str, int], k: int = DEFAULT_K, seed: int = DEFAULT_SEED) -> list[list[str]]:
    """Divide papers into folds with about the same number of message pairs.

    The papers are taken in the order of the sha256 of seed and id, each into the fold that has the fewest pairs so far.
    Then papers move, or change places, between two folds as long as that brings the sizes of the two closer. Nothing
    depends on the platform, the Python version or the order of `n_pairs`.

    Args:
        n_pairs: id of a paper -> number of its message pairs, at least 0.
        k: number of folds, from 3 to the number of papers that have pairs.
        seed: any integer; another one gives other folds.

    Returns:
        `k` lists of paper ids; each paper is in exactly one of them.

    Raises:
        TypeError: `k` or `seed` is not an integer.
        ValueError: `k` is out of range.
    """
    check_k_and_seed(k, seed)
    n_papers = sum(count > 0 for count in n_pairs.values())
    if k > n_papers:
        raise ValueError(f"k: expected at most {n_papers}, the number of papers with message pairs, got {k}")
    folds: list[list[str]] = [[] for _ in range(k)]
    for paper in sorted(n_pairs, key=lambda paper: _rank(paper, seed)):
        min(folds, key=lambda fold: (_size(fold, n_pairs), len(fold))).append(paper)
    # Every step lessens the sum of the squared sizes, which is a whole number and at least 0, so this ends.
    # `sum`, not `any`: a whole round over all pairs of folds, where `any` would start again after each change.
    while sum(_brought_closer(big, small, n_pairs) for big, small in permutations(folds, 2)):
        pass
    return folds


def fold_splits(
    n_pairs: Mapping[str, int], fold: int, k: int = DEFAULT_K, seed: int = DEFAULT_SEED
) -> dict[str, list[str]]:
    """Papers of the three splits of one fold.

    Args:
        n_pairs: id of a paper -> number of its message pairs.
        fold: number of the fold that is tested, from 0 to `k - 1`.
        k: number of folds.
        seed: seed of the folds.

    Returns:
        "train", "validation", "test" -> paper ids in the order of `n_pairs`. Validation papers are the test papers of
        the next fold (of fold 0 after the last one), all others are for training.

    Raises:
        TypeError: `k` or `seed` is not an integer.
        ValueError: `k` or `fold` is out of range.
    """
    folds = paper_folds(n_pairs, k, seed)
    if not 0 <= fold < k:
        raise ValueError(f"fold: expected 0 to {k - 1} for k={k}, got {fold}")
    split_of = {paper: "validation" for paper in folds[(fold + 1) % k]} | {paper: "test" for paper in folds[fold]}
    splits: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
    for paper in n_pairs:
        splits[split_of.get(paper, "train")].append(paper)
    return splits


def check_k_and_seed(k: int, seed: int) -> None:
    """Refuse options that no folds can be made with.

    Args:
        k: number of folds.
        seed: seed of the folds.

    Raises:
        TypeError: one of them is not an integer.
        ValueError: `k` is below 3.
    """
    for name, value in (("k", k), ("seed", seed)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name}: expected an integer, got {type(value).__name__}")
    if k < MIN_K:
        raise ValueError(f"k: expected at least {MIN_K}, as test, validation and training papers differ, got {k}")


def check_no_leakage(dataset_dict: Mapping[str, Any]) -> None:
    """Refuse splits that share a paper or a dialogue.

    Two rows are of the same paper if they have the same `paper_id`, or if their titles differ only in case, accents,
    punctuation and white space. Where there is no `title` column, ids are compared in that way (with punctuation as a
    space, so that `doc 1_1` and `doc 11` stay two papers). Where there is a `dialogue_id` column, no dialogue may be in
    two splits either.

    Args:
        dataset_dict: name of a split -> rows with a `paper_id`: a `DatasetDict`, an `IterableDatasetDict` (each split
            is read to its end), or a mapping to lists of dicts or to dicts of columns.

    Raises:
        LeakageError: a paper or a dialogue is in two splits; the message names it and the two splits.
        TypeError: not a mapping of splits.
        ValueError: a row has no `paper_id`.
    """
    if not isinstance(dataset_dict, Mapping):
        raise TypeError(f"dataset_dict: expected a mapping from split to rows, got {type(dataset_dict).__name__}")
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for split, rows in dataset_dict.items():
        for row in _rows(rows):
            if row.get("paper_id") is None:
                raise ValueError(f"split {shown(str(split))}: expected a paper_id in every row, got none")
            for key in _marks(row):
                first_split, first_paper = seen.setdefault(key, (str(split), str(row["paper_id"])))
                if first_split != str(split):
                    raise _leakage(key, (first_split, first_paper), (str(split), str(row["paper_id"])))


def _rank(paper: str, seed: int) -> str:
    return hashlib.sha256(f"{seed} {paper}".encode("utf-8", "surrogatepass")).hexdigest()


def _size(fold: Iterable[str], n_pairs: Mapping[str, int]) -> int:
    return sum(n_pairs[paper] for paper in fold)


def _brought_closer(big: list[str], small: list[str], n_pairs: Mapping[str, int]) -> bool:
    """Move the paper, or exchange the two papers, that bring the sizes closest; whether there was any to the good."""
    gap = _size(big, n_pairs) - _size(small, n_pairs)
    if gap < 2:
        return False

    def gap_after(change: tuple[str, str | None]) -> int:
        given, taken = change
        return abs(gap - 2 * (n_pairs[given] - (n_pairs[taken] if taken is not None else 0)))

    # None, a move without return, comes last: of two equal changes the first is taken, and keeps the number of papers.
    given, taken = min(product(big, [*small, None]), key=gap_after)
    if gap_after((given, taken)) >= gap:
        return False
    big.remove(given)
    small.append(given)
    if taken is not None:
        small.remove(taken)
        big.append(taken)
    return True


def _rows(split: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(split, Mapping):
        return (dict(zip(split, values, strict=True)) for values in zip(*split.values(), strict=True))
    names = getattr(split, "column_names", None)
    if names and hasattr(split, "select_columns"):
        # The papers themselves need not be decoded; an IterableDataset may not know its columns.
        split = split.select_columns([name for name in ("paper_id", "title", "dialogue_id") if name in names])
    return iter(split)


def _marks(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What no row of another split may have."""
    yield "paper", str(row["paper_id"])
    if row.get("title") is None:
        yield "paper id", _plain(str(row["paper_id"]), " ")
    elif title := _plain(str(row["title"]), ""):
        yield "title", title
    if row.get("dialogue_id") is not None:
        yield "dialogue", str(row["dialogue_id"])


def _plain(text: str, joint: str) -> str:
    """A text without case, accents and punctuation, its words joined by `joint`."""
    characters = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(char if char.isalnum() else " " for char in characters if not unicodedata.combining(char))
    return joint.join(bare.split()) or text.strip()


def _leakage(key: tuple[str, str], first: tuple[str, str], second: tuple[str, str]) -> LeakageError:
    kind, value = key
    papers, splits = (shown(first[1]), shown(second[1])), f"splits {shown(first[0])} and {shown(second[0])}"
    if kind == "dialogue":
        return LeakageError(f"dialogue {shown(value)} of paper {papers[1]} is in the {splits}")
    if first[1] == second[1]:
        return LeakageError(f"paper {papers[0]} is in the {splits}")
    same = "title" if kind == "title" else "id"
    return LeakageError(
        f"papers {papers[0]} and {papers[1]}, in the {splits}, have the same {same} but for its writing"
    )
