"""The dataset card of a built dataset: YAML that declares every config and feature, and text with its real counts."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from argscichat_dataset.built import split_file
from argscichat_dataset.configs import FOLD_CONFIGS, PAPERS_CONFIGS
from argscichat_dataset.official_files import COMMIT
from argscichat_dataset.statistics import CorpusStatistics, corpus_statistics, papers_tested

_OWN_CARD = Path(__file__).with_name("README.md")
# Taken over from the card of this package, as they hold for every build.
_FIXED_SECTIONS = ("Fields of a message pair", "Licence", "Citation")

_INTRODUCTION = """\
# ArgSciChat

Argumentative dialogues between scientists about NLP papers
([Ruggeri, Mesgar and Gurevych, ACL 2023](https://aclanthology.org/2023.acl-long.425/),
[arXiv 2202.06690](https://arxiv.org/abs/2202.06690)): {pairs} pairs of a proponent's query and a domain expert's reply,
in {dialogues} dialogues about {papers} papers. An agent reads query, paper and history, selects at most two sentences
of the paper (its facts), and writes a reply.

Built by argscichat-eval from the files of
[UKPLab/acl2023-argscichat](https://github.com/UKPLab/acl2023-argscichat) at commit `{commit}`.

```python
from datasets import load_dataset

dataset = load_dataset("{address}", "papers_0")
```
"""

_CONFIGS = """\
## Configs

- `fold_0` ... `fold_4`: the official folds, ids and order as published.
- `papers_0` ... `papers_4`: folds by paper, balanced by message pairs; every paper is tested exactly once.
- `all`: every message pair once. `papers`: the papers. `intents`: dialogue acts of sentences. One split, `train`.

**The test sets of the official folds cover {official} of the {papers} papers; those of `papers_*` cover {own}.** A mean
over the official folds is no cross-validation over the corpus: use them to compare with published numbers.

No paper and no dialogue is in two splits of a config. Rows of each split:

{sizes}
"""

_FACTS = """\
## Gold facts

`facts` are whole sentences of the paper: a third of the published facts are only part of one.
{annotated} annotated facts were aligned: {exact} equal a sentence, {normalised} equal one but for case, punctuation and
white space, {partial} are part of one, {title} are only the title of the paper and dropped. {ambiguous} match more than
one sentence; the first one is taken. {with_facts} of {pairs} queries have gold facts.

{histogram}
"""


def card_text(built: Mapping[str, Mapping[str, Any]], repo_id: str | None) -> str:
    """The text of the card.

    Args:
        built: config -> split -> `datasets.Dataset`; all configs of `configs.CONFIG_NAMES`.
        repo_id: the repository of the Hub, USER/NAME, that the example of the card loads; None: a path to fill in.

    Returns:
        Markdown with a YAML header, for the file README.md at the root of the dataset.
    """
    statistics = corpus_statistics(built["all"]["train"])
    parts = [
        _introduction(statistics, repo_id),
        _configs(built, statistics),
        _facts(statistics),
        *map(_own_section, _FIXED_SECTIONS),
    ]
    return f"---\n{_header(built)}\n---\n\n" + "\n".join(part.strip() + "\n" for part in parts)


def _header(built: Mapping[str, Mapping[str, Any]]) -> str:
    from datasets.info import DatasetInfosDict
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    card = DatasetCardData(
        pretty_name="ArgSciChat",
        license="apache-2.0",
        language=["en"],
        task_categories=["text-generation", "question-answering"],
        tags=["dialogue", "argumentation", "scientific-papers", "fact-selection"],
        size_categories=["n<1K"],
    )
    files = {
        config: {
            "data_files": [{"split": split, "path": split_file("", config, split).as_posix()} for split in splits],
            **({"default": True} if config == "all" else {}),
        }
        for config, splits in built.items()
    }
    MetadataConfigs(files).to_dataset_card_data(card)
    DatasetInfosDict({config: _info(splits) for config, splits in built.items()}).to_dataset_card_data(card)
    return card.to_yaml()


def _info(splits: Mapping[str, Any]) -> Any:
    from datasets import DatasetInfo

    # The features only: an info also holds sizes and checksums of this machine's cache.
    return DatasetInfo(features=next(iter(splits.values())).features)


def _introduction(statistics: CorpusStatistics, repo_id: str | None) -> str:
    return _INTRODUCTION.format(
        pairs=statistics.pairs,
        dialogues=statistics.dialogues,
        papers=statistics.papers,
        commit=COMMIT,
        address=repo_id or "path/to/this/folder",
    )


def _configs(built: Mapping[str, Mapping[str, Any]], statistics: CorpusStatistics) -> str:
    columns = ("train", "validation", "test")
    rows = [
        [f"`{config}`", *(str(len(splits[name])) if name in splits else "" for name in columns)]
        for config, splits in built.items()
    ]
    return _CONFIGS.format(
        official=papers_tested(built[config]["test"] for config in FOLD_CONFIGS),
        own=papers_tested(built[config]["test"] for config in PAPERS_CONFIGS),
        papers=statistics.papers,
        sizes=_table(["config", *columns], rows),
    )


def _facts(statistics: CorpusStatistics) -> str:
    alignment = statistics.alignment
    histogram = alignment["gold_sentences_per_pair"]
    return _FACTS.format(
        annotated=statistics.annotated_facts,
        with_facts=statistics.queries_with_facts,
        pairs=statistics.pairs,
        histogram=_table(["gold facts of a pair", *map(str, histogram)], [["pairs", *map(str, histogram.values())]]),
        **{kind: alignment[kind] for kind in ("exact", "normalised", "partial", "title", "ambiguous")},
    )


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _own_section(heading: str) -> str:
    text = _OWN_CARD.read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if match is None:
        raise LookupError(f"{_OWN_CARD.name}: the section {heading!r} is missing")
    return match[0]
