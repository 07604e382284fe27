"""The corpus as Parquet files with a dataset card, a folder that `load_dataset` and the Hub take without a script."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from argscichat_dataset.built import split_file
from argscichat_dataset.card import card_text
from argscichat_dataset.configs import CONFIG_NAMES

FilePath = str | os.PathLike[str]


def build_dataset(
    output: FilePath, data_dir: FilePath | None = None, *, overwrite: bool = False, progress: bool = False
) -> Path:
    """Write every config as Parquet, one file a split, with a dataset card.

    The folder appears whole or not at all: it is written beside its place and renamed.

    Args:
        output: the folder to write; must not exist or be empty unless `overwrite`.
        data_dir: folder with the official files; None downloads them.
        overwrite: replace an existing folder, if it is an earlier build.
        progress: whether to show a progress bar on stderr.

    Returns:
        The folder.

    Raises:
        OSError: the folder exists, or cannot be written.
        SourceError: an official file cannot be read, or does not have the official format or sha256.
        AlignmentError: a fact matches no sentence.
    """
    target = Path(output)
    _check_target(target, overwrite)
    with _written_beside(target) as folder, tempfile.TemporaryDirectory() as cache, _without_bars():
        built = {}
        for name in tqdm(CONFIG_NAMES, disable=not progress, unit="config"):
            built[name] = _prepared(name, data_dir, cache)
            for split, rows in built[name].items():
                file = split_file(folder, name, split)
                file.parent.mkdir(exist_ok=True)
                rows.to_parquet(os.fspath(file))
        (folder / "README.md").write_text(card_text(built), encoding="utf-8")
        del built  # memory-mapped files of the cache, which some systems do not delete while they are open
    return target


def _prepared(name: str, data_dir: FilePath | None, cache: str) -> Mapping[str, Any]:
    from argscichat_dataset.builder import ArgSciChat

    builder = ArgSciChat(cache, config_name=name, data_dir=None if data_dir is None else os.fspath(data_dir))
    builder.download_and_prepare()
    return builder.as_dataset()


@contextmanager
def _without_bars() -> Iterator[None]:
    """Silence the bars of `datasets`, of which each split would draw two beside ours."""
    from datasets.utils import disable_progress_bars, enable_progress_bars, is_progress_bar_enabled

    had_bars = is_progress_bar_enabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if had_bars:
            enable_progress_bars()


def _check_target(target: Path, overwrite: bool) -> None:
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(f"{target}: expected a folder to write, found a file")
    if target.is_dir() and any(target.iterdir()):
        if not overwrite:
            raise FileExistsError(f"{target}: the folder exists and is not empty; pass --overwrite to replace it")
        if not (target / "all").is_dir() or not (target / "README.md").is_file():
            raise FileExistsError(
                f"{target}: expected an earlier build to replace, found other files; remove it by hand"
            )
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"{target}: the folder {target.parent} does not exist")


@contextmanager
def _written_beside(target: Path) -> Iterator[Path]:
    """A folder beside the target, which takes its place at the end, or vanishes if anything fails before."""
    place = target.absolute()
    beside = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        beside.chmod(0o755)  # mkdtemp makes it private to its owner
        yield beside
        _replace(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _replace(beside: Path, place: Path) -> None:
    # A folder cannot be renamed onto one that holds files, so the old build steps aside first.
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
