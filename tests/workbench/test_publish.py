"""`argscichat publish`: what is assembled, whether it loads and starts, and what is uploaded."""

import functools
import http.server
import importlib.metadata
import inspect
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import tomllib
from huggingface_hub import DatasetCard, SpaceCard, metadata_load

from argscichat import cli, publish, publish_command
from argscichat.publish import assemble
from argscichat.publish_files import space_readme
from argscichat_metric import compute_retrieval, compute_scores
from tests.official_folder import write_official_folder

SPACE_ID, DATASET_ID = "someone/argscichat_metric", "someone/argscichat"
TOKEN = "hf_a-token-of-the-tests"
MADE = {"README.md", "requirements.txt"}
AT_THE_ROOT = {"app.py", "LICENSE"} | MADE


@pytest.fixture(scope="module")
def official(tmp_path_factory) -> Path:
    return write_official_folder(tmp_path_factory.mktemp("official") / "files")


@pytest.fixture(scope="module")
def published(root, official, tmp_path_factory) -> Path:
    """Both folders, for named repositories; assembled once, not to be changed."""
    output = tmp_path_factory.mktemp("published") / "hub"
    assemble(output, official, repo_id=SPACE_ID, dataset_repo_id=DATASET_ID, source=root)
    return output


@pytest.fixture(scope="module")
def space(published) -> Path:
    return published / publish.METRIC


@pytest.fixture
def no_dataset(monkeypatch):
    """Write a card alone in place of the dataset, for tests of the Space."""

    def build(folder, data_dir, **options):
        folder.mkdir()
        (folder / "README.md").write_text("made\n")

    monkeypatch.setattr(publish, "build_dataset", build)


@pytest.fixture
def tree(root, tmp_path) -> Path:
    """A copy of what is published of the source tree, to be changed."""
    copy = tmp_path / "tree"
    for package in publish.PACKAGES:
        shutil.copytree(root / package, copy / package)
    for name in ("app.py", "LICENSE", "requirements.txt"):
        shutil.copy(root / name, copy / name)
    return copy


def files_of(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


# --- What is in the folders ---


def files_of_the_packages(root: Path) -> set[str]:
    """What a wheel of the project holds."""
    setup = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    files = set()
    for package in setup["packages"]:
        folder = root / package.replace(".", "/")
        for pattern in ("*.py", *setup["package-data"].get(package, ())):
            files |= {file.relative_to(root).as_posix() for file in folder.glob(pattern) if file.is_file()}
    return files


def test_the_space_holds_app_packages_and_the_files_of_the_metric_at_its_root_and_nothing_else(space, root):
    packages = files_of_the_packages(root)
    siblings = {Path(file).name for file in packages if re.fullmatch(r"argscichat_metric/\w+\.py", file)}
    assert f"{publish.METRIC}.py" in siblings
    assert files_of(space) == AT_THE_ROOT | packages | siblings - {"__init__.py"}


def test_what_is_copied_is_the_same_byte_for_byte(space, root):
    for name in files_of(space) - MADE:
        original = root / name if (root / name).is_file() else root / publish.METRIC / name
        assert (space / name).read_bytes() == original.read_bytes(), name


def test_no_file_names_a_place_of_this_machine(published, root):
    places = {root, published.parent, Path(tempfile.gettempdir()), Path.home()}
    for name in files_of(published):
        content = (published / name).read_bytes()
        assert not [place for place in places if os.fsencode(place) + b"/" in content], name


def test_no_module_at_the_root_of_the_space_hides_one_of_python_or_of_a_library(space):
    own = {file.stem for file in space.glob("*.py")}
    libraries = set(importlib.metadata.packages_distributions())
    # The parity tests install a package that the Space does not need.
    assert not own & (libraries | sys.stdlib_module_names) - {"moverscore", *publish.PACKAGES}


def test_the_folder_for_the_dataset_loads_from_its_place(published, tmp_path):
    from datasets import load_dataset

    built = load_dataset(str(published / publish.DATASET), "papers_0", cache_dir=str(tmp_path))
    assert set(built) == {"train", "validation", "test"}


@pytest.mark.usefixtures("no_dataset")
def test_caches_and_hidden_files_stay_out(tree, tmp_path):
    for name in ("__pycache__/rows.pyc", ".rows.py.swp", ".git/config"):
        file = tree / publish.METRIC / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("x")
    assemble(tmp_path / "hub", source=tree)
    assert not [name for name in files_of(tmp_path / "hub") if "/." in name or "__pycache__" in name]


@pytest.mark.usefixtures("no_dataset")
def test_a_file_that_does_not_belong_is_refused_by_its_name(tree, tmp_path):
    (tree / "argscichat" / "notes.txt").write_text("x")
    with pytest.raises(ValueError, match=r"notes\.txt: expected only files of the kinds"):
        assemble(tmp_path / "hub", source=tree)
    assert not (tmp_path / "hub").exists()


# --- What the Hub checks in the cards ---

# https://huggingface.co/docs/hub/spaces-config-reference
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def test_the_header_of_the_space_is_one_that_the_hub_takes(space):
    header = metadata_load(space / "README.md")
    assert SpaceCard.load(space / "README.md").data.to_dict() == header
    assert {header["colorFrom"], header["colorTo"]} <= COLOURS
    assert re.fullmatch(r"[\U0001F300-\U0001FAFF]", header["emoji"])
    assert (header["title"], header["license"], header["pinned"]) == ("ArgSciChat", "apache-2.0", False)
    assert {"evaluate", "metric"} <= set(header["tags"])
    assert isinstance(header["description"], str)
    assert (header["sdk"], header["app_file"]) == ("gradio", "app.py")
    assert (space / header["app_file"]).is_file()


def test_the_header_names_the_gradio_and_the_python_that_the_pins_are_tested_with(space):
    header = metadata_load(space / "README.md")
    assert header["sdk_version"] == importlib.metadata.version("gradio")
    # Texts: as a YAML number 3.10 would be 3.1.
    assert header["python_version"] == "3.11"
    assert f"gradio=={header['sdk_version']}" in (space / "requirements.txt").read_text().splitlines()


def test_the_requirements_are_the_pins_of_the_project_and_the_index_of_torch_for_the_cpu(space, root):
    def lines(file):
        return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]

    index, *pins = lines(space / "requirements.txt")
    assert index == "--extra-index-url https://download.pytorch.org/whl/cpu"
    assert pins == lines(root / "requirements.txt")
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)


def test_the_card_of_the_space_is_the_metric_card_with_its_own_address(space, root):
    text = SpaceCard.load(space / "README.md").text
    card = (root / publish.METRIC / "README.md").read_text()
    assert text.strip() == card.split("---\n", 2)[2].strip().replace('"./argscichat_metric"', f'"{SPACE_ID}"')
    assert f'evaluate.load("{SPACE_ID}", "retrieval")' in text
    assert "./argscichat_metric" not in text


def test_a_card_without_a_repository_keeps_the_address_of_a_checkout(root):
    card = (root / publish.METRIC / "README.md").read_text()
    assert 'evaluate.load("./argscichat_metric")' in space_readme(card, "6.0.0", None)


def test_the_header_of_the_dataset_is_one_that_the_hub_takes(published):
    folder = published / publish.DATASET
    card = DatasetCard.load(folder / "README.md")
    header = metadata_load(folder / "README.md")
    assert card.data.to_dict() == header
    assert (header["license"], header["language"], header["size_categories"]) == ("apache-2.0", ["en"], ["n<1K"])
    # https://huggingface.co/tasks
    assert set(header["task_categories"]) <= {"text-generation", "question-answering"}
    configs = {config["config_name"] for config in header["configs"]}
    assert configs == {info["config_name"] for info in header["dataset_info"]}
    assert [config["config_name"] for config in header["configs"] if config.get("default")] == ["all"]
    listed = {file["path"] for config in header["configs"] for file in config["data_files"]}
    assert listed == files_of(folder) - {"README.md"}


def test_the_card_of_the_dataset_loads_it_from_its_own_address(published):
    text = (published / publish.DATASET / "README.md").read_text()
    assert f'load_dataset("{DATASET_ID}", "papers_0")' in text


# --- The metric loads, the app starts ---

# Loads the metric from the folder without a socket, then from the Hub, and the package of the app between the two.
LOAD = """\
import json, socket, sys

import evaluate

space, repo_id, rows = sys.argv[1:]
rows = json.loads(rows)
connect, socket.socket.connect = socket.socket.connect, None


def results(address):
    default, retrieval = evaluate.load(address), evaluate.load(address, "retrieval")
    return [default.compute(**rows["default"]), retrieval.compute(**rows["retrieval"])]


local = results(space)
sys.path.insert(0, space)
from argscichat_metric import compute_retrieval, compute_scores
import argscichat.scoring, argscichat_dataset.corpus
app = [compute_scores(**rows["default"]), compute_retrieval(**rows["retrieval"])]
modules = ["argscichat.scoring", "argscichat_dataset.corpus", "argscichat_metric", "argscichat_metric.rows"]
again = results(space)
socket.socket.connect = connect
hub = results(repo_id)
print(json.dumps([[local, app, again, hub], [sys.modules[name].__file__ for name in modules]]))
"""
ROWS = {
    "default": {
        "predictions": [{"message": "a small corpus", "facts": [1, 2]}, {"message": "", "facts": []}],
        "references": [{"message": "the corpus is small", "facts": [2]}, {"message": "Yes.", "facts": [3]}],
    },
    "retrieval": {"predictions": [["d3", "d1"]], "references": [["d1", "d4"]], "k": [1, 10]},
}


def environment(**changes: str) -> dict[str, str]:
    """The variables for a process that finds no package of ours but in the Space, and leaves no file there."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1"} | changes


@pytest.fixture
def hub(space):
    """A server that gives out the files of the Space as the Hub does; its address."""
    prefix = re.compile(rf"/spaces/{SPACE_ID}/resolve/main/")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            return str(space / prefix.sub("", path, count=1)) if prefix.match(path) else str(space / "missing")

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_metric_loads_offline_from_the_folder_and_from_the_hub_and_scores_as_the_package(space, hub, tmp_path):
    # The counter of downloads is not on the Hub, and would be asked for over the network.
    variables = environment(
        HF_ENDPOINT=hub, HF_HOME=str(tmp_path), HF_MODULES_CACHE=str(tmp_path), HF_UPDATE_DOWNLOAD_COUNTS="0"
    )
    process = subprocess.run(
        [sys.executable, "-c", LOAD, str(space), SPACE_ID, json.dumps(ROWS)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=variables,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    results, files = json.loads(process.stdout.splitlines()[-1])
    expected = [compute_scores(**ROWS["default"]), compute_retrieval(**ROWS["retrieval"])]
    assert "moverscore" in expected[0]
    assert results == [expected] * 4
    assert all(Path(file).is_relative_to(space) for file in files)


def test_the_app_starts_from_the_folder_and_answers(space, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path / "log").open("w+")
    process = subprocess.Popen(
        [sys.executable, str(space / "app.py")],
        cwd=tmp_path,
        env=environment(GRADIO_SERVER_PORT=str(port), HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path)),
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        status = first_answer(process, f"http://127.0.0.1:{port}/")
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.seek(0)
        text = log.read()
        log.close()
    assert status == 200, text[-2000:]


def first_answer(process: subprocess.Popen, address: str, seconds: float = 120) -> int | None:
    """The status of the first answer of a server that is about to start; None if it ends or takes too long."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.1)
    return None


# --- What is refused ---


@pytest.mark.parametrize("name", ["app.py", "requirements.txt", "LICENSE", "argscichat_dataset/__init__.py"])
def test_a_tree_that_is_not_whole_is_refused_and_nothing_is_written(tree, tmp_path, name):
    (tree / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"expected a checkout of argscichat-eval, {name} is missing") as error:
        assemble(tmp_path / "hub", source=tree)
    assert len(str(error.value)) < 1000
    assert not list(tmp_path.glob("*hub*"))


def test_requirements_without_a_pinned_gradio_are_refused(tree, tmp_path):
    requirements = (tree / "requirements.txt").read_text()
    (tree / "requirements.txt").write_text(requirements.replace("gradio==", "gradio>="))
    with pytest.raises(ValueError, match=r"requirements\.txt: expected a line 'gradio==VERSION'"):
        assemble(tmp_path / "hub", source=tree)


def test_a_failing_dataset_leaves_no_folder_behind(root, tmp_path):
    with pytest.raises(ValueError, match="fold_0_train"):
        assemble(tmp_path / "hub", tmp_path, source=root)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("ids", "part"),
    [
        ({"repo_id": "argscichat_metric"}, "repo_id: expected USER/argscichat_metric, got 'argscichat_metric'"),
        ({"repo_id": "someone/other"}, "which is argscichat_metric.py"),
        ({"repo_id": "a/b/argscichat_metric"}, "repo_id: expected USER/argscichat_metric"),
        ({"dataset_repo_id": "someone"}, "dataset_repo_id: expected USER/NAME, got 'someone'"),
        ({"dataset_repo_id": "some one/x"}, "dataset_repo_id: expected USER/NAME"),
        ({"dataset_repo_id": "x" * 5000 + "/y"}, "dataset_repo_id: expected USER/NAME"),
    ],
)
def test_an_id_that_no_repository_can_have_is_refused_before_any_work(root, tmp_path, ids, part):
    with pytest.raises(ValueError, match=re.escape(part)) as error:
        assemble(tmp_path / "hub", tmp_path, source=root, **ids)
    assert len(str(error.value)) < 1000


@pytest.mark.usefixtures("no_dataset")
def test_an_earlier_publication_is_replaced_only_if_asked_and_another_folder_never(root, tmp_path):
    output = tmp_path / "hub"
    assemble(output, source=root)
    (output / "stale").write_text("x")
    with pytest.raises(FileExistsError, match="--overwrite"):
        assemble(output, source=root)
    assemble(output, source=root, overwrite=True)
    assert {file.name for file in output.iterdir()} == {publish.METRIC, publish.DATASET}
    shutil.rmtree(output / publish.DATASET)
    with pytest.raises(FileExistsError, match="expected an earlier build"):
        assemble(output, source=root, overwrite=True)


# --- The command ---


@pytest.fixture
def publish_run(run, root, tmp_path, monkeypatch, no_dataset):
    """Run the command on the source tree, without a token unless the test sets one."""
    monkeypatch.setattr(publish_command, "assemble", functools.partial(assemble, source=root))
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return functools.partial(run, "publish", "--output", tmp_path / "hub")


@pytest.fixture
def calls(monkeypatch) -> list[tuple[str, dict]]:
    """What a Hub that takes everything is asked for, in order; arguments that the real one does not know fail."""
    asked = []
    real = huggingface_hub.HfApi

    class Hub:
        def __init__(self, **options):
            asked.append(("HfApi", options))

        def create_repo(self, **options):
            self._ask("create_repo", options)
            return f"https://hub.test/{options['repo_id']}"

        def upload_folder(self, **options):
            assert Path(options["folder_path"], "README.md").is_file()
            self._ask("upload_folder", options)

        def _ask(self, name, options):
            inspect.signature(getattr(real, name)).bind(self, **options)
            asked.append((name, options))

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    return asked


def test_without_a_token_the_command_says_what_it_would_do_and_does_not_fail(publish_run, calls, tmp_path):
    code, out, err = publish_run("--repo-id", SPACE_ID, "--dataset-repo-id", DATASET_ID)
    assert (code, err, calls) == (0, "", [])
    for name, size in publish.HubFolder(tmp_path / "hub" / publish.METRIC, "space", None).sizes().items():
        assert f"{size:>11,}  {name}\n" in out
    assert f"the space {SPACE_ID} would be made if it does not exist, and get these files" in out
    assert f"the dataset {DATASET_ID} would be made" in out
    assert "          5  README.md" in out


def test_without_a_repository_the_command_names_the_options_and_asks_the_hub_for_nothing(
    publish_run, calls, monkeypatch
):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    code, out, err = publish_run()
    assert (code, err, calls) == (0, "", [])
    assert "name a space with --repo-id to upload it to" in out
    assert "name a dataset with --dataset-repo-id to upload it to" in out


def test_with_a_token_both_repositories_are_made_and_filled(publish_run, calls, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    code, out, err = publish_run("--repo-id", SPACE_ID, "--dataset-repo-id", DATASET_ID)
    assert (code, err) == (0, "")
    assert TOKEN not in out
    message = {"commit_message": f"Publish argscichat-eval {publish.__version__}"}
    space, dataset = ({"repo_id": SPACE_ID, "repo_type": "space"}, {"repo_id": DATASET_ID, "repo_type": "dataset"})
    assert calls == [
        ("HfApi", {"token": TOKEN}),
        ("create_repo", {**space, "space_sdk": "gradio", "exist_ok": True}),
        ("upload_folder", {**space, "folder_path": tmp_path / "hub" / publish.METRIC, **message}),
        ("HfApi", {"token": TOKEN}),
        ("create_repo", {**dataset, "exist_ok": True}),
        ("upload_folder", {**dataset, "folder_path": tmp_path / "hub" / publish.DATASET, **message}),
    ]
    assert f"Uploaded to https://hub.test/{SPACE_ID}." in out


def test_only_the_repositories_that_are_named_are_touched(publish_run, calls, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert publish_run("--dataset-repo-id", DATASET_ID)[0] == 0
    assert {options["repo_id"] for name, options in calls if name != "HfApi"} == {DATASET_ID}


@pytest.mark.parametrize("kind", [RuntimeError, ConnectionError, ValueError])
def test_a_failing_upload_is_one_message_without_the_token_and_keeps_the_folder(
    publish_run, monkeypatch, tmp_path, kind
):
    def refuse(**options):
        raise kind(f"Bearer {TOKEN} may not write" + "x" * 5000)

    monkeypatch.setattr(huggingface_hub, "HfApi", lambda **options: SimpleNamespace(create_repo=refuse))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    code, out, err = publish_run("--repo-id", SPACE_ID)
    assert code == cli.USAGE_ERROR
    assert f"{SPACE_ID}: the upload failed, {kind.__name__}: Bearer <token> may not write" in err
    assert TOKEN not in out + err
    assert len(err) < 1000 + len(str(tmp_path))
    assert (tmp_path / "hub" / publish.METRIC / "app.py").is_file()
