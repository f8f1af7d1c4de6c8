"""The choice between options that are no titles, by what the passages say of them."""

from __future__ import annotations

from collections.abc import Callable

import regex

from core.reasoning.extractive.comparing import Ruling
from core.reasoning.extractive.features import Scene
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.measures import is_interval, measure_of
from core.reasoning.extractive.options import Option, spoken_of, value_of
from core.reasoning.extractive.quantities import Quantity
from core.retrieval.tokenizer import STOP_WORDS, tokenize

OFFERED, UNSURE = 0.5, 0.3
"""Confidence of a choice between what is no title: by values, and by who is spoken of."""
FOR_LONGER = regex.compile(r"\bfor (?:the )?long(?:er|est)\b", regex.IGNORECASE)
"""What has been so for longer began earlier."""


def spaced_by(surfaces: set[str]) -> bool | None:
    """Whether the longer interval is asked for ("less often"), or the shorter; None: neither."""
    if "interval" in surfaces or "intervals" in surfaces:
        return bool(surfaces & words("compare", "more"))
    if surfaces & words("compare", "often"):
        return bool(surfaces & {"less", "least", "rarely", "seldom"})
    return None


def offered_choice(scene: Scene, pair: tuple[Option, Option]) -> Ruling | None:
    """The choice between what is no title: by the values beside where the passages speak of it,
    else the only one that the sentence nearest to the question speaks of."""
    asked = scene.question[: pair[0].start] + scene.question[pair[1].end :]
    surfaces = {t.surface for t in tokenize(asked)}
    spaced = spaced_by(surfaces)
    orders: list[tuple[bool, bool, Callable[[Quantity, str], bool]]] = [
        (spaced is not None, bool(spaced), _is_spacing),
        (FOR_LONGER.search(asked) is not None, False, _is_date),
        (bool(surfaces & words("compare", "earlier")), False, _is_date),
        (bool(surfaces & words("compare", "later")), True, _is_date),
        (bool(surfaces & words("compare", "fewer")), False, _is_number),
        (bool(surfaces & words("compare", "more")), True, _is_number),
    ]
    for applies, more, wanted in orders:
        found = value_of(scene, pair, wanted) if applies else []
        if found:
            first, second = (v.value for _, v in found)
            chosen = pair[0 if (first > second) == more else 1]
            places = tuple((i, v.start, v.end) for i, v in found)
            return Ruling(chosen.text, places, OFFERED, "choice:offered")
    if any(applies for applies, _, _ in orders):
        return None
    held = [(s, o) for o, other in (pair, pair[::-1]) for s in spoken_of(scene, o, other)]
    if not held:
        return None
    best, chosen = max(held, key=lambda h: (h[0].s, -h[0].row))
    rest = {t.term for t in tokenize(asked) if t.surface not in STOP_WORDS} & scene.asked
    if not rest & best.covered:
        return None
    return Ruling(chosen.text, ((best.passage, best.start, best.end),), UNSURE, "choice:offered")


def _is_date(q: Quantity, text: str) -> bool:
    return q.kind == "date" and not q.part


def _is_number(q: Quantity, text: str) -> bool:
    version = text[q.start : q.end].count(".") == 1 and not q.unit
    return q.kind == "number" and not q.part and not version


def _is_spacing(q: Quantity, text: str) -> bool:
    return q.kind == "number" and measure_of(q.unit)[0] == "time" and is_interval(text, q.start)
