"""execute: what is kept when a run ends early, and that runs do not share what is theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from core import registry
from core.errors import BadInput, JournalError, JournalFull, RateLimited
from core.events import Called, Decided, EvidenceChanged, RunFinished, RunStarted, Step, Warned
from core.ports import Deps
from core.runs import execute
from core.steps import Emit
from tests.core.world import QUESTION, Kept, deps, run, spec

NAMES = ("beliefrag", "static", "iterative")


def end(steps: list[Step]) -> RunFinished:
    assert isinstance(steps[-1].event, RunFinished)
    assert sum(isinstance(s.event, RunFinished) for s in steps) == 1
    assert [s.seq for s in steps] == list(range(len(steps)))
    assert isinstance(steps[0].event, RunStarted)
    return steps[-1].event


def held(steps: list[Step]) -> tuple[str, ...]:
    found: list[str] = []
    for step in steps:
        if isinstance(step.event, EvidenceChanged):
            found = [i for i in found if i not in step.event.removed] + [*step.event.added]
    return tuple(found)


@pytest.mark.parametrize("name", NAMES)
def test_every_prefix_can_be_cancelled_and_keeps_what_was_paid(name: str) -> None:
    kept = Kept()
    list(execute(spec(name), deps(), kept))
    whole = kept.batches
    for after in range(1, len(whole)):
        kept = Kept()
        steps = list(execute(spec(name), deps(), kept, lambda: len(kept.batches) >= after))  # noqa: B023
        assert steps == kept.steps
        finished = end(steps)
        assert finished.terminal == "cancelled"
        assert finished.evidence == held(steps)
        assert len(kept.batches) == after + 1
        tokens = sum(
            s.event.tokens_in + s.event.tokens_out for s in steps if isinstance(s.event, Called)
        )
        assert finished.usage.tokens == tokens


def test_a_finished_run_is_not_cancelled_any_more() -> None:
    kept = Kept()

    def done() -> bool:
        return any(isinstance(s.event, RunFinished) for s in kept.steps)

    assert end(list(execute(spec(), deps(), kept, done))).terminal == "answered"


@pytest.mark.parametrize("taken", range(1, 12))
def test_closing_the_iterator_ends_the_run_as_cancelled(taken: int) -> None:
    kept = Kept()
    steps = execute(spec("static"), deps(), kept)
    for _ in range(taken):
        next(steps)
    steps.close()
    assert end(kept.steps).terminal == ("cancelled" if taken < 8 else end(kept.steps).terminal)


def _with_controller(
    monkeypatch: pytest.MonkeyPatch, controller: Callable[..., Iterator[Emit]]
) -> None:
    static = registry.system("static")
    monkeypatch.setitem(registry._SYSTEMS, "static", replace(static, run=controller))


def _then(act: Callable[[Deps], Iterator[Emit]]) -> Callable[..., Iterator[Emit]]:
    def controller(question: str, deps: Deps, settings: Any) -> Iterator[Emit]:
        warned = Warned(fault="f", where="w", effect="e")
        yield Emit((warned,), "decide")
        yield from act(deps)

    return controller


def _invalid(deps: Deps) -> Iterator[Emit]:
    decided = Decided(decider="static.next", inputs={"no": 1}, gates=(), outcome="x", reason="")
    yield Emit((Warned(fault="f", where="w", effect="kept by no one"), decided), "decide")


def test_an_invalid_payload_ends_the_run_without_a_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_controller(monkeypatch, _then(_invalid))
    steps = list(execute(spec("static"), deps(), Kept()))
    assert (end(steps).terminal, end(steps).branch) == ("failed", "bad_input")
    assert all(getattr(s.event, "effect", "") != "kept by no one" for s in steps)


def _raises(error: Exception) -> Callable[[Deps], Iterator[Emit]]:
    def act(deps: Deps) -> Iterator[Emit]:
        raise error
        yield

    return act


def test_an_internal_error_is_journaled_and_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_controller(monkeypatch, _then(_raises(ZeroDivisionError("secret detail"))))
    kept = Kept()
    with pytest.raises(ZeroDivisionError):
        list(execute(spec("static"), deps(), kept))
    assert (end(kept.steps).terminal, end(kept.steps).branch) == ("failed", "internal_error")
    assert "secret" not in end(kept.steps).reason


def test_a_typed_error_is_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_controller(monkeypatch, _then(_raises(RateLimited("Wait.", stage="answer"))))
    steps = list(execute(spec("static"), deps(), Kept()))
    assert (end(steps).terminal, end(steps).branch) == ("incomplete", "rate_limit")
    assert steps[-2].event.where == "answer"


class Fails:
    """A recorder that cannot take some appends."""

    def __init__(self, failing: Callable[[int], bool], error: JournalError) -> None:
        self.inner, self.failing, self.error, self.asked = Kept(), failing, error, -1

    def append(self, steps: list[Step]) -> None:
        self.asked += 1
        if self.failing(self.asked):
            raise self.error
        self.inner.append(steps)


@pytest.mark.parametrize("at", range(1, 7))
def test_where_the_disk_is_full_once_the_run_ends_failed_on_disk(at: int) -> None:
    recorder = Fails(lambda n: n == at, JournalFull("The disk is full."))
    steps = list(execute(spec("static"), deps(), recorder))
    assert steps == recorder.inner.steps
    assert (end(steps).terminal, end(steps).branch) == ("failed", "disk_full")
    assert end(steps).evidence == held(steps)


def test_where_the_disk_stays_full_nothing_is_shown_that_is_not_kept() -> None:
    recorder = Fails(lambda n: n >= 3, JournalFull("The disk is full."))
    seen: list[Step] = []
    with pytest.raises(JournalFull):
        seen.extend(execute(spec("static"), deps(), recorder))
    assert seen == recorder.inner.steps
    assert not any(isinstance(s.event, RunFinished) for s in seen)


def test_runs_over_the_same_ports_keep_their_own_context() -> None:
    world = deps()
    alone = run("iterative", deps())
    one, two = (execute(spec("iterative"), world, Kept()) for _ in range(2))
    mixed = list(zip(one, two, strict=True))
    for (a, b), c in zip(mixed, alone, strict=True):
        assert a.event.kind == b.event.kind == c.event.kind
        assert a.stage == b.stage == c.stage


@pytest.mark.parametrize("question", ["", "  \n", "x" * 4_001, "who \udcff"])
def test_a_question_that_is_none_is_refused(question: str) -> None:
    with pytest.raises(BadInput):
        spec(question=question)


def test_passages_are_shown_once_and_before_they_are_named() -> None:
    shown: set[str] = set()
    for step in run("iterative"):
        event = step.event
        if event.kind == "PassagesShown":
            ids = [p.id for p in event.passages]
            assert len(set(ids)) == len(ids)
            assert not shown.intersection(ids)
            shown.update(ids)
        elif event.kind == "Retrieved":
            assert {h.id for h in event.passages} <= shown


def test_parents_are_the_previous_steps() -> None:
    steps = run()
    assert [s.parent_seq for s in steps] == [None, *range(len(steps) - 1)]
    assert steps[0].event.question == QUESTION
