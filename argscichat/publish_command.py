"""The command `argscichat publish`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from argscichat.publish import HubFolder, assemble, upload

_OPTIONS = {"space": "--repo-id", "dataset": "--dataset-repo-id"}


def publish(
    output: Annotated[Path, typer.Option(help="Folder to write; must not exist yet.")],
    data_dir: Annotated[Path | None, typer.Option(help="Folder with the official files; default: download.")] = None,
    repo_id: Annotated[str | None, typer.Option(help="Space to upload to: USER/argscichat_metric.")] = None,
    dataset_repo_id: Annotated[str | None, typer.Option(help="Dataset repository to upload to: USER/NAME.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier publication.")] = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar.")] = False,
) -> None:
    """Assemble the Space of the metric and the dataset repository; upload each whose repository is named.

    Uploads need a token of the Hub, from HF_TOKEN or `hf auth login`. Without one the command says what it would do.
    """
    from huggingface_hub import get_token

    folders = assemble(
        output,
        data_dir,
        repo_id=repo_id,
        dataset_repo_id=dataset_repo_id,
        overwrite=overwrite,
        progress=sys.stderr.isatty() and not no_progress,
    )
    token = get_token()
    for folder in folders:
        _publish(folder, token)


def _publish(hub_folder: HubFolder, token: str | None) -> None:
    sizes = hub_folder.sizes()
    typer.echo(f"{hub_folder.folder}: {hub_folder.repo_type}, {len(sizes)} files, {sum(sizes.values()):,} bytes.")
    if hub_folder.repo_id is not None and token is not None:
        typer.echo(f"Uploaded to {upload(hub_folder, token)}.")
        return
    for name, size in sizes.items():
        typer.echo(f"{size:>11,}  {name}")
    typer.echo(_dry_run(hub_folder))


def _dry_run(hub_folder: HubFolder) -> str:
    """What would be done, and what is missing for it to be done."""
    if hub_folder.repo_id is None:
        return f"Nothing uploaded: name a {hub_folder.repo_type} with {_OPTIONS[hub_folder.repo_type]} to upload it to."
    return (
        f"Nothing uploaded, as there is no token in HF_TOKEN and no login (hf auth login). With one, the "
        f"{hub_folder.repo_type} {hub_folder.repo_id} would be made if it does not exist, and get these files."
    )
