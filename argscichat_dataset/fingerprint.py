"""Hashes of files: whether a file is the official one, and whether files or this package have changed."""

import functools
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from argscichat_dataset.source import SHOWN_PATH_BYTES, SourceError, shown

_CHUNK_BYTES = 1 << 20


def hash_of(path: str | os.PathLike[str], algorithm: str = "sha256") -> str:
    """Hash of the content of a file, of which only a piece at a time is held in memory.

    Args:
        path: the file.
        algorithm: a name that `hashlib` knows; md5 serves only where a publisher gives nothing better.

    Returns:
        Hexadecimal digits, 64 for sha256 and 32 for md5.

    Raises:
        SourceError: the file cannot be read.
    """
    state = hashlib.new(algorithm, usedforsecurity=False)
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                state.update(chunk)
        return state.hexdigest()
    except OSError as error:
        got = error.strerror or str(error)
        place = shown(str(path), SHOWN_PATH_BYTES)
        raise SourceError(f"{place}: file: expected a file that can be read, got {shown(got)}") from error


def check_sha256(path: str | os.PathLike[str], expected: str, source: str | None = None) -> None:
    """Refuse a file whose content is not the expected one.

    Args:
        path: the file.
        expected: sha256 of the right content, in hexadecimal digits.
        source: where the file came from, for the message.

    Raises:
        SourceError: the file cannot be read or has another sha256; the message has both hashes.
    """
    found = hash_of(path)
    if found != expected.lower():
        origin = f", downloaded from {source}" if source else ""
        raise SourceError(
            f"{shown(str(path), SHOWN_PATH_BYTES)}{origin}: sha256: expected {expected.lower()}, got {found}; the "
            "file is damaged or not the official one, remove it to have it fetched again"
        )


def files_digest(paths: Mapping[str, str | os.PathLike[str]]) -> str:
    """One hash of the content of several files.

    Args:
        paths: name -> file; the order does not matter, nor does the folder.

    Returns:
        64 hexadecimal digits that change with every byte of a file and with every name.

    Raises:
        SourceError: a file cannot be read.
    """
    lines = [f"{hash_of(path)} {name}" for name, path in sorted(paths.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.cache
def package_digest() -> str:
    """One hash of the source files of this package, so that what other code built before is not taken for current.

    Returns:
        16 hexadecimal digits.
    """
    return files_digest({path.name: path for path in Path(__file__).parent.glob("*.py")})[:16]
