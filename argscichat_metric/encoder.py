"""The one place that runs a model on a device: texts -> embeddings of their tokens, or of the texts.

Only the layers up to the highest one that is needed exist in memory, and batches hold texts of similar length, so the
cost is one forward pass over the tokens and little else.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from .batches import CPU_BATCH_COST, split_into_batches
from .encoder_files import EncoderError, fingerprint, locate
from .model_loading import load_model, n_positions, quiet_transformers
from .shortened import shorten

_MAX_LOADED = 4
_NO_LIMIT = 1 << 30


@dataclass(frozen=True, eq=False)
class TokenizedText:
    """Tokens of one text, special tokens included.

    Args:
        ids: token ids, shape (n_tokens,), int64.
        is_continuation: whether a token continues the word of the token before it, shape (n_tokens,), bool.
        has_content: whether there is any token besides the special ones that the tokenizer adds.
        is_truncated: whether the text was longer than the limit.
    """

    ids: np.ndarray
    is_continuation: np.ndarray
    has_content: bool
    is_truncated: bool


class Encoder:
    """A model and its tokenizer, loaded up to one hidden layer; read-only and usable from several threads.

    Use `load_encoder`, which shares one object among all callers.

    Args:
        name: as the caller gave it.
        depth: the highest hidden layer that is computed; None is the model's last.
        device: a torch device.

    Attributes:
        name: as the caller gave it.
        device: the torch device.
        revision: what identifies the weights: a commit of the Hub, or the start of a sha256.
        depth: the highest hidden layer.
        dim: length of a token embedding.
        unweighted_ids: ids of the [CLS] and [SEP] tokens, which have weight 0 in BERTScore.
        spelling: what the token of an id spells, without the tokenizer's marks for the start or the continuation of a
            word.

    Raises:
        EncoderError: see `load_encoder`.
    """

    def __init__(self, name: str, depth: int | None, device: str):
        source, revision = locate(name)
        with quiet_transformers():
            self._model, tokenizer, n_layers = load_model(name, source, depth, device)
        self.name, self.device = name, device
        self.revision = revision or getattr(self._model.config, "_commit_hash", None) or "unknown"
        self.depth = n_layers if depth is None else depth
        self.dim = self._model.config.hidden_size
        self.unweighted_ids = frozenset({tokenizer.cls_token_id, tokenizer.sep_token_id} - {None})
        self._max_tokens = int(min(tokenizer.model_max_length, n_positions(self._model), _NO_LIMIT))
        self._pad_id = tokenizer.pad_token_id or 0
        self._tokenizer = tokenizer
        self._backend_json = tokenizer.backend_tokenizer.to_str()
        # Byte-level BPE spells a word with its leading space. bert_score asks for that space
        # (`add_prefix_space=True`), which some versions of transformers ignore, so it is part of the text here.
        self._prefix = " " if '"ByteLevel"' in json.dumps(json.loads(self._backend_json)["pre_tokenizer"]) else ""
        self._backend_of = lru_cache(maxsize=8)(self._make_backend)
        self.spelling = cache(self._spell)
        if self.depth == 0:
            self._check_runs_without_layers(n_layers)

    @property
    def key(self) -> tuple:
        """Everything about this object that changes an embedding."""
        return (self.name, self.revision, self.depth, self.device)

    @cached_property
    def has_final_norm(self) -> bool:
        """Whether the model normalises the output of its last layer, as GPT-2 and T5 do.

        Where it does, hidden state k of a deeper model is not what a model of k layers returns, and the latter is
        what bert_score takes.
        """
        import torch

        lists = [module for module in self._model.modules() if isinstance(module, torch.nn.ModuleList)]
        stack = next((module for module in lists if len(module) == self.depth), None)
        if stack is None:
            return False
        seen: list[Any] = []
        hook = stack[-1].register_forward_hook(lambda _module, _inputs, output: seen.append(output))
        try:
            last = self._hidden_states([np.array([self._pad_id], dtype=np.int64)], [self.depth]).flatten()
        finally:
            hook.remove()
        raw = seen[0][0] if isinstance(seen[0], tuple) else seen[0]
        # LED and Longformer pad within the model, so a layer of theirs returns more tokens than went in.
        return not torch.allclose(raw.float().flatten()[: len(last)], last, atol=1e-6)

    def limit(self, max_length: int | None) -> int:
        """The number of tokens at which a text is cut, special tokens included.

        Args:
            max_length: the caller's own limit, or None.

        Returns:
            The smallest of the caller's, the tokenizer's and the model's limit.
        """
        return min(self._max_tokens, max_length or self._max_tokens)

    def tokenize(self, texts: Sequence[str], limit: int) -> list[TokenizedText]:
        """Split texts into tokens.

        Args:
            texts: any texts; outer whitespace does not matter.
            limit: cut texts at this number of tokens, special tokens included (`Encoder.limit`).

        Returns:
            One object a text.

        Raises:
            EncoderError: the limit leaves no room for a token of the text.
        """
        encodings = self._backend_of(limit).encode_batch([self._prefix + text.strip() for text in texts])
        return [_tokenized(encoding) for encoding in encodings]

    def embed(self, texts: Sequence[TokenizedText], layers: Sequence[int], batch_tokens: int) -> list[np.ndarray]:
        """Compute the token embeddings of tokenized texts: hidden states, each scaled to length 1.

        Args:
            texts: tokenized texts, best all different.
            layers: hidden layers, 0 (input embeddings) to `depth`.
            batch_tokens: padded tokens in a batch; a longer text is a batch of its own.

        Returns:
            For each text, in the order given, float32 of shape (len(layers), n_tokens, dim).
        """
        vectors = [np.empty((len(layers), 0, self.dim), dtype=np.float32)] * len(texts)
        for batch, of_batch in self._in_batches(texts, lambda ids: self._unit_vectors(ids, layers), batch_tokens):
            for row, i in enumerate(batch):
                # Copies: a view would keep the whole batch in memory for as long as the cache keeps one text of it. And
                # made here, not by the workers: among their large, short-lived blocks they would leave holes behind.
                vectors[i] = of_batch[:, row, : len(texts[i].ids)].copy()
        return vectors

    def mean_vectors(self, texts: Sequence[TokenizedText], batch_tokens: int) -> np.ndarray:
        """Compute one embedding a text: the mean of its tokens in the last layer, scaled to length 1.

        This is how sentence-transformers pools all-MiniLM-L6-v2; special tokens count.

        Args:
            texts: tokenized texts, best all different.
            batch_tokens: as in `embed`.

        Returns:
            float32, shape (len(texts), dim); 0 for a text without tokens.
        """
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for batch, of_batch in self._in_batches(texts, self._mean_vectors, batch_tokens):
            vectors[batch] = of_batch
        return vectors

    def _make_backend(self, limit: int) -> Any:
        from tokenizers import Tokenizer

        # A copy for each limit: changing the truncation of a shared tokenizer is not safe with several threads.
        backend = Tokenizer.from_str(self._backend_json)
        special = backend.num_special_tokens_to_add(is_pair=False)
        if limit <= special:
            raise EncoderError(
                f"max_length: expected more than the {special} special tokens that the tokenizer of {self.name!r} "
                f"adds, got {limit}"
            )
        if limit < _NO_LIMIT:
            backend.enable_truncation(limit)
        else:
            backend.no_truncation()
        backend.no_padding()
        return backend

    def _spell(self, token_id: int) -> str:
        return self._tokenizer.convert_tokens_to_string([self._tokenizer.convert_ids_to_tokens(token_id)]).strip()

    def _unit_vectors(self, ids: Sequence[np.ndarray], layers: Sequence[int]) -> np.ndarray:
        """Token embeddings of one batch, of length 1, shape (layers, texts, longest text, dim)."""
        import torch

        return torch.nn.functional.normalize(self._hidden_states(ids, layers), dim=-1).cpu().numpy()

    def _mean_vectors(self, ids: Sequence[np.ndarray]) -> np.ndarray:
        """Text embeddings of one batch, of length 1, shape (texts, dim)."""
        import torch

        hidden = self._hidden_states(ids, [self.depth])[0]
        means = [hidden[row, : len(text)].mean(dim=0) for row, text in enumerate(ids)]
        return torch.nn.functional.normalize(torch.stack(means), dim=-1).cpu().numpy()

    def _hidden_states(self, ids: Sequence[np.ndarray], layers: Sequence[int]) -> Any:
        """Hidden states of one batch as a float32 tensor on the device, shape (layers, texts, longest text, dim)."""
        import torch

        longest = max(map(len, ids))
        # b: texts of the batch, t: tokens, padded to the longest
        padded = np.full((len(ids), longest), self._pad_id, dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.int64)
        for row, text in enumerate(ids):
            padded[row, : len(text)], mask[row, : len(text)] = text, 1
        only_last = list(layers) == [self.depth]
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.from_numpy(padded).to(self.device),
                attention_mask=torch.from_numpy(mask).to(self.device),
                output_hidden_states=not only_last,
            )
            if not only_last and len(output.hidden_states) != self.depth + 1:
                raise EncoderError(
                    f"encoder: {self.name!r} returned {len(output.hidden_states)} hidden states, expected "
                    f"{self.depth + 1}; its architecture ({type(self._model).__name__}) cannot be read layer by layer"
                )
            # l: layers, b: texts, t: tokens, d: dimension
            if only_last:  # nothing to stack, and so nothing to copy
                return output.last_hidden_state[None].float()
            return torch.stack([output.hidden_states[layer] for layer in layers]).float()

    def _check_runs_without_layers(self, n_layers: int) -> None:
        try:
            self._hidden_states([np.array([self._pad_id], dtype=np.int64)], [0])
        except Exception as error:  # whatever the code of an architecture does when its list of layers is empty
            raise EncoderError(
                f"bertscore_layer: expected 1 to {n_layers}, as {shorten(self.name)} "
                f"({type(self._model).__name__}) does not run without a layer, got 0 ({type(error).__name__})"
            ) from None

    def _in_batches(
        self, texts: Sequence[TokenizedText], function: Callable[[list[np.ndarray]], np.ndarray], batch_tokens: int
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """The places of the texts of each batch, and what the function returns for their ids."""
        # Off the CPU, starting a batch takes longer than computing its padding: as few batches as possible.
        batch_cost = CPU_BATCH_COST if self.device == "cpu" else batch_tokens
        batches = split_into_batches([len(text.ids) for text in texts], batch_tokens, batch_cost)
        results = self._map(lambda batch: function([texts[i].ids for i in batch]), batches)
        yield from zip(batches, results, strict=True)

    def _map(self, function: Callable, batches: Sequence[list[int]]) -> Iterator[np.ndarray]:
        import torch

        with _POOL_LOCK:
            n_threads = torch.get_num_threads()
            most = min(n_threads, len(batches)) if self.device == "cpu" else 1
            workers = 1 << (max(1, most).bit_length() - 1)  # a power of two, so that there are few kinds of pool
            pool = _pool(workers, n_threads, os.getpid()) if workers > 1 else None
        # A batch of short texts is too small for several cores to share its products well: one batch a core is about
        # 15 % faster than all cores on one batch.
        yield from pool.map(function, batches) if pool else map(function, batches)


_POOL_LOCK = threading.Lock()


@lru_cache(maxsize=8)
def _pool(workers: int, n_threads: int, _process: int) -> ThreadPoolExecutor:
    """Workers that share out the threads of torch; kept, as new threads would bring new buffers of BLAS each time.

    The process is part of the key because a forked one inherits the pool without its threads.
    """
    import torch

    # torch keeps its number of threads for each thread, but a new thread starts with the one that was set last
    # anywhere. So all workers set theirs before the number of the caller is set again.
    pool = ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(n_threads // workers,))
    all_started = threading.Barrier(workers + 1)
    for _ in range(workers):
        pool.submit(all_started.wait)
    all_started.wait()
    torch.set_num_threads(n_threads)
    return pool


_LOADED: dict[tuple, Encoder] = {}
_LOAD_LOCK = threading.Lock()


def load_encoder(name: str, depth: int | None = None, device: str | None = None) -> Encoder:
    """Load an encoder, or return the one that is loaded already.

    Args:
        name: `"all-MiniLM-L6-v2"` (embedded, no network), a model id of the Hugging Face Hub, or a local folder.
        depth: the highest hidden layer that is needed, 0 (input embeddings) to the model's last; None is the last.
        device: a torch device; None is cuda where there is one, else cpu.

    Returns:
        The encoder, shared by all callers in this process. A local folder whose files changed is loaded anew.

    Raises:
        EncoderError: the model cannot be fetched or read, has no fast tokenizer, lacks weights or has fewer layers;
            or the device does not exist.
    """
    device = _checked_device(device)
    key = (*fingerprint(name), depth, device)
    with _LOAD_LOCK:
        if key not in _LOADED:
            while len(_LOADED) >= _MAX_LOADED:
                _LOADED.pop(next(iter(_LOADED)))
            _LOADED[key] = Encoder(name, depth, device)
        return _LOADED[key]


def _checked_device(device: str | None) -> str:
    import torch

    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=device).cpu()  # the meta device makes tensors, but has no numbers to give back
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise EncoderError(f"device: torch cannot use {shorten(device)} here ({reason[:200]})") from None
    return device


def _tokenized(encoding: Any) -> TokenizedText:
    words = encoding.word_ids
    continues = [False] + [
        word is not None and word == previous for previous, word in zip(words, words[1:], strict=False)
    ]
    return TokenizedText(
        ids=np.array(encoding.ids, dtype=np.int64),
        is_continuation=np.array(continues[: len(words)], dtype=bool),
        has_content=not all(encoding.special_tokens_mask),
        is_truncated=bool(encoding.overflowing),
    )
