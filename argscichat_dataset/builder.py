"""ArgSciChat as a builder of Hugging Face `datasets`.

    builder = ArgSciChat(config_name="papers_0", data_dir="folder/with/the/official/files")
    builder.download_and_prepare()
    dataset_dict = builder.as_dataset()

Without `data_dir` the official files are downloaded, and refused where their sha256 is not the expected one. The module
is not named after its folder, as `load_dataset` refuses a folder that holds `<folder>.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets

from argscichat_dataset.configs import CONFIG_NAMES, check_config, config_files, config_rows, stratified_fold
from argscichat_dataset.content_config import ContentConfig
from argscichat_dataset.features import INTENT_FEATURES, PAIR_FEATURES, PAPER_FEATURES
from argscichat_dataset.fingerprint import check_sha256, package_digest
from argscichat_dataset.official_files import SHA256, file_url, local_files
from argscichat_dataset.splits import DEFAULT_K, DEFAULT_SEED

VERSION = datasets.Version("1.0.0")
DESCRIPTION = (
    "Argumentative dialogues between scientists about NLP papers: queries of a proponent, replies of a domain expert, "
    "and the sentences of the paper that the expert selected as facts."
)
HOMEPAGE = "https://github.com/UKPLab/acl2023-argscichat"
LICENSE = "Apache-2.0"
CITATION = """\
@inproceedings{ruggeri-etal-2023-dataset,
    title = "A Dataset of Argumentative Dialogues on Scientific Papers",
    author = "Ruggeri, Federico and Mesgar, Mohsen and Gurevych, Iryna",
    booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics
        (Volume 1: Long Papers)",
    year = "2023",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2023.acl-long.425/",
    doi = "10.18653/v1/2023.acl-long.425",
    pages = "7684--7699",
    note = "Preprint: arXiv 2202.06690"
}
"""


@dataclass
class ArgSciChatConfig(ContentConfig):
    """A config of the dataset.

    Attributes:
        k: number of folds of the configs `papers_*`, from 3 to the number of papers.
        seed: seed of these folds.
    """

    k: int = DEFAULT_K
    seed: int = DEFAULT_SEED

    def check_options(self) -> None:
        """See `configs.check_config`."""
        check_config(self.name, self.k, self.seed)

    def local_paths(self) -> dict[str, Path]:
        """See `official_files.local_files`."""
        return local_files(self.data_dir, config_files(self.name))


class ArgSciChat(datasets.GeneratorBasedBuilder):
    """The builder.

    Configs: `fold_0` to `fold_4` (official folds) and `papers_0` to `papers_4` (every paper is tested once) with the
    splits train, validation and test; `all` (message pairs), `papers` and `intents` (dialogue acts of sentences) with
    the split train.

    Args:
        config_name: name of the config.
        data_dir: folder with the official files, of which only those that the config needs must be there; they may have
            been edited. None downloads them.
        k: number of folds of `papers_*`; with another number than 5 there are `papers_0` to `papers_<k - 1>`.
        seed: seed of these folds.
        cache_dir: folder of the cache; the usual one of `datasets` if None.
    """

    VERSION = VERSION
    BUILDER_CONFIG_CLASS = ArgSciChatConfig
    BUILDER_CONFIGS = [ArgSciChatConfig(name=name, version=VERSION) for name in CONFIG_NAMES]

    def __init__(self, cache_dir: str | None = None, **kwargs: Any) -> None:
        # Else the cache would be called after the module, "builder", and outlive a change of the code.
        kwargs = {"dataset_name": "argscichat", "hash": package_digest(), **kwargs}
        name = kwargs.get("config_name")
        if isinstance(name, str) and name not in CONFIG_NAMES and stratified_fold(name) is not None:
            # A fold beyond the listed ones, with a larger k: a name without `config_name` makes a new config.
            kwargs["name"] = kwargs.pop("config_name")
        super().__init__(cache_dir, **kwargs)

    def download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        """Build the dataset, or find it in the cache; see `datasets.DatasetBuilder.download_and_prepare`.

        Args:
            *args: as there.
            **kwargs: as there.

        Raises:
            SourceError: a file cannot be read, does not have the official format, has not the expected sha256, or has
                changed since the builder was made.
            ValueError: as `configs.config_rows`.
        """
        self.config.check_unchanged()
        super().download_and_prepare(*args, **kwargs)

    def _info(self) -> datasets.DatasetInfo:
        features = {"papers": PAPER_FEATURES, "intents": INTENT_FEATURES}.get(self.config.name, PAIR_FEATURES)
        return datasets.DatasetInfo(
            description=DESCRIPTION, citation=CITATION, homepage=HOMEPAGE, license=LICENSE, features=features.copy()
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        # All reading is done here: an error of `_generate_examples` would be hidden behind a DatasetGenerationError.
        splits = config_rows(self.config.name, self._paths(dl_manager), self.config.k, self.config.seed)
        # A tuple, as `datasets` takes a list for files that processes may share out.
        return [datasets.SplitGenerator(name, gen_kwargs={"rows": tuple(rows)}) for name, rows in splits.items()]

    def _generate_examples(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        yield from enumerate(rows)

    def _paths(self, dl_manager: Any) -> dict[str, Any]:
        if self.config.data_dir is not None:
            return self.config.local_paths()
        if dl_manager.is_streaming:
            # It would only hand the URLs on, but the hash of a file is known when all of it is there.
            dl_manager = datasets.DownloadManager(self.dataset_name, download_config=dl_manager.download_config)
        paths = dl_manager.download({name: file_url(name) for name in config_files(self.config.name)})
        for name, path in paths.items():
            check_sha256(path, SHA256[name], source=file_url(name))
        return paths
