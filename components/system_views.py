"""The views that only some systems have on the run page, and which of them a run shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from components import answer, forage_view, grounding_marks, packing, slot_chain
from components.answer import passages_of
from components.call_counter import counter

if TYPE_CHECKING:
    from components.run_view import Shown
    from core.registry import System


@dataclass(frozen=True, slots=True)
class SystemView:
    """A view, and the decider by which a system shows that it has it."""

    title: str
    icon: str
    decider: str
    draw: Callable[[Shown], None]


def _counted(shown: Shown) -> None:
    family = shown.system.name.partition("-")[0]
    st.html(counter(shown.upto, shown.system.stages, family))


def _forage(shown: Shown) -> None:
    _counted(shown)
    limit = int(getattr(shown.recorded, "steps", 0))
    forage_view.draw(shown.steps, shown.cursor, passages_of(shown.upto), limit)


def _slots(shown: Shown) -> None:
    wanted = bool(getattr(shown.recorded, "slot_chain", True))
    slot_chain.draw(shown.upto, passages_of(shown.upto), shown.started.question, wanted)


def _packing(shown: Shown) -> None:
    _counted(shown)
    grounded, _ = grounding_marks.cited(shown.upto)
    cited = frozenset(c.passage_id for c in grounded.citations) if grounded else frozenset()
    packing.draw(shown.upto, shown.titles, shown.ghost, shown.settings, cited)


def answered(shown: Shown) -> None:
    """The answer; where it was composed, its citations are marked in the composed passages."""
    composed = any(d.name == "ragx.pack" for d in shown.system.deciders)
    answer.draw(shown.upto, key="answer", quotes=not composed)
    if composed:
        grounding_marks.draw(shown.upto, passages_of(shown.upto))


VIEWS = {
    "forage": SystemView("Forage", "steps", "ragx.forage", _forage),
    "slots": SystemView("Slots", "link", "ragx.slots", _slots),
    "packing": SystemView("Packing", "inventory_2", "ragx.pack", _packing),
}


def of(system: System) -> list[str]:
    """The views that a system has, in order."""
    deciders = {d.name for d in system.deciders}
    return [name for name, view in VIEWS.items() if view.decider in deciders]
