"""A small world behind the ports: a few passages, a clock that ticks, a reasoner by rules.

Only ports are faked here; systems, steps, runs and the journal are the real ones.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from core import runs
from core.errors import BadInput, StaleIndex
from core.events import Step
from core.graph import ADMISSIBLE, GraphEdge, NodeType, PathFacts, Spread
from core.journal import Journal
from core.memory import Artifact, MemoryScope, Persisted
from core.observations import read_observation
from core.ports import Deps
from core.reasoning.scripted import Script, ScriptedReasoner
from core.registry import system
from core.retrieval.tokenizer import content_terms
from core.tasks import (
    AnswerRequest,
    DecomposeRequest,
    Decomposition,
    ForageReply,
    ForageRequest,
    HopAnswer,
    HopRequest,
    Plan,
    PlanRequest,
    Reading,
    Rewrite,
    RewriteRequest,
    Support,
    Verification,
    VerifyRequest,
    WriteQueryRequest,
    WrittenQuery,
)
from core.types import Access, Channel, CorpusRef, Passage, Scored, digest

TEXTS = {
    "Kestrel Records": "Kestrel Records is a label. Its first signing was the drummer Ada Bell.",
    "Ada Bell": "Ada Bell is a drummer. She founded the band Low Tide in 1987.",
    "Low Tide": "Low Tide is a band from Whitby. Its singer is Tom Reeve.",
    "Whitby": "Whitby is a town on the coast of Yorkshire.",
    "Herring": "The herring is a fish. It is smoked in Whitby.",
    "Tom Reeve": "Tom Reeve sings. He was born in Leeds.",
}
QUESTION = "Which band did the drummer of Kestrel Records found?"


def passage(title: str, text: str) -> Passage:
    return Passage(
        id=digest(title + text),
        document=f"{title}.md",
        title=title,
        text=text,
        start=0,
        end=len(text),
        digest=digest(text),
    )


PASSAGES = tuple(passage(title, text) for title, text in TEXTS.items())


class Words:
    """Counts words as tokens."""

    def count(self, text: str) -> int:
        return len(text.split())


class TickingClock:
    """Each look at it takes a millisecond."""

    def __init__(self) -> None:
        self.ticks = 0

    def monotonic(self) -> float:
        self.ticks += 1
        return self.ticks / 1000

    def now(self) -> datetime:
        return datetime(2024, 5, 1, tzinfo=UTC) + timedelta(milliseconds=self.ticks)


class WordRetriever:
    """Ranks by shared words; counts its searches."""

    corpus = CorpusRef(id="world", version="1")

    def __init__(self, passages: tuple[Passage, ...] = PASSAGES) -> None:
        self.passages, self.searches = passages, 0

    def search(self, query: str, k: int, channel: Channel, access: Access) -> list[Scored]:
        self.searches += 1
        words = set(query.lower().replace("?", "").split())
        scored = []
        for p in self.passages:
            shared = len(words & set(f"{p.title} {p.text}".lower().replace(".", "").split()))
            if shared and access.allows(p.metadata):
                scored.append((-shared, p.id, p))
        scored.sort()
        return [
            Scored(passage=p, score=-s, calibrated=-s / (1 - s), rank=n, lexical=-s)
            for n, (s, _, p) in enumerate(scored[:k], start=1)
        ]

    def read(self, passage_id: str, access: Access) -> Passage:
        for p in self.passages:
            if p.id == passage_id and access.allows(p.metadata):
                return p
        raise StaleIndex("There is no such passage; re-index the corpus.")

    def neighbours(self, passage_id: str, width: int, access: Access) -> list[Passage]:
        return []


class WordGraph:
    """A small typed graph: a topic, a relation for each title, and the passages that name it. One
    edge is of types that may not follow each other."""

    digest = "words"
    root = "root"

    def __init__(self, passages: tuple[Passage, ...] = PASSAGES) -> None:
        self.passages = {p.id: p for p in passages}
        self.edges: set[tuple[str, str]] = {("root", "topic"), ("root", passages[0].id)}
        for p in passages:
            named = {q.id for q in passages if p.title in q.text or q is p}
            self.edges |= {("topic", f"about {p.title}")}
            self.edges |= {(f"about {p.title}", q) for q in named}

    def type_of(self, node: str) -> NodeType | None:
        if node in self.passages:
            return "EVIDENCE"
        if node in ("root", "topic"):
            return "ROOT" if node == "root" else "TOPIC"
        return "RELATION" if ("topic", node) in self.edges else None

    def _likeness(self, query: str, node: str) -> float:
        passage = self.passages.get(node)
        text = f"{passage.title} {passage.text}" if passage else node
        words = set(query.lower().replace("?", "").split())
        return len(words & set(text.lower().replace(".", "").split())) / max(1, len(words))

    def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
        found = []
        for parent, child in sorted(self.edges):
            types = (self.type_of(parent), self.type_of(child))
            assert types[0] is not None and types[1] is not None  # noqa: PT018
            if parent not in parents:
                continue
            pair = (types[0], types[1])
            likeness = self._likeness(query, child) if pair in ADMISSIBLE else None
            found.append(
                GraphEdge(parent=parent, child=child, types=pair, lexical=likeness, dense=likeness)
            )
        return found

    def facts(self, path: Sequence[str], access: Access) -> PathFacts:
        return PathFacts(
            root=self.root,
            types=tuple(self.type_of(node) for node in path),
            edges=tuple(pair in self.edges for pair in pairwise(path)),
        )

    def texts(self, nodes: Sequence[str], access: Access) -> list[str]:
        return [*nodes]

    def spread(self, terms: Sequence[str], access: Access) -> Spread:
        texts = [
            frozenset(content_terms(f"{p.title} {p.text}"))
            for p in self.passages.values()
            if access.allows(p.metadata)
        ]
        holders = tuple(sum(term in held for held in texts) for term in terms)
        return Spread(passages=len(texts), holders=holders)

    def region(self, node: str, query: str, width: int, access: Access) -> list[Scored]:
        if node not in self.passages:
            raise StaleIndex("There is no such passage; re-index the corpus.")
        here = self.passages[node]
        linked = [
            (
                -(q is here) - (q.title in here.text or here.title in q.text),
                -self._likeness(query, q.id),
                q.id,
                q,
            )
            for q in self.passages.values()
            if access.allows(q.metadata)
        ]
        return [
            Scored(passage=q, score=-likeness + 0.1, calibrated=0.5, rank=n, dense=-likeness)
            for n, (_, likeness, _, q) in enumerate(sorted(linked)[:width], 1)
        ]


class Shelf:
    """A global store in memory, of every scope."""

    def __init__(self, *artifacts: Artifact) -> None:
        self.kept = {a.id: a for a in artifacts}

    @property
    def digest(self) -> str:
        return digest(sorted(self.kept))

    def open(self, scope: MemoryScope) -> Shelf:
        return self

    def entries(self) -> list[Artifact]:
        return [self.kept[i] for i in sorted(self.kept)]

    def persist(self, artifacts: Sequence[Artifact], used: Sequence[str]) -> Persisted:
        self.kept |= {a.id: a for a in artifacts}
        return Persisted(kept=tuple(a.id for a in artifacts))


def _plan(request: Any) -> Plan:
    assert isinstance(request, PlanRequest)
    facts = ("the drummer of Kestrel Records", "the band that the drummer founded")
    return Plan(objective="Find the band", required_facts=facts, entities=("Kestrel Records",))


def _verify(request: Any) -> Verification:
    assert isinstance(request, VerifyRequest)
    titles = {p.title for p in request.passages}
    unhelpful = tuple(p.id for p in request.passages if p.title in ("Herring", "Whitby"))
    found = "Ada Bell" in titles
    return Verification(
        support=0.8 if found else 0.3,
        conflict=0.0,
        uncertainty=0.3 if found else 0.8,
        gap=0.2 if found else 0.7,
        unhelpful=unhelpful,
        draft="Low Tide" if found else "",
    )


def _write_query(request: Any) -> WrittenQuery:
    assert isinstance(request, WriteQueryRequest)
    known = [p.title for p in request.passages]
    fresh = [t for t in TEXTS if t not in known]
    if not fresh:
        return WrittenQuery(query="", rationale="all is held", nothing_missing=True)
    return WrittenQuery(query=f"{fresh[0]} band", rationale="a new name", bridge=fresh[0])


def _rewrite(request: Any) -> Rewrite:
    assert isinstance(request, RewriteRequest)
    return Rewrite(
        query=f"{request.question} drummer {len(request.previous)}",
        transformation="keywords",
        rationale="fewer words",
    )


def _answer(request: Any) -> Reading:
    assert isinstance(request, AnswerRequest)
    for p in request.passages:
        at = p.text.find("Low Tide")
        if at >= 0:
            place = Support(passage_id=p.id, start=at, end=at + len("Low Tide"))
            return Reading(answer="Low Tide", supports=(place,), confidence=0.9)
    return Reading(answer="")


def _forage(request: Any) -> ForageReply:
    assert isinstance(request, ForageRequest)
    done = [entry.action for entry in request.transcript]
    if not done:
        return ForageReply(text=f"RANK: {request.question}")
    listed = [row for e in request.transcript for row in read_observation(e.observation).ranked]
    unread = [row.handle for row in listed if f"READ: {row.handle}" not in done]
    if unread and len(done) < 3:
        return ForageReply(text=f"READ: {unread[0]}")
    if "RANK: Ada Bell band" not in done:
        return ForageReply(text="RANK: Ada Bell band")
    return ForageReply(text="ANSWER: Low Tide")


def _decompose(request: Any) -> Decomposition:
    assert isinstance(request, DecomposeRequest)
    return Decomposition(
        sub_questions=("Who is the drummer of Kestrel Records?", "Which band did #1 found?")
    )


def _hop_answer(request: Any) -> HopAnswer:
    assert isinstance(request, HopRequest)
    found = any("Ada Bell" in p.text for p in request.passages)
    return HopAnswer(answer="Ada Bell" if found else "")


SCRIPT: Mapping[str, Script] = {
    "verify": _verify,
    "plan": _plan,
    "write_query": _write_query,
    "rewrite": _rewrite,
    "answer": _answer,
    "forage_turn": _forage,
    "decompose": _decompose,
    "hop_answer": _hop_answer,
    "compose": _answer,
}


class WordReranker:
    """Scores by shared words, in a scale of its own."""

    def check(self, model: str) -> None:
        if model == "missing":
            raise BadInput("There is no such cross-encoder; give a folder.")

    def scores(self, model: str, query: str, passages: Sequence[Passage]) -> list[float]:
        words = set(query.lower().split())
        return [2.0 * len(words & set(p.text.lower().split())) - 3 for p in passages]


def deps(script: Mapping[str, Script] | None = None, **changes: Any) -> Deps:
    """Fresh ports over the small world."""
    ports: dict[str, Any] = {
        "retriever": WordRetriever(),
        "reasoner": ScriptedReasoner({**SCRIPT, **(script or {})}, Words()),
        "tokens": Words(),
        "clock": TickingClock(),
        "reranker": WordReranker(),
        "graph": WordGraph(),
    }
    return Deps(**{**ports, **changes})


class Kept:
    """A recorder in memory."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.batches: list[int] = []

    def append(self, steps: list[Step]) -> None:
        self.steps += steps
        self.batches.append(len(steps))


def spec(
    name: str = "beliefrag", question: str = QUESTION, faults: tuple[Any, ...] = (), **settings: Any
) -> runs.RunSpec:
    """A run of a registered system, with some settings changed."""
    chosen = system(name)
    return runs.RunSpec(chosen, question, chosen.settings(**settings), faults=faults)


def run(name: str = "beliefrag", world: Deps | None = None, **changes: Any) -> list[Step]:
    """The steps of one run in the small world."""
    return list(runs.execute(spec(name, **changes), world or deps(), Kept()))


def journal(directory: Path) -> Journal:
    return Journal(directory)


def append_at_once(journal: Journal, runs: Sequence[Sequence[Step]]) -> None:
    """Write every run from a thread of its own, step by step."""

    def write(steps: Sequence[Step]) -> None:
        for step in steps:
            journal.append([step])

    threads = [threading.Thread(target=write, args=(steps,)) for steps in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
