"""The four scores of ArgSciChat as a module of Hugging Face `evaluate`: schema, documentation, and nothing else."""

# The loader of `evaluate` copies only the siblings that this file imports at the left margin, without a comment behind
# the import. So every sibling is imported here, also those that only other siblings use.
from pathlib import Path

import datasets
import evaluate

from .bertscore import bertscore
from .bertscore_tables import recommended_layer
from .compute import score_pairs
from .confidence import bootstrap_intervals
from .embedding_cache import EmbeddingCache
from .embedding_scores import embedding_scores
from .encoder import load_encoder
from .encoder_files import locate
from .fact_f1 import fact_f1
from .idf import InverseDocumentFrequency
from .message_f1 import message_f1
from .moverscore import moverscore
from .options import Options
from .report import summarize
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
_SIDE = {
    "id": _TEXT,
    "message": _TEXT,
    "facts": datasets.List(_TEXT),
    "fact_ids": datasets.List(datasets.Value("int64")),
    "paper_id": _TEXT,
}


class ArgSciChatMetric(evaluate.Metric):
    """Fact-F1, Message-F1, BERTScore and MoverScore; see the metric card for what each input gets."""

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name != "default":
            raise ValueError(f"config_name: expected 'default', got {shorten(self.config_name)}")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": _SIDE, "references": _SIDE}),
            reference_urls=["https://arxiv.org/abs/2202.06690", "https://github.com/UKPLab/acl2023-argscichat"],
        )

    def compute(self, *, predictions=None, references=None, **options):
        """Compute the scores of the rows given here, after those that were added before.

        Options are checked first, and rows that were added before outlive a wrong one. Of a call that fails later
        nothing stays behind: the next call on this object scores only its own rows.
        """
        Options.of(options)  # before any row is written
        if self.writer is None and predictions is None and references is None:
            raise ValueError("no rows were given here or added before: there is nothing to score")
        try:
            return super().compute(predictions=predictions, references=references, **options)
        except Exception:
            self._forget_rows()
            raise

    def add_batch(self, *, predictions=None, references=None):
        """Check a batch of rows and add it to the rows to score."""
        checked = {
            "predictions": read_rows(predictions, "predictions"),
            "references": read_rows(references, "references"),
        }
        check_lengths(*map(len, checked.values()))
        # Not through super().add_batch(): it converts the rows, which are checked already, value by value in Python,
        # and takes an absent message for an error.
        if self.writer is None:
            self.selected_feature_format = self.features
            self._init_writer()
        self.writer.write_batch({side: list(map(_to_arrow, rows)) for side, rows in checked.items()})

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Check one pair of rows and add it to the rows to score."""
        # The plural names are what `evaluate.combine(...).add` passes on.
        prediction = predictions if prediction is None else prediction
        reference = references if reference is None else reference
        self.add_batch(predictions=[prediction], references=[reference])

    def _compute(self, *, predictions, references, **options):
        pairs = pair_rows(list(map(_from_arrow, predictions)), list(map(_from_arrow, references)))
        return score_pairs(pairs, Options.of(options))

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


def _to_arrow(row: Row) -> dict:
    is_ids = bool(row.facts) and isinstance(row.facts[0], int)
    facts = None if row.facts is None else list(row.facts)
    return {
        "id": row.id,
        "message": row.message,
        "facts": [] if is_ids else facts,
        "fact_ids": facts if is_ids else [],
        "paper_id": row.paper_id,
    }


def _from_arrow(row: dict) -> Row:
    facts = None if row["facts"] is None else tuple(row["facts"] or row["fact_ids"])
    return Row(message=row["message"], facts=facts, id=row["id"], paper_id=row["paper_id"])
