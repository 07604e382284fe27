"""The tables of the bert-score package: the best layer of an encoder, and the baseline of an encoder's layer.

The package is imported inside the functions, because its import takes seconds and loads torch.
"""

import csv
from pathlib import Path

from .bertscore import BertScore


def recommended_layer(encoder: str) -> int | None:
    """The hidden layer that correlates best with human judgments, as measured by the authors of BERTScore.

    Args:
        encoder: model id on the Hugging Face Hub.

    Returns:
        The layer, or None where the table does not hold the model.

    References:
        `model2layers` in bert_score/utils.py (bert-score 0.3.13).
    """
    from bert_score.utils import model2layers

    return model2layers.get(encoder)


def rescale_baseline(encoder: str, layer: int) -> BertScore:
    """The mean BERTScore of unrelated English texts, for one layer of an encoder.

    Args:
        encoder: model id on the Hugging Face Hub.
        layer: hidden layer; 0 is the input embeddings.

    Returns:
        Baselines of precision, recall and F1.

    Raises:
        ValueError: the bert-score package has no baseline for this encoder or layer.

    References:
        bert_score/rescale_baseline/en/<encoder>.tsv (bert-score 0.3.13).
    """
    import bert_score

    folder = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    file = folder / f"{encoder}.tsv"
    if ".." in Path(encoder).parts or not file.is_file():
        raise ValueError(
            f"rescale_with_baseline: the bert-score package has no baseline for the encoder {encoder!r} "
            f"(no file rescale_baseline/en/{encoder}.tsv); use rescale_with_baseline=False or an encoder that has one"
        )
    with file.open(encoding="utf-8", newline="") as lines:
        rows = {int(row["LAYER"]): row for row in csv.DictReader(lines)}
    if layer not in rows:
        raise ValueError(
            f"rescale_with_baseline: rescale_baseline/en/{encoder}.tsv has no row for layer {layer}, "
            f"only for layers {min(rows)} to {max(rows)}"
        )
    return BertScore(*(float(rows[layer][column]) for column in ("P", "R", "F")))
