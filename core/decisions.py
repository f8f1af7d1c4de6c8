"""Pure decisions: gates, deciders, and the register of all of them.

A decider is ``decide(inputs, settings) -> Decision | Undetermined``. It reads nothing else, so
a recorded ``Decided.inputs`` is enough to decide again under other settings (``replay``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.errors import BadInput
from core.types import Frozen, Gate, Op

_OPS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
}


def gate(name: str, value: float, op: Op, threshold: float) -> Gate:
    """Compare ``value`` to ``threshold``.

    >>> gate("answer", 0.6, ">=", 0.5).fired
    True
    """
    margin = value - threshold if op in (">=", ">") else threshold - value
    if op == "==":
        margin = -abs(value - threshold)
    return Gate(
        name=name,
        value=value,
        op=op,
        threshold=threshold,
        margin=margin,
        fired=_OPS[op](value, threshold),
    )


class Decision(Frozen):
    """What a decider chose; ``gates`` in the order they were evaluated."""

    outcome: str
    gates: tuple[Gate, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Undetermined:
    """These settings need something that the recorded run never fetched."""

    missing: str


Inputs = TypeVar("Inputs", bound=Frozen)
Settings = TypeVar("Settings")


class Card(Frozen):
    """What a person should know about a decider before trusting it."""

    fitted: bool
    basis: str
    inspects: str
    fails: str
    prohibited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decider(Generic[Inputs, Settings]):
    """A named pure decision of one system.

    An outcome that ends with a blank is the beginning of many: what follows names what was
    chosen, so that a replay tells one choice from another. After one of ``terminal_outcomes`` no
    decision follows; after one of ``final_outcomes`` only such as it determines, and the run ends
    with nothing further fetched but the answer.
    """

    name: str
    inputs: type[Inputs]
    decide: Callable[[Inputs, Settings], Decision | Undetermined]
    outcomes: tuple[str, ...]
    terminal_outcomes: frozenset[str]
    card: Card
    final_outcomes: frozenset[str] = frozenset()

    def declares(self, outcome: str) -> bool:
        """Whether it may come to this outcome."""
        return _among(outcome, self.outcomes)

    def ends(self, outcome: str) -> bool:
        """Whether a run ends by this outcome."""
        return _among(outcome, self.terminal_outcomes | self.final_outcomes)

    def __call__(self, inputs: Inputs, settings: Settings) -> Decision:
        """Decide in a live run.

        Raises:
            RuntimeError: the decider needs what a live run always has; a fault of the system.
        """
        decision = self.decide(inputs, settings)
        if isinstance(decision, Undetermined):
            raise RuntimeError(f"{self.name} is undetermined in a live run: {decision.missing}")
        return decision


def _among(outcome: str, declared: Iterable[str]) -> bool:
    return any(outcome.startswith(o) if o.endswith(" ") else outcome == o for o in declared)


_DECIDERS: dict[str, Decider[Any, Any]] = {}


def _origin(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__


def register(decider: Decider[Inputs, Settings]) -> Decider[Inputs, Settings]:
    """Make a decider known by name. A second one of the same name is a programming error."""
    known = _DECIDERS.get(decider.name)
    if known is not None and _origin(known.decide) != _origin(decider.decide):
        raise ValueError(f"two deciders are named {decider.name}")
    _DECIDERS[decider.name] = decider
    return decider


def get(name: str) -> Decider[Any, Any]:
    """The decider of that name.

    Raises:
        BadInput: no such decider is registered.
    """
    try:
        return _DECIDERS[name]
    except KeyError:
        known = ", ".join(sorted(_DECIDERS)) or "none"
        raise BadInput(f"The run names an unknown decider {name!r}; known: {known}.") from None
