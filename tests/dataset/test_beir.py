"""Reading BEIR folders: what published ones do differently, what is refused, and what a lenient reader counts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat_dataset.beir import BeirData, iter_corpus, iter_queries, read_beir, read_candidates, read_qrels
from argscichat_dataset.beir_records import Document
from argscichat_dataset.source import SourceError

Folder = Callable[..., Path]
SOUND = BeirData(
    corpus={"d1": Document("T", "One."), "d2": Document("", "Two.")},
    queries={"q1": "One?", "q2": "Two?"},
    qrels={"q1": {"d1": 1}, "q2": {"d2": 2}},
)


def corpus_of(*ids: Any) -> str:
    return "".join(json.dumps({"_id": name, "title": "", "text": "x"}) + "\n" for name in ids)


def queries_of(*ids: Any) -> str:
    return "".join(json.dumps({"_id": name, "text": "x"}) + "\n" for name in ids)


# What is read


@pytest.mark.parametrize(("split", "judgments", "judged"), [("test", 339, 300), ("train", 919, 809)])
def test_scifact_has_its_published_counts(shared_dir: Path, split: str, judgments: int, judged: int) -> None:
    data = read_beir(shared_dir / "scifact", split)
    assert (len(data.corpus), len(data.queries)) == (5183, 1109)
    assert (sum(map(len, data.qrels.values())), len(data.qrels)) == (judgments, judged)


def test_a_second_split_is_what_a_fresh_reader_gives(beir: Folder) -> None:
    folder = beir(test="query-id\tcorpus-id\tscore\nq1\td1\t1\n", dev="query-id\tcorpus-id\tscore\nq2\td2\t1\n")
    first = read_beir(folder, "test")
    first.qrels["q1"]["d1"] = 7
    assert read_beir(folder, "dev").qrels == {"q2": {"d2": 1}}
    assert read_beir(folder, "test").qrels == {"q1": {"d1": 1}}


@pytest.mark.parametrize(
    "qrels",
    [
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n",
        "q1\td1\t1\nq2\td2\t2\n",
        "q1\td1\t1\nq2\td2\t2",
        "query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq2\td2\t2\r\n",
        "\ufeffquery-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n",
        "\ufeffq1\td1\t1\nq2\td2\t2\n",
        "\n\nquery-id\tcorpus-id\tscore\n\nq1\td1\t1\n  \n\t\nq2\td2\t2\n\n",
        "q1\td1\t1.0\nq2\td2\t2.\n",
        "q1 0 d1 1\nq2 0 d2 2\n",
        "q1\tQ0\td1\t1\nq2\tQ0\td2\t2\n",
        "qid iter docid rel\nq1 0 d1 1\nq2  0  d2  2\n",
        '"query-id"\t"corpus-id"\t"score"\n"q1"\t"d1"\t"1"\n"q2"\t"d2"\t"2"\n',
        "q1\td1\t1\nq1\td1\t1\nq2\td2\t2\n",
    ],
    ids="header,none,no last end,crlf,bom,bom none,blank,whole,trec,trec tabs,trec header,quoted,repeat".split(","),
)
def test_judgments_are_read_however_they_are_written(beir: Folder, qrels: str) -> None:
    folder = beir(test=qrels)
    assert read_beir(folder, "test") == SOUND
    assert read_qrels(folder / "qrels" / "test.tsv") == SOUND.qrels


@pytest.mark.parametrize("name", ["corpus", "queries"])
@pytest.mark.parametrize("change", [lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n\r\n"), lambda t: t + t])
def test_marks_line_ends_blank_lines_and_plain_repeats_change_nothing(beir: Folder, name: str, change: Any) -> None:
    text = (beir() / f"{name}.jsonl").read_text()
    assert read_beir(beir(**{name: change(text)}), "test") == SOUND


@pytest.mark.parametrize(
    "name",
    ["007", "a b", 'say "x"', '"open', 'close"', '"both"', '"', "a\u2028b", "é", "<dbpedia:A_(b)>", "-1", "1.0"],
)
def test_an_id_is_kept_as_it_is_written(beir: Folder, name: str) -> None:
    folder = beir(corpus_of(name), queries_of(name), test=f"{name}\t{name}\t1\n")
    data = read_beir(folder, "test")
    assert (list(data.corpus), list(data.queries), data.qrels) == ([name], [name], {name: {name: 1}})


def test_an_id_that_csv_put_in_quotes_is_what_csv_reads(tmp_path: Path) -> None:
    file = tmp_path / "qrels.tsv"
    file.write_text('"""Why?"" A Paper_1"\t"""d"""\t1\n"open\td\t0\n', encoding="utf-8")
    assert read_qrels(file) == {'"Why?" A Paper_1': {'"d"': 1}, '"open': {"d": 0}}


def test_integers_are_ids_as_their_decimal_text(beir: Folder) -> None:
    folder = beir(corpus_of(12, 0), queries_of(-3), test="-3\t12\t1\n-3\t0\t-1\n")
    assert read_beir(folder, "test").qrels == {"-3": {"12": 1, "0": -1}}


def test_a_line_separator_inside_a_text_ends_no_line(beir: Folder) -> None:
    folder = beir('{"_id": "d1", "text": "a\u2028b\u0085c"}\n{"_id": "d2", "text": "t", "title": null}\n')
    assert read_beir(folder, "test").corpus == {"d1": Document("", "a\u2028b\u0085c"), "d2": Document("", "t")}


def test_keys_that_the_format_does_not_have_are_ignored(beir: Folder) -> None:
    folder = beir(queries='{"_id": "q1", "text": "One?", "metadata": {"x": [1]}}\n{"_id": "q2", "text": "Two?"}\n')
    assert read_beir(folder, "test") == SOUND


def test_going_over_a_file_gives_what_reading_it_gives(beir: Folder) -> None:
    folder = beir()
    assert dict(iter_corpus(folder / "corpus.jsonl")) == SOUND.corpus
    assert dict(iter_queries(folder / "queries.jsonl")) == SOUND.queries


def test_candidates_are_none_where_there_is_no_file(beir: Folder) -> None:
    folder = beir()
    assert read_candidates(folder) is None
    (folder / "candidates.jsonl").write_text('{"query-id": 1, "corpus-ids": ["d2", 3]}\n', encoding="utf-8")
    assert read_candidates(folder) == {"1": ["d2", "3"]}
    (folder / "candidates.jsonl").write_text('{"query-id": 1, "corpus-ids": "d2"}\n', encoding="utf-8")
    with pytest.raises(SourceError, match=r"candidates.jsonl': line 1: expected a list as 'corpus-ids', got 'd2'"):
        read_candidates(folder)


# What is refused, or counted

DOCUMENT = '{"_id": "d1", "text": "One."}\n{"_id": "d2", "text": "Two."}\n'
BAD_RECORDS = [
    ('{"_id": "x", "text": ', "a JSON object, got an error at column 22"),
    ("[" * 100_000, "a JSON object, got nesting too deep"),
    ('{"_id": ' + "9" * 5000 + "}", "a JSON object, got 'Exceeds the limit"),
    ("7", "a JSON object, got 7"),
    ('{"text": "x"}', "the key '_id', got the keys 'text'"),
    ('{"_id": "x"}', "the key 'text', got the keys '_id'"),
    ('{"_id": true, "text": "x"}', "a string as id, got the boolean true"),
    ('{"_id": 1.0, "text": "x"}', "a string as id, got 1.0"),
    ('{"_id": "x", "text": null}', "a string as text, got null"),
    ('{"_id": "x", "_id": "y", "text": "x"}', "each key once"),
    ('{"_id": "x", "text": "\\ud800"}', "text that UTF-8 can encode as text"),
    ('{"_id": "", "text": "x"}', "an id that is not blank, got ''"),
    ('{"_id": " ", "text": "x"}', "an id that is not blank, got ' '"),
    (b'{"_id": "x", "text": "\xff"}', "UTF-8 text, got byte 0xff at offset 22 of the line"),
]
BAD_JUDGMENTS = [
    ("q1\td1", "3 columns with tabs between them, or the 4 of TREC, got 2 columns in 'q1"),
    ("q1 d1 1", "3 columns with tabs between them, or the 4 of TREC, got 3 columns in 'q1 d1 1'"),
    ("q1\td1\t1\t1\t1", "got 5 columns"),
    ("q1\t0\td1\t1", "3 columns as in the lines before, got 4"),
    ("q1\td1\thigh", "a whole number of 32 bits as score, got 'high'"),
    ("q1\td1\tscore", "a whole number of 32 bits as score, got 'score'"),
    ("q1\td1\t0.5", "a whole number of 32 bits as score, got '0.5'"),
    ("q1\td1\tnan", "a whole number of 32 bits as score, got 'nan'"),
    ("q1\td1\t1e0", "a whole number of 32 bits as score, got '1e0'"),
    ("q1\td1\t\u0661", "a whole number of 32 bits as score, got '\u0661'"),
    ("q1\td1\t2147483648", "a whole number of 32 bits as score, got '2147483648'"),
    ("q1\td1\t", "a whole number of 32 bits as score, got ''"),
    ("\td1\t1", "an id that is not blank, got ''"),
    ("q1\t\t1", "an id that is not blank, got ''"),
    ('""\td1\t1', "an id that is not blank, got ''"),
    ("q1\td1\t2", "one score for query 'q1' and document 'd1', got 1 before and 2 here"),
    ("q1\td9\t1", "the id of a document that there is, got 'd9'"),
    ("q9\td1\t1", "the id of a query that there is, got 'q9'"),
    (b"q1\td\xff\t1", "UTF-8 text, got byte 0xff"),
]


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@pytest.mark.parametrize("name", ["corpus", "queries"])
@pytest.mark.parametrize(("line", "expected"), BAD_RECORDS, ids=range(len(BAD_RECORDS)))
def test_a_malformed_record_is_an_error_or_is_left_out(
    beir: Folder, name: str, line: str | bytes, expected: str
) -> None:
    sound = (beir() / f"{name}.jsonl").read_bytes()
    first, second = sound.splitlines(keepends=True)
    folder = beir(**{name: first + as_bytes(line) + b"\n" + second})
    with pytest.raises(SourceError) as caught:
        read_beir(folder, "test")
    assert f"{name}.jsonl': line 2: expected " in str(caught.value)
    assert expected in str(caught.value) and len(str(caught.value)) < 1000
    with pytest.warns(UserWarning, match="^(malformed lines|lines with an empty id): 1, left out") as warned:
        assert read_beir(folder, "test", strict=False) == SOUND
    assert len(warned) == 1 and warned[0].filename == __file__


@pytest.mark.parametrize(("line", "expected"), BAD_JUDGMENTS, ids=range(len(BAD_JUDGMENTS)))
def test_a_malformed_judgment_is_an_error_or_is_left_out(beir: Folder, line: str | bytes, expected: str) -> None:
    folder = beir(test=b"q1\td1\t1\n" + as_bytes(line) + b"\nq2\td2\t2\n")
    with pytest.raises(SourceError) as caught:
        read_beir(folder, "test")
    assert "test.tsv': line 2: expected " in str(caught.value)
    assert expected in str(caught.value) and len(str(caught.value)) < 1000
    with pytest.warns(UserWarning, match="^[a-z ]+: 1, left out; the first: .*test.tsv': line 2: ") as warned:
        assert read_beir(folder, "test", strict=False) == SOUND
    assert len(warned) == 1 and warned[0].filename == __file__


def test_a_first_line_that_is_no_header_is_not_taken_for_one(tmp_path: Path) -> None:
    file = tmp_path / "qrels.tsv"
    file.write_text("q1\td1\tx\nq2\td2\t2\n", encoding="utf-8")
    with pytest.raises(SourceError, match="line 1: expected a whole number of 32 bits as score, got 'x'"):
        read_qrels(file)
    with pytest.warns(UserWarning, match="^malformed lines: 1,"):
        assert read_qrels(file, strict=False) == {"q2": {"d2": 2}}


@pytest.mark.parametrize("name", ["corpus", "queries"])
def test_an_id_with_two_contents_is_an_error_or_the_first_is_kept(beir: Folder, name: str) -> None:
    sound = (beir() / f"{name}.jsonl").read_text()
    folder = beir(**{name: sound + json.dumps({"_id": "d1" if name == "corpus" else "q1", "text": "Other"}) + "\n"})
    with pytest.raises(SourceError, match=r"line 3: expected one content for the id '[dq]1', got another one"):
        read_beir(folder, "test")
    with pytest.warns(UserWarning, match="^conflicting duplicates: 1,"):
        assert read_beir(folder, "test", strict=False) == SOUND


def test_a_lenient_reader_warns_once_for_each_kind_with_its_number(beir: Folder) -> None:
    folder = beir(DOCUMENT + "7\n8\n", test="q1\td1\t1\nq2\td2\t2\nq8\td1\t1\nq1\td8\t1\nq1\td1\n")
    with pytest.warns(UserWarning) as warned:
        assert read_beir(folder, "test", strict=False).qrels == SOUND.qrels
    texts = sorted(str(warning.message) for warning in warned)
    assert len(texts) == 2
    assert texts[0].startswith("ids that no line defines: 2") and "test.tsv': line 3" in texts[0]
    assert texts[1].startswith("malformed lines: 3") and "corpus.jsonl': line 3" in texts[1]


def test_going_over_a_file_leniently_warns_at_its_end(beir: Folder) -> None:
    folder = beir("7\n" + DOCUMENT, '7\n{"_id": "q1", "text": "One?"}\n')
    with pytest.raises(SourceError, match="line 1"):
        next(iter_corpus(folder / "corpus.jsonl"))
    with pytest.warns(UserWarning, match="^malformed lines: 1,"):
        assert [name for name, _ in iter_corpus(folder / "corpus.jsonl", strict=False)] == ["d1", "d2"]
    with pytest.warns(UserWarning, match="^malformed lines: 1,"):
        assert list(iter_queries(folder / "queries.jsonl", strict=False)) == [("q1", "One?")]


def test_what_is_not_there_is_named(beir: Folder, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere': expected a BEIR folder, found none"):
        read_beir(tmp_path / "nowhere", "test")
    with pytest.raises(SourceError, match="split: expected one of test, got '../test'"):
        read_beir(beir(), "../test")
    with pytest.raises(SourceError, match=r"split: expected files such as test.tsv, got 'test'"):
        read_beir(tmp_path, "test")
    for missing in ("corpus", "queries"):
        with pytest.raises(SourceError, match=f"{missing}.jsonl': file: expected a file that can be read"):
            read_beir(beir(**{missing: None}, name=f"no_{missing}"), "test")


def test_a_split_without_judgments_is_an_error_or_a_warning(beir: Folder) -> None:
    folder = beir(test="query-id\tcorpus-id\tscore\n")
    with pytest.raises(SourceError, match="test.tsv': file: expected at least one line, got none"):
        read_beir(folder, "test")
    with pytest.warns(UserWarning, match="^files that are missing or empty: 1,"):
        assert read_beir(folder, "test", strict=False).qrels == {}


# Any bytes

ID = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name.strip('" ').strip()  # what is blank without its quotes is an empty id
)


@settings(max_examples=50)
@given(st.dictionaries(ID, st.dictionaries(ID, st.integers(-(2**31), 2**31 - 1), min_size=1), min_size=1))
def test_any_judgments_written_plainly_read_back(tmp_path_factory: pytest.TempPathFactory, qrels: Any) -> None:
    """Ids that csv would unquote need the ids of the folder, so they are known here."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "qrels").mkdir()
    (folder / "corpus.jsonl").write_text(corpus_of(*{name for of in qrels.values() for name in of}), encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries_of(*qrels), encoding="utf-8")
    lines = ["query-id\tcorpus-id\tscore", *(f"{q}\t{d}\t{s}" for q, of in qrels.items() for d, s in of.items())]
    (folder / "qrels" / "test.tsv").write_bytes(("\r\n".join(lines)).encode())
    assert read_beir(folder, "test").qrels == qrels


@given(st.binary())
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("any") / "file"
    file.write_bytes(data)
    for read in (read_qrels, lambda path: list(iter_corpus(path))):
        try:
            read(file)
        except SourceError as error:
            assert len(str(error)) < 1000
