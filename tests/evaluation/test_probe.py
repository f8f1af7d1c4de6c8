from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import registry, runs
from core.errors import BadInput, ModelTimeout
from core.evaluation.probe import probing
from core.evaluation.questions import Question
from core.evaluation.states import probed_run
from core.events import Called, Decided, Probed, RunFinished, Step
from core.systems.beliefrag.decide import ACT, TERMINAL
from core.tasks import Rewrite, WrittenQuery
from tests.core.world import QUESTION, Kept, deps, spec

ASKED = Question(id="q", question=QUESTION, answers=("Low Tide",))


def probe(script: dict[str, Any] | None = None, **changes: Any) -> list[Step]:
    wanted = spec(**changes)
    wanted = runs.RunSpec(probing(wanted.system), wanted.question, wanted.settings, origin="probe")
    return list(runs.execute(wanted, deps(script), Kept()))


def plain(script: dict[str, Any] | None = None, **changes: Any) -> list[Step]:
    return list(runs.execute(spec(**changes), deps(script), Kept()))


def events(steps: list[Step], kind: type[Any]) -> list[Any]:
    return [s.event for s in steps if isinstance(s.event, kind)]


def test_retrieval_goes_on_until_its_budget_is_spent() -> None:
    answered = plain()
    probed = probe()
    assert events(answered, RunFinished)[0].usage.rounds < 3
    assert events(probed, RunFinished)[0].usage.rounds == 3


def test_every_free_decision_is_probed_at_its_own_step() -> None:
    steps = probe()
    at = {s.event.at_seq for s in steps if isinstance(s.event, Probed)}
    free = {
        s.seq for s in steps if isinstance(s.event, Decided) and s.event.inputs["pending"] == "none"
    }
    assert at == free
    assert len(at) >= 3


def test_the_probes_tokens_are_invisible_to_the_run() -> None:
    steps = probe()
    spent = events(steps, RunFinished)[0].usage
    apart = [s for s in steps if s.stage == "probe" and isinstance(s.event, Called)]
    inside = [s for s in steps if s.stage != "probe" and isinstance(s.event, Called)]
    assert apart
    assert sum(s.event.tokens_in + s.event.tokens_out for s in inside) == spent.tokens  # type: ignore[union-attr]
    told = [p.tokens for p in events(steps, Probed)]
    assert told == [s.event.tokens_in + s.event.tokens_out for s in apart]  # type: ignore[union-attr]


def test_the_reader_is_asked_without_evidence_too() -> None:
    steps = probe()
    first = events(steps, Probed)[0]
    assert first.answer == ""
    assert first.tokens == len(QUESTION.split())


def test_only_terminal_outcomes_are_overridden() -> None:
    steps = probe()
    outcomes = [(s.seq, s.event.outcome) for s in steps if isinstance(s.event, Decided)]
    names = {"verify": "verify", "rewrite": "rewrite", "retrieve": "retrieve"}
    for (seq, outcome), (after, _) in pairwise(outcomes):
        stages = {s.stage for s in steps[seq + 1 : after]}
        if outcome in TERMINAL:
            assert stages & set(names)
        else:
            assert names[outcome] in stages


def test_decisions_are_recorded_as_they_would_be_without_a_probe() -> None:
    steps = probe()
    for event in events(steps, Decided):
        chosen = registry.system("beliefrag").settings()
        inputs = ACT.inputs.model_validate(event.inputs)
        assert ACT(inputs, chosen).outcome == event.outcome


@settings(max_examples=25)
@given(answer=st.sampled_from([0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 1.0]), flip=st.floats(0, 1))
def test_a_run_with_any_such_threshold_is_a_prefix_of_the_probe(answer: float, flip: float) -> None:
    chosen = {"answer_threshold": answer, "flip_threshold": flip}
    live = plain(**chosen)
    steps = probe()
    probed = {p.at_seq: p.answer for p in events(steps, Probed)}
    decided = [s for s in steps if isinstance(s.event, Decided)]
    for step, live_step in zip(
        decided, (s for s in live if isinstance(s.event, Decided)), strict=False
    ):
        assert isinstance(step.event, Decided)
        assert isinstance(live_step.event, Decided)
        assert step.event.inputs == live_step.event.inputs
    last = [s for s in live if isinstance(s.event, Decided)]
    end = events(live, RunFinished)[0]
    stopped_at = decided[len(last) - 1].seq
    if end.terminal == "answered":
        assert probed[stopped_at] == end.answer


NOTHING = WrittenQuery(query="", rationale="", nothing_missing=True)


def test_where_the_query_writer_has_nothing_to_ask_the_probe_rewrites_its_way_on() -> None:
    steps = probe({"write_query": lambda _: NOTHING}, unhelpful_trigger="off")
    assert events(steps, RunFinished)[0].usage.rounds == 3
    states = probed_run(steps, ASKED).states
    assert [(s.inputs.rounds, s.inputs.nothing_missing) for s in states] == [
        *((0, False), (1, False), (1, True), (2, True), (3, True))
    ]
    assert [s.flips for s in states] == [True, False, None, None, None]


def test_with_nothing_to_rewrite_either_it_ends() -> None:
    nothing = Rewrite(query="", transformation="", rationale="", nothing_missing=True)
    script = {"write_query": lambda _: NOTHING, "rewrite": lambda _: nothing}
    end = events(probe(script, unhelpful_trigger="off"), RunFinished)[0]
    assert (end.terminal, end.usage.rounds) == ("answered", 1)


def test_a_reader_that_fails_at_a_probe_says_nothing_there() -> None:
    calls: list[int] = []

    def flaky(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def answer(request: Any) -> Any:
            calls.append(1)
            return ModelTimeout("slow") if len(calls) == 2 else make(request)

        return answer

    from tests.core.world import SCRIPT

    steps = probe({"answer": flaky(SCRIPT["answer"])})  # type: ignore[arg-type]
    answers = [p.answer for p in events(steps, Probed)]
    assert answers[:2] == ["", ""]
    assert "Low Tide" in answers
    assert events(steps, RunFinished)[0].terminal == "answered"


def test_systems_without_such_a_mode_are_refused() -> None:
    with pytest.raises(BadInput, match="--probe works on beliefrag"):
        probing(registry.system("static"))


def test_the_question_of_the_small_world_is_answered() -> None:
    assert events(plain(question=QUESTION), RunFinished)[0].answer == "Low Tide"
