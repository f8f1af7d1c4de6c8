"""The shared memory pool (SMP) within a run: stores, permissions, and what is offered for reuse.

Three kinds of store: global (of a scope, durable where memory is shared), query (of this run) and
private (of each role). An operation is applied where a rule of the table names its actor,
operation, store, ownership and kind; everything else is refused, and either way it is an event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from core.events import MemoryOp
from core.memory import MADE_BY, Artifact, MemoryMode, PathArtifact, Role
from core.retrieval.tokenizer import content_terms
from core.systems.evidence import jaccard
from core.systems.staterag.bypass import names_of
from core.systems.staterag.decide import Trail
from core.systems.staterag.state import ROLES

Store = Literal["global", "query", "private"]
Operation = Literal["read", "write", "persist", "list"]
Actor = Role | Literal["controller"]
Ownership = Literal["own", "any"]
ALL_KINDS = frozenset(MADE_BY)
OFFERED = 12
"""At most so many artifacts are recalled for a question."""
LEAST_SIMILAR = 0.2


class Rule(NamedTuple):
    """An actor may do an operation in a store on artifacts of its own or of any role."""

    actor: Actor
    operation: Operation
    store: Store
    ownership: Ownership
    kinds: frozenset[str] = ALL_KINDS


def _kinds(role: Role) -> frozenset[str]:
    return frozenset(kind for kind, maker in MADE_BY.items() if maker == role)


PERMISSIONS: tuple[Rule, ...] = (
    *(Rule(role, "write", "private", "own", _kinds(role)) for role in ROLES),
    *(Rule(role, "read", "private", "own") for role in ROLES),
    *(Rule(role, "read", "query", "any") for role in ROLES),
    *(Rule(role, "read", "global", "own", _kinds(role)) for role in ROLES if _kinds(role)),
    Rule("controller", "persist", "query", "any"),
    Rule("controller", "persist", "global", "any"),
    Rule("controller", "list", "query", "any"),
    Rule("controller", "list", "global", "any"),
)
"""Every permission there is. The verifier reads nothing global: it judges afresh."""


class Wish(NamedTuple):
    """An operation that an actor asks for. ``holder``: whose private store, where it is one."""

    actor: Actor
    operation: Operation
    store: Store
    artifact: str
    producer: Role
    kind: str
    holder: Role | None = None


def refusal(wish: Wish) -> str:
    """Why an operation is not permitted; empty where it is."""
    if wish.store == "private" and wish.holder != wish.actor:
        return f"the private store of the {wish.holder} is closed to the {wish.actor}"
    rules = [
        r
        for r in PERMISSIONS
        if (r.actor, r.operation, r.store) == (wish.actor, wish.operation, wish.store)
    ]
    if not rules:
        return f"the {wish.actor} may not {wish.operation} in the {wish.store} store"
    rules = [r for r in rules if wish.kind in r.kinds]
    if not rules:
        return f"the {wish.actor} may not {wish.operation} an artifact of kind {wish.kind}"
    if not any(r.ownership == "any" or wish.producer == wish.actor for r in rules):
        return f"the artifact is the {wish.producer}'s own"
    return ""


@dataclass(frozen=True, slots=True)
class Pool:
    """The stores of a run by artifact id. ``recalled``: the part of the global store that may
    matter to this question; ``private``: each role's artifacts, transient until the action."""

    mode: MemoryMode
    scope: str
    recalled: Mapping[str, Artifact] = field(default_factory=dict)
    query: Mapping[str, Artifact] = field(default_factory=dict)
    private: Mapping[Role, Mapping[str, Artifact]] = field(default_factory=dict)
    used: tuple[str, ...] = ()

    @property
    def available(self) -> tuple[str, ...]:
        """U: ids in the global and the query store, in order."""
        return tuple(sorted({*self.recalled, *self.query}))

    def held(self, store: Store, holder: Role | None = None) -> Mapping[str, Artifact]:
        """The artifacts of a store."""
        if store == "private":
            return self.private.get(holder, {}) if holder else {}
        return self.recalled if store == "global" else self.query

    def name(self, store: Store, holder: Role | None = None) -> str:
        """The scope as an event names it."""
        return {"global": f"global {self.scope}", "query": "query"}.get(store, f"private {holder}")


def read(
    pool: Pool, actor: Actor, artifact: str, store: Store, why: str, holder: Role | None = None
) -> tuple[Pool, Artifact | None, MemoryOp]:
    """An artifact of a store, where the actor may read it and it is there."""
    found = pool.held(store, holder).get(artifact)
    producer = found.producer if found else MADE_BY.get(artifact.partition(":")[0], "planner")
    kind = found.payload.kind if found else artifact.partition(":")[0]
    denied = refusal(Wish(actor, "read", store, artifact, producer, kind, holder))
    if not denied and found is None:
        denied = "there is no such artifact"
    event = _event(pool, actor, "read", store, artifact, denied, why, holder)
    if denied:
        return pool, None, event
    used = pool.used if store != "global" else tuple(dict.fromkeys((*pool.used, artifact)))
    return replace(pool, used=used), found, event


def write(pool: Pool, role: Role, artifact: Artifact, holder: Role) -> tuple[Pool, MemoryOp]:
    """Put an artifact into a private store, where it stays transient until the action."""
    wish = Wish(
        role, "write", "private", artifact.id, artifact.producer, artifact.payload.kind, holder
    )
    denied = refusal(wish)
    why = "transient until the action is chosen"
    event = _event(pool, role, "write", "private", artifact.id, denied, why, holder)
    if denied:
        return pool, event
    kept = {**pool.private.get(holder, {}), artifact.id: artifact}
    return replace(pool, private={**pool.private, holder: kept}), event


def settle(pool: Pool, *, verified: bool) -> tuple[Pool, tuple[Artifact, ...], list[MemoryOp]]:
    """After the action: transient artifacts go to the store that they declare, where their
    producer is the role that makes their kind; to the global one only if verified. The private
    stores are empty then. The second part is to be kept globally."""
    query, lasting, events = dict(pool.query), [], []
    for role in ROLES:
        for artifact in pool.private.get(role, {}).values():
            store: Store = "global" if artifact.store == "global" and verified else "query"
            wish = Wish(
                "controller", "persist", store, artifact.id, artifact.producer,
                artifact.payload.kind,
            )  # fmt: skip
            denied = refusal(wish)
            if not denied and (artifact.producer, role) != (MADE_BY[artifact.payload.kind],) * 2:
                denied = f"a {artifact.payload.kind} is not the {artifact.producer}'s to make"
            why = "verified" if verified else "of this question only: it was not verified"
            events.append(_event(pool, "controller", "persist", store, artifact.id, denied, why))
            if denied:
                continue
            if store == "global":
                lasting.append(artifact.model_copy(update={"verified": True}))
            query[artifact.id] = artifact
    return replace(pool, query=query, private={}), tuple(lasting), events


def _event(
    pool: Pool,
    actor: Actor,
    operation: Operation,
    store: Store,
    artifact: str,
    denied: str,
    why: str,
    holder: Role | None = None,
) -> MemoryOp:
    return MemoryOp(
        role=actor,
        operation=operation,
        scope=pool.name(store, holder),
        artifact=artifact,
        allowed=not denied,
        reason=denied or why,
    )


# --- what is offered for reuse ------------------------------------------------------------------


def similarity(question: str, other: str) -> float:
    """Jaccard similarity of the content terms of two questions."""
    return jaccard(frozenset(content_terms(question)), frozenset(content_terms(other)))


def offered(question: str, artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The verified artifacts of the most similar questions, most similar first."""
    scored = [(similarity(question, a.question), a) for a in artifacts if a.verified]
    near = [(s, a) for s, a in scored if s >= LEAST_SIMILAR]
    near.sort(key=lambda pair: (-pair[0], pair[1].question, pair[1].id))
    return [a for _, a in near[:OFFERED]]


def trails(question: str, pool: Pool, root: str) -> tuple[Trail, ...]:
    """The recalled paths from this root with the plan and the region of the same question, most
    similar first. A path of a graph that was built anew otherwise starts elsewhere."""
    names = names_of(question)
    by_question: dict[str, dict[str, Artifact]] = {}
    for artifact in pool.recalled.values():
        by_question.setdefault(artifact.question, {})[artifact.payload.kind] = artifact
    found = []
    for asked, made in by_question.items():
        path = made["path"].payload if "path" in made else None
        if not isinstance(path, PathArtifact) or path.nodes[:1] != (root,):
            continue
        terms = set(content_terms(asked))
        plan, region = made.get("plan"), made.get("region")
        found.append(
            Trail(
                path=made["path"].id,
                plan=plan.id if plan else None,
                region=region.id if region else None,
                question=asked,
                similarity=similarity(question, asked),
                names_missing=sum(not terms.issuperset(n.terms) for n in names),
            )
        )
    return tuple(sorted(found, key=lambda t: (-t.similarity, t.path)))
