"""The command line as a user meets it: output, files, exit codes."""

import json
import subprocess
import sys

import pytest

from argscichat import cli


@pytest.fixture
def sample(root):
    return root / "argscichat_dataset/sample"


@pytest.fixture
def files(sample):
    return sample / "predictions_demo_agent.jsonl", sample / "sample_test.json"


def test_the_table_shows_every_score_its_count_and_the_signature(run, files):
    code, out, _ = run("score", *files)
    assert code == 0
    for name in ("Fact-F1", "Message-F1", "BERTScore F1", "MoverScore"):
        assert name in out
    assert "0.2939" in out
    assert "33 queries (7 without gold facts)" in out
    assert "Note: 1 predicted message is empty." in out
    assert "Signature: argscichat:" in out


def test_json_holds_the_result_of_compute_and_the_missing_ids(run, files, tmp_path):
    import argscichat_metric
    from argscichat.handed_in import read_predictions, read_references

    code, _, _ = run("score", *files, "--json", tmp_path / "r.json", "--metrics", "fact_f1, message_f1")
    written = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    by_id = {row.id: row for row in read_predictions(files[0])}
    references = read_references(files[1]).rows
    expected = argscichat_metric.compute_scores(
        [{"message": by_id[row.id].message, "facts": by_id[row.id].facts} for row in references],
        [{"message": row.message, "facts": row.facts} for row in references],
        metrics=["fact_f1", "message_f1"],
    )
    assert code == 0
    assert written == expected | {"missing": []}


def test_per_example_scores_are_written_by_id_and_average_to_the_result(run, files, tmp_path):
    run("score", *files, "--per-example", tmp_path / "e.jsonl", "--json", tmp_path / "r.json", "--metrics", "fact_f1")
    rows = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text(encoding="utf-8").splitlines()]
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    counted = [row["fact_f1"] for row in rows if row["fact_f1"] is not None]
    assert len({row["id"] for row in rows}) == 40
    assert sum(counted) / len(counted) == pytest.approx(result["fact_f1"])
    assert "per_example" not in result


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--metrics", "fact_f2"], "metrics: expected some of"),
        (["--metrics", ""], "metrics: expected at least one"),
        (["--encoder", "no/such-model"], "no/such-model"),
        (["--max-facts", "0"], "max_facts: expected a whole number of at least 1"),
        (["--confidence", "95"], "confidence: expected a number above 0 and below 1, or None, got 95"),
        (["--max-facts", "1"], "expected at most 1 distinct facts, got 2"),
        (["--json", "no/such/folder/r.json"], "does not exist"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_bad_arguments_end_with_one_message_and_code_2(run, files, arguments, says):
    code, out, err = run("score", *files, *arguments)
    assert code == cli.USAGE_ERROR
    assert says in " ".join(err.split())
    assert "Traceback" not in err
    assert out == ""


def test_a_bad_file_ends_with_code_2_and_writes_nothing(run, files, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "x", "message": [bold]}\n', encoding="utf-8")
    code, _, err = run("score", bad, files[1], "--json", tmp_path / "r.json")
    assert code == cli.USAGE_ERROR
    assert "line 1" in err
    assert not (tmp_path / "r.json").exists()
    assert run("score", tmp_path / "none.jsonl", files[1])[0] == cli.USAGE_ERROR


def test_ids_with_markup_are_printed_as_they_are(run, files, tmp_path):
    strange = tmp_path / "strange.jsonl"
    strange.write_text(json.dumps({"id": "[red]x[/red]", "message": "", "facts": []}) + "\n", encoding="utf-8")
    assert "[red]x[/red]" in run("score", strange, files[1])[2]


def test_missing_and_unknown_predictions_are_named(run, files, tmp_path):
    few = tmp_path / "few.jsonl"
    lines = files[0].read_text(encoding="utf-8").splitlines(keepends=True)
    few.write_text("".join([*lines[:38], json.dumps({"id": "who?", "message": "", "facts": []})]), encoding="utf-8")
    code, out, _ = run(
        "score", few, files[1], "--ignore-unknown", "--metrics", "fact_f1", "--json", tmp_path / "r.json"
    )
    missing = [json.loads(line)["id"] for line in lines[38:]]
    assert code == 0
    assert "2 queries have no prediction, scored as an empty one" in out
    assert "1 prediction has an id that is in no reference, left out: 'who?'" in out
    assert sorted(json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["missing"]) == sorted(missing)


def test_a_cell_shows_the_mean_and_its_interval(run, files, tmp_path):
    arguments = ["--confidence", "0.9", "--n-resamples", "500", "--seed", "3", "--metrics", "fact_f1,message_f1"]
    code, out, err = run("score", *files, *arguments, "--json", tmp_path / "r.json")
    assert err.startswith("warning: the intervals of fact_f1, ")
    assert "rest on 5 papers; with fewer than 6 they are too narrow" in err
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    low, high = result["fact_f1_ci"]
    assert code == 0
    assert "Mean [interval]" in out
    assert f" 0.294 [{low:.2f}, {high:.2f}] " in out
    assert "|ci:0.9|resampled:papers|resamples:500|seed:3" in out
    assert {key for key in result if key.endswith("_ci")} == {
        f"{key}_ci" for key in ("fact_f1", "fact_precision", "fact_recall", "message_f1", "message_f1_whitespace")
    }


def test_a_score_without_an_interval_says_so_in_its_cell(run, tmp_path):
    line = json.dumps({"id": "a", "message": "x y", "paper_id": "p"})
    (tmp_path / "r.jsonl").write_text(line, encoding="utf-8")
    (tmp_path / "p.jsonl").write_text('{"id": "a", "message": "x"}', encoding="utf-8")
    code, out, err = run(
        "score", tmp_path / "p.jsonl", tmp_path / "r.jsonl", "--metrics", "message_f1", "--confidence", "0.95"
    )
    assert code == 0
    assert err.startswith("warning: no interval of message_f1")
    assert " 0.667 [none] " in out


def test_every_option_of_compute_is_an_option_of_the_command(run):
    from argscichat_metric.options import Options

    offered = {parameter.name for parameter in cli.typer.main.get_command(cli.app).commands["score"].params}
    assert set(Options.__dataclass_fields__) - {"progress"} <= offered
    assert "no_progress" in offered


def test_module_and_version(root):
    done = subprocess.run([sys.executable, "-m", "argscichat", "--version"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("argscichat 0.")


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    from pathlib import Path

    from argscichat.output_files import write_whole

    target = tmp_path / "r.json"
    write_whole(target, "old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]
