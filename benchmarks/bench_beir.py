"""Memory and speed of reading and checking BEIR folders: each measure in a fresh process, by its peak memory and time.

A corpus of short documents is written to a temporary folder in two sizes. Going over it must take the same memory in
both; the check may take what the ids take. `README.md` beside this file says how to read the table.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SCIFACT = ROOT.parent / "shared" / "scifact"
SECONDS_FOR_SCIFACT = 3
MOST_GROWTH_MB = 10
"""What going over ten times as many documents may take more: noise of the allocator."""
MOST_BYTES_AN_ID = 300
"""What the check may hold for each document: its id, a hash and their places in a table."""
DOCUMENTS_A_QUERY = 100
GO_OVER = """\
from argscichat_dataset.beir import iter_corpus
for _ in iter_corpus(folder + "/corpus.jsonl"):
    pass"""
CHECK = """\
from argscichat_dataset.beir_check import check_beir
assert check_beir(folder).sound"""
READ_AND_CHECK = f"""\
from argscichat_dataset.beir import read_beir
read_beir(folder, "test")
{CHECK}"""


class Cost(NamedTuple):
    """Peak memory of a process and the time that its task took, without the start of Python."""

    peak_bytes: int
    seconds: float


def write_folder(folder: Path, n: int) -> None:
    """Write a BEIR folder of n short documents, and a judged query for every hundredth of them."""
    (folder / "qrels").mkdir(parents=True)
    with (folder / "corpus.jsonl").open("w") as file:
        for i in range(n):
            file.write(json.dumps({"_id": f"d{i}", "title": f"Title {i}", "text": f"A short text about {i}."}) + "\n")
    judged = range(0, n, DOCUMENTS_A_QUERY)
    with (folder / "queries.jsonl").open("w") as file:
        file.writelines(json.dumps({"_id": f"q{i}", "text": f"What is {i}?"}) + "\n" for i in judged)
    with (folder / "qrels" / "test.tsv").open("w") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        file.writelines(f"q{i}\td{i}\t1\n" for i in judged)


def measure(task: str, folder: Path) -> Cost:
    """Run a task on a folder in a fresh process."""
    from benchmarks.processes import run_python

    code = (
        "import time\nfrom benchmarks.processes import peak_bytes\n"
        f"folder = {str(folder)!r}\nstart = time.perf_counter()\n{task}\n"
        "print(peak_bytes(), time.perf_counter() - start)"
    )
    peak, seconds = run_python(code).split()
    return Cost(int(peak), float(seconds))


def measure_sizes(sizes: tuple[int, int]) -> list[str]:
    """Rows of the table for both tasks at both sizes."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folders = {n: Path(place) / str(n) for n in sizes}
        for n, folder in folders.items():
            write_folder(folder, n)
        for name, task in (("going over", GO_OVER), ("checking", CHECK)):
            costs = {n: measure(task, folder) for n, folder in folders.items()}
            rows += [
                f"| {name} {n:,} documents | {cost.peak_bytes / 1e6:.0f} MB, {cost.seconds:.1f} s | |"
                for n, cost in costs.items()
            ]
            rows.append(_growth_row(name, costs[sizes[1]].peak_bytes - costs[sizes[0]].peak_bytes, sizes))
    return rows


def _growth_row(name: str, growth: int, sizes: tuple[int, int]) -> str:
    if name == "going over":
        value, target, reached = (
            f"{growth / 1e6:.1f} MB",
            f"at most {MOST_GROWTH_MB} MB",
            growth <= MOST_GROWTH_MB * 1e6,
        )
    else:
        of_each = growth / (sizes[1] - sizes[0])
        target, reached = f"at most {MOST_BYTES_AN_ID} bytes a document", of_each <= MOST_BYTES_AN_ID
        value = f"{growth / 1e6:.0f} MB, {of_each:.0f} bytes a document"
    return f"| {name}: growth between them | {value} | {target}{_mark(reached)} |"


def _mark(reached: bool) -> str:
    return " (reached)" if reached else " (**missed**)"


def measure_scifact() -> list[str]:
    """A row for SciFact where it is beside the checkout, else a row that says that it is not."""
    if not SCIFACT.is_dir():
        return ["| reading and checking SciFact | not measured: no ../shared/scifact | |"]
    cost = measure(READ_AND_CHECK, SCIFACT)
    mark = _mark(cost.seconds < SECONDS_FOR_SCIFACT)
    measured = f"{cost.seconds:.2f} s, {cost.peak_bytes / 1e6:.0f} MB"
    return [f"| reading and checking SciFact | {measured} | under {SECONDS_FOR_SCIFACT} s{mark} |"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table; a missed target is marked, and is no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000, help="the larger corpus (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    if chosen.documents < 1000:
        parser.error(f"--documents: expected at least 1000, got {chosen.documents}")
    sys.path.insert(0, str(ROOT))
    rows = measure_scifact() + measure_sizes((chosen.documents // 10, chosen.documents))
    print("\n".join(["| measure | here | target |", "|---|---|---|", *rows]))


if __name__ == "__main__":
    main()
