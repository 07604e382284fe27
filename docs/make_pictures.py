"""Make the pictures of the README: two screenshots of the app, and a figure of the sample's two agents.

    python docs/make_pictures.py [--output FOLDER]

It starts the app and drives a Chromium of the machine (the program `chromium`), as the tests of the app do.
"""

import argparse
import io
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

from argscichat.compare import compare_systems
from argscichat.comparison_figures import comparison_figures
from argscichat.figure_style import save_figure
from argscichat_dataset.sample_rows import SAMPLE, SAMPLE_FILE

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"

CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_WIDTH, _HEIGHT = 1340, 860
_SECONDS_TO_START = 120


@contextmanager
def running_app() -> Iterator[str]:
    """The app on a free port of this machine.

    Yields:
        Its address.

    Raises:
        RuntimeError: it does not answer.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port)}
    app = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address, app)
        yield address
    finally:
        app.terminate()
        app.wait()


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window, started through Playwright.

    Raises:
        FileNotFoundError: there is no program `chromium`.
    """
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        raise FileNotFoundError("chromium: there is no such program on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(CHROMIUM_ARGUMENTS))
        yield browser
        browser.close()


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of the README.")
    parser.add_argument("--output", type=Path, default=PICTURES, help="folder to write them to")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    with running_app() as address, chromium() as browser:
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.goto(f"{address}/?__theme=light")
        page.get_by_role("button", name="Score the reply").click()
        page.get_by_alt_text("Heat map: how much").wait_for()
        _save_small(page.screenshot(full_page=True), folder / "try_it.png")
        page.get_by_role("tab", name="Score a file").click()
        page.get_by_role("button", name="Score the files").click()
        page.get_by_role("heading", name="By query").wait_for()
        page.wait_for_timeout(1000)  # the table takes its place
        _save_small(page.screenshot(full_page=True), folder / "score_a_file.png")
    agents = {name: SAMPLE / f"predictions_{name}_agent.jsonl" for name in ("demo", "second")}
    figures = dict(comparison_figures(compare_systems(agents, SAMPLE_FILE)))
    save_figure(figures["scores"], folder / "scores.png")


def _save_small(png: bytes, path: Path) -> None:
    """Write a screenshot with a palette, for a third of the bytes."""
    from PIL import Image

    # Of the methods, the one that keeps rare colours: the others turn the marks' orange into brown.
    small = Image.open(io.BytesIO(png)).convert("RGB").quantize(method=Image.Quantize.MAXCOVERAGE)
    small.save(path, optimize=True)


def _wait_for(address: str, app: subprocess.Popen) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end and app.poll() is None:
        try:
            urllib.request.urlopen(address)
            return
        except URLError:
            time.sleep(0.5)
    raise RuntimeError("the app does not answer")


if __name__ == "__main__":
    main()
