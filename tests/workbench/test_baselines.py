"""Baselines: what each selects, and the scores that they reach on the published folds."""

from statistics import fmean

import numpy as np
import pytest

from argscichat.baselines import (
    BASELINES,
    NEVER_SELECTED,
    READ_THE_QUERY,
    BaselineOptions,
    Bm25,
    query_text,
    ranked,
    score_sentences,
    select_facts,
)
from argscichat.handed_in import read_predictions
from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.sample_rows import SAMPLE_FILE
from argscichat_metric import compute_scores
from argscichat_metric.encoder import Encoder, load_encoder
from argscichat_metric.encoder_files import EncoderError

PAPER = [
    "We study the annotation of arguments.",
    "Annotators agreed in nine of ten cases.",
    "The corpus holds forty dialogues about papers.",
    "Annotators agreed in nine of ten cases.",
    "We thank the reviewers.",
]


def row_of(query: str, paper: list[str] = PAPER, **fields) -> dict:
    row = {"id": "p_1", "paper_id": "p", "query": query, "reply": "Yes.", "history": [], "paper": paper, "fact_ids": []}
    return row | fields


@pytest.fixture(scope="module")
def sample() -> list[dict]:
    return read_pairs(SAMPLE_FILE)


@pytest.fixture(scope="module")
def official_tests(shared_dir) -> list[list[dict]]:
    return [read_pairs(shared_dir / "argscichat" / f"fold_{fold}_test.json") for fold in range(5)]


# --- Every baseline ---


@pytest.mark.parametrize("name", BASELINES)
def test_every_sentence_has_a_finite_score_or_is_never_selected(sample, name):
    scores = score_sentences(name, sample)
    assert [len(of_row) for of_row in scores] == [len(row["paper"]) for row in sample]
    assert all(np.isfinite(value) or value == NEVER_SELECTED for of_row in scores for value in of_row)


@pytest.mark.parametrize("name", BASELINES)
def test_predictions_are_at_most_two_sentences_of_the_paper_and_their_text(sample, name):
    predictions = select_facts(sample, score_sentences(name, sample))
    assert [prediction["id"] for prediction in predictions] == [row["id"] for row in sample]
    for row, prediction in zip(sample, predictions, strict=True):
        assert len(prediction["facts"]) <= 2
        assert set(prediction["facts"]) <= set(row["paper"])
        assert prediction["message"] == " ".join(prediction["facts"])


@pytest.mark.parametrize("name", BASELINES)
def test_scores_do_not_depend_on_the_other_rows_or_their_order(sample, name):
    together = score_sentences(name, sample)
    backwards = score_sentences(name, sample[::-1])[::-1]
    (alone,) = score_sentences(name, sample[5:6])
    np.testing.assert_allclose(alone, together[5], rtol=0, atol=1e-6)
    for one, other in zip(together, backwards, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", READ_THE_QUERY)
def test_equal_sentences_have_exactly_equal_scores_and_the_earlier_comes_first(name):
    (scores,) = score_sentences(name, [row_of("How often did the annotators agree?")])
    assert scores[1] == scores[3]
    assert ranked(scores)[:2] == [1, 3]


@pytest.mark.parametrize("name", READ_THE_QUERY)
def test_the_history_is_read_where_it_is_asked_for(name):
    history = [{"query": "Tell me about dialogues.", "reply": "The corpus holds forty.", "facts": []}]
    row = row_of("In how many cases?", history=history)
    (message,) = score_sentences(name, [row])
    (whole,) = score_sentences(name, [row], BaselineOptions(query="history"))
    assert ranked(message)[0] == 1
    assert ranked(whole)[0] == 2


@pytest.mark.parametrize("name", sorted(set(BASELINES) - set(READ_THE_QUERY)))
def test_the_others_do_not_read_the_query(name, sample):
    changed = [row | {"query": "Something else.", "history": []} for row in sample]
    for one, other in zip(score_sentences(name, sample), score_sentences(name, changed), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["tfidf", "bm25"])
@pytest.mark.parametrize("query", ["", "?!", "the of and", "zyzzyva"])
def test_a_query_without_a_known_word_selects_the_first_sentences(name, query):
    (scores,) = score_sentences(name, [row_of(query)])
    assert scores.tolist() == [0.0] * len(PAPER)
    assert ranked(scores)[:2] == [0, 1]


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("paper", [["?!", "the", "..."], ["One sentence only."], ["", "Words here."]])
def test_papers_of_few_words_are_no_error(name, paper):
    (scores,) = score_sentences(name, [row_of("the words?", paper=paper, fact_ids=[0])])
    assert len(scores) == len(paper)
    assert sorted(ranked(scores)) == list(range(len(paper)))


# --- Single baselines ---


def test_the_first_sentences_come_in_their_order():
    assert [ranked(scores) for scores in score_sentences("first", [row_of("?")])] == [[0, 1, 2, 3, 4]]


def test_random_sentences_depend_on_seed_and_id_only(sample):
    def chosen(rows, seed=0):
        return [ranked(scores) for scores in score_sentences("random", rows, BaselineOptions(seed=seed))]

    assert chosen(sample) == chosen(sample)
    assert chosen(sample[3:]) == chosen(sample)[3:]
    assert chosen(sample, seed=1) != chosen(sample)
    same_paper = [row for row in sample if row["paper_id"] == sample[0]["paper_id"]]
    assert len(set(map(tuple, chosen(same_paper)))) == len(same_paper)


def test_all_orders_are_about_equally_likely_at_random():
    rows = [row_of("?", id=f"p_{i}") for i in range(2000)]
    first = [ranked(scores)[0] for scores in score_sentences("random", rows)]
    counts = [first.count(index) for index in range(len(PAPER))]
    assert 330 < min(counts) and max(counts) < 470  # 400 expected, standard deviation 18


def test_the_oracle_selects_gold_sentences_only():
    rows = [row_of("?", fact_ids=ids) for ids in ([], [3], [4, 0, 2])]
    facts = [prediction["facts"] for prediction in select_facts(rows, score_sentences("oracle", rows))]
    assert facts == [[], [PAPER[3]], [PAPER[0], PAPER[2]]]
    assert select_facts(rows, score_sentences("oracle", rows))[0]["message"] == ""


def test_bm25_is_the_formula_of_lucene():
    documents = ["cat cat dog", "dog bird", "fish fish fish fish"]
    lengths, mean = [3, 2, 4], 3.0
    k1, b = 1.5, 0.75

    def score(frequency, length, n_with_word):
        idf = np.log(1 + (3 - n_with_word + 0.5) / (n_with_word + 0.5))
        return idf * frequency / (frequency + k1 * (1 - b + b * length / mean))

    expected = [
        score(2, lengths[0], 1) + score(1, lengths[0], 2),
        score(1, lengths[1], 2),
        0.0,
    ]
    np.testing.assert_allclose(Bm25(documents).scores("Cats and the DOG"), expected, rtol=1e-6)


def test_the_encoder_embeds_every_distinct_text_once(sample, monkeypatch):
    embedded: list[int] = []
    mean_vectors = Encoder.mean_vectors
    monkeypatch.setattr(
        Encoder,
        "mean_vectors",
        lambda self, texts, *rest: embedded.append(len(texts)) or mean_vectors(self, texts, *rest),
    )
    score_sentences("encoder", sample)
    distinct = {text for row in sample for text in (*row["paper"], row["query"])}
    assert embedded == [len(distinct)]


def test_texts_are_embedded_by_the_mean_of_their_tokens():
    encoder = load_encoder("all-MiniLM-L6-v2")
    texts = ["A short text.", "A text that is somewhat longer than the other one, and padded with it.", ""]
    tokens = encoder.tokenize(texts, encoder.limit(None))
    together, alone = encoder.mean_vectors(tokens, 4096), encoder.mean_vectors(tokens[:1], 1)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(together[0], alone[0], rtol=0, atol=1e-6)
    assert together.shape == (3, 384)


# --- Wrong input ---


def test_an_unknown_baseline_is_refused(sample):
    with pytest.raises(ValueError, match="baseline: expected one of random, first, .*got 'bm52'"):
        score_sentences("bm52", sample)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"query": "paper"}, ValueError, "query: expected one of message, history, got 'paper'"),
        ({"seed": -1}, ValueError, "seed: .*at least 0, got -1"),
        ({"seed": 0.5}, TypeError, "seed: expected a whole number, got float 0.5"),
        ({"seed": True}, TypeError, "seed: expected a whole number, got bool True"),
    ],
)
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        BaselineOptions(**options)


def test_an_encoder_that_does_not_exist_is_named(sample):
    with pytest.raises(EncoderError, match="no-such-encoder"):
        score_sentences("encoder", sample, BaselineOptions(encoder="./no-such-encoder"))


def test_the_whole_dialogue_is_in_its_order(sample):
    row = next(row for row in sample if row["turn"] == 1)
    earlier = row["history"][0]
    assert query_text(row, "history") == f"{earlier['query']} {earlier['reply']} {row['query']}"
    assert query_text(row, "message") == row["query"]


# --- The published folds ---


@pytest.mark.parametrize(
    ("name", "expected"), [("first", 0.078990), ("tfidf", 0.172212), ("encoder", 0.161977), ("oracle", 0.986892)]
)
def test_fact_f1_on_the_official_folds_is_as_measured_with_the_rules_of_the_authors(official_tests, name, expected):
    means = []
    for rows in official_tests:
        predictions = select_facts(rows, score_sentences(name, rows))
        result = compute_scores(
            [prediction["facts"] for prediction in predictions], [row["facts"] for row in rows], metrics=["fact_f1"]
        )
        means.append(result["fact_f1"])
    assert fmean(means) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("fold", range(5))
def test_the_encoder_gives_the_shared_predictions(official_tests, shared_dir, fold):
    rows = official_tests[fold]
    file = shared_dir / "argscichat" / "predictions" / f"minilm_fold_{fold}_test.jsonl"
    shared = {row.id: (row.message, list(row.facts)) for row in read_predictions(file)}
    ours = select_facts(rows, score_sentences("encoder", rows))
    assert {prediction["id"]: (prediction["message"], prediction["facts"]) for prediction in ours} == shared
