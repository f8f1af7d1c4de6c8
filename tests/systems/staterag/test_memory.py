"""The shared memory pool: who may do what, what is kept, and what a later question gains by it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import trace
from core.events import Called, Decided, MemoryOp, RunFinished, RunStarted, Step
from core.graph import NodeType
from core.journal import Journal
from core.memory import (
    MADE_BY,
    Artifact,
    MemoryScope,
    PathArtifact,
    Payload,
    PlanArtifact,
    RegionArtifact,
    Role,
    artifact_id,
)
from core.rerun import fork
from core.systems.staterag.memory import (
    PERMISSIONS,
    Actor,
    Operation,
    Pool,
    Store,
    Wish,
    read,
    refusal,
    settle,
    write,
)
from core.systems.staterag.state import ROLES
from core.types import Access, CorpusRef
from tests.core.world import QUESTION, Kept, Shelf, WordGraph, deps, run

MARS = {"bypass_rule": "off"}
SCOPE = MemoryScope(corpus="world", version="1", tenant="*")
ACTORS: tuple[Actor, ...] = (*ROLES, "controller")
PAYLOADS: tuple[Payload, ...] = (
    PlanArtifact(objective="Find it", required_facts=("a",), entities=()),
    PathArtifact(nodes=("root", "e")),
    RegionArtifact(anchor="e", passages=("e", "f"), committed=("e",)),
)


def artifact(payload: Payload, question: str = QUESTION, verified: bool = True) -> Artifact:
    return Artifact(
        id=artifact_id(question, payload),
        producer=MADE_BY[payload.kind],
        store="global",
        question=question,
        payload=payload,
        verified=verified,
    )


# --- permissions --------------------------------------------------------------------------------


def test_an_operation_is_allowed_exactly_where_a_rule_says_so() -> None:
    allowed = 0
    for actor, operation, store, producer, kind in product(
        ACTORS, get_args(Operation), get_args(Store), ROLES, MADE_BY
    ):
        for holder in ROLES if store == "private" else (None,):
            wish = Wish(actor, operation, store, "x", producer, kind, holder)
            ruled = any(
                (r.actor, r.operation, r.store) == (actor, operation, store)
                and kind in r.kinds
                and (r.ownership == "any" or producer == actor)
                for r in PERMISSIONS
            )
            expected = ruled and (store != "private" or holder == actor)
            assert (refusal(wish) == "") == expected
            allowed += expected
    assert allowed > 20


@pytest.mark.parametrize(("reader", "owner"), [(a, b) for a in ROLES for b in ROLES if a != b])
def test_anothers_private_store_is_closed_and_the_attempt_is_recorded(
    reader: Role, owner: Role
) -> None:
    kept = artifact(PAYLOADS[0])
    pool = Pool("isolated", "s", private={owner: {kept.id: kept}})
    after, found, event = read(pool, reader, kept.id, "private", "curious", holder=owner)
    assert found is None
    assert after == pool
    assert isinstance(event, MemoryOp)
    assert (event.role, event.allowed, event.scope) == (reader, False, f"private {owner}")
    assert "closed" in event.reason


def test_a_role_writes_only_its_own_kind_into_its_own_store() -> None:
    pool = Pool("isolated", "s")
    for role, holder, payload in product(ROLES, ROLES, PAYLOADS):
        after, event = write(pool, role, artifact(payload), holder)
        own = role == holder == MADE_BY[payload.kind]
        assert event.allowed == own
        assert bool(after.private) == own


def test_the_verifier_reads_nothing_of_other_questions() -> None:
    for payload in PAYLOADS:
        kept = artifact(payload)
        pool = Pool("shared", "s", recalled={kept.id: kept})
        _, found, event = read(pool, "verifier", kept.id, "global", "")
        assert found is None
        assert "may not" in event.reason


def test_a_forged_producer_is_not_persisted() -> None:
    forged = artifact(PAYLOADS[1]).model_copy(update={"producer": "planner"})
    pool = Pool("shared", "s", private={"planner": {forged.id: forged}})
    after, lasting, events = settle(pool, verified=True)
    assert lasting == ()
    assert not after.query
    assert [e.allowed for e in events] == [False]


def test_only_what_was_verified_outlives_the_question() -> None:
    mine = {MADE_BY[p.kind]: {artifact(p).id: artifact(p, verified=False)} for p in PAYLOADS}
    for verified in (True, False):
        after, lasting, events = settle(Pool("shared", "s", private=mine), verified=verified)
        assert len(lasting) == (3 if verified else 0)
        assert all(a.verified for a in lasting)
        assert len(after.query) == 3
        assert not after.private
        assert {e.scope for e in events} == {"global s" if verified else "query"}


def test_an_answer_has_no_field_to_be_kept_in() -> None:
    names = {n for p in PAYLOADS for n in type(p).model_fields} | set(Artifact.model_fields)
    assert not names & {"answer", "draft", "label", "gold", "text", "citations", "verdict"}


# --- within a run -------------------------------------------------------------------------------


def ops(steps: list[Step]) -> list[MemoryOp]:
    return [s.event for s in steps if isinstance(s.event, MemoryOp)]


def finished(steps: list[Step]) -> RunFinished:
    assert isinstance(steps[-1].event, RunFinished)
    return steps[-1].event


ALIKE = "Which band did the drummer of Kestrel Records found first?"


def test_a_similar_question_reuses_what_was_verified_and_takes_fewer_tokens() -> None:
    shelf = Shelf()
    first = run("staterag", deps(memory=shelf), **MARS, memory="shared")
    assert finished(first).branch == "RELEASE"
    second = run("staterag", deps(memory=shelf), question=ALIKE, **MARS, memory="shared")
    without = run("staterag", deps(memory=shelf), question=ALIKE, **MARS, memory="off")
    assert finished(second).answer == finished(without).answer
    assert finished(second).usage.tokens < finished(without).usage.tokens
    reads = [op for op in ops(second) if op.operation == "read"]
    assert {op.role for op in reads} == {"planner", "navigator", "retriever"}
    assert all(op.allowed and "reused" in op.reason for op in reads)
    assert not any(isinstance(s.event, Called) and s.event.task == "expand" for s in second)
    assert any(isinstance(s.event, Called) and s.event.task == "verify" for s in second)
    assert not ops(without)


def test_a_path_of_a_graph_built_otherwise_is_not_taken_over() -> None:
    shelf = Shelf()
    run("staterag", deps(memory=shelf), **MARS, memory="shared")

    class Anew(WordGraph):
        root = "another root"

        def __init__(self) -> None:
            super().__init__()
            self.edges = {(self.root if a == "root" else a, b) for a, b in self.edges}

        def type_of(self, node: str) -> NodeType | None:
            return "ROOT" if node == self.root else super().type_of(node)

    anew = Anew()
    steps = run("staterag", deps(memory=shelf, graph=anew), **MARS, memory="shared")
    assert not [op for op in ops(steps) if op.operation == "read"]
    assert finished(steps).branch in ("RELEASE", "FALLBACK")


def test_a_question_of_other_names_reuses_nothing() -> None:
    shelf = Shelf()
    run("staterag", deps(memory=shelf), **MARS, memory="shared")
    other = QUESTION.replace("Kestrel Records", "Low Tide")
    steps = run("staterag", deps(memory=shelf), question=other, **MARS, memory="shared")
    assert not [op for op in ops(steps) if op.operation == "read"]


def test_isolated_runs_leave_no_trace_and_see_none() -> None:
    shelf = Shelf()
    run("staterag", deps(memory=shelf), **MARS, memory="shared")
    kept = dict(shelf.kept)
    isolated = run("staterag", deps(memory=shelf), **MARS)
    assert shelf.kept == kept
    assert trace.start(isolated).memory_digest == "empty"
    assert not any(isinstance(s.event, Called) and s.event.port == "memory" for s in isolated)
    assert ops(isolated)


def test_the_snapshot_of_a_run_is_named_at_its_start() -> None:
    shelf = Shelf()
    digests = []
    for _ in range(2):
        steps = run("staterag", deps(memory=shelf), **MARS, memory="shared")
        started = steps[0].event
        assert isinstance(started, RunStarted)
        digests.append(started.memory_digest)
    assert digests[0] != digests[1]


def test_artifacts_are_transient_until_the_action_is_chosen() -> None:
    steps = run("staterag", **MARS)
    acted = next(
        s.seq
        for s in steps
        if isinstance(s.event, Decided) and s.event.decider == "staterag.action"
    )
    for step in steps:
        if isinstance(step.event, MemoryOp):
            assert (step.event.operation == "persist") == (step.seq > acted)


def test_a_fork_recalls_what_the_run_did_and_keeps_nothing() -> None:
    shelf = Shelf()
    run("staterag", deps(memory=shelf), **MARS, memory="shared")
    steps = run("staterag", deps(memory=shelf), question=ALIKE, **MARS, memory="shared")
    shelf.kept.clear()
    at = next(s.seq for s in steps if s.stage == "retriever")
    forked = list(fork(steps, at, deps(memory=shelf), Kept()))
    apart = trace.diff(steps, forked, first=1)
    assert apart is not None
    assert apart.seq > at
    assert [op.artifact for op in ops(forked) if op.operation == "read"] == [
        op.artifact for op in ops(steps) if op.operation == "read"
    ]
    assert finished(forked).answer == finished(steps).answer
    assert not shelf.kept


# --- the durable store --------------------------------------------------------------------------


def path_of(name: str, size: int = 2) -> Artifact:
    return artifact(PathArtifact(nodes=("root", *(f"{name}{n}" for n in range(size)))), name)


def test_what_was_kept_is_there_after_the_process(tmp_path: Path) -> None:
    kept = [path_of("a"), path_of("b")]
    one = Journal(tmp_path)
    one.memory().open(SCOPE).persist(kept, ())
    one.close()
    again = Journal(tmp_path).memory()
    assert again.open(SCOPE).entries() == tuple(sorted(kept, key=lambda a: a.id))
    (holding,) = again.holdings()
    assert (holding.scope, holding.entries) == (SCOPE, 2)
    assert holding.bytes > 100


def test_a_snapshot_stays_as_it_was(tmp_path: Path) -> None:
    memory = Journal(tmp_path).memory()
    before = memory.open(SCOPE)
    before.persist([path_of("a")], ())
    assert before.entries() == ()
    assert before.digest == "empty"
    assert memory.open(SCOPE).digest != "empty"


def test_scopes_workspaces_and_grants_are_apart(tmp_path: Path) -> None:
    corpus = CorpusRef(id="c", version="1")
    grants = [
        Access(),
        Access(tenants=frozenset()),
        Access(tenants=frozenset({"a"})),
        Access(tenants=frozenset({"a", "b"})),
        Access(tenants=frozenset({"a"}), source_tiers=frozenset({"official"})),
        Access(source_tiers=frozenset()),
    ]
    scopes = [MemoryScope.of(corpus, access) for access in grants]
    scopes += [MemoryScope.of(CorpusRef(id="c", version="2"), Access())]
    assert len({s.key for s in scopes}) == len(scopes)
    memory = Journal(tmp_path).memory()
    for n, scope in enumerate(scopes):
        memory.open(scope).persist([path_of(f"q{n}")], ())
    for n, scope in enumerate(scopes):
        assert [a.question for a in memory.open(scope).entries()] == [f"q{n}"]
    assert Journal(tmp_path, "another").memory().holdings() == []
    assert memory.clear(scopes[0]) == 1
    assert len(memory.holdings()) == len(scopes) - 1
    assert memory.clear() == len(scopes) - 1


GRANT = st.none() | st.frozensets(
    st.sampled_from(["", "*", "!", "-", "a", "b", "a+b", "tier:a", "%2B", "tier:", "\u00fc"]),
    max_size=3,
)


@given(GRANT, GRANT, GRANT, GRANT)
def test_no_name_of_a_tenant_or_tier_reaches_anothers_scope(
    tenants: frozenset[str] | None,
    tiers: frozenset[str] | None,
    others: frozenset[str] | None,
    other_tiers: frozenset[str] | None,
) -> None:
    corpus = CorpusRef(id="c", version="1")
    one = Access(tenants=tenants, source_tiers=tiers)
    two = Access(tenants=others, source_tiers=other_tiers)
    assert (MemoryScope.of(corpus, one) == MemoryScope.of(corpus, two)) == (one == two)


@pytest.mark.parametrize("damaged", ["{", "[]", "null", '{"id": "x"}', "\x00"])
def test_a_damaged_artifact_is_said_and_the_question_is_answered_without_it(
    tmp_path: Path, damaged: str
) -> None:
    import sqlite3

    memory = Journal(tmp_path).memory()
    first = run("staterag", deps(memory=memory), **MARS, memory="shared")
    scope = memory.holdings()[0].scope
    with sqlite3.connect(tmp_path / "journal.db") as database:
        row = database.execute("SELECT min(id) FROM memory_artifacts").fetchone()
        database.execute("UPDATE memory_artifacts SET json = ? WHERE id = ?", (damaged, *row))
    database.close()
    second = run("staterag", deps(memory=memory), **MARS, memory="shared")
    assert finished(second).answer == finished(first).answer
    (said,) = [s.event for s in second if s.event.kind == "Warned"]
    assert said.fault == "damaged_memory"
    assert "goes on without" in said.effect
    assert memory.clear(scope)
    assert not [
        s
        for s in run("staterag", deps(memory=memory), **MARS, memory="shared")
        if s.event.kind == "Warned"
    ]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(2, 40)), max_size=25))
def test_a_scope_stays_within_its_bounds_and_the_longest_unused_goes_first(
    tmp_path_factory: pytest.TempPathFactory, puts: list[tuple[int, int]]
) -> None:
    journal = Journal(tmp_path_factory.mktemp("pool"))
    memory = journal.memory()
    memory.max_entries, memory.max_bytes = 5, 2_500
    order: list[str] = []
    for name, size in puts:
        new = path_of(f"q{name}", size)
        held = [a.id for a in memory.artifacts(SCOPE)]
        used = held[:1]
        persisted = memory.open(SCOPE).persist([new], used)
        for i in sorted({*used, new.id}):
            order = [*(o for o in order if o != i), i]
        left = [a.id for a in memory.artifacts(SCOPE)]
        assert len(left) <= 5
        (holding,) = memory.holdings() or (None,)
        assert holding is None or holding.bytes <= 2_500
        assert set(persisted.evicted) == ({*held, new.id}) - set(left)
        assert new.id in left or new.id in persisted.evicted
    journal.close()


def test_eviction_takes_the_one_that_was_not_used(tmp_path: Path) -> None:
    memory = Journal(tmp_path).memory()
    memory.max_entries = 2
    a, b, c = path_of("a"), path_of("b"), path_of("c")
    for kept, used in (([a], ()), ([b], ()), ([], (a.id,)), ([c], ())):
        persisted = memory.open(SCOPE).persist(kept, used)
    assert persisted.evicted == (b.id,)
    assert {x.id for x in memory.artifacts(SCOPE)} == {a.id, c.id}


def test_a_store_that_cannot_be_written_is_said_and_the_answer_stands() -> None:
    from core.errors import JournalFull

    class Full(Shelf):
        def open(self, scope: MemoryScope) -> Full:
            return self

        def persist(self, artifacts: object, used: object) -> object:  # type: ignore[override]
            raise JournalFull("The disk is full; free space.")

    steps = run("staterag", deps(memory=Full()), **MARS, memory="shared")
    assert finished(steps).terminal == "answered"
    assert any(s.event.kind == "Warned" and "Nothing was kept" in s.event.effect for s in steps)
