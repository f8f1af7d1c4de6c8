"""The typed state of a query, s = <p, pi, E, z, U>, and the values that roles propose for it.

What a role proposes is recorded whatever it is; ``validators`` say whether it may be committed.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.memory import Role
from core.types import Count, Frozen, Passage, Unit, digest

ROLES: tuple[Role, ...] = ("planner", "navigator", "retriever", "verifier")
"""In the order of a cycle."""
FIELDS: dict[Role, str] = {
    "planner": "plan",
    "navigator": "path",
    "retriever": "evidence",
    "verifier": "verdict",
}
"""The one field of the state that each role may propose a value for."""
Verdict = Literal["PENDING", "PASS", "FAIL"]


class PlanValue(Frozen):
    """p: what to look for. ``note`` is the justification of the verdict that asked for revision."""

    objective: str = ""
    required_facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    note: str = ""


class PathValue(Frozen):
    """pi: a traversal of the graph, root first."""

    nodes: tuple[str, ...] = ()


class EvidenceItem(Frozen):
    """A passage with its provenance: characters ``start:end`` of a document, and its digest."""

    id: str
    document: str = ""
    start: Count = 0
    end: Count = 0
    digest: str = ""

    @classmethod
    def of(cls, passage: Passage) -> EvidenceItem:
        """A passage as evidence."""
        return cls(
            id=passage.id,
            document=passage.document,
            start=passage.start,
            end=passage.end,
            digest=passage.digest,
        )


class EvidenceValue(Frozen):
    """E: candidate evidence, in the order in which a reader should meet it."""

    items: tuple[EvidenceItem, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Passage ids in order."""
        return tuple(item.id for item in self.items)


class VerdictValue(Frozen):
    """z: the verification record."""

    verdict: str = "PENDING"
    justification: str = ""


Value = PlanValue | PathValue | EvidenceValue | VerdictValue
PENDING = VerdictValue()


class State(Frozen):
    """The live state of a query. U: ids of the artifacts available in this cycle."""

    plan: PlanValue = PlanValue()
    path: PathValue = PathValue()
    evidence: EvidenceValue = EvidenceValue()
    verdict: VerdictValue = PENDING
    artifacts: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Digest of the whole state, for ``Committed``."""
        return digest(self)


class Cycle(Frozen):
    """A completed cycle, whose four proposals were committed. ``uncertainty`` is what the verifier
    measured of its evidence."""

    number: Count = Field(ge=1)
    plan: PlanValue
    path: PathValue
    region: tuple[str, ...]
    evidence: EvidenceValue
    verdict: VerdictValue
    uncertainty: Unit
