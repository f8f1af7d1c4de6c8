"""A setting that acts is first used where it says: what a replay calls certain before that comes
out so in a run that is really made under the other value."""

from __future__ import annotations

import random
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest

from core import registry, trace
from core.events import RunFinished, Step
from core.replay import replay
from core.settings import Role, role_of
from tests.core.drawn import drawn_world, wide
from tests.core.test_setting_roles import KNOBS, changed, values_of
from tests.core.world import run

SEEDS = 4
ACTING = [
    (name, knob)
    for name, knob in KNOBS
    if role_of(registry.system(name).settings, knob) is not Role.DECISION
]
INERT_HERE = {"max_cost", "max_calls", "max_seconds", "memory", "thinking", "reranker", "channel"}
"""Limits that no run of this world comes near, and choices that its ports answer alike."""


def made(name: str, seed: int, **changes: Any) -> list[Step]:
    return run(name, drawn_world(seed), **(wide(name, seed) | changes))


@cache
def recorded(name: str, seed: int) -> list[Step]:
    return made(name, seed)


def tried(name: str, knob: str, seed: int) -> list[Any]:
    """Two values of a knob, others for another seed."""
    kind = registry.system(name).settings
    if kind.model_fields[knob].annotation is str:
        return []
    settings = kind(**wide(name, seed))
    given = [v for v in values_of(kind, knob) if v != getattr(settings, knob)]
    values = [v for v in given if changed(settings, {knob: v}) is not None]
    return random.Random(f"{name} {knob} {seed}").sample(values, min(2, len(values)))


@pytest.mark.parametrize(("name", "knob"), ACTING)
def test_nothing_differs_before_the_first_use_that_a_setting_declares(name: str, knob: str) -> None:
    moved = False
    for seed in range(SEEDS):
        before = recorded(name, seed)
        for value in tried(name, knob, seed):
            unknown_from = replay(before, {knob: value}).unknown_from
            first = trace.diff(before, made(name, seed, **{knob: value}), first=1)
            if first is None:
                continue
            moved = True
            assert unknown_from is not None, f"{knob}={value!r} changes step {first.seq}"
            assert unknown_from <= first.seq, f"{knob}={value!r}: {first.fields}"
    assert moved or knob in INERT_HERE


def done(step: Step | None) -> Any:
    """What a step did: which kind, where, and what was asked or decided."""
    if step is None:
        return None
    asked = getattr(step.event, "request_digest", getattr(step.event, "outcome", ""))
    return step.stage, step.event.kind, asked


@pytest.mark.parametrize("name", list(registry.systems()))
def test_the_readers_window_changes_nothing_before_the_replay_says_so(name: str) -> None:
    """Not even where tokens are short, and what answering will take is set aside."""
    for seed in range(6):
        end = recorded(name, seed)[-1].event
        assert isinstance(end, RunFinished)
        for share in (0.3, 0.7, 1.0):
            short = {"token_budget": max(100, int(share * end.usage.tokens))}
            before = made(name, seed, **short)
            for window in (1, 3, 20):
                report = replay(before, {"evidence_window": window})
                turns = [d.seq for d in report.decisions if d.certainty != "same"]
                turns += [len(before) if report.unknown_from is None else report.unknown_from]
                now = made(name, seed, evidence_window=window, **short)
                for a, b in zip_longest(before[1 : min(turns)], now[1 : min(turns)]):
                    assert done(a) == done(b), f"{window} passages, {short}, step {(a or b).seq}"
