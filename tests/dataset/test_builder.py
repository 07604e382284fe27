"""The builder: every config from local files and from downloads, the cache, and what a user sees of an error."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from argscichat_dataset.alignment import AlignmentError
from argscichat_dataset.builder import ArgSciChat
from argscichat_dataset.configs import CONFIG_NAMES, config_files, config_rows
from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.features import PAIR_FEATURES
from argscichat_dataset.fingerprint import hash_of
from argscichat_dataset.official_files import COMMIT, SHA256, file_url, local_files
from argscichat_dataset.source import SourceError
from argscichat_dataset.splits import LeakageError, paper_folds

Load = Callable[..., datasets.DatasetDict]
Folder = Callable[..., Path]


# Local files


def test_only_needed_files_must_be_there(official_folder: Folder, load: Load, no_sockets: None) -> None:
    """And no socket is opened for them."""
    folder = official_folder()
    for name in CONFIG_NAMES:
        needed = official_folder(name=f"only_{name}")
        for file in set(SHA256) - set(config_files(name)):
            (needed / file).unlink()
        assert load(name, needed).num_rows == load(name, folder).num_rows


def test_edited_message_changes_what_loads(official_folder: Folder, load: Load, sample_records: dict[str, Any]) -> None:
    """Back and forth, without clearing a cache; the folder and its name stay the same."""
    folder = official_folder()
    before = load("fold_2", folder)
    record = next(iter(sample_records.values()))
    original = record["message_pairs"][0]["P_Message"]
    record["message_pairs"][0]["P_Message"] = "Edited?"
    assert load("fold_2", official_folder(sample_records))["train"][0]["query"] == "Edited?"
    record["message_pairs"][0]["P_Message"] = original
    after = load("fold_2", official_folder(sample_records))
    assert after["train"][0]["query"] == original
    assert after["train"]._fingerprint == before["train"]._fingerprint


def test_the_same_files_elsewhere_are_not_built_again(official_folder: Folder, tmp_path: Path) -> None:
    """What counts is their content."""
    caches = {
        ArgSciChat(config_name="all", data_dir=official_folder(name=name), cache_dir=str(tmp_path / "cache")).cache_dir
        for name in ("here", "there")
    }
    assert len(caches) == 1


def test_files_that_change_under_a_builder(
    official_folder: Folder, sample_records: dict[str, Any], tmp_path: Path
) -> None:
    """What is cached under the hash of the old files must not be made of the new ones."""
    builder = ArgSciChat(config_name="all", data_dir=official_folder(), cache_dir=str(tmp_path / "cache"))
    next(iter(sample_records.values()))["message_pairs"][0]["P_Message"] = "Edited?"
    official_folder(sample_records)
    with pytest.raises(SourceError, match="files changed after the builder was made"):
        builder.download_and_prepare()


def test_changed_code_does_not_find_old_rows(official_folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash of the source files is part of the cache."""
    monkeypatch.setattr("argscichat_dataset.builder.package_digest", lambda: "0123456789abcdef")
    assert ArgSciChat(config_name="all", data_dir=official_folder()).cache_dir.endswith("0123456789abcdef")


def test_strings_stay_strings(official_folder: Folder, load: Load, sample_records: dict[str, Any]) -> None:
    """Ids and texts that look like numbers and dates, and a split whose every `facts` is empty."""
    items = list(sample_records.items())
    for record in sample_records.values():
        for item in record["message_pairs"]:
            item.update(P_Message="007", DE_Message="2020-01-01", facts=[])
    first = items[0][1]
    first.update(id="2020-01-01T00:00:00", title="1e5")
    renamed = {old["id"]: f"{number:03d}" for number, old in enumerate(first["message_pairs"])}
    for item in first["message_pairs"]:
        item["id"] = renamed[item["id"]]
        item["history_ids"] = [renamed[name] for name in item["history_ids"]]
    data_dir = official_folder({first["id"]: first} | dict(items[1:]))
    rows = load("fold_0", data_dir)["train"]
    assert rows.features == PAIR_FEATURES
    assert (rows[7]["id"], rows[7]["paper_id"], rows[7]["title"]) == ("007", "2020-01-01T00:00:00", "1e5")
    assert {row["query"] for row in rows} == {"007"} and {row["reply"] for row in rows} == {"2020-01-01"}
    assert all(row["facts"] == [] == row["fact_ids"] for row in rows)
    assert rows[1]["history"] == [{"query": "007", "reply": "2020-01-01", "facts": []}]
    assert (
        next(iter(ArgSciChat(config_name="all", data_dir=data_dir).as_streaming_dataset()["train"]))["query"] == "007"
    )


def test_other_k_and_seed(official_folder: Folder, load: Load) -> None:
    """Test and validation papers are those of `paper_folds`."""
    folder = official_folder()
    corpus = load("all", folder)["train"]
    n_pairs = Counter(corpus["paper_id"])
    for k, seed in ((3, 0), (3, 9), (4, 0)):
        folds = paper_folds(n_pairs, k, seed)
        for fold in range(k):
            splits = load(f"papers_{fold}", folder, k=k, seed=seed)
            assert set(splits["test"]["paper_id"]) == set(folds[fold])
            assert set(splits["validation"]["paper_id"]) == set(folds[(fold + 1) % k])


def test_more_folds_than_listed(shared_dir: Path, load: Load) -> None:
    """`papers_9` is there where k is 10 or more."""
    splits = load("papers_9", shared_dir / "argscichat", k=10, seed=1)
    assert sum(map(len, splits.values())) == 249 and len(set(splits["test"]["paper_id"])) >= 1


# Downloads


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], list[str]]:
    """Makes the download manager hand out the files of a folder; returns the list of the URLs that were asked for."""

    def serve(folder: Path) -> list[str]:
        asked: list[str] = []

        def download(self: Any, urls: dict[str, str]) -> dict[str, str]:
            asked.extend(urls.values())
            return {name: str(folder / name) for name in urls}

        monkeypatch.setattr(datasets.DownloadManager, "download", download)
        return asked

    return serve


def test_download(shared_dir: Path, load: Load, served: Callable[[Path], list[str]], real: dict[str, Any]) -> None:
    """From the pinned commit, the same rows as from local files, streaming too."""
    asked = served(shared_dir / "argscichat")
    assert load("fold_3")["test"].to_list() == real["fold_3"]["test"].to_list()
    start = f"https://raw.githubusercontent.com/UKPLab/acl2023-argscichat/{COMMIT}/argscichat_allennlp/"
    assert asked == [f"{start}argscichat_train_dev/fold_3_{part}.json" for part in ("train", "val", "test")]
    assert list(ArgSciChat(config_name="intents").as_streaming_dataset()["train"]) == real["intents"]["train"].to_list()
    assert asked[-1] == f"{start}argscichat_intents/dataset.csv"


@pytest.mark.parametrize("streaming", [False, True])
def test_wrong_hash_is_refused(
    official_folder: Folder, served: Callable[[Path], list[str]], tmp_path: Path, streaming: bool
) -> None:
    """With both hashes, the file and its URL; nothing is left in the cache."""
    folder = official_folder()
    served(folder)
    builder = ArgSciChat(config_name="fold_1", cache_dir=str(tmp_path / "cache"))
    with pytest.raises(SourceError) as caught:
        builder.as_streaming_dataset() if streaming else builder.download_and_prepare()
    message = str(caught.value)
    name = "fold_1_train.json"
    assert f"sha256: expected {SHA256[name]}, got {hash_of(folder / name)}" in message
    assert name in message and file_url(name) in message and len(message) < 1000
    assert not Path(builder.cache_dir).exists()


def test_partial_download_is_refused(shared_dir: Path, served: Callable[[Path], list[str]], tmp_path: Path) -> None:
    """One byte short."""
    for name in config_files("fold_0"):
        content = (shared_dir / "argscichat" / name).read_bytes()
        (tmp_path / name).write_bytes(content[:-1] if name.endswith("test.json") else content)
    served(tmp_path)
    with pytest.raises(SourceError, match=r"fold_0_test\.json.*sha256: expected"):
        ArgSciChat(config_name="fold_0", cache_dir=str(tmp_path / "cache")).download_and_prepare()


def test_url_of_an_unknown_file() -> None:
    """No URL is made up."""
    with pytest.raises(KeyError):
        file_url("fold_5_test.json")


# What a user sees of an error


def broken(records: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The records with the third pair of the first paper changed."""
    change(next(iter(records.values()))["message_pairs"][2])
    return records


@pytest.mark.parametrize(
    ("change", "error", "field"),
    [
        (lambda pair: pair.pop("DE_Message"), SourceError, "key 'DE_Message'"),
        (lambda pair: pair.update(P_Message=7), SourceError, "field 'P_Message'"),
        (lambda pair: pair.update(history_ids=["nowhere"], history_facts=[[]]), SourceError, "field 'history_ids"),
        (lambda pair: pair.update(history_ids=[], history_facts=[]), SourceError, "field 'history_ids'"),
        (lambda pair: pair.update(facts=["In no sentence of it."]), AlignmentError, "span 'In no sentence of it.'"),
    ],
    ids=["missing key", "wrong type", "history nowhere", "history cut", "unknown fact"],
)
@pytest.mark.parametrize("name", ["fold_0", "papers_1", "all", "intents"])
def test_malformed_file(
    official_folder: Folder, load: Load, sample_records: dict[str, Any], name: str, change: Any, error: type, field: str
) -> None:
    """Our message, not one about the generation of a dataset: file, paper, pair and field."""
    with pytest.raises(error) as caught:
        load(name, official_folder(broken(sample_records, change)))
    message = str(caught.value)
    assert "fold_0_train.json" in message and "paper" in message and "pair" in message and field in message
    assert len(message) < 1000


@pytest.mark.parametrize(
    "content", [b'{"a": ', b"\xff\xfe{", b"", b"[]"], ids=["truncated", "encoding", "empty", "list"]
)
@pytest.mark.parametrize("name", ["fold_0", "papers_1", "papers"])
def test_unreadable_file(official_folder: Folder, load: Load, name: str, content: bytes) -> None:
    """The message names the file."""
    folder = official_folder()
    (folder / "fold_0_val.json").write_bytes(content)
    with pytest.raises(SourceError, match="fold_0_val.json"):
        load(name, folder)


def test_malformed_intents(official_folder: Folder, load: Load) -> None:
    """File, line and column."""
    folder = official_folder()
    with (folder / "intents.csv").open("a", encoding="utf-8") as file:
        file.write("Proponent,0,0,Hi,Greeting\n")
    with pytest.raises(SourceError, match="intents.csv': line 4, column 'Tag'"):
        load("intents", folder)


def test_byte_order_mark_is_read(official_folder: Folder, load: Load) -> None:
    """As some editors leave it."""
    folder = official_folder()
    for file in folder.iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert load("all", folder).num_rows == {"train": 40}
    assert load("intents", folder).num_rows == {"train": 2}


@pytest.mark.parametrize(
    ("name", "places"), [("fold_1", "'train' and 'test'"), ("all", "'fold_0_train.json' and 'fold_0_test.json'")]
)
def test_leaking_files_are_refused(official_folder: Folder, load: Load, name: str, places: str) -> None:
    """A paper in two files; the message names paper and splits, or files where the splits are not made of files."""
    folder = official_folder()
    for fold in (0, 1):
        (folder / f"fold_{fold}_test.json").write_bytes((folder / f"fold_{fold}_train.json").read_bytes())
    with pytest.raises(LeakageError, match=f"paper '.*' is in the splits {places}"):
        load(name, folder)


def test_missing_files(official_folder: Folder, load: Load, tmp_path: Path) -> None:
    """All that is missing, at once, when the builder is made."""
    folder = official_folder()
    (folder / "fold_0_val.json").unlink()
    (folder / "intents.csv").unlink()
    with pytest.raises(SourceError, match="missing: fold_0_val.json, intents.csv$"):
        ArgSciChat(config_name="intents", data_dir=folder)
    with pytest.raises(SourceError, match="nowhere': data_dir: expected a folder"):
        ArgSciChat(config_name="all", data_dir=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "Config name is missing"),
        ({"config_name": "fold_5"}, ValueError, "'fold_5' not found. Available"),
        ({"config_name": "papers_5"}, ValueError, "config 'papers_5': expected papers_0 to papers_4 for k=5"),
        ({"config_name": "papers_3", "k": 3}, ValueError, "config 'papers_3': expected papers_0 to papers_2 for k=3"),
        ({"config_name": "papers_0", "k": 2}, ValueError, "k: expected at least 3"),
        ({"config_name": "papers_0", "k": "5"}, TypeError, "k: expected an integer, got str"),
        ({"config_name": "papers_0", "seed": 0.5}, TypeError, "seed: expected an integer, got float"),
        ({"config_name": "all", "k": 7}, ValueError, "config 'all': k and seed are options of papers_0"),
        ({"config_name": "all", "kk": 7}, ValueError, "doesn't have a 'kk' key"),
        ({"data_dir": "."}, ValueError, "config: expected one of fold_0, .*, got 'default'"),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """When the builder is made, before anything is read."""
    with pytest.raises(error, match=message):
        ArgSciChat(**options)


def test_too_many_folds(official_folder: Folder, load: Load) -> None:
    """Known when the papers are counted."""
    with pytest.raises(ValueError, match="^k: expected at most 5, the number of papers with message pairs, got 6$"):
        load("papers_0", official_folder(), k=6)


def test_data_files_are_refused(official_folder: Folder) -> None:
    """They would be ignored."""
    with pytest.raises(ValueError, match="^data_files: expected none"):
        ArgSciChat(config_name="all", data_files=str(official_folder() / "fold_0_test.json"))


def test_config_rows_need_no_library(official_folder: Folder, load: Load) -> None:
    """The same rows, for those who want no Arrow."""
    folder = official_folder()
    paths = local_files(folder, config_files("papers_1"))
    assert config_rows("papers_1", paths) == {split: rows.to_list() for split, rows in load("papers_1", folder).items()}
    assert config_rows("fold_4", local_files(folder, config_files("fold_4")))["test"] == read_pairs(
        folder / "fold_4_test.json"
    )
