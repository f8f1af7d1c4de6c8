"""Regions: for each passage, the passages that it is linked to, by weight.

Weight of a passage j in the region of i, a sum over how they are linked: i names the title of j
(1/sqrt(passages of that title)); j names the title of i (.7 of that over sqrt(in-degree of i));
both are of one document (.5/sqrt(distance)); they share an entity (1/df, for df <= 10); j is
among the nearest of i by cosine (.3 cosine).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from core.ports import FloatArray
from core.systems.staterag.tam import Floats, Ints, TamSettings
from core.systems.staterag.tam_names import Named
from core.types import Passage

IN_LINK = 0.7
SAME_DOCUMENT = 0.5
WINDOW = 8
"""Passages on either side in a document, and of a title at most, that links reach."""
SHARED_MOST = 10
LIKENESS = 0.3
DECIMALS = 6
BLOCK = 256
"""Passages compared with all others at a time: memory grows with the corpus, not its square."""


def regions(
    passages: Sequence[Passage],
    named: Sequence[Named],
    vectors: FloatArray,
    parts: Sequence[Ints],
    settings: TamSettings,
    step: Callable[[int], None],
) -> tuple[Ints, Ints, Floats]:
    """Ends, rows and weights of all regions, as ``Tam`` holds them. ``passages`` ascend by id;
    ``vectors`` are their unit vectors, shape (passages, dimension); the nearest of a row are
    sought in its part."""
    links = _links(passages, named)
    _in_documents(passages, links)
    _shared(named, links)
    labels = _labels(passages)
    chosen: list[list[tuple[int, float]]] = [[] for _ in passages]
    done = 0
    for part in parts:
        points = vectors[part]
        for start in range(0, len(part), BLOCK):
            step(done)
            block = range(start, min(start + BLOCK, len(part)))
            for place, near, cosines in _nearest(points, block, settings.nearest):
                row = int(part[place])
                weight, links[row] = links[row], defaultdict(float)
                for other, cosine in zip(part[near].tolist(), cosines, strict=True):
                    weight[other] += LIKENESS * cosine
                chosen[row] = _best(weight, labels, settings.candidates)
            done += len(block)
    step(len(passages))
    return (
        np.cumsum([0, *map(len, chosen)], dtype=np.int64),
        np.array([row for found in chosen for row, _ in found], dtype=np.int64),
        np.array([value for found in chosen for _, value in found], dtype=np.float64),
    )


def titled(passages: Sequence[Passage], named: Sequence[Named]) -> dict[str, list[int]]:
    """Rows of the passages whose title has a key, in document order."""
    found: dict[str, list[int]] = defaultdict(list)
    for row in sorted(range(len(passages)), key=lambda r: (passages[r].start, r)):
        for key in named[row].own:
            found[key].append(row)
    return found


def _links(passages: Sequence[Passage], named: Sequence[Named]) -> list[defaultdict[int, float]]:
    of_title = titled(passages, named)
    pairs: dict[tuple[int, int], float] = {}
    for row, names in enumerate(named):
        for key in names.entities:
            targets = of_title.get(key, ())
            ambiguity = 1 / max(len(targets), 1) ** 0.5
            for other in targets[:WINDOW]:
                if passages[other].document != passages[row].document:
                    pairs[row, other] = max(pairs.get((row, other), 0.0), ambiguity)
    degree: dict[int, int] = defaultdict(int)
    for _, other in pairs:
        degree[other] += 1
    links: list[defaultdict[int, float]] = [defaultdict(float) for _ in passages]
    for (row, other), ambiguity in pairs.items():
        links[row][other] += ambiguity
        links[other][row] += IN_LINK * ambiguity / degree[other] ** 0.5
    return links


def _in_documents(passages: Sequence[Passage], links: list[defaultdict[int, float]]) -> None:
    documents: dict[str, list[int]] = defaultdict(list)
    for row in sorted(range(len(passages)), key=lambda r: (passages[r].start, r)):
        documents[passages[row].document].append(row)
    for rows in documents.values():
        ordered = len({passages[row].start for row in rows}) == len(rows)
        for place, row in enumerate(rows):
            for distance, other in enumerate(rows[place + 1 : place + 1 + WINDOW], 1):
                weight = SAME_DOCUMENT / (distance**0.5 if ordered else 1)
                links[row][other] += weight
                links[other][row] += weight


def _shared(named: Sequence[Named], links: list[defaultdict[int, float]]) -> None:
    holders: dict[str, list[int]] = defaultdict(list)
    for row, names in enumerate(named):
        for key in names.entities:
            holders[key].append(row)
    for rows in holders.values():
        if 2 <= len(rows) <= SHARED_MOST:
            for row in rows:
                for other in rows:
                    if other != row:
                        links[row][other] += 1 / len(rows)


def _labels(passages: Sequence[Passage]) -> list[int]:
    """A number for each kind of access that a passage needs: its tenant and source tier."""
    kinds = [(p.metadata.tenant or "", p.metadata.source_tier or "") for p in passages]
    number = {kind: n for n, kind in enumerate(sorted(set(kinds)))}
    return [number[kind] for kind in kinds]


def _nearest(vectors: FloatArray, block: range, k: int) -> list[tuple[int, list[int], list[float]]]:
    """Places of the ``k`` nearest of each place of a block, and their positive cosines."""
    count = len(vectors)
    k = min(k, count - 1)
    cosines = (vectors[block.start : block.stop] @ vectors.T).astype(np.float64).round(DECIMALS)
    found: list[tuple[int, list[int], list[float]]] = []
    for row, values in zip(block, cosines, strict=True):
        values[row] = -np.inf
        if k <= 0:
            found.append((row, [], []))
            continue
        least = np.partition(values, count - k)[count - k]
        near = np.flatnonzero(values >= max(least, 10.0**-DECIMALS))
        near = near[np.lexsort((near, -values[near]))][:k]
        found.append((row, near.tolist(), values[near].tolist()))
    return found


def _best(weight: dict[int, float], labels: list[int], most: int) -> list[tuple[int, float]]:
    """The ``most`` heaviest of each label, so that what one asker may not see takes no place
    from what he may; ties by row."""
    taken: dict[int, int] = defaultdict(int)
    chosen = []
    ranked = sorted(
        ((row, round(value, DECIMALS)) for row, value in weight.items()),
        key=lambda pair: (-pair[1], pair[0]),
    )
    for row, value in ranked:
        if value > 0 and taken[labels[row]] < most:
            taken[labels[row]] += 1
            chosen.append((row, value))
    return chosen
