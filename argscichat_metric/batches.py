"""Texts of similar length side by side, so that little of what the encoder computes is padding."""

from collections.abc import Sequence

import numpy as np

CPU_BATCH_COST = 64
"""What a batch costs on a CPU besides its tokens, in tokens; with all-MiniLM-L6-v2, 24 to 96 are as fast."""


def split_into_batches(lengths: Sequence[int], batch_tokens: int, batch_cost: int) -> list[list[int]]:
    """Split texts into the batches that cost least: their padded tokens, and something for each batch.

    To fill every batch, as is usual, computes 4 to 7 % more tokens than 2,000 pairs of replies have; this, 1 to 2 %.
    Fewer texts leave more padding: 6 % in the 246 replies of ArgSciChat.

    Args:
        lengths: tokens of each text; a text of 0 tokens comes into no batch.
        batch_tokens: padded tokens in a batch, >= 1; a longer text is a batch of its own.
        batch_cost: what a batch costs besides its padded tokens, in tokens. From `batch_tokens` on, there are as few
            batches as possible.

    Returns:
        Places of the texts of each batch, the longest text first; the batch of most padded tokens first, so that
        workers who share the batches end at about the same time.
    """
    order = sorted((i for i, length in enumerate(lengths) if length), key=lengths.__getitem__, reverse=True)
    n = len(order)
    widths = np.array([lengths[i] for i in order], dtype=np.float64)
    down = np.arange(n, 0, -1.0)
    # cost[end]: the least that the first `end` texts cost; start[end]: where the last batch of that split starts.
    cost, start = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    first = 0
    for end in range(1, n + 1):
        while first < end - 1 and widths[first] * (end - first) > batch_tokens:
            first += 1
        costs = cost[first:end] + widths[first:end] * down[n - end + first :]  # a batch is as wide as its first text
        best = int(costs.argmin())
        cost[end], start[end] = costs[best] + batch_cost, first + best
    batches, end = [], n
    while end:
        batches.append(order[start[end] : end])
        end = start[end]
    return sorted(batches, key=lambda batch: lengths[batch[0]] * len(batch), reverse=True)
