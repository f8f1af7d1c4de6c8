"""The journal in a real browser."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.app.recorded import QUESTION
from tests.browser.conftest import Site
from tests.browser.steps import Context, Locator, Page, choose, expect, seed

pytestmark = pytest.mark.browser


def test_runs_export_delete_undo_import_and_label(tab: Page, site: Site, tmp_path: Path) -> None:
    seed(site)
    tab.goto(site.url("Runs"))
    expect(tab.get_by_text(QUESTION)).to_be_visible()
    tab.get_by_role("button", name="Edit").click()
    choose(tab, "Right")
    tab.get_by_role("button", name="Done").click()
    expect(tab.locator(".ri-chip", has_text="marked: right")).to_be_visible()
    tab.get_by_role("button", name="Edit").click()
    expect(tab.get_by_role("radio", name="Right")).to_be_checked()
    with tab.expect_download() as exported:
        tab.get_by_role("button", name="Export as JSON lines").click()
    path = tmp_path / "run.jsonl"
    exported.value.save_as(path)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 31
    tab.get_by_role("button", name="Delete", exact=True).click()
    expect(tab.get_by_text("The run was deleted.")).to_be_visible()
    tab.get_by_role("button", name="Undo").click()
    expect(tab.get_by_text("The run is back.")).to_be_visible()
    expect(tab.get_by_role("button", name="Export question file")).to_have_count(1)
    with tab.expect_download() as questions:
        tab.get_by_role("button", name="Export question file").click()
    line = json.loads(Path(questions.value.path()).read_text(encoding="utf-8"))
    assert (line["answers"], line["corpus"]) == (["Jennifer Connelly"], "three")

    other = site.other()
    tab.goto(other.url("Runs"))
    expect(tab.get_by_text("No runs yet")).to_be_visible()
    tab.get_by_role("button", name="Import runs").click()
    tab.locator("input[type=file]").set_input_files(path)
    expect(tab.locator(".ri-notice", has_text=QUESTION)).to_be_visible()
    tab.locator("input[type=file]").set_input_files(
        {"name": "<b>bad</b>.jsonl", "mimeType": "text/plain", "buffer": b"{nonsense\n"}
    )
    refused = tab.locator(".ri-notice", has_text="Line 1 of the run is refused")
    expect(refused).to_contain_text("<b>bad</b>.jsonl")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (800, 900), (800, 500)])
def test_everything_of_the_lowest_run_on_the_page_is_in_reach(
    tab: Page, site: Site, width: int, height: int
) -> None:
    for n in range(15):
        seed(site, run_id=f"run{n}", question=f"Question {n}?")
    tab.set_viewport_size({"width": width, "height": height})
    tab.goto(site.url("Runs"))
    tab.get_by_role("button", name="Edit").last.click()
    drawer = tab.get_by_role("dialog")
    expect(drawer.get_by_role("button", name="Done")).to_be_visible()
    names = ["Name", "Note", "Right answer"]
    controls = [drawer.get_by_role("textbox", name=name) for name in names]
    controls += [drawer.get_by_role("radio", name="Should not be answered")]
    controls += [drawer.get_by_role("button", name=name) for name in ("Delete", "Done")]
    controls += drawer.get_by_role("button", name="Export as").all()
    assert len(controls) == 9
    for control in controls:
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        control.click(trial=True)
    tab.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    tab.reload()
    expect(tab.get_by_role("button", name="Edit").first).to_be_visible()
    expect(drawer).to_have_count(0)


def test_two_tabs_on_the_same_runs_lose_and_double_nothing(
    tab: Page, context: Context, site: Site
) -> None:
    seed(site, run_id="kept", question="Which is kept?")
    seed(site, run_id="gone", question="Which is gone?")
    other = context.new_page()
    for each in (tab, other):
        each.goto(site.url("Runs"))
        expect(each.locator(".ri-title")).to_have_count(2)

    def row(each: Page, run_id: str) -> Locator:
        return each.locator(f".st-key-ri_run_{run_id}")

    row(tab, "kept").get_by_role("button", name="Edit").click()
    row(other, "kept").get_by_role("button", name="Edit").click()
    name = tab.get_by_role("textbox", name="Name")
    name.fill("Mine")
    name.press("Enter")
    choose(other, "Wrong")
    note = other.get_by_role("textbox", name="Note")
    note.fill("Theirs")
    note.press("Control+Enter")
    expect(other.get_by_role("textbox", name="Name")).to_have_value("Mine")
    for each in (tab, other):
        each.get_by_role("button", name="Done").click()
        expect(row(each, "kept")).to_contain_text("Mine")
    tab.reload()
    for each in (tab, other):
        expect(row(each, "kept")).to_contain_text("Theirs")
        expect(row(each, "kept")).to_contain_text("marked: wrong")

    row(tab, "gone").get_by_role("button", name="Edit").click()
    row(other, "gone").get_by_role("button", name="Edit").click()
    other.get_by_role("button", name="Delete", exact=True).click()
    expect(other.get_by_text("The run was deleted.")).to_be_visible()
    other.get_by_role("button", name="for good").click()
    other.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    expect(other.get_by_text("Removed for good: 1 run.")).to_be_visible()
    name = tab.get_by_role("textbox", name="Name")
    name.fill("Too late")
    name.press("Enter")
    expect(tab.get_by_role("dialog")).to_contain_text("deleted for good meanwhile")
    tab.get_by_role("button", name="Done").click()
    expect(row(tab, "gone")).to_have_count(0)
    expect(row(tab, "kept")).to_have_count(1)


def test_an_undo_that_comes_too_late_and_an_export_of_what_is_gone_are_told_in_words(
    tab: Page, context: Context, site: Site
) -> None:
    seed(site, run_id="gone", question="Which is gone?")
    seed(site, run_id="other", question="Which is not?")
    tab.goto(site.url("Runs"))
    late = context.new_page()
    late.goto(site.url("Runs"))
    edit = ".st-key-ri_run_gone button"
    late.locator(edit).filter(has_text="Edit").click()
    expect(late.get_by_role("button", name="Export as page")).to_be_visible()
    tab.locator(edit).filter(has_text="Edit").click()
    tab.get_by_role("button", name="Delete", exact=True).click()
    expect(tab.get_by_role("button", name="Undo")).to_be_visible()
    with late.expect_download() as exported:
        late.get_by_role("button", name="Export as page").click()
    assert "Which is gone?" in Path(exported.value.path()).read_text(encoding="utf-8")
    with site.journal() as journal:
        assert journal.purge(deleted_before=datetime.now(UTC)) == 1
    tab.get_by_role("button", name="Undo").click()
    expect(tab.get_by_text("1 run had been deleted for good.")).to_be_visible()
    late.get_by_role("button", name="Export as page").click()
    late.get_by_role("button", name="Done").click()
    expect(late.locator(".ri-title")).to_have_count(1)


@pytest.mark.parametrize("page", ["", "Runs", "Corpus"])
def test_no_two_rows_have_a_control_of_one_name(tab: Page, site: Site, page: str) -> None:
    for n in range(3):
        seed(site, run_id=f"run{n}", question="Asked over and over?")
    tab.goto(site.url(page, corpus="film_night"))
    if page == "Corpus":
        tab.get_by_role("button", name="Index").click()
    named = re.compile(r"(Open|Edit) (run|document) \d+$")
    rows = tab.get_by_role("button", name=named).or_(tab.get_by_role("link", name=named))
    expect(rows.nth(2)).to_be_visible()
    names = [one.text_content() for one in rows.all()]
    assert len(set(names)) == len(names)
    for label in ("Open", "Edit"):
        for role in ("button", "link"):
            plain = tab.get_by_role(role, name=label, exact=True)
            expect(plain.filter(has_text=label)).to_have_count(0)
    which = rows.first.locator("p span", has_text="1")
    assert which.bounding_box()["width"] <= 1, "the row shows already which it is"
