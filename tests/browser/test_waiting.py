"""What is on a page while it waits for something slow: blocks in the shape of what comes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Site
from tests.browser.steps import Page, expect, rows, seed

pytestmark = pytest.mark.browser

_BLOCKS = "stSkeletonElement"


def _indexed(tab: Page, site: Site) -> None:
    tab.goto(site.url("Corpus", corpus="film_night"))
    index = tab.get_by_role("button", name="Index", exact=True)
    ready = tab.get_by_text("of 46 documents").first
    expect(index.or_(ready).first).to_be_visible()
    if index.count():
        index.click()
    expect(ready).to_be_visible()


@pytest.mark.parametrize(
    ("page", "there"),
    [
        ("", ".st-key-ri_home"),
        ("Run", ".st-key-ri_new"),
        ("Run?run", ".st-key-ri_bench"),
        ("Runs", ".ri-title"),
        ("Corpus", ".st-key-corpus_chosen"),
    ],
)
def test_a_first_visit_shows_the_shape_of_the_page(
    tab: Page, site: Site, page: str, there: str
) -> None:
    run_id, (name, _, run) = seed(site), page.partition("?")
    site.hold("bench-")
    tab.goto(site.url(name, **({"run": run_id} if run else {})))
    expect(tab.locator("h1")).to_be_visible()
    expect(tab.get_by_test_id(_BLOCKS).first).to_be_visible()
    expect(tab.locator(there)).to_have_count(0)
    site.release()
    expect(tab.locator(there).first).to_be_visible()
    expect(tab.get_by_test_id(_BLOCKS)).to_have_count(0)


def _open(tab: Page, site: Site) -> None:
    site.hold("open-")
    tab.goto(site.url("Corpus", corpus="film_night"))


def _search(tab: Page, site: Site) -> None:
    tab.get_by_role("radio", name="Search", exact=True).click()
    box = tab.get_by_role("textbox", name="Search this corpus")
    expect(box).to_be_visible()
    site.hold("embed-")
    box.fill("Who plays Jarvis?")
    box.press("Enter")


@pytest.mark.parametrize(
    ("slow", "ready", "there"),
    [(_open, ".st-key-corpus_view", ".st-key-corpus_filter"), (_search, "input", ".ri-hit")],
)
def test_a_corpus_that_is_opened_or_searched_shows_the_shape_of_what_comes(
    tab: Page, site: Site, slow: Callable[[Page, Site], None], ready: str, there: str
) -> None:
    _indexed(tab, site)
    slow(tab, site)
    expect(tab.get_by_test_id(_BLOCKS).first).to_be_visible()
    expect(tab.locator(ready).first).to_be_visible()
    site.release()
    expect(tab.locator(there).first).to_be_visible()
    expect(tab.get_by_test_id(_BLOCKS)).to_have_count(0)


def test_a_run_that_is_prepared_shows_its_shape_where_it_will_stand(tab: Page, site: Site) -> None:
    _indexed(tab, site)
    site.hold()
    site.hold("embed-")
    tab.goto(site.url())
    tab.get_by_role("button", name="Ask and watch").click()
    expect(tab.get_by_role("button", name="Stop run")).to_be_visible()
    blocks = tab.locator(".st-key-ri_wait_prepare").get_by_test_id(_BLOCKS)
    expect(blocks.last).to_be_visible()
    promised = blocks.last.bounding_box()
    site.release("embed-")
    expect(rows(tab).first).to_be_visible()
    expect(tab.get_by_test_id(_BLOCKS)).to_have_count(0)
    came = tab.locator('[class*="st-key-ri_rail_"]').bounding_box()
    assert abs(came["x"] - promised["x"]) <= 4
    assert abs(came["y"] - 45 - promised["y"]) <= 12, "45: its buttons are above the panel"


def test_the_blocks_keep_still_for_who_wants_no_motion(tab: Page, site: Site) -> None:
    site.hold("bench-")
    tab.goto(site.url())
    block = tab.get_by_test_id(_BLOCKS).first
    expect(block).to_be_visible()
    moving = block.evaluate("n => n.getAnimations({subtree: true}).length")
    assert moving == 0
