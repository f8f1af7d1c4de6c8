"""What a run has spent against its hard limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from components.palette import GREY, VERMILLION
from components.safe import esc
from core.events import Decided, RunFinished, Step, Warned
from core.registry import System
from core.types import Budgets, Usage

_METERS = (
    ("rounds", "Rounds", "searches"),
    ("actions", "Actions", "controller actions, the answer included"),
    ("calls", "Calls", "calls of the reasoner"),
    ("tokens", "Tokens", "tokens given to or taken from the reasoner"),
    ("seconds", "Time", "seconds"),
    ("cost", "Cost", "US dollars"),
)


def refused(steps: Iterable[Step], system: System, budgets: Budgets) -> frozenset[str]:
    """The budgets that kept a run from a step or ended it, as recorded. That one is spent to its
    end is nothing by itself, nor that a method which plans with a budget stops where it ends."""
    limits = {name: getattr(budgets, name) for name, *_ in _METERS}
    found: set[str] = set()
    for step in steps:
        event = step.event
        if isinstance(event, Decided):
            for gate in event.gates:
                name = "" if gate.fired else _resource(gate.name)
                if not name or limits[name] is None or name in system.planned:
                    continue
                if gate.value == limits[name] - getattr(step.usage, name):
                    found.add(name)
        elif isinstance(event, (Warned, RunFinished)):
            code = event.fault if isinstance(event, Warned) else event.branch
            found.add(code.removeprefix("budget_"))
    return frozenset(found & limits.keys())


@lru_cache(maxsize=256)
def _resource(gate: str) -> str:
    """The budget whose rest a gate compares, such as ``rounds_left``; empty for other gates."""
    name = gate.partition("_")[0]
    return name if any(name == known for known, *_ in _METERS) else ""


def meters(usage: Usage, budgets: Budgets, refused: Collection[str] = ()) -> str:
    """Six bars; each says its amount and its limit, and in colour and words where it ``refused`` a
    step."""
    bars = "".join(
        _meter(name, title, unit, usage, budgets, name in refused) for name, title, unit in _METERS
    )
    return f'<div class="ri-meters">{bars}</div>'


def _meter(name: str, title: str, unit: str, usage: Usage, budgets: Budgets, refused: bool) -> str:
    spent, limit = float(getattr(usage, name)), getattr(budgets, name)
    share = 0.0 if not limit else min(1.0, spent / limit)
    colour, word = (VERMILLION, " · refused") if refused else (GREY, "")
    tip = f"{unit}; a further step needed more than is left" if refused else unit
    of = "no limit" if limit is None else f"of {amount(name, float(limit))}"
    return (
        f'<div class="ri-meter" title="{esc(tip)}"><div><span>{esc(title)}</span>'
        f'<span class="ri-num">{amount(name, spent)} <span class="ri-dim">{of}{word}</span></span>'
        f'</div><div class="ri-bar" role="meter" aria-label="{esc(title)}" aria-valuemin="0" '
        f'aria-valuemax="{limit or 0:g}" aria-valuenow="{spent:g}">'
        f'<i style="width:{share:.1%};--c:{colour}"></i></div></div>'
    )


def amount(name: str, value: float) -> str:
    """An amount of a resource with its unit, in as few figures as it needs."""
    if name == "seconds":
        return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"
    if name == "cost":
        return f"${value:.2f}" if value == 0 or value >= 0.01 else f"${value:.4f}"
    return f"{value:,.0f}"
