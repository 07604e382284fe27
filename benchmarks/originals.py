"""The original scorers behind plain functions, for the parity tests and the benchmark. Nothing of ours is in here.

bert-score 0.3.13 is imported. moverscore 1.0.3 cannot be: importing it loads a model of the Hub onto CUDA. So its two
files are found, read, and executed with exactly those lines replaced that cannot run on this machine; a replacement
whose text is not in the file is an error, so that another release is never scored unseen.
"""

import json
import re
import string
import types
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

Version = Literal["v2", "2019"]

_FILES = {"v2": "moverscore_v2", "2019": "moverscore"}

_SPECIAL_TOKENS = {
    # The model's own special tokens, where its tokenizer puts them.
    '["[CLS]"]+truncate(tokenizer.tokenize(a))+["[SEP]"]': "tokenizer.with_special(truncate(tokenizer.tokenize(a)))",
    '["[CLS]"]+truncate(tokenize(a))+["[SEP]"]': "tokenizer.with_special(truncate(tokenize(a)))",
}
_REPLACED = {
    # version -> text in the file -> what runs instead
    "v2": {
        "from pyemd import emd, emd_with_flow\n": "",
        "        output, x_encoded_layers, _ = model(input_ids = x, attention_mask = attention_mask)\n": (
            "        x_encoded_layers = model(\n"
            "            input_ids=x, attention_mask=attention_mask, output_hidden_states=True\n"
            "        ).hidden_states\n"
        ),
        "dtype=np.float)": "dtype=np.double)",
        **_SPECIAL_TOKENS,
    },
    "2019": {
        "from pyemd import emd\n": "",
        "from pytorch_pretrained_bert import BertTokenizer, BertModel\n": "",
        "from pytorch_pretrained_bert.modeling import BertPreTrainedModel\n": "",
        # pytorch_pretrained_bert returned the output of every layer, without the input embeddings.
        "        x_encoded_layers, pooled_output = model(x, x_seg, attention_mask=attention_mask, "
        "output_all_encoded_layers=True)\n": (
            "        x_encoded_layers = model(\n"
            "            input_ids=x, attention_mask=attention_mask, output_hidden_states=True\n"
            "        ).hidden_states[1:]\n"
        ),
        **_SPECIAL_TOKENS,
    },
}
_REPLACED_IN_BOTH = {
    "tokenizer.max_len": "tokenizer.model_max_length",
    "    with Pool(nthreads) as p:\n        idf_count.update(chain.from_iterable(p.map(process_partial, arr)))\n": (
        "    idf_count.update(chain.from_iterable(map(process_partial, arr)))\n"
    ),
    "device='cuda:0'": "device='cpu'",
}
_CUT = {
    # version -> (first text of a part that is left out, first text after it; None is the end of the file)
    "v2": [("from transformers import *\n", "def truncate(tokens):"), ("import matplotlib.pyplot as plt\n", None)],
    "2019": [("import os\nimport sys\n", "def truncate(tokens):")],
}


def bertscore_original(
    predictions: Sequence[str],
    references: Sequence[str],
    model_folder: str,
    layer: int,
    *,
    idf: bool = False,
    batch_size: int = 1,
) -> list[tuple[float, float, float]]:
    """BERTScore by the bert-score package, on the CPU.

    The model is loaded once and kept (`load_bertscore`).

    Args:
        predictions: replies, none of them empty.
        references: reference replies, none of them empty.
        model_folder: folder of a model, as `load_bertscore` takes it.
        layer: the hidden layer.
        idf: whether to weigh tokens by their inverse document frequency in the references.
        batch_size: texts and pairs in a batch. Above 1 a score depends on its batch, because the package lets padding
            count as similarity 0; 64 is the package's default.

    Returns:
        (precision, recall, F1) of every pair, not rescaled.
    """
    from bert_score.utils import bert_cos_score_idf, get_idf_dict

    model, tokenizer = load_bertscore(model_folder, layer)
    if idf:
        weights = get_idf_dict(list(references), tokenizer, nthreads=0)
    else:  # as bert_score.score does it
        weights = defaultdict(lambda: 1.0, {tokenizer.sep_token_id: 0, tokenizer.cls_token_id: 0})
    scores = bert_cos_score_idf(
        model, list(references), list(predictions), tokenizer, weights, batch_size=batch_size, device="cpu"
    )
    return [tuple(row) for row in scores.tolist()]


@lru_cache(maxsize=8)
def load_bertscore(model_folder: str, layer: int) -> tuple[Any, Any]:
    """Load a model cut to a layer, and its tokenizer, with the functions of the bert-score package.

    Args:
        model_folder: folder of a model; for T5 its path has to contain "t5", which is how the package knows it.
        layer: the hidden layer that becomes the last.

    Returns:
        The model and its tokenizer.
    """
    from bert_score.utils import get_model, get_tokenizer
    from transformers import AutoConfig

    if AutoConfig.from_pretrained(model_folder).model_type == "gpt2":
        model = _cut_gpt2(model_folder, layer)
    else:
        model = get_model(model_folder, layer)
    tokenizer = get_tokenizer(model_folder, use_fast=True)
    if _is_byte_level(tokenizer):
        # bert_score asks for the space with every text (`add_prefix_space=True`); transformers 5 does not listen there.
        tokenizer.backend_tokenizer.pre_tokenizer = _byte_level_with_space()
    if tokenizer.pad_token_id is None:  # the package cannot pad without it, not even one text
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def moverscore_original(
    predictions: Sequence[str],
    references: Sequence[str],
    model_folder: str,
    *,
    version: Version = "v2",
    idf: bool = False,
    stop_words: Sequence[str] = (),
    n_gram: int = 1,
    dtype: str = "float32",
    emd_backend: str = "cpp",
    batch_size: int = 1,
) -> list[float]:
    """MoverScore by the source of moverscore 1.0.3, on the CPU.

    Args:
        predictions: replies, none of them empty.
        references: reference replies, none of them empty.
        model_folder: folder of a model.
        version: `"v2"` (moverscore_v2.py: last layer) or `"2019"` (moverscore.py: power means of the last five layers).
        idf: whether to weigh the tokens of each side by their inverse document frequency in that side.
        stop_words: tokens that get no weight.
        n_gram: length of the n-grams; only the version of 2019 looks at it.
        dtype: `"float32"`, or `"float64"` to take the rounding out of the original's distances.
        emd_backend: solver of pyemd, `"cpp"` (its own, and the only one at the time of moverscore) or `"pot"`.
        batch_size: pairs in a batch, 256 in the package. The source gives padding the padding token's *id* as weight,
            so a batch above 1 is right for models only whose id is 0.

    Returns:
        1 - cost of every pair, as on PyPI.
    """
    module = load_moverscore(version, model_folder, dtype=dtype, emd_backend=emd_backend)
    predictions, references = list(predictions), list(references)
    if idf:
        of_references, of_predictions = module.get_idf_dict(references), module.get_idf_dict(predictions)
    else:
        of_references, of_predictions = defaultdict(lambda: 1.0), defaultdict(lambda: 1.0)
    scores = module.word_mover_score(
        references,
        predictions,
        of_references,
        of_predictions,
        stop_words=list(stop_words),
        n_gram=n_gram,
        remove_subwords=True,
        batch_size=batch_size,
    )
    return [float(score) for score in scores]


@lru_cache(maxsize=4)
def load_moverscore(
    version: Version, model_folder: str, *, dtype: str = "float32", emd_backend: str = "cpp"
) -> types.ModuleType:
    """Execute the source of moverscore 1.0.3 with another model, on the CPU.

    Args:
        version: `"v2"` or `"2019"`.
        model_folder: folder of a model with a fast tokenizer; of an encoder-decoder the encoder is taken.
        dtype: of the model's weights, and so of all that is computed from them.
        emd_backend: solver of pyemd.

    Returns:
        A module with the functions of the original: `word_mover_score`, `get_idf_dict` and the rest.

    Raises:
        RuntimeError: the package is not installed, or not the release whose lines are known here.
    """
    import pyemd
    import torch
    from transformers import AutoModel, AutoTokenizer

    path, source = moverscore_source(version)
    model = AutoModel.from_pretrained(model_folder, dtype=torch.float32).to(getattr(torch, dtype)).eval()
    module = types.ModuleType(path.stem)
    module.__dict__.update(
        model=model.get_encoder() if model.config.is_encoder_decoder else model,
        tokenizer=_OriginalsTokenizer(AutoTokenizer.from_pretrained(model_folder)),
        device="cpu",
        emd=partial(pyemd.emd, backend=emd_backend),
        emd_with_flow=partial(pyemd.emd_with_flow, backend=emd_backend),
    )
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def moverscore_source(version: Version) -> tuple[Path, str]:
    """Read a file of moverscore 1.0.3 and replace what cannot run here.

    Args:
        version: `"v2"` or `"2019"`.

    Returns:
        The installed file, and the source to execute.

    Raises:
        RuntimeError: the package is not installed, or its text is not the known one.
    """
    spec = find_spec(_FILES[version])
    if spec is None or spec.origin is None:
        raise RuntimeError("moverscore is not installed: pip install --no-deps -r requirements-parity.txt")
    path = Path(spec.origin)
    source = path.read_text(encoding="utf-8")
    for start, end in _CUT[version]:
        source = _cut(source, start, end)
    for old, new in (_REPLACED[version] | _REPLACED_IN_BOTH).items():
        if old not in source:
            raise RuntimeError(f"{path.name} is not that of moverscore 1.0.3: it does not hold {old!r}")
        source = source.replace(old, new)
    if left := re.findall(r"cuda|np\.float\b|\[CLS\]|Pool\(", source):
        raise RuntimeError(f"{path.name} is not that of moverscore 1.0.3: {left[0]!r} is left in it")
    return path, source


def squad_v2_f1(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
    """Word F1 of every pair by the rules of `squad_v2` of Hugging Face evaluate.

    Neither evaluate's PyPI package (0.4.6), whose metrics are scripts on the Hub, nor transformers 5, which dropped
    `data.metrics.squad_metrics`, has the functions. So the rules of evaluate's metrics/squad_v2/compute_score.py
    (`normalize_answer`, `get_tokens`, `compute_f1`) are written down here, in its order and with its steps.

    Args:
        predictions: replies.
        references: reference replies.

    Returns:
        A value in [0, 1] a pair.
    """
    return [_squad_f1(*pair) for pair in zip(predictions, references, strict=True)]


def _squad_f1(predicted: str, reference: str) -> float:
    predicted_words, reference_words = _squad_words(predicted), _squad_words(reference)
    if len(predicted_words) == 0 or len(reference_words) == 0:
        return float(predicted_words == reference_words)
    n_same = sum((Counter(reference_words) & Counter(predicted_words)).values())
    if n_same == 0:
        return 0.0
    precision, recall = n_same / len(predicted_words), n_same / len(reference_words)
    return 2 * precision * recall / (precision + recall)


def _squad_words(text: str) -> list[str]:
    without_punctuation = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", without_punctuation).split()


class _Token(str):
    """A token's text as the sources of MoverScore look at it, and its id."""

    id: int

    def __new__(cls, text: str, token_id: int) -> "_Token":
        token = super().__new__(cls, text)
        token.id = token_id
        return token


class _OriginalsTokenizer:
    """What the sources of MoverScore ask of a tokenizer, for any fast tokenizer.

    They take a token for the continuation of a word if it contains "##", and for punctuation if it is equal to a
    punctuation character. Both hold of WordPiece only, whose tokens are left as they are. Elsewhere a token loses the
    mark of a word's start, and gets "##" where the tokenizer says that it belongs to the word of the token before.
    """

    def __init__(self, tokenizer: Any):
        self.model_max_length = tokenizer.model_max_length
        self._tokenizer = tokenizer
        self._is_wordpiece = _backend(tokenizer)["model"]["type"] == "WordPiece"
        self._prefix = " " if _is_byte_level(tokenizer) else ""
        probe = tokenizer("a", return_special_tokens_mask=True)
        first = probe["special_tokens_mask"].index(0)
        last = len(probe["input_ids"]) - probe["special_tokens_mask"][::-1].index(0)
        names = [_Token(*token) for token in zip(probe.tokens(), probe["input_ids"], strict=True)]
        self._before, self._after = names[:first], names[last:]

    def tokenize(self, text: str) -> list[_Token]:
        """Tokens of a text, without special ones."""
        encoding = self._tokenizer(self._prefix + text, add_special_tokens=False)
        words = encoding.word_ids()
        tokens = encoding.tokens()
        if not self._is_wordpiece:
            marks = ["##" if word == previous else "" for previous, word in zip([None, *words], words, strict=False)]
            tokens = [mark + token.lstrip("\u0120\u2581") for mark, token in zip(marks, tokens, strict=True)]
        return [_Token(*token) for token in zip(tokens, encoding["input_ids"], strict=True)]

    def with_special(self, tokens: list[_Token]) -> list[_Token]:
        """Put the special tokens of one text around its tokens."""
        return [*self._before, *tokens, *self._after]

    def convert_tokens_to_ids(self, tokens: Sequence[str]) -> list[int]:
        """Ids of tokens; the sources ask for the padding token by name."""
        return [token.id if isinstance(token, _Token) else self._tokenizer.pad_token_id or 0 for token in tokens]


def _backend(tokenizer: Any) -> dict[str, Any]:
    return json.loads(tokenizer.backend_tokenizer.to_str())


def _is_byte_level(tokenizer: Any) -> bool:
    return "ByteLevel" in json.dumps(_backend(tokenizer)["pre_tokenizer"])


def _byte_level_with_space() -> Any:
    from tokenizers.pre_tokenizers import ByteLevel

    return ByteLevel(add_prefix_space=True)


def _cut_gpt2(model_folder: str, layer: int) -> Any:
    """GPT-2 cut to a layer. `get_model` refuses it; this is what it does to the models whose layers it finds."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(model_folder).eval()
    model.h = torch.nn.ModuleList(list(model.h[:layer]))
    return model


def _cut(source: str, start: str, end: str | None) -> str:
    before, found, rest = source.partition(start)
    after = rest[rest.find(end) :] if end and end in rest else ""
    if not found or (end and not after):
        raise RuntimeError(f"not the source of moverscore 1.0.3: it does not hold {start if not found else end!r}")
    return before + after
