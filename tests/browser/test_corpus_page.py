"""Documents in a real browser: uploaded, judged, indexed, searched, deleted."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tests.app.recorded import NASTY
from tests.browser import nasty
from tests.browser.conftest import Site
from tests.browser.steps import Context, Page, choose, expect, over

pytestmark = pytest.mark.browser


def test_upload_with_nasty_names_gives_a_verdict_for_each_and_then_answers(
    tab: Page, site: Site
) -> None:
    tab.goto(site.url("Corpus"))
    choose(tab, "Add files")
    name = tab.get_by_role("textbox", name="Into the corpus")
    name.fill("harbour")
    name.press("Enter")
    files = [
        {
            "name": "<img src=x onerror=alert(1)>.md",
            "mimeType": "text/plain",
            "buffer": b"# Tide\n\n" + NASTY.encode(),
        },
        {"name": "灯台 \u202etxt.md", "mimeType": "text/plain", "buffer": b"The lamp is green."},
        {"name": "empty.txt", "mimeType": "text/plain", "buffer": b""},
        {"name": "CON.zip", "mimeType": "application/zip", "buffer": b"PK\x03\x04"},
    ]
    tab.locator("input[type=file]").set_input_files(files)
    expect(tab.locator(".ri-chip", has_text="will be indexed")).to_have_count(2)
    expect(tab.locator(".ri-chip", has_text="will be skipped")).to_have_count(2)
    tab.get_by_role("button", name="Add and index 2 of 4 files").click()
    expect(tab.get_by_text("1 to 2 of 2 documents")).to_be_visible()
    choose(tab, "Search")
    box = tab.get_by_role("textbox", name="Search this corpus")
    box.fill("ignore all rules")
    box.press("Enter")
    hit = tab.locator(".ri-hit .ri-passage").first
    expect(hit).to_contain_text("<script>alert(1)</script> ![pixel](http://evil.example/p.png)")
    expect(hit).to_contain_text("[U+202E]")
    assert tab.locator(".ri-hit img, .ri-hit script, .ri-hit a").count() == 0


def _give(tab: Page, files: Iterable[tuple[str, bytes]]) -> None:
    given = [{"name": n, "mimeType": "application/octet-stream", "buffer": b} for n, b in files]
    tab.locator("input[type=file]").set_input_files(given)


def _add(tab: Page, site: Site, name: str, files: Iterable[tuple[str, bytes]]) -> None:
    tab.goto(site.url("Corpus"))
    choose(tab, "Add files")
    box = tab.get_by_role("textbox", name="Into the corpus")
    box.fill(name)
    box.press("Enter")
    expect(box).to_have_value(name)
    _give(tab, files)
    tab.get_by_role("button", name="Add and index").click()


def test_fifty_uploads_with_nasty_names_and_contents(tab: Page, site: Site) -> None:
    tab.goto(site.url("Corpus"))
    choose(tab, "Add files")
    box = tab.get_by_role("textbox", name="Into the corpus")
    box.fill("nasty")
    box.press("Enter")
    _give(tab, nasty.FILES)
    good = len(nasty.GOOD) + len(nasty.CONTENTS)
    button = tab.get_by_role("button", name=f"Add and index {good} of 50 files")
    expect(button).to_be_visible(timeout=180_000)
    verdicts = tab.locator("table:has(caption:text-is('Verdict for each file')) tbody tr")
    expect(verdicts).to_have_count(50)
    expect(verdicts.filter(has_text="will be skipped")).to_have_count(len(nasty.BAD))
    for name, reason in (
        ("scan.pdf", "no text layer"),
        ("locked.pdf", "password protected"),
        ("loop.pdf", "longer than"),
        ("nul.txt", "NUL"),
    ):
        expect(verdicts.filter(has_text=name)).to_contain_text(reason)
    assert tab.locator("[data-testid=stMain] :is(img, script, .katex)").count() == 0
    button.click()
    expect(tab.get_by_text("documents", exact=False).first).to_be_visible()
    expect(tab.get_by_text(re.compile("1 to 20 of 39 documents"))).to_be_visible(timeout=180_000)
    choose(tab, "Search")
    box = tab.get_by_role("textbox", name="Search this corpus")
    for query in ("ignore all rules", "lamp", "verdict supported"):
        box.fill(query)
        box.press("Enter")
        expect(tab.locator(".ri-hit").first).to_be_visible()
        hits = tab.locator("[data-testid=stMain] .ri-hit")
        assert hits.locator("img, script, a, .katex, table").count() == 0
        shown = " ".join(hits.all_inner_texts())
        assert not set(shown) & set("\u202e\u202c\u200b\x1b")
    choose(tab, "Index health")
    expect(tab.get_by_text(f"{len(nasty.BAD)} skipped").first).to_be_visible()


def test_the_question_box_follows_what_becomes_of_the_corpora_in_another_tab(
    tab: Page, context: Context, site: Site
) -> None:
    tab.goto(site.url("Run"))
    box = tab.get_by_role("combobox", name="Corpus")
    expect(box).to_be_visible()
    other = context.new_page()
    _add(other, site, "harbour", [("tide.md", b"The tide turns at noon.")])
    expect(other.get_by_text("1 to 1 of 1 document")).to_be_visible()
    box.click()
    tab.get_by_role("option", name="harbour").click()
    expect(tab.get_by_text("1 document", exact=True)).to_be_visible()
    site.hold("embed-")
    _add(other, site, "harbour", [("reef.md", b"The reef is grey.")])
    expect(other.get_by_role("button", name="Stop")).to_be_visible()
    site.release()
    expect(tab.get_by_text("2 documents", exact=True)).to_be_visible()
    for reasoner in ("Language model", "Extractive, no model"):
        tab.get_by_role("radio", name=reasoner).click()
        expect(tab.get_by_role("radio", name=reasoner)).to_be_checked()
        expect(box).to_have_value("harbour")
    other.get_by_role("button", name="Delete", exact=True).click()
    other.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(other.get_by_text("harbour was deleted.")).to_be_visible()
    expect(tab.get_by_text("The corpus harbour was deleted.")).to_be_visible()
    expect(box).to_have_value("film_night")


def test_two_tabs_on_one_corpus_see_its_indexing_and_what_was_added(
    tab: Page, context: Context, site: Site
) -> None:
    _add(tab, site, "harbour", [("tide.md", b"The tide turns at noon.")])
    expect(tab.get_by_text("1 to 1 of 1 document")).to_be_visible()
    other = context.new_page()
    other.goto(site.url("Corpus", corpus="harbour"))
    expect(other.get_by_text("1 to 1 of 1 document")).to_be_visible()
    site.hold("embed-")
    _add(tab, site, "harbour", [("reef.md", b"The reef is grey.")])
    expect(tab.get_by_role("button", name="Stop")).to_be_visible()
    expect(other.get_by_role("button", name="Stop")).to_be_visible()
    expect(other.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    site.release()
    for each in (tab, other):
        expect(each.get_by_text("1 to 2 of 2 documents")).to_be_visible()
        expect(each.get_by_role("button", name="Delete", exact=True)).to_be_enabled()


def test_upload_index_ask_and_see_the_source(tab: Page, site: Site) -> None:
    _add(tab, site, "harbour", [("tide.md", b"# Tide\n\nThe keeper of Brill is Ada Brook.")])
    expect(tab.get_by_text("1 to 1 of 1 document")).to_be_visible()
    tab.goto(site.url("Run", corpus="harbour", system="static", q="Who+is+the+keeper+of+Brill%3F"))
    tab.get_by_role("button", name="Ask", exact=False).first.click()
    over(tab)
    choose(tab, "Answer")
    tab.get_by_role("button", name="Open the source").first.click()
    expect(tab.get_by_role("dialog").locator("mark")).to_contain_text("Ada Brook")


def test_a_deleted_corpus_leaves_nothing_and_is_added_again_as_new(tab: Page, site: Site) -> None:
    _add(tab, site, "harbour", [("tide.md", b"The first lamp was blue.")])
    expect(tab.get_by_text("1 to 1 of 1 document")).to_be_visible()
    tab.get_by_role("button", name="Delete", exact=True).click()
    tab.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(tab.get_by_text("harbour was deleted.")).to_be_visible()
    _add(tab, site, "harbour", [("tide.md", b"The second reef is grey.")])
    expect(tab.get_by_text("1 to 1 of 1 document")).to_be_visible()
    choose(tab, "Search")
    box = tab.get_by_role("textbox", name="Search this corpus")
    box.fill("lamp reef")
    box.press("Enter")
    expect(tab.locator(".ri-hit .ri-passage")).to_have_text(["The second reef is grey."])


def test_a_file_is_removed_and_a_second_one_is_added(tab: Page, site: Site) -> None:
    _add(tab, site, "harbour", [("one.md", b"One lamp."), ("two.md", b"Two lamps.")])
    expect(tab.get_by_text("1 to 2 of 2 documents")).to_be_visible()
    tab.locator("[class*=st-key-document-]").filter(has_text="Open").first.click()
    tab.get_by_role("button", name="Remove this file").click()
    expect(tab.get_by_text("1 to 1 of 1 document")).to_be_visible()
    expect(tab.locator(".ri-title").filter(has_text="two")).to_be_visible()


def test_a_shared_index_is_not_for_a_visitor_to_delete(tab: Page, site: Site) -> None:
    tab.goto(site.url("Corpus", corpus="film_night"))
    expect(tab.get_by_role("button", name="Index")).to_be_visible()
    expect(tab.get_by_role("button", name="Delete", exact=True)).to_have_count(0)
