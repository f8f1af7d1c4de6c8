"""The Navigator: beam search over typed transitions, from recorded component scores.

A transition is admitted by its types before it is scored; a completed trace ends at EVIDENCE, and
only completed traces may be proposed (StateRAG, section 2, "Navigator"). The search is a pure
function of the edges fetched and the settings, so that a replay searches again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.events import PathExplored, Transition
from core.graph import ADMISSIBLE, Edges, GraphEdge
from core.graph_steps import expand, graph_of, node_texts
from core.ports import Deps
from core.steps import Stage, decide, emit
from core.systems.staterag.settings import StateRAGSettings
from core.types import Frozen

LISTED = 24
"""At most so many transitions of a round are listed in its event; the rest are counted."""
MOST_ROUNDS = 32

Trace = tuple[str, ...]


class Explored(Frozen):
    """The edges out of the nodes that one round expanded, scored for the query; ``planned``: the
    same edges scored for the fact that the plan looks for first, none where that was not asked."""

    parents: tuple[str, ...]
    edges: Edges
    planned: Edges = ()


class NavigateInputs(Frozen):
    """All that was fetched in a search. ``excluded``: EVIDENCE nodes that earlier cycles
    committed a path to."""

    root: str
    rounds: tuple[Explored, ...]
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Searched:
    """How far a search came: nodes to be expanded next, or completed traces, best first."""

    needed: tuple[str, ...]
    completed: tuple[tuple[Trace, float], ...]


def score(edge: GraphEdge, dense_share: float) -> float:
    """g(q, p, a(child)): likeness by embedding and share of words, mixed."""
    return dense_share * (edge.dense or 0.0) + (1.0 - dense_share) * (edge.lexical or 0.0)


def admissible(edge: GraphEdge) -> bool:
    """Whether its types may follow each other."""
    return edge.types in ADMISSIBLE


def beam_search(
    root: str,
    edges: Mapping[str, tuple[GraphEdge, ...]],
    excluded: Iterable[str],
    settings: StateRAGSettings,
) -> Searched:
    """Search as far as the edges reach. The frontier keeps the ``beam`` best nodes, a node that
    several traces reach by its first one; ties go to the lower node id. An excluded node counts
    where no other is reached, so that a small corpus can be gone through again."""
    shut, visited = frozenset(excluded), {root}
    frontier: list[Trace] = [(root,)]
    completed: dict[str, tuple[Trace, float]] = {}
    for _ in range(MOST_ROUNDS):
        if not frontier:
            break
        needed = tuple(trace[-1] for trace in frontier if trace[-1] not in edges)
        if needed:
            return Searched(needed, ())
        open_: dict[str, tuple[Trace, float]] = {}
        for trace in frontier:
            for edge in edges[trace[-1]]:
                if not admissible(edge):
                    continue
                reached = ((*trace, edge.child), score(edge, settings.dense_share))
                if edge.types[1] != "EVIDENCE":
                    if edge.child not in visited:
                        open_.setdefault(edge.child, reached)
                else:
                    completed.setdefault(edge.child, reached)
        best = sorted(open_.values(), key=_order)[: settings.beam]
        frontier = [trace for trace, _ in best]
        visited.update(trace[-1] for trace in frontier)
    fresh = [found for child, found in completed.items() if child not in shut]
    ranked = sorted(fresh or completed.values(), key=_order)[: settings.beam]
    return Searched((), tuple(ranked))


def _order(found: tuple[Trace, float]) -> tuple[float, str, Trace]:
    trace, value = found
    return (-value, trace[-1], trace)


def by_parent(rounds: Iterable[Explored], plan_share: float) -> dict[str, tuple[GraphEdge, ...]]:
    """The edges fetched, by the node that they leave, their scores those for the query and for
    the plan's fact, mixed."""
    found: dict[str, list[GraphEdge]] = {}
    for explored in rounds:
        for parent in explored.parents:
            found.setdefault(parent, [])
        for edge in mixed(explored, plan_share):
            found.setdefault(edge.parent, []).append(edge)
    return {parent: tuple(edges) for parent, edges in found.items()}


def mixed(explored: Explored, plan_share: float) -> Iterator[GraphEdge]:
    """Edges with ``plan_share`` of their scores for the plan's fact, the rest for the query; for
    the query alone where no other was recorded."""
    planned = {(edge.parent, edge.child): edge for edge in explored.planned}
    for edge in explored.edges:
        other = planned.get((edge.parent, edge.child))
        if other is None or not admissible(edge):
            yield edge
            continue
        lexical, dense = (
            (1.0 - plan_share) * (ours or 0.0) + plan_share * (its or 0.0)
            for ours, its in ((edge.lexical, other.lexical), (edge.dense, other.dense))
        )
        yield edge.model_copy(update={"lexical": lexical, "dense": dense})


def choose(inputs: NavigateInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """Propose the best completed trace."""
    edges = by_parent(inputs.rounds, settings.plan_share)
    searched = beam_search(inputs.root, edges, inputs.excluded, settings)
    if searched.needed:
        return Undetermined(f"the edges out of {', '.join(searched.needed)}")
    gates = [gate("completed_traces", len(searched.completed), ">=", 1)]
    if not searched.completed:
        return Decision(
            outcome="none", gates=tuple(gates), reason="No trace of the beam ends at EVIDENCE."
        )
    (trace, best), *others = searched.completed
    if others:
        gates.append(gate("lead", best, ">=", others[0][1]))
    return Decision(
        outcome=f"propose {'>'.join(trace)}",
        gates=tuple(gates),
        reason=f"The best of {len(searched.completed)} completed traces, at {best:.2f}.",
    )


NAVIGATE = register(
    Decider(
        name="staterag.navigate",
        inputs=NavigateInputs,
        decide=choose,
        outcomes=("propose ", "none"),
        terminal_outcomes=frozenset({"none"}),
        card=Card(
            fitted=False,
            basis="Beam search with one fixed scorer over the last node of a trace.",
            inspects="Types of transitions, and the lexical and dense score of each child for the "
            "query and for the fact that the plan looks for first.",
            fails="A good EVIDENCE node below a node that fell out of the beam is never seen.",
            prohibited=(
                "a transition whose types are not admissible",
                "proposing a trace that does not end at EVIDENCE",
            ),
        ),
    )
)


def navigate(
    deps: Deps,
    query: str,
    fact: str,
    excluded: tuple[str, ...],
    named: frozenset[str],
    settings: StateRAGSettings,
) -> Stage[tuple[Trace, frozenset[str]]]:
    """Search from the root and decide; the empty trace where none was completed, and the nodes
    whose names the run has recorded by then. ``fact`` is what the plan looks for first; empty
    where that is the query.

    Raises:
        RetrieverError: the graph failed.
    """
    root = graph_of(deps).root
    rounds: tuple[Explored, ...] = ()
    while True:
        known = by_parent(rounds, settings.plan_share)
        searched = beam_search(root, known, excluded, settings)
        if not searched.needed:
            break
        edges = yield from expand(deps, query, searched.needed)
        planned = (yield from expand(deps, fact, searched.needed)) if fact else ()
        explored = Explored(parents=searched.needed, edges=edges, planned=planned)
        rounds = (*rounds, explored)
        told = _told(len(rounds), explored, settings)
        nodes = dict.fromkeys([*told.frontier, *(t.child for t in told.transitions)])
        unnamed = [node for node in nodes if node not in named]
        if unnamed:
            yield from node_texts(deps, unnamed)
            named = named.union(unnamed)
        yield from emit(deps, told)
    inputs = NavigateInputs(root=root, rounds=rounds, excluded=excluded)
    decision = yield from decide(deps, NAVIGATE, inputs, settings)
    return (searched.completed[0][0] if decision.outcome != "none" else ()), named


def _told(number: int, explored: Explored, settings: StateRAGSettings) -> PathExplored:
    """The round as an event: refused transitions first, then the best admitted ones."""
    transitions = [
        Transition(
            parent=edge.parent,
            child=edge.child,
            types=edge.types,
            admissible=admissible(edge),
            lexical=edge.lexical if admissible(edge) else None,
            dense=edge.dense if admissible(edge) else None,
            score=score(edge, settings.dense_share) if admissible(edge) else None,
        )
        for edge in mixed(explored, settings.plan_share)
    ]
    refused = [t for t in transitions if not t.admissible]
    admitted = [t for t in transitions if t.admissible]
    admitted.sort(key=lambda t: (-(t.score or 0.0), t.child, t.parent))
    listed = (*refused[: LISTED // 4], *admitted)[:LISTED]
    return PathExplored(
        round=number,
        frontier=explored.parents,
        transitions=listed,
        dropped_count=len(transitions) - len(listed),
    )
