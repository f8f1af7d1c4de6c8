"""Pictures of a typed abstraction memory, drawn by pyvis in an iframe.

Nothing is settled in the browser and nothing is fetched: the same graph is always the same
picture. Labels are canvas text and tooltips are text nodes; what is put into the page's script
goes through a JSON encoder that escapes markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import get_args

import streamlit as st

from components.palette import AMBER, BLUE, GREEN, GREY, PURPLE, SKY, VERMILLION, inked
from components.safe import esc, shorten, visible
from components.tam_layout import KINDS, Drawing, Edge, Node, State, boxed

OTHER = "OTHER"
MANY_EDGES = 1_500
SHAPES = {"ROOT": "star", "TOPIC": "square", "RELATION": "triangle", "EVIDENCE": "dot"}
GLYPHS = {"ROOT": "★", "TOPIC": "■", "RELATION": "▲", "EVIDENCE": "●"}
COLOURS = {"ROOT": AMBER, "TOPIC": BLUE, "RELATION": SKY, "EVIDENCE": GREY}
SIZES = {"ROOT": 16, "TOPIC": 11, "RELATION": 8, "EVIDENCE": 6}
STATES: dict[str, tuple[str, str]] = {
    "chosen": (GREEN, "✓"),
    "kept": (BLUE, "●"),
    "dropped": (GREY, "○"),
    "refused": (VERMILLION, "✕"),
    "ghost": (PURPLE, "◇"),
}
DASHED = ("refused", "ghost", "dropped")
_REMOTE = re.compile(
    r"<link\b[^>]*\bhref=[\"']https?://[^>]*>|"
    r"<script\b[^>]*\bsrc=[\"']https?://[^>]*>\s*</script>",
    re.IGNORECASE,
)
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"
)


def page(drawing: Drawing, *, dark: bool, height: int) -> str:
    """The picture as one page that asks for nothing from elsewhere."""
    from jinja2.utils import htmlsafe_json_dumps

    # pyvis's own add_node and add_edge look every id up in a list: 6 s for 3,000 nodes.
    limit = 420 if len(drawing.nodes) <= 400 else 160
    nodes = [_as_node(node, drawing.boxes, limit) for node in drawing.nodes]
    edges = [_as_edge(edge, _ink(dark), _ground(dark)) for edge in drawing.edges]
    before, between, after = _shell(dark, height, drawing.boxes, len(edges) > MANY_EDGES)
    data = (str(htmlsafe_json_dumps(part)) for part in (nodes, edges))
    return "".join([before, next(data), between, next(data), after])


def _ink(dark: bool) -> str:
    return "#E8EDF2" if dark else "#17212B"


def _ground(dark: bool) -> str:
    return "#10161D" if dark else "#FFFFFF"


@lru_cache(maxsize=16)
def _shell(dark: bool, height: int, boxes: bool, many: bool) -> tuple[str, str, str]:
    """The page that pyvis writes, without its data: what stands before the nodes, between nodes
    and edges, and after the edges. Writing it takes 0.1 s, which a live run has not at every
    step."""
    from pyvis.network import Network

    ink, ground = _ink(dark), _ground(dark)
    net = Network(
        height=f"{height}px",
        width="100%",
        directed=True,
        cdn_resources="in_line",
        bgcolor=ground,
        font_color=ink,
    )
    net.set_options(
        json.dumps(
            {
                "physics": {"enabled": False},
                "layout": {"improvedLayout": False},
                "interaction": {
                    "hover": True,
                    "tooltipDelay": 80,
                    "hideEdgesOnDrag": many,
                    "keyboard": {"enabled": True, "bindToWindow": False},
                },
                "groups": _groups(boxes, ink, ground),
                "nodes": {"physics": False, "shadow": False},
                "edges": {
                    "smooth": False,
                    "physics": False,
                    "width": 1,
                    "color": {"color": GREY, "opacity": 0.28},
                    "arrows": {"to": {"enabled": boxes, "scaleFactor": 0.5}},
                },
            }
        )
    )
    html = _sealed(net.generate_html(notebook=False), ink, ground)
    before, nodes, rest = html.partition("nodes = new vis.DataSet([")
    between, edges, after = rest.partition("edges = new vis.DataSet([")
    assert nodes
    assert edges
    return (
        before + nodes.removesuffix("["),
        between.removeprefix("]") + edges.removesuffix("["),
        after.removeprefix("]"),
    )


def _as_node(node: Node, boxes: bool, limit: int) -> dict[str, object]:
    label = visible(boxed(node.label) if boxes else shorten(node.label, 26))
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


def _groups(boxes: bool, ink: str, ground: str) -> dict[str, dict[str, object]]:
    """The look of every type and state, once."""
    return {
        f"{kind}-{state}": _boxed(state, ink, ground) if boxes else _pointed(kind, state, ink)
        for kind in (*KINDS, OTHER)
        for state in get_args(State)
    }


def _group(node: Node) -> str:
    """Of known words only: a run that was imported may hold any type."""
    return f"{node.kind if node.kind in KINDS else OTHER}-{node.state}"


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
        "font": {"size": 14, "color": ink, "face": "sans-serif", "multi": False},
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


def _as_edge(edge: Edge, ink: str, ground: str) -> dict[str, object]:
    look: dict[str, object] = {"from": edge.parent, "to": edge.child}
    if edge.label:
        look["label"] = visible(edge.label)
        look["font"] = {
            "size": 13,
            "color": ink,
            "strokeWidth": 5,
            "strokeColor": ground,
            "align": "horizontal",
            "vadjust": -7,
            "multi": False,
        }
    if edge.state == "plain":
        return look
    strong = edge.state in ("chosen", "near")
    colour = GREEN if edge.state == "near" else STATES[edge.state][0]
    look["color"] = {"color": colour, "opacity": 1.0}
    look["width"] = 3.5 if edge.state == "chosen" else 2 if strong else 1
    look["dashes"] = [5, 5] if edge.state in DASHED else False
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
    """The marks and lines of states beside their words."""
    return (
        '<div class="ri-legend">'
        + "".join(
            f'<span><span class="ri-swatch{" ri-dashed" if s in DASHED else ""}" '
            f'style="--c:{STATES[s][0]}"></span>'
            f'<b style="color:{inked(STATES[s][0])}">{STATES[s][1]}</b> {esc(words[s])}</span>'
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
            f'<span><b style="color:{inked(COLOURS[k])}">{GLYPHS[k]}</b> {counts[k]:,} {k}</span>'
            for k in KINDS
            if counts.get(k)
        )
        + "</div>"
    )
