"""The metric as `evaluate` loads it: where it runs, what it takes, and what a rejected call leaves behind."""

import ast
import builtins
import doctest
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import evaluate
import filelock
import pytest
import transformers

from argscichat_metric.compute import compute_scores

MESSAGE_LIMIT = 1000
WORDS_AND_FACTS = {"metrics": ["fact_f1", "message_f1"]}

ROWS: dict[str, tuple[list, list]] = {
    "messages and sentences": (
        [
            {"message": "a small corpus", "facts": ["s1", "s2"]},
            {"message": "", "facts": []},
            {"message": "b", "facts": ["s"]},
        ],
        [{"message": "the corpus", "facts": ["s2"]}, {"message": "x", "facts": ["s3"]}, {"message": "b", "facts": []}],
    ),
    "indices": ([[1, 2], [], [0]], [[2], [3], []]),
    "largest indices": ([[2**63 - 1], [0], [1]], [[2**63 - 1], [0], [2**62]]),
    "messages": (["a b", "", "naïve 😀"], ["b", "a", "naïve 😀"]),
    "facts on one side only": ([{"message": "a", "facts": [1]}] * 3, ["a", "b", "c"]),
    "no facts anywhere but one": ([[], [], ["s"]], [[], ["t"], ["s"]]),
    "ids and papers": (
        [
            {"message": "a", "facts": [1], "id": 1},
            {"message": "b", "facts": [], "id": 'q "2"'},
            {"message": "c", "facts": []},
        ],
        [
            {"message": "a", "facts": [1], "id": "1", "paper_id": "p"},
            {"message": "b", "facts": [2]},
            {"message": "", "facts": []},
        ],
    ),
}


@pytest.fixture
def metric(metric_folder, tmp_path) -> evaluate.Metric:
    """A fresh metric object with a cache folder of its own."""
    return evaluate.load(metric_folder, cache_dir=str(tmp_path / "cache"))


def options_for(predictions: list, references: list) -> dict[str, Any]:
    """The metrics that the rows have fields for, without the two that need an encoder."""
    has = {field: all(_carries(side[0], field) for side in (predictions, references)) for field in ("message", "facts")}
    names = {"message": "message_f1", "facts": "fact_f1"}
    return {"per_example": True, "metrics": [names[field] for field in has if has[field]]}


def _carries(row: Any, field: str) -> bool:
    return field in row if isinstance(row, dict) else isinstance(row, str) == (field == "message")


# --- Ways to give rows ---


def _compute(metric: evaluate.Metric, predictions: list, references: list, **options: Any) -> Any:
    return metric.compute(predictions=predictions, references=references, **options)


def _add_batch(metric: evaluate.Metric, predictions: list, references: list, **options: Any) -> Any:
    metric.add_batch(predictions=predictions, references=references)
    return metric.compute(**options)


def _add(metric: evaluate.Metric, predictions: list, references: list, **options: Any) -> Any:
    for prediction, reference in zip(predictions, references, strict=True):
        metric.add(prediction=prediction, reference=reference)
    return metric.compute(**options)


def _mixed(metric: evaluate.Metric, predictions: list, references: list, **options: Any) -> Any:
    metric.add(prediction=predictions[0], reference=references[0])
    metric.add_batch(predictions=[], references=[])
    metric.add_batch(predictions=predictions[1:2], references=references[1:2])
    return metric.compute(predictions=predictions[2:], references=references[2:], **options)


WAYS = [_compute, _add_batch, _add, _mixed]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("predictions", "references"), ROWS.values(), ids=ROWS)
def test_every_way_to_give_rows_scores_as_the_plain_function(metric, way, predictions, references):
    options = options_for(predictions, references)
    expected = compute_scores(predictions, references, **options)
    assert way(metric, predictions, references, **options) == expected
    assert way(metric, predictions, references, **options) == expected


@pytest.mark.parametrize("way", WAYS)
def test_rows_can_stay_in_memory(metric_folder, tmp_path, way):
    metric = evaluate.load(metric_folder, keep_in_memory=True, cache_dir=str(tmp_path))
    predictions, references = ROWS["messages and sentences"]
    for _ in range(2):
        assert way(metric, predictions, references, **WORDS_AND_FACTS) == compute_scores(
            predictions, references, **WORDS_AND_FACTS
        )
    assert not list(tmp_path.rglob("*.arrow"))


def test_all_four_scores_and_the_options_of_an_encoder_pass_through(metric):
    predictions, references = ROWS["messages and sentences"]
    options = {"per_example": True, "idf": True, "bertscore_layer": 2, "max_length": 8, "no_gold_facts": "zero"}
    assert metric.compute(predictions=predictions, references=references, **options) == compute_scores(
        predictions, references, **options
    )


def test_many_rows_in_many_batches_keep_their_order(metric):
    rows = [{"message": f"word{number}", "facts": [number]} for number in range(2500)]
    for start in range(0, 2500, 100):
        metric.add_batch(predictions=rows[start : start + 100], references=rows[::-1][start : start + 100])
    result = metric.compute(per_example=True, **WORDS_AND_FACTS)
    assert result == compute_scores(rows, rows[::-1], per_example=True, **WORDS_AND_FACTS)


def test_columns_of_a_dataset_are_rows(metric):
    data = datasets.Dataset.from_dict({"reply": ["a b", "c"], "sentences": [["s"], ["t", "u"]]})
    assert (
        metric.compute(predictions=data["reply"], references=data["reply"], metrics=["message_f1"])["message_f1"] == 1.0
    )
    assert metric.compute(predictions=data["sentences"], references=data["sentences"])["fact_f1"] == 1.0


# --- Fresh processes ---

_RANK = """
import json, socket, sys

def refuse(*_args, **_kwargs):
    raise OSError("a socket was opened")

socket.socket.connect = socket.getaddrinfo = refuse

import evaluate

folder, cache, rank = sys.argv[1], sys.argv[2], int(sys.argv[3])
metric = evaluate.load(folder, num_process=2, process_id=rank, experiment_id="two ranks", cache_dir=cache)
rows = [{"message": f"word{number}", "facts": [number]} for number in range(7)]
metric.add_batch(predictions=rows[rank::2], references=[*rows[1:], rows[0]][rank::2])
print(json.dumps(metric.compute(metrics=["fact_f1", "message_f1"], per_example=True)))
if rank == 0:
    metric = evaluate.load(folder)
    print(json.dumps(metric.compute(predictions=["a small corpus"], references=["the corpus is small"])))
"""


@pytest.fixture(scope="module")
def fresh_processes(metric_folder, tmp_path_factory) -> tuple[list[Any], Path]:
    """What two processes print that run in another folder, with no network and a user's environment; the folder."""
    folder = tmp_path_factory.mktemp("elsewhere")
    ours = ("PYTHONPATH", "HF_HUB_OFFLINE", "HF_HOME", "HF_MODULES_CACHE")
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _RANK, metric_folder, str(folder / "cache"), str(rank)],
            cwd=folder,
            env=environment | {"HF_HOME": str(folder / "home")},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    printed = [process.communicate(timeout=200)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return [json.loads(line) for line in "".join(printed).splitlines()], folder


@pytest.mark.slow
def test_of_two_processes_rank_0_gets_the_result_over_all_rows_and_rank_1_none(fresh_processes):
    (of_rank_0, _, of_rank_1), folder = fresh_processes
    rows = [{"message": f"word{number}", "facts": [number]} for number in range(7)]
    shifted = [*rows[1:], rows[0]]
    by_rank = [*range(0, 7, 2), *range(1, 7, 2)]
    expected = compute_scores(
        [rows[i] for i in by_rank], [shifted[i] for i in by_rank], per_example=True, **WORDS_AND_FACTS
    )
    assert of_rank_0 == expected
    assert of_rank_1 is None
    assert not list(folder.rglob("*.arrow"))


@pytest.mark.slow
def test_a_fresh_process_in_another_folder_loads_and_scores_without_a_network(fresh_processes):
    (_, of_encoder, _), _ = fresh_processes
    assert of_encoder == pytest.approx(compute_scores(["a small corpus"], ["the corpus is small"]), abs=1e-6)


# --- Other parts of evaluate ---

_OTHER_METRIC = '''
import datasets
import evaluate


class SameLength(evaluate.Metric):
    """Share of rows of equal length."""

    def _info(self):
        text = datasets.Value("string")
        features = datasets.Features(predictions=text, references=text)
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references, metrics=None):
        return {"same_length": sum(map(lambda p, r: len(p) == len(r), predictions, references)) / len(predictions)}
'''


@pytest.fixture
def other_metric(tmp_path) -> evaluate.Metric:
    folder = tmp_path / "same_length"
    folder.mkdir()
    (folder / "same_length.py").write_text(_OTHER_METRIC, encoding="utf-8")
    return evaluate.load(str(folder))


@pytest.mark.parametrize("way", WAYS)
def test_the_metric_combines_with_another_one(metric, other_metric, way):
    both = evaluate.combine([metric, other_metric])
    predictions, references = ROWS["messages"]
    expected = compute_scores(predictions, references, metrics=["message_f1"]) | {"same_length": 1 / 3}
    # combine() hands all options to every metric in it.
    assert way(both, predictions, references, metrics=["message_f1"]) == expected


def test_the_metric_combines_with_itself_under_names(metric, metric_folder, tmp_path):
    second = evaluate.load(metric_folder, cache_dir=str(tmp_path / "second"))
    predictions, references = ROWS["messages"]
    result = evaluate.combine({"first": metric, "second": second}).compute(
        predictions=predictions, references=references, metrics=["message_f1"]
    )
    expected = compute_scores(predictions, references, metrics=["message_f1"])
    assert result == {f"{name}_{key}": value for name in ("first", "second") for key, value in expected.items()}


class _Echo:
    """The least that `Text2TextGenerationEvaluator` takes for a pipeline: answers with its question."""

    task = "text2text-generation"

    def __call__(self, questions: Any, **_options: Any) -> list[dict[str, str]]:
        return [{"generated_text": question} for question in questions]


@pytest.fixture
def task_of_transformers_4(monkeypatch):
    """Version 5 of transformers took this task and the TensorFlow classes away, which evaluate 0.4.6 still asks for."""
    module = sys.modules["evaluate.evaluator"]
    if "text2text-generation" not in module.SUPPORTED_PIPELINE_TASKS:
        monkeypatch.setitem(module.SUPPORTED_PIPELINE_TASKS, "text2text-generation", {})
        monkeypatch.setattr(module, "check_pipeline_task", lambda task: task in module.SUPPORTED_PIPELINE_TASKS)
    if not hasattr(transformers, "TFPreTrainedModel"):
        monkeypatch.setattr(transformers, "TFPreTrainedModel", type(None), raising=False)


@pytest.mark.usefixtures("task_of_transformers_4")
def test_the_text2text_evaluator_scores_plain_strings(metric, monkeypatch):
    # The evaluator passes no options on; the two embedding scores are covered elsewhere.
    data = datasets.Dataset.from_dict({"text": ["a small corpus", "b"], "label": ["the corpus is small", "b"]})
    task = evaluate.evaluator("text2text-generation")
    monkeypatch.setattr(task, "METRIC_KWARGS", {"metrics": ["message_f1"]})
    result = task.compute(model_or_pipeline=_Echo(), data=data, metric=metric)
    expected = compute_scores(list(data["text"]), list(data["label"]), metrics=["message_f1"])
    assert {key: result[key] for key in expected} == expected


# --- Rejected calls ---

GOOD = {"predictions": ["b"], "references": ["a b"], "metrics": ["message_f1"]}


def _call(**arguments: Any) -> Callable[[evaluate.Metric], Any]:
    return lambda metric: metric.compute(**{**GOOD, **arguments})


def _two_batches(first: tuple[list, list], second: tuple[list, list]) -> Callable[[evaluate.Metric], Any]:
    def call(metric: evaluate.Metric) -> Any:
        metric.add_batch(predictions=first[0], references=first[1])
        metric.add_batch(predictions=second[0], references=second[1])
        return metric.compute()

    return call


REJECTED: dict[str, tuple[Callable[[evaluate.Metric], Any], type[Exception], str]] = {
    # found by add_batch
    "one text": (_call(predictions="b"), ValueError, "predictions: expected a list"),
    "one text as references": (_call(references="b"), ValueError, "references: expected a list"),
    "no references": (_call(references=None), TypeError, "references: expected a list"),
    "no predictions": (_call(predictions=None), TypeError, "predictions: expected a list"),
    "dict of columns": (_call(predictions={"message": ["b"]}), TypeError, "predictions: expected a list"),
    "facts as one text": (_call(predictions=[{"facts": "b"}]), ValueError, "predictions[0]['facts']"),
    "message as a list": (_call(predictions=[{"message": ["x"]}]), TypeError, "predictions[0]['message']"),
    "None in a later row": (_call(predictions=["b", None], references=["b", "b"]), TypeError, "predictions[1]"),
    "number in a later row": (_call(predictions=["b", "b"], references=["b", 1]), TypeError, "references[1]"),
    "missing key in a later row": (
        _call(
            predictions=[{"message": "b", "facts": []}] * 2, references=[{"message": "b", "facts": []}, {"facts": []}]
        ),
        ValueError,
        "references[1]: 'message' is missing",
    ),
    "mixed facts of a row": (_call(predictions=[["s", 1]], references=[["s"]]), ValueError, "predictions[0]"),
    "index of 64 bits": (_call(predictions=[[2**63]], references=[[1]]), ValueError, "predictions[0][0]"),
    "surrogate": (_call(predictions=["\ud83d"]), ValueError, "predictions[0]: expected valid Unicode"),
    "unknown key": (_call(predictions=[{"text": "b"}]), ValueError, "predictions[0]: unknown key 'text'"),
    "unequal lengths": (_call(predictions=["b", "b"]), ValueError, "2 predictions and 1 references"),
    # found by compute, before or after the rows are written
    "unknown option": (_call(metric=["message_f1"]), TypeError, "did you mean 'metrics'?"),
    "option of a wrong type": (_call(idf=1), TypeError, "idf: expected True or False"),
    "option of a wrong value": (_call(max_facts=0), ValueError, "max_facts: expected"),
    "no rows": (_call(predictions=[], references=[]), ValueError, "no rows"),
    "nothing added": (lambda metric: metric.compute(), ValueError, "no rows"),
    "excess facts": (
        _call(predictions=[[1], [1, 2, 3]], references=[[1], [1]], metrics=None),
        ValueError,
        "predictions[1]['facts']: expected at most 2",
    ),
    "different ids": (
        _call(predictions=[{"message": "b", "id": "1"}], references=[{"message": "b", "id": "2"}]),
        ValueError,
        "row 0",
    ),
    "sentences and indices": (_call(predictions=[["s"]], references=[[1]], metrics=None), ValueError, "all sentences"),
    "nothing in common": (_call(predictions=[["s"]], references=["s"]), ValueError, "nothing to compare"),
    "metric without its field": (_call(metrics=["fact_f1"]), ValueError, "metrics: 'fact_f1' needs 'facts'"),
    "encoder": (_call(metrics=["bertscore"], encoder="no/such-model"), ValueError, "encoder: cannot load"),
    "layer": (_call(metrics=["bertscore"], bertscore_layer=7), ValueError, "bertscore_layer: expected 0 to 6"),
    "no baseline": (_call(metrics=["bertscore"], rescale_with_baseline=True), ValueError, "no baseline"),
    # of two batches, each good in itself
    "sentences, then indices": (_two_batches(([["s"]], [["s"]]), ([[1]], [[1]])), ValueError, "all sentences"),
    "facts, then messages": (
        _two_batches(([["s"]], [["s"]]), (["b"], ["b"])),
        ValueError,
        "predictions[0]: 'message' is missing, but predictions[1]",
    ),
    "message and facts, then facts": (
        _two_batches(([{"message": "b", "facts": []}], [[]]), ([[]], [[]])),
        ValueError,
        "predictions[1]: 'message' is missing",
    ),
}


@pytest.mark.parametrize("in_memory", [False, True], ids=["on disk", "in memory"])
@pytest.mark.parametrize(("call", "kind", "part"), REJECTED.values(), ids=REJECTED)
def test_a_rejected_call_gives_its_error_and_leaves_nothing_behind(
    metric_folder, tmp_path, call, kind, part, in_memory
):
    metric = evaluate.load(metric_folder, cache_dir=str(tmp_path), keep_in_memory=in_memory)
    with pytest.raises(kind) as error:
        call(metric)
    assert part in str(error.value)
    assert len(str(error.value)) < MESSAGE_LIMIT
    check_nothing_is_left(metric, tmp_path)
    assert metric.compute(**GOOD) == compute_scores(**GOOD)
    check_nothing_is_left(metric, tmp_path)


def check_nothing_is_left(metric: evaluate.Metric, cache: Path) -> None:
    """No rows on disk or in memory, and no lock that another object would wait for."""
    assert not list(cache.rglob("*.arrow"))
    assert (metric.writer, metric.data, metric.buf_writer, metric.filelock) == (None, None, None, None)
    for file in cache.rglob("*.lock"):
        with filelock.FileLock(file, timeout=0):
            pass


def test_a_rejected_call_also_forgets_the_rows_that_were_added_before_it(metric, tmp_path):
    metric.add_batch(predictions=["x", "y"], references=["x", "y"])
    with pytest.raises(TypeError):
        metric.compute(predictions=[1], references=["b"], metrics=["message_f1"])
    check_nothing_is_left(metric, tmp_path)
    assert metric.compute(**GOOD)["n_queries"] == 1


@pytest.mark.parametrize("rows", [["y", 3], [["y"]]], ids=["bad row", "unequal lengths"])
def test_a_rejected_batch_adds_none_of_its_rows_and_keeps_those_of_earlier_ones(metric, rows):
    metric.add_batch(predictions=["x"], references=["x"])
    with pytest.raises((TypeError, ValueError)):
        metric.add_batch(predictions=rows, references=["y", "y"])
    with pytest.raises(TypeError, match=r"predictions\[0\]: expected"):
        metric.add(prediction=None, reference="y")
    assert metric.compute(metrics=["message_f1"])["n_queries"] == 1


def test_an_interrupted_object_does_not_lock_the_next_one_out(metric_folder, tmp_path):
    first, second = (evaluate.load(metric_folder, cache_dir=str(tmp_path)) for _ in range(2))
    first.add_batch(predictions=["x"], references=["x"])
    assert second.compute(**GOOD)["n_queries"] == 1
    assert first.compute(metrics=["message_f1"])["n_queries"] == 1


# --- What the loader needs (FACTS: L1 to L12) ---


@pytest.fixture(scope="session")
def script(root) -> Path:
    return root / "argscichat_metric" / "argscichat_metric.py"


@pytest.fixture(scope="session")
def tree(script) -> ast.Module:
    return ast.parse(script.read_text(encoding="utf-8"))


def siblings(script: Path) -> set[str]:
    """Names of the modules beside the script."""
    return {file.stem for file in script.parent.glob("*.py")} - {"__init__", script.stem}


def relative_imports(tree: ast.Module) -> list[ast.ImportFrom]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]


def test_relative_imports_have_no_trailing_comment(script, tree):
    lines = script.read_text(encoding="utf-8").splitlines()
    for node in relative_imports(tree):
        assert "#" not in "".join(lines[node.lineno - 1 : node.end_lineno])


def test_relative_imports_are_from_a_sibling_at_the_left_margin(script, tree):
    for node in relative_imports(tree):
        assert (node.col_offset, node.level) == (0, 1)
        assert node.module in siblings(script)


def test_the_script_imports_every_sibling_also_those_that_only_others_need(script, tree):
    assert {node.module for node in relative_imports(tree)} == siblings(script)


def test_imports_follow_the_module_docstring_at_once(tree):
    kinds = [isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body[1:]]
    assert ast.get_docstring(tree)
    assert not any(kinds[kinds.index(False) :])


def test_absolute_imports_name_one_library_a_line(tree):
    assert all(len(node.names) == 1 for node in ast.walk(tree) if isinstance(node, ast.Import))


def test_the_loader_finds_the_imports_that_python_finds(script, tree):
    from evaluate.loading import get_imports

    found = get_imports(str(script))
    assert {name for kind, name, _, _ in found if kind == "internal"} == siblings(script)
    assert {kind for kind, _, _, _ in found} == {"internal", "library"}
    absolute = {node.names[0].name for node in tree.body if isinstance(node, ast.Import)}
    absolute |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and not node.level}
    assert {path for kind, _, path, _ in found if kind == "library"} == {name.partition(".")[0] for name in absolute}


def test_the_folder_holds_code_and_the_card_only(script):
    files = [file for file in script.parent.iterdir() if file.name != "__pycache__"]
    assert all(file.suffix == ".py" or file.name == "README.md" for file in files)


def test_no_module_looks_for_a_file_beside_itself(script):
    for file in script.parent.glob("*.py"):
        names = [
            node.id for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)
        ]
        assert "__file__" not in names


def test_the_loaded_copy_is_whole(metric, script):
    copy = Path(sys.modules[type(metric).__module__].__file__).parent
    for name in (*siblings(script), script.stem):
        assert (copy / f"{name}.py").read_bytes() == (script.parent / f"{name}.py").read_bytes()


def test_the_script_names_one_evaluation_module(metric):
    namespace = vars(sys.modules[type(metric).__module__])
    found = [
        value
        for value in namespace.values()
        if isinstance(value, type) and issubclass(value, evaluate.EvaluationModule)
    ]
    assert found == [type(metric)]


def test_rows_are_checked_before_arrow_sees_them_by_documented_overrides(metric):
    own = vars(type(metric))
    for name in ("compute", "add_batch", "add"):
        assert own[name].__doc__


def test_features_are_declared_as_one_nested_set_of_texts_and_numbers(metric):
    text = datasets.Value("string")
    side = {
        "id": text,
        "message": text,
        "facts": datasets.List(text),
        "fact_ids": datasets.List(datasets.Value("int64")),
        "paper_id": text,
    }
    assert metric.features == datasets.Features({"predictions": side, "references": side})


def test_exceptions_of_our_own_are_builtin_ones_too(script):
    # The loaded module is another object than the imported package, so a caller cannot catch its classes by name.
    for file in script.parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name.endswith(("Error", "Exception")):
                assert [base.id for base in node.bases if hasattr(builtins, base.id)] in (["ValueError"], ["TypeError"])


def test_an_unknown_config_name_is_refused(metric_folder):
    with pytest.raises(ValueError, match="config_name: expected 'default' or 'retrieval', got 'nope'"):
        evaluate.load(metric_folder, "nope")


def test_the_examples_of_the_documentation_are_true(metric, root, monkeypatch):
    monkeypatch.chdir(root)
    examples = doctest.DocTestParser().get_doctest(metric.inputs_description, {}, "inputs", None, None)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_the_documentation_names_every_option_and_every_key(metric):
    from dataclasses import fields

    from argscichat_metric.options import Options

    rows = [{"message": "a", "facts": [1]}]
    keys = compute_scores(rows, rows, per_example=True)
    for name in (*(field.name for field in fields(Options)), *keys):
        assert f"`{name}`" in metric.inputs_description


def test_a_folder_of_another_name_loads_by_the_path_of_its_script(root, tmp_path):
    shutil.copytree(root / "argscichat_metric", tmp_path / "argscichat_metric")
    metric = evaluate.load(str(tmp_path / "argscichat_metric" / "argscichat_metric.py"), cache_dir=str(tmp_path / "c"))
    assert metric.compute(**GOOD) == compute_scores(**GOOD)
