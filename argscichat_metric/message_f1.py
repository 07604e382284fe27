"""Message-F1: overlap of the words of a reply with the words of the reference reply.

The counted units are words. Sub-words of a model's tokenizer would give other, usually higher, numbers.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION_TO_NOTHING = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def squad_words(text: str) -> list[str]:
    """Split a text into words as SQuAD 2.0 counts them: lower case, no ASCII punctuation, no articles.

    Args:
        text: any text.

    Returns:
        The words, in order; empty where nothing is left.

    Example:
        >>> squad_words("The parser's  output, again!")
        ['parsers', 'output', 'again']

    References:
        Rajpurkar, Jia and Liang, arXiv 1806.03822; `normalize_answer` of the official evaluation script 2.0.
    """
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION_TO_NOTHING)).split()


def word_f1(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """F1 of two bags of words.

    Args:
        predicted: words of the reply.
        reference: words of the reference reply.

    Returns:
        A value in [0, 1]; 1.0 where both are empty, 0.0 where one is (SQuAD 2.0's rule).
    """
    if not predicted or not reference:
        return float(not predicted and not reference)
    shared = (Counter(predicted) & Counter(reference)).total()
    return 2 * shared / (len(predicted) + len(reference))


def message_f1(predicted: str, reference: str) -> float:
    """SQuAD 2.0 word F1 of one reply, which is what the code of ArgSciChat's authors computes.

    Args:
        predicted: the agent's reply.
        reference: the reference reply.

    Returns:
        A value in [0, 1].

    Example:
        >>> message_f1("The corpus is small.", "a small corpus")
        0.8
    """
    return word_f1(squad_words(predicted), squad_words(reference))


def message_f1_whitespace(predicted: str, reference: str) -> float:
    """Word F1 of one reply on `str.split()` words, nothing normalised (the recipe in the benchmark's card).

    Args:
        predicted: the agent's reply.
        reference: the reference reply.

    Returns:
        A value in [0, 1].

    Example:
        >>> message_f1_whitespace("The corpus is small.", "a small corpus")
        0.2857142857142857
    """
    return word_f1(predicted.split(), reference.split())
