"""Contradictions inside the evidence: two passages that say one thing with different values.

The rule compares wording (findings, "C"): it finds most contradictions that arise when a sentence
is copied and a value changed, and hardly any that are worded differently. Documents that their
metadata tell apart (superseded, of another tenant or law) do not contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Literal

from core.reasoning.extractive.features import (
    PassageFeatures,
    Scene,
    SentenceFeatures,
    is_name_like,
)
from core.reasoning.extractive.lexicon import words
from core.retrieval.tokenizer import STOP_WORDS, Token
from core.types import Metadata

LEAST_RELEVANCE = 0.3
BEARING = 0.2
"""A pair bears on the question if one of its sentences is at most this far below the sentence that
bears on it most, by ``SentenceFeatures.s``: what disagrees elsewhere in the documents is no doubt
of the answer. Of 399 changed values found in development questions and bundled corpora it keeps
97.5%."""
LEAST_OVERLAP = 0.5
LEAST_SHARED_STEMS = 4
LEAST_SHARED_NAMED = 3
"""Least shared stems of two sentences that begin with one name."""
_ARTICLES = frozenset(["a", "an", "the"])
LEAST_RATIO = 0.7
LEAST_EQUAL_TOKENS = 5
MOST_REPLACED = 2
LEAST_STRENGTH = 0.9
"""Strength of a pair whose wording agrees no more than the rule demands; 1 where only the values
differ."""

Kind = Literal["date", "number", "name"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sentences that disagree in ``values`` (as written); ``strength`` in [.9, 1]."""

    first: SentenceFeatures
    second: SentenceFeatures
    values: tuple[tuple[str, str], ...]
    strength: float


def conflicts(scene: Scene) -> list[Conflict]:
    """Every contradicting pair of sentences that bears on the question, strongest first."""
    relevant = [s for s in scene.sentences if s.emb >= LEAST_RELEVANCE]
    bearing = max((s.s for s in scene.sentences), default=0.0) - BEARING
    found = []
    for one, other in combinations(relevant, 2):
        if one.passage == other.passage or max(one.s, other.s) < bearing:
            continue
        first, second = scene.passages[one.passage], scene.passages[other.passage]
        named = _subject(first, one) == _subject(second, other) != ()
        if not _overlaps(one, other, LEAST_SHARED_NAMED if named else LEAST_SHARED_STEMS):
            continue
        if _hold_apart(first.passage.metadata, second.passage.metadata):
            continue
        alike = _same_subject(first, second)
        if not alike and not named:
            continue
        conflict = _compare(scene, one, other, MOST_REPLACED if alike else 1)
        if conflict is not None:
            found.append(conflict)
    return sorted(
        found, key=lambda c: (-c.strength, -max(c.first.s, c.second.s), c.first.row, c.second.row)
    )


def _overlaps(one: SentenceFeatures, other: SentenceFeatures, stems: int) -> bool:
    shared = len(one.parse.terms & other.parse.terms)
    least = min(len(one.parse.terms), len(other.parse.terms))
    return shared >= stems and shared >= LEAST_OVERLAP * least


def _subject(passage: PassageFeatures, sentence: SentenceFeatures) -> tuple[str, ...]:
    """The name of two words or more that the sentence begins with, an article apart."""
    tokens = passage.parse.tokens
    begin = sentence.parse.first
    begin += begin < sentence.parse.last and tokens[begin].surface in _ARTICLES
    for span in passage.parse.spans[sentence.index]:
        if span.first <= begin and span.last - begin >= 2:
            return tuple(t.surface for t in tokens[begin : span.last])
    return ()


def _hold_apart(one: Metadata, other: Metadata) -> bool:
    """Whether both can be true: one is superseded, or they hold for two tenants or two laws."""
    scopes = ((one.tenant, other.tenant), (one.jurisdiction, other.jurisdiction))
    return (
        one.superseded_by is not None
        or other.superseded_by is not None
        or any(a is not None and b is not None and a != b for a, b in scopes)
    )


def _same_subject(one: PassageFeatures, other: PassageFeatures) -> bool:
    """Passages of one title, or the title of one named in the other's text."""
    if not set(one.parse.aliases).isdisjoint(other.parse.aliases):
        return True
    return _names(one, other) or _names(other, one)


def _names(one: PassageFeatures, other: PassageFeatures) -> bool:
    text = " ".join(t.surface for t in other.parse.tokens)
    return any(f" {alias} " in f" {text} " for alias in one.parse.aliases)


def _compare(
    scene: Scene, one: SentenceFeatures, other: SentenceFeatures, most: int
) -> Conflict | None:
    """The contradiction of two sentences that differ in at most ``most`` values, if it is one."""
    a, b = _tokens(scene, one), _tokens(scene, other)
    matcher = SequenceMatcher(None, [t.surface for t in a], [t.surface for t in b], autojunk=False)
    if matcher.real_quick_ratio() < LEAST_RATIO or matcher.ratio() < LEAST_RATIO:
        return None
    codes = matcher.get_opcodes()
    equal = sum(i2 - i1 for code, i1, i2, _, _ in codes if code == "equal")
    replaced = [(a[i1:i2], b[j1:j2]) for code, i1, i2, j1, j2 in codes if code == "replace"]
    if equal < LEAST_EQUAL_TOKENS or not 1 <= len(replaced) <= most:
        return None
    texts = (scene.passages[one.passage].text, scene.passages[other.passage].text)
    for left, right in replaced:
        kind = _kind(texts[0], left)
        if kind is None or kind != _kind(texts[1], right):
            return None
        if {t.surface for t in left} & {t.surface for t in right} - STOP_WORDS:
            return None
    asked = {t.term for t in scene.tokens}
    sides = ([t for left, _ in replaced for t in left], [t for _, right in replaced for t in right])
    if all(t.term in asked for side in sides for t in side):
        return None
    if _told_apart(scene, (one.passage, other.passage), sides):
        return None
    values = tuple((_shown(texts[0], left), _shown(texts[1], right)) for left, right in replaced)
    agreeing = 2 * equal / (len(a) + len(b) - sum(len(x) + len(y) for x, y in replaced))
    return Conflict(one, other, values, LEAST_STRENGTH + (1 - LEAST_STRENGTH) * agreeing)


def _told_apart(
    scene: Scene, passages: tuple[int, int], sides: tuple[list[Token], list[Token]]
) -> bool:
    """Whether the titles differ and a differing word is one of them: two things of one name."""
    titles = [scene.passages[i].parse.title_terms for i in passages]
    return titles[0] != titles[1] and any(
        t.term in title and t.surface not in STOP_WORDS
        for side, title in zip(sides, titles, strict=True)
        for t in side
    )


def _tokens(scene: Scene, sentence: SentenceFeatures) -> list[Token]:
    parse = scene.passages[sentence.passage].parse
    return parse.tokens[sentence.parse.first : sentence.parse.last]


def _kind(text: str, tokens: Sequence[Token]) -> Kind | None:
    """What a replaced segment is, if it is wholly a date, a number or a name."""
    surfaces = [t.surface for t in tokens]
    months, numerals = words("time", "months"), words("numbers", "words")
    dates = [s in months or (s.isdigit() and 1_000 <= int(s) <= 2_100) for s in surfaces]
    figures = [s[0].isdigit() or s in numerals for s in surfaces]
    if any(dates) and all(
        d or f or s in STOP_WORDS for d, f, s in zip(dates, figures, surfaces, strict=True)
    ):
        return "date"
    units = words("numbers", "scale") | words("numbers", "units") | words("time", "units")
    if any(figures) and all(f or s in units for f, s in zip(figures, surfaces, strict=True)):
        return "number"
    named = [is_name_like(text, t) and not t.surface[0].isdigit() for t in tokens]
    if any(named) and all(n or s in STOP_WORDS for n, s in zip(named, surfaces, strict=True)):
        return "name"
    return None


def _shown(text: str, tokens: Sequence[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end]
