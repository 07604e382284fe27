"""`load_dataset` on the folder: the made-up sample, with no script, no network and no guessed type."""

from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml

from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.features import PAIR_FEATURES
from argscichat_dataset.sample_rows import SAMPLE_FILE, SAMPLE_ROWS, write_sample_rows


@pytest.fixture
def folder(root: Path) -> str:
    """The folder that `load_dataset` takes."""
    return str(root / "argscichat_dataset")


def test_load_dataset(folder: str, tmp_path: Path, no_sockets: None) -> None:
    """One config, one split, the rows and the features of the builder."""
    dataset_dict = datasets.load_dataset(folder, cache_dir=str(tmp_path))
    assert list(dataset_dict) == ["test"]
    assert dataset_dict["test"].features == PAIR_FEATURES
    assert dataset_dict["test"].to_list() == read_pairs(SAMPLE_FILE)


def test_load_dataset_by_relative_path(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the card says it, and the config by its name."""
    monkeypatch.chdir(root)
    rows = datasets.load_dataset("./argscichat_dataset", "sample", split="test", cache_dir=str(tmp_path))
    assert rows.num_rows == 40


def test_streaming(folder: str, no_sockets: None) -> None:
    """The same rows."""
    stream = datasets.load_dataset(folder, split="test", streaming=True)
    assert stream.features == PAIR_FEATURES
    assert list(stream) == read_pairs(SAMPLE_FILE)


def test_rows_of_the_sample_are_up_to_date(tmp_path: Path) -> None:
    """`python -m argscichat_dataset.sample_rows` writes the same rows; bytes differ between versions of pyarrow."""
    write_sample_rows(tmp_path / "now.parquet")
    now, there = (
        datasets.Dataset.from_parquet(str(file), cache_dir=str(tmp_path))
        for file in (tmp_path / "now.parquet", SAMPLE_ROWS)
    )
    assert now.features == there.features == PAIR_FEATURES
    assert now.to_list() == there.to_list()


def test_card_declares_the_features(folder: str) -> None:
    """The YAML of the card has the features of the code, and one default config."""
    card = yaml.safe_load((Path(folder) / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert [config["config_name"] for config in card["configs"] if config.get("default")] == ["sample"]
    declared: Any = card["dataset_info"][0]["features"]
    assert datasets.Features._from_yaml_list(declared) == PAIR_FEATURES


def test_the_folder_holds_no_script_of_its_name(folder: str) -> None:
    """`load_dataset` would refuse it."""
    assert not (Path(folder) / "argscichat_dataset.py").exists()
