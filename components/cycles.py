"""A StateRAG run as its cycles: one fold over the steps, from which all its views are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.events import (
    Called,
    Committed,
    Decided,
    DiagnosticsMeasured,
    MemoryOp,
    PathCommitted,
    PathExplored,
    Proposed,
    QueryIssued,
    Retrieved,
    RunStarted,
    Step,
    Validated,
    Warned,
)
from core.systems.staterag.state import FIELDS, ROLES
from core.types import JsonObject

ROLE_OF = {name: role for role, name in FIELDS.items()}


@dataclass(slots=True)
class RoleState:
    """What a role did in a cycle. ``verdict``: "" until its proposal was judged.

    ``before`` and ``after`` are digests of the whole state, empty where nothing was committed.
    """

    role: str
    seq: int = -1
    proposal: JsonObject | None = None
    verdict: str = ""
    reason: str = ""
    before: str = ""
    after: str = ""
    reused: str = ""

    @property
    def committed(self) -> bool:
        """Whether its field of the staged state was changed."""
        return bool(self.after)


@dataclass(slots=True)
class CycleState:
    """A cycle from its first step on. ``types`` are those of the proposed path's nodes."""

    number: int
    first: int
    seq: int
    roles: dict[str, RoleState]
    query: str = ""
    rounds: list[tuple[int, PathExplored]] = field(default_factory=list)
    types: tuple[str, ...] = ()
    navigated: int | None = None
    path: PathCommitted | None = None
    measured: DiagnosticsMeasured | None = None
    action: tuple[int, Decided] | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def proposed(self) -> tuple[str, ...]:
        """The nodes of the proposed path."""
        value = self.roles["navigator"].proposal or {}
        nodes = value.get("nodes")
        return tuple(str(n) for n in nodes) if isinstance(nodes, list) else ()

    @property
    def complete(self) -> bool:
        """Whether all four roles were committed."""
        return all(r.committed for r in self.roles.values())

    @property
    def refused(self) -> RoleState | None:
        """The role whose proposal ended it."""
        return next((r for r in self.roles.values() if r.verdict == "reject"), None)


@dataclass(slots=True)
class Lineage:
    """All of it: the initial evidence, the bypass check, the cycles, what was admitted."""

    question: str = ""
    initial: tuple[str, ...] = ()
    bypass: tuple[int, Decided] | None = None
    cycles: list[CycleState] = field(default_factory=list)
    weighed: tuple[int, Decided] | None = None
    admitted: tuple[int, Decided] | None = None
    operations: list[tuple[int, int, MemoryOp]] = field(default_factory=list)
    """(step, cycle it fell into or 0, operation)"""
    digest: str = ""

    @property
    def current(self) -> CycleState | None:
        """The cycle under way, or the last one."""
        return self.cycles[-1] if self.cycles else None


def lineage(steps: Iterable[Step]) -> Lineage:
    """The run as these steps leave it."""
    found = Lineage()
    for step in steps:
        event = step.event
        now = found.current
        if isinstance(event, RunStarted):
            found.question = event.question
        elif isinstance(event, MemoryOp):
            found.operations.append((step.seq, now.number if now else 0, event))
            if now and event.operation == "read" and event.allowed and event.role in now.roles:
                now.roles[event.role].reused = event.reason
        elif isinstance(event, Retrieved) and step.stage == "initial":
            found.initial = tuple(h.id for h in event.passages)
        elif isinstance(event, Committed):
            found.digest = event.after
            if step.stage == "planner" and event.field == "verdict":
                now = _opened(found, step.seq)
            elif now is not None:
                _committed(now, event)
        elif isinstance(event, Decided):
            _decided(found, now, step.seq, event)
        elif now is not None:
            _within(now, step, event)
        if now is not None and found.admitted is None:
            now.seq = step.seq
    return found


def _opened(found: Lineage, seq: int) -> CycleState:
    number = len(found.cycles) + 1
    roles = {str(role): RoleState(role) for role in ROLES}
    found.cycles.append(CycleState(number, seq, seq, roles))
    return found.cycles[-1]


def _committed(now: CycleState, event: Committed) -> None:
    state = now.roles.get(ROLE_OF.get(event.field, ""))
    if state is not None and state.proposal is not None:
        state.before, state.after = event.before, event.after


def _decided(found: Lineage, now: CycleState | None, seq: int, event: Decided) -> None:
    if event.decider == "staterag.bypass":
        found.bypass = seq, event
    elif event.decider == "staterag.abstain":
        found.weighed = seq, event
    elif event.decider == "staterag.admit":
        found.admitted = seq, event
    elif now is not None and event.decider == "staterag.action":
        now.action = seq, event
    elif now is not None and event.decider == "staterag.navigate":
        now.navigated = seq


def _within(now: CycleState, step: Step, event: object) -> None:
    if isinstance(event, Proposed):
        state = now.roles.get(event.role)
        if state is not None:
            state.proposal = event.value if isinstance(event.value, dict) else {}
            state.seq = step.seq
    elif isinstance(event, Validated):
        state = now.roles.get(ROLE_OF.get(event.validator, ""))
        if state is not None:
            state.verdict, state.reason, state.seq = event.verdict, event.reason, step.seq
    elif isinstance(event, PathExplored):
        now.rounds.append((step.seq, event))
    elif isinstance(event, PathCommitted):
        now.path = event
    elif isinstance(event, DiagnosticsMeasured):
        now.measured = event
    elif isinstance(event, QueryIssued):
        now.query = event.query
    elif isinstance(event, Warned):
        now.warnings.append(event.effect)
    elif isinstance(event, Called) and event.task == "path" and isinstance(event.response, dict):
        types = event.response.get("types")
        now.types = tuple(str(t) for t in types) if isinstance(types, list) else ()
