"""The journal in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.recorded import QUESTION
from tests.browser.conftest import Site
from tests.browser.steps import Page, choose, expect, seed

pytestmark = pytest.mark.browser


def test_runs_export_delete_undo_import_and_label(tab: Page, site: Site, tmp_path: Path) -> None:
    seed(site)
    tab.goto(site.url("Runs"))
    expect(tab.get_by_text(QUESTION)).to_be_visible()
    tab.get_by_role("button", name="Edit").click()
    choose(tab, "right")
    expect(tab.locator(".ri-chip", has_text="marked right")).to_be_visible()
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
    assert line["answers"] == ["Jennifer Connelly"]

    other = site.other()
    tab.goto(other.url("Runs"))
    expect(tab.get_by_text("No runs yet")).to_be_visible()
    tab.locator("input[type=file]").set_input_files(path)
    expect(tab.locator(".ri-notice", has_text=QUESTION)).to_be_visible()
    tab.locator("input[type=file]").set_input_files(
        {"name": "<b>bad</b>.jsonl", "mimeType": "text/plain", "buffer": b"{nonsense\n"}
    )
    refused = tab.locator(".ri-notice", has_text="Line 1 of the run is refused")
    expect(refused).to_contain_text("<b>bad</b>.jsonl")
