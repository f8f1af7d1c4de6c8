"""What a person does, in a real browser. Every test also holds that nothing leaves the machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.app.recorded import NASTY, QUESTION, record
from tests.browser.conftest import Site

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
expect.set_options(timeout=60_000)
pytestmark = pytest.mark.browser

Page = sync_api.Page


def _seed(site: Site, **options: object) -> str:
    return site.keep(record(**({"answer_threshold": 0.55} | options)))  # type: ignore[arg-type]


def _rows(tab: Page) -> sync_api.Locator:
    return tab.locator(".st-key-ri_timeline .row")


def _open_run(tab: Page, site: Site, run_id: str, **params: object) -> None:
    tab.goto(site.url("Run", run=run_id, **params))
    expect(_rows(tab).first).to_be_visible()


def _choose(tab: Page, name: str) -> None:
    tab.get_by_role("radio", name=name, exact=True).click()
    expect(tab.get_by_role("radio", name=name, exact=True)).to_be_checked()


def test_ask_watch_live_reload_in_mid_run_and_a_second_tab(
    tab: Page, context: sync_api.BrowserContext, site: Site
) -> None:
    site.hold()
    tab.goto(site.url())
    tab.get_by_role("button", name="Ask and watch").click()
    expect(tab.locator(".ri-chip", has_text="Running")).to_be_visible()
    expect(tab).to_have_url(re.compile("run=[0-9a-f]{24}"))
    expect(_rows(tab).filter(has_text="Query")).to_be_visible()
    before = _rows(tab).count()
    tab.reload()
    expect(tab.locator(".ri-chip", has_text="Running")).to_be_visible()
    expect(_rows(tab).first).to_be_visible()
    assert _rows(tab).count() >= before, "a reload loses no step"
    second = context.new_page()
    second.goto(tab.url)
    expect(second.locator(".ri-chip", has_text="Running")).to_be_visible()
    site.release()
    for page in (tab, second):
        expect(page.get_by_role("button", name="Run again")).to_be_visible()
        expect(_rows(page).filter(has_text="Finished")).to_be_visible()
        expect(page.get_by_role("button", name="Stop run")).to_have_count(0)
    sequence = [int(n) for n in _rows(tab).locator(".seq").all_inner_texts()]
    assert sequence == sorted(set(sequence)), "no step is doubled"


def test_stop_ends_a_run_and_keeps_what_it_did(tab: Page, site: Site) -> None:
    site.hold()
    tab.goto(site.url())
    tab.get_by_role("button", name="Ask and watch").click()
    expect(_rows(tab).filter(has_text="Query")).to_be_visible()
    tab.get_by_role("button", name="Stop run").click()
    site.release()
    expect(tab.locator(".ri-chip", has_text="Stopped").first).to_be_visible()
    expect(_rows(tab).filter(has_text="Query")).to_be_visible()


def test_a_moved_slider_shows_where_the_run_would_have_turned(tab: Page, site: Site) -> None:
    _open_run(tab, site, _seed(site))
    _choose(tab, "Settings")
    slider = tab.get_by_role("slider", name="Answer threshold")
    slider.focus()
    slider.press("End")
    expect(tab.get_by_text("Under the settings now (Answer threshold changed)")).to_be_visible()
    expect(tab.get_by_text("First divergence under the settings now")).to_be_attached()
    assert tab.locator(".st-key-ri_timeline .row.unknown").count() > 0
    expect(tab).to_have_url(re.compile("set=answer_threshold"))
    _choose(tab, "Gates")
    expect(tab.locator(".ri-ghost").first).to_be_visible()
    tab.get_by_role("button", name="As recorded").click()
    expect(tab.get_by_text("Under the settings now")).to_have_count(0)


def test_stepping_by_key_click_and_list(tab: Page, site: Site) -> None:
    _open_run(tab, site, _seed(site))
    here = tab.locator(".ri-step b")
    expect(here).to_have_text("Step 30")
    tab.locator("h1").click()
    tab.keyboard.press("ArrowLeft")
    expect(here).to_have_text("Step 29")
    expect(tab).to_have_url(re.compile("step=29"))
    _rows(tab).filter(has_text="Decided to verify").click()
    expect(here).to_have_text("Step 12")
    tab.keyboard.press("ArrowDown")
    expect(here).to_have_text("Step 13")
    tab.reload()
    expect(tab.locator(".ri-step b")).to_have_text("Step 13")


def test_the_slider_under_the_keyboard_moves_one_step_at_a_time(tab: Page, site: Site) -> None:
    _open_run(tab, site, _seed(site))
    here = tab.locator(".ri-step b")
    slider = tab.get_by_role("slider", name="Selected step")
    slider.focus()
    slider.press("ArrowLeft")
    expect(here).to_have_text("Step 29")
    slider.press("ArrowLeft")
    expect(here).to_have_text("Step 28")


def test_asking_by_keyboard(tab: Page, site: Site) -> None:
    tab.goto(site.url())
    box = tab.get_by_role("textbox", name="Question")
    box.fill("Where was Jennifer Connelly born?")
    box.press("Control+Enter")
    expect(tab).to_have_url(re.compile("run=[0-9a-f]{24}"))
    expect(tab.locator(".ri-question")).to_have_text("Where was Jennifer Connelly born?")
    expect(tab.get_by_role("button", name="Run again")).to_be_visible()


def test_a_citation_opens_the_source_with_the_place_marked(tab: Page, site: Site) -> None:
    _open_run(tab, site, _seed(site))
    _choose(tab, "Answer")
    tab.get_by_role("button", name="Open the source").click()
    drawer = tab.get_by_role("dialog")
    expect(drawer.locator("mark")).to_have_text(
        "He married Jennifer Connelly on New Year's Day 2003."
    )


def test_runs_export_delete_undo_import_and_label(tab: Page, site: Site, tmp_path: Path) -> None:
    _seed(site)
    tab.goto(site.url("Runs"))
    expect(tab.get_by_text(QUESTION)).to_be_visible()
    tab.get_by_role("button", name="Edit").click()
    _choose(tab, "right")
    expect(tab.locator(".ri-chip", has_text="marked right")).to_be_visible()
    with tab.expect_download() as exported:
        tab.get_by_role("button", name="Export", exact=True).click()
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

    other = Site(site.base, site.data)
    tab.goto(other.url("Runs"))
    expect(tab.get_by_text("No runs yet")).to_be_visible()
    tab.locator("input[type=file]").set_input_files(path)
    expect(tab.locator(".ri-notice", has_text=QUESTION)).to_be_visible()
    tab.locator("input[type=file]").set_input_files(
        {"name": "<b>bad</b>.jsonl", "mimeType": "text/plain", "buffer": b"{nonsense\n"}
    )
    refused = tab.locator(".ri-notice", has_text="Line 1 of the run is refused")
    expect(refused).to_contain_text("<b>bad</b>.jsonl")


def test_upload_with_nasty_names_gives_a_verdict_for_each_and_then_answers(
    tab: Page, site: Site
) -> None:
    tab.goto(site.url("Corpus"))
    _choose(tab, "Add files")
    name = tab.get_by_role("textbox", name="Into the corpus")
    name.fill("harbour")
    name.press("Enter")
    files = [
        {
            "name": "<img src=x onerror=alert(1)>.md",
            "mimeType": "text/plain",
            "buffer": b"# Tide\n\n" + NASTY.encode(),
        },
        {"name": "灯台 \u202etxt.md", "mimeType": "text/plain", "buffer": b"The lamp is green."},
        {"name": "empty.txt", "mimeType": "text/plain", "buffer": b""},
        {"name": "CON.zip", "mimeType": "application/zip", "buffer": b"PK\x03\x04"},
    ]
    tab.locator("input[type=file]").set_input_files(files)
    expect(tab.locator(".ri-chip", has_text="will be indexed")).to_have_count(2)
    expect(tab.locator(".ri-chip", has_text="will be skipped")).to_have_count(2)
    tab.get_by_role("button", name="Add and index 2 of 4 files").click()
    expect(tab.get_by_text("1 to 2 of 2 documents")).to_be_visible()
    _choose(tab, "Search")
    box = tab.get_by_role("textbox", name="Search this corpus")
    box.fill("ignore all rules")
    box.press("Enter")
    hit = tab.locator(".ri-hit .ri-passage").first
    expect(hit).to_contain_text("<script>alert(1)</script> ![pixel](http://evil.example/p.png)")
    expect(hit).to_contain_text("[U+202E]")
    assert tab.locator(".ri-hit img, .ri-hit script, .ri-hit a").count() == 0


def test_hostile_text_in_a_run_is_text_on_every_view(tab: Page, site: Site) -> None:
    _open_run(tab, site, _seed(site, question=NASTY))
    for view in ("Gates", "Evidence", "Answer", "Story", "Belief"):
        _choose(tab, view)
        assert tab.locator("[data-testid=stMain] img").count() == 0
        assert tab.locator(".katex").count() == 0
    expect(tab.locator(".ri-question")).to_contain_text("$x^2$ :red[no] abc[U+202E]dcba")


@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", "No runs yet"),
        ("Run", "No run on this page yet"),
        ("Runs", "No runs yet"),
        ("Corpus", "Index"),
    ],
)
def test_pages_with_nothing_in_them(tab: Page, site: Site, page: str, words: str) -> None:
    tab.goto(site.url(page))
    expect(tab.locator("h1")).to_be_visible()
    expect(tab.get_by_text(words).first).to_be_visible()


@pytest.mark.parametrize("width", [800, 1280, 1920])
def test_nothing_is_cut_off_at_any_width(tab: Page, site: Site, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    run_id = _seed(site)
    for page, params in (("", {}), ("Run", {"run": run_id}), ("Runs", {}), ("Corpus", {})):
        tab.goto(site.url(page, **params))
        expect(tab.locator("h1")).to_be_visible()
        if params:
            expect(_rows(tab).first).to_be_visible()
        over = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, f"{page or 'Home'} is {over} px too wide at {width}"


def test_two_workspaces_never_meet(tab: Page, site: Site) -> None:
    run_id = _seed(site)
    stranger = Site(site.base, site.data)
    tab.goto(stranger.url("Run", run=run_id))
    expect(tab.get_by_text("There is no run")).to_be_visible()
    tab.goto(f"{site.base}/Runs")
    expect(tab.get_by_text("No runs yet")).to_be_visible()
    expect(tab).to_have_url(re.compile("ws=[0-9a-f]{32}"))
    assert site.capability not in tab.url
