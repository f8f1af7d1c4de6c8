"""The timeline: one plain-words line a step, with icon, stage, time and cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from components.element import Element

_TIMELINE = Element(
    "timeline",
    '<div class="tl"><div class="list" role="listbox" tabindex="0"></div>'
    '<div class="foot"></div></div>',
)


def draw(
    items: Sequence[dict[str, Any]],
    cursor: int,
    *,
    count: str,
    key: str,
    on_pick: Callable[[], None],
) -> None:
    """Show the lines; the step that was clicked is in the component's ``picked`` trigger.

    An item has ``seq``, ``icon``, ``colour``, ``text``, ``meta`` (short facts), ``unknown``
    (greyed) and ``flag`` (a line above it, or None). All are set as text nodes.
    """
    _TIMELINE.show(
        {
            "items": list(items),
            "cursor": cursor,
            "count": count,
            "hint": "↑ ↓ steps",
            "label": f"Timeline, {count}",
        },
        key=key,
        on_pick=on_pick,
    )
