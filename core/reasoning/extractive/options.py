"""The options of "A or B": as the question writes them, and where the passages speak of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from core.reasoning.extractive.comparing import Entity
from core.reasoning.extractive.features import PassageFeatures, Scene, SentenceFeatures
from core.reasoning.extractive.lexicon import words
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
_LIST = regex.compile(
    rf"[,:–—]\s*(?:either\s+)?(?P<items>[^;:?]+)\s+or\s+{_TAIL}", regex.IGNORECASE
)
_JOINTS = regex.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+", regex.IGNORECASE)
MOST = 8
_ASKS = words("grammar", "auxiliaries") | {"which", "who", "what", "whose"}


@dataclass(frozen=True, slots=True)
class Option:
    """What may be chosen, at ``start:end`` of the question, without an article."""

    text: str
    start: int
    end: int


def options(question: str) -> tuple[Option, ...] | None:
    """The two options or more that a question offers in so many words; None where it offers none.

    >>> [o.text for o in options("Which is older, the Ash Tower or Birch Hall?")]
    ['Ash Tower', 'Birch Hall']
    """
    listed = _listed(question)
    if len(listed) > 2:
        return listed if len(listed) <= MOST and all(map(_may_be, listed)) else None
    for form in _FORMS:
        match = form.search(question)
        if match is None:
            continue
        found = [_option(question, *match.span(name)) for name in ("a", "b")]
        if all(_may_be(o) for o in found):
            return tuple(found)
    return None


def _may_be(option: Option) -> bool:
    return 0 < len(option.text.split()) <= MAX_WORDS and bool(_content(option.text))


def _listed(question: str) -> tuple[Option, ...]:
    """What is listed as "A, B or C" after a comma or a colon, and after what asks."""
    match = _LIST.search(question)
    if match is None:
        return ()
    found: list[Option] = []
    at = match.start("items")
    for joint in _JOINTS.finditer(question, at, match.end("items")):
        found.append(_option(question, at, joint.start()))
        at = joint.end()
    if at < match.end("items"):
        found.append(_option(question, at, match.end("items")))
    found.append(_option(question, *match.span("b")))
    asking = [i for i, o in enumerate(found) if _ASKS & {t.surface for t in tokenize(o.text)}]
    return tuple(found[asking[-1] + 1 :] if asking else found)


def _option(question: str, start: int, end: int) -> Option:
    before = _BEFORE.match(question[start:end])
    start += before.end() if before else 0
    return Option(question[start:end], start, end)


def _content(text: str) -> tuple[str, ...]:
    return tuple(t.surface for t in tokenize(text) if t.surface not in STOP_WORDS)


def holder(scene: Scene, option: Option) -> tuple[PassageFeatures | None, bool]:
    """The passage whose title the option names in whole or in part ("Island" names "Island
    Records"), and whether several titles do, so that it is none."""
    wanted = set(_content(option.text))
    holders: dict[str, PassageFeatures] = {}
    for p in scene.passages:
        key = fold(p.passage.title)
        if wanted <= {t.surface for t in p.parse.title_tokens} and (
            key not in holders or p.pm > holders[key].pm
        ):
            holders[key] = p
    return (next(iter(holders.values())) if len(holders) == 1 else None), len(holders) > 1


def titled(scene: Scene, offered: Sequence[Option]) -> tuple[Entity, ...] | None:
    """The passages whose titles the options name; None where an option names no title, or
    several, or two name one."""
    found: list[Entity] = []
    for option in offered:
        passage = holder(scene, option)[0]
        if passage is None or any(e.passage.index == passage.index for e in found):
            return None
        found.append(Entity(option.text, option.start, option.end, passage, as_asked=True))
    return tuple(found)


def told(scene: Scene, offered: Sequence[Option]) -> bool:
    """Whether one passage speaks of every option in its sentences, and no title names one: a name
    mentioned elsewhere is not yet told of."""
    if any(holder(scene, o)[0] is not None for o in offered):
        return False
    return any(
        all(
            any(
                set(_content(o.text)) <= {t.surface for t in p.parse.tokens[s.first : s.last]}
                for s in p.parse.sentences
            )
            for o in offered
        )
        for p in scene.passages
    )


def own_words(option: str, others: Sequence[str]) -> frozenset[str]:
    """The content words of an option without those that all begin with: "3.1" of "release 3.1"."""
    mine, rest = _content(option), [_content(o) for o in others]
    while len(mine) > 1 and rest and all(len(o) > 1 and o[0] == mine[0] for o in rest):
        mine, rest = mine[1:], [o[1:] for o in rest]
    return frozenset(mine)


def spoken_of(
    scene: Scene, option: Option, offered: Sequence[Option]
) -> Iterator[SentenceFeatures]:
    """The sentences that speak of one option and not of another, nearest to the question first.

    What all begin with ("release 3.1 or release 3.2") need not stand there.
    """
    texts = [o.text for o in offered]
    mine = own_words(option.text, [t for t in texts if t != option.text])
    theirs = [own_words(t, [u for u in texts if u != t]) for t in texts if t != option.text]
    for s in sorted(scene.sentences, key=lambda s: (-s.s, s.row)):
        p = scene.passages[s.passage]
        if is_structure(p.text, s.start, s.end):
            continue
        surfaces = {t.surface for t in p.parse.tokens[s.parse.first : s.parse.last]}
        if mine <= surfaces and not any(o <= surfaces and not o <= mine for o in theirs):
            yield s
