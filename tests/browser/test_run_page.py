"""A recorded run in a real browser: stepped through, re-decided, its sources opened."""

from __future__ import annotations

import re

import pytest

from tests.app.recorded import NASTY
from tests.browser.conftest import Site
from tests.browser.steps import Page, choose, expect, open_run, rows, seed

pytestmark = pytest.mark.browser


def test_a_moved_slider_shows_where_the_run_would_have_turned(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    choose(tab, "Settings")
    slider = tab.get_by_role("slider", name="Answer threshold")
    slider.focus()
    slider.press("End")
    expect(tab.get_by_text("Under the settings now (Answer threshold changed)")).to_be_visible()
    expect(tab.get_by_text("First divergence under the settings now")).to_be_attached()
    expect(tab.get_by_text("would be read from the same evidence")).to_be_visible()
    expect(tab).to_have_url(re.compile("set=answer_threshold"))
    unknown = tab.locator(".st-key-ri_timeline .row.unknown")
    expect(unknown).to_have_count(0)
    slider.press("Home")
    expect(unknown.first).to_be_attached()
    choose(tab, "Gates")
    expect(tab.locator(".ri-ghost").first).to_be_visible()
    tab.get_by_role("button", name="As recorded").click()
    expect(tab.get_by_text("Under the settings now")).to_have_count(0)


def test_a_slider_that_makes_the_run_turn_keeps_its_focus_and_nothing_moves(
    tab: Page, site: Site
) -> None:
    open_run(tab, site, seed(site, answer_threshold=0.7))
    choose(tab, "Settings")
    slider = tab.get_by_role("slider", name="Answer threshold")
    slider.focus()
    expect(slider).to_be_focused()
    place = slider.bounding_box()
    for _ in range(10):
        tab.keyboard.press("ArrowRight")
        expect(slider).to_be_focused()
    expect(slider).to_have_value("0.8")
    expect(tab).to_have_url(re.compile("set=answer_threshold%3D0.8"))
    expect(tab.get_by_text("would come out as")).to_be_visible()
    expect(slider).to_be_focused()
    now = slider.bounding_box()
    assert place is not None
    assert now is not None
    assert now["y"] == pytest.approx(place["y"], abs=1)
    assert "step=" not in tab.url, "the arrows moved the slider alone"


def test_the_banner_leads_to_the_first_divergence(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site), set="answer_threshold=0.9")
    banner = tab.locator(".st-key-ri_turn")
    expect(banner).to_contain_text("Step 27 would come out as")
    expect(banner.get_by_role("button", name="Go on from step 27")).to_be_visible()
    banner.get_by_role("button", name="Show step 27").click()
    expect(tab.locator(".ri-step b")).to_have_text("Step 27")
    expect(tab).to_have_url(re.compile("step=27"))


def test_stepping_by_key_click_and_list(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    here = tab.locator(".ri-step b")
    expect(here).to_have_text("Step 30")
    tab.locator("h1").click()
    tab.keyboard.press("ArrowLeft")
    expect(here).to_have_text("Step 29")
    expect(tab).to_have_url(re.compile("step=29"))
    rows(tab).filter(has_text="Decided to verify").click()
    expect(here).to_have_text("Step 12")
    tab.keyboard.press("ArrowDown")
    expect(here).to_have_text("Step 13")
    tab.reload()
    expect(tab.locator(".ri-step b")).to_have_text("Step 13")


def test_the_slider_under_the_keyboard_moves_one_step_at_a_time(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    here = tab.locator(".ri-step b")
    slider = tab.get_by_role("slider", name="Selected step")
    slider.focus()
    slider.press("ArrowLeft")
    expect(here).to_have_text("Step 29")
    slider.press("ArrowLeft")
    expect(here).to_have_text("Step 28")


def test_a_citation_opens_the_source_with_the_place_marked(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    choose(tab, "Answer")
    tab.get_by_role("button", name="Open the source").click()
    drawer = tab.get_by_role("dialog")
    expect(drawer.locator("mark")).to_have_text(
        "He married Jennifer Connelly on New Year's Day 2003."
    )


def test_hostile_text_in_a_run_is_text_on_every_view(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site, question=NASTY))
    for view in ("Gates", "Evidence", "Answer", "Story", "Belief"):
        choose(tab, view)
        assert tab.locator("[data-testid=stMain] img").count() == 0
        assert tab.locator(".katex").count() == 0
    expect(tab.locator(".ri-question")).to_contain_text("$x^2$ :red[no] abc[U+202E]dcba")
