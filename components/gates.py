"""The gate ledger: every gate of every decision, in the order they were evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.markup import chip, icon, table
from components.palette import BLUE, FIRED, GREY, NOT_FIRED, VERMILLION
from components.safe import esc
from core.events import Decided, Step
from core.narration import outcome as chosen
from core.replay import Redecision
from core.types import Gate

_SIGNS = {">=": "≥", "<=": "≤", "==": "=", ">": ">", "<": "<"}


def words(name: str) -> str:
    """A gate's or an outcome's name as words."""
    return name.replace("_", " ")


def comparison(gate: Gate) -> str:
    """``0.4242 ≥ 0.5000`` in plain text; counts are whole."""
    whole = _whole(gate)
    return f"{_short(gate.value, whole)} {_SIGNS[gate.op]} {_short(gate.threshold, whole)}"


def _whole(gate: Gate) -> bool:
    return float(gate.value).is_integer() and float(gate.threshold).is_integer()


def _short(value: float, whole: bool) -> str:
    text = f"{value:,.0f}" if whole else f"{value:.4f}"
    return (text.removeprefix("-") if not float(text.replace(",", "")) else text).replace("-", "−")


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


def ledger(step: Step, ghost: Redecision | None = None) -> str:
    """The gates of one decision as a table; ``ghost`` is the decision under other settings."""
    event = step.event
    assert isinstance(event, Decided)
    others = _by_name(ghost.gates) if ghost else {}
    rows = []
    for place, g in enumerate(event.gates, 1):
        now = _ghost(g, others, ghost)
        cells = [
            f'<span class="ri-num">{place}</span>',
            esc(words(g.name)),
            f'<span class="ri-num">{comparison(g)}</span>',
            track(g, others[g.name].value if now and g.name in others else None),
            f'<span class="ri-num">{_margin(g)}</span>',
            chip(FIRED if g.fired else NOT_FIRED),
        ]
        rows.append([*cells, now] if now else cells)
    if ghost:
        known = {g.name for g in event.gates}
        rows += [_only_ghost(g) for g in ghost.gates if g.name not in known]
    heads = ["#", "Gate", "Value and threshold", "", "Margin", "Fired"]
    caption = f"Gates of step {step.seq}, outcome {chosen(event.outcome)}"
    return table(caption, heads, rows, numeric=(0, 2, 4))


def _by_name(gates: Sequence[Gate]) -> Mapping[str, Gate]:
    return {g.name: g for g in gates}


def _margin(gate: Gate) -> str:
    return ("+" if gate.margin > 0 else "") + _short(gate.margin, _whole(gate))


def _ghost(recorded: Gate, others: Mapping[str, Gate], ghost: Redecision | None) -> str:
    if ghost is None:
        return ""
    other = others.get(recorded.name)
    if other is None:
        return '<span class="ri-ghost">not reached now</span>'
    same = (other.fired, other.value, other.threshold) == (
        recorded.fired,
        recorded.value,
        recorded.threshold,
    )
    if same:
        return ""
    word = "fires" if other.fired else "does not fire"
    return f'<span class="ri-ghost">now {comparison(other)}: {word}</span>'


def _only_ghost(gate: Gate) -> list[str]:
    word = "fires" if gate.fired else "does not fire"
    return [
        "",
        f'<span class="ri-dim">{esc(words(gate.name))}</span>',
        f'<span class="ri-num ri-dim">{comparison(gate)}</span>',
        "",
        f'<span class="ri-num ri-dim">{_margin(gate)}</span>',
        f'<span class="ri-ghost">reached now: {word}</span>',
    ]


def outcome(step: Step, ghost: Redecision | None) -> str:
    """What was decided, and what would be under other settings."""
    event = step.event
    assert isinstance(event, Decided)
    text = (
        f"<b>Step {step.seq}: {esc(chosen(event.outcome))}</b> "
        f'<span class="ri-dim">{esc(event.reason)}</span>'
    )
    if ghost is None or ghost.certainty == "same":
        return text
    return f"{text} {_turn(ghost)}"


def _turn(ghost: Redecision) -> str:
    if ghost.certainty == "ended":
        return '<span class="ri-ghost">not reached now</span>'
    if ghost.replayed is None:
        return f'<span class="ri-ghost">undetermined now: {esc(ghost.reason)}</span>'
    if ghost.certainty == "unknown":
        inner = "unknown now"
        if ghost.replayed != ghost.recorded:
            inner += f"; from these inputs: {esc(_other(ghost))}"
        return f'<span class="ri-ghost">{inner}</span>'
    return (
        f'<span class="ri-ghost">{icon("alt_route", VERMILLION)} now: '
        f'{esc(_other(ghost))}</span> <span class="ri-dim">{esc(ghost.reason)}</span>'
    )


def _other(ghost: Redecision) -> str:
    """What would be decided; where only what was chosen differs, that."""
    now = chosen(ghost.replayed or "")
    return f"{now} another" if now == chosen(ghost.recorded) else now
