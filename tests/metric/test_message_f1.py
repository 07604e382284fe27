"""Message-F1: SQuAD 2.0 words and whitespace words."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from argscichat_metric.compute import compute_scores
from argscichat_metric.message_f1 import message_f1, message_f1_whitespace, squad_words, word_f1

# predicted, reference, F1 of SQuAD 2.0 words, F1 of whitespace words. All worked by hand from the published steps:
# lower case, ASCII punctuation out, articles out, split at whitespace.
GOLDEN = {
    "identical": ("two small parsers", "two small parsers", 1.0, 1.0),
    "disjoint": ("two small parsers", "one corpus", 0.0, 0.0),
    "case, articles, punctuation": ("The corpus is small.", "a small corpus", 4 / 5, 2 / 7),
    "only the normalised texts agree": ("The Parser!", "parser", 1.0, 0.0),
    "repeats count as often as both have them": ("no no no", "no no yes", 2 / 3, 2 / 3),
    "an article is a whole word only": ("theory of a lathe", "theory of lathe", 1.0, 6 / 7),
    "punctuation goes, the word stays whole": ("state-of-the-art", "stateoftheart", 1.0, 0.0),
    "no article where punctuation joined it": ("of the-art", "of art", 1 / 2, 1 / 2),
    "punctuation other than ASCII stays": ("“small”", "small", 0.0, 0.0),
    "both empty": ("", "", 1.0, 1.0),
    "prediction empty": ("", "a small corpus", 0.0, 0.0),
    "reference empty": ("a small corpus", "", 0.0, 0.0),
    "both whitespace": (" \n\t", "  ", 1.0, 1.0),
    "both empty only once normalised": ("The.", "an!", 1.0, 0.0),
    "one empty only once normalised": ("The.", "corpus", 0.0, 0.0),
    "both the same article": ("the", "the", 1.0, 1.0),
    "any whitespace separates": ("small\u00a0corpus\u2003here", "small corpus here", 1.0, 1.0),
    "sharp s has no other lower case": ("STRASSE", "straße", 0.0, 0.0),
    "accents are kept": ("naive", "naïve", 0.0, 0.0),
    # SQuAD: 4 + 9 words, of which we, use, corpus are shared. Whitespace: 5 + 10 words, of which only use is shared.
    "a reply": ("We use the SciCorp corpus.", "In this paper we use a new corpus of dialogues", 3 * 2 / 13, 1 * 2 / 15),
}


@pytest.mark.parametrize(("predicted", "reference", "squad", "whitespace"), GOLDEN.values(), ids=GOLDEN)
def test_golden_words(predicted, reference, squad, whitespace):
    assert message_f1(predicted, reference) == pytest.approx(squad)
    assert message_f1_whitespace(predicted, reference) == pytest.approx(whitespace)


def _reference_squad_words(text: str) -> list[str]:
    """`normalize_answer` and `get_tokens` of the official SQuAD 2.0 script, step by step and without a regex."""
    kept = "".join(character for character in text.lower() if character not in set(string.punctuation))
    spaced, word = "", ""
    for character in [*kept, " "]:
        if character.isalnum() or character == "_":  # what \b of a regex sees as part of a word
            word += character
            continue
        spaced += (" " if word in ("a", "an", "the") else word) + character
        word = ""
    return spaced.split()


def _reference_squad_f1(predicted: str, reference: str) -> float:
    """`compute_f1` of the official SQuAD 2.0 script.

    The copies of it in transformers (`data.metrics`, gone since version 5) and in the hub's squad_v2 module cannot be
    imported here, so this is the same rule written again: the number of shared words counted by crossing them out.
    """
    words, left = _reference_squad_words(predicted), _reference_squad_words(reference)
    n_predicted, n_reference, n_shared = len(words), len(left), 0
    if n_predicted == 0 or n_reference == 0:
        return float(n_predicted == n_reference)
    for word in words:
        if word in left:
            left.remove(word)
            n_shared += 1
    if n_shared == 0:
        return 0.0
    precision, recall = n_shared / n_predicted, n_shared / n_reference
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(("predicted", "reference", "squad", "_whitespace"), GOLDEN.values(), ids=GOLDEN)
def test_the_reference_of_the_squad_rule_gives_the_golden_values(predicted, reference, squad, _whitespace):
    assert _reference_squad_f1(predicted, reference) == pytest.approx(squad)


# Few words, so that texts share some; and whatever hypothesis finds between them.
WORDS = st.sampled_from(
    ["a", "The", "AN", "corpus", "Corpus.", "the-parser", "_the_", "don't", "“the”", "a\u00a0b", "2"]
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(WORDS | st.text(max_size=3), max_size=8).map(" ".join))


@given(TEXTS, TEXTS)
@example("the\u0301", "\u0301")  # a combining accent ends the article
@example("İ", "i̇")  # one letter that becomes two in lower case
@example("a\u200bb", "ab")
def test_squad_rule_on_any_text(predicted, reference):
    assert squad_words(predicted) == _reference_squad_words(predicted)
    assert message_f1(predicted, reference) == pytest.approx(_reference_squad_f1(predicted, reference))


@given(TEXTS, TEXTS)
def test_both_f1_are_symmetric_and_in_0_to_1(predicted, reference):
    for score in (message_f1, message_f1_whitespace):
        assert 0.0 <= score(predicted, reference) <= 1.0
        assert score(predicted, reference) == score(reference, predicted)
        assert score(predicted, predicted) == 1.0


def test_word_f1_counts_the_units_it_is_given():
    assert word_f1(["a", "a", "b"], ["a", "c"]) == pytest.approx(2 * 1 / 5)
    assert word_f1([], []) == 1.0
    assert word_f1([], ["a"]) == 0.0


def test_the_result_is_the_mean_over_all_queries_also_the_empty_ones():
    predictions, references = ["The corpus is small.", "", "", " "], ["a small corpus", "", "yes", "\n"]
    result = compute_scores(predictions, references, metrics=["message_f1"], per_example=True)
    assert result["per_example"]["message_f1"] == [0.8, 1.0, 0.0, 1.0]
    assert result["message_f1"] == pytest.approx(2.8 / 4)
    assert result["message_f1_whitespace"] == pytest.approx((2 / 7 + 1 + 0 + 1) / 4)
    assert (result["n_queries"], result["n_empty_predictions"], result["n_empty_references"]) == (4, 3, 2)
