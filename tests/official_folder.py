"""A folder with files as the official ones, filled with papers of the made-up sample."""

import json
from pathlib import Path
from typing import Any

SAMPLE_FILE = Path(__file__).parents[1] / "argscichat_dataset" / "sample" / "sample_test.json"
# Five papers of the sample, as official files hold twenty.
PAPERS_OF_SPLIT = {"train": slice(0, 3), "val": slice(3, 4), "test": slice(4, 5)}
INTENTS = (
    "Role,Message Number,Sentence Number,Sentence,Tag\nProponent,0,0,Hello!,Intro\nDomain Expert,1,0,Hello?,Intro\n"
)


def write_official_folder(folder: Path, records: dict[str, Any] | None = None) -> Path:
    """Write the files of every fold, all alike, and `intents.csv`; the records are those of the sample unless given."""
    folder.mkdir(exist_ok=True)
    items = list((records or json.loads(SAMPLE_FILE.read_bytes())).items())
    for split, papers in PAPERS_OF_SPLIT.items():
        for fold in range(5):
            (folder / f"fold_{fold}_{split}.json").write_text(json.dumps(dict(items[papers])), encoding="utf-8")
    (folder / "intents.csv").write_text(INTENTS, encoding="utf-8")
    return folder
