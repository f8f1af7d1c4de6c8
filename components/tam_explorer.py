"""The typed abstraction memory of a corpus: search it, walk it, open its passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components import memory_panel, paging, session, tam_graph, waiting
from components.answer import open_source
from components.jobs import Job, graph_jobs, under_way
from components.markup import chip, facts, mono
from components.notices import empty, error
from components.palette import Sign, inked
from components.safe import esc, isolated, plural, shorten
from components.tam_graph import COLOURS, GLYPHS
from components.tam_labels import Names
from components.tam_layout import KINDS
from components.tam_view import picture_of
from core.errors import RagError
from core.passage_names import passage_names
from core.retrieval.library import Library
from core.systems.staterag.tam import REGION_WIDTH

if TYPE_CHECKING:
    from core.adapters.memory_store import MemoryPool
    from core.retrieval.index import Index

HEIGHT = 470
ROWS = 8
TITLES = {"TOPIC": "Topics", "RELATION": "Relations", "EVIDENCE": "Passages"}
ICONS = {"ROOT": "star", "TOPIC": "category", "RELATION": "hub", "EVIDENCE": "article"}


def draw(library: Library, pool: MemoryPool, corpus: str, index: Index) -> None:
    """Show the graph of an indexed corpus, or offer to build it."""
    from core.systems.staterag.tam_graph import IndexGraph

    graph = IndexGraph.of(index)
    job = graph_jobs().get(library.workspace, corpus)
    if job is not None and job.active:
        st.fragment(_watch, run_every=0.5)(job)
        return
    if job is not None and job.problem:
        error(job.problem)
    try:
        tam = graph.stored()
    except RagError as problem:
        error(problem.message)
        _build(library, corpus, "Build it anew", again=True)
        return
    if tam is None:
        empty(
            "account_tree",
            "Not built yet",
            "A graph of topics, relations and passages, which StateRAG navigates. It is built once "
            "for an index; a StateRAG run builds it as well.",
        )
        _build(library, corpus, "Build the abstraction memory", again=False)
        return
    names = Names(titles=passage_names(index.passages()), graph=graph, tam=tam)
    kinds = {n: KINDS[k] for n, k in zip(tam.ids, tam.types.tolist(), strict=True)}
    _head(library, corpus, kinds, len(tam.edges), tam.digest)
    with st.container(key="ri_tam"):
        left, right = st.columns([1, 1.6], gap="large")
    with left:
        _find(kinds, names)
    selected = session.get(session.TAM_NODE)
    with right:
        if selected in kinds:
            _node(selected, kinds, names, index)
        _picture(names, kinds)
        if selected in kinds:
            _around(selected, kinds, names)
    with st.expander("Kept for later questions", icon=":material/inventory_2:"):
        memory_panel.store(pool, corpus, key="corpus")


def _build(library: Library, corpus: str, label: str, *, again: bool) -> None:
    st.button(
        label,
        icon=":material/account_tree:",
        key="tam_build",
        type="primary",
        on_click=graph_jobs().start,
        args=(library, corpus, again),
    )


def _watch(job: Job) -> None:
    """Progress of a build while it goes on; one full rerun when it ends."""
    if not job.active:
        st.rerun()
    under_way(job, "tam_stop")


def _head(library: Library, corpus: str, kinds: dict[str, str], edges: int, digest: str) -> None:
    counts = {k: sum(kind == k for kind in kinds.values()) for k in KINDS}
    words, action = st.columns([4, 1], vertical_alignment="center")
    words.html(
        f'<div class="ri-outcome">{tam_graph.kinds_legend(counts)}'
        f'<span class="ri-dim ri-tabular">{plural(edges, "edge")}</span>{mono(digest)}</div>'
    )
    with action, st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Build again",
            icon=":material/sync:",
            key="tam_build",
            on_click=graph_jobs().start,
            args=(library, corpus, True),
            help="The same passages give the same graph; this forgets what is stored.",
        )


def _find(kinds: dict[str, str], names: Names) -> None:
    text = st.text_input(
        "Find a node",
        key=session.TAM_FIND,
        icon=":material/search:",
        placeholder="A name, a word of its abstraction",
        on_change=session.put,
        args=(session.TAM_NODES, 1),
    )
    kind = st.segmented_control(
        "Type",
        list(TITLES),
        key=session.TAM_KIND,
        format_func=lambda k: TITLES[k],
        label_visibility="collapsed",
        on_change=session.put,
        args=(session.TAM_NODES, 1),
    )
    found = matching(kinds, names, text, kind)
    if not found:
        empty("search_off", "No node matches", "Loosen the words or the type above.")
        return
    shown = paging.page(found, ROWS, key=session.TAM_NODES, noun="node", always=True)
    _rows(shown, kinds, names, "found")


def matching(kinds: dict[str, str], names: Names, text: str, kind: str | None) -> list[str]:
    """Nodes of a type whose name, id or abstraction holds every word, upper types first."""
    wanted = text.casefold().split()
    assert names.tam is not None
    texts = dict(zip(names.tam.ids, names.tam.texts, strict=True))
    found = []
    for node, its in kinds.items():
        if kind is not None and its != kind:
            continue
        held = f"{names.titles.get(node, '')} {texts[node]} {node}".casefold()
        if all(word in held for word in wanted):
            found.append(node)
    return found


def _rows(nodes: Sequence[str], kinds: dict[str, str], names: Names, key: str) -> None:
    texts = names.texts(nodes)
    for node in nodes:
        kind = kinds[node]
        words, action = st.columns([5, 1.3], vertical_alignment="center", gap="small")
        here = " ri-is-here" if node == session.get(session.TAM_NODE) else ""
        glyph = f'<b style="color:{inked(COLOURS[kind])}">{GLYPHS[kind]}</b>'
        words.html(
            f'<div class="ri-node{here}">{glyph} '
            f"<b>{isolated(shorten(names.label(node, kind), 60))}</b>"
            f'<div class="ri-dim">{isolated(shorten(texts.get(node, ""), 110))}</div></div>'
        )
        with action, st.container(horizontal=True, horizontal_alignment="right"):
            st.button(
                "Show",
                key=f"tam_show:{key}:{node}",
                on_click=session.put,
                args=(session.TAM_NODE, node),
            )


def _picture(names: Names, kinds: dict[str, str]) -> None:
    session.first(session.TAM_DEPTH, "RELATION" if len(kinds) > 400 else "EVIDENCE")
    down_to = st.segmented_control(
        "Drawn down to",
        list(TITLES),
        key=session.TAM_DEPTH,
        required=True,
        format_func=lambda k: f"Down to {TITLES[k].lower()}",
        label_visibility="collapsed",
    )
    selected = str(session.get(session.TAM_NODE) or "")
    with waiting.until(waiting.PICTURE, "tam"):
        drawing, left_out = picture_of(names, selected=selected, down_to=str(down_to))
    where = (
        f" The node shown below is {names.label(selected, kinds[selected])}."
        if (selected in kinds)
        else ""
    )
    tam_graph.show(
        drawing,
        f"The abstraction memory, {plural(len(drawing.nodes), 'node')} around the root, down to "
        f"{TITLES[str(down_to)].lower()}.{where} The list beside it says the same.",
        height=HEIGHT,
    )
    more = f" {left_out:,} more are not drawn; the list has all." if left_out else ""
    st.caption(f"{plural(len(drawing.nodes), 'node')} drawn.{more} Drag to move, scroll to zoom.")


def _node(node: str, kinds: dict[str, str], names: Names, index: Index) -> None:
    kind = kinds[node]
    with st.container(border=True, gap="xsmall", key="ri_tam_node"):
        sign = Sign(COLOURS[kind], ICONS[kind], kind)
        st.html(
            f'<div class="ri-why">{chip(sign)}<span class="ri-title">'
            f"{isolated(names.label(node, kind))}</span>{mono(node)}</div>"
            f'<div dir="auto">{esc(names.texts([node]).get(node, ""))}</div>'
            + (_region(node, names, index) if kind == "EVIDENCE" else "")
        )
        row = index.row(node) if kind == "EVIDENCE" else None
        if row is not None and st.button(
            "Open the passage", icon=":material/menu_book:", key="tam_open"
        ):
            open_source(index.at(row), [])


def _region(node: str, names: Names, index: Index) -> str:
    row = index.row(node)
    if row is None:
        return ""
    assert names.tam is not None
    rows, weights = names.tam.region(row)
    titles = " · ".join(
        f"{isolated(names.titles[index.at(int(r)).id])} <span class='ri-num ri-dim'>{w:.2f}</span>"
        for r, w in list(zip(rows.tolist(), weights.tolist(), strict=True))[: REGION_WIDTH - 1]
    )
    return facts([("region", titles or "itself alone")])


def _around(node: str, kinds: dict[str, str], names: Names) -> None:
    parents, children = around(names, node)
    above, below = st.columns(2, gap="large")
    with above:
        st.html(f"<h4>Above: {plural(len(parents), 'parent')}</h4>")
        shown = paging.page(parents, ROWS, key=session.TAM_ABOVE, noun="parent")
        _rows(shown, kinds, names, "above")
    with below:
        word = "children" if len(children) != 1 else "child"
        st.html(f"<h4>Below: {len(children):,} {word}</h4>")
        shown = paging.page(children, ROWS, key=session.TAM_BELOW, noun="node")
        _rows(shown, kinds, names, "below")


def around(names: Names, node: str) -> tuple[list[str], list[str]]:
    """Parents and children of a node, in the order of their numbers."""
    tam = names.tam
    assert tam is not None
    number = tam.ids.index(node)
    parents = tam.edges[tam.edges[:, 1] == number, 0].tolist()
    children = tam.edges[tam.edges[:, 0] == number, 1].tolist()
    return [tam.ids[n] for n in parents], [tam.ids[n] for n in children]
