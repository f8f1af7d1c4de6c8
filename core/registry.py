"""The systems by name. Adding a system is a module and one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from core.decisions import Decider
from core.errors import BadInput
from core.ports import Deps
from core.settings import SystemSettings, unknown_name
from core.steps import Emit
from core.types import Frozen


@dataclass(frozen=True, slots=True)
class StageNode:
    """One stage of a system's diagram; ``calls`` are the port tasks it may call."""

    name: str
    title: str
    summary: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """One adaptive-RAG method: its controller, its knobs, its decisions, its diagram.

    ``run(question, deps, settings)`` is a generator of emissions that ends with ``RunFinished``.
    """

    name: str
    title: str
    kind: Literal["system", "baseline"]
    summary: str
    run: Callable[[str, Deps, Any], Iterator[Emit]]
    settings: type[SystemSettings]
    deciders: tuple[Decider[Any, Any], ...]
    stages: tuple[StageNode, ...]
    edges: tuple[tuple[str, str], ...]
    payloads: tuple[tuple[str, type[Frozen]], ...] = ()


def systems() -> dict[str, System]:
    """Every system, in the order a person should meet them."""
    from core.systems import baselines, beliefrag

    return {s.name: s for s in (beliefrag.SYSTEM, *baselines.SYSTEMS)}


def system(name: str) -> System:
    """The system of that name.

    Raises:
        BadInput: there is none; the nearest name is offered.
    """
    known = systems()
    if name not in known:
        raise BadInput(unknown_name("system", name, known))
    return known[name]
