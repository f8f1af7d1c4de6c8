"""The typed abstraction memory as a value, and the proof that it is one.

A TAM is a rooted typed DAG over a corpus (StateRAG, section "Typed Abstraction Memory"). Nodes
are numbered: the root, topics, relations, then one EVIDENCE node a passage in ascending order
of passage ids. Building it is in ``tam_build``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import numpy as np
import numpy.typing as npt
from pydantic import Field

from core.graph import ADMISSIBLE, NodeType
from core.types import Frozen, Passage

TYPES: tuple[NodeType, ...] = ("ROOT", "TOPIC", "RELATION", "EVIDENCE")
ROOT, TOPIC, RELATION, EVIDENCE = range(4)
REGION_WIDTH = 8
"""Passages of a region unless another width is asked for."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class TamSettings(Frozen):
    """How a TAM is built. Figures are those measured in ``docs/tam.md``."""

    entity_least: Annotated[int, Field(ge=2)] = 2
    """An entity makes a RELATION if it is named in at least this many passages ..."""
    entity_most: Annotated[int, Field(ge=2)] = 12
    """... and in at most this many."""
    cluster_size: Annotated[int, Field(ge=1)] = 6
    """Passages per embedding cluster, on average."""
    second_parent: Annotated[float, Field(gt=0, le=1)] = 0.9
    """A passage joins a second cluster whose cosine is at least this share of the first's."""
    nearest: Annotated[int, Field(ge=0)] = 20
    """Nearest passages by cosine that a region may draw on."""
    candidates: Annotated[int, Field(ge=REGION_WIDTH)] = 32
    """Passages kept for each region and each kind of access."""


class InvalidTam(ValueError):
    """A graph that is no TAM; the message is its first breach."""


@dataclass(frozen=True, slots=True, eq=False)
class Tam:
    """A graph over passages. ``types`` holds numbers of ``TYPES``; ``edges`` are (parent, child)
    in ascending order. Passage ``row`` of a region of EVIDENCE number e (counted among EVIDENCE
    nodes): ``region_rows[region_ends[e]:region_ends[e + 1]]``, with link weights, best first,
    itself left out. ``names``: what each RELATION is about, by node number, as it is written.

    Content terms of passage ``row``: ``term_ids[term_ends[row]:term_ends[row + 1]]``, numbers into
    ``terms``, ascending; ``term_routes`` marks those of its title and its entities, by which a
    query is routed to what lies above it. ``writer``: the model that wrote the abstractions of
    RELATION and TOPIC nodes; empty where they are extractive.
    """

    digest: str
    ids: tuple[str, ...]
    types: Ints
    texts: tuple[str, ...]
    names: dict[int, tuple[str, ...]]
    edges: Ints
    region_ends: Ints
    region_rows: Ints
    region_weights: Floats
    terms: tuple[str, ...]
    term_ends: Ints
    term_ids: Ints
    term_routes: npt.NDArray[np.bool_]
    writer: str = ""

    @property
    def root(self) -> str:
        """Id of the ROOT node."""
        return self.ids[0]

    @property
    def first_evidence(self) -> int:
        """Number of the first EVIDENCE node: node = this + passage row."""
        return len(self.ids) - (len(self.region_ends) - 1)

    def region(self, row: int) -> tuple[Ints, Floats]:
        """Rows and link weights of a passage's region, at full width, itself left out."""
        here = slice(self.region_ends[row], self.region_ends[row + 1])
        return self.region_rows[here], self.region_weights[here]


def type_of(tam: Tam, node: int | np.signedinteger) -> NodeType:
    """The type of the node of a number."""
    return TYPES[int(tam.types[node])]


def breaches(tam: Tam, passages: Sequence[Passage]) -> Iterator[str]:
    """Every breach of an invariant, in a fixed order, each in a sentence.

    Arrays that do not fit together end it, since nothing further can be said of them.
    """
    broken = list(_shapes(tam, len(passages)))
    if broken:
        yield from broken
        return
    yield from _nodes(tam, passages)
    yield from _edges(tam)
    yield from _reach(tam)
    yield from _regions(tam, passages)


def validate_tam(tam: Tam, passages: Sequence[Passage]) -> None:
    """Prove that a graph is a TAM over these passages (any order).

    One root; ids unique; admissible edges only, none twice; acyclic; every node reachable from
    the root; every inner node with a child; each passage an EVIDENCE node with a region of
    other passages of the corpus; an abstraction for each node.

    Raises:
        InvalidTam: names the first breach.
    """
    first = next(breaches(tam, sorted(passages, key=lambda p: p.id)), None)
    if first is not None:
        raise InvalidTam(first)


def _shapes(tam: Tam, passages: int) -> Iterator[str]:
    nodes = len(tam.ids)
    if not nodes:
        yield "There is no node."
        return
    if tam.types.shape != (nodes,) or len(tam.texts) != nodes:
        yield f"There are {nodes} nodes, {tam.types.size} types and {len(tam.texts)} texts."
        return
    if tam.types.min() < 0 or tam.types.max() >= len(TYPES):
        yield "A node has a type that there is not."
    if tam.edges.ndim != 2 or tam.edges.shape[1] != 2:
        yield "The edges are not pairs."
    elif tam.edges.size and (tam.edges.min() < 0 or tam.edges.max() >= nodes):
        yield "An edge names a node that there is not."
    evidence = int((tam.types == EVIDENCE).sum())
    if evidence != passages:
        yield f"There are {passages} passages and {evidence} EVIDENCE nodes."
    ends, rows = tam.region_ends, tam.region_rows
    if (
        ends.shape != (evidence + 1,)
        or ends[0] != 0
        or ends[-1] != len(rows)
        or (np.diff(ends) < 0).any()
        or tam.region_weights.shape != rows.shape
    ):
        yield f"The regions do not fit the {evidence} EVIDENCE nodes."
    terms = tam.term_ids
    if (
        tam.term_ends.shape != (evidence + 1,)
        or tam.term_ends[0] != 0
        or tam.term_ends[-1] != len(terms)
        or (np.diff(tam.term_ends) < 0).any()
        or tam.term_routes.shape != terms.shape
        or (terms.size and (terms.min() < 0 or terms.max() >= len(tam.terms)))
    ):
        yield f"The routing terms do not fit the {evidence} EVIDENCE nodes."


def _nodes(tam: Tam, passages: Sequence[Passage]) -> Iterator[str]:
    seen: set[str] = set()
    for name in tam.ids:
        if name in seen:
            yield f"Two nodes have the id {name!r}."
        seen.add(name)
    roots = np.flatnonzero(tam.types == ROOT)
    if roots.tolist() != [0]:
        yield f"There are {len(roots)} ROOT nodes; there must be one, the first node."
    if (np.diff(tam.types) < 0).any():
        yield "The nodes are not in the order of their types."
    evidence = [name for name, kind in zip(tam.ids, tam.types, strict=True) if kind == EVIDENCE]
    for name, passage in zip(evidence, passages, strict=True):
        if name != passage.id:
            yield f"The passage {passage.id!r} has no EVIDENCE node in its place ({name!r})."
    for name, text in zip(tam.ids, tam.texts, strict=True):
        if not text.strip():
            yield f"The node {name!r} has no abstraction."


def _edges(tam: Tam) -> Iterator[str]:
    allowed = np.zeros((len(TYPES), len(TYPES)), dtype=bool)
    for parent, child in ADMISSIBLE:
        allowed[TYPES.index(parent), TYPES.index(child)] = True
    kinds = tam.types[tam.edges]
    for number in np.flatnonzero(~allowed[kinds[:, 0], kinds[:, 1]]):
        parent, child = tam.edges[number]
        yield (
            f"The edge from {tam.ids[parent]!r} to {tam.ids[child]!r} is "
            f"{type_of(tam, parent)} -> {type_of(tam, child)}, which is not admissible."
        )
    flat = tam.edges[:, 0] * len(tam.ids) + tam.edges[:, 1]
    for number in np.flatnonzero(np.diff(flat) <= 0):
        parent, child = tam.edges[number + 1]
        yield (
            f"The edge from {tam.ids[parent]!r} to {tam.ids[child]!r} comes twice or out of order."
        )
    inner = np.flatnonzero((tam.types == TOPIC) | (tam.types == RELATION))
    for node in inner[~np.isin(inner, tam.edges[:, 0])]:
        yield f"The {type_of(tam, node)} node {tam.ids[node]!r} has no child."


def _reach(tam: Tam) -> Iterator[str]:
    from scipy.sparse import csgraph, csr_array

    nodes = len(tam.ids)
    ones = np.ones(len(tam.edges), dtype=np.int8)
    graph = csr_array((ones, (tam.edges[:, 0], tam.edges[:, 1])), shape=(nodes, nodes))
    loops = tam.edges[tam.edges[:, 0] == tam.edges[:, 1]]
    count, _ = csgraph.connected_components(graph, directed=True, connection="strong")
    if count < nodes or len(loops):
        yield f"There is a cycle: {' -> '.join(_cycle(tam))}."
    reached = np.zeros(nodes, dtype=bool)
    reached[csgraph.breadth_first_order(graph, 0, return_predecessors=False)] = True
    for node in np.flatnonzero(~reached):
        yield f"The {type_of(tam, node)} node {tam.ids[node]!r} cannot be reached from the root."


def _cycle(tam: Tam) -> list[str]:
    import networkx as nx

    graph = nx.DiGraph(tam.edges.tolist())
    found = cast(list[tuple[int, int]], nx.find_cycle(graph))
    return [tam.ids[parent] for parent, _ in found] + [tam.ids[found[-1][1]]]


def _regions(tam: Tam, passages: Sequence[Passage]) -> Iterator[str]:
    rows, weights = tam.region_rows, tam.region_weights
    owner = np.repeat(np.arange(len(passages)), np.diff(tam.region_ends))

    def named(place: int | np.signedinteger) -> str:
        return f"The region of {passages[owner[place]].id!r}"

    outside = (rows < 0) | (rows >= len(passages))
    for place in np.flatnonzero(outside):
        yield f"{named(place)} holds a passage that there is not."
    for place in np.flatnonzero(rows == owner):
        yield f"{named(place)} holds the passage itself once more."
    pairs = owner * max(len(passages), 1) + rows
    order = np.sort(pairs)
    if (np.diff(order) == 0).any():
        twice = order[:-1][np.diff(order) == 0][0]
        yield f"{named(int(np.flatnonzero(pairs == twice)[0]))} holds a passage twice."
    for place in np.flatnonzero(~(np.isfinite(weights) & (weights > 0))):
        yield f"{named(place)} has a link weight that is not positive."
    same = owner[1:] == owner[:-1]
    for place in np.flatnonzero(same & (np.diff(weights) > 0)):
        yield f"{named(place)} is not in the order of its link weights."
