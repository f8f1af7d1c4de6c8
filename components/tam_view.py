"""The path view: the neighbourhood of the beam, the whole graph on demand, a table of the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import streamlit as st

from components import paging, session, tam_graph, tam_layout
from components.cycles import CycleState
from components.markup import chip, number, table
from components.notices import empty, notice
from components.palette import BLUE, GHOST, GREEN, GREY, PASSED, REFUSED, Sign
from components.safe import esc, isolated, plural, shorten
from components.tam_labels import Names
from components.tam_layout import Drawing, Edge, Node, State
from core.events import Transition
from core.passage_names import brief
from core.replay import Redecision

HEIGHT = 300
ROWS = 15
DROPPED, SHUT = 4, 2
"""Of each round so many transitions that were left out, and so many refused, are drawn."""
SIGNS = {
    "chosen": Sign(GREEN, "check_circle", "on the path"),
    "kept": Sign(BLUE, "radio_button_checked", "kept in the beam"),
    "dropped": Sign(GREY, "radio_button_unchecked", "left out"),
    "refused": Sign(REFUSED.colour, "cancel", "refused by type"),
}
COMPLETED = Sign(GREY, "flag", "completed, not chosen")
WORDS = {name: sign.word for name, sign in SIGNS.items()} | {"ghost": "under the settings now"}


@dataclass(frozen=True, slots=True)
class Seen:
    """A transition of a round with what became of it."""

    round: int
    seq: int
    transition: Transition
    state: State

    @property
    def sign(self) -> Sign:
        """The same as icon and word."""
        ends = self.transition.types[1] == "EVIDENCE"
        return COMPLETED if ends and self.state == "dropped" else SIGNS[self.state]


def seen(cycle: CycleState) -> list[Seen]:
    """Every recorded transition of a cycle, in order."""
    path = frozenset(pairwise(cycle.proposed))
    found = []
    for place, (seq, explored) in enumerate(cycle.rounds):
        after = cycle.rounds[place + 1][1].frontier if place + 1 < len(cycle.rounds) else ()
        frontier = frozenset(after)
        for t in explored.transitions:
            state: State = "dropped"
            if not t.admissible:
                state = "refused"
            elif (t.parent, t.child) in path:
                state = "chosen"
            elif t.child in frontier:
                state = "kept"
            found.append(Seen(explored.round, seq, t, state))
    return found


def neighbourhood(
    cycle: CycleState, transitions: Sequence[Seen], names: Names, ghost: Sequence[str] = ()
) -> Drawing:
    """The beam from above, the chosen path along the left; ``ghost`` is another path."""
    rank = {"chosen": 0, "kept": 1, "dropped": 2, "refused": 3, "ghost": 4}
    kinds, states, depth = _nodes_of_path(cycle)
    drawn: dict[tuple[str, str], Seen] = {}
    for level, (seq, explored) in enumerate(cycle.rounds):
        left = {"dropped": DROPPED, "refused": SHUT}
        for parent in explored.frontier:
            kinds.setdefault(parent, "ROOT" if level == 0 else "TOPIC")
            states.setdefault(parent, "kept")
            depth.setdefault(parent, level)
        for one in (s for s in transitions if s.seq == seq):
            t = one.transition
            if one.state in left:
                if left[one.state] == 0 and t.child not in depth:
                    continue
                left[one.state] = max(0, left[one.state] - 1)
            drawn[(t.parent, t.child)] = one
            kinds[t.parent], kinds[t.child] = t.types
            depth.setdefault(t.child, level + 1)
            old = states.get(t.child, one.state)
            states[t.child] = min(old, one.state, key=rank.__getitem__)
    for level, node in enumerate(ghost):
        depth.setdefault(node, level)
        states.setdefault(node, "ghost")
        kinds.setdefault(node, _kind_of(level, len(ghost)))
    best: dict[str, float] = {}
    for one in drawn.values():
        t = one.transition
        best[t.child] = max(best.get(t.child, -9.0), t.score if t.score is not None else -9.0)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node, level in depth.items():
        layers[level].append(node)
    for layer in layers:
        layer.sort(key=lambda n: (rank[states[n]], -best.get(n, 0.0), n))
    texts = names.texts(depth)
    labels = {n: names.label(n, kinds[n]) for n in depth}
    places = tam_layout.layered(layers, labels)
    nodes = tuple(
        Node(
            id=n,
            kind=kinds[n],
            label=labels[n],
            tip=f"{kinds[n]}, {WORDS.get(states[n], states[n])}\n{texts.get(n, '') or n}",
            x=places[n][0],
            y=places[n][1],
            state=states[n],
        )
        for layer in layers
        for n in layer
    )
    lines = [
        Edge(t.parent, t.child, _score(t) if one.state == "chosen" else "", one.state)
        for one in drawn.values()
        for t in (one.transition,)
    ]
    lines += [Edge(a, b, "", "chosen") for a, b in pairwise(cycle.proposed) if (a, b) not in drawn]
    lines += [Edge(a, b, "", "ghost") for a, b in pairwise(ghost)]
    return Drawing(nodes, tuple(lines), boxes=True)


def _nodes_of_path(
    cycle: CycleState,
) -> tuple[dict[str, str], dict[str, State], dict[str, int]]:
    nodes = cycle.proposed
    kinds = dict(zip(nodes, cycle.types, strict=False))
    states: dict[str, State] = dict.fromkeys(nodes, "chosen")
    return (
        {n: kinds.get(n, _kind_of(i, len(nodes))) for i, n in enumerate(nodes)},
        states,
        {n: i for i, n in enumerate(nodes)},
    )


def _kind_of(level: int, length: int) -> str:
    """The type of a path's node where it was not recorded."""
    if level == 0:
        return "ROOT"
    return {1: "EVIDENCE", 2: "RELATION"}.get(length - level, "TOPIC")


def _score(t: Transition) -> str:
    return "" if t.score is None else f"{t.score:.2f}"


def ghost_path(cycle: CycleState, again: Redecision | None) -> tuple[str, ...]:
    """The path that would be proposed now, where it is known and another one."""
    if again is None or again.replayed is None or again.replayed == again.recorded:
        return ()
    word, _, listed = again.replayed.partition(" ")
    return tuple(listed.split(">")) if word == "propose" else ()


def draw(cycle: CycleState | None, names: Names, again: Redecision | None, waits: str) -> None:
    """Show the navigation of a cycle; ``again`` is its decision under the settings now."""
    if cycle is None or not (cycle.rounds or cycle.proposed):
        empty("account_tree", "No navigation yet", waits)
        return
    transitions = seen(cycle)
    ghost = ghost_path(cycle, again)
    asked = f'<span class="ri-dim">for</span> {isolated(shorten(cycle.query, 60))}'
    with st.container(horizontal=True, vertical_alignment="center", key="ri_path_tools"):
        st.html(
            f"<div><b>Cycle {cycle.number}</b> {asked if cycle.query else ''}</div>",
            width="stretch",
        )
        large = names.tam is not None and st.toggle(
            "Whole graph", key=session.TAM_WHOLE, help="Every node of the corpus, the path marked."
        )
        wide = st.button("Enlarge", icon=":material/open_in_full:", key="path_enlarge")
    st.html(_summary(cycle, names))
    if again is not None and again.replayed is None:
        notice(f"Under the settings now this is undetermined: {again.reason}.", GHOSTED)
    picture = _whole if large else partial(_near, transitions=transitions, ghost=ghost)
    picture(cycle, names, height=HEIGHT)
    if wide:
        _enlarged(picture, cycle, names)
    if transitions:
        rows = paging.page(transitions, ROWS, key=session.TAM_PAGE, noun="transition", always=True)
        st.html(listing(rows, names))


def _near(
    cycle: CycleState,
    names: Names,
    *,
    transitions: Sequence[Seen],
    ghost: Sequence[str],
    height: int,
) -> None:
    drawing = neighbourhood(cycle, transitions, names, ghost)
    high = height if height > HEIGHT else tam_layout.fitting(drawing)
    tam_graph.show(drawing, _alt(cycle, transitions, names), height=high)
    states = {x.state for part in (drawing.nodes, drawing.edges) for x in part}
    st.html(tam_graph.legend(states, WORDS) + _left(drawing, cycle))
    if names.why:
        st.caption(f"{names.why} Nodes go by what the run recorded.")


@st.dialog("The path in the graph", width="large", icon=":material/account_tree:")
def _enlarged(picture: Callable[..., None], cycle: CycleState, names: Names) -> None:
    picture(cycle, names, height=560)


GHOSTED = Sign(GHOST, "alt_route", "under the settings now")


def _left(drawing: Drawing, cycle: CycleState) -> str:
    if not cycle.rounds:
        return '<p class="ri-note">The path was taken over; nothing was searched.</p>'
    total = sum(len(x.transitions) + x.dropped_count for _, x in cycle.rounds)
    unlisted = sum(x.dropped_count for _, x in cycle.rounds)
    text = f"{len(drawing.edges):,} of {plural(total, 'transition')} drawn"
    if unlisted:
        text += f"; {unlisted:,} scored lowest are not in the record"
    return f'<p class="ri-note ri-tabular">{text}.</p>'


def _summary(cycle: CycleState, names: Names) -> str:
    state = cycle.roles["navigator"]
    kinds = _nodes_of_path(cycle)[0]
    if cycle.proposed:
        steps = " → ".join(
            f"{tam_graph.GLYPHS.get(kinds[n], '')} {isolated(brief(names.label(n, kinds[n]), 48))}"
            for n in cycle.proposed
        )
        verdict = {"accept": chip(PASSED, "path committed"), "reject": chip(REFUSED)}.get(
            state.verdict, ""
        )
        why = f" {isolated(state.reason)}" if state.reason else ""
        line = f"<div>{verdict}{why} {steps}</div>"
    elif state.verdict == "reject":
        line = f"<div>{chip(REFUSED)} {isolated(state.reason)}</div>"
    else:
        line = f'<div class="ri-dim">Round {len(cycle.rounds)} of the search.</div>'
    reused = f'<div class="ri-dim">{isolated(state.reused)}</div>' if state.reused else ""
    return f'<div class="ri-path">{line}{reused}</div>'


def _alt(cycle: CycleState, transitions: Sequence[Seen], names: Names) -> str:
    kinds = _nodes_of_path(cycle)[0]
    count = {
        name: sum(s.state == name for s in transitions) for name in ("kept", "dropped", "refused")
    }
    path = ", ".join(f"{kinds[n]} {names.label(n, kinds[n])}" for n in cycle.proposed)
    return (
        f"Graph of the navigation in cycle {cycle.number}. Path: {path or 'none yet'}. "
        f"{count['kept']} transitions kept in the beam, {count['dropped']} left out, "
        f"{count['refused']} refused by type. The table below says the same."
    )


def _whole(cycle: CycleState, names: Names, *, height: int) -> None:
    drawing, left_out = picture_of(names, chosen=cycle.proposed)
    tam_graph.show(
        drawing,
        f"The whole graph, {plural(len(drawing.nodes), 'node')} around the root, the path of cycle "
        f"{cycle.number} marked.",
        height=height,
    )
    counts = {k: sum(n.kind == k for n in drawing.nodes) for k in tam_layout.KINDS}
    more = f'<p class="ri-dim">{left_out:,} lower nodes are not drawn.</p>' if left_out else ""
    st.html(tam_graph.kinds_legend(counts) + more)


def picture_of(
    names: Names,
    *,
    chosen: Sequence[str] = (),
    selected: str = "",
    down_to: str = "EVIDENCE",
) -> tuple[Drawing, int]:
    """The graph down to a type, and how many nodes of these types are left out of the picture."""
    assert names.tam is not None
    key = f"{names.tam.digest} {names.access.model_dump_json()}"
    return _picture(names, key, tuple(chosen), selected, down_to)


@st.cache_resource(show_spinner=False, max_entries=16)
def _picture(
    _names: Names, key: str, chosen: tuple[str, ...], selected: str, down_to: str
) -> tuple[Drawing, int]:
    names = _names
    assert names.tam is not None
    assert names.graph is not None
    tam, there = names.tam, names.graph.view(names.access).there
    last = tam_layout.KINDS.index(down_to)
    kinds = {
        tam.ids[n]: tam_layout.KINDS[int(kind)]
        for n, kind in enumerate(tam.types.tolist())
        if there[n] and (kind <= last or tam.ids[n] == selected or tam.ids[n] in chosen)
    }
    ids = tam.ids
    edges = [(ids[a], ids[b]) for a, b in tam.edges.tolist() if ids[a] in kinds and ids[b] in kinds]
    texts = names.texts(list(kinds)[: tam_layout.MOST_NODES])
    labels = {n: names.label(n, k) for n, k in list(kinds.items())[: tam_layout.MOST_NODES]}
    drawing = tam_layout.whole(kinds, edges, labels, texts, chosen=chosen, selected=selected)
    return drawing, len(kinds) - len(drawing.nodes)


def listing(rows: Sequence[Seen], names: Names) -> str:
    """Transitions as a table."""
    cells = []
    for one in rows:
        t = one.transition
        cells.append(
            [
                str(one.round),
                _typed(names, t.parent, t.types[0]),
                _typed(names, t.child, t.types[1]),
                number(t.lexical, 2),
                number(t.dense, 2),
                number(t.score, 3),
                chip(one.sign),
            ]
        )
    heads = ["Round", "From", "To", "Words", "Dense", "Mixed", "Verdict"]
    return table("Transitions of the navigation", heads, cells, (0, 3, 4, 5))


def _typed(names: Names, node: str, kind: str) -> str:
    """A node's name over its type."""
    return (
        f'{isolated(names.label(node, kind))}<br><span class="ri-types ri-dim">{esc(kind)}</span>'
    )
