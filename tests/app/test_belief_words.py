"""Measured and believed values are told apart, and the letters of a formula have a key."""

from __future__ import annotations

import re

import pytest

from components import belief_charts, belief_view, step_detail
from core.events import BeliefUpdated, DiagnosticsMeasured
from core.narration import narrate
from tests.app.recorded import record

STEPS = record(answer_threshold=0.55)
UPDATES = [s.event for s in STEPS if isinstance(s.event, BeliefUpdated)]


def test_what_is_measured_and_what_is_believed_never_share_a_name() -> None:
    """Conflict, uncertainty and gap are both: each number says which of the two it is."""
    shared = ("conflict", "uncertainty", "gap")
    measured = next(s for s in STEPS if isinstance(s.event, DiagnosticsMeasured))
    update = next(s for s in STEPS if isinstance(s.event, BeliefUpdated))
    assert narrate(measured).startswith("Measured relevance ")
    assert narrate(update).startswith("The believed ")
    lists = {
        "measured": step_detail._body(measured.event, {}),
        "believed": step_detail._body(update.event, {}),
    }
    dials = belief_charts.gauges(belief_view.readings(STEPS)[0], {}).layout.annotations
    for name in shared:
        assert f">measured {name} " in lists["measured"]
        assert f">Believed {name}<" in lists["believed"]
        (dial,) = [a for a in dials if a.text.endswith(f"Believed {name}")]
        assert "moves only part of the way" in dial.hovertext.replace("<br>", " ")
    for text in lists.values():
        assert "moves only part of the way" in text


@pytest.mark.parametrize("dimension", belief_view.update_dimensions(UPDATES[0]))
def test_every_letter_of_an_equation_has_a_key(dimension: str) -> None:
    equation = belief_view.equation(UPDATES[0], dimension)
    letters = set(re.findall(r"<sub>(\w)</sub>", equation))
    assert letters
    key = belief_view.letters(UPDATES[0], dimension)
    assert letters | {"b", "b̂", "λ"} == set(re.findall(r"<b>(.*?)</b>", key))
