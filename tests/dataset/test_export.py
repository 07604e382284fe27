"""The built folder: the same rows as the builder's, a card that `load_dataset` and the Hub read, and no half builds."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
from huggingface_hub import DatasetCard

from argscichat_dataset import export
from argscichat_dataset.built import built_configs, read_built_pairs, split_file
from argscichat_dataset.configs import CONFIG_NAMES
from argscichat_dataset.export import build_dataset
from argscichat_dataset.source import SourceError

Folder = Callable[..., Path]


@pytest.fixture
def built(official_folder: Folder, tmp_path: Path) -> Path:
    return build_dataset(tmp_path / "built", official_folder())


def test_rows_and_features_are_the_builders(real: dict[str, Any], real_built: Path, tmp_path: Path) -> None:
    for name in CONFIG_NAMES:
        loaded = datasets.load_dataset(str(real_built), name, cache_dir=str(tmp_path))
        assert loaded.keys() == real[name].keys()
        for split in loaded:
            assert loaded[split].features == real[name][split].features
            assert loaded[split].to_list() == real[name][split].to_list()


def test_streaming_gives_the_same_rows_and_opens_no_socket(built: Path, load: Any, tmp_path: Path) -> None:
    stream = datasets.load_dataset(str(built), "fold_0", streaming=True, cache_dir=str(tmp_path))
    whole = datasets.load_dataset(str(built), "fold_0", cache_dir=str(tmp_path))
    assert list(stream["test"]) == whole["test"].to_list()
    assert stream["test"].features == whole["test"].features


def test_building_and_loading_opens_no_socket(official_folder: Folder, tmp_path: Path, no_sockets: None) -> None:
    folder = build_dataset(tmp_path / "built", official_folder())
    assert datasets.load_dataset(str(folder), "papers_0", cache_dir=str(tmp_path / "cache")).num_rows["test"] > 0


def test_texts_that_look_like_numbers_or_dates_stay_texts(
    official_folder: Folder, sample_records: dict[str, Any], tmp_path: Path
) -> None:
    for record in sample_records.values():
        for pair in record["message_pairs"]:
            pair.update(P_Message="007", DE_Message="2020-01-01", facts=[])
    folder = build_dataset(tmp_path / "built", official_folder(sample_records))
    row = datasets.load_dataset(str(folder), "fold_0", split="train", cache_dir=str(tmp_path / "cache"))[0]
    assert (row["query"], row["reply"], row["facts"], row["fact_ids"]) == ("007", "2020-01-01", [], [])


def test_the_folder_is_named_in_the_card_by_config_and_split(real_built: Path) -> None:
    card = DatasetCard.load(real_built / "README.md")
    configs = {config["config_name"]: config for config in card.data.configs}
    assert set(configs) == set(CONFIG_NAMES)
    for name, splits in built_configs(real_built).items():
        files = {file["split"]: file["path"] for file in configs[name]["data_files"]}
        assert list(files) == splits
        assert all((real_built / path).is_file() for path in files.values())
    assert card.data.license == "apache-2.0"


def test_the_card_says_the_counts_and_the_coverage(real_built: Path) -> None:
    text = " ".join((real_built / "README.md").read_text(encoding="utf-8").split())
    for said in (
        "249 pairs",
        "41 dialogues about 20 papers",
        "cover 10 of the 20 papers; those of `papers_*` cover 20",
        "| `fold_1` | 200 | 14 | 35 |",
        "185 equal a sentence, 24 equal one",
        "107 are part of one, 3 are only the title",
        "| pairs | 41 | 125 | 69 | 13 | 1 |",
        "208 of 249 queries",
        "10.18653/v1/2023.acl-long.425",
        "arxiv.org/abs/2202.06690",
        "Apache-2.0",
    ):
        assert said in text


def test_no_table_of_the_card_is_broken(real_built: Path) -> None:
    body = (real_built / "README.md").read_text(encoding="utf-8").split("\n---\n", 1)[1]
    tables = re.findall(r"(?:^\|.*\|\n)+", body, flags=re.MULTILINE)
    assert len(tables) == 3
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
        assert re.fullmatch(r"\|( ?-+ ?\|)+", table.splitlines()[1])


def test_a_broken_build_leaves_nothing_behind(official_folder: Folder, tmp_path: Path) -> None:
    source = official_folder()
    (source / "fold_4_test.json").write_text("{", encoding="utf-8")
    target = tmp_path / "to" / "built"
    target.parent.mkdir()
    with pytest.raises(SourceError, match="fold_4_test.json"):
        build_dataset(target, source)
    assert list(target.parent.iterdir()) == []


def test_a_killed_build_leaves_the_earlier_one(
    built: Path, official_folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = {path: path.read_bytes() for path in built.rglob("*") if path.is_file()}
    monkeypatch.setattr(export, "card_text", stop)
    with pytest.raises(KeyboardInterrupt):
        build_dataset(built, official_folder(), overwrite=True)
    assert {path: path.read_bytes() for path in built.rglob("*") if path.is_file()} == before


def test_an_existing_folder_is_replaced_only_if_asked_and_only_if_it_is_a_build(
    built: Path, official_folder: Folder, sample_records: dict[str, Any], tmp_path: Path
) -> None:
    next(iter(sample_records.values()))["message_pairs"][0]["P_Message"] = "Edited?"
    edited = official_folder(sample_records, name="edited")
    with pytest.raises(FileExistsError, match="--overwrite"):
        build_dataset(built, edited)
    build_dataset(built, edited, overwrite=True)
    assert any(row["query"] == "Edited?" for row in read_built_pairs(built, "all", "train"))
    with pytest.raises(FileExistsError, match="remove it by hand"):
        build_dataset(edited, built, overwrite=True)


def test_an_empty_folder_is_used_and_a_file_or_a_missing_parent_refused(
    official_folder: Folder, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    assert (build_dataset(tmp_path / "empty", official_folder()) / "README.md").is_file()
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(NotADirectoryError):
        build_dataset(tmp_path / "file", official_folder())
    with pytest.raises(FileNotFoundError, match="does not exist"):
        build_dataset(tmp_path / "no" / "built", official_folder())


def test_reading_names_what_is_there(built: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="config: expected one of fold_0.*got 'fold_9'"):
        read_built_pairs(built, "fold_9", "test")
    with pytest.raises(SourceError, match="expected one of train, validation, test, got 'dev'"):
        read_built_pairs(built, "fold_0", "dev")
    with pytest.raises(SourceError, match="expected message pairs"):
        read_built_pairs(built, "papers", "train")
    with pytest.raises(SourceError, match="argscichat data build"):
        read_built_pairs(tmp_path, "fold_0", "test")
    split_file(built, "fold_0", "test").write_bytes(b"no parquet")
    with pytest.raises(SourceError, match="expected a Parquet file"):
        read_built_pairs(built, "fold_0", "test")
