"""The app without a browser: what is refused, what is shown, and that requests do not disturb each other."""

import csv
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from argscichat.scoring import match_rows, score_file, score_in_windows
from argscichat.space import markup, score_files
from argscichat.space.corpora import corpora
from argscichat.space.downloads import remove_downloads, write_downloads
from argscichat.space.file_scores import Shown, query_html, query_rows, scores_html
from argscichat.space.limits import (
    MAX_ALL_MESSAGES,
    MAX_FILE_BYTES,
    MAX_MESSAGE,
    MAX_ROWS,
    MAX_SENTENCE,
    MAX_SENTENCES,
    InputError,
    check_message,
    paper_sentences,
)
from argscichat.space.replies import facts_html, heat_maps_html, score_reply
from argscichat.space.sample import sample_pairs, sample_predictions, sample_references
from argscichat.space.uploads import read_uploaded_predictions, read_uploaded_references
from argscichat_dataset.sample_rows import SAMPLE, SAMPLE_FILE
from argscichat_metric import compute_scores

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "[a link](javascript:alert(1))",
    "${alert(1)} {{alert(1)}} `x`",
    '" onload="x',
]
SAMPLE_AGENT = SAMPLE / "predictions_demo_agent.jsonl"
few_papers = pytest.mark.filterwarnings("ignore:the intervals of")


def row_text(**fields):
    return json.dumps({"id": "q", "message": "Yes.", "facts": []} | fields) + "\n"


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.fixture
def shown():
    rows = match_rows(sample_predictions("demo agent"), sample_references())
    *_, (_, scored) = score_in_windows(rows, 7, per_example=True, metrics=["fact_f1", "message_f1"])
    return Shown(scored, sample_references())


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_becomes_html_without_tags_quotes_or_placeholders(text):
    for html in (markup.escaped(text), markup.alert(text), markup.message(text, text), markup.paper([text], [0], [])):
        assert "<img" not in html
        assert "${" not in html
        assert "{{" not in html
        assert '" onload' not in html


def test_hostile_texts_of_a_file_are_escaped_wherever_they_are_shown(tmp_path):
    files = []
    for name in ("predictions", "references"):
        lines = [row_text(id=f"{i}{text}", message=text, facts=[text]) for i, text in enumerate(HOSTILE)]
        files.append(written(tmp_path / f"{name}.jsonl", "".join(lines)))
    references = read_uploaded_references(files[1], "references")
    rows = match_rows(read_uploaded_predictions(files[0], "predictions"), references)
    *_, (_, scored) = score_in_windows(rows, 9, per_example=True, metrics=["fact_f1", "message_f1"])
    page = scores_html(scored) + query_html(Shown(scored, references), 0)[0]
    assert "&lt;img src=x onerror" in page
    assert "<img src=x" not in page


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "The file is empty."),
        (" \n\n", "The file is empty."),
        (b"PK\x03\x04\x00\x00", "The file is binary"),
        (b"\xff\xfe", "line 1: expected UTF-8"),
        ("{}\n" * 100_000, f"100,000 rows; at most {MAX_ROWS:,}"),
        (
            row_text() + row_text(id="r", message="x" * 1_000_000),
            "Row 2 (id 'r'): the message has 1,000,000 characters",
        ),
        (row_text(facts=["x" * (MAX_SENTENCE + 1)]), "Row 1 (id 'q'): a fact has"),
        (row_text(facts=["a", "b", "c"]), "Row 1 (id 'q') has 3 facts; at most 2"),
        (row_text() + row_text(id="r", message=3), "line 2['message']: expected a text"),
        (row_text() + "{", "line 2: expected a JSON object"),
        ("".join(row_text(id=str(i), message="x" * MAX_MESSAGE) for i in range(90)), f"at most {MAX_ALL_MESSAGES:,}"),
    ],
)
def test_predictions_that_cannot_be_used_are_refused_with_their_reason_and_no_path(tmp_path, content, reason):
    path = written(tmp_path / "<script>alert(1)</script>.jsonl".replace("/", "_"), content)
    with pytest.raises(InputError) as caught:
        read_uploaded_predictions(path, "predictions")
    assert reason in str(caught.value)
    assert caught.value.field == "predictions"
    assert "script" not in str(caught.value)
    assert "/" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_file_of_200_mb_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    start = time.perf_counter()
    with pytest.raises(InputError, match="200.0 MB; at most 5 MB"):
        read_uploaded_predictions(str(path), "predictions")
    assert time.perf_counter() - start < 0.5
    assert MAX_FILE_BYTES == 5 * 2**20


def test_references_are_read_by_their_suffix_and_their_papers_are_limited(tmp_path):
    papers = json.loads(SAMPLE_FILE.read_text(encoding="utf-8"))
    path = written(tmp_path / "fold.json", json.dumps(papers))
    assert read_uploaded_references(path, "references").rows == sample_references().rows
    next(iter(papers.values()))["content"] += ["One more."] * MAX_SENTENCES
    with pytest.raises(InputError, match=f"sentences; at most {MAX_SENTENCES}"):
        read_uploaded_references(written(tmp_path / "fold.json", json.dumps(papers)), "references")


def test_pasted_texts_are_limited():
    with pytest.raises(InputError, match="one a line"):
        paper_sentences(" \n ", "paper")
    with pytest.raises(InputError, match="501 sentences"):
        paper_sentences("a\n" * 501, "paper")
    with pytest.raises(InputError, match="Sentence 2 has 2,001 characters"):
        paper_sentences("a\n" + "b" * 2001, "paper")
    with pytest.raises(InputError, match="The paper has 3,000,000 characters"):
        paper_sentences("b" * 3_000_000, "paper")
    with pytest.raises(InputError, match="1,000,000 characters; at most 5,000"):
        check_message("x" * 1_000_000, "reply")


def test_40_requests_at_the_same_time_each_get_their_own_right_answer():
    pairs, answers = sample_pairs(), sample_predictions("second agent")
    expected = [
        compute_scores([{"message": answer.message, "facts": [0, 1]}], [{"message": pair["reply"], "facts": [1, 2]}])
        for pair, answer in zip(pairs, answers, strict=True)
    ]
    with ThreadPoolExecutor(40) as pool:
        scored = list(
            pool.map(lambda pair, answer: score_reply(answer.message, pair["reply"], [0, 1], [1, 2]), pairs, answers)
        )
    assert len({one.scores["message_f1"] for one in scored}) > 10
    for one, right in zip(scored, expected, strict=True):
        assert one.scores == pytest.approx({key: right[key] for key in one.scores}, abs=1e-6)
        assert one.explanation.words.f1 == right["message_f1"]
        assert one.explanation.transport.score == pytest.approx(right["moverscore"], abs=1e-6)


def test_a_reply_to_a_query_without_gold_facts_has_no_fact_f1():
    scored = score_reply("Yes.", "Yes, it is.", [1], [])
    assert scored.scores["fact_f1"] is None
    assert scored.scores["message_f1"] > 0


def test_an_empty_reply_has_scores_and_no_heat_maps():
    scored = score_reply("", "Yes.", [], [0])
    assert scored.scores == {"fact_f1": 0.0, "message_f1": 0.0, "bertscore_f1": 0.0, "moverscore": 0.0}
    assert "A text is empty" in heat_maps_html(scored.explanation)


@few_papers
def test_windows_give_what_the_whole_file_gives():
    options = {"per_example": True, "confidence": 0.9}
    rows = match_rows(sample_predictions("demo agent"), sample_references())
    steps = list(score_in_windows(rows, 9, **options))
    assert [n for n, _ in steps] == [9, 18, 27, 36, 40, 40]
    whole = score_file(SAMPLE_AGENT, SAMPLE_FILE, **options).result
    joined = steps[-1][1].result
    assert joined.pop("per_example").keys() == whole["per_example"].keys()
    for key, value in joined.items():
        assert value == (whole[key] if isinstance(value, str) else pytest.approx(whole[key], abs=1e-6))
    with pytest.raises(ValueError, match="idf"):
        next(score_in_windows(rows, 9, idf=True))


def test_a_request_that_is_abandoned_stops_after_the_window_it_is_in(monkeypatch):
    monkeypatch.setattr(score_files, "_WINDOW", 5)
    windows = []
    original = score_files.score_in_windows

    def counted(*args, **options):
        for step in original(*args, **options):
            windows.append(step)
            yield step

    monkeypatch.setattr(score_files, "score_in_windows", counted)
    request = score_files._score(score_files.SOURCES[0], None, None, None, False, None)
    next(request)
    next(request)
    request.close()
    assert len(windows) == 1


@few_papers
def test_a_second_request_for_the_sample_takes_seconds_and_shows_both_agents():
    for _ in range(2):
        start = time.perf_counter()
        *_, last = score_files._score(score_files.SOURCES[0], None, None, None, False, None)
        seconds = time.perf_counter() - start
        remove_downloads(last[7])
    assert seconds < 5
    assert "Scores of demo agent" in last[0]
    assert "second agent against demo agent" in last[0]
    assert "The intervals rest on 5 papers" in last[0]


def test_missing_files_are_errors_beside_their_fields():
    for first, field in ((None, "predictions"), (str(SAMPLE_AGENT), "references")):
        (outputs,) = score_files._score(score_files.SOURCES[1], first, None, None, False, None)
        errors = dict(zip(score_files._FIELDS, outputs[-3:], strict=True))
        assert [name for name, update in errors.items() if update["visible"]] == [field]
        assert 'role="alert"' in errors[field]["value"]


def test_queries_come_lowest_first_with_the_numbers_they_have_in_the_file(shown):
    rows = query_rows(shown)
    means = [sum(score for score in row[2:] if score is not None) for row in rows]
    assert sorted(row[0] for row in rows) == list(range(1, 41))
    assert means[0] == min(means)
    columns = shown.scored.result["per_example"]
    for number, _, fact_f1, message_f1, *_ in rows:
        assert fact_f1 == pytest.approx(columns["fact_f1"][number - 1], abs=6e-4)
        assert message_f1 == pytest.approx(columns["message_f1"][number - 1], abs=6e-4)


def test_facts_are_marked_in_the_paper_and_foreign_ones_are_named():
    html = facts_html(["One.", "Two.", "Three."], ["Two.", "Three."], ["Two.", "Four."])
    assert html.count('asc-sentence asc-both">Two.') == 1
    assert html.count('asc-sentence asc-gold">Three.') == 1
    assert "no sentence of the paper: Four." in html
    assert 'asc-sentence asc-chosen">One.' in facts_html(["One."], [], [0])
    assert 'asc-sentence asc-both">Two.' in facts_html(None, ["Two."], ["Two."])
    assert "no gold facts" in facts_html(None, [], [])
    assert "carry no facts" in facts_html(None, None, ["Two."])


def test_downloads_hold_the_scores_and_no_formula(tmp_path):
    files = [written(tmp_path / f"{i}.jsonl", row_text(id="=1+1")) for i in range(2)]
    folder = write_downloads(score_file(*files, per_example=True, metrics=["message_f1"]), {"systems": []})
    try:
        assert json.loads((folder / "scores.json").read_text())["message_f1"] == 1.0
        (row,) = csv.DictReader((folder / "queries.csv").open())
        assert row["id"] == "'=1+1"
        assert row["message_f1"] == "1.0"
    finally:
        remove_downloads(folder)
    assert not folder.exists()


def test_the_sample_and_a_built_dataset_can_be_read(real_built):
    found = corpora(str(real_built))
    assert found.splits["sample"] == ["all"]
    assert {"fold_0", "papers_4", "all"} <= set(found.splits)
    assert "intents" not in found.splits
    assert len(found.read("sample", "all")) == 40
    assert len(found.read("fold_0", "test")) == 23
    tested = [pair["id"] for fold in range(5) for pair in found.read(f"sample papers_{fold}", "test")]
    assert sorted(tested) == sorted(pair["id"] for pair in sample_pairs())


def test_the_app_is_built_without_a_model(root):
    code = "import app, sys; app.build_demo(); print('torch' in sys.modules, 'transformers' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.split()[-2:] == ["False", "False"]


def test_references_of_which_some_name_no_paper_are_an_error_beside_their_field_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(score_files, "score_in_windows", None)  # calling it would be another error
    predictions = written(tmp_path / "p.jsonl", row_text(id="a") + row_text(id="b"))
    references = written(tmp_path / "r.jsonl", row_text(id="a", paper_id="p") + row_text(id="b"))
    (outputs,) = score_files._score(score_files.SOURCES[1], predictions, None, references, False, None)
    assert "&#x27;paper_id&#x27; is missing" in outputs[-1]["value"]
    assert [error["visible"] for error in outputs[-3:]] == [False, False, True]
