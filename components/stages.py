"""The stage diagram of a system, with the stage of the selected step marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

from components.element import Element
from core.events import RunFinished, Step
from core.registry import System

_DIAGRAM = Element("stages", '<div class="box"></div>')

NODE_WIDTH, NODE_HEIGHT, PITCH = 106, 40, 130
LIFT, ROOM = 9, 40
"""How far an arrow rises for every stage that it passes, and at most: many stages stand in one
row without becoming too small to read."""
ONE_ROW = 6
"""More stages stand in two rows where there is little room."""
BETWEEN = 62
"""From one row of boxes to the other: the arrows of both pass there."""


def diagram(system: System, steps: Sequence[Step]) -> dict[str, Any]:
    """Where the boxes and arrows stand, and how often each stage was entered up to here.

    Stages stand in a row in their declared order; an arrow to a later stage passes above, one
    back passes below. The last arrow taken is marked.
    """
    order = {stage.name: i for i, stage in enumerate(system.stages)}
    path = [s for s in steps if s.stage in order]
    entries = [s for before, s in pairwise([None, *path]) if not before or before.stage != s.stage]
    visits = Counter(s.stage for s in entries)
    last = {s.stage: s.seq for s in entries}
    now = entries[-1].stage if entries else ""
    came = (entries[-2].stage, now) if len(entries) > 1 else None
    over = bool(steps) and isinstance(steps[-1].event, RunFinished)
    nodes = [
        {
            "title": stage.title,
            "summary": stage.summary,
            "note": _visits(visits[stage.name], stage.name == now, over),
            "visits": visits[stage.name],
            "now": stage.name == now,
            "seq": last.get(stage.name),
        }
        for stage in system.stages
    ]
    pairs = [(order[a], order[b]) for a, b in system.edges]
    taken = [edge == came for edge in system.edges]
    drawn = _placed(nodes, pairs, taken, len(nodes))
    if len(nodes) > ONE_ROW:
        drawn["narrow"] = _placed(nodes, pairs, taken, ceil(len(nodes) / 2))
    return {
        **drawn,
        "node_width": NODE_WIDTH,
        "node_height": NODE_HEIGHT,
        "alt": _alt(system, now, visits),
    }


def _placed(
    nodes: Sequence[dict[str, Any]],
    pairs: Sequence[tuple[int, int]],
    taken: Sequence[bool],
    columns: int,
) -> dict[str, Any]:
    """The boxes in rows of so many, and the arrows between them."""
    leaps = [b - a for a, b in pairs if a // columns == b // columns]
    ahead, back = max([2, *leaps]), max([2, *(-leap for leap in leaps)])
    lift = min(LIFT, ROOM / max(ahead, back))
    top = lift * ahead + NODE_HEIGHT / 2 + 3
    below = NODE_HEIGHT / 2 + lift * back + 3
    heights = [top + row * (NODE_HEIGHT + BETWEEN) for row in range(ceil(len(nodes) / columns))]

    def place(i: int) -> tuple[float, float]:
        return PITCH * (i % columns) + PITCH / 2, heights[i // columns]

    def arrow(a: int, b: int) -> str:
        if a // columns == b // columns:
            return _arrow(a % columns, b % columns, place(a)[1], lift)
        return _between(place(a), place(b))

    return {
        "width": PITCH * columns,
        "height": heights[-1] + below,
        "nodes": [{**node, "x": place(i)[0], "y": place(i)[1]} for i, node in enumerate(nodes)],
        "edges": [
            {"d": arrow(a, b), "taken": came} for (a, b), came in zip(pairs, taken, strict=True)
        ],
    }


def _between(start: tuple[float, float], end: tuple[float, float]) -> str:
    """An arrow from one row to the other; those up stand beside those down."""
    (x1, y1), (x2, y2) = start, end
    down = 1 if y2 > y1 else -1
    x1, x2 = x1 - 12 * down, x2 - 12 * down
    y1, y2 = y1 + down * NODE_HEIGHT / 2, y2 - down * NODE_HEIGHT / 2
    half = (y1 + y2) / 2
    return f"M{x1:g} {y1:g} C{x1:g} {half:g} {x2:g} {half:g} {x2:g} {y2:g}"


def _visits(count: int, now: bool, over: bool) -> str:
    if not count:
        return "not entered" if over else "not yet"
    times = "once" if count == 1 else f"{count} times"
    return f"now, {times}" if now else times


def _arrow(a: int, b: int, middle: float, lift: float) -> str:
    half, tall = NODE_WIDTH / 2, NODE_HEIGHT / 2
    x1, x2 = PITCH * a + PITCH / 2, PITCH * b + PITCH / 2
    if b == a + 1:
        return f"M{x1 + half:g} {middle:g} L{x2 - half:g} {middle:g}"
    if a == b:
        low, deep = middle + tall, middle + tall + 2 * LIFT
        return (
            f"M{x1 + 17:g} {low:g} C{x1 + 24:g} {deep:g} {x1 - 24:g} {deep:g} {x1 - 17:g} {low:g}"
        )
    side = -1 if b > a else 1
    spread = min(11 * abs(b - a), 38)
    start, end = x1 + (spread if b > a else -spread), x2 + (-spread if b > a else spread)
    edge, bend = middle + side * tall, middle + side * (tall + 1.3 * lift * abs(b - a))
    return f"M{start:g} {edge:g} C{start:g} {bend:g} {end:g} {bend:g} {end:g} {edge:g}"


def _alt(system: System, now: str, visits: Counter[str]) -> str:
    titles = {s.name: s.title for s in system.stages}
    been = ", ".join(f"{titles[n]} {c}" for n, c in visits.items()) or "none"
    here = f"Now in {titles[now]}." if now else "Not started."
    return f"Stages of {system.title}. {here} Entered so far: {been}."


def draw(system: System, steps: Sequence[Step], *, key: str, on_pick: Callable[[], None]) -> None:
    """Show the diagram; the step of a stage that was clicked is in its ``picked`` trigger."""
    _DIAGRAM.show(diagram(system, steps), key=key, on_pick=on_pick)
