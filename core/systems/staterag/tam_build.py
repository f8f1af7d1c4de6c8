"""Building a TAM: a pure function of passages, their vectors, settings and a seed.

The order in which passages come does not matter: they are sorted by id, ids of nodes are
digests of what they hold, and nothing but abstractions is taken from an earlier build.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from core.ports import FloatArray
from core.retrieval.tokenizer import content_terms
from core.systems.staterag.tam import (
    EVIDENCE,
    RELATION,
    ROOT,
    TOPIC,
    Ints,
    Tam,
    TamSettings,
)
from core.systems.staterag.tam_groups import Group, relations, split, topics, unit
from core.systems.staterag.tam_names import Named, names_of
from core.systems.staterag.tam_regions import regions
from core.systems.staterag.tam_texts import evidence_text, relation_text, root_text, topic_texts
from core.types import Passage, digest

TAM_VERSION = 2
"""Raised when a release builds another graph from the same passages."""
BuildPhase = Literal["linking", "grouping", "weighing", "abstracting"]
Step = Callable[[BuildPhase, int, int], None]
BLOCK = 16_384


def tam_digest(passages: Sequence[Passage], settings: TamSettings, seed: int) -> str:
    """Digest of all that a graph depends on besides the embedder."""
    held = sorted((p.model_dump(mode="json") for p in passages), key=lambda p: str(p["id"]))
    return digest([TAM_VERSION, settings.model_dump(), seed, held])


def build_tam(
    passages: Sequence[Passage],
    vectors: FloatArray,
    settings: TamSettings | None = None,
    seed: int = 0,
    cached: Mapping[str, str] | None = None,
    step: Step = lambda phase, done, total: None,
    name: str | None = None,
) -> tuple[Tam, dict[str, str]]:
    """A graph over passages, and its abstractions of relations by the digest of their members.

    ``vectors``: the passages' unit vectors, shape (passages, dimension), in the order given.
    ``cached``: what an earlier build returned second. ``name``: the graph's digest, if known.
    ``step`` is told how far it is and may raise.

    Raises:
        ValueError: two passages have one id, or the vectors do not fit.
    """
    settings = settings or TamSettings()
    order = sorted(range(len(passages)), key=lambda row: passages[row].id)
    ordered = [passages[row] for row in order]
    if len({p.id for p in ordered}) != len(ordered) or len(vectors) != len(ordered):
        raise ValueError("passages need ids of their own and a vector each")
    points = np.ascontiguousarray(vectors[order] if order else vectors, dtype=np.float32)
    named = names_of(ordered, lambda done: step("linking", done, len(ordered)))
    step("grouping", 0, 2)
    parts = split(points, seed)
    below = relations([p.id for p in ordered], named, points, parts, settings, seed)
    step("grouping", 1, 2)
    levels = topics(_centroids(below, points), [group.id for group in below], seed)
    step("grouping", 2, 2)
    ends, rows, weights = regions(
        ordered, named, points, parts, settings, lambda done: step("weighing", done, len(ordered))
    )
    above = [group for level in reversed(levels) for group in level]
    groups = [*above, *below]
    number = {group.id: place for place, group in enumerate(groups, 1)}
    first = 1 + len(groups)
    edges = _edges(levels, below, number, first)
    texts, made = _texts(levels, above, below, ordered, named, cached or {}, step)
    terms, term_ends, term_ids, routes = _terms(ordered, named)
    kinds = [ROOT, *[TOPIC] * len(above), *[RELATION] * len(below), *[EVIDENCE] * len(ordered)]
    key = name or tam_digest(ordered, settings, seed)
    tam = Tam(
        digest=key,
        ids=(f"root:{key}", *(group.id for group in groups), *(p.id for p in ordered)),
        types=np.array(kinds, dtype=np.int64),
        texts=tuple(texts),
        names={number[group.id]: group.names for group in below if group.names},
        edges=edges,
        region_ends=ends,
        region_rows=rows,
        region_weights=weights,
        terms=terms,
        term_ends=term_ends,
        term_ids=term_ids,
        term_routes=routes,
    )
    return tam, made


def _centroids(below: Sequence[Group], points: FloatArray) -> FloatArray:
    """Unit vectors of the means of the members, shape (relations, dimension)."""
    means = np.zeros((len(below), points.shape[1] if points.ndim == 2 else 0), dtype=np.float32)
    for place, group in enumerate(below):
        means[place] = points[list(group.members)].mean(axis=0)
    return unit(means) if len(below) else means


def _edges(
    levels: Sequence[Sequence[Group]], below: Sequence[Group], number: Mapping[str, int], first: int
) -> Ints:
    found = {(0, number[group.id]) for group in (levels[-1] if levels else ())}
    for level in levels:
        found.update((number[g.id], number[child]) for g in level for child in g.children)
    found.update((number[g.id], first + row) for g in below for row in g.members)
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _texts(
    levels: Sequence[Sequence[Group]],
    above: Sequence[Group],
    below: Sequence[Group],
    passages: Sequence[Passage],
    named: Sequence[Named],
    cached: Mapping[str, str],
    step: Step,
) -> tuple[list[str], dict[str, str]]:
    place = {group.id: n for n, group in enumerate(below)}
    members = {n: group.members for n, group in enumerate(below)}
    names = {n: group.names for n, group in enumerate(below)}
    beneath: dict[str, set[int]] = {group.id: {n} for n, group in enumerate(below)}
    for level in levels:
        for group in level:
            beneath[group.id] = set().union(*(beneath[child] for child in group.children))
    digests = [digest([p.title, p.text]) for p in passages]
    made: dict[str, str] = {}
    lines = []
    for done, group in enumerate(below):
        if done % 256 == 0:
            step("abstracting", done, len(place))
        key = digest([TAM_VERSION, group.names, [digests[row] for row in group.members]])
        text = cached.get(key) or relation_text(
            group.members, group.names, passages, lambda row: named[row].sentences
        )
        made[key] = text
        lines.append(text)
    step("abstracting", len(place), len(place))
    routed: list[str] = []
    for level in reversed(levels):
        routed += topic_texts([sorted(beneath[g.id]) for g in level], members, names, passages)
    whole = root_text(range(len(passages)), members, names, passages)
    leaves = (evidence_text(p, n.sentences) for p, n in zip(passages, named, strict=True))
    return [whole, *routed, *lines, *leaves], made


def _terms(
    passages: Sequence[Passage], named: Sequence[Named]
) -> tuple[tuple[str, ...], Ints, Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    routing = [
        frozenset(content_terms(" ".join([p.title, *n.entities.values()])))
        for p, n in zip(passages, named, strict=True)
    ]
    every = [
        routing[row].union(*(s.terms for s in names.sentences)) for row, names in enumerate(named)
    ]
    vocabulary = sorted(frozenset().union(*every))
    number = {term: n for n, term in enumerate(vocabulary)}
    ends, ids, routes = [0], [], []
    for all_of, routing_of in zip(every, routing, strict=True):
        for term in sorted(all_of):
            ids.append(number[term])
            routes.append(term in routing_of)
        ends.append(len(ids))
    return (
        tuple(vocabulary),
        np.array(ends, dtype=np.int64),
        np.array(ids, dtype=np.int64),
        np.array(routes, dtype=np.bool_),
    )
