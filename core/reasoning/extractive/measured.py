"""The value of a compared quantity in a text: the number that its unit and the words beside it
tell to be one."""

from __future__ import annotations

from collections.abc import Sequence

from core.reasoning.extractive.comparatives import Comparison, comparisons, dimension_words
from core.reasoning.extractive.comparing import NEAR, Value
from core.reasoning.extractive.features import PassageFeatures
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.measures import measure_of
from core.reasoning.extractive.quantities import Quantity, quantities
from core.retrieval.tokenizer import STOP_WORDS, Token, stem

PEOPLE = frozenset("people inhabitants residents population".split())
_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
_COINS = frozenset("dollar euro pound yen rupee".split())
_BETWEEN = 3
"""Words that may stand between a count and what is counted: "40 paying adult members"."""


def values(
    passage: PassageFeatures, spans: Sequence[tuple[int, int]], wanted: Comparison
) -> dict[str, Value]:
    """For each measure the value of the quantity within the spans of the passage's text.

    The one nearest to a word of the quantity; else the only one. Several of which nothing tells
    are none.
    """
    text = passage.text
    found: dict[str, list[tuple[int, Value]]] = {}
    for q in quantities(text):
        span = next((s for s in spans if s[0] <= q.start < s[1]), None)
        if span is None or q.kind != "number" or q.part or q.value is None:
            continue
        tokens = [t for t in passage.parse.tokens if span[0] <= t.start < span[1]]
        before = [t for t in tokens if t.end <= q.start]
        after = [t for t in tokens if t.start >= q.end]
        if _compares(after):
            continue
        near = _distance(q, before, after, wanted)
        for measure, value in _readings(q, text, after, wanted, near):
            found.setdefault(measure, []).append((near, value))
    return {m: v for m, many in found.items() if (v := _one(many)) is not None}


FAR = 10 * NEAR


def _one(many: list[tuple[int, Value]]) -> Value | None:
    least = min(near for near, _ in many)
    best = [v for near, v in many if near == least]
    return best[0] if len({v.value for v in best}) == 1 else None


def _compares(after: Sequence[Token]) -> bool:
    """Whether the number says by how much something differs: "5 m taller than"."""
    ahead = after[:5]
    than = next((i for i, t in enumerate(ahead) if t.surface == "than"), None)
    return than is not None and any(comparisons(ahead, i) for i in range(than))


def _distance(
    q: Quantity, before: Sequence[Token], after: Sequence[Token], wanted: Comparison
) -> int:
    """Characters from the value to a word of the quantity; words before it weigh double, since
    they may be of the value before. ``FAR`` where none is near."""
    ahead = [t.start - q.end for t in after if t.term in wanted.cues]
    behind = [q.start - t.end for t in before if t.term in wanted.cues]
    near = [*ahead, *(2 * d for d in behind)]
    return min((d for d in near if d <= NEAR), default=FAR)


def _readings(
    q: Quantity, text: str, after: Sequence[Token], wanted: Comparison, near: int
) -> list[tuple[str, Value]]:
    """The measures that the number may be a value of, and the value in each."""
    value, unit = float(q.value or 0.0), q.unit.lower()
    if after and after[0].surface in dimension_words() and after[0].term not in wanted.cues:
        return []
    found: list[tuple[str, Value]] = []
    for measure, sign in wanted.measures:
        said = _unit(unit, text, q, after)
        if measure == "money":
            coin = _coin(text[q.start : q.end], unit)
            if coin or (not unit and near <= 2 * _CLOSE):
                kind = f"money {coin or _unknown(text, q, after)}"
                found.append((measure, Value(value, q.start, q.end, kind)))
        elif measure == "people":
            if unit in PEOPLE or (not unit and near <= NEAR and not _unknown(text, q, after)):
                found.append((measure, Value(value, q.start, q.end, "people")))
        elif measure == "mass" and unit == "pounds":
            found.append((measure, Value(value * 453.592, q.start, q.end, measure)))
        elif measure == "":
            if wanted.counted and said[0] == "" and _counts(unit, after, near, wanted):
                found.append((measure, Value(value, q.start, q.end, "count")))
        elif measure == "any":
            if near < FAR:
                kind = said[0] or unit or _unknown(text, q, after)
                found.append((measure, Value(value * said[1], q.start, q.end, kind)))
        elif said[0] == measure:
            kind = unit if measure == "temperature" else measure
            found.append((measure, Value(sign * value * said[1], q.start, q.end, kind)))
        elif not unit and near <= _CLOSE:
            kind = f"{measure} {_unknown(text, q, after)}"
            found.append((measure, Value(sign * value, q.start, q.end, kind)))
    return found


_CLOSE = 8
"""Characters within which a word of the quantity stands right beside a bare number."""


_SHORT = {
    "m": ("length", 1.0),
    "g": ("mass", 1.0),
    "t": ("mass", 1e6),
    "l": ("volume", 1.0),
    "s": ("time", 1.0),
    "min": ("time", 60.0),
    "h": ("time", 3600.0),
}
"""Signs of units that alone are too short to be read as such everywhere."""


def _unit(unit: str, text: str, q: Quantity, after: Sequence[Token]) -> tuple[str, float]:
    """What the unit measures, that of a square or a cube included."""
    if not unit and after and not text[q.end : after[0].start].strip():
        return _SHORT.get(after[0].surface, ("", 1.0))
    measure, factor = measure_of(unit)
    power = {"square": 2, "cubic": 3}.get(unit.split(" ")[0])
    if power and measure == "length":
        return ("area", factor**2) if power == 2 else ("volume", 1e3 * factor**3)
    return measure, factor


def _unknown(text: str, q: Quantity, after: Sequence[Token]) -> str:
    """The word right after a bare number, which may be its unit; empty for none."""
    if not after or text[q.end : after[0].start].strip():
        return ""
    word = after[0].surface
    known = STOP_WORDS | words("grammar", "prepositions")
    return "" if word in known or word in dimension_words() else after[0].term


def _coin(said: str, unit: str) -> str:
    for sign, coin in _SIGNS.items():
        if sign in said:
            return coin
    name = unit.removesuffix("s")
    return name if name in _COINS else ""


def _counts(unit: str, after: Sequence[Token], near: int, wanted: Comparison) -> bool:
    """Whether the number counts the thing: "12 members", "12 paying members", "members: 12"."""
    if unit:
        return stem(unit) in wanted.cues
    ahead = after[:_BETWEEN]
    return any(t.term in wanted.cues for t in ahead) or near <= 2 * _CLOSE + _CLOSE
