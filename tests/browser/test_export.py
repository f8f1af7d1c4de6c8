"""A run's page as whoever gets it by mail opens it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.narration import narrate
from core.trace import titles
from tests.app.recorded import NASTY, record
from tests.browser.conftest import Site
from tests.browser.steps import Page, expect, open_run

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_exported_page_opens_by_itself_and_asks_nothing_of_the_network(
    tab: Page, site: Site, tmp_path: Path, scheme: str
) -> None:
    steps = record(question=NASTY, answer_threshold=0.55)
    open_run(tab, site, site.keep(steps))
    tab.get_by_role("button", name="Export", exact=True).click()
    with tab.expect_download() as exported:
        tab.get_by_role("button", name="Export as page").click()
    path = tmp_path / "run.html"
    exported.value.save_as(path)

    alone = tab.context.browser.new_context(color_scheme=scheme)
    try:
        page = alone.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(path.as_uri())
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        rows = page.locator("#timeline tbody tr")
        expect(rows).to_have_count(len(steps))
        expect(rows.last).to_contain_text(narrate(steps[-1], titles(steps)))
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(int(n) for n in ground.strip("rgb()").split(",")[:3]) > 3 * 128
        assert light == (scheme == "light")
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert asked == [path.as_uri()]
        assert said == []
    finally:
        alone.close()
