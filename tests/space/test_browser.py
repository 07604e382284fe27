"""The app in Chromium: every tab end to end, hostile texts, and no request to another server.

`ARGSCICHAT_SCREENSHOTS` names a folder for the pictures of every tab; without it they go to a temporary one.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from argscichat.space.corpora import sample_corpora
from docs.make_pictures import chromium, running_app
from tests.conftest import missing

WIDTHS = (1440, 390)
THEMES = ("light", "dark")
TABS = {"try": "Try it", "files": "Score a file", "corpus": "Read the corpus", "use": "Use it"}
HOSTILE = '<img src=x onerror="window.hacked = 1">[a](javascript:window.hacked=1)${window.hacked = 1}{{value}}'


# Gradio asks for the progress of an upload that it has refused.
REFUSED_UPLOAD = {"Failed to load resource: the server responded with a status of 404 (Not Found)", "Response"}


@pytest.fixture(scope="module")
def address():
    """Where the app answers; it is started once, as a user starts it."""
    with running_app() as url:
        yield url


@pytest.fixture(scope="module")
def browser():
    if shutil.which("chromium") is None:
        missing("there is no chromium")
    with chromium() as started:
        yield started


@pytest.fixture
def faults():
    """What a page must not do: log an error, ask another server, open a dialog."""
    return []


@pytest.fixture
def open_page(browser, address, faults):
    """Opens the app; at the end, there may be no fault."""

    def note_request(request):
        if not request.url.startswith((address, "data:", "blob:")):
            faults.append(f"request to {request.url}")

    def open_one(width=1440, theme="light", tab="Try it"):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_default_timeout(20_000)
        page.on("request", note_request)
        page.on("console", lambda message: message.type == "error" and faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
        page.goto(f"{address}/?__theme={theme}")
        page.get_by_role("tab", name=tab).click()
        pages.append(page)
        return page

    pages = []
    yield open_one
    hacked = [page.evaluate("window.hacked") for page in pages]
    for page in pages:
        page.close()
    assert faults == []
    assert hacked == [None] * len(pages)


@pytest.fixture(scope="module")
def screenshots(tmp_path_factory):
    folder = Path(os.environ.get("ARGSCICHAT_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def score_reply(page):
    page.get_by_role("button", name="Score the reply").click()
    page.get_by_alt_text("Heat map: how much").wait_for()


def score_sample(page):
    page.get_by_role("button", name="Score the files").click()
    page.get_by_role("heading", name="By query").wait_for()


def upload(page, field, path):
    page.locator(f"#asc-file-{field} input[type=file]").set_input_files(path)
    page.locator(f"#asc-file-{field}").get_by_text(path.suffix).last.wait_for()


def alerts(page):
    page.get_by_role("alert").first.wait_for()
    return [alert.inner_text() for alert in page.get_by_role("alert").all()]


def tile(page, score):
    return page.locator(f"[data-score={score}]:visible .asc-number").inner_text()


def lines_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_one_click_scores_the_reply_and_marks_the_paper(open_page):
    page = open_page()
    score_reply(page)
    assert (tile(page, "fact_f1"), tile(page, "message_f1")) == ("0.667", "0.286")
    badges = page.locator("#asc-choices label").evaluate_all(
        "labels => labels.map(label => getComputedStyle(label, '::after').content)"
    )
    assert badges[:3] == ['"● chosen"', '"✔ gold and chosen"', "none"]
    assert "Gold sentences: 2. Chosen: 1, 2." in page.locator("[role=status]:not(:empty)").first.inner_text()
    assert page.locator(".asc-words mark").all_inner_texts() == ["how", "phrases", "change", "of"] * 2


def test_a_third_sentence_takes_the_place_of_the_one_that_was_chosen_first(open_page):
    page = open_page()  # the demo agent chose sentence 2 before sentence 1
    page.locator("#asc-choices input").nth(4).focus()
    page.keyboard.press("Space")
    assert alerts(page) == ["⚠ A reply rests on at most 2 sentences, so sentence 2 is no longer chosen."]
    checked = [box.is_checked() for box in page.locator("#asc-choices input").all()[:5]]
    assert checked == [True, False, False, False, True]


def test_a_pasted_paper_is_scored_as_text(open_page):
    page = open_page()
    page.get_by_label("My own text").click()
    page.get_by_label("Sentences of the paper").fill(f"{HOSTILE}\nThe code is public.")
    page.get_by_label("Gold sentences").fill("3")
    page.get_by_label("Gold reply").fill(HOSTILE)
    page.locator("#asc-choices label").nth(1).wait_for()
    page.locator("#asc-choices input").nth(0).check()
    page.locator("#asc-reply textarea").fill(HOSTILE)
    page.get_by_role("button", name="Score the reply").click()
    assert alerts(page) == ["⚠ Write numbers of sentences, from 1 to 2, such as: 1, 2"]
    page.get_by_label("Gold sentences").fill("1")
    score_reply(page)
    assert tile(page, "fact_f1") == tile(page, "message_f1") == "1.000"
    assert HOSTILE in page.locator("#asc-choices").inner_text()
    assert page.locator(".asc-message:visible").all_inner_texts()[-1].endswith(HOSTILE)
    assert page.locator("img[src=x]").count() == 0


def test_a_message_of_a_megabyte_is_refused_beside_its_field_and_the_app_lives_on(open_page):
    page = open_page()
    page.locator("#asc-reply textarea").evaluate(
        "box => {box.value = 'x'.repeat(1e6); box.dispatchEvent(new Event('input'))}"
    )
    page.get_by_role("button", name="Score the reply").click()
    assert alerts(page) == ["⚠ The text has 1,000,000 characters; at most 5,000 are read."]
    page.locator("#asc-reply textarea").fill("Short.")
    score_reply(page)
    assert page.get_by_role("alert").count() == 0


def test_the_sample_is_scored_compared_downloaded_and_explained(open_page):
    page = open_page(tab="Score a file")
    score_sample(page)
    for heading in ("Scores of demo agent", "Comparison"):
        assert page.get_by_role("heading", name=heading).is_visible()
    assert page.get_by_role("cell", name=re.compile(r"^0\.294 \[")).count() == 2
    with page.expect_download() as download:
        page.get_by_text("Download scores.json").click()
    content = json.loads(Path(download.value.path()).read_text())
    assert content["n_queries"] == 40
    assert content["comparison"]["pairs"][0]["system"] == "second agent"
    with page.expect_download() as download:
        page.get_by_text("Download queries.csv").click()
    assert len(Path(download.value.path()).read_text().splitlines()) == 41
    row = page.locator("#asc-queries [role=row][data-index='3']")
    number = row.get_by_role("gridcell").first.inner_text()
    row.get_by_role("gridcell").nth(1).click()
    page.get_by_role("heading", name=f"Query {number}", exact=True).wait_for()
    page.get_by_alt_text("Heat map: how much").wait_for()
    page.get_by_label("Or choose the query here").fill("Query of no file")
    page.get_by_label("Or choose the query here").fill("What do they")
    page.get_by_role("option").first.wait_for()


def test_an_upload_with_a_bad_row_shows_its_line_and_hostile_texts_are_texts(open_page, tmp_path):
    page = open_page(tab="Score a file")
    page.get_by_label("My files").click()
    rows = [{"id": f"{i}{HOSTILE}", "message": HOSTILE, "facts": [HOSTILE], "paper_id": HOSTILE} for i in range(3)]
    references = tmp_path / "<img src=x onerror=window.hacked=1><script>window.hacked=1<_script>.jsonl"
    references.write_text(lines_of(*rows))
    predictions = tmp_path / "a & b.jsonl"
    for row in rows:
        del row["paper_id"]
    predictions.write_text(lines_of(*rows[:2], rows[2] | {"facts": "x"}))
    upload(page, "references", references)
    page.get_by_role("button", name="Score the files").click()
    assert alerts(page) == ["⚠ Choose a file of predictions."]
    upload(page, "predictions", predictions)
    page.get_by_role("button", name="Score the files").click()
    page.get_by_text("line 3['facts']").wait_for()
    assert alerts(page)[0].startswith("⚠ predictions.jsonl, line 3['facts']: expected a list of sentences")
    predictions.write_text(lines_of(*rows))
    page.locator("#asc-file-predictions").get_by_label("Clear").or_(
        page.locator("#asc-file-predictions").get_by_label("Remove")
    ).first.click()
    upload(page, "predictions", predictions)
    score_sample(page)
    page.locator("#asc-queries [role=gridcell]").nth(1).click()
    page.get_by_alt_text("Heat map: how much").wait_for()
    assert HOSTILE in page.locator("#asc-explained").inner_text()
    assert page.locator("img[src=x]").count() == 0


def test_a_file_of_200_mb_is_refused_and_the_app_lives_on(open_page, faults, tmp_path):
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    page = open_page(tab="Score a file")
    page.get_by_label("My files").click()
    page.get_by_text("At most 5 MB and 2,000 rows a file").wait_for()
    page.locator("#asc-file-predictions input[type=file]").set_input_files(path)
    page.get_by_text("maximum allowed size of 5.0 Mb").wait_for()
    page.get_by_label("The sample's two agents").click()
    score_sample(page)
    assert set(faults) <= REFUSED_UPLOAD
    faults.clear()


def test_the_corpus_is_read_by_fold_paper_and_dialogue(open_page):
    page = open_page(tab="Read the corpus")
    assert page.locator(".asc-chat .asc-message").count() == 10
    page.get_by_label("reply 2").click()
    page.locator(".asc-sentence.asc-gold").nth(1).wait_for()
    page.wait_for_function("document.querySelectorAll('.asc-sentence.asc-gold').length == 2")
    assert page.locator(".asc-sentence.asc-gold .asc-badge").all_inner_texts() == ["★ reply 2"] * 2
    for box, choice in (("Fold", "sample papers_1"), ("Split", "test")):
        page.get_by_label(box, exact=True).click()
        page.get_by_role("option", name=choice).click()
    tested = sample_corpora().read("sample papers_1", "test")[0]["title"]
    page.get_by_role("heading", name=tested).wait_for()


def test_the_signature_of_what_is_on_screen_can_be_copied_with_the_snippets(open_page):
    page = open_page()
    score_reply(page)
    page.get_by_role("tab", name="Use it").click()
    assert page.locator("#asc-signature textarea").input_value().startswith("argscichat:")
    assert page.get_by_text('evaluate.load("./argscichat_metric")').count() == 1
    assert page.get_by_label(re.compile("copy", re.IGNORECASE)).count() >= 4


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_tab_fits_the_page_in_both_themes(open_page, screenshots, width, theme):
    page = open_page(width, theme)
    for name, tab in TABS.items():
        if not page.get_by_role("tab", name=tab).is_visible():
            page.locator(".overflow-menu button").first.click()
            page.locator(".overflow-dropdown button", has_text=tab).click()
        else:
            page.get_by_role("tab", name=tab).click()
        if name == "try":
            score_reply(page)
        if name == "files":
            score_sample(page)
        page.wait_for_timeout(300)
        page.screenshot(path=screenshots / f"{name}-{width}-{theme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
