"""Prompts: the input variants as text, and what a length limit leaves of them."""

import copy
import doctest
import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_dataset import prompts
from argscichat_dataset.alignment import PaperAligner, gold_facts
from argscichat_dataset.prompts import (
    DEFAULT_SEPARATORS,
    VARIANTS,
    Prompt,
    PromptError,
    Separators,
    build_prompt,
    canonical_variant,
    count_words,
)
from argscichat_dataset.source import read_fold

SAMPLE = Path(__file__).parents[2] / "argscichat_dataset" / "sample" / "sample_test.json"

ROW = {
    "id": "On Tea_2",
    "query": "Why is it hot?",
    "history": [
        {"query": "Hi", "reply": "Hello!", "facts": []},
        {"query": "What do you like?", "reply": "Tea.", "facts": ["We like tea."]},
    ],
    "paper": ["We like tea.", "Tea is\nhot.", "It is boiled first."],
    "facts": ["Tea is\nhot.", "It is boiled first."],
}

HISTORY = "Proponent: Hi\nExpert: Hello!\nProponent: What do you like?\nExpert: Tea.\nFact: We like tea."
PAPER = "Paper: We like tea.\nTea is\nhot.\nIt is boiled first."
FACTS = "Facts: Tea is\nhot.\nIt is boiled first."

# Hand-worked from the docstrings of `prompts.py`: query, history, facts, paper; a separator before each.
GOLDEN = {
    "Q": "Query: Why is it hot?",
    "Q+P": f"Query: Why is it hot?\n{PAPER}",
    "Q+H": f"Query: Why is it hot?\n{HISTORY}",
    "Q+F": f"Query: Why is it hot?\n{FACTS}",
    "Q+P+H": f"Query: Why is it hot?\n{HISTORY}\n{PAPER}",
    "Q+P+F": f"Query: Why is it hot?\n{FACTS}\n{PAPER}",
    "Q+H+F": f"Query: Why is it hot?\n{HISTORY}\n{FACTS}",
    "Q+P+H+F": f"Query: Why is it hot?\n{HISTORY}\n{FACTS}\n{PAPER}",
}

# max_length, keep_history -> exchanges dropped, sentences kept, facts dropped. Hand-worked, in words: 5 of the query, 4
# and 11 of the exchanges, 4 (with "Paper:"), 3 and 4 of the sentences, 4 (with "Facts:") and 4 of the facts; 39 in all.
LIMITS = {
    (39, 0): (0, 3, 0),
    (38, 0): (1, 3, 0),
    (35, 0): (1, 3, 0),
    (34, 0): (2, 3, 0),
    (24, 0): (2, 3, 0),
    (23, 0): (2, 2, 0),
    (19, 0): (2, 1, 0),
    (17, 0): (2, 1, 0),
    (16, 0): (2, 0, 0),
    (13, 0): (2, 0, 0),
    (12, 0): (2, 0, 1),
    (9, 0): (2, 0, 1),
    (8, 0): (2, 0, 2),
    (5, 0): (2, 0, 2),
    (35, 1): (1, 3, 0),
    (34, 1): (1, 2, 0),
    (24, 1): (1, 0, 0),
    (23, 1): (2, 0, 0),
    (39, 2): (0, 3, 0),
    (38, 2): (0, 2, 0),
    (28, 2): (0, 0, 0),
    (27, 2): (1, 0, 0),
    (23, 9): (2, 0, 0),
}


def counts(prompt: Prompt) -> tuple[int, int, int]:
    """What was left out, as the tables have it."""
    return prompt.n_history_dropped, prompt.n_sentences_kept, prompt.n_facts_dropped


# Golden cases


def test_variants_are_all_ways_to_add_to_the_query() -> None:
    """Eight names in canonical form, each once."""
    subsets = [set(letters) for size in range(4) for letters in itertools.combinations("PHF", size)]
    assert len(VARIANTS) == len(set(VARIANTS)) == len(subsets)
    assert all({"Q", *subset} in [set(name.split("+")) for name in VARIANTS] for subset in subsets)
    assert all(canonical_variant(name) == name for name in VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_golden_text(variant: str) -> None:
    """Every variant of one row, without a limit."""
    prompt = build_prompt(ROW, variant)
    assert prompt.text == GOLDEN[variant]
    assert (prompt.variant, counts(prompt)) == (variant, (0, 3 if "P" in variant else 0, 0))


@pytest.mark.parametrize(("limit", "expected"), LIMITS.items())
def test_golden_limit(limit: tuple[int, int], expected: tuple[int, int, int]) -> None:
    """Oldest history, end of the paper, history held back, last facts: in this order, and no more than needed."""
    max_length, keep_history = limit
    prompt = build_prompt(ROW, "Q+P+H+F", max_length=max_length, keep_history=keep_history)
    assert counts(prompt) == expected
    assert prompt.text.startswith("Query: Why is it hot?")
    assert count_words(prompt.text) <= max_length


def test_text_under_a_limit() -> None:
    """Whole exchanges and whole sentences go; the separator of a part stays as long as anything of it does."""
    prompt = build_prompt(ROW, "Q+P+H", max_length=23, keep_history=1)
    latest = "Proponent: What do you like?\nExpert: Tea.\nFact: We like tea."
    assert prompt.text == f"Query: Why is it hot?\n{latest}\nPaper: We like tea.\nTea is\nhot."
    assert build_prompt(ROW, "Q+P+H", max_length=8).text == "Query: Why is it hot?"


def test_offsets() -> None:
    """Spans of the sentences alone, also where a separator stands before each."""
    prompt = build_prompt(ROW, "Q+P", separators=Separators(sentence="[{index}] "))
    assert prompt.text == "Query: Why is it hot?\nPaper: [0] We like tea.\n[1] Tea is\nhot.\n[2] It is boiled first."
    assert [prompt.text[start:end] for start, end in prompt.sentence_offsets] == ROW["paper"]
    assert build_prompt(ROW, "Q+H+F").sentence_offsets == ()


def test_own_separators() -> None:
    """Each name changes what it says, other braces than {index} are text, and empty separators are allowed."""
    marks = Separators("<q>", "<p>", "<e>", "<c>", "<f>", "<s>", "{index}{}{0}", "|")
    assert build_prompt(ROW, "Q+P+H+F", separators=marks).text == (
        "<q>Why is it hot?|<p>Hi|<e>Hello!|<p>What do you like?|<e>Tea.|<c>We like tea.|<f>Tea is\nhot.|"
        "It is boiled first.|<s>0{}{0}We like tea.|1{}{0}Tea is\nhot.|2{}{0}It is boiled first."
    )
    assert build_prompt(ROW, "Q+P", separators=Separators("", "", "", "", "", "", "", "")).text == (
        ROW["query"] + "".join(ROW["paper"])
    )


def test_history_without_facts() -> None:
    """`history_fact=None` leaves the facts of earlier replies out and does not ask for them."""
    row = {**ROW, "history": [{"query": "What do you like?", "reply": "Tea."}]}
    prompt = build_prompt(row, "Q+H", separators=Separators(history_fact=None))
    assert prompt.text == "Query: Why is it hot?\nProponent: What do you like?\nExpert: Tea."


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_part_without_content_leaves_no_trace(variant: str) -> None:
    """At the start of a dialogue, and for a reply without facts."""
    row = {"id": "1", "query": "Hi", "history": [], "facts": [], "paper": []}
    assert build_prompt(row, variant) == Prompt("Query: Hi", variant, 0, 0, (), 0)


def test_only_the_fields_of_the_variant_are_needed() -> None:
    """Q needs no paper; no variant needs an id, a reply or what else a row has."""
    assert build_prompt({"query": "Hi"}, "Q").text == "Query: Hi"
    assert build_prompt({"query": "Hi", "facts": ["Tea."]}, "Q+F").text == "Query: Hi\nFacts: Tea."


def test_texts_that_look_like_separators_are_left_as_they_are() -> None:
    """No escaping; the offsets still point at the sentence and not at its copy in the query."""
    row = {"query": "Paper: One.\nQuery:", "paper": ["Query: Paper: ", "", "Paper: One.", " [{index}] "]}
    prompt = build_prompt(row, "Q+P", separators=Separators(sentence="[{index}] "))
    assert prompt.text == (
        "Query: Paper: One.\nQuery:\nPaper: [0] Query: Paper: \n[1] \n[2] Paper: One.\n[3]  [{index}] "
    )
    assert [prompt.text[start:end] for start, end in prompt.sentence_offsets] == row["paper"]


def test_arrays_are_lists() -> None:
    """Lists of a Parquet file come as arrays from pandas."""
    row = {**ROW, **{name: np.array(ROW[name], dtype=object) for name in ("history", "paper", "facts")}}
    assert build_prompt(row, "Q+P+H+F", max_length=20) == build_prompt(ROW, "Q+P+H+F", max_length=20)


def test_the_row_is_not_changed() -> None:
    """Neither the row nor the lists in it."""
    row = copy.deepcopy(ROW)
    build_prompt(row, "Q+P+H+F", max_length=10, keep_history=1)
    assert row == ROW


# Names of variants


@pytest.mark.parametrize(
    ("variant", "expected"),
    [("q", "Q"), ("P+Q", "Q+P"), ("F+H+P+Q", "Q+P+H+F"), (" h +\tQ", "Q+H"), ("Q+F+P", "Q+P+F")],
)
def test_canonical_variant(variant: str, expected: str) -> None:
    """Order, case and spaces do not matter, here and in `build_prompt`."""
    assert canonical_variant(variant) == expected
    assert build_prompt(ROW, variant) == build_prompt(ROW, expected)


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ("Q+X", r"variant 'Q\+X': expected parts out of Q \(query\), P \(paper\), .*, got 'X'$"),
        ("QPH", "got 'QPH'$"),
        ("Q+paper", "got 'PAPER'$"),
        ("", "got ''$"),
        ("Q+", "got ''$"),
        ("Q,P", "got 'Q,P'$"),
        ("P+H", "expected the query Q among its parts, got P, H$"),
        ("Q+P+q", "expected each part once, got Q 2 times$"),
        (None, "variant: expected a string, got NoneType$"),
        (["Q", "P"], "variant: expected a string, got list$"),
    ],
)
def test_wrong_variant(variant: object, message: str) -> None:
    """The part that is wrong is named."""
    with pytest.raises(ValueError, match=message):
        canonical_variant(variant)  # type: ignore[arg-type]
    with pytest.raises(PromptError, match=message):
        build_prompt(ROW, variant)  # type: ignore[arg-type]


# Bad input

TURN = {"query": "Hi", "reply": "Hello!", "facts": []}

BAD_ROWS = {
    "no query": ({"query": ...}, "row 'On Tea_2': expected the field 'query', got 'id, history, paper, facts'"),
    "no paper": ({"paper": ...}, "row 'On Tea_2': expected the field 'paper'"),
    "no history": ({"history": ...}, "row 'On Tea_2': expected the field 'history'"),
    "no facts": ({"facts": ...}, "row 'On Tea_2': expected the field 'facts'"),
    "no id and no facts": ({"facts": ..., "id": ...}, "row without an id: expected the field 'facts'"),
    "query is None": ({"query": None}, "row 'On Tea_2', field 'query': expected a string, got NoneType"),
    "query is bytes": ({"query": b"Hi"}, "field 'query': expected a string, got bytes"),
    "paper is a string": ({"paper": "We like tea."}, "field 'paper': expected a list, got str"),
    "paper is None": ({"paper": None}, "field 'paper': expected a list, got NoneType"),
    "paper is a set": ({"paper": {"We like tea."}}, "field 'paper': expected a list, got set"),
    "paper is a generator": ({"paper": iter(["a"])}, "field 'paper': expected a list, got list_iterator"),
    "sentence is a number": ({"paper": ["a", 7]}, r"field 'paper\[1\]': expected a string, got int"),
    "fact is an index": ({"facts": [1]}, r"field 'facts\[0\]': expected a string, got int"),
    "facts are one string": ({"facts": "Tea is hot."}, "field 'facts': expected a list, got str"),
    "history as columns": ({"history": {"query": ["Hi"]}}, "field 'history': expected a list, got dict"),
    "history of strings": ({"history": [TURN, "Hi"]}, r"row 'On Tea_2', history\[1\]: expected a mapping .*, got str"),
    "turn without reply": ({"history": [{"query": "Hi"}]}, r"history\[0\]: expected the field 'reply', got 'query'"),
    "turn without facts": (
        {"history": [TURN, {"query": "Hi", "reply": "Hello!"}]},
        r"history\[1\]: expected the field 'facts', got 'query, reply'",
    ),
    "reply is None": (
        {"history": [{**TURN, "reply": None}]},
        r"history\[0\], field 'reply': expected a string, got No",
    ),
    "fact of a turn is None": (
        {"history": [{**TURN, "facts": [None]}]},
        r"history\[0\], field 'facts\[0\]': expected a string, got NoneType",
    ),
    "id is a number": ({"id": 7, "query": None}, "row 7, field 'query'"),
    "all is long": (
        {"id": "i" * 5000, "k" * 5000: 1, "facts": ...},
        r"row 'iiii+\.\.\.i+': expected the field 'facts'",
    ),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_row(case: str) -> None:
    """The message names row and field, says what was expected and found, and is short."""
    changes, message = BAD_ROWS[case]
    row = {key: value for key, value in {**ROW, **changes}.items() if value is not ...}
    with pytest.raises(PromptError, match=message) as caught:
        build_prompt(row, "Q+P+H+F")
    assert len(str(caught.value).encode("utf-8")) < 1000


@pytest.mark.parametrize("row", [None, "Why?", [ROW], [("query", "Why?")]])
def test_row_that_is_no_mapping(row: object) -> None:
    """A batch, say."""
    with pytest.raises(PromptError, match="^row: expected a mapping of fields, got "):
        build_prompt(row, "Q")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_length": 0}, "max_length: expected at least 1, got 0"),
        ({"max_length": 20.0}, "max_length: expected an integer, got float"),
        ({"max_length": True}, "max_length: expected an integer, got bool"),
        ({"keep_history": -1}, "keep_history: expected at least 0, got -1"),
        ({"keep_history": None}, "keep_history: expected an integer, got NoneType"),
        ({"max_length": 9, "count_tokens": str.split}, "count_tokens: expected it to return an integer, got list"),
        ({"max_length": 9, "count_tokens": "words"}, "count_tokens: expected a function of a text, got str"),
        ({"separators": {"query": "Q: "}}, "separators: expected Separators, got dict"),
    ],
)
def test_bad_option(options: dict[str, object], message: str) -> None:
    """A tokenizer in place of a count, for one."""
    with pytest.raises(PromptError, match=message):
        build_prompt(ROW, "Q+P", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"), [("query", None), ("sentence", 1), ("between", None), ("history_fact", b"Fact: ")]
)
def test_bad_separator(name: str, value: object) -> None:
    """Named when the separators are made, not when a prompt is."""
    with pytest.raises(PromptError, match=rf"separators\.{name}: expected a string, got "):
        Separators(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", VARIANTS)
def test_query_that_does_not_fit(variant: str) -> None:
    """The message names needed and allowed length; one word more is enough."""
    with pytest.raises(ValueError, match=r"^row 'On Tea_2': max_length: expected at least 5, .*, got 4$"):
        build_prompt(ROW, variant, max_length=4)
    assert build_prompt(ROW, variant, max_length=5).text == "Query: Why is it hot?"


# Properties


def count_pieces(text: str) -> int:
    """A count like that of a sub-word tokenizer: pieces of up to three letters, and a special token at both ends."""
    return 2 + len(re.findall(r"\w{1,3}|[^\w\s]", text))


def count_oddly(text: str) -> int:
    """A count that is not additive: some longer texts count less."""
    return len(text) // 4 + sum(map(ord, text)) % 5


COUNTS = st.sampled_from([count_words, count_pieces, count_oddly, len])
TEXTS = st.text(st.sampled_from("ab \n\u00e9.\U0001f600"), max_size=9) | st.sampled_from(
    ["Query: ", "Paper: a", "{index}"]
)
TURNS = st.fixed_dictionaries({"query": TEXTS, "reply": TEXTS, "facts": st.lists(TEXTS, max_size=2)})
ROWS = st.fixed_dictionaries(
    {
        "id": TEXTS,
        "query": TEXTS,
        "history": st.lists(TURNS, max_size=5),
        "paper": st.lists(TEXTS, max_size=6),
        "facts": st.lists(TEXTS, max_size=3),
    }
)
SEPARATORS = st.sampled_from(
    [DEFAULT_SEPARATORS, Separators(sentence="[{index}] "), Separators("", "", "", None, "", "", "", "")]
)


def without(row: dict, n_history: int, n_sentences: int, n_facts: int) -> dict:
    """The row cut by hand: without the oldest exchanges, with the first sentences, without the last facts."""
    history, facts = row["history"], row["facts"]
    kept = facts[: len(facts) - n_facts]
    return {**row, "history": history[n_history:], "paper": row["paper"][:n_sentences], "facts": kept}


def with_the_last_drop_undone(row: dict, variant: str, prompt: Prompt, keep_history: int) -> dict | None:
    """The row with one piece more than the prompt, by the documented order; None where nothing was dropped."""
    n_history, n_sentences, n_facts = counts(prompt)
    n_older = max(0, len(row["history"]) - keep_history)
    if n_facts:
        return without(row, n_history, n_sentences, n_facts - 1)
    if n_history > n_older:
        return without(row, n_history - 1, n_sentences, 0)
    if "P" in variant and n_sentences < len(row["paper"]):
        return without(row, n_history, n_sentences + 1, 0)
    return without(row, n_history - 1, n_sentences, 0) if n_history else None


@settings(max_examples=400, deadline=None)
@given(ROWS, st.sampled_from(VARIANTS), st.integers(1, 120), COUNTS, st.integers(0, 6), SEPARATORS)
def test_what_a_limit_leaves(
    row: dict,
    variant: str,
    max_length: int,
    count_tokens: Callable[[str], int],
    keep_history: int,
    separators: Separators,
) -> None:
    """It fits, holds the whole query, is the row cut at the documented ends, and one piece more would not fit."""
    before = copy.deepcopy(row)
    needed = count_tokens(separators.query + row["query"])
    options = {"max_length": max_length, "count_tokens": count_tokens, "keep_history": keep_history}
    try:
        prompt = build_prompt(row, variant, **options, separators=separators)
    except PromptError as error:
        assert needed > max_length
        assert f"expected at least {needed}" in str(error) and str(error).endswith(f"got {max_length}")
        return
    assert row == before
    assert count_tokens(prompt.text) <= max_length
    assert prompt.text.startswith(separators.query + row["query"])
    assert prompt.text == build_prompt(without(row, *counts(prompt)), variant, separators=separators).text
    more = with_the_last_drop_undone(row, variant, prompt, keep_history)
    if more is not None:
        assert count_tokens(build_prompt(more, variant, separators=separators).text) > max_length


@settings(max_examples=200, deadline=None)
@given(ROWS, st.sampled_from(VARIANTS), st.integers(1, 120), st.integers(0, 6))
def test_what_goes_first(row: dict, variant: str, max_length: int, keep_history: int) -> None:
    """No sentence goes before the older history, no held-back exchange before the paper, no fact before all that."""
    length = max(max_length, count_pieces("Query: " + row["query"]))
    prompt = build_prompt(row, variant, max_length=length, count_tokens=count_pieces, keep_history=keep_history)
    n_history, n_sentences, n_facts = counts(prompt)
    n_turns = len(row["history"]) if "H" in variant else 0
    n_older = max(0, n_turns - keep_history)
    if "P" in variant and n_sentences < len(row["paper"]):
        assert n_history >= n_older
    if n_history > n_older:
        assert n_sentences == 0
    if n_facts:
        assert (n_history, n_sentences) == (n_turns, 0)


@settings(max_examples=200, deadline=None)
@given(ROWS, st.integers(1, 120), SEPARATORS)
def test_offsets_slice_back_to_the_sentences(row: dict, max_length: int, separators: Separators) -> None:
    """Sentence i is found at offset i, in the order of the paper and without overlap."""
    length = max(max_length, len(separators.query + row["query"]))
    prompt = build_prompt(row, "Q+P+H+F", max_length=length, count_tokens=len, separators=separators)
    sliced = [prompt.text[start:end] for start, end in prompt.sentence_offsets]
    assert sliced == row["paper"][: prompt.n_sentences_kept]
    ends = [position for span in prompt.sentence_offsets for position in span]
    assert ends == sorted(ends)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.sampled_from(VARIANTS))
def test_no_limit_and_a_generous_one_are_the_same(row: dict, variant: str) -> None:
    """Nothing is dropped without need."""
    prompt = build_prompt(row, variant)
    expected = count_words(prompt.text)
    assert build_prompt(row, variant, max_length=max(1, expected)) == prompt
    assert (prompt.n_history_dropped, prompt.n_facts_dropped) == (0, 0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["query", "reply", "facts"]), inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(list(ROW)), JSON), st.sampled_from(VARIANTS) | st.text(max_size=4))
def test_malformed_rows_never_give_another_error(changes: dict, variant: str) -> None:
    """No KeyError, no AttributeError: a prompt or a PromptError."""
    for row in ({**ROW, **changes}, changes):
        try:
            assert isinstance(build_prompt(row, variant, max_length=20), Prompt)
        except PromptError as error:
            assert len(str(error).encode("utf-8")) < 1000


# Cost


def test_number_of_counts() -> None:
    """A tokenizer is slow: a long paper costs a handful of counts, a text that fits one, no limit none."""
    row = {**ROW, "history": ROW["history"] * 50, "paper": ROW["paper"] * 300}
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return count_words(text)

    # 100 exchanges, 900 sentences and 2 facts: 2 counts at the ends and at most 10 between them.
    for max_length, at_least, at_most in ((None, 0, 0), (100_000, 1, 1), (1000, 2, 12), (10, 2, 12)):
        seen.clear()
        build_prompt(row, "Q+P+H+F", max_length=max_length, count_tokens=count)
        assert at_least <= len(seen) <= at_most


def test_import_loads_no_heavy_library() -> None:
    """The file is for people with any tokenizer, or none."""
    code = (
        "import sys, argscichat_dataset.prompts; "
        "print({'torch', 'transformers', 'tokenizers', 'datasets', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=SAMPLE.parents[2], check=True
    )
    assert done.stdout.strip() == "set()"


def test_examples_of_the_docstrings() -> None:
    """They run, and there are some."""
    result = doctest.testmod(prompts)
    assert result.failed == 0 and result.attempted >= 8


# The sample and the published files


def rows_of(*files: Path) -> list[dict]:
    """Rows as the configs of the dataset have them, as far as a prompt needs them."""
    rows = []
    for paper in (paper for file in files for paper in read_fold(file)):
        aligner = PaperAligner(paper.sentences, paper.title)
        turns: dict[str, dict] = {}
        for pair in paper.pairs:
            facts = [paper.sentences[index] for index in gold_facts(paper, pair, aligner)]
            history = [turns[earlier] for earlier in pair.history_ids]
            turns[pair.id] = {"query": pair.query, "reply": pair.reply, "facts": facts}
            sentences = list(paper.sentences)
            rows.append({"id": pair.id, "query": pair.query, "history": history, "paper": sentences, "facts": facts})
    return rows


@pytest.mark.parametrize("variant", VARIANTS)
def test_sub_words_of_a_real_tokenizer(variant: str) -> None:
    """A byte-pair encoding trained on the sample itself, whose merges may run over the borders of pieces."""
    from tokenizers import Tokenizer, models, trainers

    rows = rows_of(SAMPLE)
    tokenizer = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=600, show_progress=False)
    tokenizer.train_from_iterator([build_prompt(row, "Q+P+H+F").text for row in rows], trainer)

    def count(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    for row in rows:
        for keep_history in (0, 1):
            prompt = build_prompt(row, variant, max_length=300, count_tokens=count, keep_history=keep_history)
            assert count(prompt.text) <= 300
            more = with_the_last_drop_undone(row, variant, prompt, keep_history)
            assert more is None or count(build_prompt(more, variant).text) > 300


def test_published_corpus(shared_dir: Path) -> None:
    """The numbers that the docstrings give, and every sentence of every row found at its offset."""
    rows = rows_of(*(shared_dir / "argscichat" / f"fold_0_{split}.json" for split in ("train", "val", "test")))
    papers = {tuple(row["paper"]) for row in rows}
    assert sum("\n" in sentence for paper in papers for sentence in paper) == 19
    with_history = [row for row in rows if row["history"]]
    assert (len(rows), len(with_history), len(papers)) == (249, 208, 20)
    for keep_history, n_expected in ((0, 135), (1, 0)):
        limited = [build_prompt(row, "Q+P+H", max_length=768, keep_history=keep_history) for row in with_history]
        pairs = list(zip(limited, with_history, strict=True))
        assert sum(prompt.n_history_dropped == len(row["history"]) for prompt, row in pairs) == n_expected
        for prompt, row in pairs:
            sliced = [prompt.text[start:end] for start, end in prompt.sentence_offsets]
            assert sliced == row["paper"][: prompt.n_sentences_kept]
