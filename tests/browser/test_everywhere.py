"""What holds on every page: empty states, widths, workspaces."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.browser.conftest import Site
from tests.browser.steps import Context, Page, ask, expect, open_run, over, rows, seed

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", "No runs yet"),
        ("Run", "No run on this page yet"),
        ("Runs", "No runs yet"),
        ("Corpus", "Index"),
    ],
)
def test_pages_with_nothing_in_them(tab: Page, site: Site, page: str, words: str) -> None:
    tab.goto(site.url(page))
    expect(tab.locator("h1")).to_be_visible()
    expect(tab.get_by_text(words).first).to_be_visible()


@pytest.mark.parametrize("width", [800, 1280, 1920])
def test_nothing_is_cut_off_at_any_width(tab: Page, site: Site, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    run_id = seed(site)
    for page, params in (("", {}), ("Run", {"run": run_id}), ("Runs", {}), ("Corpus", {})):
        tab.goto(site.url(page, **params))
        expect(tab.locator("h1")).to_be_visible()
        if params:
            expect(rows(tab).first).to_be_visible()
        over = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, f"{page or 'Home'} is {over} px too wide at {width}"


def test_two_browsers_with_two_links_see_nothing_of_each_other(
    visitors: Callable[[], Context], site: Site
) -> None:
    mine, theirs = visitors().new_page(), visitors().new_page()
    run_id, stranger = seed(site), site.other()
    mine.goto(site.url("Run", run=run_id))
    expect(rows(mine).first).to_be_visible()
    theirs.goto(stranger.url("Run", run=run_id))
    expect(theirs.get_by_text("There is no run")).to_be_visible()
    mine.goto(site.url("Corpus"))
    mine.get_by_role("radio", name="Add files").click()
    mine.locator("input[type=file]").set_input_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": b"A secret of mine."}
    )
    mine.get_by_role("button", name="Add and index").click()
    expect(mine.get_by_text("1 to 1 of 1 document")).to_be_visible()
    theirs.goto(stranger.url("Corpus", corpus="my_corpus"))
    expect(theirs.locator(".ri-outcome").first).to_be_visible()
    expect(theirs.get_by_text("my_corpus")).to_have_count(0)
    mine.goto(site.url("Run", set="answer_threshold=0.91"))
    expect(mine.get_by_text("0.91").first).to_be_visible()
    theirs.goto(stranger.url("Run"))
    expect(theirs.get_by_role("slider", name="Answer threshold")).to_be_visible()
    expect(theirs.get_by_text("0.91")).to_have_count(0)
    theirs.goto(stranger.url("Runs"))
    expect(theirs.get_by_text("No runs yet")).to_be_visible()
    mine.reload()
    mine.goto(site.url("Runs"))
    expect(mine.locator(".ri-title")).to_have_count(1)


def test_a_newcomer_gets_a_link_that_a_second_tab_reattaches_with(
    tab: Page, context: Context, site: Site
) -> None:
    tab.goto(f"{site.base}/Runs")
    expect(tab.get_by_text("No runs yet")).to_be_visible()
    expect(tab).to_have_url(re.compile("ws=[0-9a-f]{32}"))
    assert site.capability not in tab.url
    given = Site(site.base, site.data, tab.url.partition("ws=")[2][:32])
    seed(given)
    tab.reload()
    expect(tab.locator(".ri-title")).to_have_count(1)
    second = context.new_page()
    second.goto(tab.url)
    expect(second.locator(".ri-title")).to_have_count(1)
    second.get_by_role("link", name="Home").click()
    expect(second.get_by_text("Recent runs")).to_be_visible()
    expect(second).to_have_url(re.compile(f"ws={given.capability}"))


def test_pictures_and_controls_have_names_and_tab_reaches_them(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    unnamed = tab.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, [role=slider]")]
          .filter((node) => node.offsetParent && !(node.getAttribute("aria-label")
            || node.getAttribute("aria-labelledby") || node.innerText?.trim() || node.title
            || node.labels?.length || node.closest("label")))
          .map((node) => node.outerHTML.slice(0, 160))"""
    )
    assert unnamed == []
    expect(tab.get_by_role("img", name=re.compile("Stages of BeliefRAG"))).to_be_visible()
    expect(tab.get_by_role("listbox", name=re.compile("Timeline"))).to_be_visible()
    tab.locator("h1").click()
    reached = []
    for _ in range(40):
        tab.keyboard.press("Tab")
        reached.append(tab.evaluate("document.activeElement.innerText?.trim() || ''"))
    wanted = ("Home", "New question", "Run again", "Back")
    places = [next((n for n, r in enumerate(reached) if w in r), None) for w in wanted]
    assert None not in places, reached
    assert places == sorted(places), "the order of the page is the order of the focus"


FOCUSED = """() => {
  const node = document.activeElement, look = getComputedStyle(node);
  const after = !window.before
    || window.before.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
  const seen = look.outlineStyle !== "none" || look.boxShadow !== "none"
    || !["A", "BUTTON", "SUMMARY"].includes(node.tagName);
  const name = node.getAttribute("aria-label") || node.labels?.[0]?.innerText || node.innerText;
  window.before = node;
  return { body: node === document.body, after: Boolean(after), seen, name: name?.trim() || "" };
}"""


@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("", ["Home", "Corpus", "System", "Question", "Ask and watch", "Open"]),
        ("Runs", ["Home", "Import runs", "Search", "Marked", "Open", "Edit"]),
        ("Corpus", ["Home", "Corpus", "Index", "Documents"]),
    ],
)
def test_the_keyboard_goes_through_a_page_in_its_order_and_is_seen_where_it_is(
    tab: Page, site: Site, page: str, wanted: list[str]
) -> None:
    seed(site)
    tab.goto(site.url(page))
    for name in wanted:
        found = tab.get_by_label(name).or_(tab.get_by_text(name, exact=False))
        expect(found.and_(tab.locator(":visible")).first).to_be_visible()
    expect(tab.locator(".stSkeleton")).to_have_count(0)
    # While a page is still being drawn, what has the focus may be replaced.
    expect(tab.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    tab.locator("h1").click()
    reached: list[str] = []
    for _ in range(60):
        tab.keyboard.press("Tab")
        focused = tab.evaluate(FOCUSED)
        if focused["body"]:
            break
        assert focused["name"], f"after {reached[-1:]} comes something without a name"
        assert focused["seen"], f"{focused['name']!r} does not show that it has the focus"
        assert focused["after"], f"{focused['name']!r} comes after {reached[-1:]}"
        reached.append(focused["name"])
    places = [next((n for n, r in enumerate(reached) if w in r), None) for w in wanted]
    assert None not in places, reached
    assert places == sorted(places)  # type: ignore[type-var]


def test_nothing_jumps_while_a_run_is_live_or_when_it_ends(tab: Page, site: Site) -> None:
    site.hold()
    ask(tab, site)
    tab.wait_for_timeout(1_500)
    place = ".st-key-ri_cursor, .st-key-ri_bench, .st-key-ri_strip"
    tops = "n => n.map((x) => Math.round(x.getBoundingClientRect().top))"
    before = tab.locator(place).evaluate_all(tops)
    for _ in range(6):
        tab.wait_for_timeout(400)
        assert tab.locator(place).evaluate_all(tops) == before
    site.release()
    over(tab)
    after = tab.locator(place).evaluate_all(tops)
    apart = [[below - above for above, below in pairwise(each)] for each in (before, after)]
    assert apart[0] == apart[1], "below the outcome every panel keeps its place"
