"""The gate ledger and the detail of a decision: what is compared, and that it explains itself."""

from __future__ import annotations

import re

import pytest

from components import gates, safe, step_detail
from core import wording
from core.events import Decided
from core.measures import INPUTS, measure
from core.replay import ParsedRun
from core.settings import override
from tests.app.foraging import foraged
from tests.app.navigating import navigated
from tests.app.recorded import record

STEPS = record(answer_threshold=0.55)


def _decided(seq: int):  # type: ignore[no-untyped-def]
    step = next(s for s in STEPS if s.seq == seq)
    assert isinstance(step.event, Decided)
    return step


def test_the_ledger_lists_every_gate_in_evaluation_order() -> None:
    step = _decided(12)
    table = gates.ledger(step)
    titles = [measure(step.event.decider, g.name).title for g in step.event.gates]
    places = [table.index(f">{title}<") for title in titles]
    assert places == sorted(places)
    assert table.count("not fired") == sum(not g.fired for g in step.event.gates)
    answer = next(g for g in step.event.gates if g.name == "answer")
    assert f">{answer.value:.4f}<" in table
    assert ">≥ 0.5500<" in table
    assert f"{answer.margin:.4f}".replace("-", "−") in table


def test_the_ghost_stands_beside_the_recorded_gate() -> None:
    settings = override(ParsedRun(STEPS).settings, {"answer_threshold": 0.4})
    report = ParsedRun(STEPS).replay(settings)
    first = report.decisions[0]
    assert first.certainty == "diverged"
    table = gates.ledger(_decided(3), first)
    assert ">≥ 0.5500<" in table
    assert "now 0.4242; fires at ≥ 0.4000: fires" in table
    assert "not reached now" in table, "gates that would not be evaluated are said"
    assert "now: answer" in gates.outcome(_decided(3), first)
    ended = report.decisions[1]
    assert ended.certainty == "ended"
    assert "not reached now" in gates.outcome(_decided(12), ended)


def test_a_margin_of_nothing_has_no_sign() -> None:
    shown = "".join(gates.ledger(s) for s in STEPS if isinstance(s.event, Decided))
    assert "−0<" not in shown
    assert ">0<" in shown


def test_no_gate_can_be_read_as_a_claim_that_is_false() -> None:
    """A value beside a sign and a threshold reads as a claim, true or not."""
    every = [s for s in STEPS if isinstance(s.event, Decided)]
    shown = "".join(gates.ledger(s) + step_detail._body(s.event, {}) for s in every)
    assert re.findall(r"[\d.]+ [≥≤<>=] [\d.]+", re.sub(r"<[^>]*>", " ", shown)) == []
    assert "fires at ≥ 0.5500" in shown


def test_a_flag_reads_yes_or_no() -> None:
    under_way = next(
        g for s in STEPS if isinstance(s.event, Decided) for g in s.event.gates if g.fired
    )
    flag = under_way.model_copy(
        update={"name": "correction_under_way", "op": "==", "value": 0.0, "threshold": 1.0}
    )
    what = measure("beliefrag.act", flag.name)
    assert wording.compared(flag, what) == "no; fires at yes"
    assert wording.margin(flag, what) == ""


RUNS = {
    "beliefrag": lambda: STEPS,
    "staterag": navigated,
    "ragx": foraged,
    "iterative": lambda: record("iterative"),
}


@pytest.mark.parametrize("name", list(RUNS))
def test_every_number_of_a_decision_explains_itself(name: str) -> None:
    """Title, meaning, range and, where there is one, the setting of the threshold."""
    for step in RUNS[name]():
        event = step.event
        if not isinstance(event, Decided):
            continue
        shown = gates.ledger(step)
        for g in event.gates:
            what = measure(event.decider, g.name)
            told = gates.told(event.decider, what)
            assert what.meaning
            assert "Range: " in told
            assert ("Threshold: the setting" in told) is bool(what.setting)
            assert safe.esc(told) in shown
        detail = step_detail._body(event, {})
        for key, value in event.inputs.items():
            if value is not None and not isinstance(value, (list, dict)):
                assert safe.esc(INPUTS[key][1]) in detail
