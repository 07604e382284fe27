"""Datasets by name: the whole way from a server of our own to a folder, and every archive that must not arrive."""

import hashlib
import http.server
import io
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest

from argscichat_dataset import beir_download
from argscichat_dataset.beir import read_beir
from argscichat_dataset.beir_builder import Beir
from argscichat_dataset.beir_download import DATASETS, FORUMS, MD5, PRIVATE, beir_folder
from argscichat_dataset.source import SourceError

Members = dict[str | zipfile.ZipInfo, str]
SOUND = {
    "corpus.jsonl": '{"_id": "d1", "title": "", "text": "x"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "x"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
}


class Server:
    """A web server that has one archive for every name; `asked` lists what it was asked for."""

    def __init__(self) -> None:
        self.content = b""
        self.cut = 0
        self.status = 200
        self.asked: list[str] = []

    def answer(self, request: http.server.BaseHTTPRequestHandler, with_content: bool) -> None:
        self.asked.append(request.path)
        request.send_response(self.status)
        request.send_header("Content-Length", str(len(self.content)))
        request.end_headers()
        if with_content:
            request.wfile.write(self.content[: len(self.content) - self.cut])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server, in the place of the official one."""
    served = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        do_HEAD = lambda self: served.answer(self, with_content=False)  # noqa: E731
        do_GET = lambda self: served.answer(self, with_content=True)  # noqa: E731

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setattr(beir_download, "BASE_URL", f"http://127.0.0.1:{running.server_port}")
        monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
        yield served
        running.shutdown()


@pytest.fixture
def publish(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Server]:
    """Packs files, and makes their archive the official one of a dataset."""

    def pack(members: Members, name: str = "scifact") -> Server:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, text in members.items():
                archive.writestr(member, text)
        server.content = content.getvalue()
        monkeypatch.setitem(MD5, name, hashlib.md5(server.content).hexdigest())
        return server

    return pack


def inside(folder: str, files: Members = SOUND) -> Members:
    return {f"{folder}/{name}": text for name, text in files.items()}


def test_there_are_nineteen_names_and_each_has_a_hash_or_a_reason() -> None:
    assert len(MD5) == 15 and len(PRIVATE) == 4 and not MD5.keys() & PRIVATE.keys()
    assert all(len(md5) == 32 for md5 in MD5.values()) and len(set(MD5.values())) == 15
    assert len(FORUMS) == 12 and len(DATASETS) == 14 + 12


def test_a_dataset_is_downloaded_once_and_read(publish: Callable[..., Server], tmp_path: Path) -> None:
    server = publish(inside("scifact"))
    folder = beir_folder("scifact", tmp_path)
    assert read_beir(folder, "test").qrels == {"q1": {"d1": 1}}
    asked = len(server.asked)
    assert set(server.asked) == {"/scifact.zip"}
    assert beir_folder("scifact", tmp_path) == folder and len(server.asked) == asked
    assert [path.name for path in tmp_path.iterdir()] == ["scifact"]


def test_a_forum_is_a_folder_of_its_own(publish: Callable[..., Server], tmp_path: Path) -> None:
    server = publish(inside("cqadupstack/tex") | inside("cqadupstack/gis"), "cqadupstack")
    for forum in ("tex", "gis"):
        assert read_beir(beir_folder(f"cqadupstack/{forum}", tmp_path), "test").queries == {"q1": "x"}
    assert set(server.asked) == {"/cqadupstack.zip"}


def test_the_builder_takes_a_name(publish: Callable[..., Server], tmp_path: Path) -> None:
    publish(inside("scifact"))
    builder = Beir(config_name="qrels", dataset="scifact", cache_dir=str(tmp_path))
    builder.download_and_prepare()
    assert builder.as_dataset(split="test")[0] == {"query-id": "q1", "corpus-id": "d1", "score": 1}


def test_the_default_cache_is_that_of_datasets(
    publish: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    publish(inside("scifact"))
    assert beir_folder("scifact") == tmp_path / "beir" / "scifact"


def test_a_local_folder_is_taken_as_it_is(tmp_path: Path, no_sockets: None) -> None:
    (tmp_path / "robust04").mkdir()
    assert beir_folder(tmp_path / "robust04") == tmp_path / "robust04"


@pytest.mark.parametrize("name", [*PRIVATE])
def test_a_private_dataset_is_refused_by_name_with_the_reason(name: str, tmp_path: Path, no_sockets: None) -> None:
    with pytest.raises(SourceError, match=f"^{name}: this BEIR dataset is private.*handed out by"):
        beir_folder(name, tmp_path)


@pytest.mark.parametrize("name", ["scifakt", "cqadupstack", "../scifact", "", "cqadupstack/cooking"])
def test_another_name_is_refused_with_those_that_there_are(name: str, tmp_path: Path, no_sockets: None) -> None:
    with pytest.raises(SourceError, match=r"expected a folder or one of arguana, .*cqadupstack/tex") as caught:
        beir_download.check_name(name)
    assert len(str(caught.value)) < 1000


# What must not arrive


def refused(error: type[Exception], message: str, cache: Path) -> None:
    with pytest.raises(error, match=message) as caught:
        beir_folder("scifact", cache)
    assert len(str(caught.value)) < 1000 and isinstance(caught.value, (ValueError, OSError))
    assert list(cache.iterdir()) == []


def test_another_md5_is_refused_and_nothing_is_left(server: Server, tmp_path: Path) -> None:
    server.content = b"another file"
    found = hashlib.md5(server.content).hexdigest()
    refused(SourceError, rf"/scifact.zip: md5: expected {MD5['scifact']}, got {found}", tmp_path)


def test_a_download_that_breaks_off_leaves_nothing(publish: Callable[..., Server], tmp_path: Path) -> None:
    server = publish(inside("scifact"))
    server.cut = 10
    refused((ConnectionError, SourceError), "scifact.zip", tmp_path)
    server.cut = 0
    assert (beir_folder("scifact", tmp_path) / "corpus.jsonl").is_file()


@pytest.mark.parametrize("status", [404, 500])
def test_an_error_of_the_server_is_an_error_of_ours(server: Server, tmp_path: Path, status: int) -> None:
    server.status = status
    refused(OSError, "scifact.zip", tmp_path)


def link(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system = 3  # Unix
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


@pytest.mark.parametrize(
    "member",
    ["../outside", "scifact/../../outside", "/outside", "C:/outside", "scifact\\..\\outside", link("scifact/link")],
    ids=["up", "up inside", "absolute", "drive", "backslash", "link"],
)
def test_an_archive_that_reaches_outside_is_refused(
    publish: Callable[..., Server], tmp_path: Path, member: str | zipfile.ZipInfo
) -> None:
    cache = tmp_path / "cache"
    publish(inside("scifact") | {member: "/etc"})
    refused(SourceError, "expected files inside the folder of the archive, got", cache)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_an_archive_that_grows_too_large_is_refused(
    publish: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beir_download, "MAX_UNPACKED_BYTES", 1_000_000)
    publish(inside("scifact") | {"scifact/zeros": "0" * 1_000_000})
    refused(SourceError, "expected an archive of at most 1000 files of 1000000 bytes", tmp_path)
    publish(inside("scifact") | {f"scifact/{number}": "" for number in range(1000)})
    refused(SourceError, "got 1003 of", tmp_path)


def test_a_member_that_is_longer_than_it_says_is_refused(publish: Callable[..., Server], tmp_path: Path) -> None:
    """Else the limit would be worth nothing."""
    server = publish({"scifact/zeros": "0" * 5000} | inside("scifact"))
    content = server.content.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert content != server.content
    server.content = content
    MD5["scifact"] = hashlib.md5(content).hexdigest()  # `publish` puts the old one back
    refused(SourceError, "expected a zip file that can be unpacked", tmp_path)


def test_an_archive_that_is_damaged_or_holds_something_else_is_refused(
    publish: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(inside("nfcorpus"))
    refused(SourceError, "expected an archive with scifact/corpus.jsonl, found none", tmp_path)
    server = publish(inside("scifact"))
    server.content = server.content[:-30]
    monkeypatch.setitem(MD5, "scifact", hashlib.md5(server.content).hexdigest())
    refused(SourceError, "expected a zip file that can be unpacked", tmp_path)
