"""The command `argscichat compare` as a user meets it."""

import json

import pytest

from argscichat import cli
from argscichat.compare_command import file_names


@pytest.fixture
def files(root):
    sample = root / "argscichat_dataset/sample"
    return tuple(sample / f"predictions_{name}_agent.jsonl" for name in ("demo", "second")) + (
        sample / "sample_test.json",
    )


TEXT_FREE = ("--metrics", "fact_f1,message_f1")


def test_tables_and_queries_are_printed_and_written(run, files, tmp_path):
    outputs = [tmp_path / name for name in ("c.json", "c.tex", "c.md")]
    options = [part for pair in zip(("--json", "--latex", "--markdown"), outputs, strict=True) for part in pair]
    code, out, _ = run("compare", *files, *TEXT_FREE, "--show", 2, *options)
    assert code == 0
    assert "predictions_second_agent against predictions_demo_agent (baseline)" in out
    assert "-0.174 [" in out
    assert "query 2: " in out
    assert "query 3: " not in out
    written = json.loads(outputs[0].read_text(encoding="utf-8"))
    assert written["pairs"][0]["scores"][0]["difference"] == pytest.approx(-0.17374, abs=1e-5)
    assert written["unit"] == "paper"
    assert r"\toprule" in outputs[1].read_text(encoding="utf-8")
    assert outputs[2].read_text(encoding="utf-8").startswith("| System | Fact-F1 | Message-F1 |")


def test_three_systems_with_names_and_all_pairs(run, files):
    demo, second, references = files
    names = ("--name", "one", "--name", "two", "--name", "three")
    code, out, _ = run("compare", demo, second, demo, references, *names, *TEXT_FREE, "--all-pairs", "--show", 0)
    assert code == 0
    for title in ("two against one", "three against one", "three against two"):
        assert f"{title} (baseline)" in out
    assert "corrected for 6 tests" in out


def written(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_figures_are_written_to_a_folder_and_replaced_by_the_same_ones(run, files, tmp_path):
    command = ("compare", *files, "--metrics", "fact_f1", "--plot", tmp_path / "f", "--plot-format", "svg")
    assert run(*command)[0] == 0
    before = written(tmp_path / "f")
    assert before.keys() == {"scores.svg", "distribution_fact_f1.svg", "by_paper_fact_f1.svg"}
    assert run(*command)[0] == 0
    assert written(tmp_path / "f") == before


def test_the_replies_that_differ_most_are_drawn_where_both_systems_have_one(run, tmp_path):
    replies = {"a": ["", "the corpus is small"], "b": ["a corpus", "recipes"], "gold": ["a corpus", "a small corpus"]}
    for name, messages in replies.items():
        lines = [json.dumps({"id": str(i), "message": message}) for i, message in enumerate(messages)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    files = [tmp_path / f"{name}.jsonl" for name in replies]
    code, out, _ = run(
        "compare", *files, "--metrics", "bertscore,moverscore", "--plot", tmp_path, "--plot-format", "png"
    )
    assert code == 0
    assert "query 1: 0" in out  # the empty reply: the largest difference, but nothing to draw
    of_replies = {f"{kind}_{number}.png" for kind in ("matching", "transport") for number in (1, 2)}
    assert of_replies <= {file.name for file in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--metrics", "fact_f2"], "metrics: expected some of"),
        (["--name", "x"], "--name: expected one name for each of the 2 files, got 1"),
        (["--name", "x", "--name", "x"], "--name: expected names that differ, got 'x' more than once"),
        (["--confidence", "95"], "confidence: expected a number above 0 and below 1, or None, got 95.0"),
        (["--json", "no/such/folder/r.json"], "does not exist"),
        (["--latex", "no/such/folder/r.tex"], "does not exist"),
        (["--markdown", "no/such/folder/r.md"], "does not exist"),
        (["--plot", "no/such/folder"], "does not exist"),
        (["--plot", "README.md"], "expected a folder for the figures, got a file"),
        (["--plot", "figures", "--plot-format", "gif"], "--plot-format: expected one of pdf, png, svg, got 'gif'"),
    ],
)
def test_bad_arguments_end_with_one_message_and_code_2_before_any_work(
    run, files, root, monkeypatch, tmp_path, arguments, says
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("", encoding="utf-8")
    code, out, err = run("compare", *files, *TEXT_FREE, *arguments)
    assert code == cli.USAGE_ERROR
    assert says in " ".join(err.split())
    assert "Traceback" not in err
    assert out == ""
    assert [file.name for file in tmp_path.iterdir()] == ["README.md"]


def test_one_file_is_no_comparison(run, files):
    code, _, err = run("compare", files[0], files[2])
    assert code == cli.USAGE_ERROR
    assert "systems: expected at least two, got 1" in err


def test_names_of_files_are_made_unique(tmp_path):
    files = [tmp_path / "a/run.jsonl", tmp_path / "b/run.jsonl", tmp_path / "b/run.jsonl", tmp_path / "x.jsonl"]
    assert file_names(files) == ["a/run", "b/run", "b/run (2)", "x"]


def test_score_and_compare_take_the_same_options_of_scoring(run):
    from argscichat_metric.options import Options

    commands = cli.typer.main.get_command(cli.app).commands
    offered = {name: {p.name: p for p in commands[name].params} for name in ("score", "compare")}
    # A comparison always has intervals, and resamples more often, as its p-values need it.
    own = {"progress", "per_example", "confidence", "n_resamples", "seed"}
    shared = set(Options.__dataclass_fields__) - own | {"no_progress", "ignore_unknown"}
    for name in shared:
        one, other = (offered[command][name] for command in ("score", "compare"))
        assert (one.default, one.help, one.opts) == (other.default, other.help, other.opts)
