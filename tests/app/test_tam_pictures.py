"""The pictures of the abstraction memory: the same every time, closed to the outside, in place."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components import cycles, tam_graph, tam_labels, tam_layout, tam_view
from tests.app.navigating import EDGES, TYPES, navigated
from tests.app.recorded import NASTY

STEPS = navigated()
FOUND = cycles.lineage(STEPS)
NAMES = tam_labels.Names({})


def _whole(labels: dict[str, str] | None = None) -> tam_layout.Drawing:
    pairs = [(a, b) for a, b, _ in EDGES]
    return tam_layout.whole(
        TYPES, pairs, labels or {}, labels or {}, chosen=FOUND.cycles[0].proposed
    )


@pytest.mark.parametrize("dark", [True, False])
def test_the_same_graph_is_the_same_picture(dark: bool) -> None:
    pages = [tam_graph.page(_whole(), dark=dark, height=300) for _ in range(2)]
    assert pages[0] == pages[1]
    shuffled = tam_layout.whole(
        TYPES, [(a, b) for a, b, _ in reversed(EDGES)], {}, {}, chosen=FOUND.cycles[0].proposed
    )
    places = {n.id: (n.x, n.y) for n in _whole().nodes}
    assert {n.id: (n.x, n.y) for n in shuffled.nodes} == places
    first = cycles.lineage(navigated()).cycles[0]
    drawn = [tam_view.neighbourhood(c, tam_view.seen(c), NAMES) for c in (first, FOUND.cycles[0])]
    assert drawn[0] == drawn[1]


def test_a_picture_asks_for_nothing_from_elsewhere() -> None:
    shown = tam_graph.page(_whole(), dark=False, height=300)
    assert not re.findall(r"(?:src|href)\s*=\s*[\"']?\s*(?:https?:)?//", shown)
    assert not re.findall(r"url\([\"']?(?:https?:)?//", shown)
    assert "default-src 'none'" in shown
    assert '"physics": {"enabled": false}' in shown


@settings(max_examples=40)
@given(
    st.lists(st.text(alphabet=st.characters(), max_size=60), min_size=9, max_size=9),
    st.booleans(),
)
def test_no_label_can_leave_its_place_in_the_picture(texts: list[str], boxes: bool) -> None:
    labels = dict(zip(TYPES, [NASTY, "</script><script>x", *texts], strict=False))
    nodes = tuple(
        tam_layout.Node(n, TYPES[n], labels.get(n, ""), labels.get(n, ""), 0, 0) for n in TYPES
    )
    plain = tam_layout.Drawing(
        tuple(tam_layout.Node(n, TYPES[n], "x", "x", 0, 0) for n in TYPES), (), boxes
    )
    drawing = tam_layout.Drawing(nodes, (), boxes)
    shown, base = (tam_graph.page(d, dark=False, height=300) for d in (drawing, plain))
    for tag in ("<script", "</script", "<img", "<a ", "http"):
        assert shown.count(tag) <= base.count(tag) + (tag == "http") * 3 * shown.count("evil")
    data = json.loads(re.search(r"nodes = new vis.DataSet\((\[.*?\])\);", shown)[1])  # type: ignore[index]
    assert [n["id"] for n in data] == list(TYPES)
    for node in data:
        assert "\u202e" not in node["label"] + node["title"]


def test_a_node_type_of_an_imported_run_is_not_written_into_the_script() -> None:
    node = tam_layout.Node("a", "</script><img src=x>", "x", "x", 0, 0)
    shown = tam_graph.page(tam_layout.Drawing((node,), (), True), dark=False, height=300)
    assert "<img" not in shown


@settings(max_examples=30)
@given(st.data())
def test_nodes_never_share_a_place(data: st.DataObject) -> None:
    import networkx as nx

    count = data.draw(st.integers(2, 60))
    graph = nx.DiGraph()
    graph.add_node("0")
    for n in range(1, count):
        for parent in data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=3)):
            graph.add_edge(str(parent), str(n))
    places = tam_layout.rings(graph, {n: "TOPIC" for n in graph})
    assert set(places) == set(graph)
    assert len(set(places.values())) == count
    assert places == tam_layout.rings(nx.DiGraph(graph), {n: "TOPIC" for n in graph})


def test_three_thousand_nodes_are_written_in_time_and_more_are_counted() -> None:
    kinds = {"root": "ROOT"} | {f"t{n}": "TOPIC" for n in range(60)}
    kinds |= {f"r{n}": "RELATION" for n in range(900)} | {f"e{n}": "EVIDENCE" for n in range(3_000)}
    pairs = [("root", f"t{n}") for n in range(60)]
    pairs += [(f"t{n % 60}", f"r{n}") for n in range(900)]
    pairs += [(f"r{n * 7 % 900}", f"e{n}") for n in range(3_000)]
    began = time.process_time()
    drawing = tam_layout.whole(kinds, pairs, {}, {n: "words " * 50 for n in kinds})
    shown = tam_graph.page(drawing, dark=False, height=400)
    took = time.process_time() - began
    assert len(drawing.nodes) == tam_layout.MOST_NODES
    assert {n.kind for n in drawing.nodes} == set(tam_layout.KINDS)
    assert len(shown) < 3_000_000
    assert took < 5


@given(
    st.lists(
        st.lists(st.text("abcdefgh ", min_size=1, max_size=60), min_size=1, max_size=12),
        min_size=1,
        max_size=8,
    )
)
def test_the_boxes_of_a_path_stand_apart_in_a_panels_width(layers: list[list[str]]) -> None:
    ids = [[f"{i}-{j}" for j, _ in enumerate(layer)] for i, layer in enumerate(layers)]
    labels = {
        n: label
        for layer, names in zip(ids, layers, strict=True)
        for n, label in zip(layer, names, strict=True)
    }
    places = tam_layout.layered(ids, labels)

    def half(node: str) -> float:
        lines = tam_layout.boxed(labels[node]).split("\n")
        return max(map(len, lines)) * tam_layout.LETTER / 2

    for a in places:
        assert 0 <= places[a][0] - half(a) <= places[a][0] + half(a) <= tam_layout.PANEL
        for b in places:
            same_row = a != b and places[a][1] == places[b][1]
            assert not same_row or abs(places[a][0] - places[b][0]) >= half(a) + half(b)
    lowest = [max(places[n][1] for n in layer) for layer in ids]
    highest = [min(places[n][1] for n in layer) for layer in ids]
    assert all(low < high for low, high in zip(lowest, highest[1:], strict=False))


@given(st.text("abcde ", max_size=80))
def test_a_label_fills_the_lines_of_its_box_and_is_cut_only_where_it_does_not_fit(
    label: str,
) -> None:
    lines = tam_layout.boxed(label).split("\n")
    assert len(lines) <= tam_layout.BOX_LINES
    assert all(len(line) <= tam_layout.BOX_LABEL for line in lines)
    whole = " ".join(label.split())
    told = " ".join(lines)
    if "…" not in told:
        assert told == whole
    else:
        assert len(whole) > tam_layout.BOX_LABEL


def test_a_title_of_two_lines_is_whole() -> None:
    assert tam_layout.boxed("Iron Man, Jennifer Connelly") == "Iron Man,\nJennifer Connel…"
    assert tam_layout.boxed("A Knight's Tale (film)") == "A Knight's Tale\n(film)"
    assert tam_layout.boxed("Stark") == "Stark"
