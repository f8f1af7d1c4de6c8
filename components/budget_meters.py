"""What a run has spent against its hard limits."""

from __future__ import annotations

from components.palette import GREY, ORANGE, VERMILLION
from components.safe import esc
from core.types import Budgets, Usage

NEAR = 0.85
_METERS = (
    ("rounds", "Rounds", "searches"),
    ("actions", "Actions", "controller actions, the answer included"),
    ("calls", "Calls", "calls of the reasoner"),
    ("tokens", "Tokens", "tokens given to or taken from the reasoner"),
    ("seconds", "Time", "seconds"),
    ("cost", "Cost", "US dollars"),
)


def meters(usage: Usage, budgets: Budgets) -> str:
    """Six bars; each says its amount, its limit, and in colour and words when it is near."""
    bars = "".join(_meter(name, title, unit, usage, budgets) for name, title, unit in _METERS)
    return f'<div class="ri-meters">{bars}</div>'


def _meter(name: str, title: str, unit: str, usage: Usage, budgets: Budgets) -> str:
    spent, limit = float(getattr(usage, name)), getattr(budgets, name)
    share = 0.0 if not limit else min(1.0, spent / limit)
    colour = VERMILLION if share >= 1 else ORANGE if share >= NEAR else GREY
    word = " · spent" if share >= 1 else " · near" if share >= NEAR else ""
    of = "no limit" if limit is None else f"of {amount(name, float(limit))}"
    return (
        f'<div class="ri-meter" title="{esc(unit)}"><div><span>{esc(title)}</span>'
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
