"""The score of a pair does not depend on the other pairs, nor on how the texts are batched, windowed and kept.

The encoder is one whose cosines are negative, since that is what a score of bert-score with padding depends on.
"""

import random
from typing import Any

import numpy as np
import pytest

from argscichat_metric import compute_scores, embedding_scores
from argscichat_metric.encoder import load_encoder
from tests.tiny_models import build_tiny_model, sample_pairs

TOLERANCE = 1e-6
LAYER = 2
WEIGHTS = {"uniform": {"idf": False}, "idf": {"idf": True}}


@pytest.fixture(autouse=True)
def torch_threads():
    """One thread: windows of one pair keep two cores waiting for each other, on a busy machine for most of the time."""
    import torch

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch.set_num_threads
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    """The folder of a model whose best matches are negative where one text only has certain tokens."""
    return build_tiny_model("distilbert", tmp_path_factory.mktemp("opposed"), opposed=True)


@pytest.fixture(scope="module", params=WEIGHTS)
def idf(request) -> bool:
    return WEIGHTS[request.param]["idf"]


def scores(encoder: str, pairs: list[tuple[str, str]], **options: Any) -> np.ndarray:
    """Both scores of every pair, shape (n, 4)."""
    result = compute_scores(
        [predicted for predicted, _ in pairs],
        [reference for _, reference in pairs],
        metrics=["bertscore", "moverscore"],
        encoder=encoder,
        bertscore_layer=LAYER,
        per_example=True,
        **{"cache_mb": 0} | options,
    )["per_example"]
    return np.array(list(result.values())).T


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    return list(zip(*sample_pairs(), strict=True))


@pytest.fixture(scope="module")
def expected(encoder, pairs, idf) -> np.ndarray:
    return scores(encoder, pairs, idf=idf)


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


def test_negative_best_matches_do_occur(encoder, pairs):
    loaded = load_encoder(encoder, LAYER)
    sides = [
        loaded.embed(loaded.tokenize(texts, loaded.limit(None)), [LAYER], 1000) for texts in zip(*pairs, strict=True)
    ]
    cosines = [predicted[0] @ reference[0].T for predicted, reference in zip(*sides, strict=True)]
    assert sum((pair.max(axis=1) < 0).any() or (pair.max(axis=0) < 0).any() for pair in cosines) >= 5


def test_alone(encoder, pairs):
    # Without idf, which is a weight taken from the other pairs.
    found = [scores(encoder, [pair])[0] for pair in pairs]
    assert_same(found, scores(encoder, pairs))


def test_shuffled(encoder, pairs, expected, idf):
    order = list(range(len(pairs)))
    random.Random(0).shuffle(order)
    assert_same(scores(encoder, [pairs[i] for i in order], idf=idf), expected[order])


@pytest.mark.parametrize("batch_tokens", [1, 64, 100_000])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_any_batch(encoder, pairs, expected, idf, batch_tokens, n_threads, torch_threads):
    torch_threads(n_threads)
    assert_same(scores(encoder, pairs, idf=idf, batch_tokens=batch_tokens), expected)


@pytest.mark.parametrize("window_bytes", [1, 100_000])
@pytest.mark.parametrize("cache_mb", [0, 1])
def test_any_window(encoder, pairs, expected, idf, window_bytes, cache_mb, monkeypatch):
    monkeypatch.setattr(embedding_scores, "WINDOW_BYTES", window_bytes)
    assert_same(scores(encoder, pairs, idf=idf, cache_mb=cache_mb), expected)


def test_any_cache(encoder, pairs, expected, idf):
    for cache_mb in (128, 128, 1, 0):
        assert_same(scores(encoder, pairs, idf=idf, cache_mb=cache_mb), expected)
