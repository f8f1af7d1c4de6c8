"""One event of every kind, with every field that can differ from its default set."""

from __future__ import annotations

from datetime import UTC, datetime

from core import events as e
from core.types import (
    Access,
    Budgets,
    Citation,
    CorpusRef,
    Frozen,
    Gate,
    Metadata,
    Passage,
    Usage,
)

_PASSAGE = Passage(
    id="p1",
    document="notes/Ada Bell.md",
    title="Ada Bell",
    text="Ada Bell founded Low Tide.\nIn 1987.",
    start=3,
    end=38,
    digest="d1",
    line_start=2,
    line_end=3,
    metadata=Metadata(source_tier="official", date="1990-01-02", tenant="north"),
)
_HIT = e.Hit(
    id="p1",
    title="Ada Bell",
    score=2.5,
    calibrated=0.75,
    rank=1,
    lexical=2.5,
    dense=-0.25,
    reranked=2.5,
)
_BELIEF = e.Belief(
    sufficiency=0.25, reliability=0.5, conflict=0.0, uncertainty=1.0, gap=0.75, cost=0.125
)
_GATE = Gate(name="answer", value=0.75, op=">=", threshold=0.5, margin=0.25, fired=True)
_CITATION = Citation(passage_id="p1", start=0, end=8, quote="Ada Bell")
_USAGE = Usage(calls=2, tokens=300, rounds=1, actions=2, seconds=1.25, cost=0.0125)

EVENTS: tuple[Frozen, ...] = (
    e.RunStarted(
        system="static",
        question="Who founded Low Tide?",
        settings={"top_k": 5, "nested": {"x": [1, 2.5, None, True, "é"]}},
        corpus=CorpusRef(id="world", version="1"),
        reasoner="llm",
        model="ollama/small",
        budgets=Budgets(calls=3, tokens=1000, rounds=1, actions=2, seconds=9.5, cost=0.5),
        access=Access(tenants=frozenset({"north"}), source_tiers=frozenset({"official"})),
        seed=7,
        memory_digest="empty",
        origin="fork",
        faults=("empty-shard@retrieve",),
        graph="g" * 16,
        parent=e.ParentStep(run_id="parent", seq=4),
    ),
    e.Proposed(role="planner", field="plan", value={"objective": "find the founder"}),
    e.Validated(validator="plan schema", verdict="reject", reason="no entity is named"),
    e.Committed(field="plan", before="a" * 16, after="b" * 16),
    e.QueryIssued(
        query="Low Tide founder",
        parent="Who founded Low Tide?",
        transformation="bridge",
        rationale="names the band",
        constraints_kept=False,
        overlap=0.5,
    ),
    e.Called(
        port="reasoner",
        task="answer",
        request_digest="c" * 16,
        response={"answer": "Ada Bell", "supports": [], "confidence": 0.5},
        error=None,
        ms=12.5,
        tokens_in=80,
        tokens_out=2,
        attempt=2,
        cached=True,
        cost=0.25,
    ),
    e.ModelCalled(
        task="answer",
        prompt="Answer.",
        reply="{}",
        model="ollama/small",
        tokens_in=80,
        tokens_out=2,
        ms=11.5,
        attempt=2,
        cached=True,
        error="malformed_output: it is empty",
    ),
    e.PassagesShown(passages=(_PASSAGE,)),
    e.Retrieved(query="Low Tide founder", channel="fused", passages=(_HIT,), ms=4.5),
    e.EvidenceChanged(added=("p1",), removed=("p2",), banned=("p2", "p3"), reason="flagged"),
    e.DiagnosticsMeasured(
        relevance=0.5,
        support=0.25,
        conflict=0.0,
        uncertainty=1.0,
        gap=0.75,
        novelty=0.5,
        cost=0.125,
        signals={"coverage": 0.5},
    ),
    e.BeliefUpdated(
        before=_BELIEF,
        instantaneous=_BELIEF,
        after=_BELIEF.model_copy(update={"gap": 0.25}),
        p_ans=0.5,
        p_flip=0.25,
        terms=(e.Term(dimension="gap", signal="support", weight=-1.5, value=0.5, product=-0.75),),
    ),
    e.Decided(
        decider="static.next",
        inputs={"rounds": 1, "actions": 1, "tokens": 0, "evidence": 2, "next_tokens": 9},
        gates=(_GATE,),
        outcome="answer",
        reason="The schedule is done.",
    ),
    e.PathExplored(
        round=1,
        frontier=("n1",),
        transitions=(
            e.Transition(
                parent="n1",
                child="n2",
                types=("TOPIC", "RELATION"),
                admissible=True,
                lexical=0.5,
                dense=0.25,
                score=0.75,
            ),
        ),
        dropped_count=3,
    ),
    e.PathCommitted(path=("n1", "n2"), region=("p1",)),
    e.ForageTurn(turn=1, action="RANK", argument="low tide", observation="1. Low", error="repeat"),
    e.HopResolved(
        hop=1, sub_question="Who led #1?", filled="Who led it?", passages=("p1",), answer="Ada"
    ),
    e.Composed(
        passages=(e.Route(id="p1", route="read"),),
        trimmed=(e.Trimmed(id="p2", route="backfill", reason="window"),),
        hint="a person",
    ),
    e.Grounded(grounded=True, citations=(_CITATION,)),
    e.MemoryOp(
        role="V",
        operation="write",
        scope="world/1",
        artifact="path",
        allowed=False,
        reason="not the owner",
    ),
    e.Probed(at_seq=5, answer="Ada Bell", tokens=90),
    e.FaultInjected(fault="rate-limit", where="answer: answer", effect="refused"),
    e.Warned(fault="stale_index", where="retrieve", effect="went on without"),
    e.RunFinished(
        terminal="answered",
        branch="schedule",
        answer="Ada Bell",
        grounded=True,
        citations=(_CITATION,),
        evidence=("p1",),
        usage=_USAGE,
        reason="The schedule is done.",
    ),
)


def step(event: Frozen, seq: int = 3) -> e.Step:
    return e.Step(
        run_id="r" * 24,
        seq=seq,
        parent_seq=seq - 1 if seq else None,
        branch="b2" if seq else "main",
        at=datetime(2024, 2, 29, 12, 30, 1, 250_000, tzinfo=UTC),
        elapsed_ms=17.5,
        stage="answer",
        usage=_USAGE,
        event=event,
    )
