"""Reading a folder that `argscichat data build` wrote, straight from its Parquet files and without a cache."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from argscichat_dataset.configs import CONFIG_NAMES
from argscichat_dataset.corpus import Row
from argscichat_dataset.intents import IntentRow
from argscichat_dataset.official_files import SPLITS
from argscichat_dataset.source import SHOWN_PATH_BYTES, MessagePair, Paper, SourceError, shown

FilePath = str | os.PathLike[str]


def split_file(folder: FilePath, config: str, split: str) -> Path:
    """Where the rows of one split are.

    Args:
        folder: a built dataset.
        config: name of a config.
        split: name of a split.

    Returns:
        The Parquet file, named as the Hub names the files of a split.
    """
    return Path(folder) / config / f"{split}-00000-of-00001.parquet"


def built_configs(folder: FilePath) -> dict[str, list[str]]:
    """What a built dataset holds.

    Args:
        folder: a built dataset.

    Returns:
        Config -> its splits.

    Raises:
        SourceError: the folder is no built dataset.
    """
    found = {
        config: [split for split in SPLITS if split_file(folder, config, split).is_file()] for config in CONFIG_NAMES
    }
    held = {config: splits for config, splits in found.items() if splits}
    if not held:
        raise SourceError(
            f"{shown(str(folder), SHOWN_PATH_BYTES)}: expected a folder that `argscichat data build` wrote, found no "
            "Parquet files of a config"
        )
    return held


def read_built_pairs(folder: FilePath, config: str, split: str) -> list[Row]:
    """Read the message pairs of one split of a built dataset.

    Args:
        folder: a built dataset.
        config: a config of message pairs: `fold_*`, `papers_*` or `all`.
        split: name of the split.

    Returns:
        The rows, in the order of the file.

    Raises:
        SourceError: there is no such config or split, its rows are no message pairs, or the file is damaged.
    """
    return _read(folder, config, split, Row.__annotations__, "message pairs")


def read_built_intents(folder: FilePath) -> list[IntentRow]:
    """Read the dialogue acts of a built dataset; role and tag are numbers, as `features.INTENT_FEATURES` codes them.

    Args:
        folder: a built dataset.

    Returns:
        The rows, in the order of the file.

    Raises:
        SourceError: the folder holds no dialogue acts, or the file is damaged.
    """
    return _read(folder, "intents", "train", IntentRow.__annotations__, "dialogue acts")


def _read(folder: FilePath, config: str, split: str, columns: Iterable[str], expected: str) -> list[Any]:
    import pyarrow
    import pyarrow.parquet

    held = built_configs(folder)
    place = shown(str(folder), SHOWN_PATH_BYTES)
    if config not in held:
        raise SourceError(f"{place}: config: expected one of {', '.join(held)}, got {shown(config)}")
    if split not in held[config]:
        raise SourceError(f"{place}: split of {config}: expected one of {', '.join(held[config])}, got {shown(split)}")
    try:
        table = pyarrow.parquet.read_table(split_file(folder, config, split))
    except (OSError, pyarrow.ArrowException) as error:
        raise SourceError(f"{place}: {config}/{split}: expected a Parquet file, got {shown(str(error))}") from None
    if missing := set(columns) - set(table.column_names):
        raise SourceError(f"{place}: config {config}: expected {expected}, got rows without {min(missing)!r}")
    return table.select(list(columns)).to_pylist()


def papers_to_align(rows: Iterable[Row]) -> list[Paper]:
    """The papers that rows are about, as `alignment.alignment_report` takes them; their dialogues are left out.

    Args:
        rows: message pairs.

    Returns:
        One paper for each `paper_id`, with its pairs, in the order of the rows.
    """
    pairs: dict[str, list[MessagePair]] = {}
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row["paper_id"], row)
        pairs.setdefault(row["paper_id"], []).append(
            MessagePair(
                id=row["id"],
                query=row["query"],
                reply=row["reply"],
                annotated_facts=tuple(row["annotated_facts"]),
                history=(),
                history_ids=(),
                history_facts=(),
            )
        )
    return [
        Paper(paper_id, row["title"], tuple(row["paper"]), tuple(pairs[paper_id])) for paper_id, row in first.items()
    ]
