"""What a score is made of has to add up to the score that is reported."""

import dataclasses
import json

import numpy as np
import pytest

from argscichat.explain import explain_pair
from argscichat_metric.compute import compute_scores
from tests.tiny_models import build_tiny_model

PREDICTED = "We tokenize a small corpus of dialogues, unparseable ones included."
REFERENCE = "The corpus is small; it holds 41 dialogues about naïve parsers."


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory):
    return build_tiny_model("roberta", tmp_path_factory.mktemp("model"))


def reported(**options):
    return compute_scores([PREDICTED], [REFERENCE], **options)


def mean_of_matches(similarity, best, weights):
    return sum(row[place] * weight for row, place, weight in zip(similarity, best, weights, strict=True))


@pytest.mark.parametrize("layer", [None, 2])
def test_the_weighted_mean_of_the_matches_is_the_reported_bertscore(layer):
    matching = explain_pair(PREDICTED, REFERENCE, metrics=["bertscore"], bertscore_layer=layer).matching
    result = reported(metrics=["bertscore"], bertscore_layer=layer)
    transposed = list(zip(*matching.similarity, strict=True))
    precision = mean_of_matches(matching.similarity, matching.best_of_predicted, matching.predicted_weights)
    recall = mean_of_matches(transposed, matching.best_of_reference, matching.reference_weights)
    assert precision == pytest.approx(result["bertscore_precision"], abs=1e-6)
    assert recall == pytest.approx(result["bertscore_recall"], abs=1e-6)
    assert 2 * precision * recall / (precision + recall) == pytest.approx(result["bertscore_f1"], abs=1e-6)
    assert matching.f1 == pytest.approx(result["bertscore_f1"], abs=1e-6)
    assert matching.predicted[0] == "[CLS]"
    assert matching.predicted_weights[0] == matching.predicted_weights[-1] == 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"moverscore_formula": "linear"},
        {"moverscore_layers": "power_means", "moverscore_ngram": 2},
        {"stop_words": ["corpus", "small"]},
    ],
    ids=["default", "linear", "power means of bigrams", "stop words"],
)
def test_the_cost_of_the_plan_gives_the_reported_moverscore(options):
    transport = explain_pair(PREDICTED, REFERENCE, metrics=["moverscore"], **options).transport
    result = reported(metrics=["moverscore"], **options)
    plan, distances = np.array(transport.plan), np.array(transport.distances)
    cost = (plan * distances).sum()
    score = 1 - cost if options.get("moverscore_formula") == "linear" else 1 / (1 + cost)
    assert score == pytest.approx(result["moverscore"], abs=1e-6)
    assert transport.score == pytest.approx(result["moverscore"], abs=1e-6)
    assert transport.cost == pytest.approx(cost)
    assert plan.shape == distances.shape == (len(transport.predicted), len(transport.reference))
    assert plan.sum(axis=1) == pytest.approx(transport.predicted_weights, abs=1e-9)
    assert plan.sum(axis=0) == pytest.approx(transport.reference_weights, abs=1e-9)


def test_moved_tokens_are_first_pieces_without_punctuation_and_stop_words():
    transport = explain_pair(
        "Unparseable, a small corpus.", "x", metrics=["moverscore"], stop_words=["small"]
    ).transport
    assert transport.predicted == ["[CLS]", "un", "a", "corpus", "[SEP]"]


def test_bigrams_are_spelt_as_neighbours():
    options = {"moverscore_layers": "power_means", "moverscore_ngram": 2}
    transport = explain_pair("A small corpus.", "x", metrics=["moverscore"], **options).transport
    assert transport.predicted == ["[CLS] a", "a small", "small corpus", "corpus [SEP]"]


def test_continuations_are_marked_alike_for_every_tokenizer(byte_level):
    tokens = explain_pair("unparseable corpus", "x", metrics=["bertscore"], encoder=byte_level).matching.predicted
    assert tokens[0] == "<s>"
    assert [token.startswith("##") for token in tokens[1:3]] == [False, True]
    words = "".join(tokens[1:-1]).replace("##", "")
    assert words == "unparseablecorpus"
    pieces = explain_pair("unparseable", "x", metrics=["bertscore"]).matching.predicted
    assert pieces == ["[CLS]", "un", "##par", "##sea", "##ble", "[SEP]"]


def test_shared_words_are_those_that_message_f1_counts():
    words = explain_pair("small small corpus", "The corpus is small.", metrics=["message_f1"]).words
    assert words.predicted == ["small", "small", "corpus"]
    assert words.predicted_is_shared == [True, False, True]
    assert words.reference_is_shared == [True, False, True]
    n_shared = sum(words.predicted_is_shared)
    assert words.f1 == 2 * n_shared / 6
    assert (
        words.f1
        == compute_scores(["small small corpus"], ["The corpus is small."], metrics=["message_f1"])["message_f1"]
    )


def test_a_text_without_tokens_has_no_matching_and_no_transport():
    explained = explain_pair("  ", REFERENCE)
    assert explained.words.f1 == 0.0
    assert explained.matching is None
    assert explained.transport is None


def test_the_explanation_is_what_json_can_hold():
    explained = explain_pair(PREDICTED, REFERENCE)
    assert json.loads(json.dumps(dataclasses.asdict(explained), allow_nan=False)) == dataclasses.asdict(explained)


def test_only_what_is_asked_for_is_explained():
    explained = explain_pair(PREDICTED, REFERENCE, metrics=["moverscore"])
    assert explained.words is None
    assert explained.matching is None


@pytest.mark.parametrize(
    ("arguments", "options", "error", "says"),
    [
        ((None, "x"), {}, TypeError, "predicted: expected a text"),
        (("x", ["y"]), {}, TypeError, "reference: expected a text"),
        (("x", "\ud800"), {"metrics": ["message_f1"]}, ValueError, "reference: expected valid Unicode"),
        (("x", "y"), {"idf": True}, ValueError, "idf: expected False"),
        (("x", "y"), {"encodr": "z"}, TypeError, "did you mean 'encoder'"),
    ],
)
def test_what_cannot_be_explained_is_refused(arguments, options, error, says):
    with pytest.raises(error, match=says):
        explain_pair(*arguments, **options)
