"""Where a run happens.

``execute`` drives a system's controller: it stamps every emission into steps, journals them
before anyone sees them, and turns errors and cancellation into the run's terminal event.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from core import contracts
from core.errors import BadInput, JournalError, RagError, RunCancelled
from core.events import (
    MAIN,
    Event,
    EvidenceChanged,
    Origin,
    ParentStep,
    PassagesShown,
    RunFinished,
    RunStarted,
    Step,
    Warned,
)
from core.ports import Deps
from core.registry import System
from core.settings import SystemSettings
from core.steps import Emit
from core.types import JsonObject


class Recorder(Protocol):
    """Where steps go before anyone sees them (``journal.Journal`` is one)."""

    def append(self, steps: list[Step]) -> None:
        """Keep these steps durably, all or none.

        Raises:
            JournalError: they could not be kept.
        """


def new_run_id() -> str:
    """A random id that no one can guess (96 bits, URL-safe)."""
    return secrets.token_hex(12)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything that determines a run, besides the world behind the ports."""

    system: System
    question: str
    settings: SystemSettings
    run_id: str = field(default_factory=new_run_id)
    seed: int = 0
    origin: Origin = "live"
    parent: ParentStep | None = None

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise BadInput("The question is empty; ask something.")
        if len(self.question) > MAX_QUESTION:
            raise BadInput(
                f"The question has {len(self.question)} characters; "
                f"at most {MAX_QUESTION} are read."
            )


MAX_QUESTION = 4_000


def execute(
    spec: RunSpec,
    deps: Deps,
    journal: Recorder,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Step]:
    """Run a system on a question, step by step.

    Every yielded step is already journaled. The last one is ``RunFinished``, whatever happens
    short of the process dying; closing this iterator also ends the run as ``cancelled``.

    Raises:
        JournalError: the journal cannot take a step; the run stands as far as it was kept.
    """
    deps = deps.for_run(spec.settings.budgets())
    stamp = _Stamp(spec.run_id, deps)
    started = Emit((_started(spec, deps),), "start")
    controller = spec.system.run(spec.question, deps, spec.settings)
    finished = False
    try:
        for emission in _chain(started, controller):
            if cancelled():
                raise RunCancelled("The run was stopped.")
            steps = stamp(emission)
            if not steps:
                continue
            journal.append(steps)
            finished = isinstance(steps[-1].event, RunFinished)
            yield from steps
            if finished:
                return
        raise RuntimeError(f"{spec.system.name} ended without a RunFinished event")
    except GeneratorExit:
        _close(controller)
        if not finished:
            end = _terminal(RunCancelled("The reader of the run went away."), stamp, deps)
            journal.append(stamp(end))
        raise
    except JournalError:
        _close(controller)
        raise
    except Exception as error:
        _close(controller)
        steps = stamp(_terminal(error, stamp, deps))
        journal.append(steps)
        yield from steps
        if not isinstance(error, RagError):
            raise


def _chain(first: Emit, rest: Iterable[Emit]) -> Iterator[Emit]:
    yield first
    yield from rest


def _close(controller: Iterator[Emit]) -> None:
    close = getattr(controller, "close", None)
    if close is not None:
        close()


def _started(spec: RunSpec, deps: Deps) -> RunStarted:
    settings: JsonObject = spec.settings.model_dump(mode="json")
    return RunStarted(
        system=spec.system.name,
        question=spec.question,
        settings=settings,
        corpus=deps.retriever.corpus,
        reasoner=deps.reasoner.name,
        model=deps.reasoner.model,
        budgets=spec.settings.budgets(),
        access=deps.access,
        seed=spec.seed,
        memory_digest=deps.memory.digest,
        origin=spec.origin,
        parent=spec.parent,
    )


def _terminal(error: Exception, stamp: _Stamp, deps: Deps) -> Emit:
    if isinstance(error, RagError):
        terminal, stage, code, message = (
            error.terminal,
            error.stage or stamp.stage,
            error.reason_code,
            error.message,
        )
    else:
        terminal, stage, code = "failed", stamp.stage, "internal_error"
        message = f"An internal error ended the run ({type(error).__name__})."
    notices, deps.context.notices = deps.context.notices, []
    warned = Warned(fault=code, where=stage, effect=message)
    finished = RunFinished(
        terminal=terminal,
        branch=code,
        answer=None,
        grounded=False,
        citations=(),
        evidence=tuple(stamp.evidence),
        usage=deps.ledger.usage(),
        reason=message,
    )
    return Emit((*notices, warned, finished), stage)


class _Stamp:
    """Puts events into envelopes; keeps what the envelopes of a run need of the past."""

    def __init__(self, run_id: str, deps: Deps) -> None:
        self.run_id, self.deps = run_id, deps
        self.stage = "start"
        self.seq = 0
        self.evidence: list[str] = []
        self._last: dict[str, int] = {}
        self._shown: set[str] = set()

    def __call__(self, emission: Emit) -> list[Step]:
        self.stage = emission.stage
        steps = []
        for emitted in emission.events:
            event = self._once(emitted)
            if event is None:
                continue
            step = Step(
                run_id=self.run_id,
                seq=self.seq,
                parent_seq=self._last.get(emission.branch, self._last.get(MAIN)),
                branch=emission.branch,
                at=self.deps.clock.now(),
                elapsed_ms=round(1000 * self.deps.ledger.seconds(), 3),
                stage=emission.stage,
                usage=self.deps.ledger.usage(),
                event=event,
            )
            contracts.check(step)
            self._last[emission.branch] = self.seq
            self.seq += 1
            steps.append(step)
        return steps

    def _once(self, event: Event) -> Event | None:
        if isinstance(event, PassagesShown):
            fresh = tuple(p for p in event.passages if p.id not in self._shown)
            self._shown.update(p.id for p in fresh)
            return PassagesShown(passages=fresh) if fresh else None
        if isinstance(event, EvidenceChanged):
            gone = set(event.removed)
            self.evidence = [i for i in self.evidence if i not in gone]
            self.evidence += [i for i in event.added if i not in self.evidence]
        return event
