"""What the journeys have in common."""

from __future__ import annotations

import re

import pytest

from tests.app.recorded import record
from tests.browser.conftest import Site

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
expect.set_options(timeout=60_000)
Page, Context, Locator = sync_api.Page, sync_api.BrowserContext, sync_api.Locator


def seed(site: Site, **options: object) -> str:
    """A recorded run in the workspace."""
    return site.keep(record(**({"answer_threshold": 0.55} | options)))  # type: ignore[arg-type]


def rows(tab: Page) -> Locator:
    """The lines of the timeline."""
    return tab.locator(".st-key-ri_timeline .row")


def numbers(tab: Page) -> list[int]:
    """The step numbers on the timeline, as they stand."""
    return [int(n) for n in rows(tab).locator(".seq").all_inner_texts()]


def open_run(tab: Page, site: Site, run_id: str, **params: object) -> None:
    """Go to a run and wait for its timeline."""
    tab.goto(site.url("Run", run=run_id, **params))
    expect(rows(tab).first).to_be_visible()


def at_step(tab: Page, seq: int) -> None:
    """Wait until the detail beside the timeline is that of a step."""
    expect(tab.locator(".ri-step b")).to_have_text(re.compile(rf"^Step {seq}\b"))


def choose(tab: Page, name: str) -> None:
    """Press one of the buttons of which one is always on."""
    tab.get_by_role("radio", name=name, exact=True).click()
    expect(tab.get_by_role("radio", name=name, exact=True)).to_be_checked()


def ask(tab: Page, site: Site, question: str = "") -> str:
    """Ask from the home page, wait for the first search, and tell the run's id."""
    tab.goto(site.url())
    if question:
        box = tab.get_by_role("textbox", name="Question")
        box.fill(question)
        box.press("Control+Enter")
    else:
        tab.get_by_role("button", name="Ask and watch").click()
    expect(rows(tab).filter(has_text="Query").first).to_be_visible()
    return str(tab.evaluate("new URL(location).searchParams.get('run')"))


def running(tab: Page) -> Locator:
    """The sign that a run is under way."""
    return tab.locator(".ri-chip", has_text="Running")


def over(tab: Page) -> None:
    """Wait until the run on the page is over and its last line is there."""
    expect(tab.get_by_role("button", name="Run again")).to_be_visible()
    expect(rows(tab).filter(has_text="Finished")).to_be_visible()
