"""What is begun from a finished run opens in its place, in a real browser, with its own steps."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Site
from tests.browser.steps import Page, ask, choose, expect, numbers, open_run, over

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
