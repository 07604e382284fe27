"""The page: its tabs, its queue, and the settings that it is served with."""

import threading
from typing import Any

import gradio as gr

from argscichat.space.corpora import corpora
from argscichat.space.limits import MAX_FILE_BYTES
from argscichat.space.read_corpus import build_read_corpus
from argscichat.space.replies import score_reply
from argscichat.space.score_files import build_score_files
from argscichat.space.theme import STYLE_SHEET, page_theme
from argscichat.space.try_it import build_try_it
from argscichat.space.use_it import build_use_it

_TITLE = "ArgSciChat scores"
_HEAD = """\
<header class="asc-header">
<h1>Why did the agent get its score?</h1>
<p>An agent answers a query about a scientific paper with at most two of its sentences and a free reply. Here you see
its four scores, Fact&#8209;F1, Message&#8209;F1, BERTScore and MoverScore, and what they are made of.</p>
</header>"""

_AT_ONCE = 2
"""Requests that are worked on at the same time; more would share the same cores."""

_WAITING = 40
"""Requests that may wait; the next one is told that the app is busy."""

_KEPT_SECONDS = 3600


def build_demo(data: str | None = None) -> gr.Blocks:
    """Build the app; no model is loaded.

    Args:
        data: folder that `argscichat data build` wrote, to be read beside the sample; or None.

    Returns:
        The app, to be launched with `launch_settings()`.

    Raises:
        SourceError: the folder is no built dataset.
    """
    shown = corpora(data)
    with gr.Blocks(title=_TITLE, analytics_enabled=False, delete_cache=(_KEPT_SECONDS, _KEPT_SECONDS)) as demo:
        gr.HTML(_HEAD)
        signature = gr.Textbox(
            "Nothing has been scored yet.",
            label="Signature of what was scored last",
            lines=3,
            interactive=False,
            buttons=["copy"],
            render=False,
            elem_id="asc-signature",
        )
        with gr.Tab("Try it"):
            build_try_it(signature)
        with gr.Tab("Score a file"):
            build_score_files(signature)
        with gr.Tab("Read the corpus"):
            build_read_corpus(shown)
        with gr.Tab("Use it"):
            build_use_it(signature)
    return demo.queue(max_size=_WAITING, default_concurrency_limit=_AT_ONCE)


def launch_settings() -> dict[str, Any]:
    """The arguments of `launch()`: nothing is asked of another server, and nothing of the runs is kept."""
    return {
        "theme": page_theme(),
        "css_paths": [STYLE_SHEET],
        "max_file_size": MAX_FILE_BYTES,
        "footer_links": [],
        "run_history": False,
        "ssr_mode": False,
        "state_session_capacity": 200,
        "show_error": False,
    }


def warm_up() -> None:
    """Load the encoder in the background, so that neither the first page nor the first score waits for all of it."""
    threading.Thread(target=score_reply, args=("A reply.", "Another one.", (), ()), daemon=True).start()
