"""Several folds at once: which files belong together, and the two means over them."""

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest

from argscichat import cli
from argscichat.folds import score_folds
from argscichat.handed_in import read_references
from argscichat.scoring import score_file

FACTS = {"metrics": ["fact_f1"]}

# Fold -> selected and gold facts of each query. Fact-F1 by hand: fold 1 (1 + 0) / 2, fold 2 (2/3 + 1 + 0) / 3, fold 10
# 1 with a query that does not count.
FOLDS = {
    "1": [([1], [1]), ([2], [1])],
    "2": [([1, 2], [1]), ([3], [3]), ([], [4])],
    "10": [([0], [0]), ([5], [])],
}
MEANS = [1 / 2, 5 / 9, 1.0]
POOLED = (1 + 0 + 2 / 3 + 1 + 0 + 1) / 6


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def path_of(name, fold):
    return Path(name.replace("{fold}", fold))


@pytest.fixture
def names(tmp_path):
    """Files of three folds, and the two names that stand for them."""
    for fold, rows in FOLDS.items():
        write_lines(
            tmp_path / f"ours/fold_{fold}.jsonl",
            [{"id": f"q{i}", "facts": facts, "message": "a"} for i, (facts, _) in enumerate(rows)],
        )
        write_lines(
            tmp_path / f"gold/fold_{fold}_test.jsonl",
            [
                {"id": f"q{i}", "facts": facts, "message": "a b", "paper_id": f"{fold}-{i}"}
                for i, (_, facts) in enumerate(rows)
            ],
        )
    return str(tmp_path / "ours/fold_{fold}.jsonl"), str(tmp_path / "gold/fold_{fold}_test.jsonl")


def test_each_fold_is_scored_as_alone_and_in_the_order_of_numbers(names):
    scored = score_folds(*names, **FACTS)
    assert list(scored.folds) == ["1", "2", "10"]
    for fold, of_fold in scored.folds.items():
        alone = score_file(*(name.replace("{fold}", fold) for name in names), **FACTS)
        assert of_fold.summary() == alone.summary()


def test_the_mean_of_folds_is_not_the_pooled_mean(names):
    scored = score_folds(*names, **FACTS)
    assert [of_fold.result["fact_f1"] for of_fold in scored.folds.values()] == pytest.approx(MEANS)
    assert scored.mean_of_folds["fact_f1"] == pytest.approx(fmean(MEANS))
    assert scored.std_of_folds["fact_f1"] == pytest.approx(stdev(MEANS))
    assert scored.pooled["fact_f1"] == pytest.approx(POOLED)
    assert (scored.pooled["n_queries"], scored.pooled["n_fact_queries"]) == (7, 6)
    assert scored.mean_of_folds.keys() == scored.std_of_folds.keys() == {"fact_f1", "fact_precision", "fact_recall"}


def test_the_real_folds_give_the_published_means(shared_dir):
    data = shared_dir / "argscichat"
    scored = score_folds(data / "predictions/minilm_fold_{fold}_test.jsonl", data / "fold_{fold}_test.json", **FACTS)
    by_fold = {fold: of_fold.result["fact_f1"] for fold, of_fold in scored.folds.items()}
    expected = {"0": 0.079365, "1": 0.182292, "2": 0.079710, "3": 0.283333, "4": 0.185185}
    assert by_fold == pytest.approx(expected, abs=1e-6)
    assert scored.mean_of_folds["fact_f1"] == pytest.approx(0.161977, abs=1e-6)
    assert scored.pooled["fact_f1"] == pytest.approx(0.149038, abs=1e-6)


def test_the_folds_of_a_built_dataset_are_found_by_its_configs(real_built, tmp_path):
    for fold in range(5):
        gold = read_references(f"{real_built}:papers_{fold}:test")
        best = [{"id": row.id, "facts": facts[:2]} for row, facts in zip(gold.rows, gold.fact_ids, strict=True)]
        write_lines(tmp_path / f"{fold}/p{fold}.jsonl", best)
    with pytest.warns(UserWarning, match="rest on [2-5] papers"):
        scored = score_folds(tmp_path / "{fold}/p{fold}.jsonl", f"{real_built}:papers_{{fold}}:test", confidence=0.95)
    assert list(scored.folds) == ["0", "1", "2", "3", "4"]
    # Two gold sentences for each query: F1 is 4/5 for the 13 queries with three of them, and 4/12 for that with ten.
    assert (scored.pooled["n_queries"], scored.pooled["n_fact_queries"]) == (249, 208)
    assert scored.pooled["fact_f1"] == pytest.approx((194 + 13 * 4 / 5 + 4 / 12) / 208)
    assert scored.pooled["fact_f1_ci"][0] < scored.pooled["fact_f1"] < scored.pooled["fact_f1_ci"][1]


def test_pooled_scores_and_intervals_are_those_of_all_queries_in_one_file(names, tmp_path):
    sides = []
    for name in names:
        lines = []
        for fold in FOLDS:
            with open(name.replace("{fold}", fold), encoding="utf-8") as file:
                lines += [row | {"id": f"{fold} {row['id']}"} for row in map(json.loads, file)]
        sides.append(tmp_path / f"all_{len(sides)}.jsonl")
        write_lines(sides[-1], lines)
    options = {"metrics": ["fact_f1", "message_f1"], "confidence": 0.9}
    with pytest.warns(UserWarning, match="too narrow|no interval"):
        scored = score_folds(*names, **options)
    together = score_file(*sides, **options).result
    assert scored.pooled == together
    assert "resampled:papers" in together["signature"]
    assert len(together["fact_f1_ci"]) == 2


def test_a_fold_where_no_query_counts_takes_no_part_in_the_mean_of_folds(names):
    write_lines(
        path_of(names[1], "10"), [{"id": f"q{i}", "facts": [], "message": "a", "paper_id": "p"} for i in range(2)]
    )
    with pytest.warns(UserWarning, match="no query has gold facts"):
        scored = score_folds(*names, **FACTS)
    assert scored.mean_of_folds["fact_f1"] == pytest.approx(fmean(MEANS[:2]))
    assert scored.std_of_folds["fact_f1"] == pytest.approx(stdev(MEANS[:2]))


def test_one_fold_has_a_mean_and_no_deviation(names):
    for fold in ("2", "10"):
        for name in names:
            path_of(name, fold).unlink()
    scored = score_folds(*names, **FACTS)
    assert scored.mean_of_folds["fact_f1"] == scored.pooled["fact_f1"] == MEANS[0]
    assert scored.std_of_folds["fact_f1"] is None


def test_a_fold_without_predictions_is_named(names):
    path_of(names[0], "2").unlink()
    with pytest.raises(FileNotFoundError, match=r"fold_2\.jsonl: there are no predictions for fold '2' of the ref"):
        score_folds(*names, **FACTS)


def test_predictions_of_a_fold_without_references_are_refused_unless_they_may_be_ignored(names):
    path_of(names[1], "2").unlink()
    with pytest.raises(ValueError, match=r"fold_2\.jsonl: there are no references for fold '2'; pass --ignore-unknown"):
        score_folds(*names, **FACTS)
    assert list(score_folds(*names, ignore_unknown=True, **FACTS).folds) == ["1", "10"]


def test_a_name_without_the_fold_beside_one_with_it_is_refused(names):
    for sides, says in (
        ((names[0].replace("{fold}", "1"), names[1]), "predictions: expected a name with '{fold}' in it"),
        ((names[0], names[1].replace("{fold}", "1")), "references: expected a name with '{fold}' in it"),
    ):
        with pytest.raises(ValueError) as error:
            score_folds(*sides, **FACTS)
        assert str(error.value).startswith(says)


@pytest.mark.parametrize("references", ["no/such/fold_{fold}.json", "a:fold_{fold}:test"])
def test_references_that_fit_no_file_are_refused(names, references):
    with pytest.raises(ValueError, match="no file and no config of a dataset fits|a.*: expected a folder that"):
        score_folds(names[0], references, **FACTS)


def test_folds_with_other_fields_are_refused(names):
    write_lines(path_of(names[0], "2"), [{"id": f"q{i}", "message": "a"} for i in range(3)])
    with pytest.raises(ValueError, match="fold '2': expected rows with 'message' and 'facts', as in fold '1', got 'me"):
        score_folds(*names, metrics=["message_f1"])


def test_papers_of_some_folds_only_are_refused_where_they_are_to_be_resampled(names):
    rows = [{"id": f"q{i}", "facts": [1], "message": "a"} for i in range(3)]
    write_lines(path_of(names[1], "2"), rows)
    assert score_folds(*names, **FACTS).pooled["n_queries"] == 7
    with pytest.raises(ValueError, match="fold '2': expected rows with 'message' and 'facts' and 'paper_id', as in fo"):
        score_folds(*names, **FACTS, confidence=0.95)


@pytest.mark.parametrize("facts", [[1, 2, 3], ["one sentence"]])
def test_an_error_in_the_rows_of_a_fold_names_the_fold(names, facts):
    write_lines(path_of(names[0], "2"), [{"id": f"q{i}", "facts": facts, "message": "a"} for i in range(3)])
    with pytest.raises(ValueError, match="^fold '2': .*facts"):
        score_folds(*names, **FACTS)


def test_a_malformed_file_is_named_with_its_line(names):
    path_of(names[0], "10").write_text('{"id": "q0"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"fold_10\.jsonl, line 1: expected a JSON object"):
        score_folds(*names, **FACTS)


def test_brackets_in_a_folder_are_no_pattern_and_the_fold_may_stand_twice(tmp_path):
    for fold in ("a", "b"):
        write_lines(tmp_path / f"x[1]/{fold}/{fold}.jsonl", [{"id": "q", "facts": [1]}])
    write_lines(tmp_path / "x[1]/a/b.jsonl", [{"id": "q", "facts": [1]}])
    name = str(tmp_path / "x[1]/{fold}/{fold}.jsonl")
    assert list(score_folds(name, name).folds) == ["a", "b"]


def test_the_command_shows_each_fold_their_mean_and_the_pooled_mean(run, names, tmp_path):
    files = ["--json", tmp_path / "r.json", "--per-example", tmp_path / "e.jsonl"]
    code, out, _ = run("score", *names, "--metrics", "fact_f1", *files)
    lines = [" ".join(line.replace("│", " ").split()) for line in out.splitlines()]
    written = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text(encoding="utf-8").splitlines()]
    assert code == 0
    assert [line for line in lines if "quer" in line or "± 0" in line] == [
        "Fact-F1 1 0.5000 2 queries",
        "2 0.5556 3 queries",
        "10 1.0000 1 of 2 queries",
        "mean of folds 0.6852 ± 0.2740 3 folds",
        "pooled 0.6111 6 of 7 queries",
    ]
    assert "Note: ± is the sample standard deviation of the folds (divided by n - 1)." in lines
    assert written == score_folds(*names, **FACTS).summary()
    assert written.keys() == {"folds", "mean_of_folds", "std_of_folds", "pooled"}
    assert written["folds"]["2"]["missing"] == []
    assert "per_example" not in written["folds"]["2"]
    assert [(row["fold"], row["id"]) for row in rows] == [
        (fold, f"q{i}") for fold in FOLDS for i in range(len(FOLDS[fold]))
    ]
    assert rows[1]["fact_f1"] == 0.0


def test_the_command_shows_intervals_of_each_fold_and_of_the_pooled_mean(run, names, tmp_path):
    code, out, err = run("score", *names, "--metrics", "fact_f1", "--confidence", "0.95")
    assert code == 0
    warned = err.splitlines()
    assert all(line.startswith("warning: ") for line in warned)
    assert len(warned) == len(set(warned)) > 0
    assert "0.500 [0.00, 1.00]" in out
    assert "1.000 [none]" in out
    assert "mean of folds │ 0.6852 ± 0.2740" in " ".join(out.split())
    assert "0.611 [" in out


def test_notes_name_the_fold_and_a_missing_fold_ends_with_code_2(run, names):
    write_lines(path_of(names[0], "2"), [{"id": "q0", "facts": [1], "message": "a"}])
    code, out, _ = run("score", *names, "--metrics", "fact_f1")
    assert code == 0
    assert "Note: fold '2': 2 queries have no prediction, scored as an empty one: 'q1', 'q2'." in " ".join(out.split())
    path_of(names[0], "2").unlink()
    code, out, err = run("score", *names, "--metrics", "fact_f1")
    assert (code, out) == (cli.USAGE_ERROR, "")
    assert "there are no predictions for fold '2'" in " ".join(err.split())
