"""ArgSciChat as a BEIR folder: what is written, that every reader takes it for the same, and no half exports."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from argscichat_dataset import beir_export
from argscichat_dataset.beir import BeirData, read_beir, read_candidates, read_qrels
from argscichat_dataset.beir_builder import Beir
from argscichat_dataset.beir_check import SplitCounts, check_beir
from argscichat_dataset.beir_export import export_beir, pairs_of_split, paper_key, query_id, sentence_id
from argscichat_dataset.configs import config_files, config_rows
from argscichat_dataset.corpus import Row, read_pairs
from argscichat_dataset.official_files import local_files
from argscichat_dataset.sample_rows import SAMPLE_FILE
from argscichat_dataset.source import SourceError

Folder = Callable[..., Path]
AWKWARD = 'A "quoted"\ttext,\nwith \\ two\r\nlines, \u2028 é'


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def real_rows(shared_dir: Path) -> list[Row]:
    return config_rows("all", local_files(shared_dir / "argscichat", config_files("all")))["train"]


@pytest.fixture
def awkward_rows() -> list[Row]:
    """The sample with quotes, tabs and line ends in ids, titles, sentences and queries."""
    rows = read_pairs(SAMPLE_FILE)
    for row in rows:
        row["id"] = row["id"].replace(row["paper_id"], '"Why?"\t' + row["paper_id"])
        row["paper_id"] = '"Why?"\t' + row["paper_id"]
        row["title"] += AWKWARD
        row["query"] = AWKWARD + row["query"]
        row["paper"][0] = AWKWARD
    return rows


@pytest.fixture(params=["real", "awkward"])
def exported(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[Row], Path]:
    rows = request.getfixturevalue(f"{request.param}_rows")
    return rows, export_beir(rows, tmp_path / "exported")


def expected_data(rows: list[Row]) -> BeirData:
    """What any reader should find, from the rows themselves."""
    ids = {row["id"]: query_id(row["paper_id"], row["id"]) for row in rows}
    return BeirData(
        corpus={
            sentence_id(row["paper_id"], index): (row["title"], sentence)
            for row in rows
            for index, sentence in enumerate(row["paper"])
        },
        queries={ids[row["id"]]: row["query"] for row in rows},
        qrels={
            ids[row["id"]]: {sentence_id(row["paper_id"], index): 1 for index in row["fact_ids"]}
            for row in rows
            if row["fact_ids"]
        },
    )


# What is written


def test_the_published_corpus_has_its_counts(real_rows: list[Row], tmp_path: Path) -> None:
    folder = export_beir(real_rows, tmp_path / "exported")
    report = check_beir(folder)
    assert report.sound and report.notes == {}
    assert (report.documents, report.queries, report.unjudged_queries) == (652, 249, 41)
    assert report.splits == {"test": SplitCounts(312, 208)}
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert all(number in text for number in ("652 sentences of 20 papers", "249 messages", "312 facts", "208 queries"))


def test_ids_are_plain_and_lead_back_to_the_official_ones(exported: tuple[list[Row], Path]) -> None:
    rows, folder = exported
    data = read_beir(folder, "test")
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in [*data.corpus, *data.queries])
    queries = {line["query-id"]: line["id"] for line in lines_of(folder / "query_ids.jsonl")}
    corpus = {line["corpus-id"]: (line["paper_id"], line["sentence"]) for line in lines_of(folder / "corpus_ids.jsonl")}
    assert (queries.keys(), corpus.keys()) == (data.queries.keys(), data.corpus.keys())
    by_id = {row["id"]: row for row in rows}
    for name, text in data.queries.items():
        row = by_id[queries[name]]
        assert row["query"] == text
        judged = [corpus[document] for document in data.qrels.get(name, {})]
        assert judged == [(row["paper_id"], index) for index in row["fact_ids"]]


def test_the_candidates_of_a_query_are_the_sentences_of_its_paper(exported: tuple[list[Row], Path]) -> None:
    rows, folder = exported
    candidates, corpus = read_candidates(folder), read_beir(folder, "test").corpus
    assert len(candidates) == len(rows)
    for row in rows:
        of_query = candidates[query_id(row["paper_id"], row["id"])]
        assert [corpus[name].text for name in of_query] == row["paper"]
        assert {name.rpartition(".")[0] for name in of_query} == {paper_key(row["paper_id"])}


def test_ids_are_the_same_in_every_export(real_rows: list[Row], shared_dir: Path, tmp_path: Path) -> None:
    whole = read_beir(export_beir(real_rows, tmp_path / "whole"), "test")
    for config, split in (("fold_3", "test"), ("papers_1", "validation")):
        part = export_beir(pairs_of_split(config, split, shared_dir / "argscichat"), tmp_path / config)
        data = read_beir(part, "test")
        assert data.corpus.items() < whole.corpus.items() and data.queries.items() < whole.queries.items()
        assert all(whole.qrels[name] == of_query for name, of_query in data.qrels.items())


def test_papers_with_the_same_first_words_and_ids_of_another_form_stay_apart() -> None:
    start = "The same words " * 5
    assert paper_key(start + "a") != paper_key(start + "b")
    assert paper_key("?").startswith("paper-") and len(paper_key(start)) < 60
    names = [query_id("P", name) for name in ("P_1", "P_01", "1", "P_one", "Q_1", "P_", "P", "P_1_1")]
    assert len(set(names)) == len(names)
    assert names[0] == f"{paper_key('P')}.q1"


# Every reader takes it for the same


def test_our_reader_reads_it_back(exported: tuple[list[Row], Path]) -> None:
    rows, folder = exported
    assert read_beir(folder, "test") == expected_data(rows)
    assert read_qrels(folder / "qrels" / "test.tsv") == expected_data(rows).qrels


def test_the_loader_of_the_beir_package_reads_the_same(exported: tuple[list[Row], Path]) -> None:
    from beir.datasets.data_loader import GenericDataLoader

    rows, folder = exported
    corpus, queries, qrels = GenericDataLoader(data_folder=str(folder)).load(split="test")
    expected = expected_data(rows)
    assert {name: (document["title"], document["text"]) for name, document in corpus.items()} == expected.corpus
    assert qrels == expected.qrels
    assert queries == {name: expected.queries[name] for name in expected.qrels}


def test_csv_reads_the_same_judgments_by_its_defaults(exported: tuple[list[Row], Path]) -> None:
    rows, folder = exported
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8", newline="") as file:
        header, *judgments = csv.reader(file, delimiter="\t")
    assert header == ["query-id", "corpus-id", "score"]
    assert judgments == [[q, d, str(s)] for q, of in expected_data(rows).qrels.items() for d, s in of.items()]


def test_datasets_reads_the_same_with_and_without_our_builder(exported: tuple[list[Row], Path], tmp_path: Path) -> None:
    rows, folder = exported
    expected = expected_data(rows)

    def load(kind: str, file: str, **options: Any) -> datasets.Dataset:
        path, cache = str(folder / file), str(tmp_path / "cache")
        return datasets.load_dataset(kind, data_files=path, split="train", cache_dir=cache, **options)

    corpus, queries = load("json", "corpus.jsonl"), load("json", "queries.jsonl")
    assert {row["_id"]: (row["title"], row["text"]) for row in corpus} == expected.corpus
    assert {row["_id"]: row["text"] for row in queries} == expected.queries
    judgments = [(q, d, s) for q, of in expected.qrels.items() for d, s in of.items()]
    rows_of_csv = load("csv", "qrels/test.tsv", delimiter="\t")
    assert [(row["query-id"], row["corpus-id"], row["score"]) for row in rows_of_csv] == judgments
    for config, other in (("corpus", corpus), ("queries", queries), ("qrels", rows_of_csv)):
        builder = Beir(config_name=config, data_dir=folder, cache_dir=str(tmp_path / "cache"))
        builder.download_and_prepare()
        assert next(iter(builder.as_dataset().values())).to_list() == other.to_list()


# No half exports


def test_an_existing_folder_is_replaced_only_if_asked_and_only_if_it_is_an_export(
    awkward_rows: list[Row], tmp_path: Path
) -> None:
    folder = export_beir(awkward_rows, tmp_path / "exported")
    with pytest.raises(FileExistsError, match="--overwrite"):
        export_beir(awkward_rows[:1], folder)
    export_beir(awkward_rows[:1], folder, split="dev", overwrite=True)
    assert list(read_beir(folder, "dev").queries.values()) == [awkward_rows[0]["query"]]
    assert not (folder / "qrels" / "test.tsv").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "corpus.jsonl").touch()
    with pytest.raises(FileExistsError, match="remove it by hand"):
        export_beir(awkward_rows, other, overwrite=True)


def test_a_broken_export_leaves_the_earlier_one_and_nothing_else(
    awkward_rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = export_beir(awkward_rows, tmp_path / "exported")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(beir_export, "_write_qrels", stop)
    with pytest.raises(KeyboardInterrupt):
        export_beir(awkward_rows[:1], folder, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_rows_and_names_are_checked_before_anything_is_written(awkward_rows: list[Row], tmp_path: Path) -> None:
    for rows, split, message in (
        ([], "test", "rows: expected at least one message pair"),
        ([awkward_rows[0], awkward_rows[0]], "test", "rows: expected each message pair once"),
        (awkward_rows, "../test", "split: expected a name of the characters"),
    ):
        with pytest.raises(ValueError, match=message):
            export_beir(rows, tmp_path / "exported", split=split)
    assert list(tmp_path.iterdir()) == []


def test_the_pairs_of_a_split_are_those_of_the_config(official_folder: Folder) -> None:
    folder = official_folder()
    paths = local_files(folder, config_files("fold_0"))
    assert pairs_of_split("fold_0", "validation", folder) == config_rows("fold_0", paths)["validation"]
    for config, split, message in (
        ("papers", "train", "config: expected one of message pairs, got 'papers'"),
        ("all", "test", "split of all: expected one of train, got 'test'"),
        ("fold_9", "test", "'fold_9' not found"),
    ):
        with pytest.raises(ValueError, match=message):
            pairs_of_split(config, split, folder)
    (folder / "fold_0_val.json").write_text("{", encoding="utf-8")
    with pytest.raises(SourceError, match="fold_0_val.json"):
        pairs_of_split("fold_0", "test", folder)
