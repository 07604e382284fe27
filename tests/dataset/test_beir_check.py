"""The check of a BEIR folder: its counts, every fault in one run, and no texts in memory."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from argscichat_dataset.beir import read_beir
from argscichat_dataset.beir_check import SplitCounts, check_beir
from argscichat_dataset.beir_lines import (
    CONFLICT,
    DANGLING,
    EMPTY_DOCUMENT,
    EMPTY_ID,
    EMPTY_QUERY,
    FAULTS,
    KEPT_PER_KIND,
    MALFORMED,
    MISSING,
    REPEATED,
)
from argscichat_dataset.source import SourceError

Folder = Callable[..., Path]


def test_scifact_is_sound(shared_dir: Path) -> None:
    report = check_beir(shared_dir / "scifact")
    assert report.sound and report.first_faults == () and report.notes == {}
    assert (report.documents, report.queries, report.unjudged_queries) == (5183, 1109, 0)
    assert report.splits == {"test": SplitCounts(339, 300), "train": SplitCounts(919, 809)}


def test_queries_without_judgments_empty_texts_and_repeats_are_counted_and_no_faults(beir: Folder) -> None:
    folder = beir(
        '{"_id": "d1", "title": "T", "text": " "}\n{"_id": "d2", "text": "x"}\n{"_id": "d2", "text": "x"}\n',
        '{"_id": "q1", "text": ""}\n{"_id": "q2", "text": "x"}\n{"_id": "q3", "text": "x"}\n',
        test="q1\td1\t1\nq1\td1\t1\n",
        dev="q2\td2\t1\n",
    )
    report = check_beir(folder)
    assert report.sound and report.unjudged_queries == 1 and report.queries == 3 and report.documents == 2
    assert report.notes == {EMPTY_DOCUMENT: 1, EMPTY_QUERY: 1, REPEATED: 2}
    assert report.splits == {"dev": SplitCounts(1, 1), "test": SplitCounts(1, 1)}
    assert read_beir(folder, "test").qrels == {"q1": {"d1": 1}}


def test_one_run_finds_faults_of_every_kind_in_every_file(beir: Folder) -> None:
    folder = beir(
        '{"_id": "d1", "text": "x"}\n{"_id": "d1", "text": "y"}\n{"_id": "", "text": "x"}\n{"_id": "d2"}\n',
        '{"_id": "q1", "text": "x"}\nno JSON\n{"_id": "q1", "text": "y"}\n',
        test="q1\td1\t1\nq1\td1\t2\nq1\td2\t1\nq9\td9\t1\nq1\td1\n\td1\t1\n",
        train="",
    )
    (folder / "candidates.jsonl").write_text('{"query-id": "q1", "corpus-ids": ["d1", "d7"]}\n', encoding="utf-8")
    report = check_beir(folder)
    assert not report.sound
    assert report.faults == {MALFORMED: 3, EMPTY_ID: 2, CONFLICT: 3, DANGLING: 4, MISSING: 1}
    assert len(report.first_faults) == 13
    for place in (
        "corpus.jsonl': line 2: expected one content for the id 'd1'",
        "corpus.jsonl': line 3: expected an id that is not blank",
        "corpus.jsonl': line 4: expected the key 'text'",
        "queries.jsonl': line 2: expected a JSON object",
        "queries.jsonl': line 3: expected one content",
        "test.tsv': line 2: expected one score",
        "test.tsv': line 3: expected the id of a document that there is, got 'd2'",
        "test.tsv': line 4: expected the id of a query that there is, got 'q9'",
        "test.tsv': line 5: expected 3 columns",
        "test.tsv': line 6: expected an id",
        "train.tsv': file: expected at least one judgment",
        "candidates.jsonl': line 1: expected the id of a document that there is, got 'd7'",
    ):
        assert any(place in message for message in report.first_faults), place


def test_a_flood_of_one_kind_does_not_hide_another(beir: Folder) -> None:
    folder = beir("no JSON\n" * 500 + '{"_id": "d1", "text": "x"}\n', test="q1\td1\t1\nq1\td7\t1\n")
    report = check_beir(folder)
    assert report.faults == dict.fromkeys(FAULTS, 0) | {MALFORMED: 500, DANGLING: 1}
    assert len(report.first_faults) == KEPT_PER_KIND + 1


@pytest.mark.parametrize("missing", ["corpus", "queries"])
def test_a_missing_file_is_one_fault_and_the_others_are_checked(beir: Folder, missing: str) -> None:
    report = check_beir(beir(**{missing: None}, test="q1\td1\t1\nq1\td1\n"))
    assert report.faults == dict.fromkeys(FAULTS, 0) | {MISSING: 1, MALFORMED: 1}
    assert f"{missing}.jsonl" in report.first_faults[0]


def test_no_judgments_at_all_are_a_fault_and_no_folder_an_error(beir: Folder, tmp_path: Path) -> None:
    folder = beir()
    (folder / "qrels" / "test.tsv").unlink()
    report = check_beir(folder)
    assert report.faults[MISSING] == 1 and not report.sound and report.unjudged_queries == 2
    with pytest.raises(SourceError, match="expected a BEIR folder"):
        check_beir(tmp_path / "nowhere")


def test_the_texts_are_not_held_in_memory(beir: Folder) -> None:
    """40 MB of texts; what is held are a thousand ids and one line."""
    folder = beir("".join(json.dumps({"_id": f"d{i}", "text": str(i) + "x" * 40_000}) + "\n" for i in range(1000)))
    tracemalloc.start()
    try:
        assert check_beir(folder).documents == 1000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000
