"""The belief of a run as figures: gauges, their history, and the terms behind one update."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from components.palette import DIMENSIONS, GHOST, GREY, SIGNALS, Dimension
from core.events import Belief, BeliefUpdated

NEUTRAL = "#87919D"
SLATE = "#6F8399"
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
MEASURES: dict[str, Dimension] = {**DIMENSIONS, **_PROBABILITIES}
"""The six belief dimensions, then the two probabilities that decisions look at."""


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


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold as a gate recorded it: ``op`` tells on which side the gate fires."""

    value: float
    op: str


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
    """Eight half-dials in two rows: value, recorded thresholds, the re-decided value as a ghost.

    The firing side of a threshold is shaded along the dial's rim.
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
                    "y": [0.54, 0.9] if row == 0 else [0.0, 0.36],
                },
                "gauge": {
                    "shape": "angular",
                    "axis": {"range": [0, 1], "tickvals": [], "ticks": ""},
                    "bar": {"color": look.colour, "thickness": 0.5},
                    "bgcolor": FAINT,
                    "borderwidth": 0,
                    "steps": _marks(thresholds.get(name, ()), (ghost or {}).get(name)),
                },
            }
        )
        titles.append(
            {
                "text": f"{look.glyph} {look.title}",
                "hovertext": look.meaning,
                "x": column * 0.25 + 0.125,
                "y": 0.91 if row == 0 else 0.37,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "center",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 13},
            }
        )
    return go.Figure(
        data=dials,
        layout={
            "height": 250,
            "margin": {"l": 6, "r": 6, "t": 6, "b": 4},
            "annotations": titles,
        },
    )


def _marks(thresholds: Sequence[Threshold], ghost: float | None) -> list[dict[str, object]]:
    marks: list[dict[str, object]] = []
    for threshold in thresholds:
        high = threshold.op in (">=", ">")
        zone = [threshold.value, 1.0] if high else [0.0, threshold.value]
        colour = "rgba(0,114,178,.38)"
        marks.append({"range": zone, "color": colour, "thickness": 0.22})
    for threshold in thresholds:
        marks.append(_tick(threshold.value, NEUTRAL, 0.011))
    if ghost is not None:
        marks.append(_tick(ghost, GHOST, 0.014))
    return marks


def _tick(value: float, colour: str, half: float) -> dict[str, object]:
    low, high = max(0.0, value - half), min(1.0, value + half)
    return {"range": [low, high], "color": colour, "thickness": 1.0}


def gauges_alt(now: Reading, thresholds: Mapping[str, Sequence[Threshold]]) -> str:
    """The same in words, for screen readers."""
    parts = []
    for name, look in MEASURES.items():
        limits = "".join(f", gate at {t.op} {t.value:g}" for t in thresholds.get(name, ()))
        parts.append(f"{look.title} {now.values[name]:.3f}{limits}")
    return f"Belief after step {now.seq}: " + "; ".join(parts) + "."


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
                name=f"{look.glyph} {look.title}",
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
            figure.add_hline(
                threshold.value,
                line={"color": look.colour, "dash": "2px,3px", "width": 1},
                opacity=0.9,
            )
    figure.add_vline(cursor, line={"color": NEUTRAL, "width": 1.5})
    figure.update_layout(
        height=226,
        margin={"l": 34, "r": 8, "t": 8, "b": 30},
        legend={"orientation": "h", "y": -0.2, "x": 0, "font": {"size": 12}},
        yaxis={"range": [-0.03, 1.03], "tickvals": [0, 0.25, 0.5, 0.75, 1], "fixedrange": True},
        xaxis={"title": None, "fixedrange": True, "tickformat": "d"},
        hovermode="closest",
    )
    return figure


def waterfall(update: BeliefUpdated, dimension: str) -> go.Figure:
    """Every summand of one dimension's logit, from the intercept to the sum."""
    terms = [t for t in update.terms if t.dimension == dimension]
    labels, texts, hovers = [], [], []
    for term in terms:
        letter, meaning = SIGNALS.get(term.signal, (term.signal, ""))
        labels.append("α" if term.signal == "alpha" else f"{signed(term.weight)}·{letter}")
        texts.append(signed(term.product, 3))
        hovers.append(
            f"{meaning}<br>{signed(term.weight)} × {term.value:.4f} = {signed(term.product, 4)}"
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
        yaxis={"title": None, "fixedrange": True, "zeroline": False},
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
