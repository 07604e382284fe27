"""The options of `compute()`: what is refused, and that every one of them changes what it says it changes."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import pytest

from argscichat_metric import embedding_pass, embedding_scores
from argscichat_metric.bertscore import BertScore
from argscichat_metric.compute import compute_scores
from argscichat_metric.embedding_cache import EmbeddingCache
from argscichat_metric.encoder import Encoder
from argscichat_metric.options import EMBEDDED_ENCODER, METRICS, PRESETS, Options
from tests.tiny_models import build_tiny_model

pytestmark = pytest.mark.usefixtures("one_torch_thread")

MESSAGE_LIMIT = 1000
OPTIONS = [field.name for field in fields(Options)]

PREDICTIONS = [
    "We use a small corpus of dialogues.",
    "It is not clear to me.",
    "the parser",
    "Yes, two of the authors did.",
]
REFERENCES = ["The corpus is small.", "I do not know.", "a parser of dialogues", "Two of us annotated the papers."]
HUGE_TEXT = "x" * 100_000
HUGE_NUMBER = 10**10_000

score = partial(compute_scores, PREDICTIONS, REFERENCES)
score_embeddings = partial(score, metrics=["bertscore", "moverscore"], per_example=True)
score_facts = partial(compute_scores, metrics=["fact_f1"], per_example=True)


# --- What is refused ---

NOT_A_FLAG = [(1, "int 1"), (None, "NoneType"), ("yes", "str 'yes'"), (HUGE_TEXT, "str 'xxx")]
NOT_A_WHOLE_NUMBER = [(True, "bool"), (2.0, "float 2.0"), ("2", "str '2'"), ([2], "list [2]"), (HUGE_TEXT, "str 'xxx")]
NOT_A_LEVEL = [(True, "bool True"), ("0.95", "str '0.95'"), ([0.95], "list [0.95]"), (HUGE_TEXT, "str 'xxx")]
NOT_A_NAME = [(1, "int 1"), (b"name", "bytes"), (["name"], "list"), ([HUGE_TEXT], "list")]
NOT_TEXTS = [("message_f1", "str"), (1, "int 1"), ([1], "int 1"), ([None], "NoneType"), ([[HUGE_TEXT]], "list")]

BAD_TYPES: dict[str, list[tuple[Any, str]]] = {
    "metrics": NOT_TEXTS,
    "encoder": [*NOT_A_NAME, (None, "NoneType")],
    "bertscore_encoder": NOT_A_NAME,
    "moverscore_encoder": NOT_A_NAME,
    "bertscore_layer": NOT_A_WHOLE_NUMBER,
    "rescale_with_baseline": NOT_A_FLAG,
    "idf": NOT_A_FLAG,
    "moverscore_ngram": [*NOT_A_WHOLE_NUMBER, (None, "NoneType")],
    "stop_words": [*NOT_TEXTS, (None, "NoneType")],
    "max_facts": [*NOT_A_WHOLE_NUMBER, (None, "NoneType")],
    "confidence": NOT_A_LEVEL,
    "n_resamples": [*NOT_A_WHOLE_NUMBER, (None, "NoneType")],
    "seed": [*NOT_A_WHOLE_NUMBER, (None, "NoneType")],
    "per_example": NOT_A_FLAG,
    "device": NOT_A_NAME,
    "batch_tokens": [*NOT_A_WHOLE_NUMBER, (None, "NoneType")],
    "max_length": NOT_A_WHOLE_NUMBER,
    "cache_mb": [*NOT_A_WHOLE_NUMBER, (None, "NoneType")],
    "progress": NOT_A_FLAG,
}
NOT_A_CHOICE = [("nope", "'nope'"), (1, "1"), ([], "[]"), (HUGE_TEXT, "'xxx")]
BAD_VALUES: dict[str, list[tuple[Any, str]]] = {
    "metrics": [(["f1"], "'f1'"), ([], "none"), ([HUGE_TEXT], "'xxx")],
    "encoder": [("", "''"), (" \n", "' \\n'")],
    "preset": NOT_A_CHOICE,
    "bertscore_encoder": [("", "''")],
    "moverscore_encoder": [("", "''")],
    "bertscore_layer": [(-1, "-1"), (-HUGE_NUMBER, "<int of")],
    "moverscore_formula": [*NOT_A_CHOICE, (None, "None")],
    "moverscore_layers": [*NOT_A_CHOICE, (None, "None")],
    "moverscore_ngram": [(0, "0"), (-HUGE_NUMBER, "<int of")],
    "max_facts": [(0, "0"), (-HUGE_NUMBER, "<int of")],
    "excess_facts": [*NOT_A_CHOICE, (None, "None")],
    "no_gold_facts": [*NOT_A_CHOICE, (None, "None")],
    "confidence": [
        *((value, str(value)) for value in (0, 1, -0.5, 95, float("nan"), float("inf"))),
        (HUGE_NUMBER, "<int of"),
    ],
    "n_resamples": [(99, "99"), (-HUGE_NUMBER, "<int of")],
    "seed": [(-1, "-1"), (-HUGE_NUMBER, "<int of")],
    "device": [("", "''")],
    "batch_tokens": [(0, "0"), (-HUGE_NUMBER, "<int of")],
    "max_length": [(0, "0"), (-HUGE_NUMBER, "<int of")],
    "cache_mb": [(-1, "-1"), (-HUGE_NUMBER, "<int of")],
}


def _cases(table: dict[str, list[tuple[Any, str]]]) -> list:
    return [
        pytest.param(option, value, got, id=f"{option}-{number}")
        for option, rows in table.items()
        for number, (value, got) in enumerate(rows)
    ]


@pytest.mark.parametrize(("option", "value", "got"), _cases(BAD_TYPES))
def test_a_value_of_the_wrong_type_is_a_type_error(option, value, got):
    _check_refused(TypeError, option, value, got)


@pytest.mark.parametrize(("option", "value", "got"), _cases(BAD_VALUES))
def test_a_value_that_is_not_allowed_is_a_value_error(option, value, got):
    _check_refused(ValueError, option, value, got)


def _check_refused(kind: type[Exception], option: str, value: Any, got: str) -> None:
    with pytest.raises(kind) as error:
        Options.of({option: value})
    text = str(error.value)
    assert text.startswith(f"{option}: expected ")
    assert f"got {got}" in text
    assert len(text) < MESSAGE_LIMIT


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_refuses_something(option):
    assert option in BAD_TYPES or option in BAD_VALUES


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("metric", "did you mean 'metrics'?"),
        ("Encoder", "did you mean 'encoder'?"),
        ("bert_score_layer", "did you mean 'bertscore_layer'?"),
        ("nogoldfacts", "did you mean 'no_gold_facts'?"),
        ("zzz", "known are: metrics, encoder, preset"),
        (HUGE_TEXT, "known are: "),
    ],
    ids=["short", "capital", "low line", "no low lines", "nothing like it", "huge"],
)
def test_an_unknown_option_is_a_type_error_with_a_suggestion(name, suggested):
    with pytest.raises(TypeError, match="is not an option of compute") as error:
        score(metrics=["message_f1"], **{name: 1})
    assert suggested in str(error.value)
    assert len(str(error.value)) < MESSAGE_LIMIT


def test_preset_and_encoder_exclude_each_other():
    with pytest.raises(ValueError, match="preset='paper' sets the encoders, and so does encoder='bert-base-uncased'"):
        Options.of({"preset": "paper", "encoder": "bert-base-uncased"})


@pytest.mark.parametrize("n", [2, HUGE_NUMBER], ids=["2", "huge"])
def test_n_grams_need_power_means(n):
    with pytest.raises(ValueError, match="needs moverscore_layers='power_means'") as error:
        Options.of({"moverscore_ngram": n})
    assert len(str(error.value)) < MESSAGE_LIMIT


@pytest.mark.parametrize("layer", [7, HUGE_NUMBER], ids=["7", "huge"])
def test_a_layer_that_the_encoder_lacks_is_refused(layer):
    with pytest.raises(
        ValueError, match=f"bertscore_layer: expected 0 to 6, the layers of '{EMBEDDED_ENCODER}'"
    ) as error:
        score(metrics=["bertscore"], bertscore_layer=layer)
    assert len(str(error.value)) < MESSAGE_LIMIT


@pytest.mark.parametrize("length", [1, 2])
def test_a_length_that_leaves_no_room_for_a_word_is_refused(length):
    with pytest.raises(ValueError, match=f"max_length: expected more than the 2 special tokens .* got {length}"):
        score(metrics=["bertscore"], max_length=length)


def test_bad_options_are_found_before_any_row_is_read():
    with pytest.raises(TypeError, match="idf: expected True or False"):
        compute_scores(None, None, idf="yes")


# --- What is accepted ---


@pytest.mark.parametrize("make", [list, tuple, set, iter, lambda names: (name for name in names)])
def test_lists_of_texts_may_come_in_any_collection(make):
    options = Options.of({"metrics": make(["moverscore", "fact_f1"]), "stop_words": make(["the", "of"])})
    assert options.metrics == ("fact_f1", "moverscore")
    assert options.stop_words == frozenset(["the", "of"])


def test_metrics_are_computed_once_and_in_the_order_of_the_benchmark():
    assert Options.of({"metrics": [*METRICS[::-1], *METRICS]}).metrics == METRICS


@pytest.mark.parametrize(
    ("given", "of_bertscore", "of_moverscore"),
    [
        ({}, EMBEDDED_ENCODER, EMBEDDED_ENCODER),
        ({"encoder": "e"}, "e", "e"),
        ({"encoder": "e", "bertscore_encoder": "b"}, "b", "e"),
        ({"encoder": "e", "moverscore_encoder": "m"}, "e", "m"),
        ({"bertscore_encoder": "b", "moverscore_encoder": "m"}, "b", "m"),
        ({"preset": "paper"}, "roberta-large", "distilbert-base-uncased"),
        ({"preset": "paper", "bertscore_encoder": "b"}, "b", "distilbert-base-uncased"),
        ({"preset": "paper", "moverscore_encoder": "m"}, "roberta-large", "m"),
    ],
)
def test_the_own_encoder_of_a_score_beats_the_preset_which_beats_the_common_one(given, of_bertscore, of_moverscore):
    options = Options.of(given)
    assert [options.encoder_of(metric) for metric in ("bertscore", "moverscore")] == [of_bertscore, of_moverscore]


# --- What every option changes ---


@dataclass
class Probe:
    """What the effects are seen with."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture
    other_encoder: str

    def count_forward_passes(self) -> list[int]:
        """A list that gets the number of texts of every batch from now on; the cache starts empty."""
        batches: list[int] = []
        forward = Encoder._hidden_states

        def counted(encoder: Encoder, ids: Any, layers: Any) -> Any:
            batches.append(len(ids))
            return forward(encoder, ids, layers)

        self.monkeypatch.setattr(Encoder, "_hidden_states", counted)
        self.monkeypatch.setattr(embedding_pass, "_CACHE", EmbeddingCache())
        return batches


@pytest.fixture(scope="module")
def other_encoder(tmp_path_factory) -> str:
    return build_tiny_model("bert", tmp_path_factory.mktemp("encoders"))


@pytest.fixture
def probe(monkeypatch, capsys, other_encoder) -> Probe:
    return Probe(monkeypatch, capsys, other_encoder)


EFFECTS: dict[str, Callable[[Probe], None]] = {}


def effect_of(option: str) -> Callable:
    """Register the check of what an option changes."""

    def register(check: Callable[[Probe], None]) -> Callable[[Probe], None]:
        EFFECTS[option] = check
        return check

    return register


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_changes_what_it_says(option, probe):
    assert option in EFFECTS, f"write down what {option} changes"
    EFFECTS[option](probe)


def test_effects_are_of_options_that_exist():
    assert EFFECTS.keys() <= set(OPTIONS)


def _embedding_columns(result: dict[str, Any]) -> tuple[list[float], list[float]]:
    """BERTScore and MoverScore of every row."""
    return result["per_example"]["bertscore_f1"], result["per_example"]["moverscore"]


def _check_change(result: dict[str, Any], *, bertscore: bool, moverscore: bool) -> None:
    """Every row's value differs from the default's in the scores that are to change, and in no other."""
    for before, after, changes in zip(
        _embedding_columns(score_embeddings()), _embedding_columns(result), (bertscore, moverscore), strict=True
    ):
        differs = [value != pytest.approx(old, abs=1e-6) for old, value in zip(before, after, strict=True)]
        assert differs == [changes] * len(PREDICTIONS)


@effect_of("metrics")
def _metrics(probe: Probe) -> None:
    rows = [{"message": text, "facts": [0]} for text in PREDICTIONS]
    starts = {"fact_f1": "fact_", "message_f1": "message_", "bertscore": "bertscore_", "moverscore": "moverscore"}
    for chosen in (*([metric] for metric in METRICS), None):
        result = compute_scores(rows, rows, metrics=chosen)
        scored = {metric for metric, start in starts.items() if any(key.startswith(start) for key in result)}
        assert scored == set(chosen or METRICS)
    probe.monkeypatch.setattr(embedding_scores, "load_encoder", None)  # calling it would be an error
    compute_scores(rows, rows, metrics=["fact_f1", "message_f1"])


@effect_of("encoder")
def _encoder(probe: Probe) -> None:
    result = score_embeddings(encoder=probe.other_encoder)
    _check_change(result, bertscore=True, moverscore=True)
    both = score_embeddings(bertscore_encoder=probe.other_encoder, moverscore_encoder=probe.other_encoder)
    assert result == both


@effect_of("preset")
def _preset(probe: Probe) -> None:
    names = PRESETS["paper"]
    for metric in ("bertscore", "moverscore"):
        with pytest.raises(ValueError, match=f"encoder: cannot load '{names[f'{metric}_encoder']}'"):
            score(preset="paper", metrics=[metric])
    own = {"bertscore_encoder": EMBEDDED_ENCODER, "moverscore_encoder": EMBEDDED_ENCODER}
    assert score_embeddings(preset="paper", **own) == score_embeddings()


@effect_of("bertscore_encoder")
def _bertscore_encoder(probe: Probe) -> None:
    _check_change(score_embeddings(bertscore_encoder=probe.other_encoder), bertscore=True, moverscore=False)


@effect_of("moverscore_encoder")
def _moverscore_encoder(probe: Probe) -> None:
    _check_change(score_embeddings(moverscore_encoder=probe.other_encoder), bertscore=False, moverscore=True)


@effect_of("bertscore_layer")
def _bertscore_layer(probe: Probe) -> None:
    results = [score_embeddings(bertscore_layer=layer) for layer in range(7)]
    for result in results[:6]:
        _check_change(result, bertscore=True, moverscore=False)
    _check_change(results[6], bertscore=False, moverscore=False)  # the last of the encoder's is the default
    assert len({result["bertscore_f1"] for result in results}) == 7


@effect_of("rescale_with_baseline")
def _rescale_with_baseline(probe: Probe) -> None:
    with pytest.raises(ValueError, match=rf"no file rescale_baseline/en/{EMBEDDED_ENCODER}\.tsv"):
        score_embeddings(rescale_with_baseline=True)
    asked = []
    probe.monkeypatch.setattr(
        embedding_scores, "rescale_baseline", lambda *args: asked.append(args) or BertScore(0.2, 0.3, 0.4)
    )
    raw, rescaled = score_embeddings(), score_embeddings(rescale_with_baseline=True)
    assert asked == [(EMBEDDED_ENCODER, 6)]
    for key, base in (("bertscore_precision", 0.2), ("bertscore_recall", 0.3), ("bertscore_f1", 0.4)):
        assert rescaled[key] == pytest.approx((raw[key] - base) / (1 - base))
    assert rescaled["moverscore"] == raw["moverscore"]


@effect_of("idf")
def _idf(probe: Probe) -> None:
    _check_change(score_embeddings(idf=True), bertscore=True, moverscore=True)


@effect_of("moverscore_formula")
def _moverscore_formula(probe: Probe) -> None:
    linear = score_embeddings(moverscore_formula="linear")
    _check_change(linear, bertscore=False, moverscore=True)
    reciprocal = score_embeddings()["per_example"]["moverscore"]
    assert linear["per_example"]["moverscore"] == pytest.approx([1 - (1 / value - 1) for value in reciprocal])


@effect_of("moverscore_layers")
def _moverscore_layers(probe: Probe) -> None:
    _check_change(score_embeddings(moverscore_layers="power_means"), bertscore=False, moverscore=True)


@effect_of("moverscore_ngram")
def _moverscore_ngram(probe: Probe) -> None:
    unigrams, bigrams, longest = (
        score_embeddings(moverscore_layers="power_means", moverscore_ngram=n)["per_example"] for n in (1, 2, 1000)
    )
    assert bigrams["bertscore_f1"] == pytest.approx(unigrams["bertscore_f1"])
    for columns in (bigrams, longest):
        pairs = zip(unigrams["moverscore"], columns["moverscore"], strict=True)
        assert all(abs(value - other) > 1e-4 for value, other in pairs)


@effect_of("stop_words")
def _stop_words(probe: Probe) -> None:
    result = score_embeddings(stop_words=["the"])
    before, after = score_embeddings()["per_example"], result["per_example"]
    assert after["bertscore_f1"] == before["bertscore_f1"]
    # The second pair does not hold the word.
    changed = [abs(old - new) > 1e-4 for old, new in zip(before["moverscore"], after["moverscore"], strict=True)]
    assert changed == [True, False, True, True]


@effect_of("max_facts")
def _max_facts(probe: Probe) -> None:
    facts = [[1, 2, 3]]
    with pytest.raises(ValueError, match="at most 2 distinct facts, got 3"):
        score_facts(facts, facts)
    with pytest.raises(ValueError, match="at most 1 distinct facts, got 3"):
        score_facts(facts, facts, max_facts=1)
    assert score_facts(facts, facts, max_facts=3)["fact_f1"] == 1.0


@effect_of("excess_facts")
def _excess_facts(probe: Probe) -> None:
    result = score_facts([[1, 2, 3]], [[3]], excess_facts="truncate")
    assert (result["fact_f1"], result["n_excess_facts"]) == (0.0, 1)
    with pytest.raises(ValueError, match="at most 2"):
        score_facts([[1, 2, 3]], [[3]], excess_facts="error")


@effect_of("no_gold_facts")
def _no_gold_facts(probe: Probe) -> None:
    columns = {
        rule: score_facts([[1], [], [2]], [[1], [], []], no_gold_facts=rule)["per_example"]["fact_f1"]
        for rule in ("skip", "zero", "squad")
    }
    assert columns == {"skip": [1.0, None, None], "zero": [1.0, 0.0, 0.0], "squad": [1.0, 1.0, 0.0]}


PAPERS = [{"message": text, "paper_id": f"p{i % 7}"} for i, text in enumerate(REFERENCES * 5)]
score_papers = partial(compute_scores, PREDICTIONS * 5, PAPERS, metrics=["message_f1"])


@effect_of("confidence")
def _confidence(probe: Probe) -> None:
    plain, narrow, wide = score_papers(), score_papers(confidence=0.5), score_papers(confidence=0.95)
    assert "message_f1_ci" not in plain
    assert wide["message_f1_ci"][0] < narrow["message_f1_ci"][0] < plain["message_f1"]
    assert plain["message_f1"] < narrow["message_f1_ci"][1] < wide["message_f1_ci"][1]
    assert plain == {key: wide[key] for key in plain if key != "signature"} | {"signature": plain["signature"]}


@effect_of("n_resamples")
def _n_resamples(probe: Probe) -> None:
    ends = [score_papers(confidence=0.95, n_resamples=n)["message_f1_ci"] for n in (100, 101)]
    assert ends[0] != ends[1]


@effect_of("seed")
def _seed(probe: Probe) -> None:
    ends = [score_papers(confidence=0.95, seed=seed)["message_f1_ci"] for seed in (0, 0, 1, 10**30)]
    assert ends[0] == ends[1]
    assert ends[0] != ends[2] != ends[3]


@effect_of("per_example")
def _per_example(probe: Probe) -> None:
    plain, detailed = score(), score(per_example=True)
    columns = detailed.pop("per_example")
    assert plain == detailed
    assert {len(column) for column in columns.values()} == {len(PREDICTIONS)}


@effect_of("device")
def _device(probe: Probe) -> None:
    devices: list[str] = []
    forward = Encoder._hidden_states
    probe.monkeypatch.setattr(embedding_pass, "_CACHE", EmbeddingCache())
    probe.monkeypatch.setattr(
        Encoder, "_hidden_states", lambda self, *args: devices.append(self.device) or forward(self, *args)
    )
    assert score_embeddings(device="cpu") == score_embeddings(device="cpu")
    assert set(devices) == {"cpu"}
    for device in ("nonsense", "cuda:99", "meta", HUGE_TEXT):
        with pytest.raises(ValueError, match="^device: torch cannot use '") as error:
            score_embeddings(device=device)
        assert len(str(error.value)) < MESSAGE_LIMIT


@effect_of("batch_tokens")
def _batch_tokens(probe: Probe) -> None:
    batches = probe.count_forward_passes()
    n_texts = len({*PREDICTIONS, *REFERENCES})
    columns, n_batches = [], []
    for batch_tokens in (1, 20, 10**6):
        batches.clear()
        columns.append(sum(_embedding_columns(score_embeddings(batch_tokens=batch_tokens, cache_mb=0)), []))
        n_batches.append(len(batches))
        assert sum(batches) == n_texts
    assert n_batches[0] == n_texts > n_batches[1] > n_batches[2] == 1
    assert columns[0] == pytest.approx(columns[1], abs=1e-6)
    assert columns[0] == pytest.approx(columns[2], abs=1e-6)


@effect_of("max_length")
def _max_length(probe: Probe) -> None:
    predictions, references = ["one two three four", "one two"], ["two one four", "two one"]
    cut = compute_scores(predictions, references, max_length=4, per_example=True)
    # [CLS] and [SEP] count, so two words are left.
    expected = compute_scores(["one two", "one two"], ["two one", "two one"], per_example=True)
    for key in ("bertscore_f1", "moverscore"):
        assert cut["per_example"][key] == pytest.approx(expected["per_example"][key], abs=1e-6)
    assert (cut["n_truncated_texts"], expected["n_truncated_texts"]) == (2, 0)
    assert compute_scores(predictions, references, max_length=10**9)["n_truncated_texts"] == 0


@effect_of("cache_mb")
def _cache_mb(probe: Probe) -> None:
    batches = probe.count_forward_passes()
    n_texts = len({*PREDICTIONS, *REFERENCES})
    for cache_mb, n_embedded in ((0, 2 * n_texts), (1, n_texts)):
        batches.clear()
        first, second = score_embeddings(cache_mb=cache_mb), score_embeddings(cache_mb=cache_mb)
        assert first == second
        assert sum(batches) == n_embedded
    assert 0 < embedding_pass._CACHE.used_bytes <= 1 << 20
    score_embeddings(cache_mb=0)
    assert embedding_pass._CACHE.used_bytes == 0


@effect_of("progress")
def _progress(probe: Probe) -> None:
    probe.capsys.readouterr()
    score_embeddings(progress=True)
    assert probe.capsys.readouterr().err == ""  # over before the delay
    probe.monkeypatch.setattr(embedding_scores, "_PROGRESS_DELAY", 0.0)
    score_embeddings(progress=True)
    captured = probe.capsys.readouterr()
    assert "embedding scores" in captured.err
    assert f"{len(PREDICTIONS)}/{len(PREDICTIONS)}" in captured.err
    assert captured.out == ""
    score_embeddings(progress=False)
    assert probe.capsys.readouterr() == ("", "")


# Values that change a number. Options that are not here change none (on one device).
CHANGED: dict[str, Any] = {
    "metrics": ["message_f1"],
    "encoder": "other",
    "bertscore_encoder": "other",
    "moverscore_encoder": "other",
    "bertscore_layer": 2,
    "idf": True,
    "moverscore_formula": "linear",
    "moverscore_layers": "power_means",
    "stop_words": ["the"],
    "max_facts": 1,
    "excess_facts": "truncate",
    "no_gold_facts": "zero",
    "max_length": 5,
    "rescale_with_baseline": True,
    "confidence": 0.95,
}


@pytest.mark.parametrize("option", CHANGED)
def test_every_option_that_changes_a_number_is_in_the_signature(option, probe):
    probe.monkeypatch.setattr(embedding_scores, "rescale_baseline", lambda *_: BertScore(0.2, 0.3, 0.4))
    value = probe.other_encoder if CHANGED[option] == "other" else CHANGED[option]
    rows = [{"message": text, "facts": [0]} for text in PREDICTIONS * 2]
    signatures = [compute_scores(rows, rows, **options)["signature"] for options in ({}, {option: value})]
    assert signatures[0] != signatures[1]


def test_n_grams_are_in_the_signature():
    signatures = {
        score(metrics=["moverscore"], moverscore_layers="power_means", moverscore_ngram=n)["signature"] for n in (1, 2)
    }
    assert len(signatures) == 2


@pytest.mark.parametrize(("option", "value"), [("n_resamples", 500), ("seed", 1)])
def test_options_of_the_intervals_are_in_the_signature_where_there_are_intervals(option, value):
    assert score_papers(**{option: value})["signature"] == score_papers()["signature"]
    signatures = [score_papers(confidence=0.9, **options)["signature"] for options in ({}, {option: value})]
    assert signatures[0] != signatures[1]


def test_options_that_change_no_number_are_not_in_the_signature():
    changed = {"per_example": True, "device": "cpu", "batch_tokens": 7, "cache_mb": 0, "progress": True}
    assert set(OPTIONS) - CHANGED.keys() - {"preset", "moverscore_ngram", "n_resamples", "seed"} == changed.keys()
    assert score(**changed)["signature"] == score(device="cpu")["signature"]
