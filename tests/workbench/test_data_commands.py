"""`argscichat data build`, `argscichat data stats`, and a built dataset as references."""

import json

import pytest

from argscichat import cli
from argscichat.handed_in import read_references


def test_build_writes_a_dataset_and_says_how_to_load_it(run, shared_dir, tmp_path):
    code, out, err = run("data", "build", "--output", tmp_path / "d", "--data-dir", shared_dir / "argscichat")
    assert code == 0
    assert "Wrote 13 configs with 33 splits" in out
    assert (tmp_path / "d" / "README.md").is_file()
    assert "it/s" not in err


def test_build_refuses_a_folder_without_the_files(run, tmp_path):
    code, _, err = run("data", "build", "--output", tmp_path / "d", "--data-dir", tmp_path)
    assert code == cli.USAGE_ERROR
    assert "fold_0_train.json" in err
    assert not (tmp_path / "d").exists()


def test_stats_prints_the_counts_of_the_published_corpus(run, real_built):
    code, out, _ = run("data", "stats", real_built)
    assert code == 0
    lines = [line.replace(" ", "") for line in out.splitlines()]
    assert "│all│train│20│41│249│208│312│" in lines
    assert "│fold_3│test│2│2│10│10│17│" in lines
    assert "319 annotated facts; 185 exact, 24 normalised, 107 partial, 3 title, 0 unmatched; 5 match more" in out
    assert "0 in 41, 1 in 125, 2 in 69, 3 in 13, 10 in 1" in out
    assert "no paper and no dialogue is in two splits of a config (11 configs)" in out
    assert "Dialogue acts: 881 sentences, 0 of them without a message" in out


def test_stats_refuses_splits_that_share_a_paper(run, real_built, tmp_path):
    import shutil

    leaky = shutil.copytree(real_built, tmp_path / "leaky")
    train, test = (leaky / "fold_0" / f"{split}-00000-of-00001.parquet" for split in ("train", "test"))
    shutil.copy(train, test)
    code, _, err = run("data", "stats", leaky)
    assert code == cli.USAGE_ERROR
    assert "'train'" in err
    assert "'test'" in err


@pytest.mark.parametrize("fold", range(5))
def test_a_built_split_and_the_official_file_are_the_same_references(shared_dir, real_built, fold):
    official = read_references(shared_dir / "argscichat" / f"fold_{fold}_test.json")
    assert read_references(f"{real_built}:fold_{fold}:test") == official


def test_score_takes_a_built_split(run, shared_dir, real_built, tmp_path):
    predictions = shared_dir / "argscichat/predictions/minilm_fold_1_test.jsonl"
    code, _, _ = run(
        "score", predictions, f"{real_built}:fold_1:test", "--metrics", "fact_f1", "--json", tmp_path / "r.json"
    )
    assert code == 0
    assert json.loads((tmp_path / "r.json").read_text())["fact_f1"] == pytest.approx(0.182292, abs=1e-6)


def test_score_names_the_configs_that_there_are(run, shared_dir, real_built):
    predictions = shared_dir / "argscichat/predictions/minilm_fold_1_test.jsonl"
    code, _, err = run("score", predictions, f"{real_built}:fold_9:test")
    assert code == cli.USAGE_ERROR
    assert "papers_4" in err


def test_beir_writes_all_queries_as_the_split_test(run, shared_dir, tmp_path):
    code, out, err = run("data", "beir", "--output", tmp_path / "b", "--data-dir", shared_dir / "argscichat")
    assert (code, err) == (0, "")
    assert "Wrote 652 sentences, 249 queries (208 judged) and 312 judgments" in out
    assert [file.name for file in (tmp_path / "b" / "qrels").iterdir()] == ["test.tsv"]


def test_beir_writes_a_split_under_its_name_in_beir(run, shared_dir, tmp_path):
    arguments = ["data", "beir", "--data-dir", shared_dir / "argscichat", "--config", "fold_0"]
    for split, name in (("validation", "dev"), ("train", "train")):
        assert run(*arguments, "--output", tmp_path / split, "--split", split)[0] == 0
        assert [file.stem for file in (tmp_path / split / "qrels").iterdir()] == [name]
    code, out, _ = run(*arguments, "--output", tmp_path / "default")
    assert code == 0
    assert "23 queries" in out
    assert "as split test" in out


def test_beir_refuses_to_replace_a_folder_unless_asked(run, shared_dir, tmp_path):
    arguments = ["data", "beir", "--data-dir", shared_dir / "argscichat", "--config", "fold_3", "--output", tmp_path]
    assert run(*arguments)[0] == 0
    code, _, err = run(*arguments)
    assert code == cli.USAGE_ERROR
    assert "--overwrite" in err
    assert run(*arguments, "--overwrite")[0] == 0


def test_check_prints_the_counts_of_a_sound_folder(run, shared_dir):
    code, out, err = run("data", "check", shared_dir / "scifact")
    assert (code, err) == (0, "")
    lines = [line.replace(" ", "") for line in out.splitlines()]
    assert "Corpus: 5183 documents. Queries: 1109, 0 of them without judgments in any split." in out
    assert "│test│339│300│" in lines
    assert "│train│919│809│" in lines
    assert "Faults: malformed lines: 0, lines with an empty id: 0, conflicting duplicates: 0, ids that no line" in out


def test_check_lists_the_faults_of_a_broken_folder_and_fails(run, tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": ""}\n{"_id": "d1", "text": "y"}\n[/red]\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "x"}\n{"_id": "", "text": "x"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("q1\td1\t1\nq1\td2\t1\nq2\td1\t1\n")
    code, out, err = run("data", "check", tmp_path)
    assert code == cli.USAGE_ERROR
    assert "5 faults" in err
    assert (
        "malformed lines: 1, lines with an empty id: 1, conflicting duplicates: 1, ids that no line defines: 2" in out
    )
    assert "Note: documents with an empty text: 1." in out
    for place in ("corpus.jsonl': line 2", "corpus.jsonl': line 3", "queries.jsonl': line 2", "test.tsv': line 3"):
        assert place in out


def test_check_refuses_what_is_no_folder(run, tmp_path):
    code, _, err = run("data", "check", tmp_path / "nowhere")
    assert code == cli.USAGE_ERROR
    assert "expected a BEIR folder" in err
