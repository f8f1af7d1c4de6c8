"""Shared IO steps over a typed abstraction memory: expand nodes, judge a path, fetch a region.

Each is a call of the port ``retriever``, journaled with its response, so that a fork plays it back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from core.errors import RetrieverError
from core.events import PassagesShown
from core.graph import (
    TEXT_KEPT,
    AbstractionMemory,
    Expansion,
    GraphEdge,
    NodeTexts,
    PathFacts,
    Region,
    RegionHit,
    Spread,
)
from core.ports import Deps
from core.steps import Stage, access_json, call_port, emit, sound
from core.types import Frozen, JsonObject, Scored, as_json

Found = TypeVar("Found", bound=Frozen)


def graph_of(deps: Deps) -> AbstractionMemory:
    """The graph of the run's corpus.

    Raises:
        RetrieverError: there is none.
    """
    if deps.graph is None:
        raise RetrieverError(
            "There is no typed abstraction memory of this corpus; build it first.", code="no_graph"
        )
    return deps.graph


def _recorded(
    deps: Deps, task: str, request: JsonObject, call: Callable[[AbstractionMemory], Found]
) -> Stage[Found]:
    """Call the graph once and journal the answer, or the failed call."""
    called, found, failure = call_port(deps, task, request, lambda: call(graph_of(deps)))
    if failure is not None:
        yield from emit(deps, called)
        raise failure
    yield from emit(deps, called.model_copy(update={"response": as_json(found)}))
    return found


def expand(deps: Deps, query: str, parents: Sequence[str]) -> Stage[tuple[GraphEdge, ...]]:
    """Every edge out of these nodes, scored for the query.

    Raises:
        RetrieverError: the graph failed; the failed call is journaled.
    """
    request: JsonObject = {"query": query, "parents": [*parents], "access": access_json(deps)}
    found = yield from _recorded(
        deps,
        "expand",
        request,
        lambda graph: Expansion(edges=tuple(graph.expand(query, parents, deps.access))),
    )
    return found.edges


def path_facts(deps: Deps, path: Sequence[str]) -> Stage[PathFacts]:
    """What the graph holds of a proposed path.

    Raises:
        RetrieverError: the graph failed; the failed call is journaled.
    """
    request: JsonObject = {"path": [*path], "access": access_json(deps)}
    return (
        yield from _recorded(deps, "path", request, lambda graph: graph.facts(path, deps.access))
    )


def node_texts(deps: Deps, nodes: Sequence[str]) -> Stage[None]:
    """Record what nodes are called, so that the run tells it wherever it is shown.

    Raises:
        RetrieverError: the graph failed; the failed call is journaled.
    """
    request: JsonObject = {"nodes": [*nodes], "access": access_json(deps)}

    def named(graph: AbstractionMemory) -> NodeTexts:
        texts = zip(nodes, graph.texts(nodes, deps.access), strict=True)
        return NodeTexts(nodes=tuple((node, text[:TEXT_KEPT]) for node, text in texts if text))

    yield from _recorded(deps, "texts", request, named)


def spread(deps: Deps, terms: Sequence[str]) -> Stage[Spread]:
    """In how many passages the terms are found.

    Raises:
        RetrieverError: the graph failed; the failed call is journaled.
    """
    request: JsonObject = {"terms": [*terms], "access": access_json(deps)}
    return (
        yield from _recorded(
            deps, "spread", request, lambda graph: graph.spread(terms, deps.access)
        )
    )


def region(deps: Deps, node: str, query: str, width: int) -> Stage[tuple[Scored, ...]]:
    """The passages of an EVIDENCE node's region, best first; those whose span does not fit their
    text are left out, and that is said.

    Raises:
        RetrieverError: the graph failed or has no such node; the failed call is journaled.
    """
    request: JsonObject = {
        "node": node,
        "query": query,
        "width": width,
        "access": access_json(deps),
    }
    called, found, failure = call_port(
        deps, "region", request, lambda: graph_of(deps).region(node, query, width, deps.access)
    )
    if failure is not None:
        yield from emit(deps, called)
        raise failure
    hits = sound(deps, found)
    listed = tuple(
        RegionHit(
            id=hit.passage.id,
            title=hit.passage.title,
            score=hit.score,
            lexical=hit.lexical,
            dense=hit.dense,
        )
        for hit in hits
    )
    yield from emit(
        deps,
        called.model_copy(update={"response": as_json(Region(hits=listed))}),
        PassagesShown(passages=tuple(hit.passage for hit in hits)),
    )
    return tuple(hits)
