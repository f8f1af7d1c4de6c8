"""Replay: certain up to the first divergence, unknown after it, and never a call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import decisions, registry
from core.decisions import Card, Decider, Decision, Undetermined, gate
from core.errors import BadInput
from core.events import Decided, Step
from core.replay import ParsedRun, Watched, replay
from core.runs import execute
from core.types import Frozen
from tests.core.world import Kept, deps, run, spec

NAMES = ("beliefrag", "static", "iterative")


@pytest.fixture(scope="module")
def correcting() -> list[Step]:
    """A BeliefRAG run with several decisions."""
    steps = run("beliefrag", answer_threshold=0.9, max_actions=12)
    assert sum(isinstance(s.event, Decided) for s in steps) >= 4
    return steps


@pytest.mark.parametrize("name", NAMES)
def test_unchanged_settings_diverge_nowhere(name: str) -> None:
    report = replay(run(name), {})
    assert not report.diverged
    assert {d.certainty for d in report.decisions} == {"same"}
    assert report.unknown_from is None
    assert report.as_json()["first_divergence"] is None


def test_a_lower_threshold_ends_the_run_at_the_first_answerable_step(
    correcting: list[Step],
) -> None:
    report = replay(correcting, {"answer_threshold": 0.45})
    first = report.first_divergence
    assert first is not None
    assert (first.recorded != "answer", first.replayed) == (True, "answer")
    assert (report.ends_as, report.unknown_from) == ("answer", None)
    marks = [d.certainty for d in report.decisions]
    at = marks.index("diverged")
    assert set(marks[:at]) <= {"same"}
    assert set(marks[at + 1 :]) <= {"ended"}
    answer = next(g for g in first.gates if g.name == "answer")
    assert (answer.threshold, answer.fired) == (0.45, True)


def test_what_a_replay_calls_certain_is_what_a_new_run_does(correcting: list[Step]) -> None:
    """The same world, run again under the changed setting, agrees with every certain outcome."""
    for threshold in (0.3, 0.45, 0.6, 0.75, 0.8, 0.95):
        report = replay(correcting, {"answer_threshold": threshold})
        again = run("beliefrag", answer_threshold=threshold, max_actions=12)
        outcomes = {s.seq: s.event.outcome for s in again if isinstance(s.event, Decided)}
        for decision in report.decisions:
            if decision.certainty in ("same", "diverged"):
                assert outcomes[decision.seq] == decision.replayed
        if report.ends_as is not None:
            assert max(outcomes) == report.first_divergence.seq  # type: ignore[union-attr]


def test_after_a_divergence_that_goes_on_the_rest_is_unknown(correcting: list[Step]) -> None:
    report = replay(correcting, {"unhelpful_trigger": "off", "flip_threshold": 0.01})
    first = report.first_divergence
    assert first is not None
    assert first.replayed == "retrieve"
    assert report.unknown_from == first.seq + 1
    assert {d.certainty for d in report.decisions if d.seq > first.seq} == {"unknown"}
    assert report.ends_as is None


def test_an_action_setting_makes_the_run_unknown_from_its_first_use(
    correcting: list[Step],
) -> None:
    searched = next(s.seq for s in correcting if s.event.kind == "Called")
    report = replay(correcting, {"top_k": 2})
    assert report.unknown_from == searched
    assert not report.diverged
    for decision in report.decisions:
        assert decision.certainty == ("same" if decision.seq < searched else "unknown")
    assert "Passages a retrieval" in report.unknown_because


def test_an_earlier_divergence_is_found_before_an_action_setting_matters(
    correcting: list[Step],
) -> None:
    report = replay(correcting, {"top_k": 2, "flip_threshold": 0.99, "max_rounds": 0})
    first = report.first_divergence
    assert first is not None
    assert first.seq == 3
    assert report.ends_as == first.replayed


def test_a_budget_that_refuses_a_recorded_call_leaves_the_rest_open() -> None:
    steps = run("static")
    answered = next(s for s in steps if s.event.kind == "Called" and s.event.task == "answer")
    report = replay(steps, {"token_budget": 100})
    assert report.unknown_from == answered.seq
    assert "tokens" in report.unknown_because


def test_bad_overrides_are_refused() -> None:
    steps = run()
    with pytest.raises(BadInput, match="answer_threshold"):
        replay(steps, {"answer_treshold": 0.5})
    with pytest.raises(BadInput, match="conflict_threshold"):
        replay(steps, {"conflict_threshold": 3})
    with pytest.raises(ValueError, match="RunStarted"):
        replay(steps[1:], {})


def test_a_replay_touches_no_port() -> None:
    world = deps()
    steps = list(execute(spec(), world, Kept()))
    searches = world.retriever.searches  # type: ignore[attr-defined]
    replay(steps, {"answer_threshold": 0.9})
    assert world.retriever.searches == searches  # type: ignore[attr-defined]
    assert replay(steps, {}).as_json()["model_calls"] == 0


class Need(Frozen):
    seen: int


def _only_below(inputs: Need, chosen: Any) -> Decision | Undetermined:
    if chosen.top_k > inputs.seen:
        return Undetermined(f"{chosen.top_k} passages")
    return Decision(outcome="go", gates=(), reason="")


def test_undetermined_is_said_and_leaves_the_rest_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    card = Card(fitted=False, basis="", inspects="", fails="")
    decider = Decider("static.next", Need, _only_below, ("go",), frozenset(), card)
    steps = run("static")
    monkeypatch.setitem(decisions._DECIDERS, "static.next", decider)
    steps = [
        s.model_copy(
            update={"event": s.event.model_copy(update={"inputs": {"seen": 5}, "outcome": "go"})}
        )
        if isinstance(s.event, Decided)
        else s
        for s in steps
    ]
    parsed = ParsedRun(steps)
    wider = parsed.settings.model_copy(update={"top_k": 9})
    assert parsed.outcomes(wider) == (None, None)
    report = parsed.replay(wider)
    assert report.decisions[0].certainty == "undetermined"
    assert "9 passages" in report.unknown_because
    assert not report.diverged
    assert report.decisions[1].certainty == "unknown"


FIELDS = [
    "answer_threshold",
    "conflict_threshold",
    "reliability_threshold",
    "flip_threshold",
    "novelty_threshold",
    "abstain_threshold",
    "lambda_gap",
    "relevance_temperature",
]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.floats(0.01, 0.99)), max_size=6))
def test_moving_sliders_one_by_one_is_the_same_as_starting_there(
    moves: list[tuple[str, float]],
) -> None:
    """Results that are kept between moves never go stale."""
    kept = ParsedRun(CORRECTING)
    current = kept.settings
    for name, value in moves:
        current = current.model_copy(update={name: value})
        assert kept.replay(current) == ParsedRun(CORRECTING).replay(current)


CORRECTING = run("beliefrag", answer_threshold=0.9, max_actions=12)


def test_only_deciders_that_read_a_changed_setting_run_again() -> None:
    asked = []
    parsed = ParsedRun(CORRECTING)
    for decision in parsed.decisions:
        original = decision.decider

        def counting(inputs: Any, chosen: Any, original: Any = original) -> Any:
            asked.append(original.name)
            return original.decide(inputs, chosen)

        decision.decider = Decider(
            original.name,
            original.inputs,
            counting,
            original.outcomes,
            original.terminal_outcomes,
            original.card,
        )
    parsed.replay(parsed.settings)
    parsed.replay(parsed.settings.model_copy(update={"max_seconds": 5.0}))
    assert asked == []
    parsed.replay(parsed.settings.model_copy(update={"lambda_gap": 0.1}))
    assert len(asked) == len(parsed.decisions)
    parsed.replay(parsed.settings.model_copy(update={"lambda_gap": 0.1, "max_seconds": 5.0}))
    assert len(asked) == len(parsed.decisions)


def test_watched_settings_note_what_is_read() -> None:
    watched = Watched(registry.system("beliefrag").settings())
    assert watched.top_k == 5
    assert getattr(watched, "conflict_" + "threshold") == 0.5
    assert watched.read_ == {"top_k", "conflict_threshold"}
    watched.model_dump()
    assert watched.read_ == set(registry.system("beliefrag").settings.model_fields)


def test_gates_of_a_divergence_are_the_new_ones() -> None:
    first = replay(CORRECTING, {"answer_threshold": 0.45}).as_json()["first_divergence"]
    assert isinstance(first, dict)
    assert set(first) == {"seq", "decider", "recorded", "replayed", "gates"}
    assert set(first["gates"][0]) == set(gate("x", 0, ">=", 0).model_dump())  # type: ignore[index]
