"""The typed abstraction memory (TAM) as a run sees it: node types, and the port to it.

A rooted, typed, acyclic graph over a corpus (StateRAG, section 2 of the seed): ROOT, TOPIC,
RELATION and EVIDENCE nodes, several parents allowed, one EVIDENCE node a passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Literal, Protocol

from pydantic import BeforeValidator, Field, JsonValue, PlainSerializer

from core.types import Access, Count, Finite, Frozen, Scored, Unit

NodeType = Literal["ROOT", "TOPIC", "RELATION", "EVIDENCE"]
TypePair = tuple[NodeType, NodeType]
ADMISSIBLE: frozenset[TypePair] = frozenset(
    {
        ("ROOT", "TOPIC"),
        ("TOPIC", "TOPIC"),
        ("TOPIC", "RELATION"),
        ("RELATION", "RELATION"),
        ("RELATION", "EVIDENCE"),
    }
)
"""The only (parent, child) types that an edge may have."""
TEXT_KEPT = 120
"""So many characters of an abstraction are recorded: what a node is called."""


class GraphEdge(Frozen):
    """An edge, and how well its child meets a query.

    ``lexical``: idf share of the query's terms in the child's routing text. ``dense``: cosine of
    the query and the child. Both are None where the type pair is not admissible: refused
    transitions are never scored.
    """

    parent: str
    child: str
    types: TypePair
    lexical: Unit | None = None
    dense: Annotated[float, Field(ge=-1.0, le=1.0)] | None = None


def _packed(edges: tuple[GraphEdge, ...]) -> list[JsonValue]:
    """Edges as they are recorded: what leaves one parent by one pair of types is
    ``[parent, types, [[child, lexical, dense], ...]]``."""
    return [
        [parent, [*types], [[e.child, e.lexical, e.dense] for e in group]]
        for (parent, types), group in groupby(edges, key=lambda e: (e.parent, e.types))
    ]


def _unpacked(recorded: object) -> object:
    """What is packed, one by one; anything else as it is."""
    if not isinstance(recorded, (list, tuple)):
        return recorded
    found: list[object] = []
    for item in recorded:
        if not isinstance(item, (list, tuple)):
            found.append(item)
            continue
        try:
            parent, types, children = item
            found += [
                {"parent": parent, "types": types, "child": c, "lexical": lexical, "dense": dense}
                for c, lexical, dense in children
            ]
        except (TypeError, ValueError):
            raise ValueError(
                "edges are packed as [parent, types, [[child, lexical, dense]]]"
            ) from None
    return found


Edges = Annotated[
    tuple[GraphEdge, ...], BeforeValidator(_unpacked), PlainSerializer(_packed, when_used="json")
]
"""Edges that are recorded packed, at a quarter of their size; both forms are read."""


class Expansion(Frozen):
    """Recorded form of an expansion."""

    edges: Edges


class PathFacts(Frozen):
    """What the graph holds of a proposed path, from which alone it is judged.

    ``types[i]`` is the type of the path's i-th node, None for a node that is not there;
    ``edges[i]`` says whether the edge from node i to node i + 1 is there.
    """

    root: str
    types: tuple[NodeType | None, ...]
    edges: tuple[bool, ...]


class RegionHit(Frozen):
    """A passage of a region: ``score`` is its link weight and likeness to the query; ``lexical``
    and ``dense`` are its own scores for the query."""

    id: str
    title: str
    score: Finite
    lexical: Finite | None = None
    dense: Finite | None = None


class Region(Frozen):
    """Recorded form of a region; the passages' texts are in ``PassagesShown``."""

    hits: tuple[RegionHit, ...]


class NodeTexts(Frozen):
    """Recorded form of abstractions: (node id, its abstraction, cut to ``TEXT_KEPT``)."""

    nodes: tuple[tuple[str, str], ...]


class Spread(Frozen):
    """How many passages there are, and how many of them hold each term asked about, in order."""

    passages: Count
    holders: tuple[Count, ...]


class AbstractionMemory(Protocol):
    """The TAM of one corpus. Every method is a call of the port ``retriever``. The id of an
    EVIDENCE node is its passage's id."""

    @property
    def digest(self) -> str:
        """Digest of the graph: of its passages, its settings and its seed."""

    @property
    def root(self) -> str:
        """Id of the ROOT node."""

    def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
        """Every edge out of these nodes, in order of (parent, child). A child of which ``access``
        allows no passage is left out.

        Raises:
            RetrieverError: the graph cannot answer (not built, stale).
        """

    def facts(self, path: Sequence[str], access: Access) -> PathFacts:
        """What the graph holds of a path; nodes outside ``access`` count as not there."""

    def texts(self, nodes: Sequence[str], access: Access) -> list[str]:
        """The abstraction of each node, as a person reads it, drawn only from passages that
        ``access`` allows; empty for one that is not there."""

    def spread(self, terms: Sequence[str], access: Access) -> Spread:
        """In how many of the allowed passages the index's terms are found, by title or text."""

    def region(self, node: str, query: str, width: int, access: Access) -> list[Scored]:
        """The retrieval region of an EVIDENCE node: its own passage and up to ``width - 1``
        others, best first by link weight and likeness to the query, ties by passage id.

        Raises:
            StaleIndex: there is no such EVIDENCE node, or ``access`` does not allow it.
        """
