"""The options of "A or B": as the question writes them, and where the passages speak of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import regex

from core.reasoning.extractive.comparing import Entity, Value, valued
from core.reasoning.extractive.features import PassageFeatures, Scene, SentenceFeatures
from core.reasoning.extractive.quantities import Quantity, quantities
from core.reasoning.extractive.structure import is_structure
from core.retrieval.tokenizer import STOP_WORDS, fold, tokenize

MAX_WORDS = 7
_TAIL = r"(?P<b>[^,?;:]+?)\s*(?:[,?;:]|\.?$)"
_FORMS = (
    regex.compile(
        rf"[,:–—]\s*(?:either\s+)?(?P<a>[^,?;:]+?)\s*,?\s+or\s+{_TAIL}", regex.IGNORECASE
    ),
    regex.compile(rf"\bbetween\s+(?P<a>[^,?;:]+?)\s+(?:and|or)\s+{_TAIL}", regex.IGNORECASE),
    regex.compile(
        r"\b(?:first|last|earlier|later|older|newer|younger|oldest|newest|youngest|sooner|larger|"
        r"bigger|smaller|longer|shorter|more|less|better|faster|slower|cheaper)\s+"
        rf"(?P<a>[^,?;:]+?)\s+or\s+{_TAIL}",
        regex.IGNORECASE,
    ),
)
_BEFORE = regex.compile(r"\A(?:the|a|an|is it|was it|either)\s+", regex.IGNORECASE)
_MORE_OF_A_LIST = regex.compile(r",\s*\p{L}[^,]{0,30}\Z")


@dataclass(frozen=True, slots=True)
class Option:
    """What may be chosen, at ``start:end`` of the question, without an article."""

    text: str
    start: int
    end: int


def options(question: str) -> tuple[Option, Option] | None:
    """The two options that a question offers in so many words; None where it offers none, or
    more than two.

    >>> [o.text for o in options("Which is older, the Ash Tower or Birch Hall?")]
    ['Ash Tower', 'Birch Hall']
    """
    for form in _FORMS:
        match = form.search(question)
        if match is None or _MORE_OF_A_LIST.search(question[: match.start()]):
            continue
        found = [_option(question, *match.span(name)) for name in ("a", "b")]
        if all(0 < len(o.text.split()) <= MAX_WORDS and _content(o.text) for o in found):
            return found[0], found[1]
    return None


def _option(question: str, start: int, end: int) -> Option:
    before = _BEFORE.match(question[start:end])
    start += before.end() if before else 0
    return Option(question[start:end], start, end)


def _content(text: str) -> tuple[str, ...]:
    return tuple(t.surface for t in tokenize(text) if t.surface not in STOP_WORDS)


def titled(scene: Scene, pair: tuple[Option, Option]) -> tuple[Entity, Entity] | None:
    """The passages whose titles the options name in whole or in part ("Island" names "Island
    Records"); None where an option names no title, or several."""
    found = []
    for option in pair:
        wanted = set(_content(option.text))
        holders: dict[str, PassageFeatures] = {}
        for p in scene.passages:
            key = fold(p.passage.title)
            if wanted <= {t.surface for t in p.parse.title_tokens} and (
                key not in holders or p.pm > holders[key].pm
            ):
                holders[key] = p
        if len(holders) != 1:
            return None
        passage = next(iter(holders.values()))
        found.append(Entity(option.text, option.start, option.end, passage, as_asked=True))
    if found[0].passage.index == found[1].passage.index:
        return None
    return found[0], found[1]


def spoken_of(scene: Scene, option: Option, other: Option) -> Iterator[SentenceFeatures]:
    """The sentences that speak of one option and not of the other, nearest to the question first.

    What both begin with ("release 3.1 or release 3.2") need not stand there.
    """
    mine, theirs = _content(option.text), _content(other.text)
    while len(mine) > 1 and len(theirs) > 1 and mine[0] == theirs[0]:
        mine, theirs = mine[1:], theirs[1:]
    for s in sorted(scene.sentences, key=lambda s: (-s.s, s.row)):
        p = scene.passages[s.passage]
        if is_structure(p.text, s.start, s.end):
            continue
        surfaces = {t.surface for t in p.parse.tokens[s.parse.first : s.parse.last]}
        if set(mine) <= surfaces and not set(theirs) <= surfaces:
            yield s


def value_of(
    scene: Scene, pair: tuple[Option, Option], wanted: Callable[[Quantity, str], bool]
) -> list[tuple[int, Value]]:
    """For each option the passage and the first wanted value of a sentence that speaks of it;
    empty where one has none, or both are equal or not to be compared."""
    found: list[tuple[int, Value]] = []
    for option, other in (pair, pair[::-1]):
        for s in spoken_of(scene, option, other):
            text = scene.passages[s.passage].text
            fitting = [
                q
                for q in quantities(text)
                if s.start <= q.start < s.end and q.value is not None and wanted(q, text)
            ]
            if fitting:
                found.append((s.passage, valued(fitting[0], text)))
                break
    if len(found) < 2 or not found[0][1].differs(found[1][1]):
        return []
    return found
