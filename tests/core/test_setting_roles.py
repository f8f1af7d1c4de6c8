"""Every knob of every system keeps to the role that it declares.

Deciders get watched settings that note what is read. A decision knob must be read and must be able
to change an outcome; an action or index knob must not be read by any decider, or a replay would
call certain what it cannot know.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from core import registry
from core.decisions import Decision
from core.replay import Watched
from core.settings import Role, SystemSettings, extra, role_of
from core.systems.beliefrag.profiles import NEWEST, Answerability, RetrievalValue, profile
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.systems.staterag.decide import AbstainInputs, SelectInputs
from core.systems.staterag.settings import StateRAGSettings
from core.types import Frozen
from tests.core.drawn import drawn_decisions

RUNS, INPUTS, BASES = 60, 80, 6
KNOBS = [
    (name, knob)
    for name, system in registry.systems().items()
    for knob in system.settings.model_fields
]

PARTS = ("prior", "alpha", "lambda", "w")
SHOWN_ONLY = {
    ("beliefrag", knob)
    for knob in registry.system("beliefrag").settings.model_fields
    if knob.startswith(tuple(f"{part}_{d}" for part in PARTS for d in ("gap", "uncertainty")))
}
"""The belief in gap and in uncertainty is computed and shown, and enters no gate (specification,
"Decision"): these knobs re-decide what is shown, never an outcome."""

LEDGER_ONLY = {("static", "token_budget")}
"""Static RAG takes its decisions before anything was spent; the budget is the ledger's to keep."""

_MODELS = [(p.answerability, p.retrieval_value) for p in map(profile, ("paper", NEWEST))]
INERT = {("beliefrag", "profile")} if _MODELS[0] == _MODELS[1] else set()
"""As long as the bundled profiles hold the same numbers, it does not matter which is chosen."""

SPECIAL: dict[str, list[Any]] = {
    "answerability": [Answerability(intercept=-9.0), Answerability(intercept=9.0)],
    "retrieval_value": [RetrievalValue(intercept=-9.0), RetrievalValue(intercept=9.0)],
}
"""Values for the knobs that are no number and no choice."""


FITTED = RetrievalValue(intercept=-3.0, rounds=0.1, novelty=0.5, sufficiency=6.0)
LONG = {"answer_threshold": 0.99, "max_actions": 60}
TELLING: dict[type[SystemSettings], list[dict[str, Any]]] = {
    BeliefRAGSettings: [
        {},
        {"retrieval_value": FITTED, "answer_threshold": 0.99},
        LONG | {"flip_threshold": 0.0, "unhelpful_trigger": "off"},
        *(LONG | {"reliability_threshold": r} for r in (0.35, 0.4, 0.45, 0.5, 0.55)),
    ],
    StateRAGSettings: [{}, {"bypass_margin": -1.0}, {"bypass_margin": -1.0, "bypass_most": 5}],
}
"""Settings in which a knob decides that under the defaults is overruled by another."""


RARE: dict[str, list[Frozen]] = {
    "staterag.select": [
        SelectInputs(anchor="a", hits=(("b", 3.0), ("c", 2.0), ("a", 1.0)), earlier=("z",))
    ],
    "staterag.abstain": [AbstainInputs(uncertainties=(0.95, 0.9))],
}
"""Inputs that hardly come up by chance: a later cycle whose region holds better passages than the
path's own; a fallback in which the verifier saw no answer."""


@cache
def decisions_of(name: str) -> dict[str, list[Frozen]]:
    chance, found = random.Random(1), drawn_decisions(name, RUNS)
    return {
        d: [*RARE.get(d, ()), *chance.sample(all_, min(len(all_), INPUTS))]
        for d, all_ in found.items()
    }


def values_of(kind: type[SystemSettings], knob: str) -> list[Any]:
    """Values across the range of a knob, its default left out."""
    field = kind.model_fields[knob]
    if knob in SPECIAL:
        return SPECIAL[knob]
    if field.annotation is bool:
        return [not field.default]
    if choices := get_args(field.annotation):
        return [c for c in choices if c != field.default]
    low, high = _bounds(field.metadata)
    spread = [low, low + 0.02 * (high - low), (low + high) / 2, high - 0.02 * (high - low), high]
    if field.annotation is int:
        return sorted({int(v) for v in (*spread, low + 1, low + 2, field.default + 1)})
    return spread


def _bounds(metadata: list[Any]) -> tuple[float, float]:
    low = high = None
    for item in metadata:
        for attribute in ("ge", "gt"):
            low = getattr(item, attribute, low)
        for attribute in ("le", "lt"):
            high = getattr(item, attribute, high)
    assert low is not None, "a knob that is a number has a lower bound"
    assert high is not None, "a knob that is a number has an upper bound"
    return low, high


@cache
def bases(kind: type[SystemSettings]) -> list[SystemSettings]:
    """Settings under which knobs come to matter: the defaults, those named in ``TELLING``, and
    some drawn from all over the ranges of decision knobs."""
    chance, found = random.Random(7), [kind(**telling) for telling in TELLING.get(kind, [{}])]
    plain = [k for k in kind.model_fields if role_of(kind, k) is Role.DECISION]
    drawn_from = len(found)
    while len(found) < drawn_from + BASES:
        drawn = {k: chance.choice(values_of(kind, k)) for k in chance.sample(plain, 3)}
        if (made := changed(kind(), drawn)) is not None:
            found.append(made)
    return found


def changed(settings: SystemSettings, values: dict[str, Any]) -> SystemSettings | None:
    try:
        return type(settings).model_validate({**dict(settings), **values})
    except ValidationError:
        return None


@cache
def reads_of(name: str) -> frozenset[str]:
    """Every knob that some decider of a system reads, over all drawn decisions."""
    system, found = registry.system(name), set()
    deciders = {d.name: d for d in system.deciders}
    for settings in bases(system.settings):
        for decider, inputs in decisions_of(name).items():
            for one in inputs:
                watched = Watched(settings)
                deciders[decider].decide(one, watched)
                found |= watched.read_
    return frozenset(found)


def outcome(decider: Any, inputs: Frozen, settings: SystemSettings) -> str:
    decided = decider.decide(inputs, settings)
    return decided.outcome if isinstance(decided, Decision) else decided.missing


@cache
def outcomes_at(name: str, place: int) -> list[tuple[Any, Frozen, str]]:
    """Every drawn decision of a system, and what it comes to at one of the bases."""
    system = registry.system(name)
    settings = bases(system.settings)[place]
    return [
        (decider, x, outcome(decider, x, settings))
        for decider in system.deciders
        for x in decisions_of(name)[decider.name]
    ]


def changes_an_outcome(name: str, knob: str) -> bool:
    kind = registry.system(name).settings
    for (place, base), value in product(enumerate(bases(kind)), values_of(kind, knob)):
        other = changed(base, {knob: value})
        if other is not None and any(
            outcome(decider, x, other) != before for decider, x, before in outcomes_at(name, place)
        ):
            return True
    return False


@pytest.mark.parametrize("name", registry.systems())
def test_there_are_decisions_of_every_decider_to_look_at(name: str) -> None:
    for decider in registry.system(name).deciders:
        seen = {
            outcome(decider, x, registry.system(name).settings())
            for x in decisions_of(name)[decider.name]
        }
        assert len(seen) > 1, f"{decider.name} always decides {seen}"


@pytest.mark.parametrize(("name", "knob"), KNOBS)
def test_a_knob_keeps_to_its_role(name: str, knob: str) -> None:
    kind = registry.system(name).settings
    declared, read = role_of(kind, knob), knob in reads_of(name)
    if declared is not Role.DECISION:
        assert not read, f"{knob} is declared {declared} and a decider reads it"
        assert extra(kind, knob)["first_use"]
        return
    assert read, f"{knob} is declared a decision knob and no decider reads it"
    moves = changes_an_outcome(name, knob)
    assert moves == ((name, knob) not in SHOWN_ONLY | LEDGER_ONLY | INERT)


@pytest.mark.parametrize(("name", "knob"), KNOBS)
def test_a_knob_says_what_it_is(name: str, knob: str) -> None:
    kind = registry.system(name).settings
    field, declared = kind.model_fields[knob], extra(kind, knob)
    assert field.title
    assert field.description
    assert declared["group"]
    if not (get_args(field.annotation) or isinstance(field.default, (bool, str, BaseModel))):
        low, high = _bounds(field.metadata)
        assert low <= field.default <= high
