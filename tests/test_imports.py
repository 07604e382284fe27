"""Imports: no module of ours pays for a library before it needs it; and the examples in all docstrings."""

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("argscichat_metric", "argscichat_dataset", "argscichat")
HEAVY = {"bert_score", "datasets", "evaluate", "ot", "pytrec_eval", "torch", "transformers"}
# Imports evaluate, and with it all of the above: that is what it is for.
SCRIPT = "argscichat_metric.argscichat_metric"
# A builder and its features are objects of datasets.
NEEDED = {
    f"argscichat_dataset.{name}": {"datasets"} for name in ("beir_builder", "builder", "content_config", "features")
}
RUNS_WHEN_IMPORTED = "argscichat.__main__"


def module_names() -> list[str]:
    """Every module in the folders of the packages, whatever imports it."""
    return sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
    )


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh process holds after some code."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_every_package_has_modules():
    found = {name.partition(".")[0] for name in module_names()}
    assert found == set(PACKAGES)
    assert {SCRIPT, RUNS_WHEN_IMPORTED} <= set(module_names())


@pytest.mark.parametrize("name", [name for name in module_names() if name not in (SCRIPT, RUNS_WHEN_IMPORTED)])
def test_a_module_imports_alone_and_without_heavy_libraries(name):
    assert not (HEAVY - NEEDED.get(name, set())) & loaded_after(f"import {name}")


def test_the_metric_package_imports_without_numpy():
    assert "numpy" not in loaded_after("import argscichat_metric")


def test_scores_without_an_encoder_leave_heavy_libraries_out():
    rows = '[{"message": "a b", "facts": [1]}, {"message": "", "facts": []}]'
    call = f'compute_scores({rows}, {rows}, metrics=["fact_f1", "message_f1"], per_example=True)'
    loaded = loaded_after(f"from argscichat_metric import compute_scores\n{call}")
    assert not (HEAVY | {"numpy"}) & loaded


def test_retrieval_scores_need_pytrec_eval_and_no_other_heavy_library():
    loaded = loaded_after('from argscichat_metric import compute_retrieval\ncompute_retrieval([["a"]], [["a"]])')
    assert HEAVY & loaded == {"pytrec_eval"}


def test_rejected_options_and_rows_leave_heavy_libraries_out():
    calls = ['compute_scores("a", "b")', "compute_scores(['a'], ['b'], encoder=1)"]
    code = "\n".join(f"try:\n    {call}\nexcept (TypeError, ValueError):\n    pass" for call in calls)
    assert not HEAVY & loaded_after(f"from argscichat_metric import compute_scores\n{code}")


@pytest.mark.parametrize("name", [name for name in module_names() if name != RUNS_WHEN_IMPORTED])
def test_the_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(
    "name",
    [
        "argscichat_metric.compute",
        "argscichat_metric.fact_f1",
        "argscichat_metric.message_f1",
        "argscichat_metric.retrieval",
    ],
)
def test_the_public_functions_have_examples(name):
    assert doctest.testmod(importlib.import_module(name)).attempted > 0
