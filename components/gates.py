"""The gate ledger: every gate of every decision, in the order they were evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.markup import chip, icon, table
from components.palette import BLUE, DECIDED, FIRED, GREY, NOT_FIRED, VERMILLION
from components.safe import esc
from core import deciding, registry, wording
from core.events import Decided, Step
from core.measures import Measure, measure
from core.replay import Redecision
from core.types import Gate
from core.wording import outcome as chosen


def words(name: str) -> str:
    """A recorded code as words."""
    return name.replace("_", " ")


def explained(decider: str, gate: Gate) -> str:
    """A gate's title; pointed at, what it compares, in which range, and what sets its threshold."""
    what = measure(decider, gate.name)
    return f'<abbr title="{esc(told(decider, what))}">{esc(what.title)}</abbr>'


def told(decider: str, what: Measure) -> str:
    """What a gate compares, its range, and the setting of its threshold."""
    parts = [what.meaning]
    if what.span:
        unit = f", in {what.unit}" if what.unit else ""
        parts.append(f"Range: {what.span}{unit}.")
    title = _setting(decider, what.setting)
    parts.append(f"Threshold: the setting “{title}”." if title else "")
    return " ".join(part for part in parts if part)


def _setting(decider: str, name: str) -> str:
    system = registry.systems().get(decider.partition(".")[0])
    field = system.settings.model_fields.get(name) if system else None
    return str(field.title) if field else ""


def _num(text: str) -> str:
    return f'<span class="ri-num">{text}</span>'


def _track(gate: Gate, what: Measure, ghost: float | None = None) -> str:
    """The value as a bar and the threshold as a line, where both are shares; else nothing."""
    shares = 0 <= gate.value <= 1 and 0 <= gate.threshold <= 1
    if what.kind != "score" or not shares:
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
    chose = deciding.deciding(event)
    rows = []
    for place, g in enumerate(event.gates, 1):
        now = _ghost(event.decider, g, others, ghost)
        what = measure(event.decider, g.name)
        cells = [
            f'<span class="ri-num ri-dim">{place}.</span> {explained(event.decider, g)}'
            + _track(g, what, others[g.name].value if now and g.name in others else None),
            _num(wording.value_of(g, what)),
            _num(wording.condition(g, what)),
            _num(wording.margin(g, what)),
            fired(g, chose),
        ]
        rows.append([*cells, now] if now else cells)
    if ghost:
        known = {g.name for g in event.gates}
        rows += [_only_ghost(event.decider, g) for g in ghost.gates if g.name not in known]
    heads = ["Gate", "Value", "Fires at", "Margin", "Fired"]
    caption = f"Gates of step {step.seq}, outcome {chosen(event.outcome)}"
    return table(caption, heads, rows, numeric=(1, 2, 3)) + settled(event)


def fired(gate: Gate, chose: Sequence[str]) -> str:
    """Whether a gate fired, and whether it is among those that ``chose`` the outcome."""
    sign = chip(FIRED if gate.fired else NOT_FIRED)
    return f"{sign} {chip(DECIDED)}" if gate.name in chose else sign


def settled(event: Decided) -> str:
    """Which of the gates decided, below them."""
    said = deciding.told(event)
    return f'<p class="ri-settled">{esc(said)}</p>' if event.gates else ""


def _by_name(gates: Sequence[Gate]) -> Mapping[str, Gate]:
    return {g.name: g for g in gates}


def _ghost(
    decider: str, recorded: Gate, others: Mapping[str, Gate], ghost: Redecision | None
) -> str:
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
    said = wording.compared(other, measure(decider, other.name))
    return f'<span class="ri-ghost">now {said}: {word}</span>'


def _only_ghost(decider: str, gate: Gate) -> list[str]:
    word = "fires" if gate.fired else "does not fire"
    what = measure(decider, gate.name)
    return [
        f'<span class="ri-dim">{explained(decider, gate)}</span>',
        *(
            f'<span class="ri-num ri-dim">{say(gate, what)}</span>'
            for say in (wording.value_of, wording.condition, wording.margin)
        ),
        f'<span class="ri-ghost">reached now: {word}</span>',
    ]


def outcome(step: Step, ghost: Redecision | None) -> str:
    """What was decided, and what would be under other settings."""
    event = step.event
    assert isinstance(event, Decided)
    text = (
        f"<b>Step {step.seq}: {esc(wording.decided(event.decider, event.outcome))}</b> "
        f'<span class="ri-dim">{esc(wording.reason(event.decider, event.reason))}</span>'
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
