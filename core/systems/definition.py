"""What a system is: the type that every system's module fills in once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from core.decisions import Decider
from core.ports import Deps
from core.settings import SystemSettings
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
class Branch:
    """One way in which a run of a system comes to an answer (``RunFinished.branch``).

    ``gates`` are those of ``decider`` that speak for the answer. They fired where the run ended by
    this branch of its own accord; where it did not, ``forced`` says why in one sentence.
    """

    name: str
    decider: str = ""
    gates: tuple[str, ...] = ()
    forced: str = ""


@dataclass(frozen=True, slots=True)
class System:
    """One adaptive-RAG method: its controller, its knobs, its decisions, its diagram.

    ``run(question, deps, settings)`` is a generator of emissions that ends with ``RunFinished``.
    ``preflight(deps, settings)`` raises ``BadInput`` where a run could not even start.
    ``branches`` are those that end with an answer. ``planned``: budgets that the method plans with
    and spends whole.
    ``navigates``: its runs use the corpus's abstraction memory.
    ``summary`` is for a person who knows no method of the field; ``differs`` says in a few words
    how a variant differs from the system that it is named after.
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
    branches: tuple[Branch, ...]
    payloads: tuple[tuple[str, type[Frozen]], ...] = ()
    preflight: Callable[[Deps, Any], None] | None = None
    differs: str = ""
    navigates: bool = False
    planned: frozenset[str] = frozenset()

    def graph_digest(self, deps: Deps) -> str:
        """Digest of the abstraction memory that a run would use; empty where it uses none."""
        return deps.graph.digest if self.navigates and deps.graph is not None else ""
