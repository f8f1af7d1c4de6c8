from __future__ import annotations

from core.evaluation.reachability import Reach, reachability
from core.events import Decided
from core.runs import execute
from tests.core.world import Kept, deps, run, spec


def by_gate(found: list[Reach], decider: str = "beliefrag.act") -> dict[str, Reach]:
    return {r.gate: r for r in found if r.decider == decider}


def test_belief_gates_are_known_in_every_free_state_also_behind_one_that_fired() -> None:
    steps = run()
    free = sum(isinstance(s.event, Decided) and s.event.inputs["pending"] == "none" for s in steps)
    found = by_gate(reachability([steps]))
    assert free > 1
    assert {found[g].states for g in ("answer", "conflict", "retrieval_value", "abstain")} == {free}
    assert found["answer"].held == 1
    assert found["conflict"].share == 0
    assert found["conflict"].inert
    assert not found["answer"].inert


def test_a_threshold_that_nothing_reaches_is_inert() -> None:
    steps = list(execute(spec(answer_threshold=1.0), deps(), Kept()))
    answer = by_gate(reachability([steps, steps]))["answer"]
    assert (answer.share, answer.inert) == (0, True)


def test_other_systems_count_where_a_gate_was_evaluated() -> None:
    steps = run("iterative")
    rounds = by_gate(reachability([steps]), "iterative.next")["rounds_left"]
    decisions = sum(isinstance(s.event, Decided) for s in steps)
    assert rounds.states == decisions
    assert rounds.held == decisions - 1


def test_no_run_has_no_gate() -> None:
    assert reachability([]) == []
    assert reachability([[]]) == []
