"""Runs of StateRAG: what is proposed, validated, committed, and what reaches the reader."""

from __future__ import annotations

from typing import Any

import pytest

from core import jsonl, trace
from core.errors import BadInput, RateLimited
from core.events import (
    Called,
    Committed,
    Decided,
    EvidenceChanged,
    PathCommitted,
    Proposed,
    RunFinished,
    Step,
    Validated,
)
from core.faults import Fault
from core.replay import replay
from core.rerun import fork
from core.settings import override
from core.systems.staterag.settings import StateRAGSettings
from core.systems.staterag.state import FIELDS, ROLES, EvidenceValue, State
from core.tasks import Reading, Verification
from tests.core.world import SCRIPT, Kept, deps, run, spec

MARS = {"bypass_rule": "off"}


def judging(*supports: float, uncertainty: float = 0.5) -> Any:
    """A verifier that finds these supports in turn, and the rest of support missing."""
    left = list(supports)

    def verify(request: Any) -> Verification:
        support = left.pop(0) if left else supports[-1]
        return Verification(
            support=support,
            conflict=0.0,
            uncertainty=uncertainty,
            gap=1 - support,
            missing=("the band's founder",),
        )

    return verify


def world(*supports: float, **script: Any) -> Any:
    return deps({"verify": judging(*supports), **script})


def events(steps: list[Step], kind: type[Any]) -> list[Any]:
    return [s.event for s in steps if isinstance(s.event, kind)]


def end(steps: list[Step]) -> RunFinished:
    assert isinstance(steps[-1].event, RunFinished)
    return steps[-1].event


def asked(steps: list[Step], task: str) -> int:
    return sum(c.task == task for c in events(steps, Called))


def actions(steps: list[Step]) -> list[str]:
    return [d.outcome for d in events(steps, Decided) if d.decider == "staterag.action"]


# --- branches -----------------------------------------------------------------------------------


def test_bypass_asks_the_reader_without_a_cycle() -> None:
    steps = run("staterag", bypass_coverage=0.0, bypass_margin=-1.0)
    assert end(steps).branch == "BYPASS"
    assert not events(steps, PathCommitted)
    assert not [c for c in events(steps, Called) if c.task in ("expand", "plan", "verify")]
    assert asked(steps, "answer") == 1
    initial = next(e for e in events(steps, EvidenceChanged))
    assert set(end(steps).evidence) < set(initial.added)


@pytest.mark.parametrize(
    ("supports", "taken", "branch"),
    [
        ((0.9,), ["RELEASE"], "RELEASE"),
        ((0.1, 0.9), ["REVISE", "RELEASE"], "RELEASE"),
        ((0.1, 0.1, 0.9), ["REVISE", "REVISE", "RELEASE"], "RELEASE"),
        ((0.1,), ["REVISE", "REVISE", "FALLBACK"], "FALLBACK"),
    ],
)
def test_the_action_follows_the_verdict_and_the_cycle_budget(
    supports: tuple[float, ...], taken: list[str], branch: str
) -> None:
    steps = run("staterag", world(*supports), **MARS)
    assert actions(steps) == taken
    assert end(steps).branch == branch
    assert asked(steps, "answer") == 1
    last = max(s.seq for s in steps if isinstance(s.event, Called) and s.event.task == "verify")
    assert all(
        s.seq > last for s in steps if isinstance(s.event, Called) and s.event.task == "answer"
    )


def test_release_admits_the_last_cycles_evidence_and_fallback_all_newest_first() -> None:
    released = run("staterag", world(0.1, 0.9), **MARS)
    proposals = [
        EvidenceValue.model_validate(p.value).ids
        for p in events(released, Proposed)
        if p.role == "retriever"
    ]
    assert set(end(released).evidence) == set(proposals[-1])
    merged = run("staterag", world(0.1), **MARS, carry=False)
    proposals = [
        EvidenceValue.model_validate(p.value).ids
        for p in events(merged, Proposed)
        if p.role == "retriever"
    ]
    expected = list(dict.fromkeys(i for ids in reversed(proposals) for i in ids))
    admitted = events(merged, Decided)[-1].outcome.removeprefix("admit ").split(",")
    assert admitted == expected
    few = run("staterag", world(0.1), **MARS, carry=False, evidence_window=2)
    assert events(few, Decided)[-1].outcome.removeprefix("admit ").split(",") == expected[:2]


def test_a_question_that_the_budget_cuts_short_falls_back_on_what_was_committed() -> None:
    steps = run("staterag", world(0.1), **MARS, max_rounds=2)
    assert actions(steps) == ["FALLBACK"]
    assert "rounds left" in end(steps).reason


@pytest.mark.parametrize(
    ("supports", "settings", "branch"),
    [
        ((0.9,), {"bypass_coverage": 0.0, "bypass_margin": -1.0}, "BYPASS"),
        ((0.9,), MARS, "RELEASE"),
        ((0.1,), MARS, "FALLBACK"),
    ],
)
def test_a_reader_that_finds_nothing_leaves_the_branch_that_it_was_asked_in(
    supports: tuple[float, ...], settings: dict[str, Any], branch: str
) -> None:
    steps = run("staterag", world(*supports, answer=Reading(answer="")), **settings)
    assert (end(steps).terminal, end(steps).branch) == ("abstained", branch)
    assert "found no answer" in end(steps).reason


@pytest.mark.parametrize(
    ("uncertainty", "settings", "asked"),
    [(0.87, {}, True), (0.88, {}, False), (1.0, {"abstain_uncertainty": 1.0}, True)],
)
def test_a_fallback_in_which_no_answer_was_seen_abstains_with_its_evidence_and_asks_no_reader(
    uncertainty: float, settings: dict[str, Any], asked: bool
) -> None:
    there = deps({"verify": judging(0.1, uncertainty=uncertainty)})
    steps = run("staterag", there, **MARS, **settings)
    calls = [c for c in events(steps, Called) if c.task == "answer"]
    assert len(calls) == asked
    assert (end(steps).terminal, end(steps).branch) == (
        "answered" if asked else "abstained",
        "FALLBACK",
    )
    admitted = next(d for d in events(steps, Decided) if d.decider == "staterag.admit")
    assert end(steps).evidence == tuple(admitted.outcome.removeprefix("admit ").split(","))
    assert not replay(steps, {"memory": "isolated"}).diverged
    again = replay(steps, {"abstain_uncertainty": 0.0 if asked else 1.0})
    assert again.first_divergence is not None
    assert again.first_divergence.decider == "staterag.abstain"


def test_only_a_fallback_is_weighed() -> None:
    for support, settings in ((0.9, MARS), (0.9, {"bypass_coverage": 0.0, "bypass_margin": -1.0})):
        steps = run("staterag", deps({"verify": judging(support, uncertainty=1.0)}), **settings)
        assert end(steps).terminal == "answered"
        assert not [d for d in events(steps, Decided) if d.decider == "staterag.abstain"]


# --- the state contract -------------------------------------------------------------------------


def test_each_role_proposes_its_own_field_in_order_and_the_digests_chain() -> None:
    steps = run("staterag", world(0.1, 0.9), **MARS)
    proposed = [(p.role, p.field) for p in events(steps, Proposed)]
    assert proposed == [(role, FIELDS[role]) for role in ROLES] * 2
    before = State().digest
    for commit in events(steps, Committed):
        assert commit.before == before
        before = commit.after
    verdicts = [v.verdict for v in events(steps, Validated)]
    assert verdicts == ["accept"] * 8


def test_every_item_of_evidence_lies_in_the_region_of_its_path() -> None:
    steps = run("staterag", world(0.1), **MARS)
    region: tuple[str, ...] = ()
    for event in (s.event for s in steps):
        if isinstance(event, PathCommitted):
            region = event.region
        if isinstance(event, Proposed) and event.role == "retriever":
            assert set(EvidenceValue.model_validate(event.value).ids) <= set(region)


def test_a_revision_gets_the_justification_and_what_is_known() -> None:
    seen: list[Any] = []

    def plan(request: Any) -> Any:
        seen.append(request)
        return SCRIPT["plan"](request)  # type: ignore[operator]

    run("staterag", world(0.1, 0.9, plan=plan), **MARS)
    assert (seen[0].note, seen[0].known) == ("", ())
    assert seen[1].note == "the band's founder"
    assert seen[1].known


def test_evidence_is_carried_over_into_a_region_that_holds_it() -> None:
    steps = run("staterag", world(0.1, 0.9), **MARS)
    first, second = (
        EvidenceValue.model_validate(p.value).ids
        for p in events(steps, Proposed)
        if p.role == "retriever"
    )
    region = events(steps, PathCommitted)[1].region
    assert set(first) & set(region) <= set(second)


def test_the_reader_gets_the_question_and_the_terminal_evidence_alone() -> None:
    seen: list[Any] = []

    def answer(request: Any) -> Any:
        seen.append(request)
        return SCRIPT["answer"](request)  # type: ignore[operator]

    steps = run("staterag", world(0.1, 0.9, answer=answer), **MARS)
    (request,) = seen
    assert request.question == trace.start(steps).question
    assert {p.id for p in request.passages} == set(end(steps).evidence)
    assert not request.hint


# --- refusals -----------------------------------------------------------------------------------

REFUSED = [
    (Fault("malformed-output", "planner", ("prose",)), "planner", "malformed_output"),
    (Fault("retriever-error", "navigator"), "navigator", "retriever_error"),
    (Fault("evidence-outside-region"), "retriever", "outside_region"),
    (Fault("evidence-outside-region", "retriever"), "retriever", "outside_region"),
    (Fault("retriever-timeout", "retriever"), "retriever", "retriever_timeout"),
    (Fault("verifier-error"), "verifier", "verifier_error"),
]


@pytest.mark.parametrize(("fault", "role", "branch"), REFUSED, ids=lambda x: str(x))
def test_the_first_refusal_ends_the_cycle_and_later_roles_are_not_run(
    fault: Fault, role: Any, branch: str
) -> None:
    steps = run("staterag", faults=(fault,), **MARS)
    assert (end(steps).terminal, end(steps).branch) == ("incomplete", branch)
    assert not asked(steps, "answer")
    verdicts = {v.validator: v.verdict for v in events(steps, Validated)}
    at = ROLES.index(role)
    expected = ["accept"] * at + ["reject"] + ["not_run"] * (3 - at)
    assert [verdicts[FIELDS[r]] for r in ROLES] == expected
    committed = {c.field for c in events(steps, Committed)}
    assert FIELDS[role] not in committed - {"evidence", "verdict"}
    assert len(events(steps, EvidenceChanged)) == 1, "what the run held before the cycle"
    assert jsonl.load(jsonl.dump(steps)) == steps


@pytest.mark.parametrize("fault", [f for f, _, _ in REFUSED], ids=lambda x: str(x))
def test_the_state_of_a_later_cycle_is_that_of_the_last_completed_one(fault: Fault) -> None:
    """The fault strikes in the second cycle: there it leaves the evidence of the first."""
    good = run("staterag", world(0.1), **MARS)
    revise = next(
        s.seq for s in good if isinstance(s.event, Decided) and s.event.outcome == "REVISE"
    )
    forked = list(fork(good, revise, world(0.1), Kept(), chosen_faults=(fault,)))
    assert end(forked).terminal == "incomplete"
    assert not asked(forked, "answer")
    first = next(p for p in events(good, Proposed) if p.role == "retriever")
    assert set(end(forked).evidence) == set(EvidenceValue.model_validate(first.value).ids)


def test_an_invalid_plan_is_recorded_and_refused() -> None:
    def plan(request: Any) -> Any:
        return SCRIPT["plan"](request).model_copy(  # type: ignore[operator]
            update={"required_facts": ()}
        )

    steps = run("staterag", world(0.9, plan=plan), **MARS)
    assert (end(steps).terminal, end(steps).branch) == ("incomplete", "no_facts")
    assert [p.role for p in events(steps, Proposed)] == ["planner"]


def test_a_reader_that_fails_leaves_the_lineage_of_the_cycle() -> None:
    steps = run("staterag", world(0.9, answer=RateLimited("Wait.")), **MARS)
    assert (end(steps).terminal, end(steps).branch) == ("incomplete", "rate_limit")
    assert actions(steps) == ["RELEASE"]


def test_without_a_graph_the_run_does_not_start() -> None:
    with pytest.raises(BadInput, match="abstraction memory"):
        run("staterag", deps(graph=None))


# --- replay and fork ----------------------------------------------------------------------------


def test_a_threshold_that_changes_the_verdict_ends_the_replay_in_a_release() -> None:
    steps = run("staterag", world(0.4), **MARS)
    report = replay(steps, {"pass_support": 0.3, "pass_gap": 0.7})
    assert report.first_divergence is not None
    assert (report.first_divergence.decider, report.ends_as) == ("staterag.verdict", "PASS")
    stricter = replay(run("staterag", world(0.9), **MARS), {"pass_support": 0.95})
    assert stricter.ends_as is None
    assert stricter.unknown_from is not None


def test_fewer_cycles_end_in_fallback_for_certain() -> None:
    steps = run("staterag", world(0.1), **MARS)
    report = replay(steps, {"max_cycles": 2})
    assert report.ends_as == "FALLBACK"


def test_a_run_can_be_forked_at_every_step() -> None:
    steps = run("staterag", world(0.1, 0.9), **MARS)
    for at in range(0, len(steps) - 1, 3):
        forked = list(fork(steps, at, world(*((0.1, 0.9) if at < 30 else (0.9,))), Kept()))
        assert end(forked).terminal == "answered"
        assert trace.diff(steps[: at + 1], forked[: at + 1], first=1) is None


def test_a_fork_turns_where_other_settings_decide_otherwise() -> None:
    steps = run("staterag", world(0.4, 0.9), **MARS)
    at = next(
        s.seq
        for s in steps
        if isinstance(s.event, Decided) and s.event.decider == "staterag.verdict"
    )
    started = override(StateRAGSettings(), {**MARS, "pass_support": 0.3, "pass_gap": 0.7})
    forked = list(fork(steps, at, world(0.9), Kept(), settings=started))
    assert actions(forked) == ["RELEASE"]


def test_a_run_is_forked_where_its_corpus_is_gone() -> None:
    from core.playback import ShownPassages

    steps = run("staterag", world(0.1, 0.9), **MARS)
    last = len(steps) - 3
    there = deps({"verify": judging(0.9)}, retriever=ShownPassages(steps), graph=None)
    assert end(list(fork(steps, last, there, Kept()))).answer == end(steps).answer
    assert spec("staterag").system.preflight is not None
