"""What a StateRAG run carries from stage to stage, and the events of a staged update."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from core.errors import RagError, Terminal
from core.events import Committed, EvidenceChanged, Proposed, Validated
from core.memory import Role
from core.ports import Deps
from core.steps import Stage, emit
from core.systems.evidence import EvidenceSet, Held
from core.systems.staterag.decide import Gathered, Place, Trail
from core.systems.staterag.memory import Pool
from core.systems.staterag.state import FIELDS, ROLES, Cycle, State, Value
from core.systems.staterag.validators import Refusal
from core.types import Passage, Scored, as_json


class CycleRefused(RagError):
    """A cycle could not be committed: a proposal was refused, or there was none."""

    code = "cycle_refused"
    terminal: Terminal = "incomplete"  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Run:
    """A query under way. ``held`` are the ids that the run's events hold as evidence, in their
    order; ``cycles`` the completed cycles; ``trail`` the verified trail
    that is followed; ``region`` that of the staged path; ``uncertainty`` what the verifier
    measured last;
    ``named`` are nodes whose names are recorded."""

    question: str
    pool: Pool
    state: State = State()  # noqa: RUF009
    initial: tuple[Scored, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    passages: Mapping[str, Passage] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    trail: Trail | None = None
    region: tuple[str, ...] = ()
    uncertainty: float = 1.0
    named: frozenset[str] = frozenset()

    @property
    def number(self) -> int:
        """The cycle under way, from 1."""
        return len(self.cycles) + 1

    @property
    def justification(self) -> str:
        """Of the last verdict; empty before the first."""
        return self.cycles[-1].verdict.justification if self.cycles else ""

    def seen(self, passages: Iterable[Passage]) -> Run:
        """The same with these passages known."""
        return replace(self, passages={**self.passages, **{p.id: p for p in passages}})

    def texts(self, ids: Iterable[str]) -> tuple[Passage, ...]:
        """Passages by id, in order."""
        return tuple(self.passages[i] for i in ids)

    def places(self, ids: Iterable[str]) -> tuple[Place, ...]:
        """Source spans by id, in order."""
        return tuple(
            Place(id=p.id, document=p.document, start=p.start, end=p.end) for p in self.texts(ids)
        )

    def gathered(self) -> tuple[Gathered, ...]:
        """The committed cycles as they are admitted from, oldest first."""
        return tuple(
            Gathered(evidence=self.places(c.evidence.ids), region=self.places(c.region))
            for c in self.cycles
        )

    def evidence(self, order: tuple[str, ...]) -> EvidenceSet:
        """What is held, to be read in this order."""
        rank = {passage: n for n, passage in enumerate(order, 1)}
        return EvidenceSet(
            tuple(Held(self.passages[i], 1, rank.get(i, len(rank) + 1)) for i in self.held)
        )


def hold(deps: Deps, run: Run, ids: tuple[str, ...], reason: str) -> Stage[Run]:
    """Make these the evidence that the run holds."""
    removed = tuple(i for i in run.held if i not in ids)
    added = tuple(i for i in ids if i not in run.held)
    if not removed and not added:
        return run
    yield from emit(deps, EvidenceChanged(added=added, removed=removed, reason=reason))
    kept = tuple(i for i in run.held if i in ids)
    return replace(run, held=kept + added)


def commit(deps: Deps, run: Run, field_: str, value: object) -> Stage[Run]:
    """Change one field of the staged state."""
    after = run.state.model_copy(update={field_: value})
    yield from emit(deps, Committed(field=field_, before=run.state.digest, after=after.digest))
    return replace(run, state=after)


def stage_value(
    deps: Deps, run: Run, role: Role, value: Value, refused: Refusal | None
) -> Stage[Run]:
    """A role's proposal and its validation; committed to the staged state, or refused.

    Raises:
        CycleRefused: the validator refuses it; the staged state is unchanged.
    """
    name = FIELDS[role]
    proposed = Proposed(role=role, field=name, value=as_json(value))
    if refused is not None:
        reason = str(refused)
        yield from emit(deps, proposed, Validated(validator=name, verdict="reject", reason=reason))
        raise CycleRefused(
            f"{refused.sentence} The cycle is not committed; ask again or look at the lineage.",
            stage=deps.stage,
            code=refused.code,
        )
    accepted = Validated(validator=name, verdict="accept", reason="")
    yield from emit(deps, proposed, accepted)
    return (yield from commit(deps, run, name, value))


def not_run(deps: Deps, role: Role, error: RagError) -> Stage[None]:
    """Record that the roles after this one were not run; and, where it failed without a proposal,
    that there is none to validate."""
    events = []
    if not isinstance(error, CycleRefused):
        said = f"{error.reason_code}: no proposal came from the {role}"
        events.append(Validated(validator=FIELDS[role], verdict="reject", reason=said))
    for later in ROLES[ROLES.index(role) + 1 :]:
        said = f"the {role} came to no commitment"
        events.append(Validated(validator=FIELDS[later], verdict="not_run", reason=said))
    yield from emit(deps, *events)
