"""A row of buttons, one for each turn, hop or cycle of a run; a click moves the cursor there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from components.element import Element

_STRIP = Element("strip", '<div class="strip" role="group"></div>')


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
    _STRIP.show({"items": [asdict(s) for s in stops], "label": label}, key=key, on_pick=on_pick)
