"""The belief of a run as figures: gauges, their history, and the terms behind one update."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

import plotly.graph_objects as go

from components.palette import DIMENSIONS, GHOST, GREY, MOVES, SIGNALS, Dimension, believed
from components.safe import plural
from core.events import Belief, BeliefUpdated

NEUTRAL = "#87919D"
SLATE = "#6F8399"
TICK, RIM = "#10161D", "#FFFFFF"
"""A threshold is dark with a light rim: one of the two stands out from whatever it lies on."""
FIRING = "#2F86C1"
"""It stands out by 3:1 or more from the dials of the light and of the dark theme."""
VISIBLE = 5e-4
"""Smaller differences of a measure cannot be seen on a chart."""
FAINT = "rgba(135,145,157,.22)"
_PROBABILITIES = {
    "p_ans": Dimension(
        "p(answerable)",
        SLATE,
        "◉",
        "circle-open-dot",
        "solid",
        "p_ans",
        "The chance that the evidence held answers the question.",
    ),
    "p_flip": Dimension(
        "Retrieval value",
        SLATE,
        "↻",
        "hexagon",
        "dash",
        "p_flip",
        "The chance that one more retrieval makes the question answerable.",
    ),
}
MEASURES: dict[str, Dimension] = {
    **{name: replace(look, title=believed(name)) for name, look in DIMENSIONS.items()},
    **_PROBABILITIES,
}
"""The six belief dimensions, then the two probabilities that decisions look at."""
BELIEVED = tuple(name for name in DIMENSIONS if name != "cost")


_PLACES = (
    "sufficiency",
    "reliability",
    "conflict",
    "p_ans",
    "uncertainty",
    "gap",
    "cost",
    "p_flip",
)


_SIGNS = {">=": "≥", ">": ">", "<": "<", "<=": "≤"}


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold as a gate recorded it: ``op`` tells on which side the gate fires, ``does`` in a
    word what follows. ``now`` is where the settings now have it, None where that is the same."""

    value: float
    op: str
    does: str
    now: float | None = None

    @property
    def recorded(self) -> str:
        """In words: ``answer ≥ 0.55``."""
        return f"{self.does} {_SIGNS[self.op]} {self.value:.2f}"


@dataclass(frozen=True, slots=True)
class Reading:
    """The measures after one belief update, at step ``seq``."""

    seq: int
    values: Mapping[str, float]


def reading(seq: int, update: BeliefUpdated) -> Reading:
    """The eight measures of a belief update, each in [0, 1]."""
    return Reading(seq, {**values_of(update.after), "p_ans": update.p_ans, "p_flip": update.p_flip})


def values_of(belief: Belief) -> dict[str, float]:
    """A belief as name and value, in the order of the charts."""
    return {name: getattr(belief, name) for name in DIMENSIONS}


def gauges(
    now: Reading,
    thresholds: Mapping[str, Sequence[Threshold]],
    ghost: Mapping[str, float] | None = None,
) -> go.Figure:
    """Eight half-dials in two rows: value, recorded thresholds and those that were moved, the
    re-decided value as a ghost.

    The firing side of a recorded threshold is shaded along the dial; below the dial each
    threshold is named.
    """
    dials, titles = [], []
    for place, name in enumerate(_PLACES):
        look, value = MEASURES[name], now.values[name]
        column, row = place % 4, place // 4
        dials.append(
            {
                "type": "indicator",
                "mode": "gauge+number",
                "value": round(value, 4),
                "number": {"valueformat": ".3f", "font": {"size": 17}},
                "domain": {
                    "x": [column * 0.25 + 0.012, column * 0.25 + 0.238],
                    "y": [0.62, 0.93] if row == 0 else [0.07, 0.38],
                },
                "gauge": {
                    "shape": "angular",
                    "axis": {"range": [0, 1], "tickvals": [], "ticks": ""},
                    "bar": {"thickness": 0},
                    "bgcolor": FAINT,
                    "borderwidth": 0,
                    "steps": _marks(
                        {"range": [0, value], "color": look.colour, "thickness": 0.5},
                        thresholds.get(name, ()),
                        (ghost or {}).get(name),
                    ),
                },
            }
        )
        centre = column * 0.25 + 0.125
        titles.append(
            {
                **_WORDS,
                "text": f"{look.glyph} {look.title}",
                "hovertext": _told(name),
                "x": centre,
                "y": 0.935 if row == 0 else 0.385,
                "yanchor": "bottom",
                "font": {"size": 13},
            }
        )
        titles.append(
            {
                **_WORDS,
                "text": "<br>".join(_caption(t) for t in thresholds.get(name, ())) or " ",
                "x": centre,
                "y": 0.615 if row == 0 else 0.065,
                "yanchor": "top",
                "font": {"size": 11},
            }
        )
    return go.Figure(
        data=dials,
        layout={
            "height": 276,
            "margin": {"l": 6, "r": 6, "t": 4, "b": 4},
            "annotations": titles,
        },
    )


def _told(name: str) -> str:
    """What a dial is of, in lines that fit beside it."""
    text = MEASURES[name].meaning
    return "<br>".join(wrap(f"{text} {MOVES}" if name in BELIEVED else text, 60))


_WORDS = {"xref": "paper", "yref": "paper", "xanchor": "center", "showarrow": False}


def _caption(threshold: Threshold) -> str:
    moved = "" if threshold.now is None else f" → <b>{threshold.now:.2f}</b>"
    return threshold.recorded + moved


def _marks(
    bar: dict[str, object], thresholds: Sequence[Threshold], ghost: float | None
) -> list[dict[str, object]]:
    """What is drawn on a dial, the lowest first: the value's bar lies under the thresholds."""
    marks: list[dict[str, object]] = []
    for threshold in thresholds:
        high = threshold.op in (">=", ">")
        zone = [threshold.value, 1.0] if high else [0.0, threshold.value]
        marks.append({"range": zone, "color": FIRING, "thickness": 0.2})
    if ghost is not None:
        marks.append({"range": [0.0, ghost], "color": GHOST, "thickness": 0.78})
    marks.append(bar)
    for threshold in thresholds:
        marks += [_tick(threshold.value, RIM, 0.019), _tick(threshold.value, TICK, 0.01)]
        if threshold.now is not None:
            marks += [_tick(threshold.now, RIM, 0.036), _tick(threshold.now, TICK, 0.028)]
            marks.append(_tick(threshold.now, GHOST, 0.018))
    return marks


def _tick(value: float, colour: str, half: float) -> dict[str, object]:
    low, high = max(0.0, value - half), min(1.0, value + half)
    return {"range": [low, high], "color": colour, "thickness": 1.0}


def gauges_alt(now: Reading, thresholds: Mapping[str, Sequence[Threshold]]) -> str:
    """The same in words, for screen readers."""
    parts = []
    for name, look in MEASURES.items():
        limits = "".join(f", {_said(t)}" for t in thresholds.get(name, ()))
        parts.append(f"{look.title} {now.values[name]:.3f}{limits}")
    return f"Belief after step {now.seq}: " + "; ".join(parts) + "."


def _said(threshold: Threshold) -> str:
    moved = "" if threshold.now is None else f", moved to {threshold.now:.2f}"
    return threshold.recorded + moved


def history(
    readings: Sequence[Reading],
    shown: Sequence[str],
    cursor: int,
    thresholds: Mapping[str, Sequence[Threshold]],
    ghosts: Sequence[Reading] = (),
) -> go.Figure:
    """The measures over the steps; recorded thresholds dashed, ghosts in thin dots."""
    figure = go.Figure()
    x = [r.seq for r in readings]
    for name in shown:
        look = MEASURES[name]
        figure.add_trace(
            go.Scatter(
                x=x,
                y=[r.values[name] for r in readings],
                name=f"{look.glyph} {DIMENSIONS[name].title}" if name in DIMENSIONS else look.title,
                mode="lines+markers",
                line={"color": look.colour, "dash": look.dash, "width": 2},
                marker={"symbol": look.symbol, "size": 9, "color": look.colour},
                hovertemplate=f"{look.title} %{{y:.4f}} after step %{{x}}<extra></extra>",
            )
        )
        turned = [
            (g.seq, g.values[name])
            for g, r in zip(ghosts, readings, strict=False)
            if abs(g.values[name] - r.values[name]) > VISIBLE
        ]
        if turned:
            figure.add_trace(
                go.Scatter(
                    x=[seq for seq, _ in turned],
                    y=[value for _, value in turned],
                    mode="lines+markers",
                    line={"color": GHOST, "dash": "dot", "width": 1.5},
                    marker={"symbol": look.symbol + "-open", "size": 10, "color": GHOST},
                    showlegend=False,
                    hovertemplate=f"{look.title} under these settings %{{y:.4f}}<extra></extra>",
                )
            )
        for threshold in thresholds.get(name, ()):
            where = f"{look.glyph} {_SIGNS[threshold.op]} {threshold.value:.2f}"
            _line(figure, threshold.value, look.colour, where)
            if threshold.now is not None:
                _line(figure, threshold.now, GHOST, f"{look.glyph} now {threshold.now:.2f}")
    figure.add_vline(cursor, line={"color": NEUTRAL, "width": 1.5})
    figure.update_layout(
        height=226,
        margin={"l": 34, "r": 62, "t": 8, "b": 30},
        legend={
            "title": {"text": "Believed  "},
            "orientation": "h",
            "y": -0.2,
            "x": 0,
            "font": {"size": 12},
        },
        yaxis={
            "range": [-0.03, 1.03],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "tickformat": ".2f",
            "fixedrange": True,
        },
        xaxis={
            "title": None,
            "fixedrange": True,
            "tickformat": "d",
            "tickprefix": "step ",
            "showtickprefix": "first",
        },
        hovermode="closest",
    )
    return figure


def history_alt(readings: Sequence[Reading]) -> str:
    """Where each dimension began and stands, in words."""
    first, last = readings[0].values, readings[-1].values
    parts = [f"{believed(n)} {first[n]:.2f} to {last[n]:.2f}" for n in DIMENSIONS]
    count = plural(len(readings), "update")
    return f"History of the six belief dimensions over {count}: " + "; ".join(parts) + "."


def _line(figure: go.Figure, value: float, colour: str, words: str) -> None:
    figure.add_hline(
        value,
        line={"color": colour, "dash": "2px,3px", "width": 1},
        opacity=0.9,
        annotation={"text": words, "font": {"size": 10}},
        annotation_position="right",
    )


def waterfall(update: BeliefUpdated, dimension: str) -> go.Figure:
    """Every summand of one dimension's logit, from the intercept to the sum."""
    terms = [t for t in update.terms if t.dimension == dimension]
    labels, texts, hovers = [], [], []
    for term in terms:
        letter, meaning = SIGNALS.get(term.signal, (term.signal, ""))
        what = meaning if term.signal == "alpha" else f"Measured {term.signal} {letter}: {meaning}"
        labels.append("α" if term.signal == "alpha" else f"{signed(term.weight)}·{letter}")
        texts.append(signed(term.product, 3))
        hovers.append(
            f"{what}<br>{signed(term.weight)} × {term.value:.4f} = {signed(term.product, 4)}"
        )
    total, hue = math.fsum(t.product for t in terms), DIMENSIONS[dimension].colour
    figure = go.Figure(
        go.Waterfall(
            x=[*labels, "logit b̂"],
            y=[*(t.product for t in terms), total],
            measure=[*(["relative"] * len(terms)), "total"],
            text=[*texts, signed(total, 3)],
            textposition="outside",
            hovertext=[*hovers, f"sum of the terms = {signed(total, 4)}"],
            hoverinfo="text",
            connector={"line": {"color": NEUTRAL, "width": 1}},
            increasing={"marker": {"color": hue}},
            decreasing={"marker": {"color": NEUTRAL}},
            totals={"marker": {"color": FAINT, "line": {"color": hue, "width": 2}}},
            cliponaxis=False,
        )
    )
    figure.add_hline(0, line={"color": GREY, "width": 1})
    figure.update_layout(
        height=250,
        margin={"l": 40, "r": 10, "t": 22, "b": 34},
        showlegend=False,
        yaxis={
            "title": {"text": "logit", "font": {"size": 11}, "standoff": 4},
            "fixedrange": True,
            "zeroline": False,
        },
        xaxis={"fixedrange": True, "tickangle": 0},
        bargap=0.35,
    )
    return figure


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign, true minus and no trailing noise."""
    text = f"{abs(value):.{digits}f}"
    if digits <= 2:
        text = text.rstrip("0").rstrip(".") or "0"
    return ("−" if value < 0 else "+") + text
