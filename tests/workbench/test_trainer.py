"""compute_metrics for the Trainers: whatever they hand over gives the scores of the written file."""

import json
import random
import warnings

import numpy as np
import pytest

from argscichat import model_outputs
from argscichat.handed_in import read_predictions
from argscichat.model_outputs import best_sentences
from argscichat.scoring import score_file
from argscichat.trainer import (
    TRAINING_CACHE_MB,
    build_compute_metrics,
    decode_predictions,
    preprocess_logits_for_metrics,
    write_predictions,
)
from argscichat_dataset.corpus import read_pairs
from argscichat_dataset.sample_rows import SAMPLE, SAMPLE_FILE
from argscichat_metric.compute import compute_scores
from tests.tiny_models import build_tiny_model, build_tiny_tokenizer

WORDS = {"metrics": ["message_f1"]}
WORDS_AND_FACTS = {"metrics": ["message_f1", "fact_f1"]}


@pytest.fixture(scope="module")
def tokenizer():
    return build_tiny_tokenizer("led")


@pytest.fixture(scope="module")
def rows():
    return read_pairs(SAMPLE_FILE)


@pytest.fixture(scope="module")
def messages(rows):
    """What the demo agent of the sample replies, in the order of the rows."""
    by_id = {row.id: row.message for row in read_predictions(SAMPLE / "predictions_demo_agent.jsonl")}
    return [by_id[row["id"]] for row in rows]


def ragged(tokenizer, texts):
    return [np.array(ids) for ids in tokenizer(list(texts))["input_ids"]]


def padded(arrays, value=-100):
    """As a Trainer joins rows: a matrix that is filled up at the end."""
    width = max(map(len, arrays), default=0)
    matrix = np.full((len(arrays), width), value, dtype=arrays[0].dtype)
    for line, array in zip(matrix, arrays, strict=True):
        line[: len(array)] = array
    return matrix


def evaluation(predictions, labels):
    from transformers import EvalPrediction

    return EvalPrediction(predictions=predictions, label_ids=labels)


@pytest.fixture(scope="module")
def sample(tokenizer, rows, messages):
    """The demo agent's replies as generated ids, beside the labels."""
    replies = [row["reply"] for row in rows]
    return evaluation(padded(ragged(tokenizer, messages)), padded(ragged(tokenizer, replies)))


@pytest.fixture(scope="module")
def sentence_logits(rows):
    """Logits of the sentences of each paper, padded as a Trainer does; half of the rows have ties."""
    draw = np.random.default_rng(0)
    return padded([draw.normal(size=len(row["paper"])).round(i % 2) for i, row in enumerate(rows)])


def scores_of_file(path, **options):
    result = score_file(path, SAMPLE_FILE, **options).result
    return {key: value for key, value in result.items() if key != "signature"}


def test_the_scores_are_those_of_the_written_file(tokenizer, rows, sample, sentence_logits, tmp_path):
    output = evaluation((sample.predictions, sentence_logits), sample.label_ids)
    metrics = build_compute_metrics(tokenizer, rows)(output)
    write_predictions(tmp_path / "p.jsonl", tokenizer, output, rows)
    assert metrics == pytest.approx(scores_of_file(tmp_path / "p.jsonl"), abs=1e-6)
    assert metrics["n_queries"] == len(rows)
    assert 0 < metrics["fact_f1"] < 1
    assert 0.1 < metrics["message_f1"] < 1
    assert metrics["n_empty_predictions"] == 1


def test_messages_alone_leave_fact_f1_out(tokenizer, rows, sample, messages, tmp_path):
    metrics = build_compute_metrics(tokenizer, rows, **WORDS)(sample)
    write_predictions(tmp_path / "p.jsonl", tokenizer, sample, rows)
    written = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    assert written == [{"id": row["id"], "message": text.strip()} for row, text in zip(rows, messages, strict=True)]
    assert metrics == pytest.approx(scores_of_file(tmp_path / "p.jsonl", **WORDS), abs=1e-12)
    assert "fact_f1" not in metrics


def test_the_result_is_flat_and_of_plain_floats(tokenizer, rows, sample):
    metrics = build_compute_metrics(tokenizer, rows, **WORDS)(sample)
    assert {type(value) for value in metrics.values()} == {float}
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    assert {"message_f1", "n_queries"} <= set(metrics)
    assert "signature" not in metrics


def test_the_references_are_whole_replies_where_labels_were_cut(tokenizer, rows, sample):
    cut = evaluation(sample.predictions, sample.label_ids[:, :12])
    compute_metrics = build_compute_metrics(tokenizer, rows, **WORDS)
    assert compute_metrics(cut) == compute_metrics(sample)
    assert build_compute_metrics(tokenizer, **WORDS)(cut) != compute_metrics(sample)


def test_labels_alone_are_references_too(tokenizer, rows, sample, messages):
    expected = compute_scores(messages, [row["reply"] for row in rows], **WORDS)
    metrics = build_compute_metrics(tokenizer, **WORDS)(sample)
    assert metrics["message_f1"] == pytest.approx(expected["message_f1"], abs=1e-12)


def test_a_dataset_and_a_list_of_rows_are_the_same_references(tokenizer, rows, sample, sentence_logits):
    from datasets import load_dataset

    output = evaluation((sample.predictions, sentence_logits), sample.label_ids)
    split = load_dataset(str(SAMPLE.parent), split="test")
    for references in (split, split.select_columns(["id", "reply", "fact_ids", "paper"]), split.with_format("numpy")):
        metrics = build_compute_metrics(tokenizer, references, **WORDS_AND_FACTS)(output)
        assert metrics == build_compute_metrics(tokenizer, rows, **WORDS_AND_FACTS)(output)


def test_no_array_is_changed(tokenizer, rows, sample, sentence_logits):
    mask = (sentence_logits != -100).astype(np.int64)
    arrays = [sample.predictions.copy(), sentence_logits.copy(), mask, sample.label_ids.copy()]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    build_compute_metrics(tokenizer, rows, **WORDS_AND_FACTS)(evaluation(tuple(arrays[:3]), arrays[3]))
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_ids_below_0_are_padding_wherever_they_stand(tokenizer):
    ids = np.array(tokenizer("It is small.")["input_ids"])
    holed = np.concatenate([[-100, -1], ids[:3], [-100], ids[3:]])
    metrics = build_compute_metrics(tokenizer, **WORDS)(evaluation(holed[None], holed[None]))
    assert metrics["message_f1"] == 1.0
    assert metrics["n_empty_predictions"] == 0


@pytest.mark.parametrize("value", [-100, 1])
def test_nothing_but_padding_is_an_empty_text(tokenizer, rows, value):
    nothing = np.full((len(rows), 5), value)
    assert tokenizer.pad_token_id == 1
    metrics = build_compute_metrics(tokenizer, rows)(evaluation(nothing, nothing))
    assert metrics["n_empty_predictions"] == len(rows)
    assert metrics["bertscore_f1"] == metrics["message_f1"] == 0.0
    alone = build_compute_metrics(tokenizer, **WORDS)(evaluation(nothing, nothing))
    assert alone["n_empty_references"] == len(rows)
    assert alone["message_f1"] == 1.0  # SQuAD 2.0's rule for two empty texts


def test_generations_of_no_token_are_scored(tokenizer, rows, sample):
    for nothing in (np.zeros((len(rows), 0), dtype=np.int64), [[] for _ in rows]):
        metrics = build_compute_metrics(tokenizer, rows, **WORDS)(evaluation(nothing, sample.label_ids))
        assert metrics["n_empty_predictions"] == len(rows)


def as_rows(matrix):
    return [row[row != -100] for row in matrix]


def as_batches(matrix):
    return [padded(as_rows(matrix[start : start + 3])) for start in range(0, len(matrix), 3)]


@pytest.mark.parametrize("shape", [as_rows, as_batches, lambda matrix: [row.tolist() for row in as_rows(matrix)]])
def test_ragged_input_scores_as_a_matrix(tokenizer, rows, sample, shape):
    compute_metrics = build_compute_metrics(tokenizer, rows, **WORDS)
    output = evaluation(shape(sample.predictions), shape(sample.label_ids))
    assert compute_metrics(output) == compute_metrics(sample)


def test_batches_of_tuples_score_as_one_tuple(tokenizer, rows, sample, sentence_logits):
    numbers = np.arange(len(rows))
    marks = padded([np.isin(np.arange(len(row["paper"])), row["fact_ids"]).astype(int) for row in rows])
    whole = evaluation((sample.predictions, sentence_logits), (sample.label_ids, marks, numbers))
    starts = range(0, len(rows), 7)
    batches = evaluation(
        [tuple(part[start : start + 7] for part in whole.predictions) for start in starts],
        [tuple(part[start : start + 7] for part in whole.label_ids) for start in starts],
    )
    compute_metrics = build_compute_metrics(tokenizer, **WORDS_AND_FACTS)
    assert compute_metrics(batches) == compute_metrics(whole)
    # The marks are the gold facts of the rows.
    of_rows = build_compute_metrics(tokenizer, rows, **WORDS_AND_FACTS)(whole)
    assert compute_metrics(whole)["fact_f1"] == of_rows["fact_f1"] > 0


@pytest.fixture
def fresh_warning():
    model_outputs._warn_of_teacher_forcing.cache_clear()
    yield
    model_outputs._warn_of_teacher_forcing.cache_clear()


@pytest.fixture
def teacher_forced(sample, tokenizer):
    """Logits whose best ids are the labels, and 7 where the label is padding."""
    best = np.where(sample.label_ids < 0, 7, sample.label_ids)
    return np.eye(len(tokenizer), dtype=np.float32)[best]


def test_logits_are_read_as_their_best_ids_with_one_warning(
    fresh_warning, tokenizer, rows, sample, teacher_forced, tmp_path
):
    compute_metrics = build_compute_metrics(tokenizer, rows, **WORDS)
    with pytest.warns(UserWarning, match="teacher-forced"):
        metrics = compute_metrics(evaluation(teacher_forced, sample.label_ids))
    # All of the reply and, where the labels end, nothing more.
    assert metrics["message_f1"] == metrics["message_f1_whitespace"] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hidden = np.zeros((len(rows), 4, 8))
        assert compute_metrics(evaluation((teacher_forced, hidden), sample.label_ids)) == metrics
        rowwise = [list(teacher_forced), list(sample.label_ids)]
        assert compute_metrics(evaluation(*rowwise)) == metrics


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_preprocessing_keeps_ids_and_sentence_logits_only(
    fresh_warning, library, tokenizer, rows, sample, teacher_forced, sentence_logits
):
    torch = pytest.importorskip("torch")
    of = np.asarray if library == "numpy" else torch.from_numpy
    labels, logits = of(sample.label_ids), of(teacher_forced)
    hidden = of(np.zeros((len(rows), 4, 8)))
    with pytest.warns(UserWarning, match="teacher-forced"):
        kept = preprocess_logits_for_metrics((logits, of(sentence_logits), hidden, (hidden, hidden)), (labels, labels))
    assert [tuple(part.shape) for part in kept] == [sample.label_ids.shape, sentence_logits.shape]
    np.testing.assert_array_equal(np.asarray(kept[0]), sample.label_ids)
    assert type(kept[0]) is type(labels)
    assert preprocess_logits_for_metrics((logits, hidden), None).shape == labels.shape
    assert preprocess_logits_for_metrics(labels, labels) is labels


def test_the_best_two_sentences_are_selected_ties_to_the_earlier():
    everywhere = np.ones(4, dtype=bool)
    assert best_sentences(np.array([1.0, 3.0, 3.0, 2.0]), everywhere, 2) == [1, 2]
    assert best_sentences(np.array([1.0, 1.0, 1.0, 1.0]), everywhere, 2) == [0, 1]
    assert best_sentences(np.array([1.0, 3.0, 3.0, 2.0]), np.array([True, False, True, True]), 2) == [2, 3]
    assert best_sentences(np.array([-np.inf, np.nan, -5.0, -100.0]), everywhere, 2) == [2]
    assert best_sentences(np.array([9.0]), np.array([False]), 2) == []


def test_padding_sentences_are_never_selected_whichever_mask_says_so(tokenizer, rows, sample, sentence_logits):
    n_sentences = [len(row["paper"]) for row in rows]
    is_sentence = np.arange(sentence_logits.shape[1] + 3) < np.array(n_sentences)[:, None]
    wide = np.concatenate([np.where(sentence_logits == -100, 50.0, sentence_logits), np.full((len(rows), 3), 50.0)], 1)
    marks = np.where(is_sentence, 0, -100)
    without_papers = [{key: row[key] for key in ("id", "reply", "fact_ids")} for row in rows]

    def selected(predictions, labels, references):
        return decode_predictions(tokenizer, evaluation(predictions, labels), references)

    ids, labels = sample.predictions, sample.label_ids
    expected = selected((ids, sentence_logits), labels, rows)
    assert all(len(row["facts"]) == 2 for row in expected)
    assert selected((ids, wide), labels, rows) == expected
    assert selected((ids, wide, np.where(is_sentence, 1, -100)), labels, without_papers) == expected
    assert selected((ids, wide, is_sentence), labels, without_papers) == expected
    assert selected((ids, wide), (labels, marks), without_papers) == expected
    with pytest.raises(ValueError, match="sentence logits need a mask"):
        selected((ids, wide), labels, without_papers)
    with pytest.raises(ValueError, match="row 0 has 25 sentence logits, but a mask or sentence labels of 22"):
        selected((ids, wide, is_sentence[:, :22]), labels, without_papers)


def test_a_mask_of_bools_that_a_trainer_padded_is_still_a_mask(tokenizer, rows, sample, sentence_logits):
    # numpy and torch make True of the -100 that a Trainer pads with.
    padded_by_trainer = np.ones(sentence_logits.shape, dtype=bool)
    without_papers = [{key: row[key] for key in ("id", "reply")} for row in rows]
    output = evaluation((sample.predictions, sentence_logits - 200, padded_by_trainer), sample.label_ids)
    output.predictions[1][sentence_logits == -100] = -100
    lowered = decode_predictions(tokenizer, output, without_papers)
    expected = decode_predictions(tokenizer, evaluation((sample.predictions, sentence_logits), None), rows)
    assert lowered == expected


def test_max_facts_is_how_many_are_selected(tokenizer, rows, sample, sentence_logits):
    output = evaluation((sample.predictions, sentence_logits), sample.label_ids)
    two = decode_predictions(tokenizer, output, rows)
    one = decode_predictions(tokenizer, output, rows, max_facts=1)
    assert [row["facts"] for row in one] == [row["facts"][:1] for row in two]
    metrics = build_compute_metrics(tokenizer, rows, max_facts=1, **WORDS_AND_FACTS)(output)
    expected = compute_scores([r["facts"] for r in one], [r["fact_ids"] for r in rows], max_facts=1)
    assert metrics["fact_f1"] == pytest.approx(expected["fact_f1"], abs=1e-12)
    with pytest.raises(ValueError, match="max_facts: expected a whole number of at least 1, got 0"):
        decode_predictions(tokenizer, output, rows, max_facts=0)


def test_sentence_logits_without_gold_facts_are_refused(tokenizer, rows, sample, sentence_logits):
    bare = [{key: row[key] for key in ("id", "reply", "paper")} for row in rows]
    with pytest.raises(ValueError, match="there are sentence logits, but no gold facts"):
        build_compute_metrics(tokenizer, bare)(evaluation((sample.predictions, sentence_logits), sample.label_ids))


def repeated(array, times):
    return np.concatenate([array, array[:times]])


def test_rows_repeated_at_the_end_count_once(tokenizer, rows, sample):
    compute_metrics = build_compute_metrics(tokenizer, rows, **WORDS)
    for times in (1, 8, len(rows)):
        output = evaluation(repeated(sample.predictions, times), repeated(sample.label_ids, times))
        assert compute_metrics(output) == compute_metrics(sample)
        assert len(decode_predictions(tokenizer, output, rows)) == len(rows)


def test_rows_beyond_the_references_that_repeat_nothing_are_refused(tokenizer, rows, sample):
    with pytest.raises(ValueError, match="one row for each of the 30 references, got 40, and the last ones are no rep"):
        build_compute_metrics(tokenizer, rows[:30], **WORDS)(sample)
    with pytest.raises(ValueError, match="one row for each of the 30 references, got 40"):
        build_compute_metrics(tokenizer, rows[:30], **WORDS)(evaluation(sample.predictions, None))
    with pytest.raises(ValueError, match="one row for each of the 40 references, got 39; build compute_metrics with"):
        build_compute_metrics(tokenizer, rows)(evaluation(sample.predictions[:39], sample.label_ids[:39]))


@pytest.mark.parametrize("with_references", [True, False])
def test_row_numbers_drop_repeats_and_restore_the_order(tokenizer, rows, sample, with_references):
    numbers = np.array(random.Random(0).sample(range(len(rows)), len(rows)) + [3, 3, 5])
    output = evaluation(sample.predictions[numbers], (sample.label_ids[numbers], numbers))
    references = rows if with_references else None
    compute_metrics = build_compute_metrics(tokenizer, references, **WORDS)
    assert compute_metrics(output) == compute_metrics(sample)
    written = decode_predictions(tokenizer, output, rows)
    assert written == decode_predictions(tokenizer, sample, rows)


def test_row_numbers_must_be_those_of_the_references(tokenizer, rows, sample):
    numbers = np.arange(1, 41)
    with pytest.raises(ValueError, match="each row number from 0 to 39.*got 40 different ones from 1 to 40"):
        build_compute_metrics(tokenizer, rows)(evaluation(sample.predictions, (sample.label_ids, numbers)))
    classes = np.arange(40) % 2
    with pytest.raises(ValueError, match="rows 0 and 2 have the row number 0 and different labels"):
        build_compute_metrics(tokenizer, **WORDS)(evaluation(sample.predictions, (sample.label_ids, classes)))


def test_an_id_that_the_references_hold_twice_counts_once(tokenizer, rows, sample):
    output = evaluation(repeated(sample.predictions, 4), repeated(sample.label_ids, 4))
    metrics = build_compute_metrics(tokenizer, rows + rows[:4], **WORDS)(output)
    assert metrics == build_compute_metrics(tokenizer, rows, **WORDS)(sample)
    assert metrics["n_queries"] == len(rows)
    with pytest.raises(ValueError, match=r"references\[40\]: the id .* is that of references\[0\], with another reply"):
        build_compute_metrics(tokenizer, [*rows, rows[0] | {"reply": "Something else."}])


def test_references_of_another_split_of_the_same_size_bring_a_warning(tokenizer, rows, sample):
    compute_metrics = build_compute_metrics(tokenizer, rows[20:], **WORDS)
    with pytest.warns(UserWarning, match="are the references the rows of the split that is evaluated"):
        compute_metrics(evaluation(sample.predictions[:20], sample.label_ids[:20]))


def test_a_test_set_without_labels_can_be_decoded_but_not_scored_alone(tokenizer, rows, sample):
    output = evaluation(sample.predictions, None)
    assert decode_predictions(tokenizer, output, rows) == decode_predictions(tokenizer, sample, rows)
    with pytest.raises(ValueError, match="label_ids: expected the token ids of the reference replies"):
        build_compute_metrics(tokenizer)(output)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"per_example": True}, ValueError, "per_example: expected False, as a Trainer logs single numbers only"),
        ({"confidence": 0.95}, ValueError, "confidence: expected None, as a Trainer logs single numbers only"),
        ({"metric": ["fact_f1"]}, TypeError, "did you mean 'metrics'?"),
        ({"references": "fold_0"}, TypeError, "references: expected the rows of one split, got str 'fold_0'"),
        ({"references": {"test": []}}, TypeError, "references: expected the rows of one split, got dict"),
        ({"references": []}, ValueError, "references: expected the rows of one split, got none"),
        ({"references": ["a"]}, TypeError, "references[0]: expected a dict with 'id' and 'reply', got str 'a'"),
        ({"references": [{"id": "a"}]}, ValueError, "references[0]: 'reply' is missing; found are the keys ['id']"),
        ({"references": [{"id": "a", "reply": 1}]}, TypeError, "references[0]['message']: expected a text"),
    ],
)
def test_what_cannot_be_used_is_refused_before_training(tokenizer, options, error, says):
    with pytest.raises(error) as caught:
        build_compute_metrics(tokenizer, **options)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("predictions", "labels", "error", "says"),
    [
        (np.zeros((2, 3)), np.ones((2, 3), dtype=int), TypeError, "predictions[0]: expected token ids (whole numbers)"),
        (None, np.ones((2, 3), dtype=int), TypeError, "predictions: expected arrays of n rows, got NoneType None"),
        ("ab", np.ones((2, 3), dtype=int), TypeError, "predictions: expected arrays of n rows, got str 'ab'"),
        (np.ones((3, 3), dtype=int), np.ones((2, 3), dtype=int), ValueError, "as many label_ids as rows of tokens, 3"),
        (np.ones((2, 3), dtype=int), np.ones((2, 3, 4)), TypeError, "label_ids: expected token ids (whole numbers)"),
        (
            (np.ones((2, 3), dtype=int), np.ones((3, 3))),
            np.ones((2, 3), dtype=int),
            ValueError,
            "as many sentence logits as rows of tokens, 2, got 3",
        ),
        (
            (np.ones((2, 3), dtype=int), *[np.ones((2, 3))] * 3),
            np.ones((2, 3), dtype=int),
            ValueError,
            "at most two parts of shape (n, sentences)",
        ),
        (
            np.ones((2, 3), dtype=int),
            (np.ones((2, 3), dtype=int), np.arange(2), np.arange(2)),
            ValueError,
            "label_ids: expected at most one of the arrays of row numbers, got 2",
        ),
        (np.ones((0, 3), dtype=int), np.ones((0, 3), dtype=int), ValueError, "hold no rows"),
    ],
)
def test_arrays_that_cannot_be_read_are_refused(tokenizer, predictions, labels, error, says):
    with pytest.raises(error) as caught:
        build_compute_metrics(tokenizer, **WORDS)(evaluation(predictions, labels))
    assert says in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_something_else_than_an_output_is_refused(tokenizer):
    with pytest.raises(TypeError, match="expected an EvalPrediction or the output of trainer.predict, got list"):
        build_compute_metrics(tokenizer)([1, 2])


def test_without_a_padding_token_the_end_token_stands_in(sample, rows):
    gpt2 = build_tiny_tokenizer("gpt2")
    assert gpt2.pad_token_id is None
    ids = padded(ragged(gpt2, ["It is small.", "No."]))
    metrics = build_compute_metrics(gpt2, **WORDS)(evaluation(ids, ids))
    assert metrics["message_f1"] == 1.0
    gpt2.eos_token = None
    with pytest.raises(ValueError, match="tokenizer: expected a pad_token or an eos_token"):
        build_compute_metrics(gpt2, **WORDS)(evaluation(ids, ids))


def test_predictions_are_not_written_where_there_is_no_folder(tokenizer, rows, sample, tmp_path):
    with pytest.raises(OSError, match="does not exist"):
        write_predictions(tmp_path / "none" / "p.jsonl", tokenizer, sample, rows)


def test_scoring_leaves_the_random_numbers_of_a_training_alone(tokenizer, rows, sample):
    torch = pytest.importorskip("torch")
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    build_compute_metrics(tokenizer, rows)(sample)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]


class CountedEncoder:
    """What the encoder was asked for: how often it was loaded, and every text that it embedded."""

    def __init__(self, monkeypatch):
        from argscichat_metric import embedding_pass, encoder
        from argscichat_metric.embedding_cache import EmbeddingCache

        self.n_loaded, self.texts = 0, []
        monkeypatch.setattr(encoder, "_LOADED", {})
        self.cache = EmbeddingCache()
        monkeypatch.setattr(embedding_pass, "_CACHE", self.cache)
        load, tokenize = encoder.Encoder.__init__, encoder.Encoder.tokenize

        def counted_load(*arguments):
            self.n_loaded += 1
            load(*arguments)

        def counted_tokenize(owner, texts, limit):
            self.texts.extend(texts)
            return tokenize(owner, texts, limit)

        monkeypatch.setattr(encoder.Encoder, "__init__", counted_load)
        monkeypatch.setattr(encoder.Encoder, "tokenize", counted_tokenize)


def seq2seq_trainer(folder, rows, tmp_path, **arguments):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq, Seq2SeqTrainer
    from transformers import Seq2SeqTrainingArguments as Arguments

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    features = [
        {"input_ids": tokenizer(row["query"])["input_ids"], "labels": tokenizer(row["reply"])["input_ids"]}
        for row in rows
    ]
    settings = {"output_dir": str(tmp_path / "run"), "report_to": "none", "disable_tqdm": True, "use_cpu": True}
    settings |= {"predict_with_generate": True, "generation_max_length": 40, "save_strategy": "no"}
    return Seq2SeqTrainer(
        model=model,
        args=Arguments(**settings | arguments),
        train_dataset=features,
        eval_dataset=features,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        processing_class=tokenizer,
        compute_metrics=build_compute_metrics(tokenizer, rows),
        preprocess_logits_for_metrics=preprocess_logits_for_metrics,
    )


def short_rows(rows, n):
    return sorted(rows, key=lambda row: len(row["reply"]))[:n]


@pytest.fixture(scope="module")
def t5(tmp_path_factory):
    return build_tiny_model("t5", tmp_path_factory.mktemp("models"))


def test_three_epochs_load_the_encoder_once_and_embed_each_reference_once(t5, rows, tmp_path, monkeypatch):
    pytest.importorskip("accelerate")
    chosen = short_rows(rows, 12)
    counted = CountedEncoder(monkeypatch)
    trainer = seq2seq_trainer(t5, chosen, tmp_path, num_train_epochs=3, eval_strategy="epoch")
    trainer.train()
    evaluations = [entry for entry in trainer.state.log_history if "eval_bertscore_f1" in entry]
    assert len(evaluations) == 3
    assert counted.n_loaded == 1
    assert [counted.texts.count(row["reply"].strip()) for row in chosen] == [1] * len(chosen)


def test_the_cache_of_a_training_holds_2000_references_like_those_of_the_sample(tokenizer, rows, sample, monkeypatch):
    counted = CountedEncoder(monkeypatch)
    build_compute_metrics(tokenizer, rows)(evaluation(sample.label_ids, sample.label_ids))
    n_texts = len({row["reply"].strip() for row in rows})
    assert len(counted.cache) == n_texts
    assert 2000 * counted.cache.used_bytes / n_texts < TRAINING_CACHE_MB * 2**20


def test_replies_of_the_next_epoch_push_no_reference_out(tokenizer, rows, sample, monkeypatch):
    counted = CountedEncoder(monkeypatch)
    compute_metrics = build_compute_metrics(tokenizer, rows, metrics=["bertscore"], cache_mb=3)
    replies = [row["reply"].strip() for row in rows]
    for epoch in range(3):
        answers = ragged(tokenizer, [f"Epoch {epoch}: {reply}" for reply in replies])
        compute_metrics(evaluation(padded(answers), sample.label_ids))
    assert counted.cache.used_bytes > 2.5 * 2**20  # so there was no room for all
    assert [counted.texts.count(reply) for reply in replies] == [1] * len(replies)


def test_without_a_cache_the_references_are_embedded_again(tokenizer, rows, sample, monkeypatch):
    counted = CountedEncoder(monkeypatch)
    compute_metrics = build_compute_metrics(tokenizer, rows[:2], metrics=["bertscore"], cache_mb=0)
    for _ in range(2):
        compute_metrics(evaluation(sample.predictions[:2], sample.label_ids[:2]))
    assert counted.texts.count(rows[0]["reply"].strip()) == 2


def test_trainer_evaluate_equals_the_command_on_the_written_file(t5, rows, tmp_path, run):
    pytest.importorskip("accelerate")
    chosen = short_rows(rows, 5)
    trainer = seq2seq_trainer(
        t5, chosen, tmp_path, num_train_epochs=40, learning_rate=1e-2, lr_scheduler_type="constant"
    )
    trainer.train()
    metrics = trainer.evaluate()
    predicted = trainer.predict(trainer.eval_dataset)
    write_predictions(tmp_path / "p.jsonl", trainer.processing_class, predicted, chosen)
    gold = [json.dumps({"id": row["id"], "message": row["reply"], "facts": row["facts"]}) for row in chosen]
    (tmp_path / "r.jsonl").write_text("\n".join(gold), encoding="utf-8")
    assert run("score", tmp_path / "p.jsonl", tmp_path / "r.jsonl", "--json", tmp_path / "s.json")[0] == 0
    scores = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert metrics["eval_message_f1"] > 0  # so much it has learnt by heart
    for key in scores.keys() - {"signature", "missing"}:
        assert metrics[f"eval_{key}"] == pytest.approx(scores[key], abs=1e-6), key


@pytest.fixture
def tuple_model():
    """A model with a reply, hidden states, sentence logits and a mask of bools, all made from its input."""
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self, vocabulary):
            super().__init__()
            self.embedding = torch.nn.Embedding(vocabulary, vocabulary)
            torch.nn.init.eye_(self.embedding.weight)

        def forward(self, input_ids, labels, sentence_labels, row_number, lengths):
            states = self.embedding(input_ids)
            places = torch.arange(sentence_labels.shape[1])
            mask = places < lengths[:, None]
            sentences = -((places - lengths[:, None] // 2).abs().float()) - 300
            sentences = torch.where(mask, sentences, torch.tensor(-100.0))
            return {"loss": states.mean(), "logits": states, "sentences": sentences, "mask": mask, "hidden": states}

    return Model


@pytest.mark.parametrize("joined", [True, False])
def test_a_trainer_with_tuples_scores_facts_and_drops_repeats(tokenizer, rows, tuple_model, tmp_path, joined):
    pytest.importorskip("accelerate")
    import torch
    from transformers import Trainer, TrainingArguments

    def collate(numbers):
        chosen = [rows[number] for number in numbers]
        marks = padded([np.isin(np.arange(len(row["paper"])), row["fact_ids"]).astype(int) for row in chosen])
        labels = padded(ragged(tokenizer, [row["reply"] for row in chosen]))
        return {
            "input_ids": torch.from_numpy(np.where(labels < 0, tokenizer.pad_token_id, labels)),
            "labels": torch.from_numpy(labels),
            "sentence_labels": torch.from_numpy(marks),
            "row_number": torch.tensor(numbers),
            "lengths": torch.tensor([len(row["paper"]) for row in chosen]),
        }

    trainer = Trainer(
        model=tuple_model(len(tokenizer)),
        args=TrainingArguments(
            output_dir=str(tmp_path),
            per_device_eval_batch_size=6,
            label_names=["labels", "sentence_labels", "row_number"],
            eval_do_concat_batches=joined,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
        ),
        data_collator=collate,
        compute_metrics=build_compute_metrics(tokenizer, rows, **WORDS_AND_FACTS),
        preprocess_logits_for_metrics=preprocess_logits_for_metrics,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics = trainer.evaluate([*range(len(rows)), 0, 1])
    middle = [len(row["paper"]) // 2 for row in rows]
    expected = compute_scores([[m, m - 1] for m in middle], [row["fact_ids"] for row in rows])
    assert metrics["eval_n_queries"] == len(rows)
    assert metrics["eval_message_f1"] == 1.0
    assert metrics["eval_fact_f1"] == pytest.approx(expected["fact_f1"], abs=1e-12)
    assert expected["fact_f1"] > 0
