"""`argscichat retrieval`: a run file and judgments in, a table and files out."""

import json

import pytest

from argscichat import cli

RUN = "q1 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq2 Q0 d9 1 1 t\nq9 Q0 d1 1 1 t\n"
QRELS = "query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td1\t2\nq3\td1\t1\n"


@pytest.fixture
def files(tmp_path):
    """A run, and a BEIR folder that it answers."""
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels" / "test.tsv").write_text(QRELS)
    (tmp_path / "agent.run").write_text(RUN)
    return tmp_path / "agent.run", folder


def limit(folder, **candidates):
    lines = [json.dumps({"query-id": query, "corpus-ids": ids}) + "\n" for query, ids in candidates.items()]
    (folder / "candidates.jsonl").write_text("".join(lines))


def test_scores_counts_and_notes_are_printed(run, files):
    file, folder = files
    code, out, err = run("retrieval", file, folder / "qrels" / "test.tsv", "--k", "1,2")
    assert (code, err) == (0, "")
    assert "agent.run on test.tsv" in out
    lines = [line.replace(" ", "") for line in out.splitlines()]
    assert "│MRR│0.0000│0.1667│" in lines
    assert "│Recall│0.0000│0.3333│" in lines
    assert "│MAP│0.1667│" in lines
    assert "Means over 3 judged queries." in out
    assert "without a ranking, which score 0: 'q3'" in out
    assert "not in the judgments, left out: 1" in out
    assert "candidates:none" in out


def test_a_split_of_a_folder_brings_its_candidates(run, files, tmp_path):
    file, folder = files
    limit(folder, q1=["d2"], q2=["d1"], q3=["d1"])
    code, out, err = run("retrieval", file, f"{folder}:test", "--json", tmp_path / "result.json")
    assert (code, err) == (0, "")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["mrr"] == pytest.approx(1 / 3)
    assert result["n_outside_candidates"] == 2
    assert result["missing"] == ["q3"]
    assert "per_example" not in result
    assert "no candidates of their query, removed: 2" in out


def test_candidates_can_be_named_beside_a_file_of_judgments(run, files, tmp_path):
    file, folder = files
    limit(folder, q1=["d2"], q2=["d1"], q3=["d1"])
    qrels = tmp_path / "elsewhere.tsv"
    qrels.write_text(QRELS)
    code, out, _ = run("retrieval", file, qrels, "--candidates", folder)
    assert code == 0
    assert "removed: 2" in out
    assert "removed" not in run("retrieval", file, qrels)[1]


def test_scores_of_each_query_are_written(run, files, tmp_path):
    file, folder = files
    run("retrieval", file, f"{folder}:test", "--k", "2", "--per-example", tmp_path / "queries.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["q1", "q2", "q3"]
    assert [row["mrr"] for row in rows] == [0.5, 0.0, 0.0]
    assert set(rows[0]) >= {"ndcg@2", "recall@2", "precision@2", "map", "r_precision", "fact_f1@2"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "1,x"], "--k: expected whole numbers with commas between them, got '1,x'"),
        (["--k", "0"], "k: expected"),
        (["--candidates", "."], "expected a folder with candidates.jsonl"),
        (["--json", "none/result.json"], "the folder none does not exist"),
    ],
)
def test_wrong_options_are_refused(run, files, arguments, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    file, folder = files
    code, _, err = run("retrieval", file, f"{folder}:test", *arguments)
    assert code == cli.USAGE_ERROR
    assert message in err


@pytest.mark.parametrize("qrels", ["{folder}:dev", "{folder}/qrels/dev.tsv", "{folder}:"])
def test_judgments_that_do_not_exist_are_named(run, files, qrels):
    file, folder = files
    code, _, err = run("retrieval", file, qrels.format(folder=folder))
    assert code == cli.USAGE_ERROR
    assert "dev" in err or "expected one of test" in err
    assert len(err) < 1000
