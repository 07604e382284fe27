"""Results as tables for a terminal."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from argscichat.scoring import MAIN_SCORES, ScoredFile

_IDS_SHOWN = 5

# result key -> name in the table; the first of each block is the score that papers report
_BLOCKS = (
    {"fact_f1": MAIN_SCORES["fact_f1"], "fact_precision": "  precision", "fact_recall": "  recall"},
    {"message_f1": MAIN_SCORES["message_f1"], "message_f1_whitespace": "  on whitespace words"},
    {"bertscore_f1": MAIN_SCORES["bertscore_f1"], "bertscore_precision": "  precision", "bertscore_recall": "  recall"},
    {"moverscore": MAIN_SCORES["moverscore"]},
)


def score_table(scored: ScoredFile, title: str) -> RenderableType:
    """The scores of one file, the number of queries behind each, notes on what to look at, and the signature.

    Args:
        scored: what `score_file` returned.
        title: what was scored.

    Returns:
        Something that `rich` prints. No text of the files is taken as markup.
    """
    table = Table(title=Text(title), title_justify="left", title_style="bold", caption_justify="left")
    table.add_column("Score")
    table.add_column("Mean", justify="right")
    table.add_column("Over")
    for block in _BLOCKS:
        present = {key: name for key, name in block.items() if key in scored.result}
        for key, name in present.items():
            is_main = key == next(iter(block))
            table.add_row(Text(name), f"{scored.result[key]:.4f}", _over(key, scored.result), style=_style(is_main))
        if present:
            table.add_section()
    notes = [Text(f"Note: {note}.") for note in _notes(scored)]
    return Group(table, *notes, Text(f"Signature: {scored.result['signature']}"))


def _style(is_main: bool) -> str:
    return "bold" if is_main else ""


def _over(key: str, result: dict[str, Any]) -> str:
    if key != "fact_f1":
        return f"{result['n_queries']} queries" if key in ("message_f1", "bertscore_f1", "moverscore") else ""
    left_out = result["n_queries"] - result["n_fact_queries"]
    return f"{result['n_fact_queries']} queries" + (f" ({left_out} without gold facts)" if left_out else "")


def _notes(scored: ScoredFile) -> list[str]:
    """What a reader should know before trusting the means; most are about rows that could vanish unseen."""
    result, rows = scored.result, scored.rows
    notes = []
    if rows.missing:
        queries = _count(len(rows.missing), "query has", "queries have")
        notes.append(f"{queries} no prediction, scored as an empty one: {_first(rows.missing)}")
    if rows.unknown:
        predictions = _count(len(rows.unknown), "prediction has", "predictions have")
        notes.append(f"{predictions} an id that is in no reference, left out: {_first(rows.unknown)}")
    # A query without a prediction was scored as an empty text, and has been named above.
    n_empty = result["n_empty_predictions"] - (len(rows.missing) if _has_messages(scored) else 0)
    counted = (
        (n_empty, "predicted message is empty", "predicted messages are empty"),
        (result["n_empty_references"], "reference message is empty", "reference messages are empty"),
        (result["n_truncated_texts"], "text was cut to the encoder's limit", "texts were cut to the encoder's limit"),
        (result["n_excess_facts"], "predicted fact was beyond the limit", "predicted facts were beyond the limit"),
        (
            rows.n_foreign_facts or 0,
            "predicted fact is no sentence of its paper",
            "predicted facts are no sentence of their paper",
        ),
    )
    return notes + [_count(n, singular, plural) for n, singular, plural in counted if n]


def _count(n: int, singular: str, plural: str) -> str:
    return f"{n} {singular if n == 1 else plural}"


def _has_messages(scored: ScoredFile) -> bool:
    return scored.rows.predictions[0].message is not None


def _first(ids: list[str]) -> str:
    more = len(ids) - _IDS_SHOWN
    return ", ".join(repr(query_id) for query_id in ids[:_IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")
