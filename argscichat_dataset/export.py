"""The corpus as Parquet files with a dataset card, a folder that `load_dataset` and the Hub take without a script."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from argscichat_dataset.built import split_file
from argscichat_dataset.card import card_text
from argscichat_dataset.configs import CONFIG_NAMES
from argscichat_dataset.whole_folder import check_target, written_beside

FilePath = str | os.PathLike[str]

EARLIER_BUILD = ("all", "README.md")
"""What a folder holds that `build_dataset` wrote."""


def build_dataset(
    output: FilePath,
    data_dir: FilePath | None = None,
    *,
    repo_id: str | None = None,
    overwrite: bool = False,
    progress: bool = False,
) -> Path:
    """Write every config as Parquet, one file a split, with a dataset card.

    The folder appears whole or not at all: it is written beside its place and renamed.

    Args:
        output: the folder to write; must not exist or be empty unless `overwrite`.
        data_dir: folder with the official files; None downloads them.
        repo_id: the repository of the Hub, USER/NAME, that the card is for; None for none.
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
    check_target(target, overwrite, EARLIER_BUILD)
    with written_beside(target) as folder, tempfile.TemporaryDirectory() as cache, without_bars():
        built = {}
        for name in tqdm(CONFIG_NAMES, disable=not progress, unit="config"):
            built[name] = prepared(name, data_dir, cache)
            for split, rows in built[name].items():
                file = split_file(folder, name, split)
                file.parent.mkdir(exist_ok=True)
                rows.to_parquet(os.fspath(file))
        (folder / "README.md").write_text(card_text(built, repo_id), encoding="utf-8")
        del built  # memory-mapped files of the cache, which some systems do not delete while they are open
    return target


def prepared(name: str, data_dir: FilePath | None, cache: str) -> Mapping[str, Any]:
    """Build one config.

    Args:
        name: name of the config.
        data_dir: folder with the official files; None downloads them.
        cache: folder for what `datasets` writes; the rows are read from it, so it must outlive them.

    Returns:
        Split -> its rows, a `datasets.Dataset`.

    Raises:
        SourceError: an official file cannot be read, or does not have the official format or sha256.
        AlignmentError: a fact matches no sentence.
        ValueError: there is no such config.
    """
    from argscichat_dataset.builder import ArgSciChat

    builder = ArgSciChat(cache, config_name=name, data_dir=None if data_dir is None else os.fspath(data_dir))
    builder.download_and_prepare()
    return builder.as_dataset()


@contextmanager
def without_bars() -> Iterator[None]:
    """Silence the bars of `datasets`, of which each split would draw two beside ours."""
    from datasets.utils import disable_progress_bars, enable_progress_bars, is_progress_bar_enabled

    had_bars = is_progress_bar_enabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if had_bars:
            enable_progress_bars()
