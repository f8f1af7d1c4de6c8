"""Screenshots of every page in both themes, to be looked at by whoever changed one:
``python -m tests.browser.shots FOLDER [PART OF A NAME ...]``."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.serving import FLAGS, chromium, served
from core import registry
from tests.app.foraging import foraged
from tests.app.navigating import navigated
from tests.app.recorded import NASTY, World, record
from tests.browser.conftest import PATIENCE, SERVE, Site

SIZES = ((1280, 800), (800, 900))
FILES = (
    ("tide.md", b"# Tide\n\nThe tide turns at noon. The keeper lights the lamp at four."),
    ("<b>bold</b>.md", b"# Bold\n\n" + NASTY.encode()),
    ("empty.txt", b""),
    ("bundle.zip", b"PK\x03\x04"),
)
Act = Callable[[Any], None]


def seed(site: Site) -> str:
    """Forty runs of many kinds; the id of a finished BeliefRAG run among them."""
    systems = [s.name for s in registry.systems().values() if s.preflight is None]
    for n in range(39):
        name = systems[n % len(systems)]
        question = NASTY if n == 20 else f"Question {n}: who lit the lamp on night {n}?"
        site.keep(
            record(
                name,
                run_id=f"seeded{n}",
                question=question,
                world=World(down_after=1) if n % 7 == 3 else None,
            )
        )
    found = site.keep(record(answer_threshold=0.55))
    with site.journal() as journal:
        journal.label("seeded3", "wrong", "Ada Brook")
        journal.label(found, "right")
        journal.rename("seeded5", "The night of the storm")
        journal.note("seeded5", "Looked at twice; the second search is the one that counts.")
    return found


def views(site: Site, run_id: str) -> Iterator[tuple[str, str, Act | None]]:
    """Name, address and what is done before the picture is taken."""
    fresh = site.other()

    def choose(name: str) -> Act:
        return lambda tab: tab.get_by_role("radio", name=name, exact=True).click()

    def ask(tab: Any) -> None:
        tab.get_by_role("button", name="Ask and watch").click()
        tab.locator(".st-key-ri_timeline .row").filter(has_text="Query").first.wait_for()

    def search(tab: Any) -> None:
        choose("Search")(tab)
        box = tab.get_by_role("textbox", name="Search this corpus")
        box.fill("Who is the spouse of the actor who plays Jarvis?")
        box.press("Enter")
        tab.locator(".ri-hit").first.wait_for()

    def graph(tab: Any) -> None:
        choose("Abstraction memory")(tab)
        build = tab.get_by_role("button", name="Build the abstraction memory")
        build.or_(tab.locator("iframe")).first.wait_for()
        if build.count():
            build.click()
        tab.locator("iframe").wait_for()
        tab.get_by_role("button", name="Show").nth(1).click()
        tab.locator(".st-key-ri_tam_node").wait_for()

    def upload(tab: Any) -> None:
        choose("Add files")(tab)
        files = [{"name": n, "mimeType": "text/plain", "buffer": b} for n, b in FILES]
        tab.locator("input[type=file]").set_input_files(files)
        tab.locator(".ri-chip").filter(has_text="will be indexed").first.wait_for()

    def settings(tab: Any) -> None:
        choose("Settings")(tab)
        slider = tab.get_by_role("slider", name="Answer threshold")
        slider.focus()
        slider.press("End")
        tab.get_by_text("Under the settings now (").wait_for()

    def source(tab: Any) -> None:
        choose("Answer")(tab)
        tab.get_by_role("button", name="Open the source").click()
        tab.get_by_role("dialog").wait_for()

    def edit(tab: Any) -> None:
        tab.get_by_role("button", name="Edit").first.click()
        tab.get_by_role("textbox", name="Right answer").wait_for()

    for page in ("", "Run", "Runs", "Corpus"):
        yield f"empty-{page or 'Home'}", fresh.url(page), None
    yield "Home", site.url(), None
    yield "Runs", site.url("Runs"), None
    yield "Runs-edit", site.url("Runs"), edit
    for view in ("Belief", "Gates", "Evidence", "Answer", "Story"):
        yield f"Run-{view}", site.url("Run", run=run_id), choose(view)
    yield "Run-settings", site.url("Run", run=run_id), settings
    yield "Run-source", site.url("Run", run=run_id), source
    for run, names in (
        (foraged(run_id="foragedrun"), ("Forage", "Slots", "Packing")),
        (navigated(), ("Path", "State", "Memory")),
    ):
        own = site.other()
        shown, middle = own.keep(run), len(run) // 2
        for view in names:
            yield f"Run-{view}", own.url("Run", run=shown), choose(view)
            yield f"Run-{view}-mid", own.url("Run", run=shown, step=middle), choose(view)
    yield "Run-failed", site.url("Run", run="seeded3"), None
    yield "Run-nasty", site.url("Run", run="seeded20"), choose("Evidence")
    yield "Run-unknown", site.url("Run", run="nowhere"), None
    live = site.other()
    live.hold()
    yield "Run-live", live.url(), ask
    live.release()
    yield "Corpus-documents", site.url("Corpus", corpus="film_night"), None
    yield "Corpus-search", site.url("Corpus", corpus="film_night"), search
    yield "Corpus-graph", site.url("Corpus", corpus="film_night"), graph
    yield "Corpus-health", site.url("Corpus", corpus="film_night"), choose("Index health")
    yield "Corpus-upload", site.url("Corpus"), upload


def take(folder: Path, parts: list[str]) -> None:
    """Serve, seed, and take the pictures whose names hold one of ``parts`` (all if none)."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as place,
        served(Path(place), SERVE, {"RAG_INSPECTOR_SERVED": "1"}) as running,
        sync_playwright() as playwright,
    ):
        site = Site(running.base, Path(place))
        run_id = seed(site)
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        first = browser.new_page()
        first.goto(site.url("Corpus", corpus="film_night"))
        first.get_by_role("button", name="Index", exact=True).click()
        first.get_by_text("of 46 documents").first.wait_for(timeout=120_000)
        for theme in ("light", "dark"):
            for width, height in SIZES:
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=theme,  # type: ignore[arg-type]
                    reduced_motion="reduce",
                )
                context.set_default_timeout(PATIENCE)
                for name, url, act in views(site, run_id):
                    full = f"{name}-{theme}-{width}"
                    if parts and not any(part in full for part in parts):
                        continue
                    tab = context.new_page()
                    tab.goto(url)
                    tab.locator("h1").wait_for()
                    tab.wait_for_timeout(2_500)
                    if act:
                        act(tab)
                        tab.wait_for_timeout(1_500)
                    tab.screenshot(path=folder / f"{full}.png", full_page=width < 1000)
                    tab.close()
                context.close()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    take(target, sys.argv[2:])
