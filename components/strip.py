"""A row of buttons, one for each turn, hop or cycle of a run; a click moves the cursor there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import streamlit as st

_FRONT = Path(__file__).parent / "front"
_STRIP = st.components.v2.component(
    "ri_strip",
    html='<div class="strip" role="group"></div>',
    css=(_FRONT / "strip.css").read_text(encoding="utf-8"),
    js=(_FRONT / "strip.js").read_text(encoding="utf-8"),
)


@dataclass(frozen=True, slots=True)
class Stop:
    """One button: the step that a click selects (None where there is none yet), its words, and
    whether the cursor is before it, on it or after it."""

    seq: int | None
    icon: str
    colour: str
    text: str
    tip: str
    state: Literal["done", "now", "later"]


def draw(stops: Sequence[Stop], *, label: str, key: str, on_pick: Callable[[], None]) -> None:
    """Show the row; the step that was clicked is in the component's ``picked`` trigger. All texts
    are set as text nodes."""
    _STRIP(
        key=key,
        data={"items": [asdict(s) for s in stops], "label": label},
        on_picked_change=on_pick,
    )
