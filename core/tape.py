"""A recorded run as it is played back, and in what a rerun may differ from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from core import contracts, errors
from core.errors import BudgetExhausted, PlaybackDiverged, RagError
from core.events import (
    BeliefUpdated,
    Called,
    Decided,
    DiagnosticsMeasured,
    Event,
    FaultInjected,
    ModelCalled,
    PathExplored,
    Port,
    RunStarted,
    Step,
    Warned,
    identity,
)
from core.faults import EXHAUSTED, Fault
from core.ports import CallContext
from core.tasks import ModelCall
from core.trace import differing, passages
from core.types import Passage

E = TypeVar("E", bound=RagError)


class Tape:
    """The first ``length`` steps of a record, to be played back, and how far the rerun has come.

    A call whose emission begins among these is answered from the record, to the emission's end.
    ``loose`` is for a rerun under other settings or with another reasoner: what follows from these
    (measures, beliefs, gates) may differ, while what was asked, answered and decided may not.
    """

    def __init__(self, recorded: Sequence[Step], length: int, *, loose: bool) -> None:
        self.recorded, self.length, self.loose = recorded, length, loose
        self.texts = passages(recorded)
        self.position = 0
        self.error: PlaybackDiverged | None = None

    @property
    def live(self) -> bool:
        """Whether the record is used up."""
        return self.position >= self.length

    def elapsed(self) -> float:
        """Recorded time of the newest step that was played back, in seconds."""
        return self.recorded[self.position - 1].elapsed_ms / 1000 if self.position else 0.0

    def diverge(self, seq: int, how: str) -> PlaybackDiverged:
        """The error of a rerun that leaves the record; the same one from now on."""
        if self.error is None:
            self.error = PlaybackDiverged(f"The rerun leaves the record at step {seq}: {how}.")
        return self.error

    def called(
        self, port: Port, task: str, request: str | None, context: CallContext
    ) -> tuple[Called, tuple[ModelCall, ...]]:
        """The recorded call that this one repeats; its notices go to the context.

        Raises:
            BudgetExhausted: the budget was found exhausted at this call.
            PlaybackDiverged: another call was recorded here.
        """
        model_calls: list[ModelCalled] = []
        waiting = list(context.notices)
        for step in self.recorded[self.position :]:
            event = step.event
            if isinstance(event, (FaultInjected, Warned)):
                if event in waiting:
                    waiting.remove(event)
                    continue
                context.notices.append(event)
                if _exhausts(event, f"{context.stage}: {task}"):
                    raise BudgetExhausted("tokens", 1, 0, stage=context.stage)
            elif isinstance(event, ModelCalled):
                model_calls.append(event)
            elif isinstance(event, Called) and (event.port, event.task) == (port, task):
                if request is not None and event.request_digest != request:
                    raise self.diverge(step.seq, f"{port}.{task} is asked something else")
                return event, _model_calls(model_calls, event.cost)
            else:
                raise self.diverge(step.seq, f"{event.kind} was recorded, not {port}.{task}")
        raise self.diverge(self.position, f"{port}.{task} has no recorded reply")

    def struck(self, stage: str) -> Fault | None:
        """The exhausted budget that was raised inside the controller at this point, if one was."""
        event = self.recorded[self.position].event
        return Fault(EXHAUSTED, stage) if _exhausts(event, stage) else None

    def passage(self, passage_id: str) -> Passage:
        """The text that the run has shown.

        Raises:
            PlaybackDiverged: the record does not hold it.
        """
        if passage_id not in self.texts:
            raise self.diverge(self.position, f"it holds no text of passage {passage_id}")
        return self.texts[passage_id]

    def root(self) -> str | None:
        """The node that the next recorded search of a graph started from; None if there is none."""
        for step in self.recorded[self.position :]:
            if isinstance(step.event, PathExplored) and step.event.frontier:
                return step.event.frontier[0]
        return None

    def accept(self, step: Step) -> Step:
        """The step as it is to be kept: the next one, compared with the record.

        Raises:
            PlaybackDiverged: it is another one than was recorded.
        """
        recorded = self.recorded[self.position]
        if self.loose and self._turns_here(recorded, step):
            self.length = self.position
            return step
        what = _difference(recorded, step, self.loose)
        if what and (what := _difference(_completed(recorded), _completed(step), self.loose)):
            raise self.diverge(recorded.seq, what)
        self.position += 1
        same = identity(recorded.event) == identity(step.event)
        return step.model_copy(update={"event": recorded.event}) if same else step

    def _turns_here(self, recorded: Step, step: Step) -> bool:
        """Whether the last recorded step is the decision that the new settings change."""
        a, b = recorded.event, step.event
        last = self.position == self.length - 1
        return last and isinstance(a, Decided) and isinstance(b, Decided) and a.outcome != b.outcome


def _exhausts(event: Event, where: str) -> bool:
    return isinstance(event, FaultInjected) and (event.fault, event.where) == (EXHAUSTED, where)


def _completed(step: Step) -> Step:
    """The step as this release would record it, where an older one did not know some field."""
    return step.model_copy(update={"event": contracts.completed(step.event)})


def _difference(recorded: Step, step: Step, loose: bool) -> str:
    """In words, how a step differs from the recorded one; empty where it does not."""
    a, b = recorded.event, step.event
    if a.kind != b.kind or (recorded.stage, recorded.branch) != (step.stage, step.branch):
        return f"{b.kind} in {step.stage} comes instead of {a.kind} in {recorded.stage}"
    if isinstance(a, Decided) and isinstance(b, Decided) and a.outcome != b.outcome:
        return f"it decides to {b.outcome} instead of {a.outcome}"
    if isinstance(a, RunStarted) or loose:
        free = _FREE.get(a.kind, frozenset())
        if isinstance(a, RunStarted) and loose:
            free |= _FREE_WHEN_LOOSE
        names = [n for n in differing(identity(a), identity(b)) if n.split(".")[0] not in free]
    else:
        names = list(differing(identity(recorded), identity(step)))
    return f"{', '.join(names)} came out otherwise" if names else ""


_FREE_WHEN_LOOSE = frozenset({"settings", "budgets", "reasoner", "model"})
_FREE: dict[str, frozenset[str]] = {
    "RunStarted": frozenset(
        {"origin", "parent", "corpus", "memory_digest", "faults", "graph", "schema_version"}
    ),
    "Called": frozenset({"tokens_in", "tokens_out", "cost", "attempt", "cached"}),
    "Decided": frozenset({"inputs", "gates", "reason"}),
    "DiagnosticsMeasured": frozenset(DiagnosticsMeasured.model_fields),
    "BeliefUpdated": frozenset(BeliefUpdated.model_fields),
    "PathExplored": frozenset({"transitions", "dropped_count"}),
}
"""Fields that may differ in a rerun under other settings; of RunStarted, in any rerun."""


def _model_calls(events: list[ModelCalled], cost: float) -> tuple[ModelCall, ...]:
    """The recorded requests as the reasoner reported them; the first one bears the whole cost."""
    return tuple(
        ModelCall(
            prompt=e.prompt,
            reply=e.reply,
            model=e.model,
            tokens_in=e.tokens_in,
            tokens_out=e.tokens_out,
            ms=e.ms,
            attempt=e.attempt,
            cached=e.cached,
            cost=cost if n == 0 else 0.0,
            error=e.error,
        )
        for n, e in enumerate(events)
    )


def recorded_error(base: type[E], text: str) -> E:
    """The typed error that a call ended with, from ``code: message``."""
    code, _, message = text.partition(": ")
    known = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, base)]
    kind = next((c for c in known if c.code == code), base)
    return kind(message, code=code)
