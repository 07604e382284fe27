"""The scores as files to download, under fixed names in a folder of their own."""

import csv
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

from argscichat.output_files import json_text, write_whole
from argscichat.scoring import ScoredFile

# A spreadsheet takes a cell that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_downloads(scored: ScoredFile, comparison: dict[str, Any] | None) -> Path:
    """Write `scores.json` and `queries.csv`.

    Args:
        scored: the scores of a file.
        comparison: the comparison with a second file as plain data, or None.

    Returns:
        A fresh folder that holds the two files; see `remove_downloads`.
    """
    folder = Path(tempfile.mkdtemp(prefix="argscichat-scores-"))
    content = scored.summary() | ({"comparison": comparison} if comparison else {})
    write_whole(folder / "scores.json", json_text(content))
    write_whole(folder / "queries.csv", queries_csv(scored))
    return folder


def remove_downloads(folder: Path | None) -> None:
    """Remove what `write_downloads` wrote, once the page that shows it is closed."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def queries_csv(scored: ScoredFile) -> str:
    """One line a query: its id, its paper where it is known, and its scores; empty where a query does not count.

    Args:
        scored: scores with `per_example`.

    Returns:
        CSV with a header; an id that a spreadsheet would take for a formula has an apostrophe in front.
    """
    rows = scored.per_example()
    text = io.StringIO()
    writer = csv.DictWriter(text, ["id", "paper_id", *(key for key in rows[0] if key != "id")], lineterminator="\n")
    writer.writeheader()
    for row, reference in zip(rows, scored.rows.references, strict=True):
        ids = {"id": _plain(row["id"]), "paper_id": _plain(reference.paper_id or "")}
        writer.writerow(row | ids)
    return text.getvalue()


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
