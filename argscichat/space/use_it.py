"""The tab with what to type to get the same scores."""

import gradio as gr

from argscichat.space import markup

EVALUATE = """\
import evaluate

metric = evaluate.load("./argscichat_metric")
predictions = [{"message": "Yes, on two corpora.", "facts": [4, 11]}]
references = [{"message": "They test it on two corpora.", "facts": [4]}]
print(metric.compute(predictions=predictions, references=references))
"""

TRAINER = """\
from argscichat.trainer import build_compute_metrics, preprocess_logits_for_metrics

trainer = Seq2SeqTrainer(
    model=model,
    args=args,  # predict_with_generate=True, metric_for_best_model="eval_message_f1"
    processing_class=tokenizer,
    train_dataset=tokenized["train"],
    eval_dataset=tokenized["validation"],
    compute_metrics=build_compute_metrics(tokenizer, fold["validation"]),
    preprocess_logits_for_metrics=preprocess_logits_for_metrics,
)
"""

COMMANDS = """\
argscichat score predictions.jsonl fold_0_test.json --json result.json --per-example queries.jsonl
argscichat compare baseline.jsonl agent.jsonl fold_0_test.json
"""


def build_use_it(signature: gr.Textbox) -> None:
    """Put the tab into the page that is being built.

    Args:
        signature: shows the signature of what was scored last; made without a place, which it gets here.
    """
    with gr.Row(equal_height=False):
        with gr.Column(min_width=320):
            gr.HTML(markup.heading("In Python", "The module of evaluate; it needs no network."))
            gr.Code(EVALUATE, language="python", label="evaluate.load", interactive=False, wrap_lines=True)
            gr.HTML(markup.heading("On the command line", "The files are those of the tab Score a file."))
            gr.Code(COMMANDS, language="shell", label="Command line", interactive=False, wrap_lines=True)
        with gr.Column(min_width=320):
            gr.HTML(markup.heading("In training", "The same scores after every epoch."))
            gr.Code(TRAINER, language="python", label="Trainer", interactive=False, wrap_lines=True)
            gr.HTML(markup.heading("Signature", "Print it beside the scores: it names everything that changes them."))
            signature.render()
