"""The corpora that the app can show: the sample, and a built dataset where there is one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from argscichat.space.sample import sample_pairs
from argscichat_dataset.built import built_configs, read_built_pairs
from argscichat_dataset.configs import CONFIGS_WITHOUT_PAIRS, PAPERS_CONFIGS, stratified_splits
from argscichat_dataset.corpus import Row

_SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Corpora:
    """Folds to choose from.

    Args:
        splits: name of a fold -> names of its splits.
        read: name of a fold, name of a split -> its message pairs.
    """

    splits: Mapping[str, list[str]]
    read: Callable[[str, str], list[Row]]


def sample_corpora() -> Corpora:
    """The sample as a whole, and its paper-stratified folds."""
    folds = {"sample": ["all"]} | {f"sample {name}": list(_SPLITS) for name in PAPERS_CONFIGS}

    @cache
    def read(fold: str, split: str) -> list[Row]:
        if fold == "sample":
            return sample_pairs()
        return stratified_splits(sample_pairs(), list(folds).index(fold) - 1)[split]

    return Corpora(folds, read)


def corpora(folder: str | None) -> Corpora:
    """The sample, and after it a built dataset.

    Args:
        folder: what `argscichat data build` wrote, or None.

    Returns:
        What can be read; a split is read when it is first asked for.

    Raises:
        SourceError: the folder is no built dataset.
    """
    sample = sample_corpora()
    if folder is None:
        return sample
    built = {fold: splits for fold, splits in built_configs(folder).items() if fold not in CONFIGS_WITHOUT_PAIRS}
    read_built = cache(partial(read_built_pairs, folder))
    return Corpora(
        {**sample.splits, **built},
        lambda fold, split: (sample.read if fold in sample.splits else read_built)(fold, split),
    )
