"""Files that appear whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def check_can_write(path: Path) -> None:
    """Refuse a place that cannot be written, before any long work is done for it.

    Args:
        path: file to be written later.

    Raises:
        OSError: the folder does not exist or may not be written, or the path is a folder.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path}: expected a file to write, got a folder")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"{path}: the folder {path.parent} may not be written")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its place and rename it into place.

    Args:
        path: file to write; an existing one is replaced.
        content: a text, written as UTF-8 with its line ends as they are, or bytes.

    Raises:
        OSError: the file cannot be written; an existing one is unchanged then.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        beside = Path(file.name)
        try:
            file.write(data)
            file.close()
            # A temporary file is readable by its owner only; the result should be as any new file is.
            beside.chmod(0o666 & ~_umask())
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def json_text(value: Any) -> str:
    """A value as the text of a JSON file that people can read.

    Args:
        value: what JSON can hold.

    Returns:
        Indented JSON with a line end.

    Raises:
        TypeError: a value that JSON cannot hold.
        ValueError: a number that JSON cannot hold.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON Lines file as `write_whole` writes a text.

    Args:
        path: file to write; an existing one is replaced.
        rows: one object a line, of what JSON can hold.

    Raises:
        OSError: the file cannot be written; an existing one is unchanged then.
        TypeError: a value that JSON cannot hold.
        ValueError: a number that JSON cannot hold.
    """
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
