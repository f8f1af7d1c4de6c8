"""One visual language: Okabe-Ito colours by meaning, an icon and a word beside every colour."""

from __future__ import annotations

from dataclasses import dataclass

GREEN = "#009E73"
VERMILLION = "#D55E00"
BLUE = "#0072B2"
ORANGE = "#E69F00"
SKY = "#3494CC"
"""Darker than Okabe and Ito's, which is under 3:1 on a white ground as a line or a mark."""
AMBER = "#B97D00"
"""Orange as a line or a mark, likewise."""
PURPLE = "#CC79A7"
OLIVE = "#9A8C00"
GREY = "#87919D"

SHARE = 0.72
"""Of a meaning's colour in an icon, the rest the ink of the theme: with less ink some icons are
under 3:1 on their own tinted ground."""


def inked(colour: str) -> str:
    """A colour as an icon or a thin mark has it, in CSS, to be seen in either theme."""
    return f"color-mix(in srgb, {colour} {SHARE:.0%}, currentColor)"


GHOST = PURPLE
"""What would be under other settings, drawn over what was recorded."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A meaning: its colour, its Material Symbols icon, and its word."""

    colour: str
    icon: str
    word: str


PASSED = Sign(GREEN, "check_circle", "passed")
REFUSED = Sign(VERMILLION, "cancel", "refused")
FIRED = Sign(BLUE, "bolt", "fired")
NOT_FIRED = Sign(GREY, "remove", "not fired")
DECIDED = Sign(BLUE, "gavel", "decided")
PENDING = Sign(GREY, "pending", "pending")
UNKNOWN = Sign(GREY, "help", "unknown")
WARNING = Sign(ORANGE, "warning", "warning")

TERMINALS: dict[str, Sign] = {
    "answered": Sign(GREEN, "check_circle", "Answered"),
    "abstained": Sign(GREY, "do_not_disturb_on", "Abstained"),
    "needs_clarification": Sign(ORANGE, "contact_support", "Needs clarification"),
    "conflict": Sign(VERMILLION, "call_split", "Conflict"),
    "budget_exhausted": Sign(ORANGE, "hourglass_disabled", "Budget exhausted"),
    "incomplete": Sign(ORANGE, "unpublished", "Incomplete"),
    "cancelled": Sign(GREY, "stop_circle", "Stopped"),
    "failed": Sign(VERMILLION, "error", "Failed"),
    "running": Sign(BLUE, "play_circle", "Running"),
    "interrupted": Sign(ORANGE, "power_off", "Interrupted"),
}
GUESS = Sign(ORANGE, "warning", "Best guess")
"""Answered, and by no gate: the run had to end, or the sources do not bear the answer out."""

STANDS = Sign(GREY, "format_quote", "its words stand in the sources")
"""The sources hold the words of an answer that is only a best guess: no sign that it is right."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """How one belief dimension looks on every chart, and what it means."""

    title: str
    colour: str
    glyph: str
    symbol: str
    dash: str
    letter: str
    meaning: str


DIMENSIONS: dict[str, Dimension] = {
    "sufficiency": Dimension(
        "Sufficiency",
        SKY,
        "●",
        "circle",
        "solid",
        "s",
        "How far the evidence held entails a complete answer.",
    ),
    "reliability": Dimension(
        "Reliability",
        BLUE,
        "◆",
        "diamond",
        "dash",
        "r",
        "How far the evidence held can be trusted: relevant, supporting, uncontradicted.",
    ),
    "conflict": Dimension(
        "Conflict",
        VERMILLION,
        "✖",
        "x",
        "dot",
        "c",
        "How strongly the evidence contradicts itself or the draft.",
    ),
    "uncertainty": Dimension(
        "Uncertainty",
        AMBER,
        "▲",
        "triangle-up",
        "dashdot",
        "u",
        "How unsure a careful reader would remain.",
    ),
    "gap": Dimension(
        "Gap",
        OLIVE,
        "■",
        "square",
        "longdash",
        "g",
        "The share of what the question requires that nothing held supports.",
    ),
    "cost": Dimension(
        "Cost",
        GREY,
        "★",
        "star",
        "longdashdot",
        "K",
        "Tokens spent as a share of the token budget.",
    ),
}

MOVES = (
    "Measured values are taken anew from the evidence each time; a belief starts from its prior "
    "and moves only part of the way (λ) to what they say together. So a measured and a believed "
    "value of one name differ."
)
"""How the measured values and the beliefs that share their names hang together."""


def believed(name: str) -> str:
    """A dimension by name, told from the measured value of that name; cost is only counted."""
    title = DIMENSIONS[name].title
    return title if name == "cost" else f"Believed {title.lower()}"


BY_RULES = (
    "Found by rules: one value against another in sentences of like wording. A contradiction in "
    "other words is not found."
)
"""What conflict means where the extractive reasoner judged the evidence."""

SIGNALS: dict[str, tuple[str, str]] = {
    "alpha": ("α", "Intercept: the logit when every signal is 0."),
    "relevance": ("R", "Relevance of the passages last returned."),
    "support": ("S", "How strongly the evidence supports a complete answer."),
    "conflict": ("C", "The strongest contradiction inside the evidence."),
    "uncertainty": ("U", "How uncertain a careful reader would remain."),
    "gap": ("G", "The share of the question that nothing held supports."),
    "novelty": ("N", "How new the passages last returned were."),
    "cost": ("K", "Tokens used as a share of the budget."),
}
"""Letter and meaning of each diagnostic signal, in [0, 1]."""
