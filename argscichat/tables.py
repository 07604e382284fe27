"""Results as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from argscichat.folds import ScoredFolds
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
    table.add_column(_mean_header(scored.result), justify="right")
    table.add_column("Over")
    for block in _BLOCKS:
        present = {key: name for key, name in block.items() if key in scored.result}
        for key, name in present.items():
            is_main = key == next(iter(block))
            table.add_row(Text(name), _cell(scored.result, key), _over(key, scored.result), style=_style(is_main))
        if present:
            table.add_section()
    notes = [Text(f"Note: {note}.") for note in _notes(scored)]
    return Group(table, *notes, Text(f"Signature: {scored.result['signature']}"))


def fold_table(scored: ScoredFolds, title: str) -> RenderableType:
    """The main scores of each fold, of the mean of the folds, and of all queries pooled; notes, and the signature.

    Args:
        scored: what `score_folds` returned.
        title: what was scored.

    Returns:
        Something that `rich` prints, at most 80 characters wide where names are short. No text of the files is taken as
        markup.
    """
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    table.add_column("Score")
    table.add_column("Fold")
    table.add_column(_mean_header(scored.pooled), justify="right")
    table.add_column("Over")
    for block in _BLOCKS:
        key, name = next(iter(block.items()))
        if key in scored.pooled:
            _add_rows_of_folds(table, scored, key, name)
    notes = [f"fold {fold!r}: {note}" for fold, one in scored.folds.items() for note in _notes(one)]
    notes.append("± is the sample standard deviation of the folds (divided by n - 1)")
    signature = Text(f"Signature: {scored.pooled['signature']}")
    return Group(table, *[Text(f"Note: {note}.") for note in notes], signature)


def _add_rows_of_folds(table: Table, scored: ScoredFolds, key: str, name: str) -> None:
    for i, (fold, one) in enumerate(scored.folds.items()):
        table.add_row(Text(name if i == 0 else ""), Text(fold), _cell(one.result, key), _over_of_fold(key, one.result))
    deviation = scored.std_of_folds[key]
    mean = f"{scored.mean_of_folds[key]:.4f}" + ("" if deviation is None else f" ± {deviation:.4f}")
    n_folds = sum(_n_counted(key, one.result) > 0 for one in scored.folds.values())
    table.add_row("", "mean of folds", mean, _count(n_folds, "fold", "folds"), style="bold")
    table.add_row("", "pooled", _cell(scored.pooled, key), _over_of_fold(key, scored.pooled), style="bold")
    table.add_section()


def _over_of_fold(key: str, result: Mapping[str, Any]) -> str:
    n = _n_counted(key, result)
    return f"{n} of {result['n_queries']} queries" if n < result["n_queries"] else f"{n} queries"


def _n_counted(key: str, result: Mapping[str, Any]) -> int:
    return result["n_fact_queries"] if key == "fact_f1" else result["n_queries"]


def _mean_header(result: Mapping[str, Any]) -> Text:
    return Text("Mean [interval]" if any(key.endswith("_ci") for key in result) else "Mean")


def _cell(result: Mapping[str, Any], key: str) -> Text:
    if f"{key}_ci" not in result:
        return Text(f"{result[key]:.4f}")
    ends = result[f"{key}_ci"]
    return Text(f"{result[key]:.3f} [" + ("none" if ends is None else f"{ends[0]:.2f}, {ends[1]:.2f}") + "]")


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
