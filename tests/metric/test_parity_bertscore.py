"""BERTScore beside bert-score 0.3.13, one pair at a time, on the embedded encoder and on tiny random models."""

import json
from pathlib import Path

import numpy as np
import pytest

from argscichat_metric import compute_scores
from argscichat_metric.bertscore import bertscore
from argscichat_metric.encoder import load_encoder
from argscichat_metric.encoder_files import locate
from argscichat_metric.options import EMBEDDED_ENCODER
from benchmarks.originals import bertscore_original, load_bertscore
from tests.tiny_models import build_tiny_model, sample_pairs

pytestmark = pytest.mark.usefixtures("one_torch_thread")

TOLERANCE = 1e-5
KEYS = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
# Layer 0 is left out: transformers cannot run DeBERTa and LED without any layer.
LAYERS = {"first": lambda depth: 1, "last but one": lambda depth: depth - 1, "last": lambda depth: depth}
BATCH_OF_THE_PACKAGE = 64


@pytest.fixture(scope="module")
def opposed_encoder(tmp_path_factory) -> str:
    """The folder of a model whose best matches are negative where one text only has certain tokens."""
    return build_tiny_model("distilbert", tmp_path_factory.mktemp("opposed"), opposed=True)


def ours(
    predictions: list[str], references: list[str], encoder: str, *, metrics=("bertscore",), **options
) -> np.ndarray:
    """Precision, recall and F1 of every pair, shape (n, 3)."""
    result = compute_scores(
        predictions, references, metrics=list(metrics), encoder=encoder, per_example=True, cache_mb=0, **options
    )
    return np.array([result["per_example"][key] for key in KEYS]).T


def of_hidden_states(predictions: list[str], references: list[str], encoder: str, layer: int) -> np.ndarray:
    """Precision, recall and F1 on a hidden state of the whole model, all tokens counted, shape (n, 3)."""
    whole = load_encoder(encoder)
    limit = whole.limit(None)
    sides = [whole.embed(whole.tokenize(texts, limit), [layer], 1000) for texts in (predictions, references)]
    pairs = [(predicted[0], reference[0]) for predicted, reference in zip(*sides, strict=True)]
    return np.array([bertscore(p @ r.T, np.ones(len(p)), np.ones(len(r))) for p, r in pairs])


def test_texts_have_the_tokens_that_bert_score_gives_them(encoder):
    from bert_score.utils import sent_encode

    predictions, references = sample_pairs()
    texts = predictions + references
    loaded = load_encoder(encoder)
    _, tokenizer = load_bertscore(encoder, 1)
    found = [tokens.ids.tolist() for tokens in loaded.tokenize(texts, loaded.limit(None))]
    assert found == [sent_encode(tokenizer, text) for text in texts]


@pytest.mark.parametrize(("place", "idf"), [("first", False), ("last but one", True), ("last", False)])
def test_every_pair_scores_as_it_does_alone_in_bert_score(encoder, pairs, place, idf):
    predictions, references = pairs
    layer = LAYERS[place](load_encoder(encoder).depth)
    expected = bertscore_original(predictions, references, encoder, layer, idf=idf)
    np.testing.assert_allclose(
        ours(predictions, references, encoder, bertscore_layer=layer, idf=idf), expected, rtol=0, atol=TOLERANCE
    )


@pytest.mark.parametrize("family", ["gpt2", "t5"])
def test_a_layer_below_the_last_goes_through_the_final_norm_as_in_a_cut_model(family, tmp_path):
    predictions, references = (texts[:20] for texts in sample_pairs())
    encoder = build_tiny_model(family, tmp_path)
    whole = load_encoder(encoder)
    layer = whole.depth - 1
    expected = np.array(bertscore_original(predictions, references, encoder, layer))
    # Neither model has a token of weight 0, so all that the hidden state lacks is the norm.
    assert whole.has_final_norm
    assert len(whole.unweighted_ids) == 0
    assert np.abs(of_hidden_states(predictions, references, encoder, layer) - expected).max() > 1e-3
    for metrics in (["bertscore"], ["bertscore", "moverscore"]):
        found = ours(predictions, references, encoder, metrics=metrics, bertscore_layer=layer)
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


def test_models_without_a_final_norm_are_known(encoder):
    assert load_encoder(encoder).has_final_norm == (Path(encoder).name in {"gpt2", "t5"})


def test_bert_score_depends_on_its_batch_and_we_do_not(opposed_encoder):
    """Why parity is with batch_size=1: padding counts as similarity 0 there, which beats a negative cosine."""
    predictions, references = sample_pairs()
    layer = 2
    alone = np.array(bertscore_original(predictions, references, opposed_encoder, layer))
    batched = np.array(
        bertscore_original(predictions, references, opposed_encoder, layer, batch_size=BATCH_OF_THE_PACKAGE)
    )
    assert np.abs(alone - batched).max() > 1e-4
    found = ours(predictions, references, opposed_encoder, bertscore_layer=layer)
    np.testing.assert_allclose(found, alone, rtol=0, atol=TOLERANCE)


def test_the_real_messages_score_as_in_bert_score(shared_dir):
    """At a layer that the golden values do not hold."""
    golden = json.loads((shared_dir / "golden" / "embedding_scores.json").read_text(encoding="utf-8"))
    encoder = locate(EMBEDDED_ENCODER)[0]
    expected = bertscore_original(golden["predictions"], golden["references"], encoder, 1)
    found = ours(golden["predictions"], golden["references"], encoder, bertscore_layer=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)
