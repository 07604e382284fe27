"""Run files, and scoring a run against judgments by query id."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

from argscichat.rankings import read_run, score_run, write_run
from argscichat_metric import compute_retrieval
from argscichat_metric.retrieval_rows import Ranking

TREC = "q1 Q0 d1 1 2.5 tag\n"


def file_of(folder: Path, text: str | bytes, name: str = "run.trec") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def orders(run: dict[str, Ranking]) -> dict[str, tuple[str, ...]]:
    assert all(query == ranking.id for query, ranking in run.items())
    return {query: ranking.ids for query, ranking in run.items()}


# --- Reading TREC runs ---


def test_the_score_decides_the_order_and_not_the_rank_or_the_place_in_the_file(tmp_path):
    text = "q1 Q0 low 1 -3 t\nq2 Q0 x 1 1 t\nq1 Q0 high 9 1e3 t\nq1 Q0 middle 5 .5 t\n"
    assert orders(read_run(file_of(tmp_path, text))) == {"q1": ("high", "middle", "low"), "q2": ("x",)}


def test_documents_of_equal_score_stay_in_the_order_of_the_file(tmp_path):
    text = "".join(f"q Q0 {document} 1 0.50 t\n" for document in ("b", "z", "a", "c")) + "q Q0 first 1 0.6 t\n"
    assert orders(read_run(file_of(tmp_path, text)))["q"] == ("first", "b", "z", "a", "c")


def test_tabs_blank_lines_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path):
    text = b"\xef\xbb\xbfq1\tQ0\td1\t1\t2\tt\r\n\r\n  \n q1  0   d2 - 1 t \n"
    assert orders(read_run(file_of(tmp_path, text))) == {"q1": ("d1", "d2")}


def test_ids_stay_as_written(tmp_path):
    text = 'q"1 Q0 007 1 3 t\nq"1 Q0 7 2 2 t\nq"1 Q0 é\u00a0\u2028x 3 1 t\n'
    assert orders(read_run(file_of(tmp_path, text))) == {'q"1': ("007", "7", "é\u00a0\u2028x")}


def test_scores_are_compared_in_double_precision(tmp_path):
    text = "q Q0 a 1 1.0000000001 t\nq Q0 b 2 1.0000000002 t\n"
    assert orders(read_run(file_of(tmp_path, text)))["q"] == ("b", "a")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (TREC + "q1 Q0 d2 1 2.5\n", "line 2: expected the 6 columns query Q0 document rank score tag, got 5"),
        (TREC + "\nq1 Q0 d 2 1 2.5 tag\n", "line 3: expected the 6 columns query Q0 document rank score tag, got 7"),
        ('{"id": "q1", "ids": ["d1"]}\n', "the name of a file of JSON Lines ends in .jsonl or .ndjson"),
        (TREC + "q1 Q0 d2 1 nan tag\n", "line 2: expected a finite number as the score of 'd2', got 'nan'"),
        (TREC + "q1 Q0 d2 1 -inf tag\n", "line 2: expected a finite number as the score of 'd2', got '-inf'"),
        (TREC + "q1 Q0 d2 1 1e999 tag\n", "line 2: expected a finite number as the score of 'd2', got '1e999'"),
        (TREC + "q1 Q0 d2 1 1_0 tag\n", "line 2: expected a finite number as the score of 'd2', got '1_0'"),
        (TREC + "q1 Q0 d2 1 high tag\n", "line 2: expected a finite number as the score of 'd2', got 'high'"),
        (TREC + "q2 Q0 d1 1 2 tag\n" + TREC, "line 3: the document 'd1' of the query 'q1' was given in line 1 already"),
        (TREC.encode() + b"q1 Q0 \xe9 1 2 tag\n", "line 2: expected UTF-8, got byte 0xe9"),
        ("\n", "expected the columns query Q0 document rank score tag, got an empty file"),
        ("x" * 100_000, "line 1: expected the 6 columns"),
        (f"q Q0 {'d' * 100_000} 1 {'9' * 100_000} t", "line 1: expected a finite number as the score of 'ddd"),
    ],
)
def test_a_bad_line_of_a_trec_run_is_named_with_its_number(tmp_path, text, part):
    check_refused(file_of(tmp_path, text), ValueError, part)


def check_refused(path: Path, kind: type[Exception], part: str) -> None:
    with pytest.raises(kind) as error:
        read_run(path)
    assert str(path) in str(error.value)
    assert part in str(error.value)
    assert len(str(error.value)) < 1000


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    for name in ("run.trec", "run.jsonl"):
        with pytest.raises(FileNotFoundError, match=name):
            read_run(tmp_path / name)


# --- Reading JSON Lines ---


def json_lines(folder: Path, *rows: Any, name: str = "run.jsonl") -> Path:
    return file_of(folder, "".join(json.dumps(row) + "\n" for row in rows), name)


@pytest.mark.parametrize("name", ["run.jsonl", "RUN.NDJSON"])
def test_json_lines_hold_rankings_with_or_without_scores(tmp_path, name):
    rows = [
        {"id": "q 1", "ids": ["b", 7]},
        {"id": 2, "ids": ["x", "y", "z"], "scores": [1, 2.5, 2.5]},
        {"id": "3", "ids": []},
    ]
    assert orders(read_run(json_lines(tmp_path, *rows, name=name))) == {
        "q 1": ("b", "7"),
        "2": ("y", "z", "x"),
        "3": (),
    }


@pytest.mark.parametrize(
    ("rows", "kind", "part"),
    [
        ([{"id": "a", "ids": ["x"]}, ["x"]], TypeError, "line 2: expected a JSON object with 'id', got list"),
        ([{"ids": ["x"]}], ValueError, "line 1: 'id' is missing"),
        ([{"id": "a"}], ValueError, "line 1: 'ids' is missing"),
        (
            [{"id": "a", "ids": []}, {"id": "a", "ids": []}],
            ValueError,
            "line 2: the id 'a' was given in line 1 already",
        ),
        ([{"id": "a", "ids": ["x", "x"]}], ValueError, "line 1['ids'][1]: expected each id once"),
        ([{"id": "a", "ids": "x"}], ValueError, "line 1['ids']: expected a list of ids"),
        ([{"id": "a", "ids": ["x"], "rank": 1}], ValueError, "line 1: unknown key 'rank'"),
        (
            [{"id": "a", "ids": ["x"], "scores": [float("nan")]}],
            ValueError,
            "line 1['scores'][0]: expected a finite number for the id 'x', got nan",
        ),
        ([], ValueError, "got an empty file"),
    ],
)
def test_a_bad_line_of_json_lines_is_named_with_its_number(tmp_path, rows, kind, part):
    check_refused(json_lines(tmp_path, *rows), kind, part)


# --- Writing ---


def test_what_is_written_reads_back_in_the_same_order(tmp_path):
    chance = random.Random(0)
    documents = [f"d{i}" for i in range(200)]
    run = {f"q{i}": Ranking(tuple(chance.sample(documents, 150)), f"q{i}") for i in range(5)}
    path = tmp_path / "run.trec"
    write_run(path, run, "tag")
    assert read_run(path) == run


def test_a_written_run_has_trec_evals_columns_and_strictly_falling_scores(tmp_path):
    path = file_of(tmp_path, "what was there before")
    write_run(path, {"q1": Ranking(("b", "a")), "q2": Ranking(()), "q3": Ranking(("é",))}, "my-system")
    assert path.read_bytes().decode() == ("q1 Q0 b 1 2 my-system\nq1 Q0 a 2 1 my-system\nq3 Q0 é 1 1 my-system\n")


def test_pytrec_eval_reads_a_written_run_in_our_order(tmp_path):
    import pytrec_eval

    path = tmp_path / "run.trec"
    write_run(path, {"q": Ranking(("a", "right", "z"))}, "t")
    with path.open(encoding="utf-8") as file:
        run = pytrec_eval.parse_run(file)
    found = pytrec_eval.RelevanceEvaluator({"q": {"right": 1}}, {"recip_rank"}).evaluate(run)
    assert found["q"]["recip_rank"] == 0.5


@pytest.mark.parametrize(
    ("run", "tag", "part"),
    [
        (
            {"q 1": Ranking(("a",))},
            "t",
            "query id: expected a text without white space, as a column of a TREC run, got 'q 1'",
        ),
        ({"": Ranking(("a",))}, "t", "query id: expected"),
        ({"q": Ranking(("a", "b\tc"))}, "t", "document id: expected"),
        ({"q": Ranking(("",))}, "t", "document id: expected"),
        ({}, "my system", "tag: expected"),
        ({}, "", "tag: expected"),
    ],
)
def test_what_a_trec_run_cannot_hold_is_refused_and_the_old_file_stays(tmp_path, run, tag, part):
    path = file_of(tmp_path, "old")
    with pytest.raises(ValueError, match="without white space") as error:
        write_run(path, run, tag)
    assert part in str(error.value)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


# --- Scoring ---

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"a": 0}}


def test_a_run_is_scored_by_query_id_in_the_order_of_the_qrels():
    run = {"q2": Ranking(("x", "c")), "q3": Ranking(("a",)), "q1": Ranking(("b", "a"))}
    result = score_run(run, QRELS, k=[2], per_example=True)
    references = [{"ids": list(grades), "grades": list(grades.values())} for grades in QRELS.values()]
    expected = compute_retrieval([["b", "a"], ["x", "c"], ["a"]], references, k=[2], per_example=True)
    assert result == expected | {"n_unjudged_queries": 0}
    assert result["per_example"]["mrr"] == [1.0, 0.5, None]


def test_a_query_that_the_run_lacks_scores_0_and_is_listed():
    result = score_run({"q1": Ranking(("b", "a"))}, QRELS)
    assert (result["map"], result["missing"], result["n_empty_rankings"]) == (0.5, ["q2"], 1)
    assert (result["n_queries"], result["n_judged_queries"]) == (3, 2)


def test_queries_that_nobody_judged_are_counted_and_left_out():
    run = {"q1": ["b", "a"], "q2": ["c"], "other": ["a"], "third": []}
    result = score_run(run, QRELS)
    assert (result["map"], result["n_unjudged_queries"]) == (1.0, 2)


def test_candidates_are_those_of_the_own_query():
    run = {"q1": ["c", "b", "a"], "q2": ["a", "c"]}
    candidates = {"q1": ["a", "b"], "q2": ["c"], "q3": ["a"], "of no query": ["z"]}
    result = score_run(run, QRELS, candidates)
    assert (result["mrr"], result["n_outside_candidates"]) == (1.0, 2)
    assert score_run(run, QRELS)["mrr"] == 0.5


@pytest.mark.parametrize(
    ("run", "qrels", "candidates", "kind", "part"),
    [
        (
            {f"p{i}": ["a"] for i in range(7)},
            QRELS,
            None,
            ValueError,
            "the run has 'p0', 'p1', 'p2', 'p3', 'p4' and 2 more, the qrels have 'q1', 'q2', 'q3'",
        ),
        ({}, QRELS, None, ValueError, "the run has no queries, the qrels have 'q1'"),
        ({"q1": ["a"]}, {}, None, ValueError, "the run has 'q1', the qrels have no queries"),
        (
            {"q1": ["a"]},
            QRELS,
            {"q1": ["a", "b"]},
            ValueError,
            "expected those of every query of the qrels, got none for 'q2'",
        ),
        (
            {"q1": ["a"]},
            QRELS,
            dict.fromkeys(QRELS, ["a"]),
            ValueError,
            "qrels['q1']['candidates']: expected every relevant",
        ),
        ({"q1": ["a"]}, {"q1": {"a": 1.5}}, None, TypeError, "qrels['q1']['grades'][0]: expected a whole number"),
        (
            {"q1": ["a"]},
            {"q1": ["a"]},
            None,
            TypeError,
            "qrels['q1']: expected a dict of document ids and grades, got list",
        ),
        ({"q1": Ranking(("a", "a"))}, QRELS, None, ValueError, "run['q1']['ids'][1]: expected each id once"),
        ({"q1": "ab"}, QRELS, None, ValueError, "run['q1']['ids']: expected a list of ids"),
        ({"q1": {"a": 0.5}}, QRELS, None, TypeError, "run['q1']['ids']: expected a list of ids"),
        ({"x" * 5000: ["a"]}, {"y" * 5000: {"a": 1}}, None, ValueError, "no query of the run is in the qrels"),
    ],
)
def test_a_run_that_cannot_be_scored_is_refused(run, qrels, candidates, kind, part):
    with pytest.raises(kind) as error:
        score_run(run, qrels, candidates)
    assert part in str(error.value)
    assert len(str(error.value)) < 1000


def test_an_unknown_option_is_refused_first():
    with pytest.raises(TypeError, match="did you mean 'k'"):
        score_run({}, {}, ks=[1])


# --- SciFact ---


@pytest.fixture(scope="module")
def scifact(shared_dir) -> Path:
    return shared_dir / "scifact"


@pytest.fixture(scope="module")
def scifact_qrels(scifact) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    with (scifact / "qrels" / "test.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return qrels


def test_the_judgments_of_scifact_as_a_run_score_exactly_1(scifact_qrels, tmp_path):
    path = tmp_path / "run.trec"
    write_run(path, {query: Ranking(tuple(grades)) for query, grades in scifact_qrels.items()}, "qrels")
    result = score_run(read_run(path), scifact_qrels)
    ones = [key for key in result if key.startswith(("ndcg", "mrr", "map", "r_precision"))]
    ones += ["recall@5", "recall@10", "recall@100", "precision@1"]
    assert {key: result[key] for key in ones} == dict.fromkeys(ones, 1.0)
    assert (result["n_judged_queries"], result["missing"]) == (300, [])


def test_bm25_reaches_the_published_scores_on_scifact(scifact, scifact_qrels):
    result = score_run(bm25_run(scifact, scifact_qrels), scifact_qrels)
    assert result["ndcg@10"] == pytest.approx(0.6863, abs=0.0005)
    assert result["map"] == pytest.approx(0.6442, abs=0.0005)
    assert result["mrr@10"] == pytest.approx(0.6492, abs=0.0005)
    assert result["recall@100"] == pytest.approx(0.9127, abs=0.0005)
    assert (result["n_queries"], result["n_unjudged_queries"]) == (300, 0)


def bm25_run(scifact: Path, queries: Any) -> dict[str, Ranking]:
    """The 1000 best documents of bm25s (k1 1.5, b 0.75, Snowball's English stemmer, its own stop words) a query."""
    import bm25s
    import Stemmer

    def read(name: str) -> list[dict[str, str]]:
        return [json.loads(line) for line in (scifact / name).read_text(encoding="utf-8").split("\n") if line]

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)

    corpus = read("corpus.jsonl")
    asked = [row for row in read("queries.jsonl") if row["_id"] in queries]
    retriever = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    retriever.index(tokens([row["title"] + " " + row["text"] for row in corpus]), show_progress=False)
    found, _ = retriever.retrieve(tokens([row["text"] for row in asked]), k=1000, show_progress=False)
    return {row["_id"]: Ranking(tuple(corpus[i]["_id"] for i in best)) for row, best in zip(asked, found, strict=True)}
