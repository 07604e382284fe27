"""Figures at the width of a column of a paper: no labels on top of each other, no label cut off, texts as they are."""

import itertools
import random
import xml.etree.ElementTree as ElementTree
from functools import cache

import pytest

from argscichat.explain import Matching, Transport, explain_pair
from argscichat.figure_style import COLOURS, COLUMN_WIDTH, label, save_figure
from argscichat.pair_plots import MOST_TOKENS, plot_matching, plot_transport
from argscichat.plots import plot_by_paper, plot_distribution, plot_scores

SCORES = ("Fact-F1", "Message-F1", "BERTScore F1", "MoverScore")
SIX = (
    "led-base-16384",
    "A",
    "led-large-16384-with-history-and-facts-seed-13-run-2",
    r"_hidden $x_1$ & 100% \frac{",
    "tf-idf\n+ copy",
    "x" * 300,
)
PAPERS = tuple(
    f"{'A Very Long Title of a Paper on Argumentation in Scientific Dialogues' * (i % 3)} $\\alpha_{i} {i}"
    for i in range(20)
)


def columns(names, n=240):
    draw = random.Random(0)
    return {name: [None if draw.random() < 0.1 else draw.random() for _ in range(n)] for name in names}


def means(names):
    return {name: {score: 0.1 * (i + j) / 2 for j, score in enumerate(SCORES)} for i, name in enumerate(names)}


def intervals(names):
    return {
        name: {score: (mean - 0.05, mean + 0.06) for score, mean in of.items()} for name, of in means(names).items()
    }


def square(n, m, seed=1):
    draw = random.Random(seed)
    return [[draw.random() for _ in range(m)] for _ in range(n)]


def made_up_matching(n, m):
    tokens = [["internationalization", "##s", "$", "a"][i % 4] for i in range(max(n, m))]
    similarity = square(n, m)
    of_predicted = [max(range(m), key=row.__getitem__) for row in similarity]
    of_reference = [max(range(n), key=lambda i, j=j: similarity[i][j]) for j in range(m)]
    shares = [1 / n] * n, [1 / m] * m
    return Matching(tokens[:n], tokens[:m], similarity, *shares, of_predicted, of_reference, 0.5, 0.6, 0.55)


def made_up_transport(n, m):
    tokens = [["internationalization", "of", "$", "corpora"][i % 4] for i in range(max(n, m))]
    plan = [[value / n / m for value in row] for row in square(n, m)]
    return Transport(tokens[:n], tokens[:m], [1 / n] * n, [1 / m] * m, square(n, m), plan, 0.9, 0.526)


FIGURES = {
    "scores of six systems": lambda: plot_scores(means(SIX), intervals(SIX)),
    "scores of two systems": lambda: plot_scores(means(SIX[:2]), intervals(SIX[:2])),
    "scores of one system": lambda: plot_scores(means(SIX[:1])),
    "20 papers, six systems": lambda: plot_by_paper(columns(SIX), [p for p in PAPERS for _ in range(12)], "Fact-F1"),
    "20 papers, one system": lambda: plot_by_paper(columns(SIX[:1]), [p for p in PAPERS for _ in range(12)], "F1"),
    "distribution of six systems": lambda: plot_distribution(columns(SIX), "Message-F1"),
    "matching of 40 tokens": lambda: plot_matching(made_up_matching(40, 40)),
    "matching of 3 and 20 tokens": lambda: plot_matching(made_up_matching(3, 20)),
    "matching of 100 tokens": lambda: plot_matching(made_up_matching(100, 100)),
    "transport of 40 tokens": lambda: plot_transport(made_up_transport(40, 40)),
    "transport of 40 and 2 tokens": lambda: plot_transport(made_up_transport(40, 2)),
}


def shown_texts(figure):
    """Every text that is drawn, with its box in pixels; labels of ticks beyond the axes exist, but are not drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # settles the layout
    drawn = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Text, "draw", lambda text, renderer: drawn.append((text, text.get_window_extent(renderer))))
        canvas.draw()
    return [(text, box) for text, box in drawn if text.get_visible() and text.get_text().strip()]


@cache
def drawn(name):
    figure = FIGURES[name]()
    return figure, shown_texts(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_no_label_overlaps_another_or_leaves_the_figure(name):
    figure, texts = drawn(name)
    assert len(texts) > 5
    for text, box in texts:
        assert box.x0 >= -1 and box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1, text
    for (one, box), (other, other_box) in itertools.combinations(texts, 2):
        width = min(box.x1, other_box.x1) - max(box.x0, other_box.x0)
        height = min(box.y1, other_box.y1) - max(box.y0, other_box.y0)
        # The box of a line of text holds room for accents and tails, so neighbouring lines may share a little.
        assert width <= 1 or height <= 0.25 * min(box.height, other_box.height), (one, other)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_column_wide_unless_its_tokens_need_more_and_fonts_are_readable(name):
    figure, texts = drawn(name)
    if "40 tokens" in name or "100 tokens" in name:
        assert COLUMN_WIDTH < figure.get_figwidth() <= 8.1
    else:
        assert figure.get_figwidth() == COLUMN_WIDTH
    assert {text.get_fontsize() for text, _ in texts} <= {7.0, 8.0}
    assert figure.get_figheight() <= 10


def test_names_are_texts_and_not_mathematics():
    texts = [text for text, _ in shown_texts(plot_scores(means(SIX), intervals(SIX)))]
    assert r"_hidden $x_1$ & 100% \frac{" in [text.get_text() for text in texts]
    assert "tf-idf + copy" in [text.get_text() for text in texts]
    assert not any(text.get_parse_math() for text in texts if "$" in text.get_text())


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_is_saved_by_its_suffix_and_twice_alike(tmp_path, suffix):
    magic = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for name in ("one", "two"):
        save_figure(plot_scores(means(SIX), intervals(SIX)), tmp_path / f"{name}.{suffix}")
    data = (tmp_path / f"one.{suffix}").read_bytes()
    assert data.startswith(magic[suffix])
    assert data == (tmp_path / f"two.{suffix}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_saved_figure_has_the_size_of_a_column(tmp_path):
    save_figure(plot_distribution(columns(SIX[:2])), tmp_path / "f.svg")
    width = ElementTree.parse(tmp_path / "f.svg").getroot().get("width")
    assert float(width.removesuffix("pt")) == pytest.approx(72 * COLUMN_WIDTH)


def test_another_suffix_and_a_missing_folder_are_refused(tmp_path):
    figure = plot_scores(means(SIX[:1]))
    with pytest.raises(ValueError, match=r"f\.gif: expected a name that ends in \.pdf, \.png, \.svg"):
        save_figure(figure, tmp_path / "f.gif")
    with pytest.raises(OSError):
        save_figure(figure, tmp_path / "none" / "f.png")


def test_the_settings_of_the_caller_neither_change_a_figure_nor_are_changed(tmp_path):
    import matplotlib

    save_figure(plot_scores(means(SIX)), tmp_path / "one.svg")
    with matplotlib.rc_context({"font.size": 20, "text.usetex": True, "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        save_figure(plot_scores(means(SIX)), tmp_path / "two.svg")
        assert dict(matplotlib.rcParams) == before
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_figures_need_no_window_and_no_state_of_pyplot(tmp_path):
    import os
    import subprocess
    import sys
    from pathlib import Path

    code = (
        "import sys\nfrom argscichat.plots import plot_scores\nfrom argscichat.figure_style import save_figure\n"
        f"save_figure(plot_scores({{'a': {{'s': 0.5}}}}), {str(tmp_path / 'f.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, env=environment | {"PYTHONPATH": str(root)})
    assert (tmp_path / "f.png").exists()


def test_the_marks_of_a_matching_stand_where_the_matches_are():
    matching = explain_pair("a small corpus", "the corpus is small").matching
    of_reply, of_reference = plot_matching(matching).axes[0].collections
    assert matching.predicted[0] == "[CLS]"  # of weight 0, so without a mark
    expected = [(matching.best_of_predicted[row], row) for row in (1, 2, 3)]
    assert [tuple(place) for place in of_reply.get_offsets().tolist()] == expected
    expected = [(column, matching.best_of_reference[column]) for column in (1, 2, 3, 4)]
    assert [tuple(place) for place in of_reference.get_offsets().tolist()] == expected


def test_the_heat_map_of_a_transport_holds_its_plan():
    transport = explain_pair("a small corpus", "the corpus is small").transport
    axes = plot_transport(transport).axes[0]
    assert axes.images[0].get_array().filled(0.0).tolist() == transport.plan
    assert [text.get_text() for text in axes.get_yticklabels()] == transport.predicted
    assert [text.get_text() for text in axes.get_xticklabels()] == transport.reference


def test_a_longer_text_is_cut_and_the_axis_says_so():
    axes = plot_matching(made_up_matching(100, 61)).axes[0]
    assert axes.images[0].get_array().shape == (MOST_TOKENS, MOST_TOKENS)
    assert axes.get_ylabel() == "reply (first 60 of 100 tokens)"
    assert axes.get_xlabel() == "reference (first 60 of 61 tokens)"


def test_means_by_paper_leave_out_what_does_not_count():
    papers = ["p", "p", "q", "q", "r"]
    figure = plot_by_paper({"a": [0.2, 0.4, None, 0.9, None], "b": [0.0, 0.0, 0.1, None, None]}, papers)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["q (1)", "p (2)"]
    first, second = axes.lines[:2]
    assert list(first.get_xdata()) == pytest.approx([0.9, 0.3])
    assert list(second.get_xdata()) == pytest.approx([0.1, 0.0])


def test_colours_can_be_told_apart_and_more_systems_than_colours_differ_by_marker():
    names = [str(i) for i in range(len(COLOURS) + 2)]
    lines = plot_scores(means(names)).axes[0].lines
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == len(names)
    assert len(set(COLOURS)) == len(COLOURS)


def test_a_long_label_keeps_both_ends():
    assert label("run-1-" + "x" * 50 + "-seed-13", 15) == "run-1-x…seed-13"
    assert label("  a\n b ", 15) == "a b"


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda: plot_scores({}), "expected at least one system"),
        (lambda: plot_scores({"a": {"x": 1.0}, "b": {"y": 1.0}}), "the same scores for every system"),
        (
            lambda: plot_by_paper({"a": [1.0]}, ["p", "q"]),
            "scores of 'a': expected 2 values, one a row of papers, got 1",
        ),
        (lambda: plot_distribution({"a": [None]}), "scores of 'a': expected at least one query that counts, got none"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, says):
    with pytest.raises(ValueError, match=says):
        draw()
