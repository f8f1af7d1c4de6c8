"""The systems by name. Adding a system is a module and one line here."""

from __future__ import annotations

from core.errors import BadInput
from core.settings import unknown_name
from core.systems import baselines, beliefrag, ragx, staterag
from core.systems.definition import StageNode, System

__all__ = ["StageNode", "System", "system", "systems"]

_SYSTEMS: dict[str, System] = {
    s.name: s for s in (beliefrag.SYSTEM, staterag.SYSTEM, *ragx.SYSTEMS, *baselines.SYSTEMS)
}
"""In the order a person should meet them."""


def systems() -> dict[str, System]:
    """Every system by name."""
    return dict(_SYSTEMS)


def system(name: str) -> System:
    """The system of that name.

    Raises:
        BadInput: there is none; the nearest name is offered.
    """
    if name not in _SYSTEMS:
        raise BadInput(unknown_name("system", name, _SYSTEMS))
    return _SYSTEMS[name]
