"""Input of a model: query, paper, history and facts of one row as text, in the variants of the ArgSciChat paper.

A variant says what the model sees beside the query Q: the paper P, the dialogue history H, the human-selected facts F
(Ruggeri, Mesgar, Gurevych; arXiv 2202.06690). The text has them in the order query, history, facts, paper. The authors'
reader (`argscichat_allennlp/argscichat_baselines/dataset_reader.py` in github.com/UKPLab/acl2023-argscichat at commit
ee6fc455e68eaa069022baae16a494825194360a) has query, history, paper as well, but uses the facts only where paper and
history give it no text; here they stand before the paper, so that a model which cuts once more cuts the paper first.

Under a length limit whole pieces are left out, never a part of one, and only as many as needed, in this order:

1. the oldest exchange of the history (query, reply and facts of one turn), then the next one;
2. the last sentence of the paper, then the one before it, so that the index of a kept sentence stays valid;
3. the exchanges that `keep_history` holds back, again the oldest first;
4. the last of the facts, then the one before it.

The query is never cut. By default nothing is held back, and a paper as long as the limit leaves no history: in Q+P+H at
768 words that happens to 135 of the 208 rows of the corpus that have one. With `keep_history=1` the latest exchange
outlives the paper.
"""

import operator
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from argscichat_dataset.source import shown

# Every way to add to the query; the order of the letters is the canonical one.
VARIANTS = ("Q", "Q+P", "Q+H", "Q+F", "Q+P+H", "Q+P+F", "Q+H+F", "Q+P+H+F")
PARTS = {"Q": "query", "P": "paper", "H": "history", "F": "facts"}


class PromptError(ValueError):
    """A row, a variant or an option that no prompt can be built from."""


@dataclass(frozen=True)
class Separators:
    """Texts put directly before what they announce; plain words, so that any tokenizer can take them.

    A part without content (no history at the start of a dialogue, no facts) has no separator either. Texts of the row
    are left as they are, also where they hold a separator; `Prompt.sentence_offsets` finds a sentence all the same.

    Attributes:
        query: before the query.
        history_query: before the proponent's message of an earlier turn.
        history_reply: before the expert's reply of an earlier turn.
        history_fact: before each fact of an earlier reply. The official history, which the authors' reader takes, has
            the annotated spans there; a row has them aligned. None leaves them out, and the rows need not have them.
        facts: before the first of the facts.
        paper: before the first sentence of the paper.
        sentence: before each sentence of the paper; `{index}` stands for its index, from 0, as in `fact_ids`. Empty by
            default, as in the inputs of the paper: numbers cost tokens, and only a model that answers with numbers
            needs them. For that, use "[{index}] ".
        between: between two messages, facts or sentences. 19 sentences of the corpus hold a line break themselves.
    """

    query: str = "Query: "
    history_query: str = "Proponent: "
    history_reply: str = "Expert: "
    history_fact: str | None = "Fact: "
    facts: str = "Facts: "
    paper: str = "Paper: "
    sentence: str = ""
    between: str = "\n"

    def __post_init__(self) -> None:
        """Refuse what is not text, and would fail or be printed in the middle of a prompt."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, str) and not (field.name == "history_fact" and value is None):
                raise PromptError(f"separators.{field.name}: expected a string, got {type(value).__name__}")


DEFAULT_SEPARATORS = Separators()


@dataclass(frozen=True)
class Prompt:
    """The input of a model, and what was left out of it.

    Attributes:
        text: the input.
        variant: its variant, in canonical form.
        n_history_dropped: exchanges of the history that were left out, the oldest ones.
        n_sentences_kept: sentences of the paper that are in the text, the first ones; 0 in a variant without P.
        sentence_offsets: start and end of each kept sentence, without its separators: `text[start:end]` of number i is
            sentence i of the paper, character by character.
        n_facts_dropped: facts that were left out, the last ones.
    """

    text: str
    variant: str
    n_history_dropped: int
    n_sentences_kept: int
    sentence_offsets: tuple[tuple[int, int], ...]
    n_facts_dropped: int


def count_words(text: str) -> int:
    """Number of words between white space; what a length is where no tokenizer is at hand.

    Args:
        text: any text.

    Returns:
        The number of words, at least 0.

    Example:
        >>> count_words("Query: What is hot?")
        4
    """
    return len(text.split())


def canonical_variant(variant: str) -> str:
    """The name of a variant in canonical form.

    Args:
        variant: letters of the parts joined by "+", in any order and case, with or without spaces; Q is one of them.

    Returns:
        One of `VARIANTS`.

    Raises:
        PromptError: a part is not known (the message names it), comes twice, or the query is missing.

    Example:
        >>> canonical_variant("h + p + q")
        'Q+P+H'
    """
    if not isinstance(variant, str):
        raise PromptError(f"variant: expected a string, got {type(variant).__name__}")
    parts = [part.strip().upper() for part in variant.split("+")]
    for part in parts:
        if part not in PARTS:
            known = ", ".join(f"{letter} ({name})" for letter, name in PARTS.items())
            raise PromptError(f"variant {shown(variant)}: expected parts out of {known}, got {shown(part)}")
        if (times := parts.count(part)) > 1:
            raise PromptError(f"variant {shown(variant)}: expected each part once, got {part} {times} times")
    if "Q" not in parts:
        raise PromptError(f"variant {shown(variant)}: expected the query Q among its parts, got {', '.join(parts)}")
    return "+".join(letter for letter in PARTS if letter in parts)


def build_prompt(
    row: Mapping[str, Any],
    variant: str,
    *,
    max_length: int | None = None,
    count_tokens: Callable[[str], int] = count_words,
    keep_history: int = 0,
    separators: Separators = DEFAULT_SEPARATORS,
) -> Prompt:
    """Write one row of the dataset as the input of a model.

    Args:
        row: a row of the dataset, which is not changed. What the variant needs must be there: `query` (a string), for P
            `paper` (sentences), for H `history` (oldest first, each with `query`, `reply` and `facts`), for F `facts`.
        variant: what the model gets to see, such as "Q+P+H"; see `canonical_variant`.
        max_length: the most tokens that the text may have; None for no limit. The module says what is left out first.
        count_tokens: length of a text, such as `lambda text: len(tokenizer(text)["input_ids"])`; called at most
            log2(pieces) + 3 times, once for a text that fits, never without a limit.
        keep_history: number of latest exchanges that are left out only when no sentence of the paper is left, from 0.
        separators: the texts put before the parts.

    Returns:
        The text with its counts. With one piece more, in the order in which they are left out, it would be longer than
        `max_length`.

    Raises:
        PromptError: a field that the variant needs is missing or of a wrong type (the message names row and field), the
            variant or an option is wrong, or the query alone is longer than `max_length`. Messages stay under 1 kB.

    Example:
        >>> row = {
        ...     "id": "tea_1",
        ...     "query": "Is it hot?",
        ...     "history": [{"query": "What is liked?", "reply": "Tea.", "facts": ["We like tea."]}],
        ...     "paper": ["We like tea.", "Tea is hot.", "Ice is not."],
        ... }
        >>> print(build_prompt(row, "Q+P+H").text)
        Query: Is it hot?
        Proponent: What is liked?
        Expert: Tea.
        Fact: We like tea.
        Paper: We like tea.
        Tea is hot.
        Ice is not.
        >>> prompt = build_prompt(row, "Q+P+H", max_length=12)
        >>> prompt.n_history_dropped, prompt.n_sentences_kept
        (1, 2)
        >>> start, end = prompt.sentence_offsets[1]
        >>> prompt.text[start:end]
        'Tea is hot.'
    """
    name = canonical_variant(variant)
    if not isinstance(separators, Separators):
        raise PromptError(f"separators: expected Separators, got {type(separators).__name__}")
    _check_number(keep_history, "keep_history", 0)
    content = kept = _content(row, name, separators)
    if max_length is not None:
        _check_number(max_length, "max_length", 1)
        kept = _shortened(content, keep_history, max_length, lambda part: _length(part, separators, count_tokens))
    text, offsets = _written(kept, separators)
    return Prompt(
        text=text,
        variant=name,
        n_history_dropped=len(content.history) - len(kept.history),
        n_sentences_kept=len(kept.paper),
        sentence_offsets=offsets,
        n_facts_dropped=len(content.facts) - len(kept.facts),
    )


@dataclass(frozen=True)
class _Content:
    """What goes into one prompt: the pieces, each of which is kept or left out as a whole."""

    place: str
    query: str
    history: tuple[str, ...]  # one text an exchange, its separators included
    facts: tuple[str, ...]
    paper: tuple[str, ...]


def _content(row: Mapping[str, Any], variant: str, separators: Separators) -> _Content:
    if not isinstance(row, Mapping):
        raise PromptError(f"row: expected a mapping of fields, got {type(row).__name__}")
    place = f"row {shown(row['id'])}" if "id" in row else "row without an id"
    parts = variant.split("+")
    return _Content(
        place=place,
        query=_text(_value(row, "query", place), f"{place}, field 'query'"),
        history=_exchanges(row, separators, place) if "H" in parts else (),
        facts=_texts(row, "facts", place) if "F" in parts else (),
        paper=_texts(row, "paper", place) if "P" in parts else (),
    )


def _exchanges(row: Mapping[str, Any], separators: Separators, place: str) -> tuple[str, ...]:
    turns = _items(_value(row, "history", place), f"{place}, field 'history'")
    return tuple(_exchange(turn, separators, f"{place}, history[{number}]") for number, turn in enumerate(turns))


def _exchange(turn: Any, separators: Separators, place: str) -> str:
    if not isinstance(turn, Mapping):
        raise PromptError(f"{place}: expected a mapping with query, reply and facts, got {type(turn).__name__}")
    lines = [
        separators.history_query + _text(_value(turn, "query", place), f"{place}, field 'query'"),
        separators.history_reply + _text(_value(turn, "reply", place), f"{place}, field 'reply'"),
    ]
    if separators.history_fact is not None:
        lines += [separators.history_fact + fact for fact in _texts(turn, "facts", place)]
    return separators.between.join(lines)


def _shortened(content: _Content, keep_history: int, limit: int, length: Callable[[_Content], int]) -> _Content:
    """The content without the fewest pieces that make it fit."""
    if length(content) <= limit:
        return content
    n_pieces = len(content.history) + len(content.facts) + len(content.paper)
    needed = length(_without(content, n_pieces, keep_history))
    if needed > limit:
        expected = f"at least {needed}, the length of the query with its separator"
        raise PromptError(f"{content.place}: max_length: expected {expected} (it is never cut), got {limit}")
    # All dropped fits and nothing dropped does not; every step halves the way between a text that was measured to fit
    # and one that was measured not to. So the result is tight even where a tokenizer is not quite additive.
    middle = range(1, n_pieces)
    n_drops = 1 + bisect_left(middle, True, key=lambda n: length(_without(content, n, keep_history)) <= limit)
    return _without(content, n_drops, keep_history)


def _without(content: _Content, n_drops: int, keep_history: int) -> _Content:
    """The content after the first so many steps of the order that the module states."""
    n_held_back = min(keep_history, len(content.history))
    dropped = []
    for size in (len(content.history) - n_held_back, len(content.paper), n_held_back, len(content.facts)):
        dropped.append(min(size, n_drops))
        n_drops -= dropped[-1]
    older, sentences, newer, facts = dropped
    return _Content(
        place=content.place,
        query=content.query,
        history=content.history[older + newer :],
        facts=content.facts[: len(content.facts) - facts],
        paper=content.paper[: len(content.paper) - sentences],
    )


def _length(content: _Content, separators: Separators, count_tokens: Callable[[str], int]) -> int:
    if not callable(count_tokens):
        raise PromptError(f"count_tokens: expected a function of a text, got {type(count_tokens).__name__}")
    count = count_tokens(_written(content, separators)[0])
    try:
        return operator.index(count)  # an integer of NumPy as well
    except TypeError as error:
        raise PromptError(f"count_tokens: expected it to return an integer, got {type(count).__name__}") from error


def _written(content: _Content, separators: Separators) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text, and the span of each sentence of the paper in it."""
    lines = [separators.query + content.query, *content.history]
    lines += [(separators.facts if index == 0 else "") + fact for index, fact in enumerate(content.facts)]
    offsets = []
    position = sum(len(line) + len(separators.between) for line in lines)
    for index, sentence in enumerate(content.paper):
        # No str.format: it would fail on any other brace.
        line = (separators.paper if index == 0 else "") + separators.sentence.replace("{index}", str(index)) + sentence
        lines.append(line)
        offsets.append((position + len(line) - len(sentence), position + len(line)))
        position += len(line) + len(separators.between)
    return separators.between.join(lines), tuple(offsets)


def _check_number(value: int, name: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise PromptError(f"{name}: expected an integer, got {type(value).__name__}")
    if value < least:
        raise PromptError(f"{name}: expected at least {least}, got {shown(value)}")


def _value(record: Mapping[str, Any], field: str, place: str) -> Any:
    if field not in record:
        raise PromptError(f"{place}: expected the field {field!r}, got {shown(', '.join(map(str, record)))}")
    return record[field]


def _texts(record: Mapping[str, Any], field: str, place: str) -> tuple[str, ...]:
    items = _items(_value(record, field, place), f"{place}, field {field!r}")
    return tuple(_text(item, f"{place}, field '{field}[{index}]'") for index, item in enumerate(items))


def _items(value: Any, place: str) -> Sequence[Any]:
    # A string would be taken letter by letter. An array, which pandas gives for a list in Parquet, is taken.
    is_list = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    if not is_list or isinstance(value, str | bytes | Mapping):
        raise PromptError(f"{place}: expected a list, got {type(value).__name__}")
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise PromptError(f"{place}: expected a string, got {type(value).__name__}")
    return value
