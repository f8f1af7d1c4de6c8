"""Builds short runs, event by event, for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from core.events import (
    EvidenceChanged,
    Hit,
    PassagesShown,
    QueryIssued,
    Retrieved,
    RunFinished,
    RunStarted,
    Step,
)
from core.types import Access, Budgets, CorpusRef, Metadata, Passage, Usage

AT = datetime(2026, 1, 2, tzinfo=UTC)


def passage(id_: str, text: str = "text", **changes: Any) -> Passage:
    fields = {"id": id_, "document": id_, "title": id_, "text": text} | changes
    return Passage(**fields)


def run(*events: Any, run_id: str = "run") -> list[Step]:
    return [
        Step(
            run_id=run_id,
            seq=seq,
            parent_seq=seq - 1 if seq else None,
            at=AT,
            elapsed_ms=float(seq),
            stage="s",
            event=event,
        )
        for seq, event in enumerate(events)
    ]


def start(*, access: Access | None = None, **budgets: Any) -> RunStarted:
    return RunStarted(
        system="static",
        question="q",
        settings={},
        corpus=CorpusRef(id="c", version="1"),
        reasoner="scripted",
        model=None,
        budgets=Budgets(**budgets),
        access=access or Access(),
        seed=0,
        memory_digest="empty",
        origin="live",
    )


def search(query: str, *ids: str) -> tuple[QueryIssued, PassagesShown, Retrieved]:
    hits = tuple(
        Hit(id=i, title=i, score=1.0, calibrated=0.5, rank=rank) for rank, i in enumerate(ids, 1)
    )
    return (
        QueryIssued(query=query, transformation="verbatim", rationale=""),
        PassagesShown(passages=tuple(passage(i) for i in ids)),
        Retrieved(query=query, channel="fused", passages=hits),
    )


def hold(*ids: str) -> EvidenceChanged:
    return EvidenceChanged(added=ids, reason="retrieved")


def prune(*ids: str) -> EvidenceChanged:
    return EvidenceChanged(removed=ids, banned=ids, reason="flagged")


def end(
    answer: str | None = "Paris",
    *evidence: str,
    terminal: Any = "answered",
    usage: Usage | None = None,
) -> RunFinished:
    return RunFinished(
        terminal=terminal,
        branch="b",
        answer=answer,
        grounded=False,
        citations=(),
        evidence=evidence,
        usage=usage or Usage(),
    )


def of_tenant(id_: str, tenant: str) -> Passage:
    return passage(id_, metadata=Metadata(tenant=tenant))


def gold(*facts: str | set[str]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset({f} if isinstance(f, str) else f) for f in facts)
