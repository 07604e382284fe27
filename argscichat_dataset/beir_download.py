"""The 19 datasets of BEIR by name: where each is published, its md5, and its download into a folder.

URL and md5 are those of the README of github.com/beir-cellar/beir; its `md5.csv` is wrong for fever. Four of the sets
hold texts that may not be passed on, so nobody publishes them as BEIR folders.
"""

import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from argscichat_dataset.beir_layout import CORPUS_FILE, existing_folder
from argscichat_dataset.beir_lines import FilePath
from argscichat_dataset.fingerprint import hash_of
from argscichat_dataset.source import SourceError, shown
from argscichat_dataset.whole_folder import written_beside

BASE_URL = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets"
MD5 = {
    "arguana": "8ad3e3c2a5867cdced806d6503f29b99",
    "climate-fever": "8b66f0a9126c521bae2bde127b4dc99d",
    "cqadupstack": "4e41456d7df8ee7760a7f866133bda78",
    "dbpedia-entity": "c2a39eb420a3164af735795df012ac2c",
    "fever": "5a818580227bfb4b35bb6fa46d9b6c03",
    "fiqa": "17918ed23cd04fb15047f73e6c3bd9d9",
    "hotpotqa": "f412724f78b0d91183a0e86805e16114",
    "msmarco": "444067daf65d982533ea17ebd59501e4",
    "nfcorpus": "a89dba18a62ef92f7d323ec890a0d38d",
    "nq": "d4d3d2e48787a744b6f6e691ff534307",
    "quora": "18fb154900ba42a600f84b839c173167",
    "scidocs": "38121350fc3a4d2f48850f6aff52e4a9",
    "scifact": "5f7d1de60b170fc8027bb7898e2efca1",
    "trec-covid": "ce62140cb23feb9becf6270d0d1fe6d1",
    "webis-touche2020": "46f650ba5a527fc69e0a6521c5a23563",
}
PRIVATE = {
    "bioasq": "its articles are handed out by the BioASQ challenge, to those who register",
    "robust04": "its articles are handed out by NIST, to those who sign an agreement",
    "signal1m": "its articles are handed out by Signal AI, to those who ask",
    "trec-news": "its articles are handed out by NIST, to those who sign an agreement",
}
# cqadupstack is twelve datasets in one file, each a folder of its own.
FORUMS = (
    "android",
    "english",
    "gaming",
    "gis",
    "mathematica",
    "physics",
    "programmers",
    "stats",
    "tex",
    "unix",
    "webmasters",
    "wordpress",
)
_IN_PARTS = "cqadupstack"
DATASETS = (*sorted(MD5.keys() - {_IN_PARTS}), *(f"{_IN_PARTS}/{forum}" for forum in FORUMS))
"""What can be downloaded."""

# The largest set, msmarco, is below 4 GB, and cqadupstack has the most files.
MAX_UNPACKED_BYTES = 20 * 10**9
MAX_UNPACKED_FILES = 1000


def beir_folder(name_or_folder: FilePath, cache_dir: FilePath | None = None) -> Path:
    """A folder to read, downloaded where a dataset is given by name and not yet there.

    Args:
        name_or_folder: a local folder, or one of `DATASETS`. A folder goes first; write "./scifact" to be sure.
        cache_dir: where datasets are kept; the folder `beir` in the cache of `datasets` if None.

    Returns:
        The folder that holds `corpus.jsonl`.

    Raises:
        OSError: the download fails, or the cache cannot be written.
        SourceError: there is neither such a folder nor such a dataset, the dataset is private, or what was downloaded
            has another md5 than the published file or would not unpack into a BEIR folder.
    """
    place = Path(name_or_folder).expanduser()
    if place.is_dir():
        return place
    return downloaded_folder(os.fspath(name_or_folder), cache_dir)


def downloaded_folder(name: str, cache_dir: FilePath | None = None) -> Path:
    """The folder of a dataset, downloaded where it is not yet there.

    Args:
        name: one of `DATASETS`.
        cache_dir: as in `beir_folder`.

    Returns:
        The folder that holds `corpus.jsonl`.

    Raises:
        OSError: as `beir_folder`.
        SourceError: as `beir_folder`.
    """
    check_name(name)
    cache = _cache(cache_dir)
    if not (cache / name).is_dir():
        _download(name, cache)
    return existing_folder(cache / name)


def check_name(name: str) -> None:
    """Refuse what is not the name of a dataset that can be downloaded.

    Args:
        name: name of a dataset.

    Raises:
        SourceError: there is no such dataset, or it is private; the message says why.
    """
    if name in PRIVATE:
        raise SourceError(f"{name}: this BEIR dataset is private and has no download: {PRIVATE[name]}")
    if name not in DATASETS:
        raise SourceError(f"dataset: expected a folder or one of {', '.join(DATASETS)}, got {shown(name)}")


def _cache(cache_dir: FilePath | None) -> Path:
    if cache_dir is not None:
        return Path(cache_dir).expanduser()
    import datasets

    return Path(datasets.config.HF_DATASETS_CACHE) / "beir"


def _download(name: str, cache: Path) -> None:
    archive_name = name.partition("/")[0]
    cache.mkdir(parents=True, exist_ok=True)
    # All that is fetched lies in a folder that vanishes, so that no partial or refused file is ever found again.
    with tempfile.TemporaryDirectory(prefix=".download.", dir=cache) as fetched:
        url = f"{BASE_URL}/{archive_name}.zip"
        archive = _fetched(url, fetched)
        if (found := hash_of(archive, "md5")) != MD5[archive_name]:
            raise SourceError(f"{url}: md5: expected {MD5[archive_name]}, got {found}; nothing of it was kept")
        unpacked = Path(fetched) / "unpacked"
        _unpack(archive, unpacked, url)
        if not (unpacked / name / CORPUS_FILE).is_file():
            raise SourceError(f"{url}: expected an archive with {name}/{CORPUS_FILE}, found none")
        with written_beside(cache / archive_name) as folder:
            for part in (unpacked / archive_name).iterdir():
                shutil.move(part, folder / part.name)


def _fetched(url: str, folder: str) -> str:
    import datasets

    manager = datasets.DownloadManager(download_config=datasets.DownloadConfig(cache_dir=folder))
    try:
        return manager.download(url)
    except OSError:
        raise
    except Exception as error:
        # The errors of the HTTP client below have no class in common that `datasets` names.
        raise ConnectionError(f"{url}: expected a download, got {type(error).__name__}: {error}") from error


def _unpack(archive: str, folder: Path, url: str) -> None:
    try:
        with zipfile.ZipFile(archive) as file:
            members = [member for member in file.infolist() if not member.is_dir()]
            _check_members(members, url)
            # Each is read up to the size that it declares, so what was added up is what is written.
            file.extractall(folder, members)
    # Damaged in one of several places; encrypted, or packed by a method that is not known (both RuntimeError).
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise SourceError(f"{url}: expected a zip file that can be unpacked, got {shown(str(error))}") from error


def _check_members(members: list[zipfile.ZipInfo], url: str) -> None:
    size = sum(member.file_size for member in members)
    if size > MAX_UNPACKED_BYTES or len(members) > MAX_UNPACKED_FILES:
        expected = f"at most {MAX_UNPACKED_FILES} files of {MAX_UNPACKED_BYTES} bytes together"
        raise SourceError(f"{url}: expected an archive of {expected}, got {len(members)} of {size} bytes")
    for member in members:
        path = PurePosixPath(member.filename)
        is_link = stat.S_ISLNK(member.external_attr >> 16)
        if path.is_absolute() or ".." in path.parts or ":" in member.filename or "\\" in member.filename or is_link:
            got = f"{'the link ' if is_link else ''}{shown(member.filename)}"
            raise SourceError(f"{url}: expected files inside the folder of the archive, got {got}")
