"""The scores of ArgSciChat as a module of Hugging Face `evaluate`: schemas, documentation, and nothing else."""

# The loader of `evaluate` copies only the siblings that this file imports at the left margin, without a comment behind
# the import. So every sibling is imported here, also those that only other siblings use.
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import evaluate

from .batches import split_into_batches
from .bertscore import bertscore
from .bertscore_tables import recommended_layer
from .compute import score_pairs
from .confidence import bootstrap_intervals
from .embedding_cache import EmbeddingCache
from .embedding_pass import EncoderPass
from .embedding_scores import embedding_scores
from .encoder import load_encoder
from .encoder_files import locate
from .fact_f1 import fact_f1
from .idf import InverseDocumentFrequency
from .message_f1 import message_f1
from .model_loading import load_model
from .moverscore import moverscore
from .options import Options
from .pair_scorers import BertScorer, MoverScorer
from .report import summarize
from .retrieval import score_rankings
from .retrieval_options import RetrievalOptions
from .retrieval_rows import Judgments, Ranking, read_judgments, read_rankings
from .rows import Row, check_lengths, pair_rows, read_rows
from .shortened import shorten
from .version import __version__

_DESCRIPTION = """\
The scores of ArgSciChat, a benchmark of argumentative dialogues between scientists about papers: Fact-F1 of the
selected sentences (primary), Message-F1 of the reply in words, BERTScore and MoverScore, in one call.
"""

_INPUTS = """
Args:
    predictions: one row a query: `{"message": str, "facts": [...]}`, or only a message, or only a list of facts.
        Facts are sentences (str) or sentence indices (int), of one kind on both sides, at most two a query.
    references: likewise, aligned with the predictions; a row may also carry `"paper_id": str`. A row of either side
        may carry an `"id"`; where both do, they must agree.
    **options: `metrics`, `encoder`, `preset`, `bertscore_encoder`, `moverscore_encoder`, `bertscore_layer`,
        `rescale_with_baseline`, `idf`, `moverscore_formula`, `moverscore_layers`, `moverscore_ngram`, `stop_words`,
        `max_facts`, `excess_facts`, `no_gold_facts`, `confidence`, `n_resamples`, `seed`, `per_example`, `device`,
        `batch_tokens`, `max_length`, `cache_mb`, `progress`; the metric card explains each.
Returns:
    `fact_f1`, `fact_precision`, `fact_recall`, `message_f1`, `message_f1_whitespace`, `bertscore_precision`,
    `bertscore_recall`, `bertscore_f1`, `moverscore`: means over the queries, fractions of 1.
    `n_queries`, `n_fact_queries`, `n_empty_predictions`, `n_empty_references`, `n_truncated_texts`, `n_excess_facts`:
    counts. `signature`: everything that changes a number. `<score>_ci`: `[low, high]`, with `confidence`.
    `per_example`: the scores of every row, if asked for.
Examples:
    >>> import evaluate
    >>> metric = evaluate.load("argscichat_metric")
    >>> result = metric.compute(
    ...     predictions=[{"message": "It is a small corpus.", "facts": [3, 7]}],
    ...     references=[{"message": "The corpus is small.", "facts": [3]}],
    ...     metrics=["fact_f1", "message_f1"],
    ... )
    >>> round(result["fact_f1"], 4), round(result["message_f1"], 4)
    (0.6667, 0.8571)
"""

_RETRIEVAL_DESCRIPTION = """\
Scores of ranked documents, as BEIR reports them, and for the choice of sentences in ArgSciChat: nDCG@k, MAP, MRR@k,
recall@k, precision@k, R-precision, and Fact-F1 of the top two. trec_eval does the counting.
"""

_RETRIEVAL_INPUTS = """
Args:
    predictions: one ranking a query: `{"ids": [best first ...]}`, or only the list of ids. `"scores"`, one finite
        number an id, decide the order where they are given, the highest first; ids of equal score stay in the given
        order. Ids are str or int, where 7 and "7" are the same id.
    references: what is relevant to each query, aligned with the predictions: `{"ids": [...], "grades": [...]}`, or only
        the list of relevant ids. Without `"grades"` every id has grade 1; grade 0 and below is not relevant. Of a
        ranking only the `"candidates"` of its query are scored, where a row has them. A row of either side may carry
        an `"id"`; where both do, they must agree.
    **options: `k`, one cutoff or a list, and `per_example`.
Returns:
    For every k `ndcg@k`, `mrr@k`, `recall@k`, `precision@k`; `map`, `mrr`, `r_precision`; `fact_f1@2`: means over the
    queries with a relevant document, fractions of 1; an empty ranking scores 0.
    `n_queries`, `n_judged_queries`, `n_empty_rankings`, `n_outside_candidates`: counts. `missing`: the queries with an
    empty ranking. `signature`: everything that changes a number. `per_example`: the scores of every query, if asked
    for.
Examples:
    >>> import evaluate
    >>> metric = evaluate.load("argscichat_metric", "retrieval")
    >>> result = metric.compute(
    ...     predictions=[{"ids": ["d3", "d1", "d2"]}],
    ...     references=[{"ids": ["d1", "d4"], "grades": [2, 1]}],
    ...     k=[1, 10],
    ... )
    >>> round(result["ndcg@10"], 4), result["mrr@10"], result["mrr@1"], result["recall@10"]
    (0.4796, 0.5, 0.0, 0.5)
"""

_CITATION = """\
@inproceedings{ruggeri-etal-2023-argscichat,
    title = "A Dataset of Argumentative Dialogues on Scientific Papers",
    author = "Ruggeri, Federico and Mesgar, Mohsen and Gurevych, Iryna",
    booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
    year = "2023",
    note = "arXiv:2202.06690",
}
"""

_TEXT = datasets.Value("string")
_TEXTS = datasets.List(_TEXT)
_NUMBERS = datasets.List(datasets.Value("int64"))
_SIDE = {"id": _TEXT, "message": _TEXT, "facts": _TEXTS, "fact_ids": _NUMBERS, "paper_id": _TEXT}
_RANKING = {"id": _TEXT, "ids": _TEXTS}
_JUDGMENTS = {"id": _TEXT, "ids": _TEXTS, "grades": _NUMBERS, "candidates": _TEXTS}


@dataclass(frozen=True)
class _Side:
    """How one side of a config is checked, kept in Arrow, and taken from there.

    Args:
        features: the columns of a row in Arrow.
        read: checks what a caller gives; gives one row an entry.
        to_arrow: a checked row as the columns.
        from_arrow: the columns as a checked row.
    """

    features: dict[str, Any]
    read: Callable[[Any], list]
    to_arrow: Callable[[Any], dict[str, Any]]
    from_arrow: Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class _Config:
    """What one config takes and computes.

    Args:
        description: what it scores.
        inputs: arguments, results and an example.
        predictions: how predictions are read.
        references: how references are read.
        options_of: checks the options of a call.
        score: checked rows of both sides and checked options -> the result.
    """

    description: str
    inputs: str
    predictions: _Side
    references: _Side
    options_of: Callable[[dict[str, Any]], Any]
    score: Callable[[list, list, Any], dict[str, Any]]

    def sides(self) -> dict[str, _Side]:
        """The two sides by the names of the arguments."""
        return {"predictions": self.predictions, "references": self.references}


class ArgSciChatMetric(evaluate.Metric):
    """The scores of ArgSciChat (config `"default"`), and of rankings (config `"retrieval"`).

    The metric card says what each input gets.
    """

    def _info(self) -> evaluate.MetricInfo:
        config = self._config()
        return evaluate.MetricInfo(
            description=config.description,
            citation=_CITATION,
            inputs_description=config.inputs,
            features=datasets.Features({name: side.features for name, side in config.sides().items()}),
            reference_urls=["https://arxiv.org/abs/2202.06690", "https://github.com/UKPLab/acl2023-argscichat"],
        )

    def compute(self, *, predictions=None, references=None, **options):
        """Compute the scores of the rows given here, after those that were added before.

        Options are checked first, and rows that were added before outlive a wrong one. Of a call that fails later
        nothing stays behind: the next call on this object scores only its own rows.
        """
        self._config().options_of(options)  # before any row is written
        if self.writer is None and predictions is None and references is None:
            raise ValueError("no rows were given here or added before: there is nothing to score")
        try:
            return super().compute(predictions=predictions, references=references, **options)
        except Exception:
            self._forget_rows()
            raise

    def add_batch(self, *, predictions=None, references=None):
        """Check a batch of rows and add it to the rows to score."""
        sides = self._config().sides()
        given = {"predictions": predictions, "references": references}
        checked = {name: side.read(given[name]) for name, side in sides.items()}
        check_lengths(*map(len, checked.values()))
        # Not through super().add_batch(): it converts the rows, which are checked already, value by value in Python,
        # and takes an absent message for an error.
        if self.writer is None:
            self.selected_feature_format = self.features
            self._init_writer()
        self.writer.write_batch({name: list(map(sides[name].to_arrow, rows)) for name, rows in checked.items()})

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Check one pair of rows and add it to the rows to score."""
        # The plural names are what `evaluate.combine(...).add` passes on.
        prediction = predictions if prediction is None else prediction
        reference = references if reference is None else reference
        self.add_batch(predictions=[prediction], references=[reference])

    def _compute(self, *, predictions, references, **options):
        config = self._config()
        return config.score(
            list(map(config.predictions.from_arrow, predictions)),
            list(map(config.references.from_arrow, references)),
            config.options_of(options),
        )

    def _config(self) -> _Config:
        if self.config_name not in _CONFIGS:
            raise ValueError(
                f"config_name: expected {' or '.join(map(repr, _CONFIGS))}, got {shorten(self.config_name)}"
            )
        return _CONFIGS[self.config_name]

    def _forget_rows(self) -> None:
        """Delete what a failed call wrote, and give its locks back."""
        self.writer = self.data = self.buf_writer = None
        locks = [self.filelock, *(self.filelocks or ())]
        files = [self.cache_file_name, *(self.file_paths or ())]
        self.filelock = self.cache_file_name = self.filelocks = self.file_paths = self.selected_feature_format = None
        for file in filter(None, files):
            Path(file).unlink(missing_ok=True)
        for lock in filter(None, locks):
            lock.release()


def _row_to_arrow(row: Row) -> dict[str, Any]:
    is_ids = bool(row.facts) and isinstance(row.facts[0], int)
    facts = None if row.facts is None else list(row.facts)
    return {
        "id": row.id,
        "message": row.message,
        "facts": [] if is_ids else facts,
        "fact_ids": facts if is_ids else [],
        "paper_id": row.paper_id,
    }


def _row_from_arrow(row: dict[str, Any]) -> Row:
    facts = None if row["facts"] is None else tuple(row["facts"] or row["fact_ids"])
    return Row(message=row["message"], facts=facts, id=row["id"], paper_id=row["paper_id"])


def _ranking_to_arrow(ranking: Ranking) -> dict[str, Any]:
    return {"id": ranking.id, "ids": list(ranking.ids)}


def _ranking_from_arrow(row: dict[str, Any]) -> Ranking:
    return Ranking(tuple(row["ids"]), row["id"])


def _judgments_to_arrow(judgments: Judgments) -> dict[str, Any]:
    return {
        "id": judgments.id,
        "ids": list(judgments.grades),
        "grades": list(judgments.grades.values()),
        "candidates": None if judgments.candidates is None else list(judgments.candidates),
    }


def _judgments_from_arrow(row: dict[str, Any]) -> Judgments:
    candidates = None if row["candidates"] is None else tuple(row["candidates"])
    return Judgments(dict(zip(row["ids"], row["grades"], strict=True)), candidates, row["id"])


def _side_of_rows(argument: str) -> _Side:
    return _Side(_SIDE, lambda values: read_rows(values, argument), _row_to_arrow, _row_from_arrow)


_CONFIGS = {
    "default": _Config(
        description=_DESCRIPTION,
        inputs=_INPUTS,
        predictions=_side_of_rows("predictions"),
        references=_side_of_rows("references"),
        options_of=Options.of,
        score=lambda predictions, references, options: score_pairs(pair_rows(predictions, references), options),
    ),
    "retrieval": _Config(
        description=_RETRIEVAL_DESCRIPTION,
        inputs=_RETRIEVAL_INPUTS,
        predictions=_Side(_RANKING, read_rankings, _ranking_to_arrow, _ranking_from_arrow),
        references=_Side(_JUDGMENTS, read_judgments, _judgments_to_arrow, _judgments_from_arrow),
        options_of=RetrievalOptions.of,
        score=score_rankings,
    ),
}
