"""MoverScore beside the source of moverscore 1.0.3, on the embedded encoder and on tiny random models.

The originals are run with pyemd's POT solver. Its C++ solver rounds masses and costs to whole numbers before it
solves, which alone moves a score by up to 3e-5; one test compares with it all the same.
"""

import json
from typing import Any, ClassVar

import numpy as np
import pytest

from argscichat_metric import compute_scores
from argscichat_metric.encoder_files import locate
from argscichat_metric.options import EMBEDDED_ENCODER
from benchmarks import originals
from benchmarks.originals import load_moverscore, moverscore_original, moverscore_source
from tests.tiny_models import sample_pairs

pytestmark = pytest.mark.usefixtures("one_torch_thread")

TOLERANCE = 1e-5
TOLERANCE_OF_CPP_SOLVER = 5e-5
STOP_WORDS = ["the", "a", "of", "is", "in", "to", "and"]
# What the originals compute in. v2 takes the root of a squared distance that float32 has rounded, so tokens with equal
# vectors on both sides (the first one of GPT-2, all of identical texts) seem to be 3e-4 apart there.
DTYPE = "float64"
V2 = {"version": "v2"}
POWER_MEANS = {"version": "2019"}
CASES = {
    # name -> (options of the original, options of ours)
    "v2": (V2, {}),
    "v2, idf": (V2 | {"idf": True}, {"idf": True}),
    "v2, stop words": (V2 | {"stop_words": STOP_WORDS}, {"stop_words": STOP_WORDS}),
    "2019": (POWER_MEANS, {"moverscore_layers": "power_means"}),
    "2019, idf": (POWER_MEANS | {"idf": True}, {"moverscore_layers": "power_means", "idf": True}),
    "2019, bigrams": (POWER_MEANS | {"n_gram": 2}, {"moverscore_layers": "power_means", "moverscore_ngram": 2}),
    "2019, bigrams, idf": (
        POWER_MEANS | {"n_gram": 2, "idf": True},
        {"moverscore_layers": "power_means", "moverscore_ngram": 2, "idf": True},
    ),
}


@pytest.fixture(scope="module", autouse=True)
def _forget_the_originals():
    yield
    RememberingModel.outputs.clear()
    load_moverscore.cache_clear()


@pytest.fixture(scope="module")
def embedded_encoder() -> str:
    """The folder of the embedded encoder."""
    return locate(EMBEDDED_ENCODER)[0]


def ours(predictions: list[str], references: list[str], encoder: str, **options) -> np.ndarray:
    """1 - cost of every pair, shape (n,)."""
    result = compute_scores(
        predictions,
        references,
        metrics=["moverscore"],
        encoder=encoder,
        moverscore_formula="linear",
        per_example=True,
        **options,
    )
    return np.array(result["per_example"]["moverscore"])


class RememberingModel:
    """A model that reads no text twice: the cases differ in what is made of the hidden states only."""

    outputs: ClassVar[dict[tuple, Any]] = {}

    def __init__(self, model: Any, name: str):
        self._model, self._name = model, name

    def eval(self) -> "RememberingModel":
        return self

    def __call__(self, *, input_ids: Any, **inputs: Any) -> Any:
        # One text a batch, so there is no padding and the attention mask is all ones.
        key = (self._name, *input_ids[0].tolist())
        if key not in self.outputs:
            self.outputs[key] = self._model(input_ids=input_ids, **inputs)
        return self.outputs[key]


def theirs(
    predictions: list[str], references: list[str], encoder: str, version: str, *, emd_backend: str = "pot", **options
) -> np.ndarray:
    """1 - cost of every pair by the original, shape (n,)."""
    module = load_moverscore(version, encoder, dtype=DTYPE, emd_backend=emd_backend)
    if not isinstance(module.model, RememberingModel):
        module.model = RememberingModel(module.model, encoder)
    scores = moverscore_original(
        predictions, references, encoder, version=version, dtype=DTYPE, emd_backend=emd_backend, **options
    )
    return np.array(scores)


@pytest.mark.parametrize("case", CASES)
def test_every_pair_scores_as_in_the_original(encoder, pairs, case):
    predictions, references = pairs
    of_original, of_ours = CASES[case]
    np.testing.assert_allclose(
        ours(predictions, references, encoder, **of_ours),
        theirs(predictions, references, encoder, **of_original),
        rtol=0,
        atol=TOLERANCE,
    )


@pytest.mark.parametrize("case", ["v2", "2019"])
def test_the_solver_of_the_time_of_the_original_agrees_as_far_as_it_is_exact(embedded_encoder, case):
    predictions, references = sample_pairs()
    of_original, of_ours = CASES[case]
    np.testing.assert_allclose(
        ours(predictions, references, embedded_encoder, **of_ours),
        theirs(predictions, references, embedded_encoder, **of_original, emd_backend="cpp"),
        rtol=0,
        atol=TOLERANCE_OF_CPP_SOLVER,
    )


@pytest.mark.parametrize("case", CASES)
def test_identical_texts_score_as_in_the_original(embedded_encoder, case):
    _, references = sample_pairs()
    # Other texts besides, so that a token's idf on the one side is not that on the other.
    predictions, references = references[:12] + references[6:12], references[:12] + references[12:18]
    same = np.array([predicted == reference for predicted, reference in zip(predictions, references, strict=True)])
    of_original, of_ours = CASES[case]
    found = ours(predictions, references, embedded_encoder, **of_ours)
    np.testing.assert_allclose(
        found, theirs(predictions, references, embedded_encoder, **of_original), rtol=0, atol=TOLERANCE
    )
    assert same.sum() == 12
    if "idf" in of_ours:
        assert found[same].min() < 1 - TOLERANCE
    else:
        np.testing.assert_allclose(found[same], 1.0, rtol=0, atol=1e-7)


@pytest.mark.parametrize("case", ["v2", "v2, idf", "2019, bigrams"])
def test_the_real_messages_score_as_in_the_original(embedded_encoder, shared_dir, case):
    golden = json.loads((shared_dir / "golden" / "embedding_scores.json").read_text(encoding="utf-8"))
    pairs = sorted(zip(golden["predictions"], golden["references"], strict=True), key=lambda pair: pair[0] != pair[1])
    predictions, references = zip(*pairs[:16], strict=True)  # the six of identical texts, and ten others
    of_original, of_ours = CASES[case]
    np.testing.assert_allclose(
        ours(list(predictions), list(references), embedded_encoder, **of_ours),
        theirs(list(predictions), list(references), embedded_encoder, **of_original),
        rtol=0,
        atol=TOLERANCE,
    )


@pytest.mark.parametrize("version", ["v2", "2019"])
def test_a_source_that_is_not_the_known_one_is_never_run(version, tmp_path, monkeypatch):
    path, _ = moverscore_source(version)
    source = path.read_text(encoding="utf-8")
    changed = tmp_path / path.name
    monkeypatch.setattr(originals, "find_spec", lambda name: type("Spec", (), {"origin": str(changed)}))
    for old in (*originals._REPLACED[version], *originals._REPLACED_IN_BOTH):
        changed.write_text(source.replace(old, "pass\n"), encoding="utf-8")
        with pytest.raises(RuntimeError, match=r"not .*that of moverscore 1\.0\.3"):
            moverscore_source(version)
