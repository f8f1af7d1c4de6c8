"""The gate that a decision is said to turn on is the one it turns on."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from components import gates, step_detail
from core import contracts, deciding, decisions, wording
from core.decisions import Undetermined, gate
from core.events import Decided, Step
from core.measures import measure
from core.trace import start
from core.types import Gate
from tests.app.foraging import foraged
from tests.app.navigating import navigated
from tests.app.recorded import World, record

MODULES = (
    "beliefrag.decide",
    "staterag.decide",
    "staterag.bypass",
    "staterag.navigator",
    "ragx.decide",
    "baselines.schedule",
)

RANKING = {"ragx.pack", "staterag.navigate", "staterag.select", "staterag.admit"}
"""Deciders that choose by rank: their gates record what held, and nothing turns on one of them."""


def _runs() -> Iterator[list[Step]]:
    yield record()
    for change in (
        {"answer_threshold": 0.55},
        {"answer_threshold": 0.99},
        {"answer_threshold": 0.99, "max_rounds": 1},
        {"answer_threshold": 0.99, "max_actions": 3},
        {"answer_threshold": 0.99, "abstain_threshold": 0.95},
        {"answer_threshold": 0.99, "flip_threshold": 0.9},
        {"answer_threshold": 0.99, "novelty_threshold": 0.99},
        {"conflict_threshold": 0.01},
        {"conflict_threshold": 0.01, "reliability_threshold": 0.99},
        {"conflict_threshold": 0.01, "max_rounds": 1},
        {"reliability_threshold": 0.99},
        {"token_budget": 200},
    ):
        yield record(**change)
    yield record(world=World(down_after=1), answer_threshold=0.99)
    for name in ("static", "iterative"):
        yield record(name)
    yield navigated()
    for changed in ({"max_cycles": 1}, {"pass_support": 0.05, "pass_gap": 1.0}):
        yield navigated(**changed)
    yield foraged()
    yield foraged(slot_chain=False)
    yield foraged(steps=1)


EVERY = [
    (step.event, contracts.run_settings(start(run)))
    for run in _runs()
    for step in run
    if isinstance(step.event, Decided)
]


def _turns(monkeypatch: pytest.MonkeyPatch, name: str, event: Decided, settings: Any) -> bool:
    """Whether the decision from the same inputs is another, had this one gate come out otherwise:
    it has another outcome or reason, or would need to know more."""

    def turned(*given: Any) -> Gate:
        made = gate(*given)
        return made.model_copy(update={"fired": not made.fired}) if made.name == name else made

    with monkeypatch.context() as patch:
        for module in MODULES:
            patch.setattr(importlib.import_module(f"core.systems.{module}"), "gate", turned)
        found = decisions.get(event.decider).decide(contracts.decision_inputs(event), settings)
    return isinstance(found, Undetermined) or (
        (found.outcome, found.reason) != (event.outcome, event.reason)
    )


def test_a_decision_turns_on_the_gate_that_is_said_to_have_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = set()
    for event, settings in EVERY:
        if event.decider in RANKING:
            continue
        for name in deciding.deciding(event):
            where = f"{event.decider} {event.outcome}: {name}"
            assert _turns(monkeypatch, name, event, settings), where
            seen.add((event.decider, event.outcome.partition(" ")[0]))
    belief = {outcome for decider, outcome in seen if decider == "beliefrag.act"}
    assert belief >= {"verify", "answer", "retrieve", "rewrite", "stop", "abstain", "conflict"}
    assert {"staterag.action", "staterag.verdict", "ragx.forage", "ragx.hop", "iterative.next"} <= {
        decider for decider, _ in seen
    }


def test_where_all_held_each_of_them_had_to(monkeypatch: pytest.MonkeyPatch) -> None:
    found = 0
    for event, settings in EVERY:
        if event.decider in RANKING or deciding.deciding(event):
            continue
        if all(g.fired for g in event.gates):
            assert deciding.told(event) == "All of these held."
            for one in event.gates:
                assert _turns(monkeypatch, one.name, event, settings)
                found += 1
    assert found > 3


def test_the_ledger_and_the_detail_mark_what_decided_and_say_so() -> None:
    for event, _ in EVERY:
        chose = deciding.deciding(event)
        said = deciding.told(event)
        for name in chose:
            assert f"“{measure(event.decider, name).title}”" in said
        step = _step(event)
        for shown in (gates.ledger(step), step_detail._body(event, {})):
            assert shown.count(">decided</span>") == len(chose)
            assert said in shown


def _step(event: Decided) -> Step:
    return record()[1].model_copy(update={"event": event})


@pytest.mark.parametrize("gate_", ["stopped", "cycles left", "rounds left", "actions left"])
def test_why_no_cycle_is_left_is_said_in_words(gate_: str) -> None:
    recorded = f"The verdict is FAIL and no cycle is left ({gate_})."
    said = wording.reason("staterag.action", recorded)
    assert "(" not in said
    assert gate_ not in said
    assert said.startswith("The verdict is FAIL, and there is no other cycle: ")
