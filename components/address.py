"""What the browser's Back goes back to: another page, or another run."""

from __future__ import annotations

from components import session
from components.element import Element

_ADDRESS = Element("address", "<div></div>")


def draw() -> None:
    """Let a step, a setting or another change on one page, of one run, take the place of the
    address in the browser's history, and leave the way back to what was there before."""
    _ADDRESS.show({"keep": [session.P_RUN]}, key="ri_address", on_pick=lambda: None)
