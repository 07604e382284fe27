"""`argscichat baseline`: the files that it writes, the table of all, and the page of results."""

import json
from statistics import fmean

import pytest

from argscichat import cli
from argscichat.baseline_results import read_test_splits
from argscichat.baselines import BASELINES, BaselineOptions, score_sentences, select_facts
from argscichat.rankings import read_run, score_run
from argscichat_dataset.beir import read_candidates, read_qrels
from argscichat_dataset.beir_export import export_beir
from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.sample_rows import SAMPLE_FILE
from argscichat_metric import compute_scores


@pytest.mark.parametrize("name", BASELINES)
def test_the_predictions_score_as_the_baseline_does(run, tmp_path, name):
    file = tmp_path / "predictions.jsonl"
    code, out, err = run("baseline", name, "--data", SAMPLE_FILE, "--output", file)
    assert (code, err) == (0, "")
    assert f"Wrote 40 predictions to {file}." in out.replace("\n", "")
    code, out, err = run("score", file, SAMPLE_FILE, "--metrics", "fact_f1", "--json", tmp_path / "result.json")
    assert code == 0, err
    expected = fact_f1(name, read_pairs(SAMPLE_FILE), BaselineOptions())
    assert json.loads((tmp_path / "result.json").read_text())["fact_f1"] == expected


def test_the_ranking_fits_the_export_to_beir(run, tmp_path):
    rows = read_pairs(SAMPLE_FILE)
    folder = export_beir(rows, tmp_path / "beir")
    run("baseline", "oracle", "--data", SAMPLE_FILE, "--output", tmp_path / "p.jsonl", "--run", tmp_path / "r.run")
    ranking = read_run(tmp_path / "r.run")
    candidates = read_candidates(folder)
    assert {query: sorted(of_query.ids) for query, of_query in ranking.items()} == {
        query: sorted(ids) for query, ids in candidates.items()
    }
    result = score_run(ranking, read_qrels(folder / "qrels" / "test.tsv"), candidates)
    assert result["map"] == result["r_precision"] == result["ndcg@10"] == 1.0
    assert result["n_judged_queries"] == sum(bool(row["fact_ids"]) for row in rows)
    assert result["n_outside_candidates"] == 0


def test_options_reach_the_baseline(run, tmp_path):
    def written(*arguments):
        code, _, err = run("baseline", *arguments, "--data", SAMPLE_FILE, "--output", tmp_path / "p.jsonl")
        assert code == 0, err
        return (tmp_path / "p.jsonl").read_text(encoding="utf-8")

    assert written("random") != written("random", "--seed", 1)
    assert written("tfidf") != written("tfidf", "--query", "history")
    assert written("bm25") != written("bm25", "--query", "history")
    assert written("encoder") != written("encoder", "--query", "history")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tfidf", "--query", "paper"), "query: expected one of message, history, got 'paper'"),
        (("random", "--seed", "-1"), "seed: expected a whole number of at least 0, got -1"),
        (("encoder", "--encoder", "./nowhere"), "./nowhere"),
    ],
)
def test_a_wrong_option_writes_nothing(run, tmp_path, arguments, message):
    code, _, err = run("baseline", *arguments, "--data", SAMPLE_FILE, "--output", tmp_path / "p.jsonl")
    assert code == cli.USAGE_ERROR
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_before_the_data_is_read(run, tmp_path):
    code, _, err = run("baseline", "first", "--data", tmp_path / "none.json", "--output", tmp_path / "none" / "p.jsonl")
    assert code == cli.USAGE_ERROR
    assert "the folder" in err and "does not exist" in err


def test_references_without_papers_are_no_data(run, tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": "1", "message": "a", "facts": []}\n')
    code, _, err = run("baseline", "first", "--data", tmp_path / "r.jsonl", "--output", tmp_path / "p.jsonl")
    assert code == cli.USAGE_ERROR
    assert "r.jsonl" in err


# --- All baselines ---


def test_official_files_and_a_built_dataset_have_the_same_test_splits(shared_dir, real_built):
    for family, n_pairs in (("fold", 115), ("papers", 249)):
        built = read_test_splits(real_built, family)
        assert built == read_test_splits(shared_dir / "argscichat", family)
        assert list(built) == [f"{family}_{i}" for i in range(5)]
        assert sum(map(len, built.values())) == n_pairs


def test_a_folder_that_is_no_dataset_is_refused(run, tmp_path):
    code, _, err = run("baseline", "all", "--data", tmp_path, "--json", tmp_path / "all.json")
    assert code == cli.USAGE_ERROR
    assert "expected a folder that `argscichat data build` wrote" in err


@pytest.fixture
def small_folder(tmp_path):
    """The sample as official files: five folds that are all alike."""
    papers = list(json.loads(SAMPLE_FILE.read_bytes()).items())
    folder = tmp_path / "official"
    folder.mkdir()
    for fold in range(5):
        for split, part in (("train", papers[:3]), ("val", papers[3:4]), ("test", papers[4:])):
            (folder / f"fold_{fold}_{split}.json").write_text(json.dumps(dict(part)), encoding="utf-8")
    return folder


def test_all_baselines_are_printed_and_written(run, small_folder, tmp_path):
    page, scores = tmp_path / "page.md", tmp_path / "all.json"
    code, out, err = run("baseline", "all", "--data", small_folder, "--json", scores, "--markdown", page, "--seed", 1)
    assert (code, err) == (0, "")
    result = json.loads(scores.read_text())
    assert list(result) == ["fold", "papers"]
    names = [
        *("random", "first", "tfidf", "tfidf + history", "bm25", "bm25 + history"),
        *("encoder", "encoder + history", "oracle"),
    ]
    assert list(result["papers"]) == names
    oracle = result["papers"]["oracle"]
    assert list(oracle) == [*(f"papers_{i}" for i in range(5)), "mean_of_folds"]
    assert oracle["mean_of_folds"]["ndcg@10"] == oracle["mean_of_folds"]["mrr"] == 1.0
    values = [oracle[f"papers_{i}"]["message_f1"] for i in range(5)]
    assert oracle["mean_of_folds"]["message_f1"] == pytest.approx(fmean(values), abs=1e-12)
    assert all(len(line) <= 80 for line in out.splitlines())
    cells = table_of(page.read_text(encoding="utf-8"), "papers_0")
    assert [row[0] for row in cells] == names
    assert cells[-1][6] == f"{oracle['mean_of_folds']['fact_f1']:.3f}"
    assert cells[-1][-1] == f"{oracle['mean_of_folds']['moverscore']:.3f}"


@pytest.mark.parametrize(("family", "queries"), [("fold", "115 queries, 104"), ("papers", "249 queries, 208")])
def test_the_page_of_results_has_the_scores_of_the_published_folds(root, real_built, family, queries):
    page = (root / "docs" / "baselines.md").read_text(encoding="utf-8")
    assert f"{queries} of them with gold facts" in page
    folds = read_test_splits(real_built, family)
    for name, *cells in table_of(page, f"{family}_0"):
        baseline, _, history = name.partition(" + ")
        if baseline == "encoder":  # half a minute; test_baselines.py has its scores on the official folds
            continue
        options = BaselineOptions(query=history or "message")
        found = [fact_f1(baseline, rows, options) for rows in folds.values()]
        assert [float(cell) for cell in cells[:5]] == pytest.approx(found, abs=0.00051), name
        assert float(cells[5]) == pytest.approx(fmean(found), abs=0.00051), name


def fact_f1(baseline: str, rows: list[dict], options: BaselineOptions) -> float:
    predictions = select_facts(rows, score_sentences(baseline, rows, options))
    facts = [prediction["facts"] for prediction in predictions]
    return compute_scores(facts, [row["facts"] for row in rows], metrics=["fact_f1"])["fact_f1"]


def table_of(page: str, first_fold: str) -> list[list[str]]:
    """The rows of the table with a fold in its header."""
    lines = page.splitlines()
    start = next(i for i, line in enumerate(lines) if f"Fact-F1, {first_fold} |" in line)
    rows = [line for line in lines[start + 2 : start + 12] if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
