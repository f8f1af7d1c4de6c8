"""Values that can be compared: the years, numbers, places and nationalities of an entity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import regex
from rapidfuzz import fuzz

from core.reasoning.extractive.features import PassageFeatures, Scene
from core.reasoning.extractive.lexicon import country_of, words
from core.reasoning.extractive.measures import is_interval, measure_of
from core.reasoning.extractive.quantities import Quantity, part_of_year, quantities
from core.reasoning.extractive.relations import related
from core.retrieval.tokenizer import fold, stem

NAMED = 88.0
"""rapidfuzz partial ratio, in [0, 100], from which a title counts as named in the question."""
NEAR = 60
"""Characters within which a relation word tells what a date or number is of."""


_BRACKET = regex.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Entity:
    """Something the question names (characters ``start:end`` of it, as ``text``) and the passage
    whose title it is."""

    text: str
    start: int
    end: int
    passage: PassageFeatures
    as_asked: bool = False
    """Whether the title has more words, so that an answer keeps to the question's."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value read at ``start:end`` of the passage's text, in the base unit of what it measures
    (``measure``; empty: nothing known, and the value is as written)."""

    value: float
    start: int
    end: int
    measure: str = ""

    def differs(self, other: Value) -> bool:
        """Whether both can be compared and are not equal."""
        return self.measure == other.measure and self.value != other.value


Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a rule answered: the text, the places it was read from (passage, start, end), how sure
    the rule is in [0, 1], and the rule's name."""

    answer: str
    places: tuple[Place, ...]
    confidence: float
    rule: str


def named_entities(scene: Scene) -> list[Entity]:
    """The passages whose titles the question names, near spellings included, in its order.

    Where two titles claim the same words the closer and longer one has them; of passages with
    one title the most related one.
    """
    question = fold(scene.question)
    if len(question) != len(scene.question):
        question = scene.question.lower()
    claims: list[tuple[float, int, int, int]] = []
    for p in scene.passages:
        for alias in _spellings(p.parse.title):
            if not 3 <= len(alias) <= len(question):
                continue
            found = fuzz.partial_ratio_alignment(alias, question, score_cutoff=NAMED)
            if found is None or found.dest_end <= found.dest_start:
                continue
            start, end = found.dest_start, found.dest_end
            if not _whole(question, start, end):
                continue
            claims.append((found.score + min(len(alias), 40) / 4, start, end, p.index))
    taken: list[Entity] = []
    for _, start, end, index in sorted(
        claims, key=lambda c: (-c[0], -scene.passages[c[3]].pm, c[3])
    ):
        passage = scene.passages[index]
        if any(start < e.end and e.start < end for e in taken):
            continue
        if any(e.passage.index == index for e in taken):
            continue
        taken.append(Entity(scene.question[start:end], start, end, passage))
    return sorted(taken, key=lambda e: e.start)


def _spellings(title: str) -> tuple[str, ...]:
    """The title as it may be written in a question: whole, without a bracket, up to a comma."""
    bare = fold(_BRACKET.sub("", title.replace("_", " "))).strip()
    return tuple(dict.fromkeys((bare, bare.split(",")[0].strip())))


def _whole(question: str, start: int, end: int) -> bool:
    before = question[start - 1 : start]
    after = question[end : end + 1]
    return not (before.isalnum() and question[start : start + 1].isalnum()) and not (
        after.isalnum() and question[end - 1 : end].isalnum()
    )


def years(passage: PassageFeatures) -> list[Quantity]:
    """Dates of the passage that name a year, in order."""
    return [q for q in quantities(passage.text) if q.kind == "date" and q.value is not None]


def year_of(passage: PassageFeatures, asked: Iterable[str], birth: bool) -> Value | None:
    """The year nearest to a word of the relation (stems ``asked`` and their relatives); of a
    birth, the year after "born" or the first in brackets; else the passage's first."""
    found = years(passage)
    if not found:
        return None
    if birth:
        text = passage.text.lower()
        at = text.find("born")
        if at >= 0:
            after = [q for q in found if q.start >= at and q.start - at <= NEAR]
            if after:
                return valued(after[0], passage.text)
        bracket = text.find("(")
        after = [q for q in found if q.start >= bracket >= 0 and q.start - bracket <= NEAR]
        return valued((after or found)[0], passage.text)
    near = _nearest(passage, found, asked)
    return valued(near or found[0], passage.text)


def death_of(passage: PassageFeatures) -> Value | None:
    """The second year of life dates in brackets, or the year after "died"."""
    text = passage.text
    open_, close = text.find("("), text.find(")")
    inside = [q for q in years(passage) if open_ <= q.start < close and not q.part]
    if 0 <= open_ < close and len(inside) >= 2:
        return valued(inside[1], text)
    at = text.lower().find("died")
    after = [q for q in years(passage) if q.start >= at >= 0]
    return valued(after[0], text) if after else None


def valued(q: Quantity, text: str) -> Value:
    """A quantity of the text to be compared: a date in years, its month and day as their part."""
    value = float(q.value or 0.0)
    if q.kind == "date":
        return Value(value + part_of_year(text[q.start : q.end]), q.start, q.end)
    measure, factor = measure_of(q.unit)
    return Value(value * factor, q.start, q.end, measure)


def interval_of(passage: PassageFeatures, asked: Iterable[str]) -> Value | None:
    """How long it is from one time to the next ("every 10 seconds"), nearest to a word of the
    question; None where several stand and none is near one."""
    found = [
        q
        for q in quantities(passage.text)
        if q.value is not None
        and not q.part
        and measure_of(q.unit)[0] == "time"
        and is_interval(passage.text, q.start)
    ]
    near = _nearest(passage, found, asked) or (found[0] if len(found) == 1 else None)
    return valued(near, passage.text) if near else None


def _nearest(
    passage: PassageFeatures, found: list[Quantity], asked: Iterable[str]
) -> Quantity | None:
    wanted = set(asked)
    for term in tuple(wanted):
        wanted |= related(term)
    places = [t.start for t in passage.parse.tokens if t.term in wanted]
    best: tuple[int, int] | None = None
    chosen = None
    for q in found:
        for at in places:
            distance = q.start - at if q.start >= at else 2 * (at - q.end)
            if 0 <= distance <= 2 * NEAR and (best is None or (distance, q.start) < best):
                best, chosen = (distance, q.start), q
    return chosen


def lead(passage: PassageFeatures, sentences: int = 1) -> str:
    """The passage's first sentences."""
    found = passage.parse.sentences[:sentences]
    return passage.text[found[0].start : found[-1].end] if found else ""


def countries(passage: PassageFeatures, sentences: int = 1) -> dict[str, tuple[int, int]]:
    """Countries that the first sentences name, themselves or by a demonym: folded name -> where."""
    found: dict[str, tuple[int, int]] = {}
    tokens = passage.parse.tokens
    last = (
        passage.parse.sentences[min(sentences, len(passage.parse.sentences)) - 1].last
        if (passage.parse.sentences)
        else 0
    )
    table = country_of()
    for i in range(last):
        for n in (4, 3, 2, 1):
            if i + n > last:
                continue
            phrase = " ".join(t.surface for t in tokens[i : i + n])
            name = table.get(phrase)
            if name is None and (
                phrase in words("names", "countries") or phrase in words("names", "country_phrases")
            ):
                name = phrase
            elif name is None and (
                phrase in words("names", "us_states")
                or phrase in words("names", "us_state_phrases")
            ):
                name = "united states"
            if name is not None:
                found.setdefault(name, (tokens[i].start, tokens[i + n - 1].end))
                break
    return found


def states(passage: PassageFeatures) -> dict[str, tuple[int, int]]:
    """States and provinces that the passage names."""
    return _gazetteer(passage, ("states", "state_phrases", "us_states", "us_state_phrases"))


def _gazetteer(passage: PassageFeatures, lists: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    known = frozenset().union(*(words("names", name) for name in lists))
    found: dict[str, tuple[int, int]] = {}
    tokens = passage.parse.tokens
    for i in range(len(tokens)):
        for n in (3, 2, 1):
            phrase = " ".join(t.surface for t in tokens[i : i + n])
            if phrase in known and passage.text[tokens[i].start].isupper():
                found.setdefault(
                    phrase, (tokens[i].start, tokens[i + min(n, len(tokens) - i) - 1].end)
                )
                break
    return found


def names(passage: PassageFeatures) -> dict[str, tuple[int, int]]:
    """Capitalised spans of the passage that are not its title: folded -> where."""
    own = " ".join(passage.parse.aliases)
    return {
        span.key: (span.start, span.end)
        for found in passage.parse.spans
        for span in found
        if span.key not in own
    }


def occupations(passage: PassageFeatures) -> dict[str, tuple[int, int]]:
    """Stems of the common nouns of the first sentence after its copula: stem -> where."""
    if not passage.parse.sentences:
        return {}
    sentence = passage.parse.sentences[0]
    tokens = passage.parse.tokens[sentence.first : sentence.last]
    start = next((i for i, t in enumerate(tokens) if t.surface in ("is", "was", "are")), None)
    if start is None:
        return {}
    return {
        t.term: (t.start, t.end)
        for t in tokens[start + 1 :]
        if passage.text[t.start].islower() and stem(t.surface) == t.term
    }
