"""How many calls of the reasoner each stage of a run has made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from components.safe import esc, plural
from core.events import Called, Step
from core.systems.definition import StageNode

TYPICAL = {"ragx": (8, 15)}
"""Calls of a usual run, as published for the method."""


def calls(steps: Iterable[Step]) -> Counter[str]:
    """Calls of the reasoner by stage; a repeated attempt is a call of its own."""
    return Counter(
        s.stage for s in steps if isinstance(s.event, Called) and s.event.port == "reasoner"
    )


def counter(steps: Iterable[Step], stages: Sequence[StageNode], system: str) -> str:
    """One line: calls by stage, all of them, and what is usual where that is published."""
    found = calls(steps)
    parts = "".join(
        f'<span><b class="ri-num">{found[s.name]}</b> {esc(s.title.lower())}</span>'
        for s in stages
        if any(c.startswith("reasoner.") for c in s.calls)
    )
    usual = ""
    if system in TYPICAL:
        low, high = TYPICAL[system]
        usual = f'<span class="ri-dim">typically {low} to {high}</span>'
    total = f"<b>{plural(found.total(), 'call')}</b>"
    return f'<div class="ri-counter ri-tabular">{total}{parts}{usual}</div>'
