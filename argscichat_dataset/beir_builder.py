"""Any BEIR folder as a builder of Hugging Face `datasets`, with the three configs of the cards of `BeIR` on the Hub.

    builder = Beir(config_name="qrels", data_dir="folder/with/corpus.jsonl")
    builder.download_and_prepare()
    judgments = builder.as_dataset(split="test")

With `dataset="scifact"` instead of `data_dir` the dataset is downloaded, see `beir_download.downloaded_folder`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets

from argscichat_dataset import beir_records
from argscichat_dataset.beir_download import check_name, downloaded_folder
from argscichat_dataset.beir_layout import CORPUS_FILE, QRELS_FOLDER, QUERIES_FILE, existing_folder, qrels_files
from argscichat_dataset.beir_lines import Findings, distinct
from argscichat_dataset.content_config import ContentConfig
from argscichat_dataset.features import BEIR_FEATURES
from argscichat_dataset.fingerprint import package_digest
from argscichat_dataset.source import SHOWN_PATH_BYTES, SourceError, shown

VERSION = datasets.Version("1.0.0")
CITATION = """\
@inproceedings{thakur2021beir,
    title = "{BEIR}: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models",
    author = "Thakur, Nandan and Reimers, Nils and R{\\"u}ckl{\\'e}, Andreas and Srivastava, Abhishek and
        Gurevych, Iryna",
    booktitle = "Thirty-fifth Conference on Neural Information Processing Systems Datasets and Benchmarks Track",
    year = "2021",
    url = "https://openreview.net/forum?id=wCu6T5xFjeJ"
}
"""


@dataclass
class BeirConfig(ContentConfig):
    """A config of a BEIR folder.

    Attributes:
        dataset: name of the dataset to download, one of `beir_download.DATASETS`, where there is no `data_dir`.
    """

    dataset: str | None = None

    def check_options(self) -> None:
        """Refuse another config than the three, and what names no data or two of them."""
        if self.name not in BEIR_FEATURES:
            raise ValueError(f"config: expected one of {', '.join(BEIR_FEATURES)}, got {shown(self.name)}")
        if (self.data_dir is None) == (self.dataset is None):
            raise ValueError("data_dir, dataset: expected one of the two, a folder or the name of a dataset")
        if self.dataset is not None:
            check_name(self.dataset)

    def local_paths(self) -> dict[str, Path]:
        """The files that the config is made of, of `data_dir`; see `split_paths`."""
        return split_paths(existing_folder(self.data_dir), self.name)


class Beir(datasets.GeneratorBasedBuilder):
    """The builder.

    Configs: `corpus` (`_id`, `title`, `text`) with the split corpus, `queries` (`_id`, `text`) with the split queries,
    and `qrels` (`query-id`, `corpus-id`, `score`) with one split for each file, called as the file: train, dev, test.
    Rows are checked as by `beir.read_beir` with `strict`, except that a config knows nothing of the files of the
    others: `beir_check.check_beir` finds judgments of what is not there.

    Args:
        config_name: name of the config.
        data_dir: a BEIR folder.
        dataset: name of a dataset to download instead.
        cache_dir: folder of the cache, also of the download; the usual one of `datasets` if None.
    """

    VERSION = VERSION
    BUILDER_CONFIG_CLASS = BeirConfig
    BUILDER_CONFIGS = [BeirConfig(name=name, version=VERSION) for name in BEIR_FEATURES]

    def __init__(self, cache_dir: str | None = None, **kwargs: Any) -> None:
        super().__init__(cache_dir, **{"dataset_name": "beir", "hash": package_digest(), **kwargs})

    def download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        """Build the dataset, or find it in the cache; see `datasets.DatasetBuilder.download_and_prepare`.

        Args:
            *args: as there.
            **kwargs: as there.

        Raises:
            OSError: the download fails.
            SourceError: a file cannot be read, a line is malformed, or the files have changed since the builder was
                made.
        """
        self.config.check_unchanged()
        try:
            super().download_and_prepare(*args, **kwargs)
        except datasets.exceptions.DatasetGenerationError as error:
            # The rows are read while they are written, as a corpus may be large; this hides what was wrong with them.
            if isinstance(error.__cause__, SourceError):
                raise error.__cause__ from None
            raise

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=f"{self.config.name} of a BEIR dataset.",
            citation=CITATION,
            homepage="https://github.com/beir-cellar/beir",
            features=BEIR_FEATURES[self.config.name].copy(),
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        if self.config.dataset is None:
            paths = self.config.local_paths()
        else:
            cache = Path(self._cache_dir_root) / "beir_folders"
            paths = split_paths(downloaded_folder(self.config.dataset, cache), self.config.name)
        return [datasets.SplitGenerator(split, gen_kwargs={"path": path}) for split, path in paths.items()]

    def _generate_examples(self, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        rows = {"corpus": _corpus_rows, "queries": _query_rows, "qrels": _judgment_rows}[self.config.name]
        yield from enumerate(rows(path, Findings(strict=True)))


def split_paths(folder: Path, config: str) -> dict[str, Path]:
    """The files of a config.

    Args:
        folder: a BEIR folder.
        config: `corpus`, `queries` or `qrels`.

    Returns:
        Split -> its file.

    Raises:
        SourceError: a file is missing.
    """
    files = {"corpus": folder / CORPUS_FILE, "queries": folder / QUERIES_FILE}
    paths = qrels_files(folder) if config == "qrels" else {config: files[config]}
    if not paths or not all(path.is_file() for path in paths.values()):
        expected = f"{QRELS_FOLDER}/test.tsv or the like" if config == "qrels" else files[config].name
        raise SourceError(f"{shown(str(folder), SHOWN_PATH_BYTES)}: expected a folder with {expected}, found none")
    return paths


def _corpus_rows(path: Path, findings: Findings) -> Iterator[dict[str, Any]]:
    for _, (corpus_id, document) in distinct(beir_records.documents(path, findings), path, findings, {}):
        yield {"_id": corpus_id, "title": document.title, "text": document.text}


def _query_rows(path: Path, findings: Findings) -> Iterator[dict[str, Any]]:
    for _, (query_id, text) in distinct(beir_records.queries(path, findings), path, findings, {}):
        yield {"_id": query_id, "text": text}


def _judgment_rows(path: Path, findings: Findings) -> Iterator[dict[str, Any]]:
    for query_id, of_query in beir_records.collect_qrels(path, findings).items():
        for corpus_id, score in of_query.items():
            yield {"query-id": query_id, "corpus-id": corpus_id, "score": score}
