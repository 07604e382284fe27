"""Folds by paper: balance, determinism, coverage; and the leakage check, on everything that has splits."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_dataset.configs import config_rows
from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.official_files import fold_files
from argscichat_dataset.splits import LeakageError, check_no_leakage, fold_splits, paper_folds

# Message pairs of the 20 published papers, in the order of the paper ids.
REAL_SIZES = (18, 6, 14, 19, 16, 16, 9, 5, 16, 4, 23, 7, 9, 16, 21, 11, 6, 21, 6, 6)
PAPERS = {f"paper {number:02d}": size for number, size in enumerate(REAL_SIZES)}


def sizes(folds: list[list[str]], n_pairs: dict[str, int]) -> list[int]:
    """Message pairs of each fold."""
    return [sum(n_pairs[paper] for paper in fold) for fold in folds]


@pytest.fixture(scope="module")
def real_papers(shared_dir: Path) -> dict[str, int]:
    """Number of pairs of each real paper."""
    counts: dict[str, int] = {}
    for file in fold_files(0).values():
        for row in read_pairs(shared_dir / "argscichat" / file):
            counts[row["paper_id"]] = counts.get(row["paper_id"], 0) + 1
    return counts


# Folds


def test_known_folds() -> None:
    """Worked out by hand; the same on every platform.

    `printf '0 a' | sha256sum` and so on give the order e b f a c d, which fills the folds with e c (5), b d (7) and f a
    (6). The first exchange that brings 7 and 5 together is b for c.
    """
    n_pairs = {"a": 5, "b": 4, "c": 3, "d": 3, "e": 2, "f": 1}
    assert paper_folds(n_pairs, k=3) == [["e", "b"], ["d", "c"], ["f", "a"]]


@pytest.mark.parametrize("k", [3, 4, 5, 7, 10, 20])
@pytest.mark.parametrize("seed", [0, 1, -5, 2**70])
def test_every_paper_is_in_one_fold(k: int, seed: int) -> None:
    """And no fold is empty."""
    folds = paper_folds(PAPERS, k, seed)
    assert sorted(paper for fold in folds for paper in fold) == sorted(PAPERS)
    assert len(folds) == k and all(folds)


@pytest.mark.parametrize(("k", "bound"), [(3, 1.1), (4, 1.1), (5, 1.1), (6, 1.15), (7, 1.2), (8, 1.2), (10, 1.5)])
def test_folds_are_balanced(k: int, bound: float) -> None:
    """Ten seeds; the largest paper has 23 pairs, so more than ten folds cannot be even."""
    for seed in range(10):
        counts = sizes(paper_folds(PAPERS, k, seed), PAPERS)
        assert max(counts) / min(counts) <= bound


def test_order_of_the_papers_does_not_matter() -> None:
    """Nor does the kind of mapping."""
    items = list(PAPERS.items())
    random.Random(0).shuffle(items)
    assert paper_folds(dict(items)) == paper_folds(PAPERS)


def test_another_seed_gives_other_folds() -> None:
    """Ten seeds, ten different divisions, also when the numbers of the folds are left aside."""
    divisions = {frozenset(frozenset(fold) for fold in paper_folds(PAPERS, seed=seed)) for seed in range(10)}
    assert len(divisions) == 10


def test_folds_do_not_depend_on_the_hash_seed(root: Path) -> None:
    """Python hashes strings differently in every process."""
    code = f"from argscichat_dataset.splits import paper_folds; print(paper_folds({PAPERS!r}))"
    prints = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert prints == {f"{paper_folds(PAPERS)}\n"}


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(max_size=4), st.integers(0, 30), max_size=12), st.integers(3, 6), st.integers())
def test_any_papers_are_divided(n_pairs: dict[str, int], k: int, seed: int) -> None:
    """Papers without pairs too; every fold gets a pair, or k is refused."""
    if sum(count > 0 for count in n_pairs.values()) < k:
        with pytest.raises(ValueError, match="^k: expected at most"):
            paper_folds(n_pairs, k, seed)
        return
    folds = paper_folds(n_pairs, k, seed)
    assert sorted(paper for fold in folds for paper in fold) == sorted(n_pairs)
    assert min(sizes(folds, n_pairs)) > 0


@pytest.mark.parametrize("k", [2, 1, 0, -1, 21])
def test_k_out_of_range(k: int) -> None:
    """With two folds nothing is left to train on beside test and validation."""
    with pytest.raises(ValueError, match=f"^k: expected at (least 3|most 20).*got {k}$"):
        paper_folds(PAPERS, k)


@pytest.mark.parametrize(("name", "value"), [("k", "5"), ("k", 5.0), ("k", True), ("seed", None), ("seed", "0")])
def test_options_of_a_wrong_type(name: str, value: Any) -> None:
    """The message names the option."""
    with pytest.raises(TypeError, match=f"^{name}: expected an integer, got {type(value).__name__}"):
        paper_folds(PAPERS, **{name: value})


def test_splits_of_a_fold() -> None:
    """Validation papers are the test papers of the next fold; all keep the order of the papers."""
    folds = paper_folds(PAPERS, 4, 7)
    for fold in range(4):
        splits = fold_splits(PAPERS, fold, 4, 7)
        assert list(splits) == ["train", "validation", "test"]
        assert splits["test"] == sorted(folds[fold])
        assert splits["validation"] == sorted(folds[(fold + 1) % 4])
        assert sorted(sum(splits.values(), [])) == sorted(PAPERS)


@pytest.mark.parametrize("fold", [-1, 5])
def test_fold_out_of_range(fold: int) -> None:
    """The message gives the range."""
    with pytest.raises(ValueError, match=f"^fold: expected 0 to 4 for k=5, got {fold}$"):
        fold_splits(PAPERS, fold)


def test_real_folds_are_balanced(real_papers: dict[str, int]) -> None:
    """20 of 20 papers tested once; the largest test fold is 1.04 times the smallest, 1.35 are allowed."""
    assert len(real_papers) == 20
    folds = paper_folds(real_papers)
    assert sorted(paper for fold in folds for paper in fold) == sorted(real_papers)
    counts = sizes(folds, real_papers)
    assert counts == [51, 49, 50, 50, 49]
    assert max(counts) / min(counts) <= 1.35


# Leakage

ROW = {"paper_id": "p1", "title": "Why Tea? A Study", "dialogue_id": "d1", "query": "Why?"}
OTHER = {"paper_id": "p2", "title": "On Milk", "dialogue_id": "d2", "query": "Why?"}


def as_dataset_dict(splits: dict[str, list[dict[str, Any]]]) -> datasets.DatasetDict:
    """The kind of dictionary that `load_dataset` returns."""
    return datasets.DatasetDict({name: datasets.Dataset.from_list(rows) for name, rows in splits.items()})


def as_streams(splits: dict[str, list[dict[str, Any]]]) -> datasets.IterableDatasetDict:
    """The kind that it returns with `streaming=True`."""
    return datasets.IterableDatasetDict({k: v.to_iterable_dataset() for k, v in as_dataset_dict(splits).items()})


def as_unknown_streams(splits: dict[str, list[dict[str, Any]]]) -> dict[str, datasets.IterableDataset]:
    """Streams that do not know their columns before they are read."""
    return {
        name: datasets.IterableDataset.from_generator(lambda rows=rows: iter(rows)) for name, rows in splits.items()
    }


def as_columns(splits: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, list[Any]]]:
    """Plain columns."""
    return {name: {key: [row[key] for row in rows] for key in rows[0]} for name, rows in splits.items()}


KINDS = {
    "rows": dict,
    "datasets": as_dataset_dict,
    "streams": as_streams,
    "unknown": as_unknown_streams,
    "columns": as_columns,
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_leakage(kind: Any) -> None:
    """Nothing is raised; rows of one paper may be in one split as often as they like."""
    check_no_leakage(kind({"train": [ROW, ROW], "validation": [OTHER]}))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_same_paper(kind: Any) -> None:
    """The message names the paper and the two splits."""
    splits = {
        "train": [ROW],
        "validation": [OTHER],
        "test": [dict(OTHER, dialogue_id="d3"), dict(ROW, dialogue_id="d4")],
    }
    with pytest.raises(LeakageError, match="^paper 'p2' is in the splits 'validation' and 'test'$"):
        check_no_leakage(kind(splits))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_same_dialogue(kind: Any) -> None:
    """Under another paper, so that only the dialogue gives it away."""
    with pytest.raises(LeakageError, match="^dialogue 'd1' of paper 'p2' is in the splits 'train' and 'test'$"):
        check_no_leakage(kind({"train": [ROW], "test": [dict(OTHER, dialogue_id="d1")]}))


@pytest.mark.parametrize(
    "title", ["why tea?  a study", "Why Tea: A Study.", "WHY TEA A\tSTUDY", "Why T\u00e9a? A-Study", " Why Tea?A Study"]
)
def test_same_title_in_other_writing(title: str) -> None:
    """Case, punctuation, white space and accents make no other paper."""
    rows = {"train": [ROW], "test": [dict(OTHER, title=title)]}
    with pytest.raises(
        LeakageError, match="papers 'p1' and 'p2', in the splits 'train' and 'test', have the same title"
    ):
        check_no_leakage(as_dataset_dict(rows))


def test_ids_stand_in_for_titles() -> None:
    """Where there are no titles."""
    rows = {"train": [{"paper_id": "Why Tea? A Study"}], "test": [{"paper_id": "why tea: a study"}]}
    with pytest.raises(LeakageError, match="'Why Tea\\? A Study' and 'why tea: a study'.*the same id"):
        check_no_leakage(as_dataset_dict(rows))


@pytest.mark.parametrize(
    ("first", "second"),
    [("doc 1_1", "doc 11"), ("007", "7"), ("?", "!"), ("C", "C plus")],
)
def test_ids_that_are_not_the_same(first: str, second: str) -> None:
    """No false alarm."""
    check_no_leakage({"train": [{"paper_id": first}], "test": [{"paper_id": second}]})


def test_blank_titles_are_no_titles() -> None:
    """Two papers without a title are two papers."""
    check_no_leakage({"train": [dict(ROW, title="")], "test": [dict(OTHER, title="")]})


def test_missing_paper_id() -> None:
    """The message names the split."""
    with pytest.raises(ValueError, match="^split 'test': expected a paper_id in every row, got none$"):
        check_no_leakage({"train": [ROW], "test": [{"title": "On Milk"}]})


@pytest.mark.parametrize("value", [[ROW], datasets.Dataset.from_list([ROW]), None])
def test_one_split_is_no_dictionary(value: Any) -> None:
    """A single Dataset has no splits."""
    with pytest.raises(TypeError, match="^dataset_dict: expected a mapping"):
        check_no_leakage(value)


@pytest.mark.parametrize("value", [{}, {"train": []}, {"train": [], "test": [ROW]}])
def test_empty_splits(value: Any) -> None:
    """Nothing leaks where nothing is."""
    check_no_leakage(value)


def test_no_real_config_leaks(shared_dir: Path) -> None:
    """All folds, official and by paper; `config_rows` checks too, this asks again from outside."""
    folder = shared_dir / "argscichat"
    paths = {name: folder / name for fold in range(5) for name in fold_files(fold).values()}
    for name in [f"{kind}_{fold}" for kind in ("fold", "papers") for fold in range(5)]:
        splits = config_rows(name, paths)
        check_no_leakage(splits)
        assert list(splits) == ["train", "validation", "test"]
