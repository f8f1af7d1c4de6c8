"""The shared memory pool (SMP) as a run sees it: typed artifacts, scopes, and the port to a store.

Artifacts are plans, verified paths and region summaries, nothing else: an answer, a label or a
reader's output has no field to be kept in (StateRAG, section 2 of the specification).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol, Union
from urllib.parse import quote

from pydantic import Field

from core.types import Access, CorpusRef, Count, Frozen, digest

Role = Literal["planner", "navigator", "retriever", "verifier"]
MemoryMode = Literal["shared", "isolated", "off"]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Line = Annotated[str, Field(max_length=4_000)]


class PlanArtifact(Frozen):
    """A plan whose cycle was verified."""

    kind: Literal["plan"] = "plan"
    objective: Line
    required_facts: Annotated[tuple[Line, ...], Field(max_length=20)]
    entities: Annotated[tuple[Line, ...], Field(max_length=20)]


class PathArtifact(Frozen):
    """A committed path, root first."""

    kind: Literal["path"] = "path"
    nodes: Annotated[tuple[Name, ...], Field(min_length=2, max_length=64)]


class RegionArtifact(Frozen):
    """What a region held: its anchor, its passages, and those of them that were committed."""

    kind: Literal["region"] = "region"
    anchor: Name
    passages: Annotated[tuple[Name, ...], Field(max_length=64)]
    committed: Annotated[tuple[Name, ...], Field(max_length=64)]


Payload = Annotated[Union[PlanArtifact, PathArtifact, RegionArtifact], Field(discriminator="kind")]
MADE_BY: dict[str, Role] = {"plan": "planner", "path": "navigator", "region": "retriever"}
"""The role that produces each kind of artifact."""


class Artifact(Frozen):
    """A reusable artifact: ``cycles`` the cycle that it took to find it, ``tokens`` and ``calls``
    what its making spent. ``store`` is the scope that it declares."""

    id: Name
    producer: Role
    store: Literal["query", "global"]
    question: Line
    payload: Payload
    verified: bool
    cycles: Count = 0
    tokens: Count = 0
    calls: Count = 0


def artifact_id(question: str, payload: Payload) -> str:
    """The same for the same payload made for the same question."""
    return f"{payload.kind}:{digest([question, payload.model_dump(mode='json')])}"


class MemoryScope(Frozen):
    """Whose artifacts: a corpus in one version, and what its asker may see."""

    corpus: str
    version: str
    tenant: str

    @classmethod
    def of(cls, corpus: CorpusRef, access: Access) -> MemoryScope:
        """The scope of runs over a corpus under an access; every grant has a scope of its own.

        Names are escaped, so that none can be written that means another grant: ``*`` is an
        access without limits, ``!`` one to nothing of its kind.
        """
        grants = (("", access.tenants), ("tier:", access.source_tiers))
        named = [
            f"{kind}{name}"
            for kind, names in grants
            if names is not None
            for name in [quote(name, safe="", errors="surrogatepass") for name in sorted(names)]
            or ["!"]
        ]
        return cls(
            corpus=corpus.id, version=corpus.version, tenant="+".join(named) if named else "*"
        )

    @property
    def key(self) -> str:
        """The scope on one line."""
        return f"{self.corpus}@{self.version}/{self.tenant}"


class Recalled(Frozen):
    """Recorded form of a recall."""

    artifacts: tuple[Artifact, ...]


class Persisted(Frozen):
    """Recorded form of a persistence: ids now kept, and ids that had to go for them."""

    kept: tuple[str, ...]
    evicted: tuple[str, ...] = ()


class Memory(Protocol):
    """The global store of one scope, as it was when the run started."""

    @property
    def digest(self) -> str:
        """Digest of the snapshot."""

    def open(self, scope: MemoryScope) -> Memory:
        """The snapshot of a scope for one run."""

    def entries(self) -> Sequence[Artifact]:
        """Every artifact of the snapshot, in order of id.

        Raises:
            JournalError: the store cannot be read.
        """

    def persist(self, artifacts: Sequence[Artifact], used: Sequence[str]) -> Persisted:
        """Keep artifacts durably and note which older ones were used; the oldest unused ones go
        where the bounds are reached. The snapshot stays as it is.

        Raises:
            JournalError: the store cannot be written.
        """


class Holding(Frozen):
    """What a scope holds."""

    scope: MemoryScope
    entries: Count
    bytes: Count


class GlobalStore(Protocol):
    """The durable global store of a workspace, as a person looks into it.

    A scope holds at most ``max_entries`` artifacts of ``max_bytes`` together. Every method raises
    ``JournalError`` where the database cannot be used.
    """

    max_entries: int
    max_bytes: int

    def holdings(self) -> list[Holding]:
        """Every scope that holds something."""

    def artifacts(self, scope: MemoryScope) -> list[Artifact]:
        """What a scope holds, in order of id."""

    def clear(self, scope: MemoryScope | None = None) -> int:
        """Forget a scope, or everything; how many artifacts went."""


@dataclass(frozen=True, slots=True)
class NoMemory:
    """An empty global store that keeps nothing: of a run that is isolated."""

    digest: str = "empty"

    def open(self, scope: MemoryScope) -> NoMemory:
        """Itself: it is empty in every scope."""
        return self

    def entries(self) -> tuple[Artifact, ...]:
        """None."""
        return ()

    def persist(self, artifacts: Sequence[Artifact], used: Sequence[str]) -> Persisted:
        """Nothing outlives the run."""
        return Persisted(kept=())


@dataclass(frozen=True, slots=True)
class DeferredMemory:
    """A store that is opened when a run first shares it, with the scope of that run."""

    opening: Callable[[MemoryScope], Memory]
    digest: str = "unopened"

    def open(self, scope: MemoryScope) -> Memory:
        """The snapshot of a scope.

        Raises:
            JournalError: the store cannot be read.
        """
        return self.opening(scope)

    def entries(self) -> tuple[Artifact, ...]:
        """None: of no scope."""
        return ()

    def persist(self, artifacts: Sequence[Artifact], used: Sequence[str]) -> Persisted:
        """Nothing: of no scope."""
        return Persisted(kept=())
