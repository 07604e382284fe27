"""Reading the files that people hand in."""

import json

import pytest

from argscichat.handed_in import as_sentence_ids, read_predictions, read_references

GOOD = {"id": "q1", "message": "a reply", "facts": ["s1"]}


def lines_of(path, *rows, encoding="utf-8"):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding)
    return path


def test_blank_lines_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n" + json.dumps(GOOD | {"id": 7}).encode())
    assert [row.id for row in read_predictions(path)] == ["q1", "7"]


def test_ids_and_texts_stay_strings_as_written(tmp_path):
    row = read_predictions(lines_of(tmp_path / "p.jsonl", GOOD | {"id": "007", "message": "2020-01-01"}))[0]
    assert (row.id, row.message) == ("007", "2020-01-01")


def test_a_line_separator_inside_a_text_is_not_a_line_end(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(GOOD | {"message": "one\u2028two"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_predictions(path)[0].message == "one\u2028two"


@pytest.mark.parametrize(
    ("rows", "error", "says"),
    [
        pytest.param([GOOD, "{"], ValueError, "line 2: expected a JSON object", id="cut off"),
        pytest.param([GOOD, "[1]"], TypeError, "line 2: expected a JSON object with 'id', got list", id="list"),
        pytest.param([{"message": "x"}], ValueError, "line 1: 'id' is missing", id="no id"),
        pytest.param([GOOD, GOOD], ValueError, "line 2: the id 'q1' was given in line 1", id="repeated id"),
        pytest.param([GOOD | {"mesage": "x"}], ValueError, "unknown key 'mesage'", id="unknown key"),
        pytest.param([GOOD | {"facts": "s1"}], ValueError, "['facts']: expected a list", id="one text for facts"),
        pytest.param([GOOD | {"facts": None}], TypeError, "['facts']: expected a list", id="null facts"),
        pytest.param([GOOD | {"message": 3}], TypeError, "['message']: expected a text", id="number for message"),
        pytest.param([GOOD, {"id": "q2", "message": "x"}], ValueError, "line 2: 'facts' is missing", id="some without"),
        pytest.param(['{"id": "a", "id": "b", "message": ""}'], ValueError, "a key is given twice", id="repeated key"),
        pytest.param(['{"id": "a", "message": "\\ud800"}'], ValueError, "half of a surrogate pair", id="surrogate"),
        pytest.param(["[" * 100_000], ValueError, "nested too deeply", id="deep"),
        pytest.param(["", " "], ValueError, "got an empty file", id="empty"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path, rows, error, says):
    path = lines_of(tmp_path / "p.jsonl", *rows)
    with pytest.raises(error) as caught:
        read_predictions(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_wrong_encoding_is_named_with_its_line(tmp_path):
    path = lines_of(tmp_path / "p.jsonl", GOOD)
    path.write_bytes(path.read_bytes() + '{"id": "q2", "message": "caf\u00e9"}'.encode("latin-1"))
    with pytest.raises(ValueError, match="line 2: expected UTF-8, got byte 0xe9"):
        read_predictions(path)


def test_gold_facts_of_a_fold_are_whole_sentences_and_their_indices(root):
    references = read_references(root / "argscichat_dataset/sample/sample_test.json")
    ids = as_sentence_ids(references)
    assert len(references.rows) == 40
    for row, row_of_ids, sentences in zip(references.rows, ids.rows, references.sentences, strict=True):
        assert [sentences[i] for i in row_of_ids.facts] == list(row.facts)
        assert row.paper_id


def test_references_may_be_json_lines_with_papers(tmp_path):
    references = read_references(lines_of(tmp_path / "r.jsonl", GOOD | {"paper_id": "P"}))
    assert references.rows[0].paper_id == "P"
    assert as_sentence_ids(references) is references


def test_a_fold_without_message_pairs_is_refused(tmp_path):
    paper = {"id": "P", "title": "P", "content": ["s"], "message_pairs": []}
    path = tmp_path / "fold.json"
    path.write_text(json.dumps({"P": paper}), encoding="utf-8")
    with pytest.raises(ValueError, match="at least one message pair"):
        read_references(path)
