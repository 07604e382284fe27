"""Matching predictions with references, and scoring the real folds end to end."""

import json
import random

import pytest

from argscichat.handed_in import References
from argscichat.scoring import match_rows, score_file
from argscichat_metric.rows import Row

TEXT_FREE = {"metrics": ["fact_f1", "message_f1"]}

# Counted by hand from the published files and the predictions of the MiniLM system beside them; the values are those
# of the authors' rule (F1 per query over selected sentences, queries without gold facts left out).
REAL_FOLDS = [
    (0, 0.079365, 21, 23),
    (1, 0.182292, 32, 35),
    (2, 0.079710, 23, 27),
    (3, 0.283333, 10, 10),
    (4, 0.185185, 18, 20),
]


def row(query_id, message="x", facts=("s1",)):
    return Row(message=message, facts=facts, id=query_id)


@pytest.fixture
def references():
    return References([row("a"), row("b"), row("c")], [(0,), (1,), (2,)], [("s1", "s2", "s3")] * 3)


@pytest.mark.parametrize(("fold", "fact_f1", "n_fact_queries", "n_queries"), REAL_FOLDS)
def test_real_fold_reproduces_the_published_rule(shared_dir, fold, fact_f1, n_fact_queries, n_queries):
    data = shared_dir / "argscichat"
    scored = score_file(
        data / "predictions" / f"minilm_fold_{fold}_test.jsonl", data / f"fold_{fold}_test.json", per_example=True
    )
    result = scored.result
    assert result["fact_f1"] == pytest.approx(fact_f1, abs=1e-6)
    assert (result["n_fact_queries"], result["n_queries"]) == (n_fact_queries, n_queries)
    assert scored.rows.missing == scored.rows.unknown == []
    assert scored.rows.n_foreign_facts == 0
    assert 0 < result["message_f1"] < result["bertscore_f1"] < 1
    assert 0 < result["moverscore"] < 1
    assert len(scored.per_example()) == n_queries


def test_order_of_the_predictions_does_not_matter(root, tmp_path):
    sample = root / "argscichat_dataset/sample"
    lines = (sample / "predictions_demo_agent.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    (tmp_path / "shuffled.jsonl").write_text("".join(lines), encoding="utf-8")
    files = sample / "predictions_demo_agent.jsonl", tmp_path / "shuffled.jsonl"
    results = [score_file(file, sample / "sample_test.json", **TEXT_FREE).result for file in files]
    assert results[0] == results[1]
    # 15 of the 33 queries with gold facts hold a right fact; counted by a script of its own when the sample was made.
    assert results[0]["fact_f1"] == pytest.approx(0.29394, abs=1e-5)


def test_sentence_indices_and_sentences_score_alike(root, tmp_path):
    sample = root / "argscichat_dataset/sample"
    papers = json.loads((sample / "sample_test.json").read_text(encoding="utf-8")).values()
    sentences = {pair["id"]: paper["content"] for paper in papers for pair in paper["message_pairs"]}
    with (tmp_path / "ids.jsonl").open("w", encoding="utf-8") as file:
        for line in (sample / "predictions_demo_agent.jsonl").read_text(encoding="utf-8").splitlines():
            prediction = json.loads(line)
            facts = [sentences[prediction["id"]].index(fact) for fact in prediction["facts"]]
            file.write(json.dumps(prediction | {"facts": facts}) + "\n")
    results = [
        score_file(file, sample / "sample_test.json", **TEXT_FREE).result
        for file in (sample / "predictions_demo_agent.jsonl", tmp_path / "ids.jsonl")
    ]
    assert results[0] == results[1]


def test_a_missing_prediction_scores_as_an_empty_one_and_is_listed(references):
    rows = match_rows([row("c"), row("a")], references)
    assert rows.missing == ["b"]
    assert rows.predictions[1] == Row(message="", facts=(), id="b")
    assert [prediction.id for prediction in rows.predictions] == ["a", "b", "c"]


def test_a_missing_prediction_carries_only_what_the_others_carry(references):
    rows = match_rows([row("a", facts=None)], references)
    assert rows.predictions[1] == Row(message="", facts=None, id="b")


def test_an_unknown_id_is_refused_unless_it_may_be_ignored(references):
    predictions = [row("a"), row("z")]
    with pytest.raises(ValueError, match="1 of 2 predictions have an id that is in no reference: 'z'.*ignore"):
        match_rows(predictions, references)
    assert match_rows(predictions, references, ignore_unknown=True).unknown == ["z"]


def test_no_id_in_common_names_some_of_both_sides(references):
    predictions = [row(f"z{i}") for i in range(9)]
    with pytest.raises(ValueError) as caught:
        match_rows(predictions, references, ignore_unknown=True)
    assert "'z4' and 4 more" in str(caught.value)
    assert "'a', 'b', 'c'" in str(caught.value)


def test_facts_that_are_no_sentence_of_the_paper_are_counted(references):
    predictions = [row("a", facts=("s1", "no sentence")), row("b", facts=()), row("c")]
    assert match_rows(predictions, references).n_foreign_facts == 1
    assert match_rows([row("a", facts=(0, 3))], references).n_foreign_facts == 1
