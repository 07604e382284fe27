"""Time of the bootstrap of all scores on a corpus of the size of ArgSciChat, and its memory."""

import time
import tracemalloc
from statistics import median

import numpy as np

from argscichat_metric.confidence import bootstrap_intervals, unit_totals, units_of

N_QUERIES, N_PAPERS, N_SCORES, N_RESAMPLES = 249, 20, 9, 10_000
TARGET_SECONDS = 1.0
ROUNDS = 5


def main() -> None:
    rng = np.random.default_rng(0)
    columns = rng.random((N_SCORES, N_QUERIES)).tolist()
    papers = [str(paper) for paper in rng.integers(N_PAPERS, size=N_QUERIES)]
    _intervals(columns, papers)  # imports scipy
    for kind, paper_ids in (("papers", papers), ("queries", None)):
        seconds = median(_seconds(columns, paper_ids) for _ in range(ROUNDS))
        reached = "reached" if seconds < TARGET_SECONDS else "missed"
        print(
            f"{N_RESAMPLES} resamples of {kind}, {N_SCORES} scores, {N_QUERIES} queries: {seconds:.3f} s "
            f"(target {TARGET_SECONDS:.0f} s: {reached}), peak memory {_peak_mb(columns, paper_ids):.0f} MB"
        )


def _intervals(columns: list[list[float]], paper_ids: list[str] | None) -> np.ndarray:
    units = units_of(paper_ids, N_QUERIES)
    totals = [unit_totals(column, units.unit_of_row, len(units.names)) for column in columns]
    sums, counts = (np.stack(side, axis=1) for side in zip(*totals, strict=True))
    return bootstrap_intervals(sums, counts, 0.95, N_RESAMPLES, 0)


def _seconds(columns: list[list[float]], paper_ids: list[str] | None) -> float:
    start = time.perf_counter()
    _intervals(columns, paper_ids)
    return time.perf_counter() - start


def _peak_mb(columns: list[list[float]], paper_ids: list[str] | None) -> float:
    tracemalloc.start()
    _intervals(columns, paper_ids)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


if __name__ == "__main__":
    main()
