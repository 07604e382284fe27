"""What several tests of the dataset need: the sample spread over official files, and a machine without a network."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.official_folder import SAMPLE_FILE, write_official_folder


@pytest.fixture(scope="session", autouse=True)
def quiet_datasets() -> None:
    """No progress bars in the log of the tests."""
    import datasets

    datasets.disable_progress_bars()


@pytest.fixture
def sample_records() -> dict[str, Any]:
    """The sample as the file has it, for a test to change."""
    return json.loads(SAMPLE_FILE.read_bytes())


@pytest.fixture
def official_folder(tmp_path: Path, sample_records: dict[str, Any]) -> Callable[..., Path]:
    """Writes a folder with the files of every fold, all alike, and `intents.csv`."""

    def write(records: dict[str, Any] | None = None, name: str = "official") -> Path:
        return write_official_folder(tmp_path / name, records or sample_records)

    return write


@pytest.fixture
def beir(tmp_path: Path) -> Callable[..., Path]:
    """Writes a BEIR folder, sound unless told otherwise; what is None is left out, and text is written as it is."""

    def write(
        corpus: str | bytes | None = '{"_id": "d1", "title": "T", "text": "One."}\n{"_id": "d2", "text": "Two."}\n',
        queries: str | bytes | None = '{"_id": "q1", "text": "One?"}\n{"_id": "q2", "text": "Two?"}\n',
        name: str = "beir",
        **qrels: str | bytes,
    ) -> Path:
        folder = tmp_path / name
        files = {"corpus.jsonl": corpus, "queries.jsonl": queries}
        qrels = qrels or {"test": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n"}
        files |= {f"qrels/{split}.tsv": content for split, content in qrels.items()}
        for file, content in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            if content is not None:
                (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    return write


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a socket, or asks for the address of a host, fails the test."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError(f"a socket was asked for: {args}")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Any]:
    """Builds a config and returns its DatasetDict; one cache for all calls of a test."""
    from argscichat_dataset.builder import ArgSciChat

    def build(config_name: str, data_dir: Path | str | None = None, **options: Any) -> Any:
        builder = ArgSciChat(config_name=config_name, data_dir=data_dir, cache_dir=str(tmp_path / "cache"), **options)
        builder.download_and_prepare()
        return builder.as_dataset()

    return build


@pytest.fixture(scope="session")
def real(shared_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every config of the published files."""
    from argscichat_dataset.builder import ArgSciChat
    from argscichat_dataset.configs import CONFIG_NAMES

    built = {}
    for name in CONFIG_NAMES:
        cache = str(tmp_path_factory.getbasetemp() / "real")
        builder = ArgSciChat(config_name=name, data_dir=shared_dir / "argscichat", cache_dir=cache)
        builder.download_and_prepare()
        built[name] = builder.as_dataset()
    return built
