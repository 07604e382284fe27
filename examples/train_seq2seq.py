"""Fine-tune a sequence-to-sequence model on ArgSciChat, score it after every epoch, write its predictions.

    argscichat data build --output argscichat-data
    python examples/train_seq2seq.py --data argscichat-data --config fold_0 --variant Q+P+H --output runs/led

Without `--data` it trains on the made-up sample of this repository, to see it run. The Trainer of transformers needs
`accelerate`: `pip install -e ".[train]"` in the root of the repository. Copy it and change what your model needs.
"""

import inspect
import shlex
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    set_seed,
)

from argscichat.output_files import write_json_lines
from argscichat.trainer import build_compute_metrics, write_predictions
from argscichat_dataset.built import read_built_pairs
from argscichat_dataset.configs import stratified_fold, stratified_splits
from argscichat_dataset.corpus import Row, read_pairs
from argscichat_dataset.prompts import build_prompt
from argscichat_dataset.sample_rows import SAMPLE_FILE

SPLITS = ("train", "validation", "test")


def main(
    output: Annotated[Path, typer.Option(help="Folder for checkpoints, the best model and the predictions.")],
    model: Annotated[str, typer.Option(help="Model id of the Hub or local folder.")] = "allenai/led-base-16384",
    data: Annotated[Path | None, typer.Option(help="Folder of `argscichat data build`; default: the sample.")] = None,
    config: Annotated[str, typer.Option(help="fold_0 ... fold_4 (official) or papers_0 ... papers_4.")] = "papers_0",
    variant: Annotated[str, typer.Option(help="What the model reads: Q, Q+P, Q+P+H, Q+F ...")] = "Q+P+H",
    epochs: Annotated[int, typer.Option(min=1)] = 10,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows a device and step.")] = 2,
    accumulate: Annotated[int, typer.Option(min=1, help="Steps whose gradients are added up.")] = 4,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-5,
    max_input: Annotated[int, typer.Option(min=1, help="Tokens of the input.")] = 2048,
    max_reply: Annotated[int, typer.Option(min=2, help="Tokens of the reply.")] = 128,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Fine-tune a sequence-to-sequence model on ArgSciChat."""
    set_seed(seed)
    rows = read_splits(data, config)
    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModelForSeq2SeqLM.from_pretrained(model)
    features = {split: encode(rows[split], tokenizer, variant, max_input, max_reply) for split in SPLITS}
    trainer = Seq2SeqTrainer(
        model=network,
        args=Seq2SeqTrainingArguments(
            output_dir=str(output),
            num_train_epochs=epochs,
            per_device_train_batch_size=batch_size,
            per_device_eval_batch_size=batch_size,
            gradient_accumulation_steps=accumulate,
            learning_rate=learning_rate,
            seed=seed,
            predict_with_generate=True,
            generation_max_length=max_reply,
            eval_strategy="epoch",
            save_strategy="epoch",
            logging_strategy="epoch",
            save_total_limit=1,
            load_best_model_at_end=True,
            metric_for_best_model="eval_message_f1",
            report_to="none",
        ),
        train_dataset=features["train"],
        eval_dataset=features["validation"],
        data_collator=Collator(tokenizer, network),
        processing_class=tokenizer,
        compute_metrics=build_compute_metrics(tokenizer, rows["validation"]),
    )
    trainer.train()
    trainer.save_model()
    trainer.save_state()

    trainer.compute_metrics = build_compute_metrics(tokenizer, rows["test"])
    predicted = trainer.predict(features["test"], metric_key_prefix="test")
    trainer.log_metrics("test", predicted.metrics)
    trainer.save_metrics("test", predicted.metrics, combined=False)
    if trainer.is_world_process_zero():
        predictions, references = output / "predictions.jsonl", output / "references.jsonl"
        write_predictions(predictions, tokenizer, predicted, rows["test"])
        write_json_lines(references, map(reference, rows["test"]))
        typer.echo(f"Score it with: {shlex.join(['argscichat', 'score', str(predictions), str(references)])}")


def read_splits(data: Path | None, config: str) -> dict[str, list[Row]]:
    """Message pairs of the splits train, validation and test.

    Args:
        data: folder that `argscichat data build` wrote; None for the sample, which is divided by paper.
        config: name of the config; of the sample one of `papers_0` to `papers_4`.

    Returns:
        Split -> rows. No paper is in two splits: turns of one dialogue quote each other.

    Raises:
        ValueError: there is no such folder, config or split.
    """
    if data is not None:
        return {split: read_built_pairs(data, config, split) for split in SPLITS}
    fold = stratified_fold(config)
    if fold is None:
        raise ValueError(f"config: the sample has papers_0 to papers_4, got {config!r}; give --data for the others")
    return stratified_splits(read_pairs(SAMPLE_FILE), fold)


def encode(rows: list[Row], tokenizer: Any, variant: str, max_input: int, max_reply: int) -> list[dict[str, list[int]]]:
    """Token ids of the inputs and replies.

    Args:
        rows: message pairs.
        tokenizer: the tokenizer of the model.
        variant: what goes into the input; see `argscichat_dataset.prompts`.
        max_input: most tokens of an input; whole sentences and turns are left out until it fits, never the query.
        max_reply: most tokens of a reply, which is cut there for training; it is scored against the whole reply.

    Returns:
        One dict a row, with `input_ids`, `attention_mask` and `labels`.
    """

    def count(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    features = []
    for row in rows:
        prompt = build_prompt(row, variant, max_length=max_input, count_tokens=count)
        encoded = tokenizer(prompt.text)
        labels = tokenizer(text_target=row["reply"], max_length=max_reply, truncation=True)["input_ids"]
        features.append(
            {"input_ids": encoded["input_ids"], "attention_mask": encoded["attention_mask"], "labels": labels}
        )
    return features


class Collator:
    """Rows of unequal length -> a padded batch; with global attention on the first token where the model has it.

    LED sees the whole input from tokens with global attention only; without one it sees windows.

    Args:
        tokenizer: the tokenizer of the model.
        model: the model.
    """

    def __init__(self, tokenizer: Any, model: Any):
        self._pad = DataCollatorForSeq2Seq(tokenizer, model=model)
        self._is_global = "global_attention_mask" in inspect.signature(model.forward).parameters

    def __call__(self, features: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        """Make a batch; labels are padded with -100, which no loss counts."""
        batch = self._pad(features)
        if self._is_global:
            batch["global_attention_mask"] = torch.zeros_like(batch["attention_mask"])
            batch["global_attention_mask"][:, 0] = 1
        return batch


def reference(row: Row) -> dict[str, Any]:
    """A row as `argscichat score` takes references."""
    return {"id": row["id"], "message": row["reply"], "facts": row["facts"], "paper_id": row["paper_id"]}


if __name__ == "__main__":
    typer.run(main)
