"""A recorded run in a real browser: stepped through, re-decided, its sources opened."""

from __future__ import annotations

import re

import pytest

from tests.app.recorded import NASTY
from tests.browser.conftest import Site
from tests.browser.steps import (
    Context,
    Locator,
    Page,
    at_step,
    choose,
    expect,
    numbers,
    open_run,
    rows,
    seed,
)

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
    at_step(tab, 27)
    expect(tab).to_have_url(re.compile("step=27"))


def test_stepping_by_key_click_and_list(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    at_step(tab, 30)
    tab.locator("h1").click()
    tab.keyboard.press("ArrowLeft")
    at_step(tab, 29)
    expect(tab).to_have_url(re.compile("step=29"))
    tab.locator(".st-key-ri_timeline .row[data-seq='12']").click()
    at_step(tab, 12)
    tab.keyboard.press("ArrowDown")
    at_step(tab, 13)
    choose(tab, "Gates")
    expect(tab).to_have_url(re.compile("view=gates"))
    tab.reload()
    at_step(tab, 13)
    expect(tab.get_by_role("radio", name="Gates", exact=True)).to_be_checked()
    choose(tab, "Belief")
    expect(tab).not_to_have_url(re.compile("view="))


def test_the_slider_under_the_keyboard_moves_one_step_at_a_time(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    slider = tab.get_by_role("slider", name="Selected step")
    slider.focus()
    slider.press("ArrowLeft")
    at_step(tab, 29)
    slider.press("ArrowLeft")
    at_step(tab, 28)


_VISITED = """() => {
  window.visited = [];
  new MutationObserver(() => {
    const step = parseInt(document.querySelector(".ri-step b")?.innerText.slice(5));
    if (!isNaN(step) && window.visited.at(-1) !== step) window.visited.push(step);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
"""Notes the steps that the detail shows, one after the other."""


def _player(tab: Page, name: str) -> Locator:
    return tab.get_by_role("group", name="Player").get_by_role("button", name=name, exact=True)


def _faster(tab: Page) -> None:
    tab.get_by_role("combobox", name="Speed").select_option("fast")


def test_a_run_is_watched_from_its_start_to_its_end_and_then_nothing_goes_on(
    tab: Page, context: Context, site: Site
) -> None:
    run_id = seed(site)
    sent: list[object] = []
    tab.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    tab.clock.install()
    open_run(tab, site, run_id)
    other = context.new_page()
    open_run(other, site, run_id, step=9)
    at_step(other, 9)
    _faster(tab)
    tab.evaluate(_VISITED)
    tab.get_by_role("button", name="Watch it from the start").click()
    expect(_player(tab, "Pause")).to_be_visible()
    expect(tab.locator(".ri-outcome").first).to_contain_text("The end is hidden")
    at_step(tab, 30)
    expect(tab.locator(".ri-outcome").first).to_contain_text("Jennifer Connelly")
    expect(_player(tab, "Play")).to_be_visible()
    visited = tab.evaluate("[...window.visited]")
    assert visited == ([30] if visited[0] == 30 else []) + numbers(tab)
    expect(tab).to_have_url(re.compile("step=30"))
    at_step(other, 9)
    sent.clear()
    tab.clock.run_for(60_000)
    assert sent == [], "nothing is asked for while nothing plays"
    _player(tab, "Play").click()
    expect(tab.locator(".ri-step b")).not_to_have_text(re.compile("^Step 30"))
    assert sent


def test_a_run_played_from_its_start_hides_its_end_until_the_last_step_or_reveal(
    tab: Page, site: Site
) -> None:
    open_run(tab, site, seed(site), step=0)
    at_step(tab, 0)
    outcome, last = tab.locator(".ri-outcome").first, rows(tab).filter(has_text="Finished")
    expect(outcome).to_contain_text("Jennifer Connelly")
    expect(last).to_have_count(1)
    _player(tab, "Play").click()
    expect(outcome).to_have_text(re.compile("The end is hidden$"))
    expect(last).to_have_count(0)
    _player(tab, "Pause").click()
    tab.reload()
    expect(outcome).to_have_text(re.compile("The end is hidden$"))
    tab.get_by_role("button", name="Reveal").click()
    expect(outcome).to_contain_text("Jennifer Connelly")
    expect(last).to_have_count(1)
    expect(tab.get_by_role("button", name="Reveal")).to_have_count(0)


def test_playing_goes_through_the_steps_of_the_timeline_and_stops_where_it_is_paused(
    tab: Page, site: Site
) -> None:
    open_run(tab, site, seed(site), step=12)
    at_step(tab, 12)
    _faster(tab)
    tab.locator("h1").click()
    tab.keyboard.press("p")
    at_step(tab, 16)
    tab.locator("h1").click()
    tab.keyboard.press("Space")
    expect(_player(tab, "Play")).to_be_visible()
    tab.get_by_role("radio", name="Story", exact=True).click()
    expect(tab.locator(".st-key-ri_picture_story")).to_be_visible()
    here = tab.locator(".ri-story .ri-is-current > span").first.inner_text()
    at_step(tab, int(here))
    expect(tab).to_have_url(re.compile(f"step={here}(&|$)"))


def test_the_keys_of_the_player_are_left_to_what_has_the_focus(tab: Page, site: Site) -> None:
    open_run(tab, site, seed(site))
    expect(_player(tab, "Play")).to_be_visible()
    tab.get_by_role("radio", name="Gates", exact=True).focus()
    tab.keyboard.press("Space")
    expect(tab.locator(".st-key-ri_picture_gates")).to_be_visible()
    choose(tab, "Settings")
    box = tab.get_by_role("spinbutton").first
    box.focus()
    tab.keyboard.press("p")
    tab.keyboard.press("Space")
    expect(_player(tab, "Play")).to_be_visible()
    choose(tab, "Step")
    at_step(tab, 30)


def test_stepping_leaves_the_way_back_to_the_page_before(tab: Page, site: Site) -> None:
    run_id = seed(site)
    tab.goto(site.url("Runs"))
    tab.get_by_role("link", name="Open").click()
    at_step(tab, 30)
    before = tab.evaluate("history.length")
    slider = tab.get_by_role("slider", name="Selected step")
    slider.focus()
    for seq in (29, 28, 27):
        slider.press("ArrowLeft")
        at_step(tab, seq)
        expect(tab).to_have_url(re.compile(f"step={seq}"))
    tab.locator(".st-key-ri_timeline .row[data-seq='12']").click()
    expect(tab).to_have_url(re.compile("step=12"))
    assert tab.evaluate("history.length") == before
    tab.reload()
    at_step(tab, 12)
    tab.go_back()
    expect(tab.locator("h1")).to_have_text("Runs")
    tab.go_forward()
    expect(tab).to_have_url(re.compile(f"run={run_id}"))
    expect(rows(tab).first).to_be_visible()


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
