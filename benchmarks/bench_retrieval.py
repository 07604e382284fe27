"""Speed of the retrieval scores: a run of 300 queries with 1000 documents each, input checks included."""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET_SECONDS = 1.0
JUDGED = 5
CORPUS = 5_000


def made_up_run(n_queries: int, n_documents: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rankings with scores in no order, as a system hands them in, and graded judgments."""
    chance = random.Random(0)
    documents = [f"doc{i}" for i in range(max(CORPUS, n_documents))]
    predictions = [
        {
            "id": f"q{i}",
            "ids": chance.sample(documents, n_documents),
            "scores": [chance.random() for _ in range(n_documents)],
        }
        for i in range(n_queries)
    ]
    references = [
        {"id": f"q{i}", "ids": chance.sample(documents, JUDGED), "grades": [chance.randrange(3) for _ in range(JUDGED)]}
        for i in range(n_queries)
    ]
    return predictions, references


def seconds_of(work: Callable[[], Any], rounds: int) -> list[float]:
    """Wall-clock seconds of some work, each round."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


def measure(n_queries: int, n_documents: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of every round: the plain function on rows, and a TREC run from its file to its scores."""
    from argscichat.rankings import read_run, score_run, write_run
    from argscichat_metric import compute_retrieval
    from argscichat_metric.retrieval_rows import read_rankings

    predictions, references = made_up_run(n_queries, n_documents)
    qrels = {row["id"]: dict(zip(row["ids"], row["grades"], strict=True)) for row in references}
    compute_retrieval(predictions[:1], references[:1])  # imports pytrec_eval
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.trec"
        write_run(path, {ranking.id: ranking for ranking in read_rankings(predictions)}, "bench")
        return {
            "compute_retrieval on rows": seconds_of(lambda: compute_retrieval(predictions, references), rounds),
            "score_run on a TREC file": seconds_of(lambda: score_run(read_run(path), qrels), rounds),
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table; a missed target is marked in it, and is no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=300, help="queries of the run (default: %(default)s)")
    parser.add_argument("--documents", type=int, default=1000, help="documents a query (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each timing (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    if min(chosen.queries, chosen.documents, chosen.rounds) < 1:
        parser.error("--queries, --documents, --rounds: expected at least 1")
    sys.path.insert(0, str(ROOT))
    print("| measure | median | slowest | target |")
    print("|---|---|---|---|")
    for name, seconds in measure(chosen.queries, chosen.documents, chosen.rounds).items():
        mark = "reached" if median(seconds) < TARGET_SECONDS else "**missed**"
        print(f"| {name} | {median(seconds):.2f} s | {max(seconds):.2f} s | < {TARGET_SECONDS:g} s ({mark}) |")


if __name__ == "__main__":
    main()
