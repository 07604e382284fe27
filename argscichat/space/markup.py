"""HTML of what is shown, made of texts that are escaped here and nowhere else."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape

from argscichat.explain import SharedWords
from argscichat.scoring import MAIN_SCORES

# The page puts HTML into a template of JavaScript; these start a placeholder there.
_TEMPLATE_CHARACTERS = str.maketrans({"$": "&#36;", "{": "&#123;", "`": "&#96;"})

_SMALLEST_PICTURE = 0.7
"""How far a picture shrinks before it scrolls; its labels have 5 points then."""

_MARKS = {
    # what a sentence is -> the badge that says so without a colour
    "gold": "★ gold",
    "chosen": "● chosen",
    "both": "✔ gold and chosen",
}


def escaped(text: object) -> str:
    """A text as HTML that shows it, whatever is in it.

    Args:
        text: any text, or something whose text is shown.

    Returns:
        HTML without a tag; also safe within a quoted attribute.

    Example:
        >>> escaped("<b>${1}</b>")
        '&lt;b&gt;&#36;&#123;1}&lt;/b&gt;'
    """
    return escape(str(text)).translate(_TEMPLATE_CHARACTERS)


def alert(text: str) -> str:
    """A sentence that says what is wrong, to stand beside the field that caused it; empty for an empty text."""
    return f'<p class="asc-alert" role="alert"><span aria-hidden="true">⚠</span> {escaped(text)}</p>' if text else ""


def hint(text: str) -> str:
    """A sentence in a quiet colour."""
    return f'<p class="asc-hint">{escaped(text)}</p>'


def notes(texts: Iterable[str]) -> str:
    """Sentences that a reader of scores should know, as a list; empty for none."""
    items = "".join(f"<li>{escaped(text)}.</li>" for text in texts)
    return f'<ul class="asc-notes">{items}</ul>' if items else ""


def heading(text: str, explanation: str = "") -> str:
    """The heading of a part of a tab, and a sentence on what it shows."""
    return f'<h3 class="asc-heading">{escaped(text)}</h3>' + (hint(explanation) if explanation else "")


def message(speaker: str, text: str, *, side: str = "left", remark: str = "") -> str:
    """One message of a dialogue.

    Args:
        speaker: who wrote it.
        text: the message.
        side: `"left"` or `"right"`.
        remark: a few words below it.
    """
    shown = escaped(text.strip()) or "<em>(empty)</em>"
    below = f'<span class="asc-remark">{escaped(remark)}</span>' if remark else ""
    return (
        f'<div class="asc-message asc-{side}"><span class="asc-speaker">{escaped(speaker)}</span>{shown}{below}</div>'
    )


def legend() -> str:
    """What the marks of a paper mean."""
    items = "".join(f'<li><span class="asc-badge asc-{kind}">{badge}</span></li>' for kind, badge in _MARKS.items())
    return f'<ul class="asc-legend" aria-label="Marks in the paper">{items}</ul>'


def paper(sentences: Sequence[str], gold: Collection[int], chosen: Collection[int]) -> str:
    """A paper with its gold and chosen sentences marked.

    Args:
        sentences: the paper.
        gold: indices of its gold sentences.
        chosen: indices of the sentences that the agent chose.
    """
    kinds = {i: kind_of(i, gold, chosen) for i in (*gold, *chosen)}
    return legend() + _paper(sentences, {i: (kind, _MARKS[kind]) for i, kind in kinds.items()})


def paper_of_dialogue(sentences: Sequence[str], replies: Mapping[int, Sequence[int]]) -> str:
    """A paper with the facts of a dialogue marked.

    Args:
        sentences: the paper.
        replies: index of a sentence -> numbers of the replies that rest on it.
    """
    marks = {i: ("gold", f"★ reply {', '.join(map(str, numbers))}") for i, numbers in replies.items()}
    return _paper(sentences, marks)


def _paper(sentences: Sequence[str], marks: Mapping[int, tuple[str, str]]) -> str:
    items = []
    for i, sentence in enumerate(sentences):
        kind, badge = marks.get(i, ("plain", ""))
        shown = f' <span class="asc-badge asc-{kind}">{badge}</span>' if badge else ""
        items.append(f'<li class="asc-sentence asc-{kind}">{escaped(sentence)}{shown}</li>')
    return _scrolling("The paper", f'<ol class="asc-paper">{"".join(items)}</ol>')


def kind_of(index: int, gold: Collection[int], chosen: Collection[int]) -> str:
    """What a sentence is: `"gold"`, `"chosen"`, `"both"`, or `""`."""
    if index in gold:
        return "both" if index in chosen else "gold"
    return "chosen" if index in chosen else ""


def marks_of_choices(choices_id: str, gold: Collection[int], chosen: Collection[int]) -> str:
    """A style that marks the labels of a group of checkboxes, one a sentence, in place.

    Args:
        choices_id: id of the element of the group; ours, no text of a user.
        gold: indices of the gold sentences.
        chosen: indices of the chosen ones.

    Returns:
        A style element, and for people who do not see it a sentence with the same content.
    """
    rules = []
    for i in sorted({*gold, *chosen}):
        kind = kind_of(i, gold, chosen)
        # The id twice: a mark is stronger than the style of a checked box.
        label = f"#{choices_id}#{choices_id} label:nth-of-type({i + 1})"
        colours = f"background: var(--asc-{kind}); color: var(--asc-{kind}-text)"
        rules.append(f"{label} {{background: var(--asc-{kind}-soft); border-left-color: var(--asc-{kind})}}")
        rules.append(f"{label}::after {{content: '{_MARKS[kind]}'; {colours}}}")
    found = _numbers(gold) or "none"
    said = f"Gold sentences: {found}. Chosen: {_numbers(chosen) or 'none'}."
    return f'<style>{"".join(rules)}</style><p class="asc-said" role="status">{said}</p>'


def score_tiles(scores: Mapping[str, float | None], remarks: Mapping[str, str]) -> str:
    """The main scores side by side.

    Args:
        scores: key of `MAIN_SCORES` -> score, None where it does not count.
        remarks: key -> a few words on it.
    """
    tiles = "".join(_tile(key, scores.get(key), remarks.get(key, "")) for key in MAIN_SCORES)
    return f'<div class="asc-tiles">{tiles}</div>'


def _tile(key: str, score: float | None, remark: str) -> str:
    number = "–" if score is None else f"{score:.3f}"
    width = 100 * min(max(score or 0.0, 0.0), 1.0)
    return (
        f'<div class="asc-tile" data-score="{key}"><span class="asc-name">{escaped(MAIN_SCORES[key])}</span>'
        f'<span class="asc-number">{number}</span>'
        f'<span class="asc-bar" aria-hidden="true"><span style="width:{width:.1f}%"></span></span>'
        f'<span class="asc-remark">{escaped(remark)}</span></div>'
    )


def shared_words(words: SharedWords) -> str:
    """The words of reply and reference, with the shared ones marked, as Message-F1 counts them."""
    n_shared = sum(words.predicted_is_shared)
    sides = (
        ("reply", words.predicted, words.predicted_is_shared),
        ("reference", words.reference, words.reference_is_shared),
    )
    rows = "".join(
        f"<dt>{name} <small>{n_shared} of {len(of_side)} words are shared</small></dt><dd>{_words(of_side, marks)}</dd>"
        for name, of_side, marks in sides
    )
    return f'<dl class="asc-words">{rows}</dl>'


def _words(words: Sequence[str], shared: Sequence[bool]) -> str:
    pairs = zip(words, shared, strict=True)
    shown = (f"<mark>{escaped(word)}</mark>" if marked else f"<span>{escaped(word)}</span>" for word, marked in pairs)
    return " ".join(shown) or "<em>(no words)</em>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str, *, long_names: bool = False) -> str:
    """A table whose first column names the row and whose other columns are numbers.

    Args:
        header: one text a column.
        rows: one text a cell.
        caption: what the table shows.
        long_names: whether the names of the rows may take several lines.
    """
    head = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escaped(first)}</th>{"".join(f"<td>{escaped(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    long = " asc-long" if long_names else ""
    content = f"<caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return _scrolling(caption, f'<table class="asc-table{long}">{content}</table>')


def progress(n_done: int, n: int) -> str:
    """How many of the queries of a file are scored."""
    bar = f'<progress value="{n_done}" max="{n}" aria-label="Scored queries"></progress>'
    return f'<p class="asc-hint" role="status">{bar} {n_done} of {n} queries</p>'


def picture(png_base64: str, alternative: str, width: int) -> str:
    """A figure of ours, which shrinks a little on a narrow page, and scrolls where that is not enough.

    Args:
        png_base64: the picture.
        alternative: a text for people who do not see it.
        width: of the picture on a page that is wide enough, in pixels.
    """
    image = f'<img src="data:image/png;base64,{png_base64}" alt="{escaped(alternative)}">'
    style = f"max-width:{width}px; min-width:{round(_SMALLEST_PICTURE * width)}px"
    return _scrolling(alternative, f'<div class="asc-figure" style="{style}">{image}</div>')


def side_by_side(left: str, right: str) -> str:
    """Two parts of equal width beside each other, one below the other on a narrow page."""
    return f'<div class="asc-pair"><div>{left}</div><div>{right}</div></div>'


def in_a_row(*parts: str) -> str:
    """Parts that take the width that they need, as many beside each other as fit."""
    return f'<div class="asc-row">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def _scrolling(name: str, content: str) -> str:
    # Focusable, so that the arrow keys scroll it.
    return f'<div class="asc-scroll" tabindex="0" role="region" aria-label="{escaped(name)}">{content}</div>'


def _numbers(indices: Collection[int]) -> str:
    return ", ".join(str(i + 1) for i in sorted(indices))
