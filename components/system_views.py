"""The views that only some systems have on the run page, and which of them a run shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from components import (
    answer,
    forage_view,
    grounding_marks,
    memory_panel,
    packing,
    slot_chain,
    staged_state,
    tam_view,
)
from components.answer import passages_of
from components.call_counter import counter
from components.cycles import Lineage, lineage
from components.tam_labels import Names, names, recorded_texts
from components.workspace import bench

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


def _path(shown: Shown) -> None:
    found = lineage(shown.upto)
    now = found.current
    again = shown.ghost.decisions.get(now.navigated) if now and now.navigated else None
    bypassed = found.bypass is not None and found.bypass[1].outcome.startswith("BYPASS")
    waits = (
        "The initial evidence was compact enough: the navigator was not asked."
        if bypassed
        else "It begins when the planner's proposal is committed."
    )
    tam_view.draw(now, _names(shown, found), again, waits)


def _state(shown: Shown) -> None:
    found = lineage(shown.upto)
    staged_state.draw(found, lineage(shown.steps), shown.titles, _names(shown, found))


def _memory(shown: Shown) -> None:
    memory_panel.draw(
        lineage(shown.upto), shown.recorded.memory_mode(), shown.started.memory_digest
    )
    with st.expander("Who may do what", icon=":material/lock:"):
        st.html(memory_panel.permissions())
    with st.expander("Kept for later questions", icon=":material/inventory_2:"):
        memory_panel.store(bench().memory, shown.started.corpus.id, key="run")


def _names(shown: Shown, found: Lineage) -> Names:
    now = found.current
    walked = now.rounds[0][1].frontier if now and now.rounds else now.proposed if now else ()
    if not walked:
        return Names(shown.titles)
    started = shown.started
    recorded = recorded_texts(shown.steps)
    return names(bench().library, started.corpus, walked[0], shown.titles, started.access, recorded)


VIEWS = {
    "path": SystemView("Path", "route", "staterag.navigate", _path),
    "state": SystemView("State", "rule", "staterag.action", _state),
    "memory": SystemView("Memory", "inventory_2", "staterag.reuse", _memory),
    "forage": SystemView("Forage", "steps", "ragx.forage", _forage),
    "slots": SystemView("Slots", "link", "ragx.slots", _slots),
    "packing": SystemView("Packing", "inventory_2", "ragx.pack", _packing),
}


def of(system: System) -> list[str]:
    """The views that a system has, in order."""
    deciders = {d.name for d in system.deciders}
    return [name for name, view in VIEWS.items() if view.decider in deciders]
