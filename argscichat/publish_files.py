"""The two files of the Space that are made for the Hub: README.md, the metric card, and requirements.txt."""

import re

from argscichat_metric.shortened import shorten

# The pinned packages need Python 3.11; a Space that names no version gets an older one.
PYTHON_VERSION = "3.11"
# How the metric card names the metric of a checkout.
LOCAL_METRIC = '"./argscichat_metric"'

# Colours are of the list that the Hub takes: red, yellow, green, blue, indigo, purple, pink, gray.
_HEADER = {
    "emoji": "🔎",
    "colorFrom": "blue",
    "colorTo": "yellow",
    "sdk": "gradio",
    "python_version": PYTHON_VERSION,
    "app_file": "app.py",
    "pinned": False,
}
_REQUIREMENTS = """\
# For the Space: Linux and Python {python}. The first line adds the CPU builds of torch, which pip prefers.
--extra-index-url https://download.pytorch.org/whl/cpu
{pins}
"""


def space_readme(metric_card: str, gradio_version: str, repo_id: str | None) -> str:
    """The README of the Space: the metric card under a header that the Hub takes for a Gradio app.

    Args:
        metric_card: text of `argscichat_metric/README.md`, whose header holds title, licence, tags and description.
        gradio_version: release of gradio that the Hub installs.
        repo_id: the Space, USER/NAME, from which the examples of the card then load the metric; None leaves them as
            they are.

    Returns:
        Markdown with a YAML header.

    Raises:
        ValueError: the metric card has no header, or a malformed one.
    """
    from huggingface_hub import RepoCard, SpaceCardData

    card = RepoCard(metric_card)
    header = SpaceCardData(**{**card.data.to_dict(), **_HEADER, "sdk_version": gradio_version})
    text = card.text.strip() + "\n"
    if repo_id is not None:
        text = text.replace(LOCAL_METRIC, f'"{repo_id}"')
    return f"---\n{header.to_yaml()}\n---\n\n{text}"


def space_requirements(requirements: str) -> str:
    """The requirements of the Space: the pins of the project, with torch for a machine without a GPU.

    Args:
        requirements: text of the project's `requirements.txt`.

    Returns:
        Text for `requirements.txt` at the root of the Space.
    """
    pins = [line for line in map(str.strip, requirements.splitlines()) if line and not line.startswith("#")]
    return _REQUIREMENTS.format(python=PYTHON_VERSION, pins="\n".join(pins))


def pinned_version(requirements: str, package: str) -> str:
    """The version that a requirements file pins.

    Args:
        requirements: text of the file.
        package: name of the package.

    Returns:
        The version behind `==`.

    Raises:
        ValueError: the package is not pinned.
    """
    pin = re.search(rf"^{re.escape(package)}==(\S+)", requirements, flags=re.MULTILINE)
    if pin is None:
        raise ValueError(f"requirements.txt: expected a line {shorten(f'{package}==VERSION')}, found none")
    return pin[1]
