"""Texts to score: the messages of ArgSciChat where they are, else of the sample, and as many more as asked for."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "argscichat"
SAMPLE = ROOT / "argscichat_dataset" / "sample"
SHORT_TEXT_WORDS = 5


class Pairs(NamedTuple):
    """Texts to score, aligned."""

    predictions: list[str]
    references: list[str]

    def first(self, n: int) -> "Pairs":
        """The first n pairs."""
        return Pairs(self.predictions[:n], self.references[:n])


class DistinctTexts:
    """Hands texts out so that none comes twice: a text that was there before gets its words shuffled.

    A text that occurs twice is encoded once, by bert-score and by us, which would flatter both.

    Args:
        words: words to make a text longer with, where its own have no order left.
    """

    def __init__(self, words: Sequence[str]):
        self._words = words
        self._seen: set[str] = set()
        self._random = random.Random(0)

    def take(self, text: str) -> str:
        """Return the text, or its words in a new order; the same calls give the same texts."""
        text = text.strip()
        words = text.split()
        while text in self._seen:
            self._random.shuffle(words)
            text = " ".join(words)
            words.append(self._random.choice(self._words))  # only the next round sees it
        self._seen.add(text)
        return text

    def draw(self, n_words: int) -> str:
        """Return a text of words drawn at random."""
        return self.take(" ".join(self._random.choices(self._words, k=n_words)))


class Corpus:
    """Replies of a dialogue corpus: the official files where they are beside the checkout, else the sample.

    Attributes:
        name: what the texts are, for the output.
    """

    def __init__(self) -> None:
        from argscichat_dataset.source import read_fold

        files = sorted(CORPUS.glob("fold_*_*.json"))
        self.name = "ArgSciChat" if files else "the made-up sample corpus"
        papers = [paper for file in files or [SAMPLE / "sample_test.json"] for paper in read_fold(file)]
        replies = {pair.id: pair.reply for paper in papers for pair in paper.pairs if pair.reply.strip()}
        self._replies = list(replies.values())
        # As prediction of a reply, the reply of another pair: real messages on both sides.
        self._predicted = self._replies[1:] + self._replies[:1]
        self._words = sorted({word for reply in self._replies for word in reply.split()})

    def pairs(self, n: int) -> Pairs:
        """The real pairs, and beyond their number pairs of the same words in another order."""
        n_real = len(self._replies)
        texts = DistinctTexts(self._words)
        for reply in self._replies:
            texts.take(reply)
        more = Pairs(
            *([texts.take(side[i % n_real]) for i in range(n_real, n)] for side in (self._predicted, self._replies))
        )
        return Pairs(self._predicted[:n] + more.predictions, self._replies[:n] + more.references)

    def short_pairs(self, n: int) -> Pairs:
        """Pairs of a few words each, for measures of many pairs."""
        texts = DistinctTexts(self._words)
        return Pairs(*([texts.draw(SHORT_TEXT_WORDS) for _ in range(n)] for _side in Pairs._fields))

    def described(self, n: int) -> str:
        """What `pairs(n)` holds."""
        n_real = len(self._replies)
        more = f", and {n - n_real} more with their words shuffled" if n > n_real else ""
        return (
            f"{min(n, n_real)} of the {n_real} pairs of {self.name}{more}; the prediction is the reply of another pair"
        )
