"""Alignment of annotated spans with the sentences of their paper."""

import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_dataset.alignment import (
    AlignmentError,
    PaperAligner,
    SpanAlignment,
    align_facts,
    align_span,
    alignment_report,
    gold_facts,
)
from argscichat_dataset.source import MessagePair, Paper, read_fold

SAMPLE = Path(__file__).parents[2] / "argscichat_dataset" / "sample" / "sample_test.json"

TITLE = "On Tea: A Study"
SENTENCES = (
    "We like tea.",  # 0
    "They say that we like tea, and that tea is hot.",  # 1
    "Tea is\n hot (Smith et al.",  # 2
    "2020) .",  # 3
    "We like tea.",  # 4: the same as 0
    "Green Tea (2020) is best.",  # 5
    "!!!",  # 6: nothing is left of it
    "tea is hot",  # 7
    "We LIKE coffee!",  # 8
    "we like coffee",  # 9: equal to 8 after normalising
    "Caf\u00e9 \u2013 \u0130stanbul",  # 10
    "Tea, tea and no milk at all.",  # 11
)

# Golden table. Every row is worked out by hand from the rule in the docstring of `alignment.py` (lower case; the 32
# signs of `string.punctuation` and all white space removed; exact over normalised over partial; the first one wins;
# n_matches = sentences that contain the normalised span). The sentences above are made up; the kinds of row that name
# the corpus were met in the published files.
GOLDEN = {
    # exact
    "exact, duplicate sentence, also inside another one": ("We like tea.", "exact", 0, 3),
    "exact, though earlier sentences contain it": ("tea is hot", "exact", 7, 3),
    "exact, though an earlier sentence is equal after normalising": ("we like coffee", "exact", 9, 2),
    "exact piece of a citation, digits inside another sentence (corpus)": ("2020) .", "exact", 3, 2),
    "exact, only punctuation": ("!!!", "exact", 6, 1),
    # normalised
    "full stop missing (corpus)": ("We like tea", "normalised", 0, 3),
    "year in brackets, equal to a piece of a citation, part of another sentence": ("(2020)", "normalised", 3, 2),
    "other case": ("WE LIKE COFFEE", "normalised", 8, 2),
    "space at the end (corpus)": ("Green Tea (2020) is best. ", "normalised", 5, 1),
    "white space of another kind (corpus)": ("Tea\u00a0is hot\t(Smith et al.", "normalised", 2, 1),
    "space and punctuation inside a word": ("gre-en t ea 20,20 is best", "normalised", 5, 1),
    "dotted capital I of Turkish, dash that is not ASCII": ("caf\u00e9 \u2013 \u0130STANBUL", "normalised", 10, 1),
    # partial
    "start of a sentence (corpus)": ("They say that we like tea", "partial", 1, 1),
    "end of a sentence, other case": ("NO MILK at all", "partial", 11, 1),
    "part of two sentences, the first wins (corpus)": ("LIKE coffee", "partial", 8, 2),
    "part of three sentences at two levels": ("like tea", "partial", 0, 3),
    "words that run over a punctuation mark": ("tea and that", "partial", 1, 1),
    # title
    "only the title (corpus)": ("On Tea: A Study", "title", None, 0),
    "only the title, without its colon": ("on tea a study", "title", None, 0),
    "part of the title": ("A Study", "title", None, 0),
    # unmatched
    "two sentences in one span (only in history_facts, in the corpus)": ("We like tea. They say", "unmatched", None, 0),
    "longer than the title": ("On Tea: A Study of Mugs", "unmatched", None, 0),
    "a word is missing": ("They say we like tea", "unmatched", None, 0),
    "a dash that is not ASCII stays": ("caf\u00e9 \u0130stanbul", "unmatched", None, 0),
    "an accent in two characters is not folded": ("Cafe\u0301", "unmatched", None, 0),
    "empty": ("", "unmatched", None, 0),
    "white space": (" \n", "unmatched", None, 0),
    "punctuation that is not a sentence": ("...", "unmatched", None, 0),
}


@pytest.mark.parametrize("case", GOLDEN)
def test_golden_alignment(case: str) -> None:
    """One span, worked out by hand."""
    span, kind, sentence, n_matches = GOLDEN[case]
    found = align_span(span, SENTENCES, TITLE)
    assert found == SpanAlignment(span, kind, sentence, n_matches)
    assert found.is_ambiguous == (n_matches > 1)


def test_span_that_is_sentence_and_title_is_the_sentence() -> None:
    """Where a sentence repeats words of the title, the span is a gold fact and not dropped."""
    assert align_span("on tea a study", ["One.", "On Tea: A Study."], TITLE).kind == "normalised"
    assert align_span("A Study", ["One.", "This is a study."], TITLE) == SpanAlignment("A Study", "partial", 1, 1)


def test_empty_span_is_never_a_fact() -> None:
    """The empty text is part of every sentence and of every title, and equal to an empty sentence."""
    assert align_span("", ["", "One."], "").kind == "unmatched"
    assert align_span("?", ["One."], "?!").kind == "unmatched"


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], []),
        (["Green Tea (2020) is best.", "They say that we like tea"], [5, 1]),  # order of the annotation
        (["tea is hot", "We like tea", "tea is hot", "like tea"], [7, 0]),  # each once, two spans of one sentence
        (["On Tea: A Study"], []),
        (["A Study", "2020) .", "On Tea: A Study"], [3]),
    ],
)
def test_align_facts(spans: list[str], expected: list[int]) -> None:
    """Indices in the order of first mention; titles are left out."""
    assert align_facts(spans, SENTENCES, TITLE) == expected
    assert PaperAligner(SENTENCES, TITLE).align_facts(tuple(spans)) == expected


def test_duplicate_sentences_are_one_fact() -> None:
    """The second copy of a sentence is never chosen."""
    assert align_facts(["We like tea.", "We like tea."], SENTENCES, TITLE) == [0]


@pytest.mark.parametrize("span", ["not there", "", "...", "x\ud800", "\U0001f600" * 5000])
def test_unmatched_span_is_named(span: str) -> None:
    """Also when another span of the pair matches; long ones are shortened."""
    with pytest.raises(AlignmentError) as caught:
        align_facts(["We like tea.", span], SENTENCES, TITLE)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert repr(span)[:10] in message and "12 sentences" in message
    assert len(message.encode("utf-8")) < 1000


@pytest.mark.parametrize(
    ("spans", "sentences", "title", "name"),
    [
        ("We like tea.", SENTENCES, TITLE, "spans"),
        (None, SENTENCES, TITLE, "spans"),
        ([None], SENTENCES, TITLE, r"spans\[0\]"),
        (["a"], "We like tea.", TITLE, "sentences"),
        (["a"], ["We like tea.", 3], TITLE, r"sentences\[1\]"),
        (["a"], SENTENCES, None, "title"),
    ],
)
def test_wrong_types_are_refused(spans: object, sentences: object, title: object, name: str) -> None:
    """A single string would be aligned letter by letter."""
    with pytest.raises(AlignmentError, match=f"{name}: expected .*, got "):
        align_facts(spans, sentences, title)  # type: ignore[arg-type]


def test_arguments_are_not_changed() -> None:
    """Lists of the caller stay as they are, and changing them later does not change the aligner."""
    spans, sentences = ["We like tea", "tea is hot"], list(SENTENCES)
    aligner = PaperAligner(sentences, TITLE)
    expected = aligner.align_facts(spans)
    assert (spans, sentences) == (["We like tea", "tea is hot"], list(SENTENCES))
    sentences.clear()
    assert aligner.align_facts(spans) == expected


# Facts of a message pair


def pair_with(*spans: str) -> MessagePair:
    """A message pair with these annotated facts."""
    return MessagePair("On Tea_0", "Why?", "Because.", spans, (), (), ())


def paper_with(*pairs: MessagePair) -> Paper:
    """The paper of the golden table with these pairs."""
    return Paper("On Tea", TITLE, SENTENCES, pairs)


def test_gold_facts_with_and_without_an_aligner() -> None:
    """The aligner saves time and changes nothing."""
    paper = paper_with(pair_with("tea is hot", TITLE))
    assert gold_facts(paper, paper.pairs[0]) == [7]
    assert gold_facts(paper, paper.pairs[0], PaperAligner(paper.sentences, paper.title)) == [7]


def test_gold_facts_error_names_file_paper_pair_and_span() -> None:
    """What a loader needs to say where the fault is."""
    paper = paper_with(pair_with("not there"))
    with pytest.raises(
        AlignmentError, match="^'fold.json': paper 'On Tea', pair 'On Tea_0': span 'not there': expected"
    ):
        gold_facts(paper, paper.pairs[0], file=Path("fold.json"))
    with pytest.raises(AlignmentError, match="^paper 'On Tea', pair"):
        gold_facts(paper, paper.pairs[0])


def test_gold_facts_error_is_short() -> None:
    """All that is quoted is shortened."""
    paper = Paper("t" * 5000, TITLE, SENTENCES, (MessagePair("i" * 5000, "", "", ("s" * 5000,), (), (), ()),))
    with pytest.raises(AlignmentError) as caught:
        gold_facts(paper, paper.pairs[0], file="f" * 5000)
    assert len(str(caught.value).encode("utf-8")) < 1000


def test_gold_facts_refuses_the_aligner_of_another_paper() -> None:
    """Its indices would be those of other sentences, and nobody would see it."""
    paper = paper_with(pair_with("tea is hot"))
    with pytest.raises(AlignmentError, match="aligner: expected one made for this paper"):
        gold_facts(paper, paper.pairs[0], PaperAligner(SENTENCES[::-1], TITLE))


# Properties

WORDS = st.text(st.sampled_from("aB \u00c9.,-\t"), max_size=8)


@given(sentences=st.lists(WORDS, min_size=1, max_size=6), span=WORDS, title=WORDS)
def test_alignment_keeps_its_rules(sentences: list[str], span: str, title: str) -> None:
    """A first match exists whenever one sentence contains the span, and no later level hides an earlier one."""
    found = align_span(span, sentences, title)
    containing = [index for index, text in enumerate(sentences) if reduced(span) and reduced(span) in reduced(text)]
    if span in sentences and span:
        assert (found.kind, found.sentence) == ("exact", sentences.index(span))
    elif containing:
        same = [index for index in containing if reduced(sentences[index]) == reduced(span)]
        assert found.sentence == (same or containing)[0]
        assert found.kind == ("normalised" if same else "partial")
    else:
        assert found.sentence is None and found.kind in ("title", "unmatched")
    if containing:
        assert found.n_matches == len(containing)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_every_sentence_of_the_sample_finds_itself(data: st.DataObject) -> None:
    """Any sentence, in capitals and with other spaces, finds itself or its first copy."""
    paper = data.draw(st.sampled_from(read_fold(SAMPLE)))
    sentence = data.draw(st.sampled_from(paper.sentences))
    first = paper.sentences.index(sentence)
    assert align_facts([sentence], paper.sentences, paper.title) == [first]
    assert align_facts([f" {sentence.upper()} . "], paper.sentences, paper.title) == [first]


def reduced(text: str) -> str:
    """The text as the rule compares it, written in another way than in the module."""
    return "".join(letter for letter in text.lower() if letter not in string.punctuation and not letter.isspace())


# Counts


def test_report_of_the_sample() -> None:
    """The counts that the README of the sample gives."""
    assert alignment_report(read_fold(SAMPLE)) == {
        "spans": 51,
        "exact": 32,
        "normalised": 4,
        "partial": 14,
        "title": 1,
        "unmatched": 0,
        "ambiguous": 2,
        "duplicate_sentences": 1,
        "gold_sentences_per_pair": {0: 7, 1: 20, 2: 10, 3: 3},
    }


def test_report_counts_what_does_not_match() -> None:
    """A report is for finding such spans, so it does not stop at the first."""
    report = alignment_report([paper_with(pair_with("not there", "We like tea."), pair_with())])
    assert (report["spans"], report["exact"], report["unmatched"], report["ambiguous"]) == (2, 1, 1, 1)
    assert (report["duplicate_sentences"], report["gold_sentences_per_pair"]) == (1, {0: 1, 1: 1})


def test_report_without_papers() -> None:
    """All counts are there, and 0."""
    report = alignment_report([])
    assert report.pop("gold_sentences_per_pair") == {}
    assert set(report.values()) == {0}


# The published files


def corpus(shared_dir: Path, fold: int) -> list[Paper]:
    """All papers, from the three files of one fold."""
    files = (shared_dir / "argscichat" / f"fold_{fold}_{split}.json" for split in ("train", "val", "test"))
    return [paper for file in files for paper in read_fold(file)]


@pytest.mark.parametrize("fold", range(5))
def test_report_of_the_published_corpus(shared_dir: Path, fold: int) -> None:
    """Counted once by a script of its own, before this module was written; the same in every fold."""
    report = alignment_report(corpus(shared_dir, fold))
    assert report == {
        "spans": 319,
        "exact": 185,
        "normalised": 24,
        "partial": 107,
        "title": 3,
        "unmatched": 0,
        "ambiguous": 5,
        "duplicate_sentences": 3,
        "gold_sentences_per_pair": {0: 41, 1: 125, 2: 69, 3: 13, 10: 1},
    }


def test_gold_facts_of_the_published_corpus(shared_dir: Path) -> None:
    """208 of the 249 queries have gold facts, and every index is one of a sentence."""
    papers = corpus(shared_dir, 0)
    gold = [(gold_facts(paper, pair), len(paper.sentences)) for paper in papers for pair in paper.pairs]
    assert (len(gold), sum(bool(facts) for facts, _ in gold)) == (249, 208)
    assert all(0 <= index < size for facts, size in gold for index in facts)


def test_two_ways_to_count_ambiguous_spans(shared_dir: Path) -> None:
    """Five spans are contained in several sentences; for two of them the best level alone does not decide."""
    undecided = 0
    for paper in corpus(shared_dir, 0):
        aligner = PaperAligner(paper.sentences, paper.title)
        keys = [reduced(text) for text in paper.sentences]
        for found in (aligner.align(span) for pair in paper.pairs for span in pair.annotated_facts):
            equal = found.kind == "exact" and paper.sentences.count(found.span) > 1
            alike = found.kind == "normalised" and keys.count(reduced(found.span)) > 1
            undecided += equal or alike or (found.kind == "partial" and found.is_ambiguous)
    assert undecided == 2


def test_same_sentences_as_the_rule_of_the_authors(shared_dir: Path) -> None:
    """The authors take the first sentence that contains the span and know no levels: no span differs."""
    for paper in corpus(shared_dir, 0):
        aligner = PaperAligner(paper.sentences, paper.title)
        keys = [reduced(sentence) for sentence in paper.sentences]
        for span in (span for pair in paper.pairs for span in pair.annotated_facts):
            theirs = next((index for index, key in enumerate(keys) if reduced(span) in key), None)
            assert aligner.align(span).sentence == theirs
            assert theirs is not None or span in paper.title
