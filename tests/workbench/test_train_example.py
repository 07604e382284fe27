"""The example that fine-tunes a model: a few steps with tiny random models on the sample."""

import contextlib
import io
import json

import pytest

pytest.importorskip("accelerate")

from argscichat.handed_in import read_predictions
from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.prompts import PromptError
from argscichat_dataset.sample_rows import SAMPLE_FILE
from argscichat_dataset.splits import check_no_leakage
from examples import train_seq2seq
from tests.tiny_models import build_tiny_model, build_tiny_tokenizer

SETTINGS = {"epochs": 3, "batch_size": 8, "accumulate": 1, "learning_rate": 3e-3, "max_input": 200, "max_reply": 24}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Folder of a finished run, and what it printed."""
    output = tmp_path_factory.mktemp("my run")
    model = build_tiny_model("led", tmp_path_factory.mktemp("models"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        train_seq2seq.main(output=output, model=model, variant="Q+P+H", **SETTINGS)
    return output, printed.getvalue()


@pytest.fixture(scope="module")
def trained(finished):
    return finished[0]


def history(output):
    return json.loads((output / "trainer_state.json").read_text(encoding="utf-8"))


def test_the_loss_falls_and_every_epoch_is_scored(trained):
    log = history(trained)["log_history"]
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert len(losses) == SETTINGS["epochs"]
    assert losses[-1] < losses[0]
    scored = [entry for entry in log if "eval_message_f1" in entry]
    assert [entry["epoch"] for entry in scored] == [1, 2, 3]
    assert all({"eval_bertscore_f1", "eval_moverscore", "eval_loss"} <= entry.keys() for entry in scored)


def test_the_best_epoch_by_message_f1_is_kept(trained):
    state = history(trained)
    scored = [entry["eval_message_f1"] for entry in state["log_history"] if "eval_message_f1" in entry]
    assert state["best_metric"] == max(scored)
    assert (trained / "model.safetensors").is_file()


def test_the_command_scores_the_written_files_as_the_trainer_does(trained, run, tmp_path):
    code, _, _ = run(
        "score", trained / "predictions.jsonl", trained / "references.jsonl", "--json", tmp_path / "scores.json"
    )
    assert code == 0
    scores = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    logged = json.loads((trained / "test_results.json").read_text(encoding="utf-8"))
    assert scores["missing"] == []
    for key in scores.keys() - {"missing", "signature"}:
        assert logged[f"test_{key}"] == pytest.approx(scores[key], abs=1e-6), key
    assert {"bertscore_f1", "moverscore", "message_f1"} <= scores.keys()


def test_the_predictions_are_of_the_test_split(trained):
    rows = train_seq2seq.read_splits(None, "papers_0")["test"]
    assert [row.id for row in read_predictions(trained / "predictions.jsonl")] == [row["id"] for row in rows]


def test_the_run_ends_with_the_command_that_scores_it(finished):
    folder, printed = finished
    last = printed.splitlines()[-1]
    assert last == f"Score it with: argscichat score '{folder}/predictions.jsonl' '{folder}/references.jsonl'"


def test_the_sample_is_divided_by_paper():
    tested = []
    for fold in range(5):
        splits = train_seq2seq.read_splits(None, f"papers_{fold}")
        check_no_leakage(splits)
        assert sum(map(len, splits.values())) == 40
        assert all(splits.values())
        tested += [row["id"] for row in splits["test"]]
    assert sorted(tested) == sorted(row["id"] for row in read_pairs(SAMPLE_FILE))
    with pytest.raises(ValueError, match="the sample has papers_0 to papers_4, got 'fold_0'; give --data"):
        train_seq2seq.read_splits(None, "fold_0")


def test_a_built_dataset_gives_the_official_folds(real_built):
    splits = train_seq2seq.read_splits(real_built, "fold_0")
    assert {split: len(rows) for split, rows in splits.items()} == {"train": 199, "validation": 27, "test": 23}


def test_inputs_hold_what_the_variant_says_and_fit():
    rows = read_pairs(SAMPLE_FILE)
    tokenizer = build_tiny_tokenizer("led")
    texts = {}
    for variant in ("Q", "Q+P", "Q+P+H", "Q+F"):
        features = train_seq2seq.encode(rows, tokenizer, variant, 200, 10)
        assert max(len(row["input_ids"]) for row in features) <= 200
        assert max(len(row["labels"]) for row in features) == 10
        texts[variant] = tokenizer.batch_decode([row["input_ids"] for row in features], skip_special_tokens=True)
    row, number = next((row, i) for i, row in enumerate(rows) if row["facts"] and row["history"])
    assert texts["Q"][number] == f"Query: {row['query']}"
    assert f"Paper: {row['paper'][0]}" in texts["Q+P"][number]
    assert f"Facts: {row['facts'][0]}" in texts["Q+F"][number]
    with pytest.raises(PromptError, match="max_length"):
        train_seq2seq.encode(rows, tokenizer, "Q", 3, 10)


@pytest.mark.parametrize(("family", "is_global"), [("led", True), ("t5", False)])
def test_the_first_token_has_global_attention_where_the_model_has_it(family, is_global, tmp_path):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = build_tiny_model(family, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    collate = train_seq2seq.Collator(tokenizer, AutoModelForSeq2SeqLM.from_pretrained(folder))
    batch = collate(train_seq2seq.encode(read_pairs(SAMPLE_FILE)[:3], tokenizer, "Q", 200, 60))
    assert ("global_attention_mask" in batch) == is_global
    assert (batch["labels"] == -100).any()
    if is_global:
        assert batch["global_attention_mask"][:, 0].tolist() == [1, 1, 1]
        assert batch["global_attention_mask"][:, 1:].sum() == 0
        assert batch["global_attention_mask"].shape == batch["input_ids"].shape


def test_the_options_are_explained():
    import typer
    from typer.testing import CliRunner

    app = typer.Typer()
    app.command()(train_seq2seq.main)
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 0
    for option in ("--model", "--data", "--config", "--variant", "--max-input", "--output"):
        assert option in shown.output
    assert "allenai/led-base-16384" in shown.output
