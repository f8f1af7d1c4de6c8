"""What is begun from a finished run opens in its place, in a real browser, with its own steps."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Site
from tests.browser.steps import Page, ask, choose, expect, numbers, open_run, over, seed

pytestmark = pytest.mark.browser


def _opened(tab: Page, site: Site, before: str, origin: str) -> str:
    """The id of the run that took the place of another, once all of it is on the page."""
    expect(tab).not_to_have_url(re.compile(f"run={before}"))
    new = str(tab.evaluate("new URL(location).searchParams.get('run')"))
    expect(tab.locator(".ri-byline code")).to_have_text(new)
    over(tab)
    tab.get_by_text("Every step").click()
    with site.journal() as journal:
        kept = [s.seq for s in journal.steps(new)]
        assert journal.run(new).origin == origin
    expect(tab.locator(".st-key-ri_timeline .row")).to_have_count(len(kept))
    assert numbers(tab) == kept
    return new


def test_run_again_opens_the_new_run(tab: Page, site: Site) -> None:
    first = ask(tab, site)
    over(tab)
    tab.get_by_role("button", name="Run again").click()
    assert _opened(tab, site, first, "live") != first


def test_going_on_from_where_it_turns_opens_the_new_run(tab: Page, site: Site) -> None:
    first = ask(tab, site)
    over(tab)
    choose(tab, "Settings")
    slider = tab.get_by_role("slider", name="Answer threshold")
    slider.focus()
    slider.press("End")
    tab.get_by_role("button", name="Go on from step").click()
    assert _opened(tab, site, first, "fork") != first
    expect(tab.get_by_text("Under the settings now")).to_have_count(0)
    expect(tab.locator(".ri-byline")).to_contain_text("Answer threshold 0.5 → 1")
    tab.get_by_role("button", name="Forked from step").click()
    expect(tab.locator(".ri-byline code")).to_have_text(first)
    expect(tab).to_have_url(re.compile("step="))
    tab.get_by_role("button", name="1 run from this").click()
    tab.get_by_role("button", name="From step").click()
    expect(tab.locator(".ri-byline code")).not_to_have_text(first)


def test_an_interrupted_run_goes_on_in_its_place(tab: Page, site: Site) -> None:
    first = ask(tab, site)
    over(tab)
    with site.journal() as journal:
        whole = journal.steps(first)
        journal.append([s.model_copy(update={"run_id": "cutshort"}) for s in whole[:9]])
        journal.abandon("cutshort")
    open_run(tab, site, "cutshort")
    tab.get_by_role("button", name="Resume").click()
    over(tab)
    expect(tab.locator(".ri-byline code")).to_have_text("cutshort")
    with site.journal() as journal:
        assert journal.run("cutshort").status == "finished"


def test_a_new_question_is_asked_in_an_empty_box_and_back_leads_to_the_run(
    tab: Page, site: Site
) -> None:
    first = ask(tab, site)
    over(tab)
    tab.get_by_role("button", name="New question").click()
    box = tab.get_by_role("textbox", name="Question")
    expect(box).to_have_value("")
    expect(tab.get_by_role("combobox", name="Sample questions")).to_be_visible()
    tab.go_back()
    expect(tab.locator(".ri-byline code")).to_have_text(first)
    tab.get_by_role("button", name="New question").click()
    box.fill("Where was Jennifer Connelly born?")
    box.press("Control+Enter")
    expect(tab.locator(".ri-question")).to_have_text("Where was Jennifer Connelly born?")


def test_a_run_is_marked_on_its_own_page(tab: Page, site: Site) -> None:
    run_id = seed(site)
    open_run(tab, site, run_id)
    tab.get_by_role("button", name="Mark").click()
    tab.get_by_role("radio", name="Wrong").click()
    expect(tab.locator(".ri-outcome").first).to_contain_text("marked: wrong")
    box = tab.get_by_role("textbox", name="Right answer")
    box.fill("Ada Brook")
    box.press("Enter")
    tab.keyboard.press("Escape")
    tab.reload()
    expect(tab.locator(".ri-outcome").first).to_contain_text("marked: wrong")
    with site.journal() as journal:
        assert journal.run(run_id).right_answer == "Ada Brook"
