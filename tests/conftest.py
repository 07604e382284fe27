"""What every test needs: an offline library, a cache of its own, and the real data where it is at hand."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

# Before anything imports evaluate or transformers, which read these once.
_HOME = Path(tempfile.mkdtemp(prefix="argscichat-tests-"))
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = str(_HOME)
os.environ["HF_MODULES_CACHE"] = str(_HOME / "modules")
os.environ["TOKENIZERS_PARALLELISM"] = "false"

ROOT = Path(__file__).resolve().parents[1]


def pytest_unconfigure() -> None:
    """Remove the cache of this run."""
    shutil.rmtree(_HOME, ignore_errors=True)


def missing(what: str) -> None:
    """Skip a test whose requirement is not on this machine, and fail it where nothing may be skipped unseen."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}: nothing is skipped in CI")
    pytest.skip(what)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with the real data and the golden values, which are not part of the repository."""
    folder = ROOT.parent / "shared"
    if not (folder / "argscichat").is_dir():
        missing("the real data is not at ../shared")
    return folder


@pytest.fixture(scope="session")
def real_built(shared_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published corpus as `argscichat data build` writes it; built once, not to be changed."""
    from argscichat_dataset.export import build_dataset

    return build_dataset(tmp_path_factory.mktemp("built") / "argscichat", shared_dir / "argscichat")


@pytest.fixture(scope="session")
def metric_folder() -> str:
    """The folder that `evaluate.load` takes."""
    return str(ROOT / "argscichat_metric")


@pytest.fixture
def metric(metric_folder):
    """A fresh metric object."""
    import evaluate

    return evaluate.load(metric_folder)
