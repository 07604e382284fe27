"""ArgSciChat as a BEIR folder: sentences are the documents, queries the queries, aligned facts the judgments.

A query is answered out of the sentences of its own paper, not out of the whole corpus: `candidates.jsonl` lists them in
the order of the paper. Ids are made of `A-Z a-z 0-9 _ . -` and are the same whichever config and split is written:

    why-should-i-trust-you-explaining-the-0a1b2c3d.s12    sentence 12, from 0, of a paper
    why-should-i-trust-you-explaining-the-0a1b2c3d.q168   the query whose official id ends in _168

The part before the last dot stands for the paper; `corpus_ids.jsonl` and `query_ids.jsonl` lead back to official ids.
"""

import csv
import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from argscichat_dataset.beir_layout import CANDIDATES_FILE, CORPUS_FILE, QRELS_FOLDER, QUERIES_FILE
from argscichat_dataset.beir_lines import FilePath
from argscichat_dataset.configs import CONFIGS_WITHOUT_PAIRS
from argscichat_dataset.corpus import Row
from argscichat_dataset.export import prepared, without_bars
from argscichat_dataset.official_files import COMMIT
from argscichat_dataset.source import shown
from argscichat_dataset.whole_folder import check_target, written_beside

CORPUS_IDS_FILE = "corpus_ids.jsonl"
QUERY_IDS_FILE = "query_ids.jsonl"
DEFAULT_SPLIT = "test"
"""What tools for BEIR ask for where nothing else is said."""

_EARLIER_EXPORT = (CORPUS_FILE, QUERIES_FILE, CORPUS_IDS_FILE, QUERY_IDS_FILE)
_SLUG_LENGTH = 40
_README = """\
# ArgSciChat in the format of BEIR

{sentences} sentences of {papers} papers are the corpus, {queries} messages of proponents the queries, and the
{judgments} facts that the experts selected for their replies the judgments; {judged} queries have one or more. Written
by argscichat-eval from the files of UKPLab/acl2023-argscichat (Apache-2.0) at commit `{commit}`.

- `corpus.jsonl`, `queries.jsonl`, `qrels/{split}.tsv`: as in every BEIR folder.
- `candidates.jsonl`: the documents out of which a query is to be answered, the sentences of its paper in their order.
- `corpus_ids.jsonl`, `query_ids.jsonl`: the official ids, and the index of a sentence in its paper.
"""


def pairs_of_split(config: str, split: str, data_dir: FilePath | None = None) -> list[Row]:
    """The message pairs of one split.

    Args:
        config: a config of message pairs: `fold_*`, `papers_*` or `all`.
        split: name of the split.
        data_dir: folder with the official files; None downloads them.

    Returns:
        The rows.

    Raises:
        OSError: the download fails.
        SourceError: an official file cannot be read, or does not have the official format or sha256.
        AlignmentError: a fact matches no sentence.
        ValueError: there is no such config or split, or its rows are no message pairs.
    """
    if config in CONFIGS_WITHOUT_PAIRS:
        raise ValueError(f"config: expected one of message pairs, got {config!r}")
    with tempfile.TemporaryDirectory() as cache, without_bars():
        splits = prepared(config, data_dir, cache)
        if split not in splits:
            raise ValueError(f"split of {config}: expected one of {', '.join(splits)}, got {shown(split)}")
        return splits[split].to_list()


def export_beir(rows: Iterable[Row], output: FilePath, *, split: str = DEFAULT_SPLIT, overwrite: bool = False) -> Path:
    """Write message pairs as a BEIR folder, which appears whole or not at all.

    Args:
        rows: the message pairs; the text of a query is the proponent's message by itself.
        output: the folder to write; must not exist or be empty unless `overwrite`.
        split: name of the file of judgments, without its ending.
        overwrite: replace an existing folder, if it is an earlier export.

    Returns:
        The folder.

    Raises:
        OSError: the folder exists, or cannot be written.
        ValueError: there are no rows, two of them have one id, or `split` is no name for a file.
    """
    rows = list(rows)
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", split):
        raise ValueError(f"split: expected a name of the characters A-Z a-z 0-9 _ . -, got {shown(split)}")
    if not rows:
        raise ValueError("rows: expected at least one message pair, got none")
    query_ids = _query_ids(rows)
    papers = {row["paper_id"]: row for row in rows}
    target = Path(output)
    check_target(target, overwrite, _EARLIER_EXPORT)
    with written_beside(target) as folder:
        _write_corpus(folder, papers)
        _write_queries(folder, rows, query_ids)
        n_judgments = _write_qrels(folder, split, rows, query_ids)
        text = _README.format(
            sentences=sum(len(row["paper"]) for row in papers.values()),
            papers=len(papers),
            queries=len(rows),
            judgments=n_judgments,
            judged=sum(bool(row["fact_ids"]) for row in rows),
            commit=COMMIT,
            split=split,
        )
        (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")
    return target


def paper_key(paper_id: str) -> str:
    """The part of a BEIR id that stands for the paper.

    Args:
        paper_id: official id of the paper, which is its title.

    Returns:
        The first words of it, and 8 digits of its hash, by which papers with the same first words differ.

    Example:
        >>> paper_key('"Why?" On Reasons')
        'why-on-reasons-ae0f4953'
    """
    words = re.sub(r"[^a-z0-9]+", "-", paper_id.lower()).strip("-")
    start = words if len(words) <= _SLUG_LENGTH else words[: _SLUG_LENGTH + 1].rpartition("-")[0]
    return f"{start or 'paper'}-{_short_hash(paper_id)}"


def sentence_id(paper_id: str, index: int) -> str:
    """The BEIR id of a sentence.

    Args:
        paper_id: official id of the paper.
        index: index of the sentence in the paper, from 0.

    Returns:
        The id.
    """
    return f"{paper_key(paper_id)}.s{index}"


def query_id(paper_id: str, pair_id: str) -> str:
    """The BEIR id of a query.

    Args:
        paper_id: official id of the paper.
        pair_id: official id of the message pair: that of the paper, `_` and a number.

    Returns:
        The id; where `pair_id` is made otherwise, a hash of it stands in for the number.
    """
    number = pair_id.removeprefix(f"{paper_id}_")
    is_official = number != pair_id and re.fullmatch(r"[0-9]{1,9}", number)
    return f"{paper_key(paper_id)}.{f'q{number}' if is_official else f'x{_short_hash(pair_id)}'}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _query_ids(rows: Sequence[Row]) -> list[str]:
    ids = [query_id(row["paper_id"], row["id"]) for row in rows]
    if len(set(ids)) < len(ids):
        (repeated, *_) = (row["id"] for row, name in zip(rows, ids, strict=True) if ids.count(name) > 1)
        raise ValueError(f"rows: expected each message pair once, got {shown(repeated)} twice")
    return ids


def _sentence_ids(row: Row) -> list[str]:
    return [sentence_id(row["paper_id"], index) for index in range(len(row["paper"]))]


def _write_corpus(folder: Path, papers: Mapping[str, Row]) -> None:
    sentences = [(name, row, index) for row in papers.values() for index, name in enumerate(_sentence_ids(row))]
    _write_lines(
        folder / CORPUS_FILE,
        ({"_id": name, "title": row["title"], "text": row["paper"][index]} for name, row, index in sentences),
    )
    _write_lines(
        folder / CORPUS_IDS_FILE,
        ({"corpus-id": name, "paper_id": row["paper_id"], "sentence": index} for name, row, index in sentences),
    )


def _write_queries(folder: Path, rows: Sequence[Row], query_ids: Sequence[str]) -> None:
    pairs = list(zip(query_ids, rows, strict=True))
    _write_lines(folder / QUERIES_FILE, ({"_id": name, "text": row["query"]} for name, row in pairs))
    _write_lines(folder / QUERY_IDS_FILE, ({"query-id": name, "id": row["id"]} for name, row in pairs))
    _write_lines(
        folder / CANDIDATES_FILE, ({"query-id": name, "corpus-ids": _sentence_ids(row)} for name, row in pairs)
    )


def _write_qrels(folder: Path, split: str, rows: Sequence[Row], query_ids: Sequence[str]) -> int:
    judgments = [
        (name, sentence_id(row["paper_id"], index), 1)
        for name, row in zip(query_ids, rows, strict=True)
        for index in row["fact_ids"]
    ]
    file_path = folder / QRELS_FOLDER / f"{split}.tsv"
    file_path.parent.mkdir()
    with file_path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([("query-id", "corpus-id", "score"), *judgments])
    return len(judgments)


def _write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
