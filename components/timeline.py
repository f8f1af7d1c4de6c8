"""The timeline: one plain-words line a step, with icon, stage, time and cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

_FRONT = Path(__file__).parent / "front"
_TIMELINE = st.components.v2.component(
    "ri_timeline",
    html=(
        '<div class="tl"><div class="list" role="listbox" tabindex="0"></div>'
        '<div class="foot"></div></div>'
    ),
    css=(_FRONT / "timeline.css").read_text(encoding="utf-8"),
    js=(_FRONT / "timeline.js").read_text(encoding="utf-8"),
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
    _TIMELINE(
        key=key,
        data={
            "items": list(items),
            "cursor": cursor,
            "count": count,
            "hint": "↑ ↓ steps",
            "label": f"Timeline, {count}",
        },
        on_picked_change=on_pick,
    )
