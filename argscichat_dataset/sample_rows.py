"""The rows of the made-up sample as Parquet, for `load_dataset` on this folder, which must not need a builder.

After a change of `sample_test.json` write them anew:

    python -m argscichat_dataset.sample_rows
"""

import os
from pathlib import Path

from argscichat_dataset.corpus import read_pairs

SAMPLE = Path(__file__).parent / "sample"
SAMPLE_FILE = SAMPLE / "sample_test.json"
SAMPLE_ROWS = SAMPLE / "test.parquet"


def write_sample_rows(path: str | os.PathLike[str] = SAMPLE_ROWS) -> None:
    """Write the rows of the sample, with the features of every config of message pairs.

    Args:
        path: the Parquet file to write.
    """
    from datasets import Dataset

    from argscichat_dataset.features import PAIR_FEATURES

    Dataset.from_list(list(read_pairs(SAMPLE_FILE)), features=PAIR_FEATURES).to_parquet(os.fspath(path))


if __name__ == "__main__":
    write_sample_rows()
