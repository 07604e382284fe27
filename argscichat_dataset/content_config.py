"""Configs of a builder whose cache follows the content of local files instead of their path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import datasets

from argscichat_dataset.fingerprint import files_digest
from argscichat_dataset.source import SourceError


@dataclass
class ContentConfig(datasets.BuilderConfig):
    """A config of a builder that takes a folder of local files as `data_dir`.

    Attributes:
        data_digest: hash of the local files, set by the builder; None where there is no `data_dir`.
    """

    data_digest: str | None = field(default=None, init=False)

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Any = None) -> str:
        """The name of the cache of this config, which changes with the content of the local files.

        `datasets` would put the path of `data_dir` into it, and go on loading what an edited file held before. As this
        is the first call after all options are set, they are checked here.

        Args:
            config_kwargs: options that the builder was given.
            custom_features: features that the builder was given.

        Returns:
            The name.

        Raises:
            SourceError: a local file cannot be read.
            TypeError: an option has the wrong type.
            ValueError: there is no such config, or an option has a value that it cannot have.
        """
        self.check_options()
        if self.data_files is not None:
            raise ValueError("data_files: expected none, got some; give the folder of the files as data_dir")
        if self.data_dir is not None:
            self.data_digest = files_digest(self.local_paths())
            config_kwargs = {**config_kwargs, "data_dir": self.data_digest}
        return super().create_config_id(config_kwargs, custom_features)

    def check_unchanged(self) -> None:
        """Refuse local files that changed since the builder was made, as they would be cached under the old hash.

        Raises:
            SourceError: a file has changed, or cannot be read.
        """
        if self.data_dir is not None and files_digest(self.local_paths()) != self.data_digest:
            raise SourceError(f"{self.data_dir}: files changed after the builder was made; make a new builder")

    def check_options(self) -> None:
        """Refuse options of this config that do not go together; see `create_config_id` for the errors."""
        raise NotImplementedError

    def local_paths(self) -> Mapping[str, Path]:
        """The files of `data_dir` that this config is made of: name -> path."""
        raise NotImplementedError
