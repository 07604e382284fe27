"""Loading a model and its tokenizer with transformers, cut to the layers that are needed; failures as clear errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .encoder_files import WAYS_OUT, EncoderError
from .shortened import shorten

_LAYER_COUNTS = ("encoder_layers", "num_hidden_layers")
"""Names under which configurations keep the number of layers; an encoder-decoder's encoder comes first."""
_LAYER_LISTS = ("layer_types", "attention_window")
"""Names under which configurations keep one value a layer; LED and Longformer refuse a list of another length."""


def load_model(name: str, source: str, depth: int | None, device: str) -> tuple[Any, Any, int]:
    """Load a model in float32, ready to encode.

    Args:
        name: as the caller gave it, for the error texts.
        source: model id of the Hub, or a local folder.
        depth: the highest hidden layer that is needed; None is the model's last.
        device: a torch device.

    Returns:
        The model (of an encoder-decoder the encoder), its fast tokenizer, and how many layers the whole model has.

    Raises:
        EncoderError: the model cannot be fetched or read, lacks a fast tokenizer, weights or layers.
    """
    from transformers import AutoConfig, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
        n_layers = _cut_to_depth(config, name, depth)
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, trust_remote_code=False)
        model = _load_weights(source, config)
    except EncoderError:
        raise
    except Exception as error:  # five libraries take part in a download, each with exceptions of its own
        reason = " ".join(str(error).split())
        raise EncoderError(
            f"encoder: cannot load {shorten(name)} ({type(error).__name__}: {reason[:300]}); {WAYS_OUT}"
        ) from None
    if not getattr(tokenizer, "is_fast", False):
        raise EncoderError(f"encoder: {name!r} has no fast tokenizer, which is what tells words from sub-words")
    n_tokens, n_vectors = len(tokenizer), getattr(config, "vocab_size", None) or 0
    if 2 * n_tokens < n_vectors:
        # Without a vocabulary, transformers 5 makes a tokenizer of the special tokens alone: all words are unknown, and
        # all texts alike.
        raise EncoderError(
            f"encoder: the tokenizer of {shorten(name)} knows {n_tokens} tokens and its model {n_vectors}, so the "
            f"vocabulary (tokenizer.json, say) is missing; {WAYS_OUT}"
        )
    return model.eval().to(device), tokenizer, n_layers


def _cut_to_depth(config: Any, name: str, depth: int | None) -> int:
    key = next((key for key in _LAYER_COUNTS if isinstance(getattr(config, key, None), int)), None)
    if key is None:
        raise EncoderError(f"encoder: the configuration of {name!r} does not say how many layers it has")
    n_layers = getattr(config, key)
    if depth is None:
        return n_layers
    if depth > n_layers:
        raise EncoderError(f"bertscore_layer: expected 0 to {n_layers}, the layers of {name!r}, got {shorten(depth)}")
    setattr(config, key, depth)
    for key in _LAYER_LISTS:
        if isinstance(values := getattr(config, key, None), list):
            setattr(config, key, values[:depth])
    return n_layers


def _load_weights(source: str, config: Any) -> Any:
    import torch
    from transformers import AutoModel

    # float32 whatever the checkpoint holds: half precision moves scores by more than they differ between systems.
    model, report = AutoModel.from_pretrained(
        source, config=config, dtype=torch.float32, trust_remote_code=False, output_loading_info=True
    )
    # Only the encoder's token states are read, so weights of a pooler or a decoder may be missing. Any other
    # missing weight would be drawn at random, and the scores with it.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key and not key.startswith("decoder"))
    if missing:
        raise EncoderError(f"encoder: {source!r} lacks {len(missing)} of the model's weights, {missing[0]!r} for one")
    return model.get_encoder() if config.is_encoder_decoder else model


def n_positions(model: Any) -> float:
    """How many tokens a model has positions for.

    Args:
        model: a model of transformers.

    Returns:
        The number; infinity where positions are no table.
    """
    limit = getattr(model.config, "max_position_embeddings", None) or float("inf")
    for name, module in model.named_modules():
        # RoBERTa counts positions from its padding id on, so the first ones of its table cannot be used.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = min(limit, module.num_embeddings - module.padding_idx - 1)
    return limit if limit > 0 else float("inf")


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep transformers from writing to the terminal while a model is loaded."""
    from transformers.utils import logging

    # A cut model makes transformers list every weight of the layers above, and its progress bar goes to stderr.
    verbosity, had_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bar:
            logging.enable_progress_bar()
