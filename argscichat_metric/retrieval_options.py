"""The options of the config `"retrieval"`: their defaults, and the check of what a caller gives."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

from .options import CallOptions, check_type, check_whole_number
from .retrieval_rows import MAX_RANKED
from .shortened import shorten

CUTOFFS = (1, 2, 3, 5, 10, 100)
"""The cutoffs of BEIR (Thakur et al., arXiv 2104.08663) up to 100, and the two sentences of an answer in ArgSciChat."""


@dataclass(frozen=True)
class RetrievalOptions(CallOptions):
    """Options of one computation of retrieval scores, checked.

    Args:
        k: cutoff, or cutoffs, of nDCG, MRR, recall and precision; whole numbers of at least 1. Kept as a tuple,
            ascending and without repeats.
        per_example: whether to return the scores of every query too.

    Raises:
        TypeError: a value of the wrong type.
        ValueError: no cutoff, or one that is out of range.
    """

    k: int | Iterable[int] = CUTOFFS
    per_example: bool = False

    def __post_init__(self) -> None:
        """Check every option and bring the cutoffs to one form."""
        object.__setattr__(self, "k", _checked_cutoffs(self.k))
        check_type("per_example", self.per_example, bool, "True or False")


def _checked_cutoffs(k: object) -> tuple[int, ...]:
    if isinstance(k, str | bytes) or not isinstance(k, Integral | Iterable):
        raise TypeError(f"k: expected a whole number or a list of them, got {type(k).__name__} {shorten(k)}")
    cutoffs = sorted({_checked_cutoff(value) for value in ([k] if isinstance(k, Integral) else k)})
    if not cutoffs:
        raise ValueError("k: expected at least one cutoff, got none")
    return tuple(cutoffs)


def _checked_cutoff(value: object) -> int:
    # Numbers of numpy are whole numbers too, and True is none.
    cutoff = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value
    check_whole_number("k", cutoff, smallest=1)
    if cutoff > MAX_RANKED:
        raise ValueError(f"k: expected at most {MAX_RANKED}, the longest ranking, got {shorten(cutoff)}")
    return cutoff
