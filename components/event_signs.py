"""The icon and colour of every kind of step, on the timeline and in the story."""

from __future__ import annotations

from components.palette import BLUE, GREEN, GREY, GUESS, ORANGE, STANDS, TERMINALS, VERMILLION
from core.events import (
    Decided,
    Event,
    EvidenceChanged,
    Grounded,
    MemoryOp,
    RunFinished,
    Validated,
)

INK = "currentColor"
_KINDS: dict[str, tuple[str, str]] = {
    "RunStarted": ("flag", INK),
    "Proposed": ("edit_note", INK),
    "Committed": ("task_alt", GREEN),
    "QueryIssued": ("search", INK),
    "Called": ("call_made", GREY),
    "ModelCalled": ("forum", GREY),
    "PassagesShown": ("article", GREY),
    "Retrieved": ("travel_explore", INK),
    "DiagnosticsMeasured": ("straighten", INK),
    "BeliefUpdated": ("psychology", INK),
    "PathExplored": ("account_tree", INK),
    "PathCommitted": ("route", GREEN),
    "ForageTurn": ("steps", INK),
    "HopResolved": ("link", INK),
    "Composed": ("inventory_2", INK),
    "Probed": ("science", GREY),
    "FaultInjected": ("bug_report", ORANGE),
    "Warned": ("warning", ORANGE),
}
MINOR = frozenset({"Called", "ModelCalled", "PassagesShown"})
"""Bookkeeping of ports: on the timeline only when every step is asked for."""


def sign(event: Event, *, guess: bool = False) -> tuple[str, str]:
    """The Material Symbols icon of an event and its colour by meaning; ``guess``: the answer of
    the run is only a best guess."""
    if isinstance(event, Decided):
        return "bolt", BLUE
    if isinstance(event, Validated):
        accepted = {"accept": ("check_circle", GREEN), "reject": ("cancel", VERMILLION)}
        return accepted.get(event.verdict, ("pending", GREY))
    if isinstance(event, EvidenceChanged):
        if event.removed:
            return "playlist_remove", VERMILLION
        return "playlist_add_check", GREEN
    if isinstance(event, Grounded):
        if event.grounded and guess:
            return STANDS.icon, STANDS.colour
        return ("verified", GREEN) if event.grounded else ("gpp_maybe", VERMILLION)
    if isinstance(event, MemoryOp):
        return ("inventory", GREEN) if event.allowed else ("block", VERMILLION)
    if isinstance(event, RunFinished):
        end = GUESS if guess else TERMINALS[event.terminal]
        return end.icon, end.colour
    return _KINDS[event.kind]
