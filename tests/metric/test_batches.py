"""Batches of texts: each text once, within the limit, and no split costs less."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from argscichat_metric.batches import split_into_batches

FEW_BINARY_DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128]
FEW_BINARY_DIGITS += [160, 192, 224, 256]


def padded(batch: Sequence[int], lengths: Sequence[int]) -> int:
    return max(lengths[i] for i in batch) * len(batch)


def splits_of_the_sorted(lengths: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Every way to cut the texts, sorted by length, into batches."""
    places = sorted((i for i, length in enumerate(lengths) if length), key=lengths.__getitem__)
    for n_cuts in range(len(places)):
        for cuts in combinations(range(1, len(places)), n_cuts):
            bounds = (0, *cuts, len(places))
            yield [tuple(places[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)]


@given(st.lists(st.integers(0, 9), max_size=10), st.integers(1, 40), st.integers(0, 12))
def test_no_split_costs_less(lengths, batch_tokens, batch_cost):
    batches = split_into_batches(lengths, batch_tokens, batch_cost)
    assert sorted(sum(batches, [])) == [i for i, length in enumerate(lengths) if length]
    assert all(len(batch) == 1 or padded(batch, lengths) <= batch_tokens for batch in batches)

    def cost(split: Sequence[Sequence[int]]) -> int:
        return sum(padded(batch, lengths) + batch_cost for batch in split)

    allowed = (
        split
        for split in splits_of_the_sorted(lengths)
        if all(
            len(batch) == 1 or (padded(batch, lengths) <= batch_tokens and len(batch) in FEW_BINARY_DIGITS)
            for batch in split
        )
    )
    assert cost(batches) == min(map(cost, allowed), default=0)


@given(st.lists(st.integers(1, 5), max_size=300), st.sampled_from([16, 64, 512]))
@example([1] * 300, 64)
def test_few_numbers_of_texts_occur(lengths, batch_cost):
    batches = split_into_batches(lengths, 512, batch_cost)
    assert {len(batch) for batch in batches} <= set(FEW_BINARY_DIGITS)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=300))
def test_the_largest_batch_comes_first_and_starts_with_its_longest_text(lengths):
    batches = split_into_batches(lengths, 128, 16)
    sizes = [padded(batch, lengths) for batch in batches]
    assert sizes == sorted(sizes, reverse=True)
    assert all(lengths[batch[0]] == max(lengths[i] for i in batch) for batch in batches)


@pytest.mark.parametrize(("batch_cost", "expected"), [(0, 3), (64, 1), (1024, 1)])
def test_a_dear_batch_is_filled_and_a_cheap_one_closed_at_the_next_length(batch_cost, expected):
    assert len(split_into_batches([7, 3, 5, 7, 3, 5], 1024, batch_cost)) == expected


def test_long_texts_come_alone():
    assert split_into_batches([50, 2, 80], 10, 64) == [[2], [0], [1]]


def test_no_texts_are_no_batches():
    assert split_into_batches([], 10, 64) == split_into_batches([0, 0], 10, 64) == []
