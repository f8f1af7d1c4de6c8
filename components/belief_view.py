"""What BeliefRAG believes at the selected step: dials, history, and the terms of one dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from components import belief_charts as charts
from components import paging, session
from components.belief_charts import Reading, Threshold
from components.markup import figure, tipped
from components.notices import empty
from components.palette import BY_RULES, DIMENSIONS, GHOST, MOVES, SIGNALS, believed
from components.safe import esc
from core.events import BeliefUpdated, Decided, RunStarted, Step
from core.settings import SystemSettings
from core.types import Gate

APART = (
    "Sufficiency is one strand of the belief: it moves slowly, from one measurement to the next. "
    "p(answerable) is an estimate of its own, fitted on questions with known answers, of whether "
    "what is held now is enough. Only p(answerable) is compared with the answer threshold; so a "
    "run may answer while sufficiency is low."
)
"""Why two figures that sound alike may stand far apart."""
HISTORY = 200
"""Updates on the chart of the history: the newest ones up to the cursor."""
_GATED = {
    "conflict": ("conflict", "correction", "conflict_threshold"),
    "reliability": ("reliability", "correction", "reliability_threshold"),
    "abstain": ("p_ans", "abstain", "abstain_threshold"),
    "answer": ("p_ans", "answer", "answer_threshold"),
    "retrieval_value": ("p_flip", "retrieve", "flip_threshold"),
}
"""Which gate compares which measure, what the run does when it fires, and the setting of its
threshold; of one measure in the order of the usual thresholds."""


def readings(steps: Sequence[Step]) -> list[Reading]:
    """The measures after every belief update."""
    return [charts.reading(s.seq, s.event) for s in steps if isinstance(s.event, BeliefUpdated)]


def thresholds(
    steps: Sequence[Step], cursor: int, settings: SystemSettings | None = None
) -> dict[str, list[Threshold]]:
    """The thresholds in force at a step, as gates recorded them: the newest of each gate up to
    the step, else the first one after it. ``settings`` are those now; what they move is told."""
    found: dict[str, Gate] = {}
    for step in steps:
        if isinstance(step.event, Decided):
            for gate in step.event.gates:
                if gate.name in _GATED and (step.seq <= cursor or gate.name not in found):
                    found[gate.name] = gate
    by_measure: dict[str, list[Threshold]] = {}
    for name, (measure, does, setting) in _GATED.items():
        if name in found:
            gate = found[name]
            now = float(getattr(settings, setting, gate.threshold))
            moved = None if math.isclose(now, gate.threshold, abs_tol=charts.VISIBLE) else now
            by_measure.setdefault(measure, []).append(
                Threshold(gate.threshold, gate.op, does, moved)
            )
    return by_measure


def draw(
    steps: Sequence[Step],
    cursor: int,
    ghosts: Mapping[int, Reading],
    *,
    key: str,
    on_point: Callable[[], None],
    settings: SystemSettings | None = None,
) -> None:
    """Show the belief at the cursor. ``ghosts`` are the re-decided measures by update step under
    ``settings``, which are those now where they are not as recorded."""
    every = readings(steps)
    upto = [r for r in every if r.seq <= cursor]
    if not upto:
        empty("psychology", "No belief yet", "The belief appears with the first measurement.")
        return
    now = upto[-1]
    limits = thresholds(steps, cursor, settings)
    ghost = ghosts.get(now.seq)
    turned = {} if ghost is None else _turned(now, ghost)
    moved = any(_turned(r, ghosts[r.seq]) for r in upto if r.seq in ghosts)
    st.plotly_chart(
        charts.gauges(now, limits, turned),
        key=f"{key}:gauges",
        config={"displayModeBar": False},
        alt=charts.gauges_alt(now, limits),
    )
    st.html(legend(limits, moved, by_rules=judged_by_rules(steps)))
    shown = upto[-HISTORY:]
    if len(shown) < len(upto):
        first = len(upto) - len(shown)
        st.caption(paging.stated(first, len(shown), len(every), "update"))
    st.plotly_chart(
        charts.history(
            shown,
            list(DIMENSIONS),
            cursor,
            limits,
            [ghosts[r.seq] for r in shown if r.seq in ghosts] if moved else (),
        ),
        key=session.HISTORY,
        on_select=on_point,
        selection_mode="points",
        config={"displayModeBar": False},
        alt=charts.history_alt(shown),
    )
    update = next(s.event for s in steps if s.seq == now.seq)
    assert isinstance(update, BeliefUpdated)
    _terms(update, key)


def _turned(recorded: Reading, ghost: Reading) -> dict[str, float]:
    """The measures that come out visibly otherwise under the settings now."""
    return {n: v for n, v in ghost.values.items() if abs(v - recorded.values[n]) > charts.VISIBLE}


def judged_by_rules(steps: Sequence[Step]) -> bool:
    """Whether the extractive reasoner verified the evidence of the run."""
    start = steps[0].event
    if not isinstance(start, RunStarted):
        return False
    return start.reasoner == "extractive" or (
        start.reasoner == "mixed"
        and (start.model or "").startswith("extractive,")
        and "verify=" not in (start.model or "")
    )


def legend(limits: Mapping[str, Sequence[Threshold]], turned: bool, *, by_rules: bool) -> str:
    """What the marks on the dials are; ``turned``: a measure comes out otherwise now. What a
    newcomer wonders about is folded below."""
    moved = any(t.now is not None for listed in limits.values() for t in listed)
    keys = [("ri-tick", charts.TICK, "recorded threshold")]
    if moved:
        keys.append(("ri-tick ri-tick-moved", GHOST, "threshold under the settings now"))
    keys.append(("ri-swatch", charts.FIRING, "side on which its gate fires"))
    if turned:
        keys.append(("ri-swatch", GHOST, "value under the settings now"))
    listed = "".join(
        f'<span><span class="{kind}" style="--c:{colour}"></span>{word}</span>'
        for kind, colour, word in keys
    )
    rules = f"<p>{believed('conflict')}: {BY_RULES}</p>" if by_rules else ""
    return (
        f'<div class="ri-legend">{listed}</div><details class="ri-note"><summary>'
        f"Low sufficiency and yet answerable? What the dials say</summary><p>{APART}</p>"
        f"<p>{MOVES}</p>{rules}</details>"
    )


def _terms(update: BeliefUpdated, key: str) -> None:
    session.first(session.DIMENSION, "sufficiency")
    chosen = st.segmented_control(
        "What moves which belief",
        list(update_dimensions(update)),
        key=session.DIMENSION,
        required=True,
        persist_state="session",
        format_func=lambda name: f"{DIMENSIONS[name].glyph} {DIMENSIONS[name].title}",
    )
    st.html(
        f'<div class="ri-equation">{equation(update, chosen)}</div>'
        f'<div class="ri-legend">{letters(update, chosen)}</div>'
    )
    st.plotly_chart(
        charts.waterfall(update, chosen),
        key=f"{key}:waterfall",
        config={"displayModeBar": False},
        alt=waterfall_alt(update, chosen),
    )


def update_dimensions(update: BeliefUpdated) -> list[str]:
    """The dimensions whose terms the update records, in the order of the charts."""
    named = {t.dimension for t in update.terms}
    return [d for d in DIMENSIONS if d in named]


def waterfall_alt(update: BeliefUpdated, dimension: str) -> str:
    """The terms in words."""
    parts = [
        f"{'intercept' if t.signal == 'alpha' else f'measured {t.signal}'} "
        f"{charts.signed(t.product, 3)}"
        for t in update.terms
        if t.dimension == dimension
    ]
    return f"Terms of the {believed(dimension).lower()}: " + ", ".join(parts) + "."


def letters(update: BeliefUpdated, dimension: str) -> str:
    """The key to the letters of an equation."""
    keys = [("b̂", "what this measurement alone says"), ("b", believed(dimension).lower())]
    keys.append(("λ", "weight of the new against the old"))
    told = "".join(f"<span><b>{letter}</b> {esc(word)}</span>" for letter, word in keys)
    for term in update.terms:
        if term.dimension == dimension and term.signal in SIGNALS and term.signal != "alpha":
            letter, meaning = SIGNALS[term.signal]
            told += f"<span><b>{letter}</b> {tipped(f'measured {term.signal}', meaning)}</span>"
    return told


def equation(update: BeliefUpdated, dimension: str) -> str:
    """The update of one dimension with its numbers (specification: belief update)."""
    terms = [t for t in update.terms if t.dimension == dimension]
    summands = []
    for term in terms:
        letter = SIGNALS.get(term.signal, (esc(term.signal), ""))[0]
        value = charts.signed(term.weight)
        inner = "" if term.signal == "alpha" else f"·{figure(term.value, 2)}<sub>{letter}</sub>"
        summands.append(f"{value}{inner}")
    total = sum(t.product for t in terms)
    before = getattr(update.before, dimension)
    now, after = getattr(update.instantaneous, dimension), getattr(update.after, dimension)
    rate = weight_of_new(before, now, after)
    lam = "λ" if rate is None else figure(rate, 2)
    rest = "1−λ" if rate is None else figure(1 - rate, 2)
    return (
        f"<i>b̂</i> = σ({' '.join(summands)}) = σ({charts.signed(total, 3)}) = "
        f"<b>{figure(now, 4)}</b><br>"
        f"<i>b</i> = σ({rest}·logit {figure(before, 4)} + {lam}·logit {figure(now, 4)}) = "
        f"<b>{figure(after, 4)}</b>"
    )


def weight_of_new(before: float, now: float, after: float) -> float | None:
    """Lambda as the recorded update implies it; None where the two logits are as good as equal."""
    from core.systems.beliefrag.belief import logit

    apart = logit(now) - logit(before)
    return None if abs(apart) < 1e-6 else (logit(after) - logit(before)) / apart
