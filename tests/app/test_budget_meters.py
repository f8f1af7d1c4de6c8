"""The meters of a run: amounts and limits, and in colour only the budgets that refused a step."""

from __future__ import annotations

import pytest

from components.budget_meters import meters, refused
from components.palette import ORANGE, VERMILLION
from core import registry, trace
from core.errors import BadInput
from core.events import RunFinished, Step
from core.settings import override
from core.types import Budgets, Usage
from tests.core.drawn import drawn_world, wide
from tests.core.world import deps, run

SYSTEMS = registry.systems()


def _refused(name: str, steps: list[Step]) -> frozenset[str]:
    return refused(steps, SYSTEMS[name], trace.start(steps).budgets)


@pytest.mark.parametrize("tokens", [10, 90, 100])
def test_a_meter_says_amount_and_limit_and_no_alarm_where_nothing_was_refused(tokens: int) -> None:
    shown = meters(Usage(tokens=tokens), Budgets(tokens=100))
    assert f"{tokens} <" in shown
    assert "no limit" in shown
    assert "refused" not in shown
    assert ORANGE not in shown
    assert VERMILLION not in shown


def test_a_budget_that_refused_a_step_is_told_in_colour_and_in_words() -> None:
    shown = meters(Usage(tokens=90), Budgets(tokens=100), {"tokens"})
    assert shown.count("· refused") == shown.count(VERMILLION) == 1


def test_the_one_planned_search_of_the_static_baseline_is_no_refusal() -> None:
    steps = run("static", deps())
    assert steps[-1].usage.rounds == trace.start(steps).budgets.rounds == 1
    assert not _refused("static", steps)


@pytest.mark.parametrize("name", list(SYSTEMS))
@pytest.mark.parametrize(
    "budget", [{"max_calls": 1}, {"max_seconds": 0.004}, {"token_budget": 200}]
)
def test_a_run_that_a_budget_ended_tells_which_and_not_before_it_did(
    name: str, budget: dict[str, float]
) -> None:
    steps = run(name, deps(), **budget)
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    if end.terminal == "budget_exhausted" and end.branch.startswith("budget_"):
        assert end.branch.removeprefix("budget_") in _refused(name, steps)
    assert not _refused(name, steps[:1])


@pytest.mark.parametrize("name", [n for n, s in SYSTEMS.items() if not s.planned])
@pytest.mark.parametrize("resource", ["rounds", "actions"])
def test_more_of_a_budget_changes_a_run_only_where_the_budget_had_refused_a_step(
    name: str, resource: str
) -> None:
    seen = set()
    for seed in range(12):
        narrow = wide(name, seed) | {f"max_{resource}": 3}
        try:
            override(SYSTEMS[name].settings(), narrow)
        except BadInput:
            continue
        steps = run(name, drawn_world(seed), **narrow)
        more = run(name, drawn_world(seed), **(narrow | {f"max_{resource}": 9}))
        short = resource in _refused(name, steps)
        seen.add(short)
        same = [(s.stage, s.event.kind) for s in steps] == [(s.stage, s.event.kind) for s in more]
        assert same or short, seed
    assert seen == {True, False}, "both were met"
