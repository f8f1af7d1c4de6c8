"""What all languages share: spans that could answer, and when two words are one."""

from __future__ import annotations

from dataclasses import dataclass

from core.reasoning.extractive.question import Kind
from core.reasoning.extractive.tongues.tables import Tongue

SHARED, LEAST_PREFIX = 0.55, 4
RELATED = 0.6
SHORT = 4
"""A related word of at most this many letters is meant whole, a longer one as a beginning."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters ``start:end`` of a passage's text that could answer a question of the kind
    ``kind``; ``cue`` is what speaks for it in its place, about -1 to 2."""

    start: int
    end: int
    kind: Kind
    cue: float


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: folded, and where it stands."""

    key: str
    start: int
    end: int


def alike(one: str, other: str, least: int = LEAST_PREFIX) -> bool:
    """Whether two folded words may be forms of one: equal, or they begin alike.

    >>> alike("nelahozeves", "nelahozevsi"), alike("most", "mostu"), alike("stan", "stadt")
    (True, True, False)
    """
    if one == other:
        return True
    short, long = sorted((len(one), len(other)))
    n = 0
    while n < short and one[n] == other[n]:
        n += 1
    if short < least:
        return n == short >= 2 and long - short <= 1
    return n >= least and n >= SHARED * (long if least == LEAST_PREFIX else short)


def related(one: str, other: str, tongue: Tongue) -> bool:
    """Whether two folded words are of one group of the language's relations."""
    return any(_in(one, g) and _in(other, g) for g in tongue.groups)


def _in(word: str, group: tuple[str, ...]) -> bool:
    return any(word == w if len(w) < SHORT else word.startswith(w) for w in group)
