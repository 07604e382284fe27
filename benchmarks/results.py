"""What a benchmark found: its table, its JSON file, and the machine that it ran on."""

import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "bert-score", "moverscore", "pyemd", "POT", "evaluate")


class Line(NamedTuple):
    """One row of the table, ready to print; `reached` is None where there is no target."""

    measure: str
    ours: str
    other: str = ""
    ratio: str = ""
    target: str = ""
    reached: bool | None = None


@dataclass(frozen=True)
class Measured:
    """What one measure found: its numbers for the JSON file, its rows for the table, and the ratios by name."""

    numbers: dict[str, Any]
    lines: list[Line]
    speedups: dict[str, float] = field(default_factory=dict)


def describe_machine() -> dict[str, Any]:
    """What the numbers depend on besides the code."""
    import torch

    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def seconds_of_others() -> float | None:
    """Processor time that other programs have used since some moment in the past; None where nobody says."""
    statistics = Path("/proc/stat")
    if not statistics.exists():
        return None
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, statistics.read_text().split()[1:9])
    mine = os.times()
    everyone = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    return everyone - mine.user - mine.system - mine.children_user - mine.children_system


def as_json(found: dict[str, Measured], machine: dict[str, Any], data: str) -> dict[str, Any]:
    """Every number of a run; the ratios to the originals come first, under keys with `speedup`."""
    speedups = {name: value for measured in found.values() for name, value in measured.speedups.items()}
    missed = [line.measure for measured in found.values() for line in measured.lines if line.reached is False]
    details = {name: measured.numbers for name, measured in found.items()}
    return {**speedups, "missed_targets": missed, "data": data, "machine": machine, **details}


def as_markdown(found: dict[str, Measured], machine: dict[str, Any], data: str) -> str:
    """The table of a run, and below it what it was measured on."""
    versions = ", ".join(f"{name} {machine[name]}" for name in PACKAGES)
    table = [
        "| measure | ours | other | ratio | target |",
        "|---|---|---|---|---|",
        *(_table_row(line) for measured in found.values() for line in measured.lines),
    ]
    notes = [
        f"Data: {data}. Encoder: all-MiniLM-L6-v2, float32, on the CPU, for all.",
        f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['torch_threads']} threads of torch; "
        f"{_share(machine['cores_used_by_others'])} used by other programs during the run.",
        f"Versions: Python {machine['python']}, {versions}.",
    ]
    return "\n".join(table) + "\n\n" + "\n".join(f"- {note}" for note in notes) + "\n"


def _table_row(line: Line) -> str:
    mark = {None: "", True: " (reached)", False: " (**missed**)"}[line.reached]
    return f"| {line.measure} | {line.ours} | {line.other} | {line.ratio} | {line.target}{mark} |"


def _share(cores: float | None) -> str:
    return "an unknown number of cores" if cores is None else f"{cores:.1f} cores"


def write_text(path: Path, text: str) -> None:
    """Write a file whole."""
    # Beside and renamed, so that a run that is stopped leaves the results of the run before.
    partial_file = path.with_name(path.name + ".partial")
    partial_file.write_text(text, encoding="utf-8")
    partial_file.replace(path)
