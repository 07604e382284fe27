"""The config "retrieval" as `evaluate` loads it: the same results as the plain function, and nothing left behind."""

import doctest
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import datasets
import evaluate
import pytest

from argscichat_metric import compute_retrieval, compute_scores
from argscichat_metric.retrieval_options import RetrievalOptions

PREDICTIONS = [
    {"ids": ["d1", "d2", "d3"], "scores": [0.1, 0.9, 0.9], "id": "q1"},
    ["d3", "d1"],
    {"ids": [7, 8]},
    [],
    {"ids": ["d5"], "id": 5},
]
REFERENCES = [
    {"ids": ["d1", "d3", "d9"], "grades": [1, 3, 1], "id": "q1"},
    {"ids": ["d1", "d2"], "grades": [0, 1], "candidates": ["d1", "d2"]},
    [8],
    ["d1"],
    {"ids": [], "candidates": []},
]
OPTIONS = {"k": [1, 2, 10], "per_example": True}


@pytest.fixture
def metric(metric_folder, tmp_path) -> evaluate.Metric:
    """A fresh metric object with a cache folder of its own."""
    return evaluate.load(metric_folder, "retrieval", cache_dir=str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return compute_retrieval(PREDICTIONS, REFERENCES, **OPTIONS)


def _compute(metric: evaluate.Metric) -> Any:
    return metric.compute(predictions=PREDICTIONS, references=REFERENCES, **OPTIONS)


def _add_batch(metric: evaluate.Metric) -> Any:
    metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    metric.add_batch(predictions=PREDICTIONS[2:], references=REFERENCES[2:])
    return metric.compute(**OPTIONS)


def _add(metric: evaluate.Metric) -> Any:
    for prediction, reference in zip(PREDICTIONS, REFERENCES, strict=True):
        metric.add(prediction=prediction, reference=reference)
    return metric.compute(**OPTIONS)


def _mixed(metric: evaluate.Metric) -> Any:
    metric.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    metric.add_batch(predictions=[], references=[])
    return metric.compute(predictions=PREDICTIONS[1:], references=REFERENCES[1:], **OPTIONS)


WAYS = [_compute, _add_batch, _add, _mixed]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_give_rows_scores_as_the_plain_function(metric, way, expected):
    assert expected["n_outside_candidates"] == 2
    assert expected["missing"] == [3]
    for _ in range(2):
        assert way(metric) == expected


def test_rows_can_stay_in_memory(metric_folder, tmp_path, expected):
    metric = evaluate.load(metric_folder, "retrieval", keep_in_memory=True, cache_dir=str(tmp_path))
    assert _add_batch(metric) == expected
    assert not list(tmp_path.rglob("*.arrow"))


def test_columns_of_a_dataset_are_rows(metric):
    data = datasets.Dataset.from_dict({"ranked": [["a", "b"], ["c"]], "gold": [["b"], ["c"]]})
    assert metric.compute(predictions=data["ranked"], references=data["gold"])["mrr"] == 0.75


def test_the_result_is_json(metric):
    result = _compute(metric)
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def _call(**arguments: Any) -> Callable[[evaluate.Metric], Any]:
    good = {"predictions": [["a"]], "references": [["a"]]}
    return lambda metric: metric.compute(**{**good, **arguments})


REJECTED = {
    "a later row is a text": (_call(predictions=[["a"], "b"], references=[["a"], ["b"]]), ValueError, "predictions[1]"),
    "list of texts": (_call(predictions=["a"]), ValueError, "predictions[0]: expected a dict"),
    "row of the other config": (_call(predictions=[{"facts": ["a"]}]), ValueError, "unknown key 'facts'"),
    "nan": (
        _call(predictions=[{"ids": ["a"], "scores": [float("nan")]}]),
        ValueError,
        "predictions[0]['scores'][0]: expected a finite number for the id 'a'",
    ),
    "no references": (_call(references=None), TypeError, "references: expected a list"),
    "lengths": (_call(references=[]), ValueError, "1 predictions and 0 references"),
    "no rows": (_call(predictions=[], references=[]), ValueError, "no rows"),
    "nothing added": (lambda metric: metric.compute(), ValueError, "no rows"),
    "option of the other config": (_call(metrics=["fact_f1"]), TypeError, "'metrics' is not an option"),
    "bad cutoff": (_call(k=0), ValueError, "k: expected"),
    "different ids": (
        _call(predictions=[{"ids": ["a"], "id": 1}], references=[{"ids": ["a"], "id": 2}]),
        ValueError,
        "row 0",
    ),
}


@pytest.mark.parametrize(("call", "kind", "part"), REJECTED.values(), ids=REJECTED)
def test_a_rejected_call_leaves_nothing_behind_for_the_next_one(metric, tmp_path, call, kind, part, expected):
    with pytest.raises(kind) as error:
        call(metric)
    assert part in str(error.value)
    assert len(str(error.value)) < 1000
    assert not list(tmp_path.rglob("*.arrow"))
    assert _compute(metric) == expected


def test_a_rejected_batch_adds_none_of_its_rows_and_keeps_those_of_earlier_ones(metric):
    metric.add_batch(predictions=[["x"]], references=[["x"]])
    with pytest.raises(ValueError, match=r"predictions\[1\]"):
        metric.add_batch(predictions=[["y"], "y"], references=[["y"], ["y"]])
    assert metric.compute()["n_queries"] == 1


def test_the_two_configs_do_not_disturb_each_other(metric, metric_folder, tmp_path, expected):
    replies = evaluate.load(metric_folder, cache_dir=str(tmp_path / "cache"))
    replies.add(prediction=[1, 2], reference=[2])
    metric.add_batch(predictions=PREDICTIONS, references=REFERENCES)
    assert replies.compute() == compute_scores([[1, 2]], [[2]])
    assert metric.compute(**OPTIONS) == expected


def test_the_default_config_is_the_one_without_a_name(metric_folder):
    named, unnamed = evaluate.load(metric_folder, "default"), evaluate.load(metric_folder)
    assert named.features == unnamed.features
    assert "fact_ids" in unnamed.features["predictions"]


def test_features_are_declared_as_one_nested_set_of_texts_and_numbers(metric):
    text = datasets.Value("string")
    texts, numbers = datasets.List(text), datasets.List(datasets.Value("int64"))
    assert metric.features == datasets.Features(
        {
            "predictions": {"id": text, "ids": texts},
            "references": {"id": text, "ids": texts, "grades": numbers, "candidates": texts},
        }
    )


def documented_names(result: dict[str, Any]) -> set[str]:
    """The options, and the keys of a result with k for the cutoffs."""
    keys = {key.partition("@")[0] + "@k" if "@" in key and key != "fact_f1@2" else key for key in result}
    return keys | {field.name for field in fields(RetrievalOptions)}


def test_the_documentation_names_every_option_and_every_key(metric, expected):
    for name in documented_names(expected):
        assert f"`{name}`" in metric.inputs_description
    for name in ("ids", "scores", "grades", "candidates", "id"):
        assert f'"{name}"' in metric.inputs_description


def test_the_examples_of_the_documentation_are_true(metric, root, monkeypatch):
    monkeypatch.chdir(root)
    examples = doctest.DocTestParser().get_doctest(metric.inputs_description, {}, "inputs", None, None)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_the_card_names_every_option_and_every_key(metric_folder, expected):
    section = Path(metric_folder, "README.md").read_text(encoding="utf-8").split("## Retrieval scores")[1]
    for name in documented_names(expected):
        assert f"`{name}`" in section
