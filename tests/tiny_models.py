"""Tiny random encoders with trained tokenizers, and the texts of the sample corpus that they are tried on."""

import json
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parents[1] / "argscichat_dataset" / "sample"
FAMILIES = ("bert", "roberta", "distilbert", "xlnet", "deberta", "gpt2", "t5", "led")
N_LAYERS = {"bert": 6, "roberta": 3, "distilbert": 4, "xlnet": 3, "deberta": 3, "gpt2": 4, "t5": 4, "led": 3}
"""Above and below the five layers that MoverScore of 2019 pools."""

_HIDDEN = 32
_HEADS = 4
_POSITIONS = 512
_VOCABULARY = 500
"""Small enough for most words of the sample corpus to be several tokens."""


@lru_cache(maxsize=1)
def sample_pairs() -> tuple[list[str], list[str]]:
    """The replies of the demo agent and the reference replies, pairs with an empty text left out."""
    replies = {pair["id"]: pair["DE_Message"] for paper in _papers() for pair in paper["message_pairs"]}
    lines = (SAMPLE / "predictions_demo_agent.jsonl").read_text(encoding="utf-8").splitlines()
    predictions = [(row["message"].strip(), replies[row["id"]].strip()) for row in map(json.loads, lines)]
    kept = [pair for pair in predictions if all(pair)]
    return [predicted for predicted, _ in kept], [reference for _, reference in kept]


def build_tiny_tokenizer(family: str) -> Any:
    """A tokenizer that was trained on the sample corpus, of one of `FAMILIES`."""
    return _TOKENIZERS[family]()


def build_tiny_model(family: str, parent: Path, *, opposed: bool = False) -> str:
    """Write a random model and its tokenizer so that the Auto classes of transformers load them, offline.

    Args:
        family: one of `FAMILIES`.
        parent: where to make the folder, which is named like the family: bert-score knows T5 by its path.
        opposed: let every 23rd token point away from all others, so that where only one of two texts has such a
            token, its best match has a negative cosine.

    Returns:
        The folder.
    """
    import torch

    tokenizer = build_tiny_tokenizer(family)
    torch.manual_seed(FAMILIES.index(family))
    model = _model(family, tokenizer).eval()
    with torch.no_grad():
        for module in model.modules():
            _draw(module, len(tokenizer), opposed)
    folder = str(parent / family)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    _name_class(Path(folder) / "tokenizer_config.json", f"{_CONFIGURATIONS[family][0]}Tokenizer")
    return folder


def _name_class(file: Path, name: str) -> None:
    """Let a tokenizer that was built as a general one load as that of its family; bert-score looks at the class."""
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(config | {"tokenizer_class": name}), encoding="utf-8")


def _draw(module: Any, vocabulary: int, opposed: bool) -> None:
    """Draw the weights of one module so that the tokens of a text differ as they do in a trained model.

    With the weights of a fresh model (normal, 0.02) all tokens of a text are nearly equal, and all parity is easy.
    """
    import torch

    for parameter in module.parameters(recurse=False):
        noise = torch.randn_like(parameter)
        if parameter.dim() == 1:  # a final norm has to change cosines, so no weight stays 1 and no bias 0
            parameter.add_(0.1 * noise)
        elif isinstance(module, torch.nn.Embedding):
            is_of_words = len(parameter) == vocabulary
            parameter.copy_(noise if is_of_words else 0.3 * noise)
            if is_of_words and opposed:
                parameter[:, 0] = 10.0
                parameter[::23, 0] = -10.0
        else:
            parameter.copy_(0.6 * noise / parameter.shape[-1] ** 0.5)


def _papers() -> list[dict[str, Any]]:
    return list(json.loads((SAMPLE / "sample_test.json").read_text(encoding="utf-8")).values())


def _training_texts() -> list[str]:
    messages = (
        pair[side] for paper in _papers() for pair in paper["message_pairs"] for side in ("P_Message", "DE_Message")
    )
    return list(chain(messages, *(paper["content"] for paper in _papers())))


def _wordpiece() -> Any:
    """BERT's: [CLS] text [SEP], lower case, continuations spelt with ##."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(_training_texts(), vocab_size=_VOCABULARY, show_progress=False)
    names = {
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    }
    return _finished(tokenizer._tokenizer, "[CLS] $A [SEP]", names)


def _byte_level(names: dict[str, str], template: str | None) -> Any:
    """RoBERTa's and GPT-2's: pieces of bytes, the space before a word part of its first piece."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=list(dict.fromkeys(names.values())),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_training_texts(), trainer)
    return _finished(tokenizer, template, names)


def _unigram(names: dict[str, str], template: str) -> Any:
    """XLNet's, T5's and DeBERTa's: the start of a word marked with a low line, punctuation part of the word before."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=_VOCABULARY, special_tokens=list(names.values()), unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(_training_texts(), trainer)
    return _finished(tokenizer, template, names)


def _finished(tokenizer: Any, template: str | None, names: dict[str, str]) -> Any:
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    if template:
        special = [(token, tokenizer.token_to_id(token)) for token in template.split() if token != "$A"]
        tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=special)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=_POSITIONS, **names)


_ROBERTA = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
_ROBERTA |= {"cls_token": "<s>", "sep_token": "</s>"}
_XLNET = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "cls_token": "<cls>", "sep_token": "<sep>"}
_TOKENIZERS: dict[str, Callable[[], Any]] = {
    "bert": _wordpiece,
    "distilbert": _wordpiece,
    "roberta": lambda: _byte_level(_ROBERTA, "<s> $A </s>"),
    "led": lambda: _byte_level(_ROBERTA, "<s> $A </s>"),
    "gpt2": lambda: _byte_level({"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}, None),
    # The special tokens behind the text, the padding id neither 0 nor 1.
    "xlnet": lambda: _unigram(_XLNET | {"pad_token": "<pad>"}, "$A <sep> <cls>"),
    "t5": lambda: _unigram({"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}, "$A </s>"),
    "deberta": lambda: _unigram(
        {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "<unk>"}, "[CLS] $A [SEP]"
    ),
}


def _model(family: str, tokenizer: Any) -> Any:
    import transformers

    common = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    common["vocab_size"] = len(tokenizer)
    name, sizes = _CONFIGURATIONS[family]
    config = getattr(transformers, f"{name}Config")(**common, **sizes(N_LAYERS[family]))
    return getattr(transformers, f"{name}Model")(config)


def _bert_like(n_layers: int) -> dict[str, Any]:
    return {
        "hidden_size": _HIDDEN,
        "num_hidden_layers": n_layers,
        "num_attention_heads": _HEADS,
        "intermediate_size": 2 * _HIDDEN,
        "max_position_embeddings": _POSITIONS,
    }


# family -> name of its classes in transformers, sizes for a number of layers
_CONFIGURATIONS: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "bert": ("Bert", _bert_like),
    "roberta": ("Roberta", lambda n: _bert_like(n) | {"max_position_embeddings": _POSITIONS + 2, "type_vocab_size": 1}),
    "distilbert": (
        "DistilBert",
        lambda n: {"dim": _HIDDEN, "n_layers": n, "n_heads": _HEADS, "hidden_dim": 2 * _HIDDEN},
    ),
    "xlnet": ("XLNet", lambda n: {"d_model": _HIDDEN, "n_layer": n, "n_head": _HEADS, "d_inner": 2 * _HIDDEN}),
    "deberta": (
        "DebertaV2",
        lambda n: (
            _bert_like(n)
            | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 32, "type_vocab_size": 0}
            | {"position_biased_input": False, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
        ),
    ),
    "gpt2": ("GPT2", lambda n: {"n_embd": _HIDDEN, "n_layer": n, "n_head": _HEADS, "n_positions": _POSITIONS}),
    "t5": (
        "T5",
        lambda n: (
            {"d_model": _HIDDEN, "d_kv": _HIDDEN // _HEADS, "d_ff": 2 * _HIDDEN, "num_heads": _HEADS, "num_layers": n}
            | {"num_decoder_layers": 1, "decoder_start_token_id": 0}
        ),
    ),
    "led": (
        "LED",
        lambda n: (
            {"d_model": _HIDDEN, "encoder_layers": n, "decoder_layers": 1, "attention_window": [16] * n}
            | {"encoder_attention_heads": _HEADS, "decoder_attention_heads": _HEADS}
            | {"encoder_ffn_dim": 2 * _HIDDEN, "decoder_ffn_dim": 2 * _HIDDEN}
            | {"max_encoder_position_embeddings": _POSITIONS, "max_decoder_position_embeddings": _POSITIONS}
        ),
    ),
}
