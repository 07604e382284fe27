"""The made-up sample as the app offers it."""

from functools import cache

from argscichat.handed_in import References, read_predictions, read_references
from argscichat_dataset.corpus import Row as PairRow
from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.sample_rows import SAMPLE, SAMPLE_FILE
from argscichat_metric.rows import Row

AGENTS = {"demo agent": "predictions_demo_agent.jsonl", "second agent": "predictions_second_agent.jsonl"}
"""The agents of the sample -> their files."""


@cache
def sample_pairs() -> list[PairRow]:
    """The message pairs of the sample."""
    return read_pairs(SAMPLE_FILE)


@cache
def sample_predictions(agent: str) -> list[Row]:
    """The predictions of one of the `AGENTS`."""
    return read_predictions(SAMPLE / AGENTS[agent])


@cache
def sample_references() -> References:
    """The references of the sample."""
    return read_references(SAMPLE_FILE)
