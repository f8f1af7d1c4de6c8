"""Answers that their gates let out, and answers that are the best guess, of every system."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from core import endings, registry
from core.events import RunFinished, Step
from tests.core.drawn import drawn_world, wide
from tests.core.world import deps, run

SYSTEMS = list(registry.systems())


@cache
def _answered(name: str) -> list[list[Step]]:
    """Runs of many worlds that ended with an answer, under wide, narrow and default settings."""
    found = []
    for seed in range(16):
        for settings in (wide(name, seed), {}, {"max_calls": 1 + seed % 5}):
            steps = run(name, drawn_world(seed), **settings)
            if _end(steps).terminal == "answered":
                found.append(steps)
    found.append(run(name, deps()))
    return found


def _end(steps: list[Step]) -> RunFinished:
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    return end


def _forced() -> Iterator[list[Step]]:
    for name in SYSTEMS:
        for steps in _answered(name):
            branch = endings.branch_of(name, _end(steps).branch)
            if branch is not None and branch.forced:
                yield steps


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_answer_comes_by_a_declared_branch_that_is_forced_where_its_gates_did_not_fire(
    name: str,
) -> None:
    for steps in _answered(name):
        branch = endings.branch_of(name, _end(steps).branch)
        assert branch is not None, _end(steps).branch
        fired = {g.name for g in endings.weighed(steps, branch) if g.fired}
        assert bool(branch.forced) == (not fired.issuperset(branch.gates)), branch.name


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_declared_branch_is_one_that_runs_end_by(name: str) -> None:
    seen = {_end(steps).branch for steps in _answered(name)}
    assert seen == {b.name for b in registry.system(name).branches}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_list_of_runs_and_the_run_itself_agree_on_what_is_a_guess(name: str) -> None:
    for steps in _answered(name):
        end = _end(steps)
        listed = endings.guess(name, end.terminal, end.branch, grounded=end.grounded)
        assert bool(listed) == bool(endings.guess_of(steps))
        if not end.grounded:
            assert endings.UNGROUNDED in endings.guess_of(steps)


def test_the_numbers_of_a_guess_are_those_that_were_compared_and_lie_on_the_side_that_is_told() -> (
    None
):
    told = 0
    for steps in _forced():
        why = endings.guess_of(steps)
        for value, side, threshold in re.findall(
            r"(\d+\.\d+), (below|above) the threshold (\d+\.\d+)", why
        ):
            told += 1
            assert (float(value) < float(threshold)) == (side == "below"), why
    assert told


def test_an_end_without_an_answer_is_no_guess() -> None:
    steps = run("static", deps())
    for terminal in ("abstained", "failed", "budget_exhausted"):
        change = {"terminal": terminal, "answer": None, "grounded": False, "citations": ()}
        end = _end(steps).model_copy(update=change)
        assert not endings.guess_of([*steps[:-1], steps[-1].model_copy(update={"event": end})])
    assert not endings.guess_of(steps[:-1]), "a run that is not over"


def test_a_run_of_a_system_that_is_not_known_here_is_no_guess_where_it_is_grounded() -> None:
    assert not endings.guess("elsewhere", "answered", "any", grounded=True)
    assert endings.guess("elsewhere", "answered", "any", grounded=False) == endings.UNGROUNDED
