"""The project as two folders for the Hub, the Space of the metric and the dataset repository, and their upload."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from argscichat.publish_files import pinned_version, space_readme, space_requirements
from argscichat_dataset.export import build_dataset
from argscichat_dataset.whole_folder import check_target, written_beside
from argscichat_metric.shortened import shorten
from argscichat_metric.version import __version__

FilePath = str | os.PathLike[str]

SOURCE = Path(__file__).resolve().parents[1]
"""The source tree that this package is part of."""

METRIC = "argscichat_metric"
"""Name of the Space's folder: `evaluate.load` takes the script that is called as its folder, or as its Space."""

DATASET = "dataset"
"""Name of the folder of the dataset repository."""

EARLIER_PUBLICATION = (f"{METRIC}/app.py", f"{DATASET}/README.md")
"""What a folder holds that `assemble` wrote."""

PACKAGES = ("argscichat", "argscichat_dataset", METRIC)
"""The packages that the app imports."""

KINDS = (".css", ".json", ".jsonl", ".md", ".parquet", ".py")
"""What a package holds; a file of another kind is refused, so that nothing is published by accident or left out."""

_AT_THE_ROOT = ("app.py", "LICENSE")


@dataclass(frozen=True)
class HubFolder:
    """A folder that is ready for the Hub.

    Args:
        folder: what to upload.
        repo_type: what it is on the Hub.
        repo_id: USER/NAME of the repository to upload it to; None for none.
    """

    folder: Path
    repo_type: Literal["space", "dataset"]
    repo_id: str | None

    def sizes(self) -> dict[str, int]:
        """Path of every file in the repository, sorted, with its size in bytes."""
        files = sorted(file for file in self.folder.rglob("*") if file.is_file())
        return {file.relative_to(self.folder).as_posix(): file.stat().st_size for file in files}


def assemble(
    output: FilePath,
    data_dir: FilePath | None = None,
    *,
    repo_id: str | None = None,
    dataset_repo_id: str | None = None,
    source: FilePath = SOURCE,
    overwrite: bool = False,
    progress: bool = False,
) -> list[HubFolder]:
    """Write the Space of the metric and the dataset repository, both or neither.

    At the root of the Space are the files of the metric, as `evaluate.load` takes them, and `app.py` beside the
    packages that it imports. `argscichat_metric` is there twice for that reason: `evaluate.load` copies siblings of
    its script, and the app imports a package.

    Args:
        output: the folder to write; must not exist or be empty unless `overwrite`.
        data_dir: folder with the official files of the dataset; None downloads them.
        repo_id: USER/argscichat_metric, the Space that the folder is for; its card then names it.
        dataset_repo_id: USER/NAME, the dataset repository likewise.
        source: the source tree, a checkout of this project.
        overwrite: replace an existing folder, if it is an earlier publication.
        progress: whether to show a progress bar on stderr.

    Returns:
        The Space and the dataset repository.

    Raises:
        OSError: the folder exists or cannot be written, or the source tree is not whole, as that of an installed wheel.
        ValueError: a repository id that the Hub or `evaluate.load` does not take, a file of the source tree that does
            not belong there, or an official file that is malformed.
    """
    if repo_id is not None:
        check_repo_id("repo_id", repo_id, METRIC)
    if dataset_repo_id is not None:
        check_repo_id("dataset_repo_id", dataset_repo_id)
    target = Path(output)
    check_target(target, overwrite, EARLIER_PUBLICATION)
    with written_beside(target) as folder:
        _write_space(folder / METRIC, Path(source), repo_id)
        build_dataset(folder / DATASET, data_dir, repo_id=dataset_repo_id, progress=progress)
    return [
        HubFolder(target / METRIC, "space", repo_id),
        HubFolder(target / DATASET, "dataset", dataset_repo_id),
    ]


def check_repo_id(argument: str, repo_id: str, name: str | None = None) -> None:
    """Refuse the id of a repository before any work is done for it.

    Args:
        argument: what the id is called in an error.
        repo_id: USER/NAME.
        name: the name that the repository must have; None for any.

    Raises:
        ValueError: the id is malformed, or names another repository.
    """
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    expected = f"{argument}: expected USER/{name or 'NAME'}, got {shorten(repo_id, 120)}"
    try:
        validate_repo_id(repo_id)
    except HFValidationError:
        raise ValueError(expected) from None
    found = repo_id.partition("/")[2]
    if not found:
        raise ValueError(expected)
    if name not in (None, found):
        raise ValueError(f"{expected}; evaluate.load takes the script that is called as its Space, which is {name}.py")


def upload(hub_folder: HubFolder, token: str) -> str:
    """Upload a folder to its repository, which is made if it does not exist; other files there stay.

    Args:
        hub_folder: a folder with a repository.
        token: access token of the Hub with the right to write; no error shows it.

    Returns:
        The address of the repository.

    Raises:
        OSError: the Hub cannot be reached, or refuses.
    """
    from huggingface_hub import HfApi

    repository = {"repo_id": hub_folder.repo_id, "repo_type": hub_folder.repo_type}
    sdk = {"space_sdk": "gradio"} if hub_folder.repo_type == "space" else {}
    api = HfApi(token=token)
    try:
        address = api.create_repo(**repository, **sdk, exist_ok=True)
        api.upload_folder(
            **repository, folder_path=hub_folder.folder, commit_message=f"Publish argscichat-eval {__version__}"
        )
    # Everything: the errors of the Hub, of its HTTP library and of its transfer of large files have no common base.
    except Exception as error:
        reason = str(error).replace(token, "<token>")[:600]
        raise OSError(
            f"{hub_folder.repo_id}: the upload failed, {type(error).__name__}: {reason}\n"
            f"The {hub_folder.repo_type} is ready in {hub_folder.folder}."
        ) from None  # its traceback may hold the token
    return str(address)


def _write_space(folder: Path, source: Path, repo_id: str | None) -> None:
    _check_source(source)
    for name in _AT_THE_ROOT:
        _copy(source / name, folder / name)
    for package in PACKAGES:
        for file in _package_files(source / package):
            _copy(file, folder / file.relative_to(source))
    for file in (source / METRIC).glob("*.py"):
        if file.name != "__init__.py":
            _copy(file, folder / file.name)
    requirements = (source / "requirements.txt").read_text(encoding="utf-8")
    card = (source / METRIC / "README.md").read_text(encoding="utf-8")
    _write(folder / "requirements.txt", space_requirements(requirements))
    _write(folder / "README.md", space_readme(card, pinned_version(requirements, "gradio"), repo_id))


def _check_source(source: Path) -> None:
    needed = [*_AT_THE_ROOT, "requirements.txt", *(f"{package}/__init__.py" for package in PACKAGES)]
    for name in needed:
        if not (source / name).is_file():
            raise FileNotFoundError(
                f"{source}: expected a checkout of argscichat-eval, {name} is missing; an installed package has no app "
                "to publish, so run this from the repository: python -m argscichat publish"
            )


def _package_files(package: Path) -> Iterator[Path]:
    for file in sorted(package.rglob("*")):
        parts = file.relative_to(package).parts
        if not file.is_file() or any(part == "__pycache__" or part.startswith(".") for part in parts):
            continue
        if file.suffix not in KINDS:
            raise ValueError(f"{file}: expected only files of the kinds {', '.join(KINDS)} in a package to publish")
        yield file


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")
