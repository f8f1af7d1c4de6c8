"""The views of ragX and StateRAG, and the abstraction memory, in a real browser.

Every test also holds that nothing leaves the machine and that no script of a document runs.
"""

from __future__ import annotations

import re

import pytest

from core.tasks import Plan
from tests.app.foraging import Agent, Flaky, foraged
from tests.app.navigating import ROOT, TYPES, Graph, Roles, navigated
from tests.app.recorded import BETTANY, JARVIS, NASTY, OTHER, passage
from tests.browser.conftest import Site
from tests.browser.pictures import DRAWN, large_drawing
from tests.browser.steps import Locator, Page, choose, expect, open_run

pytestmark = pytest.mark.browser
LABELS = {
    ROOT: NASTY,
    "topic:films": "映画 · 灯台 $x$",
    "topic:people": "أفلام · `code`",
    "relation:jarvis": "👩‍🚀 <img src=x onerror=alert(3)>",
    "relation:moon": "</script><script>alert(4)</script>",
    "relation:wedding": "![](http://evil.example/p.png)",
}


def _frame(tab: Page) -> Locator:
    return tab.frame_locator("iframe").locator("#mynetwork canvas")


def test_the_transcript_follows_the_cursor_and_a_turn_can_be_clicked(tab: Page, site: Site) -> None:
    open_run(tab, site, site.keep(foraged()))
    choose(tab, "Forage")
    expect(tab.locator(".ri-turn.ri-is-now summary")).to_contain_text("Turn 6")
    tab.get_by_role("button", name="Turn 2, read").click()
    expect(tab.locator(".ri-turn.ri-is-now summary")).to_contain_text("Turn 2")
    expect(tab.locator(".ri-lines li").first).to_contain_text("Iron Man is a film of 2008.")
    expect(tab.locator(".ri-step b")).to_have_text("Step 12")
    expect(tab.locator(".ri-turn")).to_have_count(2)


def test_slots_packing_and_the_marked_answer(tab: Page, site: Site) -> None:
    open_run(tab, site, site.keep(foraged()))
    choose(tab, "Slots")
    expect(tab.locator(".ri-put")).to_have_text("Paul Bettany")
    choose(tab, "Packing")
    expect(tab.locator(".ri-packing i")).to_have_count(4)
    assert tab.locator(".ri-packing").get_attribute("aria-label")
    choose(tab, "Answer")
    expect(tab.locator(".ri-passage mark")).to_have_text(
        "He married Jennifer Connelly on New Year's Day 2003."
    )
    tab.get_by_role("button", name="Open the source").click()
    expect(tab.get_by_role("dialog").locator("mark")).to_be_visible()


def test_the_path_is_drawn_with_a_name_and_says_the_same_in_a_table(tab: Page, site: Site) -> None:
    open_run(tab, site, site.keep(navigated()))
    choose(tab, "Path")
    expect(_frame(tab)).to_be_visible()
    assert "Path: ROOT" in str(tab.locator("iframe").get_attribute("title"))
    expect(tab.locator(".ri-table .ri-chip", has_text="on the path")).to_have_count(3)
    expect(tab.locator(".ri-table .ri-chip", has_text="refused by type")).to_have_count(1)
    tab.get_by_role("button", name="Enlarge").click()
    expect(tab.get_by_role("dialog").locator("iframe")).to_be_visible()


def test_cycles_are_chosen_and_stand_side_by_side(tab: Page, site: Site) -> None:
    open_run(tab, site, site.keep(navigated()))
    choose(tab, "State")
    expect(tab.locator(".ri-cycles th")).to_have_count(3)
    tab.get_by_role("button", name="Cycle 1").click()
    expect(tab.locator(".ri-cycles")).to_have_count(0)
    expect(tab.locator(".ri-role", has_text="Verifier")).to_contain_text("FAIL")
    choose(tab, "Memory")
    expect(tab.locator(".ri-table", has_text="its own store")).to_be_visible()


def test_hostile_text_runs_nowhere(tab: Page, site: Site) -> None:
    evil = passage("docs/<img src=x>.md", NASTY, f"{NASTY}\n{BETTANY.text}")
    agent = Agent(
        turns=(f"RANK: {NASTY}", f"READ: {evil.title}", NASTY), subs=(NASTY, "Who is #1?")
    )
    world = Flaky(results=((JARVIS, evil), (evil, OTHER), (evil,)))
    open_run(tab, site, site.keep(foraged(world=world, agent=agent, question=NASTY)))
    for view in ("Forage", "Slots", "Packing", "Answer", "Gates"):
        choose(tab, view)
        assert tab.locator("[data-testid=stMain] :is(img, script)").count() == 0
        assert tab.locator(".katex").count() == 0
    plan = Plan(objective=NASTY, required_facts=(NASTY,), entities=(NASTY,))
    steps = navigated(roles=Roles(plan=plan), question=NASTY, run_id="hostilerun")
    open_run(tab, site, site.keep(steps))
    for view in ("Path", "State", "Memory"):
        choose(tab, view)
        assert tab.locator("[data-testid=stMain] :is(img, script)").count() == 0


def test_labels_in_any_script_are_drawn_as_text(tab: Page, site: Site) -> None:
    from components import tam_graph, tam_layout

    nodes = tuple(
        tam_layout.Node(n, TYPES[n], LABELS.get(n, n), LABELS.get(n, n), 40.0 * i, 90.0 * (i % 3))
        for i, n in enumerate(TYPES)
    )
    page = tam_graph.page(tam_layout.Drawing(nodes, (), True), dark=False, height=400)
    tab.set_content(page)
    expect(tab.locator("#mynetwork canvas")).to_be_visible()
    labels = tab.evaluate("nodes.get().map((n) => n.label)")
    assert len(labels) == len(TYPES)
    assert any(label.startswith("■ 映画") for label in labels)
    box = tab.locator("#mynetwork canvas").bounding_box()
    place = tab.evaluate(f"network.canvasToDOM(network.getPosition({ROOT!r}))")
    tab.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    tip = tab.locator("div.vis-tooltip")
    expect(tip).to_contain_text("<script>alert(1)</script>")
    assert tip.locator("script, img, a").count() == 0


def test_three_thousand_nodes_are_drawn_as_they_were_laid_out(tab: Page) -> None:
    from components import tam_graph

    drawing = large_drawing()
    assert len(drawing.nodes) == 3_000
    tab.set_content(tam_graph.page(drawing, dark=True, height=500))
    tab.evaluate(DRAWN)
    assert tab.evaluate("network.physics.physicsEnabled") is False
    for node in drawing.nodes[::500]:
        place = tab.evaluate("(id) => network.getPosition(id)", node.id)
        assert (place["x"], place["y"]) == pytest.approx((node.x, node.y), abs=1)


@pytest.mark.parametrize("width", [800, 1280, 1920])
@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
def test_nothing_is_cut_off_at_any_width(tab: Page, site: Site, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    for steps, views in (
        (foraged(), ("Forage", "Slots", "Packing", "Answer")),
        (navigated(graph=Graph()), ("Path", "State", "Memory")),
    ):
        open_run(tab, site, site.keep(steps))
        for view in views:
            choose(tab, view)
            over = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert over <= 0, f"{view} is {over} px too wide at {width}"


def test_the_abstraction_memory_is_built_walked_and_opened(tab: Page, site: Site) -> None:
    tab.goto(site.url("Corpus"))
    choose(tab, "Add files")
    name = tab.get_by_role("textbox", name="Into the corpus")
    name.fill("harbour")
    name.press("Enter")
    texts = (
        ("tide.md", "# Tide\n\nAda Brook lit the lamp of the harbour."),
        ("lamp.md", f"# Lamp 灯台\n\nAda Brook kept the lamp. {NASTY}"),
        ("boat.md", "# Boat\n\nThe boat of Ada Brook lay in the harbour."),
    )
    tab.locator("input[type=file]").set_input_files(
        [{"name": n, "mimeType": "text/plain", "buffer": t.encode()} for n, t in texts]
    )
    tab.get_by_role("button", name=re.compile("Add and index")).click()
    expect(tab.get_by_text("1 to 3 of 3 documents")).to_be_visible()
    choose(tab, "Abstraction memory")
    expect(tab.get_by_text("Not built yet")).to_be_visible()
    tab.get_by_role("button", name="Build the abstraction memory").click()
    expect(_frame(tab)).to_be_visible()
    box = tab.get_by_role("textbox", name="Find a node")
    box.fill("kept the lamp")
    box.press("Enter")
    choose(tab, "Passages")
    expect(tab.locator(".ri-node").first).to_contain_text("灯台")
    tab.get_by_role("button", name="Show").first.click()
    expect(tab.locator(".st-key-ri_tam_node")).to_contain_text("灯台")
    tab.get_by_role("button", name="Open the passage").click()
    drawer = tab.get_by_role("dialog")
    expect(drawer).to_contain_text("<script>alert(1)</script>")
    assert drawer.locator("script, img").count() == 0
