"""The tables of a comparison: the numbers in them, and names and texts that try to break out."""

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from argscichat.compare_tables import comparison_table, latex_escape, latex_table, markdown_escape, markdown_table
from argscichat.comparison import (
    Comparison,
    PairOfSystems,
    ScoreDifference,
    ShownQuery,
    ShownReply,
    SystemScores,
)

HOSTILE = r"a_b&c%d#e\f^g~h|i$x$[bold]{j}<k>`l` *m*"


def made_up(first="tfidf", second="led", text="Yes.", n_units=20, missing=()):
    systems = [
        SystemScores(first, {"fact_f1": 0.1616}, {"fact_f1": (0.0912, 0.2375)}, {"fact_f1": [0.2, None]}, [], []),
        SystemScores(second, {"fact_f1": 0.1}, {"fact_f1": None}, {"fact_f1": [0.1, None]}, list(missing), ["u"]),
    ]
    difference = ScoreDifference("fact_f1", 0.1616, 0.1, -0.0616, (-0.1234, 0.0101), 0.00002, 0.0123, 1, 2, 3)
    shown = ShownQuery(
        text,
        text,
        ShownReply(text, [text], {}),
        ShownReply(text, [4], {"fact_f1": 0.5}),
        ShownReply(" ", None, {"fact_f1": None}),
    )
    pair = PairOfSystems(first, second, [difference], [shown])
    return Comparison(systems, [pair], ["a", "b"], ["p", "q"], "paper", n_units, 0.95, 1000, 7, "sig")


def printed(comparison, width=100):
    console = Console(width=width, record=True, highlight=False, file=io.StringIO())
    console.print(comparison_table(comparison), soft_wrap=True)
    return console.export_text()


def rendered_latex(line):
    """What a line of LaTeX prints, for the commands that the escaping uses; anything else special fails."""
    commands = {"backslash": "\\", "asciicircum": "^", "asciitilde": "~", "asciigrave": "`", "less": "<"}
    commands |= {"greater": ">", "bar": "|", "quotedbl": '"'}
    pattern = r"\\text(\w+)\{\}|\\([&%$#_{}])|\{([\[\]*])\}|(-)\{\}(?=-)|([^\\&%$#_{}^~])"
    text, end = "", 0
    for match in re.finditer(pattern, line):
        assert match.start() == end, f"not escaped: {line[end:]!r}"
        end = match.end()
        text += commands[match[1]] if match[1] else next(filter(None, match.groups()[1:]))
    assert end == len(line)
    return text


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])))
def test_any_text_survives_latex_and_no_two_hyphens_make_a_dash(text):
    escaped = latex_escape(text)
    assert rendered_latex(escaped) == text
    assert "--" not in escaped
    assert not escaped.startswith(("[", "*"))


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])))
def test_any_text_survives_markdown_and_no_bar_ends_a_cell(text):
    escaped = markdown_escape(text)
    assert re.sub(r"\\([\\`*_\[\]<>|~$&#])", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)(\\\\)*[|<`]", escaped)


def test_line_ends_and_control_characters_become_spaces():
    text = "a\nb\r\tc\x1b[31md\u2028e"
    for escape in (latex_escape, markdown_escape):
        assert not re.search(r"[\x00-\x1f\u2028]", escape(text))


def test_latex_holds_the_numbers_in_the_style_of_booktabs():
    lines = latex_table(made_up()).splitlines()
    assert r"tfidf & 0.162 [0.09, 0.24] \\" in lines
    assert r"led & 0.100 \\" in lines
    assert r"Fact-F1 & 0.1616 & 0.1000 & $-$0.062 [$-$0.123, +0.010] & $<$0.0001 & 0.0123 & 1/2/3 \\" in lines
    assert [lines.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [2, 2, 2]
    assert lines.count(r"\begin{tabular}{lrrrrrr}") == 1


def test_markdown_holds_the_numbers():
    lines = markdown_table(made_up()).splitlines()
    assert "| tfidf | 0.162 [0.09, 0.24] |" in lines
    assert "| Fact-F1 | 0.1616 | 0.1000 | -0.062 [-0.123, +0.010] | <0.0001 | 0.0123 | 1/2/3 |" in lines
    assert "- led: (empty)" in lines
    assert "- tfidf: Yes. (Fact-F1 0.500)" in lines
    assert "- tfidf, fact: 4" in lines


def test_hostile_names_and_texts_leave_latex_whole():
    latex = latex_table(made_up(first=HOSTILE, second="[x]*" + HOSTILE, text=HOSTILE + "\\end{table*}\n\\input{x}"))
    assert latex.count(r"\end{table*}") == 1
    assert "\\input" not in latex
    for line in latex.splitlines():
        if line.startswith(r"\item"):
            rendered_latex(line.split("}] ", 1)[1])
    # A cell has as many separators as columns, and depth of braces ends at 0.
    rows = [line for line in latex.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {1, 6}
    bare = re.sub(r"\\[{}]", "", latex)
    assert bare.count("{") == bare.count("}")


def test_hostile_names_and_texts_leave_markdown_tables_whole():
    lines = markdown_table(made_up(first=HOSTILE, second="|" + HOSTILE, text="x\n| a | b |\n# y")).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 8}
    assert not any(line.startswith("#") for line in lines)


def test_the_terminal_table_fits_100_columns_with_four_scores_and_six_systems():
    keys = ("fact_f1", "message_f1", "bertscore_f1", "moverscore")
    name = "led-large-16384-with-history-and-facts-seed-"
    systems = [
        SystemScores(f"{name}{i}", dict.fromkeys(keys, 0.1), dict.fromkeys(keys, (0.0, 0.2)), {}, [], [])
        for i in range(6)
    ]
    differences = [
        ScoreDifference(key, 0.1, 0.2, -0.1, (-0.2, -0.1), 0.00001, 0.00001, 1234, 1000, 1234) for key in keys
    ]
    pairs = [PairOfSystems(f"{name}0", system.name, differences, []) for system in systems[1:]]
    text = printed(Comparison(systems, pairs, [], None, "query", 3468, 0.95, 1000, 7, "sig"))
    tables = [line for line in text.splitlines() if line[:1] in "┏┃┡│└"]
    assert max(map(len, tables)) <= 100
    # No number is cut or broken over two lines.
    assert text.count("0.100 [0.00, 0.20]") == 24
    assert text.count("-0.100 [-0.200, -0.100]") == 20
    assert text.count("1234/1000/1234") == 20


def test_no_text_is_markup_in_a_terminal_and_none_moves_its_cursor():
    text = printed(made_up(first="[red]x[/red]", text="\x1b[2J[bold]y[/bold]\r\nz"))
    assert "[red]x[/red]" in text
    assert "[bold]y[/bold]" in text
    assert "\x1b" not in text


def test_notes_say_what_was_resampled_and_what_is_missing():
    text = printed(made_up(n_units=3, missing=["a", "b"]))
    assert "95 % intervals, bootstrap over 3 papers (1000 resamples, seed 7)" in text
    assert "led has no prediction for 2 queries, scored as empty." in text
    assert "led has 1 prediction with an unknown id, left out." in text
    assert "With fewer than 6 units" in text
    assert "With fewer than" not in printed(made_up())


@pytest.mark.parametrize("write", [latex_table, markdown_table])
def test_the_same_comparison_gives_the_same_text(write):
    assert write(made_up()) == write(made_up())
