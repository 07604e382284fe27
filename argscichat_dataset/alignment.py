"""Gold facts: from the span that an annotator selected to the index of a sentence of the paper.

The rule is that of the authors (`argscichat_allennlp/scripts/fact_selection_baselines.py` in
github.com/UKPLab/acl2023-argscichat at commit ad4680ec5ce5f274b3ddec05a237e39b33dc1bd5): texts are lower-cased and lose
their ASCII punctuation and all white space; a span belongs to the first sentence that contains it; a span that is in no
sentence but in the title is dropped. Added to it: an equal sentence beats one that only contains the span, so that a
sentence which an earlier, longer one repeats is still found. On the official files both rules give the same sentences.
"""

import os
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from argscichat_dataset.source import SHOWN_PATH_BYTES, MessagePair, Paper, shown

MatchKind = Literal["exact", "normalised", "partial", "title", "unmatched"]

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


class AlignmentError(ValueError):
    """An annotated span that is neither in a sentence of the paper nor in its title, or an argument of a wrong type."""


@dataclass(frozen=True)
class SpanAlignment:
    """What one annotated span was aligned with.

    Attributes:
        span: the span as published.
        kind: "exact" (equal to a sentence), "normalised" (equal to one after normalising), "partial" (part of one after
            normalising), "title" (in no sentence, but the title or a part of it) or "unmatched".
        sentence: index of the sentence, from 0; None for "title" and "unmatched".
        n_matches: number of sentences that contain the normalised span, at whatever level; 0 where `sentence` is None.
    """

    span: str
    kind: MatchKind
    sentence: int | None
    n_matches: int

    @property
    def is_ambiguous(self) -> bool:
        """Whether more than one sentence contains the span, so that the rule had to choose."""
        return self.n_matches > 1


class PaperAligner:
    """Aligns spans with the sentences of one paper, which are normalised only once."""

    def __init__(self, sentences: Sequence[str], title: str) -> None:
        """Normalise the sentences and the title.

        Args:
            sentences: sentences of the paper.
            title: title of the paper.

        Raises:
            AlignmentError: `sentences` is a single string or holds something else than strings, or `title` is not a
                string.
        """
        self.sentences = _checked_texts(sentences, "sentences")
        self._keys = [_normalised(sentence) for sentence in self.sentences]
        self._title_key = _normalised(_checked_text(title, "title"))

    def align(self, span: str) -> SpanAlignment:
        """Align one span.

        Args:
            span: the span as published.

        Returns:
            The first sentence of the best level: exact, else normalised, else partial.

        Raises:
            AlignmentError: `span` is not a string.
        """
        key = _normalised(_checked_text(span, "span"))
        matches = self._matches(span, key)
        # Each level is part of the next one: an equal sentence is equal after normalising, and then contains the span.
        levels: tuple[tuple[MatchKind, list[int]], ...] = (
            ("exact", [index for index in matches if self.sentences[index] == span]),
            ("normalised", [index for index in matches if self._keys[index] == key]),
            ("partial", matches),
        )
        for kind, indices in levels:
            if indices:
                return SpanAlignment(span, kind, indices[0], len(matches))
        return SpanAlignment(span, "title" if key and key in self._title_key else "unmatched", None, 0)

    def align_facts(self, spans: Sequence[str]) -> list[int]:
        """Align the spans of one message pair; see the function `align_facts`."""
        alignments = [self.align(span) for span in _checked_texts(spans, "spans")]
        for alignment in alignments:
            if alignment.kind == "unmatched":
                raise AlignmentError(
                    f"span {shown(alignment.span)}: expected a part of one of the {len(self.sentences)} sentences of "
                    "the paper or of its title, found in none"
                )
        return _distinct_sentences(alignments)

    def _matches(self, span: str, key: str) -> list[int]:
        # Nothing is left of a span of punctuation, and the empty text is part of every sentence: it must be equal.
        if not key:
            return [index for index, sentence in enumerate(self.sentences) if span and sentence == span]
        return [index for index, sentence_key in enumerate(self._keys) if key in sentence_key]


def align_span(span: str, sentences: Sequence[str], title: str) -> SpanAlignment:
    """Align one annotated span with the sentences of its paper.

    For many spans of one paper use `PaperAligner`, which normalises the sentences only once.

    Args:
        span: the span as published.
        sentences: sentences of the paper.
        title: title of the paper.

    Returns:
        The first sentence of the best level: exact, else normalised, else partial.

    Raises:
        AlignmentError: an argument has a wrong type.

    Example:
        >>> align_span("we LIKE tea", ["They say we like tea a lot.", "We like tea!"], "On Tea")
        SpanAlignment(span='we LIKE tea', kind='normalised', sentence=1, n_matches=2)
    """
    return PaperAligner(sentences, title).align(span)


def align_facts(spans: Sequence[str], sentences: Sequence[str], title: str) -> list[int]:
    """Gold sentences of one message pair.

    Args:
        spans: annotated spans of the pair, as published.
        sentences: sentences of the paper.
        title: title of the paper.

    Returns:
        Indices of sentences, from 0 to `len(sentences) - 1`, each once, in the order in which the spans first name
        them. Spans that are only the title are left out (`alignment_report` counts them).

    Raises:
        AlignmentError: a span is in no sentence and not in the title (the message names the span and stays under 1 kB),
            or an argument has a wrong type.

    Example:
        >>> align_facts(["tea is hot", "On Tea", "We like tea."], ["We like tea.", "Green tea is hot."], "On Tea")
        [1, 0]
    """
    return PaperAligner(sentences, title).align_facts(spans)


def gold_facts(
    paper: Paper,
    pair: MessagePair,
    aligner: PaperAligner | None = None,
    file: str | os.PathLike[str] | None = None,
) -> list[int]:
    """Gold sentences of one message pair of a paper; an error says where it is.

    Args:
        paper: the paper.
        pair: one of its message pairs.
        aligner: aligner of the sentences of this paper, when many pairs are aligned; made here if None.
        file: file that the paper comes from, for the message of an error.

    Returns:
        Indices of sentences as `align_facts` gives them; empty where the pair has no gold facts.

    Raises:
        AlignmentError: a span is in no sentence and not in the title (the message names file, paper, pair and span and
            stays under 1 kB), or the aligner was made for other sentences.
    """
    aligner = aligner or PaperAligner(paper.sentences, paper.title)
    place = f"paper {shown(paper.paper_id)}, pair {shown(pair.id)}"
    if file is not None:
        place = f"{shown(os.fspath(file), SHOWN_PATH_BYTES)}: {place}"
    if aligner.sentences != paper.sentences:
        raise AlignmentError(f"{place}: aligner: expected one made for this paper, got one for other sentences")
    try:
        return aligner.align_facts(pair.annotated_facts)
    except AlignmentError as error:
        raise AlignmentError(f"{place}: {error}") from error


def alignment_report(papers: Iterable[Paper]) -> dict[str, int | dict[int, int]]:
    """Count how the annotated spans of papers align; nothing is raised for a span that does not.

    Args:
        papers: papers, each counted once as given; the train, validation and test file of one fold together hold every
            paper of the corpus once.

    Returns:
        Counts of spans: `spans` (all) and, adding up to it, `exact`, `normalised`, `partial`, `title` and `unmatched`;
        `ambiguous`, the spans that more than one sentence contains; `duplicate_sentences`, the sentences that equal an
        earlier one of their paper; and `gold_sentences_per_pair`, a histogram of the message pairs by their number of
        distinct gold sentences, in ascending order.
    """
    alignments: list[SpanAlignment] = []
    pairs_by_gold: Counter[int] = Counter()
    n_duplicates = 0
    for paper in papers:
        aligner = PaperAligner(paper.sentences, paper.title)
        n_duplicates += len(paper.sentences) - len(set(paper.sentences))
        for pair in paper.pairs:
            of_pair = [aligner.align(span) for span in pair.annotated_facts]
            pairs_by_gold[len(_distinct_sentences(of_pair))] += 1
            alignments += of_pair
    kinds = Counter(alignment.kind for alignment in alignments)
    return {
        "spans": len(alignments),
        **{kind: kinds[kind] for kind in ("exact", "normalised", "partial", "title", "unmatched")},
        "ambiguous": sum(alignment.is_ambiguous for alignment in alignments),
        "duplicate_sentences": n_duplicates,
        "gold_sentences_per_pair": dict(sorted(pairs_by_gold.items())),
    }


def _normalised(text: str) -> str:
    return "".join(text.lower().translate(_WITHOUT_PUNCTUATION).split())


def _distinct_sentences(alignments: Iterable[SpanAlignment]) -> list[int]:
    # A dict keeps the order of first mention, a set does not.
    return list(dict.fromkeys(found.sentence for found in alignments if found.sentence is not None))


def _checked_text(value: str, name: str) -> str:
    if not isinstance(value, str):
        raise AlignmentError(f"{name}: expected a string, got {type(value).__name__}")
    return value


def _checked_texts(values: Sequence[str], name: str) -> tuple[str, ...]:
    # A string is a sequence of strings too, and would be aligned letter by letter.
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise AlignmentError(f"{name}: expected a list of strings, got {type(values).__name__}")
    return tuple(_checked_text(value, f"{name}[{index}]") for index, value in enumerate(values))
