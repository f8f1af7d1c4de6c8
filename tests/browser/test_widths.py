"""What fits the window, at the width of a laptop and at that of half of one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.events import Step
from tests.app.foraging import foraged
from tests.app.navigating import navigated
from tests.app.recorded import record
from tests.browser.conftest import Site
from tests.browser.steps import Page, choose, expect, open_run, seed

pytestmark = pytest.mark.browser

_PICTURE = '[class*="st-key-ri_picture_"]'
_HIDDEN = f"""() => {{
  const found = [...document.querySelectorAll('{_PICTURE}, :has(> {_PICTURE})')];
  const inner = found.filter(e => getComputedStyle(e).overflowY !== 'visible');
  return Math.max(0, ...inner.map(e => e.scrollHeight - e.clientHeight));
}}"""
"""Pixels of the picture that are seen only by scrolling inside it."""


def test_the_picture_of_a_run_scrolls_inside_only_where_columns_stand_side_by_side(
    tab: Page, site: Site
) -> None:
    run_id = seed(site)
    tab.set_viewport_size({"width": 800, "height": 900})
    open_run(tab, site, run_id)
    for view in ("Belief", "Gates", "Evidence", "Story"):
        choose(tab, view)
        expect(tab.locator(_PICTURE)).to_be_visible()
        assert tab.evaluate(_HIDDEN) <= 1, view
    choose(tab, "Belief")
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.wait_for_function(f"() => ({_HIDDEN})() > 100")


_TOO_WIDE = """() => [...document.querySelectorAll('.ri-scroll')]
  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth)
  .map(e => `${e.querySelector('caption').textContent}: ${e.scrollWidth - e.clientWidth}`)"""
"""Tables that are seen whole only by scrolling to the side, and by how many pixels."""


@pytest.mark.parametrize("size", [(1280, 800), (800, 900)])
@pytest.mark.parametrize(
    ("run", "views"),
    [
        (record, ("Gates", "Evidence")),
        (foraged, ("Packing", "Gates", "Evidence")),
        (navigated, ("Path", "Memory", "Gates", "Evidence")),
    ],
)
def test_no_table_of_a_run_is_wider_than_its_place(
    tab: Page,
    site: Site,
    run: Callable[[], list[Step]],
    views: tuple[str, ...],
    size: tuple[int, int],
) -> None:
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    open_run(tab, site, site.keep(run()))
    for view in views:
        choose(tab, view)
        shown = tab.locator(f".st-key-ri_picture_{view.lower()} .ri-table").first
        expect(shown).to_be_visible()
        assert tab.evaluate(_TOO_WIDE) == [], view


def test_the_story_is_shown_where_the_selected_step_is(tab: Page, site: Site) -> None:
    tab.set_viewport_size({"width": 1280, "height": 800})
    run_id = seed(site)
    for step, first in ((20, False), (1, True)):
        open_run(tab, site, run_id, step=step)
        choose(tab, "Story")
        expect(tab.locator(".ri-story .ri-is-current")).to_be_in_viewport(ratio=0.9)
        top = tab.locator(".ri-story li").first
        if first:
            expect(top).to_be_in_viewport()
        else:
            expect(top).not_to_be_in_viewport()


_PANELS = """() => {
  const names = ['ri_timeline', 'ri_picture_', 'ri_rail_'];
  const found = names.map(name => document.querySelector(`[class*="st-key-${name}"]`));
  const ends = node => Math.max(...[node, ...node.querySelectorAll('*')]
    .filter(e => e.checkVisibility() && getComputedStyle(e).position !== 'absolute')
    .map(e => e.getBoundingClientRect().bottom));
  const tops = found.map(e => e.getBoundingClientRect().top);
  return found.slice(0, -1).map((e, n) => Math.round(tops[n + 1] - ends(e)));
}"""
"""Pixels between the end of each panel's content and the beginning of the next panel."""


@pytest.mark.parametrize("rail", ["Step", "Settings"])
def test_panels_that_stand_below_each_other_never_overlap(tab: Page, site: Site, rail: str) -> None:
    run_id = seed(site)
    tab.set_viewport_size({"width": 800, "height": 900})
    open_run(tab, site, run_id)
    choose(tab, rail)
    for view in ("Belief", "Gates", "Evidence", "Answer", "Story"):
        choose(tab, view)
        expect(tab.locator(f".st-key-ri_picture_{view.lower()}")).to_be_visible()
        tab.wait_for_function(f"() => ({_PANELS})().every(gap => gap >= 0)")


def test_the_bench_of_a_run_lies_whole_in_the_window_of_a_laptop(tab: Page, site: Site) -> None:
    run_id = seed(site)
    tab.set_viewport_size({"width": 1280, "height": 800})
    open_run(tab, site, run_id)
    expect(tab.locator(".st-key-ri_picture_belief")).to_be_visible()
    for panel in ("ri_timeline", "ri_picture_", "ri_rail_"):
        place = tab.locator(f'[class*="st-key-{panel}"]').first.bounding_box()
        assert place["y"] + place["height"] <= 800, panel


@pytest.mark.parametrize("size", [(1280, 800), (800, 600)])
def test_every_sample_question_can_be_reached(tab: Page, site: Site, size: tuple[int, int]) -> None:
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    tab.goto(site.url())
    box = tab.get_by_role("combobox", name="Sample questions")
    box.click()
    listed = tab.get_by_role("listbox")
    expect(listed).to_be_visible()
    place = listed.bounding_box()
    assert place["y"] >= 0
    assert place["y"] + place["height"] <= size[1]
    box.fill("German city")
    tab.get_by_role("option").first.click()
    expect(tab.get_by_role("textbox", name="Question")).to_have_value(
        "In which German city was the person who scored the first Iron Man movie born?"
    )


def test_few_pages_are_all_numbered(tab: Page, site: Site) -> None:
    for n in range(40):
        site.keep(record(system="static", run_id=f"run{n}", question=f"Question {n}?"))
    tab.goto(site.url("Runs"))
    pages = tab.get_by_test_id("stPagination")
    for number in ("1", "2", "3"):
        expect(pages.get_by_text(number, exact=True)).to_be_visible()
