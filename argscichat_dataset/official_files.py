"""The official ArgSciChat files: their names, where they are downloaded from, and what each holds.

Everything is pinned to one commit of github.com/UKPLab/acl2023-argscichat (Ruggeri, Mesgar, Gurevych; ACL 2023).
"""

import os
from collections.abc import Iterable
from pathlib import Path

from argscichat_dataset.source import SHOWN_PATH_BYTES, SourceError, shown

COMMIT = "ad4680ec5ce5f274b3ddec05a237e39b33dc1bd5"
BASE_URL = f"https://raw.githubusercontent.com/UKPLab/acl2023-argscichat/{COMMIT}/argscichat_allennlp"

N_FOLDS = 5
# The split as `datasets` calls it, and as the names of the official files do.
SPLITS = {"train": "train", "validation": "val", "test": "test"}
INTENTS_FILE = "intents.csv"

# sha256 of each file at the commit.
SHA256 = {
    "fold_0_train.json": "2a8dc299534bd8fd9dea40e174027a4f09fd5c82183e4035860d738c03876c51",
    "fold_0_val.json": "558972aa0ef8c48a514ea786edcc405ecccf8c5af1fd4ab1f8b2e6c81be5f494",
    "fold_0_test.json": "93993d3aa60874a088934b61da7758c248ba4d9aeb46a17f1d4855d17b741b45",
    "fold_1_train.json": "48862c2b2867b03a1f31e0159cc7f7b0b860995347136854a3454efc16fe8f41",
    "fold_1_val.json": "e9bfa8d4a7a51b03f15a8b6ae336557f525a64e5a67a4bb222413fc5aa372b75",
    "fold_1_test.json": "9e7056e288b4c29632f56a3074b926e25b2f06a893aaed76d12794e63fe5c8be",
    "fold_2_train.json": "9de73a225f87c5f89a8c7505544abae3018b0dc1cd5f9410680e0611dbafb2c2",
    "fold_2_val.json": "ca9bf3f28ea35d73540d29e5b231a4e02cbec96b12ec634f20d9e10f41a7e1ae",
    "fold_2_test.json": "65ff2236b48829162f84f9bbc46e84c00f79b800b865e4d3694f3cce868a0814",
    "fold_3_train.json": "683d46868c41526ae4c2764d2794fd029bf01746214449ea766a31e1452627a6",
    "fold_3_val.json": "952af801e068edc4f0bd00045db78eccb53a50af1efd89fc453cd85459163dc0",
    "fold_3_test.json": "8ebc7495cdfc1994f5bce0c20b0553f25103378d4b416bc07f5204c61f58db60",
    "fold_4_train.json": "25edf79cbbf46303a5d265e50dcca964ccc1dabab9314d8f2031a3d3416cdb08",
    "fold_4_val.json": "0ed87fb78ce9bc073673fa8ba56c547627427b4e4ca01caddde878be0c68171f",
    "fold_4_test.json": "b0cc4f76fc9021a47536912804c8d23cbdb61ca68211b1480b89daf351b4211b",
    INTENTS_FILE: "9cc10795bc67b2d41539bb891501438f6f04337019d73b7941f57d3c8c72cc15",
}


def fold_files(fold: int) -> dict[str, str]:
    """Names of the three files of one official fold.

    Args:
        fold: number of the fold, from 0 to 4.

    Returns:
        Split ("train", "validation", "test") -> name of its file.

    Example:
        >>> fold_files(0)["validation"]
        'fold_0_val.json'
    """
    return {split: f"fold_{fold}_{suffix}.json" for split, suffix in SPLITS.items()}


def file_url(name: str) -> str:
    """Where one official file is downloaded from.

    Args:
        name: a name out of `SHA256`.

    Returns:
        The URL at the pinned commit.

    Raises:
        KeyError: no official file has this name.
    """
    if name not in SHA256:
        raise KeyError(name)
    # The intents are called otherwise there: the authors' README speaks of `argscichat_intents/dataset.csv`.
    return (
        f"{BASE_URL}/argscichat_intents/dataset.csv"
        if name == INTENTS_FILE
        else f"{BASE_URL}/argscichat_train_dev/{name}"
    )


def local_files(folder: str | os.PathLike[str], names: Iterable[str]) -> dict[str, Path]:
    """Paths of official files in a folder; whether they have the official content is not looked at.

    Args:
        folder: the folder; `~` stands for the home of the user.
        names: names of the files that are needed.

    Returns:
        Name -> path, in the order of `names`.

    Raises:
        SourceError: there is no such folder, or files are missing; the message names the folder and what is missing.
    """
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise SourceError(f"{shown(str(place), SHOWN_PATH_BYTES)}: data_dir: expected a folder, found none")
    paths = {name: place / name for name in names}
    missing = [name for name, path in paths.items() if not path.is_file()]
    if missing:
        expected = f"expected the files {', '.join(paths)}"
        raise SourceError(f"{shown(str(place), SHOWN_PATH_BYTES)}: data_dir: {expected}; missing: {', '.join(missing)}")
    return paths
