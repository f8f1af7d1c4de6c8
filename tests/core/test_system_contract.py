"""What every registered system must keep to, whatever its reasoner and retriever do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from core import contracts, decisions, jsonl, registry, trace
from core.errors import BadInput
from core.events import Called, Decided, EvidenceChanged, RunFinished, RunStarted, Step
from core.replay import replay
from core.runs import RunSpec, execute
from core.settings import override
from core.tasks import Decomposition
from core.types import Budgets
from tests.core.drawn import drawn_world, wide
from tests.core.world import Kept, deps, run

SYSTEMS = list(registry.systems())
SEEDS = range(12)
RESOURCES = ("calls", "tokens", "rounds", "actions")


def whole(steps: list[Step], budgets: Budgets) -> RunFinished:
    """Checks what holds for every run, and returns its end."""
    assert isinstance(steps[0].event, RunStarted)
    assert [s.seq for s in steps] == list(range(len(steps)))
    assert [n for n, s in enumerate(steps) if isinstance(s.event, RunFinished)] == [len(steps) - 1]
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert end.branch
    assert end.reason
    assert (end.answer is not None) == (end.terminal == "answered")
    assert end.grounded == bool(end.citations)
    before = None
    for step in steps:
        contracts.check(step)
        for resource in RESOURCES:
            spent, limit = getattr(step.usage, resource), getattr(budgets, resource)
            assert limit is None or spent <= limit, f"{resource} at step {step.seq}"
            assert before is None or spent >= getattr(before, resource)
        before = step.usage
    assert end.usage == steps[-1].usage.model_copy(update={"seconds": end.usage.seconds})
    _evidence_holds_together(steps, end)
    return end


def _evidence_holds_together(steps: list[Step], end: RunFinished) -> None:
    known, banned = trace.passages(steps), set()
    for step in steps:
        if isinstance(step.event, EvidenceChanged):
            assert not banned & set(step.event.added)
            assert set(step.event.added) <= set(known)
            banned |= set(step.event.banned)
    assert end.evidence == trace.state_at(steps[:-1], len(steps)).evidence
    for citation in end.citations:
        assert citation.passage_id in end.evidence
        assert known[citation.passage_id].text[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_runs_hold_together_and_replay_without_divergence(name: str, seed: int) -> None:
    steps = run(name, drawn_world(seed), **wide(name, seed))
    whole(steps, trace.start(steps).budgets)
    assert jsonl.load(jsonl.dump(steps)) == steps
    report = replay(steps, {})
    assert not report.diverged
    assert report.unknown_from is None
    assert {d.certainty for d in report.decisions} <= {"same"}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_world_gives_the_same_run(name: str, seed: int) -> None:
    one, two = (run(name, drawn_world(seed), **wide(name, seed)) for _ in range(2))
    assert trace.identical(one, two)


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10_000),
    budgets=st.fixed_dictionaries(
        {},
        optional={
            "max_rounds": st.integers(0, 4),
            "max_actions": st.integers(1, 8),
            "token_budget": st.integers(100, 1_500),
            "max_calls": st.integers(1, 8),
            "evidence_window": st.integers(1, 4),
            "top_k": st.integers(1, 6),
        },
    ),
)
def test_no_budget_is_ever_passed(name: str, seed: int, budgets: dict[str, Any]) -> None:
    try:
        chosen = override(registry.system(name).settings(), {**wide(name, seed), **budgets})
    except BadInput:
        assume(False)
        raise
    steps = run(name, drawn_world(seed), **chosen.model_dump())
    whole(steps, chosen.budgets())
    rounds = [
        s
        for s in steps
        if isinstance(s.event, Called)
        and (s.event.task == "search" or (s.stage, s.event.task) == ("retriever", "region"))
    ]
    assert len(rounds) == steps[-1].usage.rounds


ODD_QUESTIONS = (
    "Who wrote the #1 hit of 1984?",
    "#1 #2 #0 of #3's #12",
    "?!... {0} {{x}} %s $x$ \\1 \\g<0>",
    "the of and to what who is",
    "\u200b\u2060",
    "Who\nRANK: x\r\nANSWER: y\x00\x1b[31m",
    "\u202eمن؟\u202c 导演是谁？ 🎬",
    "who " * 1_000,
    "a" * 4_000,
)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("question", ODD_QUESTIONS)
def test_whatever_is_asked_the_run_ends_as_it_should(name: str, question: str) -> None:
    odd = RunSpec(registry.system(name), question, registry.system(name).settings())
    whole_question = {"decompose": lambda request: Decomposition(sub_questions=(request.question,))}
    steps = list(execute(odd, deps(whole_question), Kept()))
    whole(steps, trace.start(steps).budgets)
    assert not replay(steps, {}).diverged


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_time_left_ends_the_run(name: str) -> None:
    steps = run(name, deps(), max_seconds=0.004)
    end = whole(steps, trace.start(steps).budgets)
    assert (end.terminal, end.branch) == ("budget_exhausted", "budget_seconds")


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_decision_is_of_a_declared_decider_with_a_declared_outcome(name: str) -> None:
    system = registry.system(name)
    declared = {d.name: d for d in system.deciders}
    for decider in system.deciders:
        assert decisions.get(decider.name) is decider
        assert decider.terminal_outcomes <= set(decider.outcomes)
        assert decider.card.basis
        assert decider.card.inspects
        assert decider.card.fails
    for seed in SEEDS:
        for step in run(name, drawn_world(seed), **wide(name, seed)):
            if isinstance(step.event, Decided):
                assert declared[step.event.decider].declares(step.event.outcome)


@pytest.mark.parametrize("name", SYSTEMS)
def test_stages_and_calls_are_those_of_the_diagram(name: str) -> None:
    system = registry.system(name)
    nodes = {node.name: node for node in system.stages}
    assert len(nodes) == len(system.stages)
    assert {end for edge in system.edges for end in edge} <= set(nodes)
    for seed in SEEDS:
        for step in run(name, drawn_world(seed), **wide(name, seed)):
            assert step.stage in {*nodes, "start"}
            if isinstance(step.event, Called):
                call = f"{step.event.port}.{step.event.task}"
                assert call in nodes[step.stage].calls


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_terminal_outcome_ends_the_run_with_no_further_decision(name: str) -> None:
    for seed in SEEDS:
        decided = [
            s.event
            for s in run(name, drawn_world(seed), **wide(name, seed))
            if isinstance(s.event, Decided)
        ]
        for event in decided[:-1]:
            assert event.outcome not in decisions.get(event.decider).terminal_outcomes


FORGED: tuple[Any, ...] = (99, 0, "zz", "", None, [], {}, ["zz"], [99])


def _spoilt(value: Any, forged: Any) -> Iterator[Any]:
    """The value with each of its parts replaced in turn."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield {**value, name: forged}
            yield from ({**value, name: p} for p in _spoilt(part, forged))
    elif isinstance(value, list) and value:
        yield [forged, *value[1:]]
        yield from ([p, *value[1:]] for p in _spoilt(value[0], forged))


@pytest.mark.parametrize("name", SYSTEMS)
def test_forged_inputs_are_refused_or_decided_upon(name: str) -> None:
    """Of an imported run: a decider never meets inputs that it stumbles over."""
    system = registry.system(name)
    steps = run(name, drawn_world(1), **wide(name, 1))
    recorded = {s.event.decider: s.event for s in steps if isinstance(s.event, Decided)}
    accepted = 0
    for event in recorded.values():
        for forged in FORGED:
            for inputs in _spoilt(event.inputs, forged):
                try:
                    parsed = contracts.decision_inputs(event.model_copy(update={"inputs": inputs}))
                except BadInput:
                    continue
                accepted += 1
                for knobs in ({}, wide(name, 1), wide(name, 2)):
                    chosen = override(system.settings(), knobs)
                    decisions.get(event.decider).decide(parsed, chosen)
    assert accepted
