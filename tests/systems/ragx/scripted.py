"""What the tests of whole ragX runs share: scripts for the agent, and ways to read a run."""

from __future__ import annotations

from typing import Any

from core.events import ForageTurn, RunFinished, Step
from core.systems.ragx import SYSTEMS
from core.tasks import ForageReply, ForageRequest
from tests.core.world import PASSAGES

VARIANTS = [s.name for s in SYSTEMS]
BY_TITLE = {p.title: p for p in PASSAGES}


def of(steps: list[Step], *kinds: type) -> list[Any]:
    return [s.event for s in steps if isinstance(s.event, kinds)]


def turns(steps: list[Step]) -> list[tuple[str, str, str | None]]:
    return [(t.action, t.argument, t.error) for t in of(steps, ForageTurn)]


def says(*lines: str) -> dict[str, Any]:
    """A script in which the agent says these lines, and garbage after the last."""

    def forage(request: ForageRequest) -> ForageReply:
        n = len(request.transcript)
        return ForageReply(text=lines[n] if n < len(lines) else "I do not know.")

    return {"forage_turn": forage}


def end(steps: list[Step]) -> RunFinished:
    event = steps[-1].event
    assert isinstance(event, RunFinished)
    return event
