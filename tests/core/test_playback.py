"""Fork and resume: a rerun repeats the record, then goes on, and keeps nothing that differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import contracts, jsonl, trace
from core.errors import (
    BadInput,
    ContextTooLong,
    JournalFull,
    PlaybackDiverged,
    RateLimited,
    RetrieverTimeout,
)
from core.events import (
    Called,
    Decided,
    FaultInjected,
    ModelCalled,
    RunFinished,
    RunStarted,
    Step,
    identity,
)
from core.faults import Fault
from core.journal import Journal
from core.playback import ShownPassages
from core.ports import Deps
from core.registry import system
from core.replay import replay
from core.rerun import fork, resume
from core.responses import parse_response
from core.runs import execute
from core.tasks import ModelCall, Performed
from core.types import CorpusRef
from tests.core.world import Kept, WordRetriever, deps, run, spec

NAMES = ("beliefrag", "static", "iterative")
LONG = {"beliefrag": {"answer_threshold": 0.9, "max_actions": 12}}


def recorded(name: str) -> list[Step]:
    return run(name, **LONG.get(name, {}))


def same_but_for_the_start(one: list[Step], two: list[Step]) -> bool:
    return trace.diff(one, two, first=1) is None


class NoPort:
    """A retriever that must not be asked."""

    corpus = WordRetriever.corpus

    def search(self, *_: Any) -> Any:
        raise AssertionError("a search was asked")


# --- fork ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_fork_at_any_step_comes_out_the_same_in_the_same_world(name: str) -> None:
    steps = recorded(name)
    for at in range(len(steps) - 1):
        kept = Kept()
        forked = list(fork(steps, at, deps(), kept))
        assert forked == kept.steps
        assert same_but_for_the_start(steps, forked)
        started = forked[0].event
        assert isinstance(started, RunStarted)
        assert started.origin == "fork"
        assert started.parent is not None
        assert (started.parent.run_id, started.parent.seq) == (steps[0].run_id, at)
        assert {s.run_id for s in forked} == {forked[0].run_id} != {steps[0].run_id}


def as_an_older_release_wrote(step: Step) -> Step:
    """The step without any field of a payload that has its default: what came later is missing."""
    event = step.event
    if isinstance(event, RunStarted):
        update = {"settings": contracts.run_settings(event).model_dump(exclude_defaults=True)}
    elif isinstance(event, Decided):
        inputs = contracts.decision_inputs(event)
        update = {"inputs": inputs.model_dump(mode="json", exclude_defaults=True)}
    elif isinstance(event, Called) and event.error is None:
        response = parse_response(event.port, event.task, event.response)
        update = {"response": response.model_dump(mode="json", exclude_defaults=True)}
    else:
        return step
    return step.model_copy(update={"event": event.model_copy(update=update)})


@pytest.mark.parametrize("changed", [{}, {"evidence_window": 7}])
@pytest.mark.parametrize("name", NAMES)
def test_a_run_made_before_its_payloads_had_all_their_fields_is_forked(
    name: str, changed: dict[str, Any]
) -> None:
    steps = recorded(name)
    older = [as_an_older_release_wrote(step) for step in steps]
    assert older != steps
    started = steps[0].event
    assert isinstance(started, RunStarted)
    settings = contracts.run_settings(started).model_copy(update=changed)
    forked = list(fork(older, len(older) - 2, deps(), Kept(), settings=settings))
    assert [s.event.kind for s in forked] == [s.event.kind for s in steps]


def test_the_repeated_part_asks_no_port_and_is_kept_in_one_piece() -> None:
    steps = recorded("iterative")
    last_call = max(s.seq for s in steps if isinstance(s.event, Called))
    kept = Kept()
    forked = list(fork(steps, last_call, deps(retriever=NoPort()), kept))
    assert same_but_for_the_start(steps, forked)
    assert kept.batches[0] > last_call


def test_the_repeated_part_keeps_its_recorded_times() -> None:
    steps = recorded("static")
    forked = list(fork(steps, len(steps) - 2, deps(), Kept()))
    for before, after in zip(steps[1:-1], forked[1:-1], strict=True):
        assert before.event == after.event
    assert forked[-1].elapsed_ms >= steps[-2].elapsed_ms


def test_a_fork_takes_the_turn_that_new_settings_decide() -> None:
    steps = recorded("beliefrag")
    settings = system("beliefrag").settings(answer_threshold=0.45, max_actions=12)
    first = replay(steps, {"answer_threshold": 0.45}).first_divergence
    assert first is not None
    forked = list(fork(steps, first.seq, deps(), Kept(), settings=settings))
    fresh = run("beliefrag", answer_threshold=0.45, max_actions=12)
    assert same_but_for_the_start(fresh, forked)
    turned = forked[first.seq].event
    assert isinstance(turned, Decided)
    assert turned.outcome == first.replayed == "answer"


def test_settings_that_change_an_earlier_decision_are_refused_and_nothing_is_kept() -> None:
    steps = recorded("beliefrag")
    settings = system("beliefrag").settings(answer_threshold=0.45, max_actions=12)
    kept = Kept()
    at = replay(steps, {"answer_threshold": 0.45}).first_divergence.seq  # type: ignore[union-attr]
    with pytest.raises(PlaybackDiverged, match=f"step {at}: it decides to answer"):
        list(fork(steps, at + 1, deps(), kept, settings=settings))
    assert kept.steps == []


def test_settings_that_only_move_gates_let_the_fork_go_on() -> None:
    steps = recorded("beliefrag")
    settings = system("beliefrag").settings(
        answer_threshold=0.9, max_actions=12, lambda_gap=0.65, conflict_threshold=0.6
    )
    at = len(steps) - 3
    forked = list(fork(steps, at, deps(), Kept(), settings=settings))
    assert isinstance(forked[-1].event, RunFinished)
    gates = [g for s in forked if isinstance(s.event, Decided) for g in s.event.gates]
    assert {g.threshold for g in gates if g.name == "conflict"} == {0.6}


def test_a_fork_goes_on_after_the_corpus_is_gone() -> None:
    steps = recorded("beliefrag")
    searches = [s.seq for s in steps if s.event.kind == "Retrieved"]
    gone = deps(retriever=ShownPassages(steps))
    forked = list(fork(steps, searches[0] + 1, gone, Kept()))
    end = forked[-1].event
    assert isinstance(end, RunFinished)
    assert (end.terminal, end.answer) == ("answered", "Low Tide")
    assert any(isinstance(s.event, Called) and s.event.error for s in forked)


@pytest.mark.parametrize("at", [-1, 10_000])
def test_a_step_that_cannot_be_forked_at_is_refused(at: int) -> None:
    steps = recorded("static")
    with pytest.raises(BadInput, match="can be forked at steps 0 to"):
        list(fork(steps, at, deps(), Kept()))
    with pytest.raises(BadInput):
        list(fork(steps, len(steps) - 1, deps(), Kept()))


def test_a_stopped_run_is_continued_by_a_fork_at_its_last_step() -> None:
    kept = Kept()
    stopped = list(execute(spec("iterative"), deps(), kept, lambda: len(kept.batches) == 4))
    assert stopped[-1].event.terminal == "cancelled"
    forked = list(fork(stopped, len(stopped) - 2, deps(), Kept()))
    assert same_but_for_the_start(run("iterative"), forked)


def test_faults_strike_in_the_continued_part_only() -> None:
    steps = recorded("iterative")
    first = next(s.seq for s in steps if s.event.kind == "Retrieved")
    broken = (Fault("retriever-timeout"),)
    forked = list(fork(steps, first, deps(), Kept(), chosen_faults=broken))
    at = [s.seq for s in forked if isinstance(s.event, FaultInjected)]
    assert at
    assert min(at) > first
    assert trace.diff(steps[: first + 1], forked[: first + 1], first=1) is None


def test_a_fork_of_a_faulted_run_repeats_its_notices_and_errors() -> None:
    faulted = run("iterative", faults=(Fault("retriever-timeout", "retrieve"),))
    for at in range(1, len(faulted) - 1):
        forked = list(
            fork(faulted, at, deps(), Kept(), chosen_faults=(Fault("retriever-timeout"),))
        )
        assert same_but_for_the_start(faulted, forked)


def test_nothing_of_a_fork_is_kept_where_the_disk_is_full() -> None:
    class Full:
        def append(self, steps: list[Step]) -> None:
            raise JournalFull("The disk is full.")

    shown: list[Step] = []
    with pytest.raises(JournalFull):
        shown.extend(fork(recorded("static"), 5, deps(), Full()))
    assert shown == []


# --- errors and model calls are replayed as they were -------------------------------------------


class Modelled:
    """Wraps a reasoner as a model would be: with requests that cost, or errors that did."""

    model = "provider/model"
    name = "llm"

    def __init__(self, inner: Any, failing: dict[str, Exception] | None = None) -> None:
        self.inner, self.failing = inner, failing or {}

    def bind(self, context: Any) -> Modelled:
        return Modelled(self.inner.bind(context), self.failing)

    def tokens_in(self, task: Any, request: Any) -> int:
        return self.inner.tokens_in(task, request)

    def perform(self, task: Any, request: Any, allowance: Any) -> Performed[Any]:
        calls = tuple(
            ModelCall("p", "r", self.model, 10 * n, 5, 3.0, attempt=n, cost=0.1) for n in (1, 2)
        )
        if task.name in self.failing:
            error = self.failing[task.name]
            error.model_calls = calls  # type: ignore[attr-defined]
            raise error
        return Performed(self.inner.perform(task, request, allowance).value, calls)


@pytest.mark.parametrize(
    "failing",
    [
        {},
        {"answer": RateLimited("Wait.")},
        {"verify": ContextTooLong("Too long.")},
        {"write_query": RateLimited("Odd: a colon.", code="odd_code")},
    ],
    ids=["none", "rate limit", "context", "own code"],
)
@pytest.mark.parametrize("name", ["beliefrag", "iterative"])
def test_model_calls_and_their_errors_come_out_the_same(
    name: str, failing: dict[str, Exception]
) -> None:
    def world() -> Deps:
        return deps(reasoner=Modelled(deps().reasoner, failing))

    steps = run(name, world(), **LONG.get(name, {}))
    assert any(isinstance(s.event, ModelCalled) for s in steps)
    for at in range(1, len(steps) - 1):
        assert same_but_for_the_start(steps, list(fork(steps, at, world(), Kept())))


# --- resume -------------------------------------------------------------------------------------


def batches(name: str) -> tuple[list[Step], list[int]]:
    """An undisturbed run, and after how many steps it was committed each time."""
    kept = Kept()
    steps = list(execute(spec(name, **LONG.get(name, {})), deps(), kept))
    ends, total = [], 0
    for size in kept.batches:
        total += size
        ends.append(total)
    return steps, ends[:-1]


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_run_resumes_to_the_same_end_from_every_commit(
    name: str, tmp_path: Path
) -> None:
    steps, ends = batches(name)
    journal = Journal(tmp_path)
    for n in ends:
        cut = [s.model_copy(update={"run_id": f"cut-at-{n}"}) for s in steps[:n]]
        run_id = journal.import_jsonl(jsonl.dump(cut)).run_id
        new = list(resume(run_id, deps(), journal))
        assert [s.seq for s in new] == list(range(n, len(steps)))
        whole = journal.steps(run_id)
        assert whole[:n] == cut
        assert trace.identical(whole, steps)
        assert whole[-1].elapsed_ms >= steps[n - 1].elapsed_ms
        assert journal.run(run_id).status == "finished"


@pytest.fixture
def interrupted(tmp_path: Path) -> tuple[Journal, str, list[Step]]:
    """A journal with an interrupted run of 9 steps, and the whole run."""
    steps = recorded("iterative")
    journal = Journal(tmp_path)
    return journal, journal.import_jsonl(jsonl.dump(steps[:8])).run_id, steps


def test_what_was_spent_counts_on(tmp_path: Path) -> None:
    steps = run("iterative", max_seconds=600)
    late = [s.model_copy(update={"elapsed_ms": 599_999.0}) if s.seq == 7 else s for s in steps[:8]]
    journal = Journal(tmp_path)
    run_id = journal.import_jsonl(jsonl.dump(late)).run_id
    end = list(resume(run_id, deps(), journal))[-1].event
    assert isinstance(end, RunFinished)
    assert (end.branch, end.usage.seconds > 599) == ("budget_seconds", True)


def test_a_resumed_run_can_be_stopped_but_not_in_its_past(
    interrupted: tuple[Journal, str, list[Step]],
) -> None:
    journal, run_id, steps = interrupted
    new = list(resume(run_id, deps(), journal, lambda: True))
    assert journal.steps(run_id)[:8] == steps[:8]
    assert new[0].seq == 8
    assert journal.run(run_id).terminal == "cancelled"


@pytest.mark.parametrize(
    ("world", "says"),
    [
        (lambda: deps(retriever=Other()), "has changed"),
        (lambda: deps(reasoner=Modelled(deps().reasoner)), "made with scripted"),
    ],
    ids=["corpus", "reasoner"],
)
def test_another_world_is_refused_and_the_run_stays_as_it_was(
    interrupted: tuple[Journal, str, list[Step]], world: Any, says: str
) -> None:
    journal, run_id, steps = interrupted
    with pytest.raises(BadInput, match=says):
        list(resume(run_id, world(), journal))
    assert journal.run(run_id).status == "interrupted"
    assert journal.steps(run_id) == steps[:8]


class Other(WordRetriever):
    corpus = CorpusRef(id="world", version="2")


def test_a_run_that_does_not_repeat_stays_as_it_was(
    tmp_path: Path,
) -> None:
    steps = recorded("iterative")
    at = next(s.seq for s in steps if isinstance(s.event, Called) and s.event.port == "reasoner")
    event = steps[at].event.model_copy(update={"request_digest": "f" * 16})
    tampered = [*steps[:at], steps[at].model_copy(update={"event": event})]
    journal = Journal(tmp_path)
    run_id = journal.import_jsonl(jsonl.dump(tampered)).run_id
    with pytest.raises(PlaybackDiverged, match=f"step {at}: reasoner.write_query"):
        list(resume(run_id, deps(), journal))
    assert journal.run(run_id).status == "interrupted"
    assert journal.steps(run_id) == tampered


def test_another_recorded_call_is_named(tmp_path: Path) -> None:
    steps = recorded("static")
    at = next(s.seq for s in steps if isinstance(s.event, Called))
    event = steps[at].event.model_copy(
        update={"task": "read", "response": {"ids": [next(iter(trace.passages(steps)))]}}
    )
    journal = Journal(tmp_path)
    tampered = [*steps[:at], steps[at].model_copy(update={"event": event})]
    run_id = journal.import_jsonl(jsonl.dump(tampered)).run_id
    with pytest.raises(PlaybackDiverged, match=f"step {at}: Called was recorded"):
        list(resume(run_id, deps(), journal))


def test_only_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    steps = list(execute(spec("static"), deps(), journal))
    with pytest.raises(BadInput, match="finished"):
        list(resume(steps[0].run_id, deps(), journal))
    with pytest.raises(BadInput, match="no run"):
        list(resume("nothing", deps(), journal))


def test_recorded_timeouts_are_raised_as_such() -> None:
    class Slow(WordRetriever):
        def search(self, *_: Any) -> Any:
            raise RetrieverTimeout("Too slow.")

    steps = run("static", deps(retriever=Slow()))
    end = steps[-1].event
    forked = list(fork(steps, len(steps) - 3, deps(), Kept()))
    assert identity(forked[-1].event) == identity(end)


def test_publishing_waits_for_the_journal() -> None:
    """What a fork yields is already kept, the repeated part included."""
    kept = Kept()
    forked: Iterator[Step] = fork(recorded("iterative"), 9, deps(), kept)
    for step in forked:
        assert step in kept.steps
