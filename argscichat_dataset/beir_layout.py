"""Where a BEIR folder keeps what."""

from pathlib import Path

from argscichat_dataset.beir_lines import FilePath
from argscichat_dataset.source import SHOWN_PATH_BYTES, SourceError, shown

CORPUS_FILE = "corpus.jsonl"
QUERIES_FILE = "queries.jsonl"
QRELS_FOLDER = "qrels"
CANDIDATES_FILE = "candidates.jsonl"
"""Ours, not BEIR's: the documents out of which a query is to be answered, where these are not the whole corpus."""


def existing_folder(folder: FilePath) -> Path:
    """The folder as a path; `~` stands for the home of the user.

    Args:
        folder: a BEIR folder.

    Returns:
        The path.

    Raises:
        SourceError: there is no such folder.
    """
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise SourceError(f"{shown(str(place), SHOWN_PATH_BYTES)}: expected a BEIR folder, found none")
    return place


def qrels_files(folder: Path) -> dict[str, Path]:
    """The files of judgments in a folder.

    Args:
        folder: a BEIR folder.

    Returns:
        Split -> file, in the order of the names of the splits.
    """
    return {file.stem: file for file in sorted((folder / QRELS_FOLDER).glob("*.tsv")) if file.is_file()}


def qrels_file(folder: Path, split: str) -> Path:
    """The file of judgments of one split.

    Args:
        folder: a BEIR folder.
        split: name of the split, such as "test".

    Returns:
        The file.

    Raises:
        SourceError: the folder has no such split; the message says which it has.
    """
    files = qrels_files(folder)
    if split not in files:
        place = shown(str(folder / QRELS_FOLDER), SHOWN_PATH_BYTES)
        expected = f"one of {', '.join(files)}" if files else "files such as test.tsv"
        raise SourceError(f"{place}: split: expected {expected}, got {shown(split)}")
    return files[split]
