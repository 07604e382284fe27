"""Folders that appear whole or not at all: written beside their place and renamed."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def check_target(target: Path, overwrite: bool, marks: Sequence[str]) -> None:
    """Refuse a place that cannot be written, before any long work is done for it.

    Args:
        target: folder to be written later.
        overwrite: whether an earlier one may be replaced.
        marks: files or folders by which an earlier one is known, so that no other folder is ever replaced.

    Raises:
        OSError: the place is a file, its parent does not exist, or it holds files that may not be replaced.
    """
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(f"{target}: expected a folder to write, found a file")
    if target.is_dir() and any(target.iterdir()):
        if not overwrite:
            raise FileExistsError(f"{target}: the folder exists and is not empty; pass --overwrite to replace it")
        if not all((target / mark).exists() for mark in marks):
            raise FileExistsError(
                f"{target}: expected an earlier build to replace, found other files; remove it by hand"
            )
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"{target}: the folder {target.parent} does not exist")


@contextmanager
def written_beside(target: Path) -> Iterator[Path]:
    """A folder beside the target, which takes its place at the end, or vanishes if anything fails before.

    Args:
        target: the folder to write; what is there is replaced.

    Yields:
        An empty folder to write into.

    Raises:
        OSError: the folder cannot be made or renamed; an existing target is unchanged then.
    """
    place = target.absolute()
    beside = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        beside.chmod(0o755)  # mkdtemp makes it private to its owner
        yield beside
        _replace(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _replace(beside: Path, place: Path) -> None:
    # A folder cannot be renamed onto one that holds files, so the old one steps aside first.
    aside = beside.with_name(f"{beside.name}.old")
    if place.exists():
        place.rename(aside)
    try:
        beside.rename(place)
    except OSError:
        if aside.exists():
            aside.rename(place)
        raise
    shutil.rmtree(aside, ignore_errors=True)
