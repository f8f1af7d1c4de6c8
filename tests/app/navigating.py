"""StateRAG runs over a hand-made graph of the three-document world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from core import registry
from core.events import Step
from core.graph import GraphEdge, NodeType, PathFacts, Spread
from core.ports import Deps
from core.runs import RunSpec, execute
from core.settings import override
from core.tasks import Allowance, Performed, Plan, Verification
from core.types import Access, Scored
from tests.app.recorded import (
    BETTANY,
    JARVIS,
    OTHER,
    QUESTION,
    Judge,
    Kept,
    Ticking,
    Words,
    World,
)

ROOT = "root:handmade"
TYPES: dict[str, NodeType] = {
    ROOT: "ROOT",
    "topic:films": "TOPIC",
    "topic:people": "TOPIC",
    "relation:jarvis": "RELATION",
    "relation:moon": "RELATION",
    "relation:wedding": "RELATION",
    JARVIS.id: "EVIDENCE",
    BETTANY.id: "EVIDENCE",
    OTHER.id: "EVIDENCE",
}
EDGES: tuple[tuple[str, str, float], ...] = (
    (ROOT, "topic:films", 0.6),
    (ROOT, "topic:people", 0.5),
    (ROOT, "relation:moon", 0.9),
    ("topic:films", "relation:jarvis", 0.7),
    ("topic:films", "relation:moon", 0.2),
    ("topic:people", "relation:wedding", 0.4),
    ("relation:jarvis", JARVIS.id, 0.8),
    ("relation:moon", OTHER.id, 0.1),
    ("relation:wedding", BETTANY.id, 0.5),
)


@dataclass
class Graph:
    """A TAM at its port; the edge from the root to a relation is one that no walk may take."""

    texts_of: dict[str, str] = field(default_factory=dict)
    digest: str = "handmade"
    root: str = ROOT

    def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
        found = []
        for a, b, score in sorted(EDGES):
            if a in parents:
                types = (TYPES[a], TYPES[b])
                scored = types != ("ROOT", "RELATION")
                found.append(
                    GraphEdge(
                        parent=a,
                        child=b,
                        types=types,
                        lexical=score if scored else None,
                        dense=score if scored else None,
                    )
                )
        return found

    def facts(self, path: Sequence[str], access: Access) -> PathFacts:
        pairs = {(a, b) for a, b, _ in EDGES}
        return PathFacts(
            root=ROOT,
            types=tuple(TYPES.get(n) for n in path),
            edges=tuple(pair in pairs for pair in pairwise(path)),
        )

    def texts(self, nodes: Sequence[str], access: Access) -> list[str]:
        return [self.texts_of.get(n, "") for n in nodes]

    def spread(self, terms: Sequence[str], access: Access) -> Spread:
        return Spread(passages=3, holders=tuple(1 for _ in terms))

    def region(self, node: str, query: str, width: int, access: Access) -> list[Scored]:
        order = [p for p in (JARVIS, BETTANY, OTHER) if p.id == node]
        order += [p for p in (JARVIS, BETTANY, OTHER) if p.id != node]
        return [
            Scored(passage=p, score=2.0 - 0.3 * n, calibrated=0.6, rank=n, lexical=1.0, dense=0.4)
            for n, p in enumerate(order[:width], 1)
        ]


@dataclass
class Roles(Judge):
    """Plans from the question; the verdicts are listed: not enough, then enough."""

    plan: Plan | None = None

    def perform(self, task: Any, request: Any, allowance: Allowance) -> Performed[Any]:
        if task.name == "plan":
            self.wait()
            given = self.plan or Plan(
                objective=f"Find: {request.question}",
                required_facts=("Who plays Jarvis?", "Who is married to him?"),
                entities=("Jarvis",),
            )
            return Performed(given)
        return super().perform(task, request, allowance)


def navigated(
    *,
    roles: Judge | None = None,
    graph: Graph | None = None,
    mode: str = "isolated",
    question: str = QUESTION,
    run_id: str = "navigatedrun",
    **settings: Any,
) -> list[Step]:
    """The steps of a whole StateRAG run: by default two cycles, REVISE and RELEASE."""
    system = registry.system("staterag")
    deps = Deps(
        retriever=World(),
        reasoner=roles or Roles(),
        tokens=Words(),
        clock=Ticking(),
        graph=graph or Graph(),
    )
    chosen = override(system.settings(), {"bypass_rule": "off", "memory": mode} | settings)
    spec = RunSpec(system=system, question=question, settings=chosen, run_id=run_id)
    return list(execute(spec, deps, Kept()))


NOT_ENOUGH = Verification(support=0.1, conflict=0.0, uncertainty=0.5, gap=0.9)
