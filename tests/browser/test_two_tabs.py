"""Two people on one workspace: what one does to live work, the other sees; nothing is lost,
doubled or raised."""

from __future__ import annotations

import re
from collections.abc import Callable

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
    seed,
)

pytestmark = pytest.mark.browser
Visitors = Callable[[], Context]


@pytest.fixture
def pair(visitors: Visitors) -> tuple[Page, Page]:
    """Two browsers."""
    return visitors().new_page(), visitors().new_page()


def kept(site: Site) -> list[str]:
    """The ids of the runs that are listed, sorted."""
    with site.journal() as journal:
        return sorted(r.run_id for r in journal.runs(limit=None))


def test_a_run_that_one_stops_ends_as_stopped_for_the_other_as_well(
    pair: tuple[Page, Page], site: Site
) -> None:
    mine, theirs = pair
    site.hold()
    run_id = ask(mine, site)
    open_run(theirs, site, run_id)
    expect(running(theirs)).to_be_visible()
    theirs.get_by_role("button", name="Stop run").click()
    site.release()
    for each in pair:
        over(each)
        expect(each.locator(".ri-chip", has_text="Stopped").first).to_be_visible()
    assert numbers(mine) == numbers(theirs) == sorted(set(numbers(mine)))
    assert kept(site) == [run_id]


def test_both_run_the_same_run_again_and_each_has_a_run_of_its_own(
    pair: tuple[Page, Page], site: Site
) -> None:
    run_id = ask(pair[0], site)
    over(pair[0])
    open_run(pair[1], site, run_id)
    over(pair[1])
    site.hold()
    for each in pair:
        each.get_by_role("button", name="Run again").click()
    for each in pair:
        expect(running(each)).to_be_visible()
        expect(each).not_to_have_url(re.compile(f"run={run_id}"))
    site.release()
    for each in pair:
        over(each)
    assert len(kept(site)) == 3
    found = {each.evaluate("new URL(location).searchParams.get('run')") for each in pair}
    assert len(found) == 2
    assert run_id not in found


def test_a_corpus_deleted_by_one_while_the_other_asks_over_it_ends_that_run_in_words(
    pair: tuple[Page, Page], site: Site
) -> None:
    mine, theirs = pair
    theirs.goto(site.url("Corpus"))
    choose(theirs, "Add files")
    theirs.locator("input[type=file]").set_input_files(
        {"name": "tide.md", "mimeType": "text/plain", "buffer": b"The keeper of Brill is Ada."}
    )
    theirs.get_by_role("button", name="Add and index").click()
    expect(theirs.get_by_text("1 to 1 of 1 document")).to_be_visible()
    site.hold()
    mine.goto(site.url("Run", corpus="my_corpus", system="beliefrag", q="Who+keeps+Brill%3F"))
    mine.get_by_role("button", name="Ask", exact=False).first.click()
    expect(rows(mine).filter(has_text="Query").first).to_be_visible()
    theirs.get_by_role("button", name="Delete", exact=True).click()
    theirs.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(theirs.get_by_text("my_corpus was deleted.")).to_be_visible()
    site.release()
    over(mine)
    expect(mine.locator(".ri-outcome .ri-chip").first).to_be_visible()
    run_id = str(mine.evaluate("new URL(location).searchParams.get('run')"))
    with site.journal() as journal:
        record = journal.run(run_id)
    assert record.status == "finished"
    assert record.terminal is not None
    theirs.goto(site.url("Runs"))
    expect(theirs.locator(".ri-chip", has_text="corpus is gone")).to_be_visible()
    mine.get_by_role("button", name="Run again").click()
    expect(mine.get_by_role("alert")).to_contain_text("my_corpus")


def test_a_run_that_is_going_is_not_deleted_by_the_other_and_its_runs_stay_when_a_corpus_goes(
    pair: tuple[Page, Page], site: Site
) -> None:
    mine, theirs = pair
    seed(site, run_id="before")
    site.hold()
    run_id = ask(mine, site)
    theirs.goto(site.url("Runs"))
    theirs.locator(f".st-key-ri_run_{run_id}").get_by_role("button", name="Edit").click()
    drawer = theirs.get_by_role("dialog")
    expect(drawer.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    name = drawer.get_by_role("textbox", name="Name")
    name.fill("Named while it ran")
    name.press("Enter")
    drawer.get_by_role("button", name="Done").click()
    expect(theirs.get_by_text("Named while it ran")).to_be_visible()
    site.release()
    over(mine)
    assert kept(site) == sorted(["before", run_id])
    with site.journal() as journal:
        assert journal.run(run_id).name == "Named while it ran"
