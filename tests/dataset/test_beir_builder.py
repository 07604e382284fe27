"""BEIR folders through `datasets`: the configs of the cards, the cache, and what a user sees of an error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from argscichat_dataset.beir import read_beir
from argscichat_dataset.beir_builder import Beir
from argscichat_dataset.features import BEIR_FEATURES
from argscichat_dataset.source import SourceError

Folder = Callable[..., Path]


@pytest.fixture
def load_beir(tmp_path: Path) -> Callable[..., datasets.DatasetDict]:
    """Builds a config; one cache for all calls of a test."""

    def build(config_name: str, data_dir: Path) -> datasets.DatasetDict:
        builder = Beir(config_name=config_name, data_dir=data_dir, cache_dir=str(tmp_path / "cache"))
        builder.download_and_prepare()
        return builder.as_dataset()

    return build


def test_the_configs_are_those_of_the_cards_and_hold_what_the_reader_reads(
    shared_dir: Path, load_beir: Any, no_sockets: None
) -> None:
    folder = shared_dir / "scifact"
    data = read_beir(folder, "test")
    corpus, queries, qrels = (load_beir(name, folder) for name in ("corpus", "queries", "qrels"))
    assert (corpus.num_rows, queries.num_rows) == ({"corpus": 5183}, {"queries": 1109})
    assert qrels.num_rows == {"test": 339, "train": 919}
    assert {row["_id"]: (row["title"], row["text"]) for row in corpus["corpus"]} == data.corpus
    assert {row["_id"]: row["text"] for row in queries["queries"]} == data.queries
    judged = [(row["query-id"], row["corpus-id"], row["score"]) for row in qrels["test"]]
    assert judged == [(q, d, score) for q, of_query in data.qrels.items() for d, score in of_query.items()]
    for name, splits in {"corpus": corpus, "queries": queries, "qrels": qrels}.items():
        assert all(rows.features == BEIR_FEATURES[name] for rows in splits.values())


def test_the_features_are_strings_and_int32_and_the_splits_are_called_as_the_files(
    beir: Folder, load_beir: Any
) -> None:
    folder = beir(
        '{"_id": 7, "text": "2020-01-01"}\n', '{"_id": "007", "text": "1"}\n', dev="007 0 7 1.0\n", train="007\t7\t-1\n"
    )
    assert load_beir("corpus", folder)["corpus"][0] == {"_id": "7", "title": "", "text": "2020-01-01"}
    assert load_beir("queries", folder)["queries"][0] == {"_id": "007", "text": "1"}
    qrels = load_beir("qrels", folder)
    assert qrels.keys() == {"dev", "train"}
    assert qrels["dev"][0] == {"query-id": "007", "corpus-id": "7", "score": 1}
    assert {name: feature.dtype for name, feature in qrels["train"].features.items()} == {
        "query-id": "string",
        "corpus-id": "string",
        "score": "int32",
    }


def test_an_edited_file_is_seen_and_an_unneeded_one_not_asked_for(beir: Folder, load_beir: Any) -> None:
    folder = beir(queries=None)
    assert load_beir("corpus", folder)["corpus"][0]["text"] == "One."
    edited = (folder / "corpus.jsonl").read_text().replace("One.", "Edited.")
    (folder / "corpus.jsonl").write_text(edited, encoding="utf-8")
    assert load_beir("corpus", folder)["corpus"][0]["text"] == "Edited."
    builder = Beir(config_name="corpus", data_dir=folder)
    (folder / "corpus.jsonl").write_text(edited.replace("Edited.", "Again."), encoding="utf-8")
    with pytest.raises(SourceError, match="files changed after the builder was made"):
        builder.download_and_prepare()


def test_streaming_gives_the_same_rows(beir: Folder, load_beir: Any) -> None:
    folder = beir()
    for name in BEIR_FEATURES:
        stream = Beir(config_name=name, data_dir=folder).as_streaming_dataset()
        assert {split: list(rows) for split, rows in stream.items()} == {
            split: rows.to_list() for split, rows in load_beir(name, folder).items()
        }


@pytest.mark.parametrize(
    ("config", "files", "place"),
    [
        ("corpus", {"corpus": '{"_id": "d1", "text": "x"}\n{"_id": "d1", "text": "y"}\n'}, "corpus.jsonl': line 2"),
        ("queries", {"queries": "7\n"}, "queries.jsonl': line 1"),
        ("qrels", {"test": "q1\td1\t1\nq1\td1\t2\n"}, "test.tsv': line 2"),
        ("corpus", {"corpus": None}, "expected a folder with corpus.jsonl, found none"),
    ],
)
def test_an_error_names_file_and_line_and_not_the_generation_of_a_dataset(
    beir: Folder, load_beir: Any, config: str, files: dict[str, Any], place: str
) -> None:
    with pytest.raises(SourceError, match=place):
        load_beir(config, beir(**files))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"config_name": "qrel", "data_dir": "."}, "'qrel' not found"),
        ({"name": "qrel", "data_dir": "."}, "config: expected one of corpus, queries, qrels, got 'qrel'"),
        ({"config_name": "qrels"}, "data_dir, dataset: expected one of the two"),
        ({"config_name": "qrels", "data_dir": ".", "dataset": "scifact"}, "data_dir, dataset: expected one of the two"),
        ({"config_name": "qrels", "dataset": "bioasq"}, "bioasq: this BEIR dataset is private"),
        ({"config_name": "qrels", "data_dir": ".", "data_files": "x.tsv"}, "data_files: expected none"),
        ({"config_name": "qrels", "data_dir": "nowhere"}, "'nowhere': expected a BEIR folder, found none"),
    ],
)
def test_options_are_checked_when_the_builder_is_made(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.tsv").touch()
    with pytest.raises(ValueError, match=message):
        Beir(**options)
