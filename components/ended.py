"""How a run ended, as a chip: the same wherever a run is listed or shown."""

from __future__ import annotations

from components.markup import chip
from components.palette import GUESS, PASSED, REFUSED, STANDS, TERMINALS, Sign
from components.safe import esc
from core import endings
from core.errors import Terminal
from core.journal import RunRecord


def sign(terminal: Terminal, why: str) -> Sign:
    """The sign of an end; ``why`` its answer is only a best guess, empty where it is more."""
    return GUESS if why else TERMINALS[terminal]


def of(record: RunRecord, why: str | None = None, *, strong: bool = False) -> str:
    """The chip of a run as its journal lists it. ``why``: as for ``sign``, where more is known
    than what is listed."""
    if why is None:
        why = endings.guess(record.system, record.terminal, record.branch, grounded=record.grounded)
    if not why:
        return chip(TERMINALS[record.terminal or record.status], strong=strong)
    return _tipped(chip(GUESS, strong=strong), why)


def grounding(found: bool, why: str) -> str:
    """Whether an answer is found in the sources; ``why`` it is only a best guess, of which that
    proves nothing, empty where it is more."""
    if not found:
        return chip(REFUSED, "not found in the sources")
    if not why:
        return chip(PASSED, "found in the sources")
    return _tipped(chip(STANDS), endings.STANDS)


def _tipped(inner: str, tip: str) -> str:
    return f'<span class="ri-tip" tabindex="0" title="{esc(tip)}">{inner}</span>'
