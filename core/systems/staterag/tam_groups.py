"""Which passages make a RELATION, and which relations make a TOPIC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.ports import FloatArray
from core.systems.staterag.tam import Ints, TamSettings
from core.systems.staterag.tam_names import Named
from core.types import digest

PLUS_PLUS_UP_TO = 2_000
"""With more clusters than this they start from a random draw: k-means++ is quadratic in them."""
LLOYD_UP_TO = 30_000
"""More points than this are clustered by mini-batches."""
WHOLE_UP_TO = 12_000
"""Passages that are compared with each other; larger corpora are split first."""
BLOCK = 4_096
SECOND_TOPIC = 0.9
"""A node joins a second topic whose cosine is at least this share of the first's. Any value from
0 to .95 finds the same (development questions); this one keeps topics apart."""
FEWEST_ABOVE = 3
"""Fewer upper topics than this are none: they would all hold nearly everything."""


@dataclass(frozen=True, slots=True)
class Group:
    """A RELATION over passage rows, or a TOPIC over node ids (``children``).

    ``names``: entities that every member names, as they are written; none for a cluster.
    """

    id: str
    members: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


def relations(
    ids: Sequence[str],
    named: Sequence[Named],
    vectors: FloatArray,
    parts: Sequence[Ints],
    settings: TamSettings,
    seed: int,
) -> list[Group]:
    """Groups of passages, by id: those that name the same entity, and those of a part that are
    alike. Equal groups are one; every passage is in one at least."""
    names: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, rows in _by_entity(named):
        if settings.entity_least <= len(rows) <= settings.entity_most:
            names[rows].append(name)
    for rows in _clusters(vectors, parts, settings, seed):
        names.setdefault(rows, [])
    found = [
        Group(f"relation:{digest([ids[row] for row in rows])}", rows, tuple(sorted(given)))
        for rows, given in names.items()
    ]
    return sorted(found, key=lambda group: group.id)


def _by_entity(named: Sequence[Named]) -> list[tuple[str, tuple[int, ...]]]:
    """Every entity as it is written, a title first, with the rows that name it."""
    rows: dict[str, list[int]] = defaultdict(list)
    written: dict[str, str] = {}
    for row, names in enumerate(named):
        for key in sorted({*names.entities, *names.own}):
            rows[key].append(row)
        if names.own:
            written.setdefault(names.own[0], names.entities[names.own[0]])
    for names in named:
        for key, name in names.entities.items():
            written.setdefault(key, name)
    return [(written.get(key, key), tuple(rows[key])) for key in sorted(rows)]


def split(vectors: FloatArray, seed: int) -> list[Ints]:
    """Rows in parts of about ``WHOLE_UP_TO`` / 2 that lie together; one part where there are no
    more than ``WHOLE_UP_TO``. What compares rows does so inside a part, so that time and memory
    grow with the corpus and not with its square."""
    if not len(vectors):
        return []
    if len(vectors) <= WHOLE_UP_TO:
        return [np.arange(len(vectors))]
    coarse = centres(vectors, -(-2 * len(vectors) // WHOLE_UP_TO), seed, in_batches=True)
    nearest = np.array([parents[0] for parents in two_nearest(vectors, coarse, 1.0)])
    found = [np.flatnonzero(nearest == number) for number in range(len(coarse))]
    return [rows for rows in found if len(rows)]


def _clusters(
    vectors: FloatArray, parts: Sequence[Ints], settings: TamSettings, seed: int
) -> list[tuple[int, ...]]:
    found = []
    for rows in parts:
        points = vectors[rows]
        count = max(1, round(len(points) / settings.cluster_size))
        groups: dict[int, list[int]] = defaultdict(list)
        middle = centres(points, count, seed, in_batches=True)
        for row, parents in zip(
            rows.tolist(), two_nearest(points, middle, settings.second_parent), strict=True
        ):
            for parent in parents:
                groups[parent].append(row)
        found += [tuple(groups[parent]) for parent in sorted(groups)]
    return found


def topics(centroids: FloatArray, ids: Sequence[str], seed: int) -> list[list[Group]]:
    """Levels of topics over relations, the lowest first; each level's groups by id.

    ``centroids``: unit vectors of the relations ``ids``, shape (relations, dimension). There
    are about sqrt(relations / 2) topics with relations, and the root of their number above
    them; one level where they are few.
    """
    if not len(ids):
        return []
    count = max(1, round((len(ids) / 2) ** 0.5))
    levels = [_level(0, centroids, ids, count, seed)]
    above = round(len(levels[0]) ** 0.5)
    if above >= FEWEST_ABOVE:
        of = {name: row for row, name in enumerate(ids)}
        means = np.stack([_mean(centroids[[of[c] for c in g.children]]) for g in levels[0]])
        levels.append(_level(1, means, [g.id for g in levels[0]], above, seed))
    return levels


def _level(
    level: int, points: FloatArray, ids: Sequence[str], count: int, seed: int
) -> list[Group]:
    groups: dict[int, list[str]] = defaultdict(list)
    for row, parents in enumerate(two_nearest(points, centres(points, count, seed), SECOND_TOPIC)):
        for parent in parents:
            groups[parent].append(ids[row])
    distinct = {tuple(sorted(members)) for members in groups.values()}
    found = [Group(f"topic:{digest([level, *members])}", children=members) for members in distinct]
    return sorted(found, key=lambda group: group.id)


def _mean(points: FloatArray) -> FloatArray:
    mean: FloatArray = unit(points.mean(axis=0, keepdims=True))[0]
    return mean


def unit(points: FloatArray) -> FloatArray:
    """Rows scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    scaled: FloatArray = (points / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def centres(points: FloatArray, count: int, seed: int, in_batches: bool = False) -> FloatArray:
    """Unit centres of at most ``count`` clusters by k-means, the same for the same points in
    the same order and seed."""
    first = {row.tobytes(): number for number, row in reversed(list(enumerate(points)))}
    distinct = points[sorted(first.values())]
    if count >= len(distinct):
        return unit(distinct)
    if count == 1:
        return unit(points.mean(axis=0, keepdims=True))
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    draw = "k-means++" if count <= PLUS_PLUS_UP_TO else "random"
    with threadpool_limits(1):
        if in_batches or len(points) > LLOYD_UP_TO:
            size = min(len(points), max(1_024, min(count, BLOCK)))
            model = MiniBatchKMeans(
                count, init=draw, n_init=1, batch_size=size, max_iter=20, random_state=seed
            )
        else:
            model = KMeans(count, init=draw, n_init=1, max_iter=30, random_state=seed)
        return unit(model.fit(points).cluster_centers_)


def two_nearest(points: FloatArray, centre: FloatArray, share: float) -> list[list[int]]:
    """For each point the nearest centre by cosine, and the second if its cosine is positive
    and at least ``share`` of the first's; ties by number."""
    found: list[list[int]] = []
    for start in range(0, len(points), BLOCK):
        cosines = points[start : start + BLOCK] @ centre.T
        first = cosines.argmax(axis=1)
        here: Ints = np.arange(len(first))
        best = cosines[here, first]
        if centre.shape[0] == 1:
            found.extend([int(one)] for one in first)
            continue
        cosines[here, first] = -np.inf
        second = cosines.argmax(axis=1)
        value = cosines[here, second]
        both = (value > 0) & (value >= share * best)
        found.extend(
            [int(one), int(two)] if two_too else [int(one)]
            for one, two, two_too in zip(first, second, both, strict=True)
        )
    return found
