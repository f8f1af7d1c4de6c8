"""The gate ledger: every gate of every decision, in the order they were evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.markup import chip, figure, icon, table
from components.palette import BLUE, FIRED, GREY, NOT_FIRED, VERMILLION
from components.safe import esc
from core.decisions import Decision
from core.events import Decided, Step
from core.types import Gate

_SIGNS = {">=": "≥", "<=": "≤", "==": "=", ">": ">", "<": "<"}


def words(name: str) -> str:
    """A gate's or an outcome's name as words."""
    return name.replace("_", " ")


def comparison(gate: Gate) -> str:
    """``0.4242 ≥ 0.5`` in plain text."""
    return f"{short(gate.value)} {_SIGNS[gate.op]} {short(gate.threshold)}"


def short(value: float) -> str:
    """A number as a ledger shows it: counts whole, the rest to four places."""
    whole = float(value).is_integer() and abs(value) > 1
    return f"{value:.0f}".replace("-", "−") if whole else figure(float(value), 4)


def track(gate: Gate, ghost: float | None = None) -> str:
    """The value as a bar and the threshold as a line, where both are shares; else nothing."""
    if not (0 <= gate.value <= 1 and 0 <= gate.threshold <= 1):
        return ""
    colour = BLUE if gate.fired else GREY
    other = "" if ghost is None else f'<u style="left:{min(max(ghost, 0), 1):.2%}"></u>'
    return (
        f'<div class="ri-track" aria-hidden="true" style="--c:{colour}">'
        f'<i style="width:{gate.value:.2%}"></i><b style="left:{gate.threshold:.2%}"></b>'
        f"{other}</div>"
    )


def ledger(step: Step, ghost: Decision | None = None) -> str:
    """The gates of one decision as a table; ``ghost`` is the decision under other settings."""
    event = step.event
    assert isinstance(event, Decided)
    others = _by_name(ghost.gates) if ghost else {}
    rows = [
        [
            f'<span class="ri-num">{place}</span>',
            esc(words(g.name)),
            f'<span class="ri-num">{comparison(g)}</span>',
            track(g, _value(others, g.name)),
            f'<span class="ri-num">{_margin(g.margin)}</span>',
            chip(FIRED if g.fired else NOT_FIRED) + _ghost(g, others, ghost),
        ]
        for place, g in enumerate(event.gates, 1)
    ]
    if ghost:
        known = {g.name for g in event.gates}
        rows += [_only_ghost(g) for g in ghost.gates if g.name not in known]
    heads = ["#", "Gate", "Value and threshold", "", "Margin", "Fired"]
    caption = f"Gates of step {step.seq}, outcome {words(event.outcome)}"
    return table(caption, heads, rows, numeric=(0, 2, 4))


def _by_name(gates: Sequence[Gate]) -> Mapping[str, Gate]:
    return {g.name: g for g in gates}


def _value(others: Mapping[str, Gate], name: str) -> float | None:
    return others[name].value if name in others else None


def _margin(margin: float) -> str:
    sign = "+" if margin > 0 else ""
    return sign + short(margin)


def _ghost(recorded: Gate, others: Mapping[str, Gate], ghost: Decision | None) -> str:
    if ghost is None:
        return ""
    other = others.get(recorded.name)
    if other is None:
        return ' <span class="ri-ghost">not reached now</span>'
    same = (other.fired, other.value, other.threshold) == (
        recorded.fired,
        recorded.value,
        recorded.threshold,
    )
    if same:
        return ""
    word = "fires" if other.fired else "does not fire"
    return f' <span class="ri-ghost">{comparison(other)}: {word}</span>'


def _only_ghost(gate: Gate) -> list[str]:
    word = "fires" if gate.fired else "does not fire"
    return [
        "",
        f'<span class="ri-dim">{esc(words(gate.name))}</span>',
        f'<span class="ri-num ri-dim">{comparison(gate)}</span>',
        "",
        f'<span class="ri-num ri-dim">{_margin(gate.margin)}</span>',
        f'<span class="ri-ghost">reached now: {word}</span>',
    ]


def outcome(step: Step, ghost: Decision | None, missing: str = "") -> str:
    """What was decided, and what would be under other settings."""
    event = step.event
    assert isinstance(event, Decided)
    text = (
        f"<b>Step {step.seq}: {esc(words(event.outcome))}</b> "
        f'<span class="ri-dim">{esc(event.reason)}</span>'
    )
    if missing:
        return f'{text} <span class="ri-ghost">undetermined now: {esc(missing)}</span>'
    if ghost is None or ghost.outcome == event.outcome:
        return text
    turned = icon("alt_route", VERMILLION)
    return (
        f'{text} <span class="ri-ghost">{turned} now: {esc(words(ghost.outcome))}</span> '
        f'<span class="ri-dim">{esc(ghost.reason)}</span>'
    )
