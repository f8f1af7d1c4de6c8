"""Where the nodes of a typed abstraction memory stand in a picture.

Computed here, from the graph alone: the same graph is always the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from components.safe import shorten

if TYPE_CHECKING:
    import networkx as nx

MOST_NODES = 3_000
"""Nodes of one picture; of a larger graph the lowest ones are left out, and that is said."""
KINDS = ("ROOT", "TOPIC", "RELATION", "EVIDENCE")
State = Literal["plain", "chosen", "kept", "dropped", "refused", "ghost", "selected", "near"]
PANEL = 500
"""Pixels of width that a picture beside a timeline has."""
BOX_GAP, ROW, LAYER = 10, 50, 74
"""Pixels between two boxes of a row, from one row to the next, and from a layer to the next."""
HEIGHTS = (140, 520)
BOX_LABEL, BOX_LINES, LETTER, BOX_FRAME = 16, 2, 8.2, 28
"""Most characters in a line of a box, and lines; in pixels the width of a character and of what
is around them: three boxes stand in a row."""
RING, GAP = 220, 26
"""Pixels between two rings, and between two nodes of one."""
FEW_NODES, FEW_TOPICS, FEW_NEAR = 60, 24, 12
"""Up to so many nodes, topics, or neighbours of the selected node, all of them bear their names."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it is drawn; ``label`` stands in or under it, ``tip`` beside the pointer."""

    id: str
    kind: str
    label: str
    tip: str
    x: float
    y: float
    state: State = "plain"


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as it is drawn."""

    parent: str
    child: str
    label: str = ""
    state: State = "plain"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and edges with their places; ``boxes``: labels stand inside the nodes."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    boxes: bool = False


def boxed(label: str) -> str:
    """A label in the lines of a box, broken between words where they allow it; what does not fit
    is cut, and says so."""
    lines = [""]
    for word in " ".join(label.split()).split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= BOX_LABEL:
            lines[-1] = longer
        elif lines[-1]:
            lines.append(word)
        else:
            lines[-1] = word
    if len(lines) <= BOX_LINES and all(len(line) <= BOX_LABEL for line in lines):
        return "\n".join(lines)
    first = shorten(lines[0], BOX_LABEL)
    rest = " ".join(lines[1:])
    return f"{first}\n{shorten(rest, BOX_LABEL)}" if rest else first


Places = dict[str, tuple[float, float]]


def layered(layers: Sequence[Sequence[str]], labels: Mapping[str, str]) -> Places:
    """Layers from above, the nodes of each from the left in the order given, in as many rows as
    keep the picture about ``PANEL`` wide: a panel shows it at its full size."""
    places: Places = {}
    top = 0.0
    for layer in layers:
        left, row = 0.0, 0
        for node in layer:
            longest = max(map(len, boxed(labels.get(node, node)).split("\n")))
            width = longest * LETTER + BOX_FRAME
            if left and left + width > PANEL:
                left, row = 0.0, row + 1
            places[node] = (round(left + width / 2, 1), top + row * ROW)
            left += width + BOX_GAP
        top += row * ROW + LAYER
    return places


def fitting(drawing: Drawing) -> int:
    """How many pixels high a picture of boxes is at its full size, within ``HEIGHTS``."""
    ys = [node.y for node in drawing.nodes] or [0.0]
    low, high = HEIGHTS
    return int(min(high, max(low, max(ys) - min(ys) + 2 * ROW)))


def rings(graph: nx.DiGraph, kinds: Mapping[str, str], seed: int = 0) -> Places:
    """The root in the middle and a ring for each depth, evidence outermost.

    Angles: leaves in the order of a walk from the root, everything above in the middle of what
    is below it. ``seed`` turns the whole; equal graphs with equal seeds have equal places.
    """
    import networkx as nx

    if not graph:
        return {}
    roots = sorted(n for n in graph if graph.in_degree(n) == 0)
    order: dict[str, int] = {}
    for root in roots:
        for node in nx.dfs_preorder_nodes(graph, root, sort_neighbors=sorted):
            order.setdefault(node, len(order))
    depth: dict[str, int] = {}
    for level, layer in enumerate(nx.topological_generations(graph)):
        depth.update(dict.fromkeys(layer, level))
    last = max(depth.values())
    for node, kind in kinds.items():
        if kind == "EVIDENCE" and node in depth:
            depth[node] = last
    places: Places = {}
    turn = 2 * math.pi * (seed % 360) / 360
    inner = 0.0
    for level in range(last + 1):
        ring = sorted((n for n in graph if depth[n] == level), key=order.__getitem__)
        radius = 0.0 if len(ring) == 1 and level == 0 else inner + RING
        rows = _rows(len(ring), radius)
        for n, node in enumerate(ring):
            angle = turn + 0.35 * level + 2 * math.pi * n / len(ring)
            out = radius + GAP * (n % rows)
            places[node] = (round(out * math.cos(angle), 1), round(out * math.sin(angle), 1))
        inner = radius + GAP * (rows - 1)
    return places


def _rows(count: int, radius: float) -> int:
    """How many staggered rows a ring needs so that its nodes stand apart."""
    rows, room = 1, 2 * math.pi * radius / GAP
    while room < count and radius:
        room += 2 * math.pi * (radius + GAP * rows) / GAP
        rows += 1
    return rows


def whole(
    kinds: Mapping[str, str],
    edges: Iterable[tuple[str, str]],
    labels: Mapping[str, str],
    texts: Mapping[str, str],
    *,
    chosen: Sequence[str] = (),
    selected: str = "",
    most: int = MOST_NODES,
) -> Drawing:
    """The graph around its root: at most ``most`` nodes, those of the upper types first.

    ``kinds``: the type of every node, in the order of types. ``chosen`` is a path to mark;
    ``selected`` a node whose parents and children are marked.
    """
    import networkx as nx

    marked = frozenset(chosen) | {selected}
    kept = [n for n in kinds if n in marked]
    kept += [n for n in kinds if n not in marked][: max(0, most - len(kept))]
    there = frozenset(kept)
    pairs = [(a, b) for a, b in edges if a in there and b in there]
    graph = nx.DiGraph()
    graph.add_nodes_from(n for n in kinds if n in there)
    graph.add_edges_from(pairs)
    places = rings(graph, {n: kinds[n] for n in there})
    near = {selected, *graph.pred[selected], *graph.succ[selected]} if selected in graph else set()
    path = frozenset(pairwise(chosen))
    on_path = frozenset(chosen)

    def state(node: str) -> State:
        if node == selected:
            return "selected"
        return "chosen" if node in on_path else "near" if node in near else "plain"

    few = len(there) <= FEW_NODES
    named = near if len(near) <= FEW_NEAR else {selected}
    topics = sum(kinds[n] == "TOPIC" for n in there) <= FEW_TOPICS
    nodes = tuple(
        Node(
            id=n,
            kind=kinds[n],
            label=labels.get(n, n)
            if few or (topics and kinds[n] in ("ROOT", "TOPIC")) or n in on_path or n in named
            else "",
            tip=f"{kinds[n]}\n{texts.get(n, '') or labels.get(n, n)}",
            x=places[n][0],
            y=places[n][1],
            state=state(n),
        )
        for n in graph
    )
    lines = tuple(
        Edge(
            a,
            b,
            state="chosen" if (a, b) in path else "near" if selected in (a, b) else "plain",
        )
        for a, b in pairs
    )
    return Drawing(nodes, lines)
