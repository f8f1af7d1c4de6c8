"""Where a run happens.

``execute`` drives a system's controller: it stamps every emission into steps, journals them
before anyone sees them, and turns errors and cancellation into the run's terminal event.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from core import contracts, injection
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
from core.faults import Fault
from core.ports import Deps, Recorder
from core.registry import System
from core.settings import SystemSettings
from core.steps import Emit
from core.types import LARGEST, JsonObject


def new_run_id() -> str:
    """A random id that no one can guess (96 bits, URL-safe)."""
    return secrets.token_hex(12)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything that determines a run, besides the world behind the ports.

    Raises:
        BadInput: an empty or overlong question, a seed out of range, or a fault that the system
            cannot meet.
    """

    system: System
    question: str
    settings: SystemSettings
    run_id: str = field(default_factory=new_run_id)
    seed: int = 0
    origin: Origin = "live"
    parent: ParentStep | None = None
    faults: tuple[Fault, ...] = ()

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise BadInput("The question is empty; ask something.")
        if len(self.question) > MAX_QUESTION:
            raise BadInput(
                f"The question has {len(self.question)} characters; "
                f"at most {MAX_QUESTION} are read."
            )
        try:
            self.question.encode()
        except UnicodeEncodeError:
            raise BadInput("The question holds characters that are no text.") from None
        check_seed(self.seed)
        for fault in self.faults:
            fault.check(self.system)


def check_seed(seed: int) -> None:
    """Refuse a seed that a journal cannot hold.

    Raises:
        BadInput: it is out of range.
    """
    if abs(seed) > LARGEST:
        raise BadInput(f"The seed is too large; it is at most {LARGEST}.")


MAX_QUESTION = 4_000
OUTSIDE = "run"
"""The stage of ``Deps`` outside of any stage."""


def execute(
    spec: RunSpec,
    deps: Deps,
    journal: Recorder,
    cancelled: Callable[[], bool] = lambda: False,
    silently: injection.Silently | None = None,
) -> Iterator[Step]:
    """Run a system on a question, step by step, with the spec's faults.

    A rerun strikes them behind its record and tells by ``silently`` what is left to strike here.

    Every yielded step is already journaled. The last one is ``RunFinished``, whatever happens
    short of the process dying; closing this iterator also ends the run as ``cancelled``.

    Raises:
        BadInput: what the settings need is missing; the run did not start.
        JournalError: the journal cannot take a step nor the end of the run; the run stands as
            far as it was kept.
    """
    if spec.system.preflight is not None:
        spec.system.preflight(deps, spec.settings)
    if silently is None:
        deps = injection.wrap(deps, spec.faults)
        journal = injection.wrap_recorder(journal, spec.faults)
        silently = injection.silently(spec.faults, spec.system)
    deps = deps.for_run(spec.settings.budgets(), spec.settings.memory_mode())
    stamp = _Stamp(spec.run_id, deps)
    started = Emit((_started(spec, deps),), "start")
    controller = spec.system.run(spec.question, deps, spec.settings)
    if silently is not None:
        controller = injection.wrap_controller(controller, silently, deps.context)
    try:
        for emission in _chain(started, controller):
            steps = stamp.keep(emission, journal)
            yield from steps
            if stamp.finished:
                return
            if cancelled():
                raise RunCancelled("The run was stopped.")
        raise RuntimeError(f"{spec.system.name} ended without a RunFinished event")
    except GeneratorExit:
        _close(controller)
        if not stamp.finished:
            gone = RunCancelled("The reader of the run went away.")
            stamp.keep(_terminal(gone, stamp, deps), journal)
        raise
    except Exception as error:
        _close(controller)
        if stamp.finished:
            raise
        try:  # where the disk was full, these few bytes may still fit
            steps = stamp.keep(_terminal(error, stamp, deps), journal)
        except JournalError:
            raise error from None
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
        faults=tuple(fault.text for fault in spec.faults),
        graph=spec.system.graph_digest(deps),
    )


def _terminal(error: Exception, stamp: _Stamp, deps: Deps) -> Emit:
    if isinstance(error, RagError):
        terminal, stage, code, message = (
            error.terminal,
            error.stage or stamp.past.stage,
            error.reason_code,
            error.message,
        )
    else:
        terminal, stage, code = "failed", stamp.past.stage, "internal_error"
        message = f"An internal error ended the run ({type(error).__name__})."
    notices, deps.context.notices = deps.context.notices, []
    warned = Warned(fault=code, where=stage, effect=message)
    finished = RunFinished(
        terminal=terminal,
        branch=code,
        answer=None,
        grounded=False,
        citations=(),
        evidence=stamp.past.evidence,
        usage=deps.ledger.usage(),
        reason=message,
    )
    return Emit((*notices, *_notices(error), warned, finished), stage)


def _notices(error: Exception) -> tuple[Event, ...]:
    return error.notices if isinstance(error, RagError) else ()


@dataclass(frozen=True, slots=True)
class _Past:
    """What the envelopes of a run need of its kept steps."""

    seq: int = 0
    stage: str = "start"
    last: Mapping[str, int] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    evidence: tuple[str, ...] = ()
    finished: bool = False

    def after(self, step: Step) -> _Past:
        event = step.event
        shown, evidence = self.shown, self.evidence
        if isinstance(event, PassagesShown):
            shown = shown.union(p.id for p in event.passages)
        elif isinstance(event, EvidenceChanged):
            gone = frozenset(event.removed)
            kept = tuple(i for i in evidence if i not in gone) if gone else evidence
            held = frozenset(kept)
            evidence = kept + tuple(i for i in event.added if i not in held)
        return _Past(
            step.seq + 1,
            step.stage,
            {**self.last, step.branch: step.seq},
            shown,
            evidence,
            isinstance(event, RunFinished),
        )


class _Stamp:
    """Puts events into envelopes and has them kept; moves on only over what was kept."""

    def __init__(self, run_id: str, deps: Deps) -> None:
        self.run_id, self.deps = run_id, deps
        self.past = _Past()

    @property
    def finished(self) -> bool:
        return self.past.finished

    def keep(self, emission: Emit, journal: Recorder) -> list[Step]:
        steps, past = [], self.past
        outside = emission.stage == OUTSIDE  # belongs to the stage that the run came out of
        stage = past.stage if outside else emission.stage
        for emitted in emission.events:
            event = _once(emitted, past.shown)
            if event is None:
                continue
            step = Step(
                run_id=self.run_id,
                seq=past.seq,
                parent_seq=past.last.get(emission.branch, past.last.get(MAIN)),
                branch=emission.branch,
                at=self.deps.clock.now(),
                elapsed_ms=round(1000 * self.deps.ledger.seconds(), 3),
                stage=stage,
                usage=self.deps.ledger.usage(),
                event=event,
            )
            contracts.check(step)
            past = past.after(step)
            steps.append(step)
        if steps:
            journal.append(steps)
            self.past = past
            self.deps.context.seq = past.seq - 1
        return steps


def _once(event: Event, shown: frozenset[str]) -> Event | None:
    """The event, with passages that were shown before left out; None if nothing is left."""
    if not isinstance(event, PassagesShown):
        return event
    fresh = {p.id: p for p in event.passages if p.id not in shown}
    return PassagesShown(passages=tuple(fresh.values())) if fresh else None
