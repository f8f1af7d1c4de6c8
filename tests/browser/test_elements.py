"""The scripts of our own elements, each by itself in a real browser: a page's host may carry out
two draws in the other order, and may draw what is shown already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components import player, session, stages, story, strip, timeline
from components.element import Element, script
from core import registry, trace
from tests.app.recorded import record
from tests.browser.steps import Page

pytestmark = pytest.mark.browser

_MOUNT = """async ({ script, html }) => {
  document.body.innerHTML = `<div id="root"><div><div>${html}</div></div></div>`;
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const draw = (await import(url)).default, parentElement = document.getElementById("root");
  window.picked = [];
  window.drawn = (order, content) => {
    draw({ data: { order, content }, parentElement, setTriggerValue: (_, seq) =>
      window.picked.push([order[1], seq]) });
    return parentElement.innerHTML;
  };
}"""
_DRAW = "([order, content]) => window.drawn(order, content)"


def _contents() -> Iterator[tuple[Element, list[dict[str, Any]]]]:
    """Every element with what it is told at an early, a middle and the last step of a run."""
    steps = record(answer_threshold=0.55)
    system, titles = registry.system("beliefrag"), trace.titles(steps)
    names = {s.name: s.title for s in system.stages}
    told: dict[Element, list[dict[str, Any]]] = {}

    def show(element: Element, content: dict[str, Any], **_: object) -> None:
        told.setdefault(element, []).append(content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Element, "show", show)
        patch.setattr(session, "take", lambda key: None)
        for at in (3, 9, len(steps) - 1):
            upto = steps[: at + 1]
            lines = story.lines(story.stops(upto, True), None, titles, names, None, {})
            timeline.draw(lines, at, count=f"{at}", key="t", on_pick=list)
            stops = [strip.Stop(s.seq, "search", "#000", str(s.seq), "tip", "done") for s in upto]
            strip.draw(stops, label="Turns", key="s", on_pick=list)
            stages.draw(system, upto, key="d", on_pick=list)
            player.draw([s.seq for s in steps], at, on_pick=list)
    yield from told.items()


@pytest.fixture(params=list(_contents()), ids=lambda case: case[0].name)
def element(request, visitors) -> tuple[Page, list[dict[str, Any]]]:  # type: ignore[no-untyped-def]
    made, contents = request.param
    tab = visitors().new_page()
    tab.evaluate(_MOUNT, {"script": script(made.name), "html": made.html})
    return tab, contents


def test_the_newer_draw_stands_whatever_comes_late(element) -> None:  # type: ignore[no-untyped-def]
    tab, (first, middle, last) = element
    alone = tab.evaluate(_DRAW, [["a", 3], last])
    for turn, late in ((1, first), (2, middle)):
        assert tab.evaluate(_DRAW, [["a", turn], late]) == alone
    newer = tab.evaluate(_DRAW, [["a", 4], middle])
    assert newer != alone, "a newer draw is carried out"
    assert tab.evaluate(_DRAW, [["b", 0], first]) not in (alone, newer), "a new session begins anew"


def test_a_draw_that_says_the_same_keeps_focus_and_the_newest_ear(element) -> None:  # type: ignore[no-untyped-def]
    tab, (_, _, last) = element
    tab.evaluate(_DRAW, [["a", 1], last])
    tab.evaluate("() => { window.before = document.querySelector('#root *:last-child') }")
    tab.evaluate(_DRAW, [["a", 2], last])
    assert tab.evaluate("() => window.before.isConnected")
    tab.evaluate(
        """() => document.querySelector("#root [data-seq], #root button")
             .dispatchEvent(new MouseEvent("click", { bubbles: true }))"""
    )
    [[turn, seq]] = tab.evaluate("window.picked")
    assert turn == 2, "what is picked goes to the newest draw"
    assert isinstance(seq, int)
