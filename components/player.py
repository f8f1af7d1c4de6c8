"""Plays a recorded run: one step after another, each once the one before is on the page.

The clock is in the browser tab that plays. The server keeps none, and hears of a step as of one
that was picked by hand; so a tab that is closed, left or paused asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components import session
from components.element import Element

_PLAYER = Element(
    "player",
    '<div class="player" role="group" aria-label="Player"><button type="button"></button>'
    '<select aria-label="Speed" title="How long each step stays"><option value="slow">Slow</option>'
    '<option value="normal">Normal</option><option value="fast">Fast</option></select></div>',
)


def draw(stops: Sequence[int], cursor: int, *, on_pick: Callable[[], None]) -> None:
    """Play or pause, and how fast. It goes through ``stops``, the steps on the timeline, from the
    selected one; from the first where the last is selected."""
    _PLAYER.show(
        {
            "step": cursor,
            "next": next((s for s in stops if s > cursor), None),
            "first": stops[0],
            "play": bool(session.take(session.PLAY)),
        },
        key=session.PLAYER,
        on_pick=on_pick,
    )


def begin() -> None:
    """Have the player start when it is next drawn."""
    session.put(session.PLAY, True)
