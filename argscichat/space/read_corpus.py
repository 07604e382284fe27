"""The tab that shows a dialogue beside its paper."""

from typing import Any

import gradio as gr

from argscichat.space import markup
from argscichat.space.corpora import Corpora
from argscichat_dataset.corpus import Row

_ALL_REPLIES = 0


def build_read_corpus(corpora: Corpora) -> None:
    """Put the tab into the page that is being built.

    Args:
        corpora: what can be read.
    """
    fold = next(iter(corpora.splits))
    choices, view = _choices_and_view(corpora, fold, None, None, None, _ALL_REPLIES)
    with gr.Row():
        boxes = [
            gr.Dropdown(list(corpora.splits), value=fold, label="Fold", min_width=140, elem_id="asc-fold"),
            gr.Dropdown(label="Split", min_width=120, elem_id="asc-split", **choices[0]),
            gr.Dropdown(label="Paper", scale=2, min_width=260, elem_id="asc-paper", **choices[1]),
            gr.Dropdown(label="Dialogue", min_width=200, elem_id="asc-dialogue", **choices[2]),
        ]
    reply = gr.Radio(label="Mark the facts of", elem_id="asc-marked", **choices[3])
    with gr.Row(equal_height=False):
        with gr.Column(min_width=320):
            chat = gr.HTML(view[0])
        with gr.Column(min_width=320):
            paper = gr.HTML(view[1])

    def show(*chosen: Any) -> list[Any]:
        choices, view = _choices_and_view(corpora, *chosen)
        return [*(gr.update(**choice) for choice in choices), *view]

    gr.on(
        [box.input for box in (*boxes, reply)],
        show,
        [*boxes, reply],
        [*boxes[1:], reply, chat, paper],
        api_visibility="private",
        show_progress="hidden",
    )


def _choices_and_view(
    corpora: Corpora, fold: str, split: str | None, paper_id: str | None, dialogue_id: str | None, marked: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """What the boxes offer and what is shown; a choice that is not offered any more gives way to the first that is."""
    splits = corpora.splits[fold]
    split = _kept(split, splits)
    pairs = corpora.read(fold, split)
    papers = {pair["paper_id"]: pair["title"] for pair in pairs}
    paper_id = _kept(paper_id, list(papers))
    dialogues = list(dict.fromkeys(pair["dialogue_id"] for pair in pairs if pair["paper_id"] == paper_id))
    dialogue_id = _kept(dialogue_id, dialogues)
    turns = [pair for pair in pairs if pair["paper_id"] == paper_id and pair["dialogue_id"] == dialogue_id]
    replies = [_ALL_REPLIES, *range(1, len(turns) + 1)]
    marked = _kept(marked, replies)
    choices = [
        {"choices": splits, "value": split},
        {"choices": [(title, i) for i, title in papers.items()], "value": paper_id},
        {"choices": [(_dialogue_name(pairs, i, n), i) for n, i in enumerate(dialogues, 1)], "value": dialogue_id},
        {"choices": [("reply " + str(n) if n else "all replies", n) for n in replies], "value": marked},
    ]
    return choices, [_chat(turns), _paper(turns, marked)]


def _kept(value: Any, offered: list[Any]) -> Any:
    return value if value in offered else offered[0]


def _dialogue_name(pairs: list[Row], dialogue_id: str, number: int) -> str:
    n_pairs = sum(pair["dialogue_id"] == dialogue_id for pair in pairs)
    return f"dialogue {number}: {n_pairs} queries"


def _chat(turns: list[Row]) -> str:
    messages = []
    for number, pair in enumerate(turns, start=1):
        facts = ", ".join(str(i + 1) for i in pair["fact_ids"])
        remark = f"rests on sentence {facts}" if facts else "rests on no sentence"
        messages.append(markup.message(f"Proponent, query {number}", pair["query"]))
        messages.append(markup.message(f"Expert, reply {number}", pair["reply"], side="right", remark=remark))
    return f'<div class="asc-chat">{"".join(messages)}</div>'


def _paper(turns: list[Row], marked: int) -> str:
    replies: dict[int, list[int]] = {}
    for number, pair in enumerate(turns, start=1):
        if marked in (_ALL_REPLIES, number):
            for i in pair["fact_ids"]:
                replies.setdefault(i, []).append(number)
    return markup.heading(turns[0]["title"]) + markup.paper_of_dialogue(turns[0]["paper"], replies)
