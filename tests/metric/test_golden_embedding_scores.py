"""BERTScore and MoverScore of 48 real message pairs, beside values that the original packages gave.

The values are not part of the repository. They were made on this encoder with bert-score 0.3.13, one pair at a time,
and with the source of moverscore 1.0.3 in float32.
"""

import json
from typing import Any

import numpy as np
import pytest

from argscichat_metric import compute_scores
from argscichat_metric.options import EMBEDDED_ENCODER
from benchmarks.originals import squad_v2_f1

TOLERANCE = 1e-5
# |x|^2 + |y|^2 - 2xy under a root: in float32 the distance of equal vectors is not 0 but up to about 1e-3, and how much
# depends on the hardware. Only identical texts consist of such distances.
NOISE_OF_IDENTICAL_TEXTS = 1e-3
BERTSCORE = {
    # place in the file -> options
    "layer3": {"bertscore_layer": 3},
    "layer6": {"bertscore_layer": 6},
    "layer6_idf_references": {"bertscore_layer": 6, "idf": True},
}
MOVERSCORE_V2 = {
    "uniform": {},
    "uniform_linear_formula_1_minus_cost": {"moverscore_formula": "linear"},
    "idf_each_side": {"idf": True},
    "uniform_stop_words_the_a_of_is_in_to_and": {"stop_words": ["the", "a", "of", "is", "in", "to", "and"]},
}
POWER_MEANS = {"moverscore_layers": "power_means", "moverscore_formula": "linear"}
MOVERSCORE_2019 = {
    "ngram1_uniform": POWER_MEANS,
    "ngram2_uniform": POWER_MEANS | {"moverscore_ngram": 2},
}


@pytest.fixture(scope="module")
def golden(shared_dir) -> dict[str, Any]:
    return json.loads((shared_dir / "golden" / "embedding_scores.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def is_identical(golden) -> np.ndarray:
    """Which pairs consist of the same text twice, shape (n,)."""
    return np.array(golden["predictions"]) == np.array(golden["references"])


def ours(golden: dict[str, Any], metric: str, options: dict[str, Any]) -> dict[str, list[float]]:
    return compute_scores(
        golden["predictions"],
        golden["references"],
        metrics=[metric],
        encoder=EMBEDDED_ENCODER,
        per_example=True,
        **options,
    )["per_example"]


def test_the_golden_pairs_are_those_that_this_file_was_written_for(golden, is_identical):
    assert len(golden["ids"]) == len(golden["predictions"]) == len(golden["references"]) == 48
    assert is_identical.sum() == 6


@pytest.mark.parametrize("side", ["precision", "recall", "f1"])
@pytest.mark.parametrize("place", BERTSCORE)
def test_bertscore(golden, place, side):
    found = ours(golden, "bertscore", BERTSCORE[place])[f"bertscore_{side}"]
    np.testing.assert_allclose(found, golden["bertscore"][place][side], rtol=0, atol=TOLERANCE)


def test_bertscore_is_not_that_of_a_padded_batch(golden):
    found = np.array(ours(golden, "bertscore", {"bertscore_layer": 6})["bertscore_f1"])
    assert np.abs(found - golden["bertscore"]["layer6_batch64_padding_bug"]["f1"]).max() > 1e-4


@pytest.mark.parametrize("place", MOVERSCORE_V2)
def test_moverscore_v2_of_different_texts(golden, is_identical, place):
    found = np.array(ours(golden, "moverscore", MOVERSCORE_V2[place])["moverscore"])
    expected = np.array(golden["moverscore_v2"][place])
    np.testing.assert_allclose(found[~is_identical], expected[~is_identical], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("place", MOVERSCORE_V2)
def test_moverscore_v2_of_identical_texts_is_without_the_noise_of_the_original(golden, is_identical, place):
    found = np.array(ours(golden, "moverscore", MOVERSCORE_V2[place])["moverscore"])[is_identical]
    expected = np.array(golden["moverscore_v2"][place])[is_identical]
    assert np.abs(found - expected).max() < NOISE_OF_IDENTICAL_TEXTS
    if place != "idf_each_side":
        np.testing.assert_allclose(found, 1.0, rtol=0, atol=1e-7)


@pytest.mark.parametrize("place", MOVERSCORE_2019)
def test_moverscore_of_2019(golden, place):
    found = ours(golden, "moverscore", MOVERSCORE_2019[place])["moverscore"]
    np.testing.assert_allclose(found, golden["moverscore_v1_power_means"][place], rtol=0, atol=TOLERANCE)


def test_the_squad_rules_that_we_compare_with_give_the_golden_values(golden):
    # Seven digits in the file.
    np.testing.assert_allclose(
        squad_v2_f1(golden["predictions"], golden["references"]), golden["squad2_f1"], rtol=0, atol=1e-6
    )
