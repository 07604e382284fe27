"""Every config of the published files, as the builder gives it: sizes, order, coverage and the official folds."""

import json
from collections import Counter
from pathlib import Path

import datasets
import pytest

from argscichat_dataset.builder import ArgSciChat
from argscichat_dataset.configs import CONFIG_NAMES
from argscichat_dataset.features import INTENT_FEATURES, PAIR_FEATURES, PAPER_FEATURES
from argscichat_dataset.fingerprint import check_sha256
from argscichat_dataset.intents import ROLES, TAGS
from argscichat_dataset.official_files import SHA256, fold_files
from argscichat_dataset.splits import check_no_leakage

FIVE_FOLDS = ("papers_0", "papers_1", "papers_2", "papers_3", "papers_4")
SPLIT_SIZES = {
    "fold_0": {"train": 199, "validation": 27, "test": 23},
    "fold_1": {"train": 200, "validation": 14, "test": 35},
    "fold_2": {"train": 183, "validation": 39, "test": 27},
    "fold_3": {"train": 212, "validation": 27, "test": 10},
    "fold_4": {"train": 207, "validation": 22, "test": 20},
    "papers_0": {"train": 149, "validation": 49, "test": 51},
    "papers_1": {"train": 150, "validation": 50, "test": 49},
    "papers_2": {"train": 149, "validation": 50, "test": 50},
    "papers_3": {"train": 150, "validation": 49, "test": 50},
    "papers_4": {"train": 149, "validation": 51, "test": 49},
    "all": {"train": 249},
    "papers": {"train": 20},
    "intents": {"train": 881},
}


def test_configs() -> None:
    """As the card lists them."""
    assert list(ArgSciChat.builder_configs) == list(CONFIG_NAMES) == list(SPLIT_SIZES)


@pytest.mark.parametrize("name", CONFIG_NAMES)
def test_split_sizes(real: dict[str, datasets.DatasetDict], name: str) -> None:
    """As the card lists them, with the declared features."""
    assert {split: len(rows) for split, rows in real[name].items()} == SPLIT_SIZES[name]
    expected = {"papers": PAPER_FEATURES, "intents": INTENT_FEATURES}.get(name, PAIR_FEATURES)
    assert all(rows.features == expected for rows in real[name].values())


@pytest.mark.parametrize("fold", range(5))
def test_official_folds_are_as_published(real: dict[str, datasets.DatasetDict], shared_dir: Path, fold: int) -> None:
    """Ids, order and texts, read here without the package."""
    for split, file in fold_files(fold).items():
        records = json.loads((shared_dir / "argscichat" / file).read_bytes())
        published = [
            (
                item["id"],
                record["id"],
                record["content"],
                item["P_Message"],
                item["DE_Message"],
                item["facts"],
                item["history"],
            )
            for record in records.values()
            for item in record["message_pairs"]
        ]
        columns = ("id", "paper_id", "paper", "query", "reply", "annotated_facts", "history_sentences")
        assert [tuple(row[name] for name in columns) for row in real[f"fold_{fold}"][split]] == published


def test_official_test_sets_cover_ten_papers(real: dict[str, datasets.DatasetDict]) -> None:
    """Each once; this is why there are other folds."""
    tested = [paper for fold in range(5) for paper in set(real[f"fold_{fold}"]["test"]["paper_id"])]
    assert len(tested) == len(set(tested)) == 10


def test_papers_folds_test_every_paper_once(real: dict[str, datasets.DatasetDict]) -> None:
    """20 of 20, every pair once, and the largest test fold at most 1.35 times the smallest."""
    tested = Counter(paper for name in FIVE_FOLDS for paper in set(real[name]["test"]["paper_id"]))
    assert len(tested) == 20 and set(tested.values()) == {1}
    pairs = [pair for name in FIVE_FOLDS for pair in real[name]["test"]["id"]]
    assert sorted(pairs) == sorted(real["all"]["train"]["id"])
    counts = [len(real[name]["test"]) for name in FIVE_FOLDS]
    assert max(counts) / min(counts) <= 1.35


@pytest.mark.parametrize("name", [name for name in CONFIG_NAMES if len(SPLIT_SIZES[name]) == 3])
def test_no_config_leaks(real: dict[str, datasets.DatasetDict], name: str) -> None:
    """And together the splits are the corpus."""
    check_no_leakage(real[name])
    assert sorted(pair for rows in real[name].values() for pair in rows["id"]) == sorted(real["all"]["train"]["id"])


def test_rows_are_the_same_in_every_config(real: dict[str, datasets.DatasetDict]) -> None:
    """Only the splits differ."""
    rows = {row["id"]: row for row in real["all"]["train"]}
    for name in ("fold_4", "papers_2"):
        assert all(row == rows[row["id"]] for split in real[name].values() for row in split)


def test_order_of_the_corpus(real: dict[str, datasets.DatasetDict]) -> None:
    """Papers by id, as inside the official files; pairs of a paper as published."""
    papers = list(dict.fromkeys(real["all"]["train"]["paper_id"]))
    assert papers == sorted(papers) == real["papers"]["train"]["paper_id"][:]
    for split in real["papers_3"].values():
        chosen = set(split["paper_id"])
        expected = [row["id"] for row in real["all"]["train"] if row["paper_id"] in chosen]
        assert split["id"][:] == expected


def test_papers_config(real: dict[str, datasets.DatasetDict]) -> None:
    """20 papers, 41 dialogues, 249 pairs, 652 sentences."""
    papers = real["papers"]["train"]
    sums = [sum(papers[name]) for name in ("n_dialogues", "n_pairs")]
    assert (len(papers), *sums, sum(map(len, papers["sentences"]))) == (20, 41, 249, 652)


def test_intents_config(real: dict[str, datasets.DatasetDict]) -> None:
    """Class labels in the declared order; ids are those of the corpus."""
    rows = real["intents"]["train"]
    assert rows.features["role"].names == list(ROLES) and rows.features["tag"].names == list(TAGS)
    names = Counter(rows.features["tag"].int2str(tag) for tag in rows["tag"])
    assert names["Reply_Info"] == 322 and names["Outro"] == 36
    assert rows[0]["sentence"] == "Hello!" and rows[0]["side"] == "query"
    assert set(rows["id"]) <= set(real["all"]["train"]["id"])


def test_streaming_gives_the_same_rows(real: dict[str, datasets.DatasetDict], shared_dir: Path) -> None:
    """Of a few configs."""
    for name in ("fold_3", "papers", "intents"):
        streams = ArgSciChat(config_name=name, data_dir=shared_dir / "argscichat").as_streaming_dataset()
        assert {split: list(rows) for split, rows in streams.items()} == {
            split: rows.to_list() for split, rows in real[name].items()
        }


def test_parquet_gives_the_same_rows(real: dict[str, datasets.DatasetDict], shared_dir: Path, tmp_path: Path) -> None:
    """Written by the library, read without features."""
    builder = ArgSciChat(config_name="fold_3", data_dir=shared_dir / "argscichat", cache_dir=str(tmp_path))
    builder.download_and_prepare(str(tmp_path / "out"), file_format="parquet")
    file = next((tmp_path / "out").glob("*test*.parquet"))
    rows = datasets.Dataset.from_parquet(str(file), cache_dir=str(tmp_path))
    assert rows.features == PAIR_FEATURES and rows.to_list() == real["fold_3"]["test"].to_list()


def test_hashes_are_those_of_the_published_files(shared_dir: Path) -> None:
    """All sixteen."""
    assert len(SHA256) == 16
    for name, expected in SHA256.items():
        check_sha256(shared_dir / "argscichat" / name, expected)
