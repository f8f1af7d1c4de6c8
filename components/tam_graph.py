"""Pictures of a typed abstraction memory: places computed here, drawn by pyvis in an iframe.

Nothing is settled in the browser and nothing is fetched: the same graph is always the same
picture. Labels are canvas text and tooltips are text nodes; what is put into the page's script
goes through a JSON encoder that escapes markup.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import streamlit as st

from components.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from components.safe import esc, shorten, visible

if TYPE_CHECKING:
    import networkx as nx

MOST_NODES = 3_000
"""Nodes of one picture; of a larger graph the lowest ones are left out, and that is said."""
KINDS = ("ROOT", "TOPIC", "RELATION", "EVIDENCE")
SHAPES = {"ROOT": "star", "TOPIC": "square", "RELATION": "triangle", "EVIDENCE": "dot"}
GLYPHS = {"ROOT": "★", "TOPIC": "■", "RELATION": "▲", "EVIDENCE": "●"}
COLOURS = {"ROOT": ORANGE, "TOPIC": BLUE, "RELATION": SKY, "EVIDENCE": GREY}
SIZES = {"ROOT": 16, "TOPIC": 11, "RELATION": 8, "EVIDENCE": 6}
State = Literal["plain", "chosen", "kept", "dropped", "refused", "ghost", "selected", "near"]
STATES: dict[str, tuple[str, str]] = {
    "chosen": (GREEN, "✓"),
    "kept": (BLUE, "●"),
    "dropped": (GREY, "○"),
    "refused": (VERMILLION, "✕"),
    "ghost": (PURPLE, "◇"),
}
_REMOTE = re.compile(
    r"<link\b[^>]*\bhref=[\"']https?://[^>]*>|"
    r"<script\b[^>]*\bsrc=[\"']https?://[^>]*>\s*</script>",
    re.IGNORECASE,
)
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"
)
COLUMN_GAP, ROW = 52, 36
BOX_LABEL, LETTER, BOX_FRAME = 16, 9.2, 36
"""Most characters in a box, and in pixels the width of one and of what is around them."""
RING, GAP = 220, 26


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


Places = dict[str, tuple[float, float]]


def columns(layers: Sequence[Sequence[str]], labels: Mapping[str, str]) -> Places:
    """Layers from left to right, each as wide as its longest label, the nodes of each from above
    in the order given."""
    places: Places = {}
    left = 0.0
    for layer in layers:
        longest = max((len(shorten(labels.get(n, n), BOX_LABEL)) for n in layer), default=0)
        width = longest * LETTER + BOX_FRAME
        for n, node in enumerate(layer):
            places[node] = (round(left + width / 2, 1), n * ROW)
        left += width + COLUMN_GAP
    return places


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

    few = len(there) <= 60
    topics = sum(kinds[n] == "TOPIC" for n in there) <= 24
    nodes = tuple(
        Node(
            id=n,
            kind=kinds[n],
            label=labels.get(n, n)
            if few or (topics and kinds[n] in ("ROOT", "TOPIC")) or n in on_path or n in near
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


def page(drawing: Drawing, *, dark: bool, height: int) -> str:
    """The picture as one page that asks for nothing from elsewhere."""
    from pyvis.network import Network

    ink, ground = ("#E8EDF2", "#10161D") if dark else ("#17212B", "#FFFFFF")
    net = Network(
        height=f"{height}px",
        width="100%",
        directed=True,
        cdn_resources="in_line",
        bgcolor=ground,
        font_color=ink,
    )
    # pyvis's own add_node and add_edge look every id up in a list: 6 s for 3,000 nodes.
    limit = 420 if len(drawing.nodes) <= 400 else 160
    net.nodes.extend(_as_node(node, drawing.boxes, limit) for node in drawing.nodes)
    net.edges.extend(_as_edge(edge, ink, drawing.boxes) for edge in drawing.edges)
    net.set_options(
        json.dumps(
            {
                "physics": {"enabled": False},
                "layout": {"improvedLayout": False},
                "interaction": {
                    "hover": True,
                    "tooltipDelay": 80,
                    "hideEdgesOnDrag": len(drawing.edges) > 1_500,
                    "keyboard": {"enabled": True, "bindToWindow": False},
                },
                "groups": _groups(drawing, ink, ground),
                "nodes": {"physics": False, "shadow": False},
                "edges": {
                    "smooth": False,
                    "physics": False,
                    "width": 1,
                    "color": {"color": GREY, "opacity": 0.28},
                    "arrows": {"to": {"enabled": drawing.boxes, "scaleFactor": 0.5}},
                },
            }
        )
    )
    return _sealed(net.generate_html(notebook=False), ink, ground)


def _as_node(node: Node, boxes: bool, limit: int) -> dict[str, object]:
    label = visible(shorten(node.label, BOX_LABEL if boxes else 26))
    if boxes:
        mark = STATES[node.state][1] if node.state in STATES else GLYPHS.get(node.kind, "")
        label = f"{mark} {label}"
    return {
        "id": node.id,
        "label": label or " ",
        "title": _tip(node.tip, limit),
        "x": node.x,
        "y": node.y,
        "group": _group(node),
    }


def _groups(drawing: Drawing, ink: str, ground: str) -> dict[str, dict[str, object]]:
    """The look of each type and state, once."""
    return {
        _group(n): _boxed(n.state, ink, ground) if drawing.boxes else _pointed(n.kind, n.state, ink)
        for n in drawing.nodes
    }


def _group(node: Node) -> str:
    """Of known words only: pyvis writes options into the page's script as they are."""
    return f"{node.kind if node.kind in KINDS else 'OTHER'}-{node.state}"


def _tip(text: str, limit: int) -> str:
    head, _, rest = text.partition("\n")
    return f"{visible(head)}\n{visible(shorten(rest, limit))}"


def _boxed(state: str, ink: str, ground: str) -> dict[str, object]:
    colour = STATES.get(state, (GREY, ""))[0]
    strong = state == "chosen"
    dashed: object = [4, 4] if state in ("refused", "ghost") else False
    return {
        "shape": "box",
        "color": {
            "background": _mixed(colour, ground, 0.28 if strong else 0.12),
            "border": colour,
            "highlight": {"background": _mixed(colour, ground, 0.4), "border": ink},
            "hover": {"background": _mixed(colour, ground, 0.4), "border": ink},
        },
        "borderWidth": 3 if strong else 1.5,
        "shapeProperties": {"borderDashes": dashed, "borderRadius": 5},
        "font": {"size": 16, "color": ink, "face": "sans-serif", "multi": False},
        "margin": 4,
    }


def _pointed(kind: str, state: str, ink: str) -> dict[str, object]:
    kind = kind if kind in SHAPES else "EVIDENCE"
    colour = {"chosen": GREEN, "selected": ink, "near": GREEN}.get(state, COLOURS[kind])
    size = SIZES[kind] * (1.7 if state in ("chosen", "selected") else 1)
    return {
        "shape": SHAPES[kind],
        "size": size,
        "color": {"background": colour, "border": colour, "highlight": ink, "hover": ink},
        "font": {
            "size": 32 if kind in ("ROOT", "TOPIC") else 28,
            "color": ink,
            "face": "sans-serif",
            "multi": False,
        },
    }


def _as_edge(edge: Edge, ink: str, boxes: bool) -> dict[str, object]:
    look: dict[str, object] = {"from": edge.parent, "to": edge.child}
    if edge.label:
        look["label"] = visible(edge.label)
        look["font"] = {"size": 13, "color": ink, "strokeWidth": 0, "align": "top", "multi": False}
    if edge.state == "plain":
        return look
    strong = edge.state in ("chosen", "near")
    colour = GREEN if edge.state == "near" else STATES[edge.state][0]
    look["color"] = {"color": colour, "opacity": 1.0}
    look["width"] = 3.5 if edge.state == "chosen" else 2 if strong else 1
    look["dashes"] = [5, 5] if edge.state in ("refused", "ghost", "dropped") else False
    return look


def _mixed(colour: str, ground: str, share: float) -> str:
    """``share`` of a colour over the ground, as vis-network draws no CSS mixes."""
    a, b = (tuple(int(c[i : i + 2], 16) for i in (1, 3, 5)) for c in (colour, ground))
    mixed = (round(x * share + y * (1 - share)) for x, y in zip(a, b, strict=True))
    return "#" + "".join(f"{c:02X}" for c in mixed)


def _sealed(html: str, ink: str, ground: str) -> str:
    """Without the remote tags, under a policy that lets nothing be fetched, without frame."""
    html = _REMOTE.sub("", html)
    style = (
        f"<style>html,body{{margin:0;overflow:hidden;background:{ground};color:{ink}}}"
        "center{display:none}#mynetwork{border:0!important;float:none!important}"
        ".card{border:0}div.vis-tooltip{white-space:pre-wrap!important;max-width:26rem;"
        f"font:13px sans-serif!important;background:{ground}!important;color:{ink}!important;"
        "border:1px solid currentColor!important;border-radius:5px!important;"
        "box-shadow:none!important}</style>"
    )
    return html.replace("<head>", f"<head>{_POLICY}", 1).replace("</head>", f"{style}</head>", 1)


@lru_cache(maxsize=32)
def _kept(drawing: Drawing, dark: bool, height: int) -> str:
    return page(drawing, dark=dark, height=height)


def show(drawing: Drawing, alt: str, *, height: int) -> None:
    """Put a picture on the page; ``alt`` says in words what it shows."""
    dark = st.context.theme.type == "dark"
    st.iframe(_kept(drawing, dark, height), height=height, alt=visible(alt))


def legend(states: Collection[str], words: Mapping[str, str]) -> str:
    """The marks of states beside their words."""
    return (
        '<div class="ri-legend">'
        + "".join(
            f'<span><b style="color:{STATES[s][0]}">{STATES[s][1]}</b> {esc(words[s])}</span>'
            for s in STATES
            if s in states
        )
        + "</div>"
    )


def kinds_legend(counts: Mapping[str, int]) -> str:
    """The marks of node types beside how many there are."""
    return (
        '<div class="ri-legend ri-tabular">'
        + "".join(
            f'<span><b style="color:{COLOURS[k]}">{GLYPHS[k]}</b> {counts[k]:,} {k}</span>'
            for k in KINDS
            if counts.get(k)
        )
        + "</div>"
    )
