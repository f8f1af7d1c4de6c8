"""A run under way in a real browser: watched, stopped, left and found again."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Site
from tests.browser.steps import (
    Context,
    Page,
    ask,
    choose,
    expect,
    numbers,
    open_run,
    over,
    rows,
    running,
)

pytestmark = pytest.mark.browser

SHIFTS = """() => {
  window.shifts = 0;
  window.moved = [];
  new PerformanceObserver((seen) => {
    for (const shift of seen.getEntries()) {
      window.shifts += shift.value;
      for (const { node } of shift.sources) {
        window.moved.push(node?.outerHTML?.slice(0, 200) ?? node?.data);
      }
    }
  }).observe({ type: "layout-shift" });
}"""
GOOD = 0.1
"""Cumulative layout shift that the Web Vitals call good."""


def test_ask_watch_live_reload_in_mid_run_and_a_second_tab(
    tab: Page, context: Context, site: Site
) -> None:
    site.hold()
    ask(tab, site)
    expect(running(tab)).to_be_visible()
    before = rows(tab).count()
    tab.reload()
    expect(running(tab)).to_be_visible()
    expect(rows(tab).first).to_be_visible()
    assert rows(tab).count() >= before, "a reload loses no step"
    second = context.new_page()
    second.goto(tab.url)
    expect(running(second)).to_be_visible()
    site.release()
    for page in (tab, second):
        over(page)
        expect(page.get_by_role("button", name="Stop run")).to_have_count(0)
        assert numbers(page) == sorted(set(numbers(page))), "no step is doubled"
    assert numbers(tab) == numbers(second)


def test_stop_says_that_it_stops_and_keeps_what_was_done(tab: Page, site: Site) -> None:
    site.hold()
    ask(tab, site)
    tab.get_by_role("button", name="Stop run").click()
    expect(tab.get_by_role("button", name="Stopping")).to_be_disabled()
    site.release()
    expect(tab.locator(".ri-chip", has_text="Stopped").first).to_be_visible()
    expect(rows(tab).filter(has_text="Query").first).to_be_visible()


def test_stopping_by_keyboard(tab: Page, site: Site) -> None:
    site.hold()
    ask(tab, site)
    tab.locator("h1").click()
    tab.keyboard.press("Alt+s")
    expect(tab.get_by_role("button", name="Stopping")).to_be_visible()
    site.release()
    expect(tab.locator(".ri-chip", has_text="Stopped").first).to_be_visible()


def test_touching_everything_while_it_runs_loses_and_doubles_nothing(tab: Page, site: Site) -> None:
    site.hold()
    run_id = ask(tab, site)
    expect(running(tab)).to_be_visible()
    for view in ("Evidence", "Story", "Answer"):
        choose(tab, view)
    choose(tab, "Settings")
    slider = tab.get_by_role("slider", name="Answer threshold")
    slider.focus()
    slider.press("ArrowRight")
    tab.get_by_role("link", name="Corpus").click()
    expect(tab.locator("h1")).to_have_text("Corpus")
    site.release()
    tab.goto(site.url("Run", run=run_id))
    over(tab)
    choose(tab, "Story")
    tab.get_by_text("Every step").click()
    with site.journal() as journal:
        kept = [s.seq for s in journal.steps(run_id)]
    assert kept == list(range(len(kept)))
    expect(rows(tab)).to_have_count(len(kept))
    assert numbers(tab) == kept


def test_two_runs_never_mix_and_the_one_left_behind_can_be_stopped(
    tab: Page, context: Context, site: Site
) -> None:
    site.hold()
    left = ask(tab, site, "Who directed Alien?")
    tab.reload()
    expect(running(tab)).to_be_visible()
    new = ask(tab, site, "Who composed the music of Alien?")
    assert new != left
    other = context.new_page()
    open_run(other, site, left)
    other.get_by_role("button", name="Stop run").click()
    expect(other.get_by_role("button", name="Stopping")).to_be_visible()
    site.release()
    expect(other.locator(".ri-chip", has_text="Stopped").first).to_be_visible()
    over(tab)
    expect(tab.locator(".ri-question")).to_have_text("Who composed the music of Alien?")
    with site.journal() as journal:
        for run_id, question in ((left, "directed"), (new, "composed")):
            steps = journal.steps(run_id)
            assert [s.seq for s in steps] == list(range(len(steps)))
            assert {s.run_id for s in steps} == {run_id}
            assert question in journal.run(run_id).question
        assert journal.run(left).terminal == "cancelled"
        assert journal.run(new).terminal != "cancelled"


def test_the_page_asks_again_only_while_its_run_is_going(tab: Page, site: Site) -> None:
    sent: list[float] = []
    tab.on("websocket", lambda socket: socket.on("framereceived", lambda _: sent.append(1.0)))
    site.hold()
    ask(tab, site)
    tab.wait_for_timeout(1_000)
    sent.clear()
    tab.wait_for_timeout(3_000)
    assert sent, "a running run is polled"
    site.release()
    over(tab)
    tab.wait_for_timeout(3_000)
    sent.clear()
    tab.wait_for_timeout(4_000)
    assert sent == []


def test_nothing_jumps_while_a_run_goes_on_and_ends(tab: Page, site: Site) -> None:
    site.hold()
    ask(tab, site)
    expect(running(tab)).to_be_visible()
    expect(tab.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    tab.evaluate(SHIFTS)
    tab.wait_for_timeout(2_500)
    moved = tab.evaluate("window.moved")
    assert tab.evaluate("window.shifts") == 0, f"the clock goes on, and something moves: {moved}"
    site.release()
    over(tab)
    assert tab.evaluate("window.shifts") < GOOD


def test_asking_by_keyboard(tab: Page, site: Site) -> None:
    tab.goto(site.url())
    box = tab.get_by_role("textbox", name="Question")
    box.fill("Where was Jennifer Connelly born?")
    box.press("Control+Enter")
    expect(tab).to_have_url(re.compile("run=[0-9a-f]{24}"))
    expect(tab.locator(".ri-question")).to_have_text("Where was Jennifer Connelly born?")
    over(tab)
