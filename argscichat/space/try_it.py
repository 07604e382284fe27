"""The tab that scores one reply while you look at it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from argscichat.space import markup
from argscichat.space.fields import error_box, error_updates
from argscichat.space.limits import TEXT_LIMITS, InputError, check_message, paper_sentences
from argscichat.space.replies import heat_maps_html, score_reply, tiles_html, words_html
from argscichat.space.sample import sample_pairs, sample_predictions
from argscichat_metric.options import MAX_FACTS

SOURCES = ("A query of the sample", "My own text")
_FIELDS = ("paper", "gold", "reference", "chosen", "reply")
_CHOICES_ID = "asc-choices"
_LABEL_LENGTH = 90


@dataclass(frozen=True)
class Question:
    """What a reply is scored against.

    Args:
        query: the query.
        sentences: the paper.
        reference: the reference reply.
        gold: indices of the gold sentences.
    """

    query: str
    sentences: Sequence[str]
    reference: str
    gold: Sequence[int]


def build_try_it(signature: gr.Textbox) -> None:
    """Put the tab into the page that is being built.

    Args:
        signature: shows the signature of what was scored last.
    """
    first = sample_pairs()[0]
    message, facts = _answer_of_agent(0)
    with gr.Row(equal_height=False):
        with gr.Column(scale=6, min_width=320):
            source = gr.Radio(SOURCES, value=SOURCES[0], label="Score a reply to")
            number = gr.Dropdown(_queries(), value=0, label="Query of the sample", elem_id="asc-query")
            with gr.Group(visible=False) as own:
                own_fields, own_errors = _own_fields()
            query = gr.HTML(markup.message("Query", first["query"]))
            gr.HTML(markup.legend())
            chosen = gr.CheckboxGroup(
                _choices(first["paper"]),
                value=facts,
                label=f"The paper: choose up to {MAX_FACTS} sentences that the reply rests on",
                elem_id=_CHOICES_ID,
            )
            chosen_error = error_box()
            marks = gr.HTML()
        with gr.Column(scale=5, min_width=320):
            reply = gr.Textbox(message, label="Your reply (here: the demo agent's)", lines=3, elem_id="asc-reply")
            reply_error = error_box()
            button = gr.Button("Score the reply", variant="primary", elem_id="asc-score-reply")
            scores = gr.HTML(markup.hint("The four scores appear here, and below them what they are made of."))
            words = gr.HTML()
    heat_maps = gr.HTML()
    results = [marks, scores, words, heat_maps]
    asked = [source, number, *own_fields]
    new = [query, chosen, reply, *results]
    errors = [*own_errors, chosen_error, reply_error]
    shared = {"api_visibility": "private", "show_progress": "hidden"}
    source.input(lambda name: _sources_shown(name == SOURCES[0]), source, [number, own], **shared)
    gr.on([source.input, number.input], _ask, [source, number, own_fields[0]], [*new, *errors], **shared)
    own_fields[0].blur(_read_paper, own_fields[0], [chosen, own_errors[0], *results], **shared)
    chosen.input(_limit_choice, chosen, [chosen, chosen_error], trigger_mode="always_last", **shared)
    outputs = [*results, signature, *errors]
    button.click(
        _score,
        [*asked, chosen, reply],
        outputs,
        api_visibility="private",
        show_progress_on=scores,
        concurrency_id="score",
    )


def _own_fields() -> tuple[list[gr.Textbox], list[gr.HTML]]:
    paper = gr.Textbox(label="Sentences of the paper, one a line", lines=5, max_lines=12, info=TEXT_LIMITS)
    paper_error = error_box()
    gold = gr.Textbox(label="Gold sentences (optional)", info="Their numbers, such as 2, 5. Without any, no Fact-F1.")
    gold_error = error_box()
    reference = gr.Textbox(label="Gold reply", lines=2)
    reference_error = error_box()
    return [paper, gold, reference], [paper_error, gold_error, reference_error]


def _queries() -> list[tuple[str, int]]:
    return [
        (f"{i + 1}. {pair['query'].strip()}"[:_LABEL_LENGTH] + f" ({pair['title'].split(':')[0]})", i)
        for i, pair in enumerate(sample_pairs())
    ]


def _choices(sentences: Sequence[str]) -> list[tuple[str, int]]:
    return [(f"{i}. {sentence}", i - 1) for i, sentence in enumerate(sentences, start=1)]


def _answer_of_agent(number: int) -> tuple[str, list[int]]:
    pair, answer = sample_pairs()[number], sample_predictions("demo agent")[number]
    return answer.message, [pair["paper"].index(fact) for fact in answer.facts if fact in pair["paper"]]


def _sources_shown(is_sample: bool) -> list[Any]:
    return [gr.update(visible=is_sample), gr.update(visible=not is_sample)]


def _ask(source: str, number: int, own_paper: str) -> list[Any]:
    """Show another query, with nothing scored yet."""
    if source == SOURCES[0]:
        pair = sample_pairs()[number]
        message, facts = _answer_of_agent(number)
        query, choices = markup.message("Query", pair["query"]), _choices(pair["paper"])
        label = "Your reply (here: the demo agent's)"
    else:
        message, facts, query, label = "", [], "", "Your reply"
        choices = _choices([line.strip() for line in own_paper.splitlines() if line.strip()])
    shown = [query, gr.update(choices=choices, value=facts), gr.update(value=message, label=label)]
    return [*shown, "", "", "", "", *error_updates(_FIELDS)]


def _read_paper(text: str) -> list[Any]:
    """Offer the sentences of a pasted paper."""
    try:
        sentences = paper_sentences(text, "paper") if text.strip() else []
    except InputError as error:
        return [gr.update(choices=[], value=[]), *error_updates(["paper"], error), "", "", "", ""]
    return [gr.update(choices=_choices(sentences), value=[]), *error_updates(["paper"]), "", "", "", ""]


def _limit_choice(chosen: list[int]) -> list[Any]:
    """Keep the sentences that were chosen last."""
    if len(chosen) <= MAX_FACTS:
        return [gr.skip(), *error_updates(["chosen"])]
    dropped = ", ".join(str(i + 1) for i in chosen[:-MAX_FACTS])
    text = f"A reply rests on at most {MAX_FACTS} sentences, so sentence {dropped} is no longer chosen."
    return [chosen[-MAX_FACTS:], *error_updates(["chosen"], InputError("chosen", text))]


def _score(
    source: str, number: int, paper: str, gold: str, reference: str, chosen: list[int], reply: str
) -> Iterator[list[Any]]:
    """Show the scores first, and then the heat maps, which take longer to draw."""
    try:
        question = _question(source, number, paper, gold, reference)
        _check_answer(question, chosen, reply)
        scored = score_reply(reply, question.reference, chosen, question.gold)
    except InputError as error:
        yield ["", "", "", "", gr.skip(), *error_updates(_FIELDS, error)]
        return
    except (TypeError, ValueError) as error:
        yield ["", "", "", "", gr.skip(), *error_updates(_FIELDS, InputError("reply", str(error)))]
        return
    shown = [
        markup.marks_of_choices(_CHOICES_ID, scored.gold, scored.chosen),
        tiles_html(scored),
        _messages(question, reply) + words_html(scored.explanation),
    ]
    yield [*shown, markup.hint("Drawing ..."), scored.signature, *error_updates(_FIELDS)]
    yield [*shown, heat_maps_html(scored.explanation), scored.signature, *error_updates(_FIELDS)]


def _messages(question: Question, reply: str) -> str:
    return markup.message("Reply", reply) + markup.message("Reference reply", question.reference)


def _question(source: str, number: int, paper: str, gold: str, reference: str) -> Question:
    if source == SOURCES[0]:
        pair = sample_pairs()[number]
        return Question(pair["query"], pair["paper"], pair["reply"], pair["fact_ids"])
    sentences = paper_sentences(paper, "paper")
    check_message(reference, "reference")
    if not reference.strip():
        raise InputError("reference", "Write the reply that yours is compared with.")
    return Question("", sentences, reference, _gold_numbers(gold, len(sentences)))


def _gold_numbers(text: str, n_sentences: int) -> list[int]:
    """The numbers, from 1, that a person wrote, as indices."""
    parts = text.replace(",", " ").split()
    if not all(part.isdecimal() and len(part) < 5 and 1 <= int(part) <= n_sentences for part in parts):
        raise InputError("gold", f"Write numbers of sentences, from 1 to {n_sentences}, such as: 1, 2")
    return sorted({int(part) - 1 for part in parts})


def _check_answer(question: Question, chosen: Sequence[int], reply: str) -> None:
    check_message(reply, "reply")
    if len(set(chosen)) > MAX_FACTS:
        raise InputError("chosen", f"Choose at most {MAX_FACTS} sentences; {len(set(chosen))} are chosen.")
    if any(not 0 <= i < len(question.sentences) for i in chosen):
        raise InputError("chosen", "The paper has changed since a sentence was chosen; choose again.")
