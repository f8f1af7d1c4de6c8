"""Rules that answer before ranking: choices, yes or no, and what two things share.

Findings, "Reading" 1. A rule answers only if the things it compares are found among the passages;
else there is no ruling and candidates are ranked.
"""

from __future__ import annotations

import regex

from core.reasoning.extractive.comparing import (
    Entity,
    Place,
    Ruling,
    Value,
    countries,
    death_of,
    interval_of,
    lead,
    named_entities,
    names,
    number_of,
    occupations,
    states,
    year_of,
)
from core.reasoning.extractive.features import PassageFeatures, Scene
from core.reasoning.extractive.lexicon import country_of, head_types, words
from core.reasoning.extractive.offered import FOR_LONGER, offered_choice, spaced_by
from core.reasoning.extractive.options import options, titled
from core.reasoning.extractive.question import Analysis
from core.reasoning.extractive.relations import stated
from core.retrieval.tokenizer import STOP_WORDS, fold, tokenize

YES_FLOOR = 0.6
NAMES_COVERED = 0.95
COVERAGE_WEIGHT, COSINE_WEIGHT, COSINE_FLOOR, CLASH = 0.5, 2.0, 0.6, 1.0

_OR = regex.compile(r"\bor\b", regex.IGNORECASE)
_AND = regex.compile(r"\band\b", regex.IGNORECASE)
_SHARED = regex.compile(r"\b(?:both|share[ds]?|in common|same)\b", regex.IGNORECASE)
_LIVED_LONGER = regex.compile(r"\blived? longer|\blonger life|\boldest when\b", regex.IGNORECASE)
_GENERIC = frozenset(
    ["both", "also", "same", "either", "located", "have", "has", "known", "part", "one", "two"]
)


def rule(scene: Scene, analysis: Analysis) -> Ruling | None:
    """The ruling on a question, or None where no rule applies."""
    if not any(p.sentences for p in scene.passages):
        return None
    entities = named_entities(scene)
    if analysis.form == "choice":
        return _choice(scene, entities)
    if analysis.form == "yes_no":
        same = _same(scene, entities)
        return same if same is not None else _yes_no(scene, entities)
    if len(entities) >= 2 and _SHARED.search(scene.question):
        return _shared(entities, analysis)
    return None


def lacks_operand(scene: Scene, analysis: Analysis) -> bool:
    """Whether the question compares two names of which a passage is there for one at most.

    What could be said then would be a guess.
    """
    if analysis.form not in ("choice", "yes_no"):
        return False
    entities = named_entities(scene)
    if analysis.form == "choice":
        offered = options(scene.question)
        if _operands(scene, entities) or (offered and titled(scene, offered)):
            return False
        return _names_stand_around(scene, entities, _OR)
    return len(entities) < 2 and _names_stand_around(scene, entities, _AND)


def _names_stand_around(scene: Scene, entities: list[Entity], joint: regex.Pattern[str]) -> bool:
    """Whether a name ends right before the joint and another begins right after it."""
    for match in joint.finditer(scene.question):
        if any(e.start < match.start() < e.end for e in entities):
            continue
        before = [t for t in scene.tokens if t.end <= match.start()][-1:]
        after = [t for t in scene.tokens if t.start >= match.end()]
        while after and after[0].surface in words("grammar", "determiners"):
            after = after[1:]
        sides = [*before, *after[:1]]
        if len(sides) == 2 and all(scene.question[t.start].isupper() for t in sides):
            return True
    return False


# --- choice ---------------------------------------------------------------------------------


def _choice(scene: Scene, entities: list[Entity]) -> Ruling | None:
    offered = options(scene.question)
    pair = _operands(scene, entities) or (titled(scene, offered) if offered else None)
    if pair is None:
        return offered_choice(scene, offered) if offered else None
    predicate = _predicate(scene, pair)
    surfaces = {t.surface for t in tokenize(predicate)}
    asked = {t.term for t in tokenize(predicate) if t.surface not in STOP_WORDS}
    spaced = spaced_by(surfaces)
    if spaced is not None:
        found = _both([interval_of(e.passage, asked) for e in pair])
        if found:
            return _better(pair, found, spaced, "choice:interval")
    if FOR_LONGER.search(predicate):
        found = _both([year_of(e.passage, asked, False) for e in pair])
        if found:
            return _better(pair, found, False, "choice:earlier")
    if _LIVED_LONGER.search(scene.question):
        spans = _both([_lifespan(e.passage) for e in pair])
        if spans:
            return _better(pair, spans, True, "choice:lifespan")
    for name, wants_more in (("earlier", False), ("later", True)):
        if surfaces & words("compare", name):
            birth = bool(surfaces & words("compare", "born"))
            found = _both([year_of(e.passage, asked, birth) for e in pair])
            if found:
                return _better(pair, found, wants_more, f"choice:{name}")
    for name, wants_more in (("fewer", False), ("more", True)):
        if surfaces & words("compare", name):
            counted = asked - {t.term for t in tokenize(" ".join(words("compare", name)))}
            found = _both([number_of(e.passage, counted or asked) for e in pair])
            if found:
                return _better(pair, found, wants_more, f"choice:{name}")
    return _by_predicate(scene, pair, predicate)


def _both(found: list[Value | None]) -> list[Value]:
    """The two values where both are known and they differ, else nothing."""
    known = [v for v in found if v is not None]
    return known if len(known) == 2 and known[0].differs(known[1]) else []


def _operands(scene: Scene, entities: list[Entity]) -> tuple[Entity, Entity] | None:
    """The two named things that "or" stands between, the nearest on either side."""
    joints = list(_OR.finditer(scene.question)) or list(_AND.finditer(scene.question))
    for match in reversed(joints):
        left = [e for e in entities if e.end <= match.start()]
        right = [e for e in entities if e.start >= match.end()]
        if left and right:
            between = scene.question[match.end() : right[0].start]
            if len(between.split()) <= 3 and match.start() - left[-1].end <= 30:
                return left[-1], right[0]
    return None


def _predicate(scene: Scene, pair: tuple[Entity, ...]) -> str:
    """The question without what it compares."""
    text = scene.question
    for e in sorted(pair, key=lambda e: -e.start):
        text = f"{text[: e.start]} {text[e.end :]}"
    return " ".join(regex.sub(r"[?,]|\bor\b", " ", text).split())


def _lifespan(passage: PassageFeatures) -> Value | None:
    born, died = year_of(passage, (), True), death_of(passage)
    if born is None or died is None or died.value <= born.value:
        return None
    return Value(died.value - born.value, died.start, died.end)


def _better(pair: tuple[Entity, Entity], found: list[Value], more: bool, name: str) -> Ruling:
    first, second = found
    chosen = 0 if (first.value > second.value) == more else 1
    places = tuple(
        (e.passage.index, v.start, v.end) for e, v in zip(pair, (first, second), strict=True)
    )
    return Ruling(_given(pair[chosen]), places, 0.7, name)


def _given(entity: Entity) -> str:
    """The entity as its title writes it, without a bracket; the question's spelling where the
    title differs only by that."""
    if entity.as_asked:
        return entity.text
    title = regex.sub(r"\s*\([^()]*\)\s*$", "", entity.passage.parse.title.replace("_", " "))
    return title.strip() or entity.text


def _by_predicate(scene: Scene, pair: tuple[Entity, Entity], predicate: str) -> Ruling:
    """The one whose best sentence is closest to the predicate, and covers more of it."""
    asked = [t.term for t in tokenize(predicate) if t.surface not in STOP_WORDS]
    vectors = scene.view.encode([f"{_given(e)} {predicate}" for e in pair])
    scores = []
    for e, vector in zip(pair, vectors, strict=True):
        rows = [s.row for s in e.passage.sentences]
        cosine = float((scene.vectors[rows] @ vector).max()) if rows else -1.0
        scores.append(cosine + _covered(scene, asked, e.passage))
    chosen = 0 if scores[0] >= scores[1] else 1
    confidence = min(0.9, 0.5 + abs(scores[0] - scores[1]))
    return Ruling(_given(pair[chosen]), _leads(pair), confidence, "choice:predicate")


def _covered(scene: Scene, asked: list[str], passage: PassageFeatures) -> float:
    wanted = {term: scene.view.idf(term) for term in asked}
    present = passage.parse.title_terms.union(*(s.terms for s in passage.parse.sentences))
    total = sum(wanted.values())
    if not total:
        return 0.0
    return sum(wanted[t] * share for t, share in stated(wanted, present).items()) / total


def _leads(entities: tuple[Entity, ...] | list[Entity]) -> tuple[Place, ...]:
    return tuple(
        (e.passage.index, e.passage.sentences[0].start, e.passage.sentences[0].end)
        for e in entities
        if e.passage.sentences
    )


# --- the same -------------------------------------------------------------------------------


def _same(scene: Scene, entities: list[Entity]) -> Ruling | None:
    """Whether A and B are of the same X: yes if a value of X is common to both."""
    match = regex.search(r"\bsame\s+(?P<what>[\w\s]{2,40})", scene.question, regex.IGNORECASE)
    if match is None or len(entities) < 2:
        return None
    what = {t.surface for t in tokenize(match.group("what"))}
    a, b = entities[0], entities[1]
    if what & {"nationality", "country", "nation", "citizenship"}:
        found = [countries(e.passage, 2) for e in (a, b)]
    elif what & {"state", "province"}:
        found = [states(e.passage) for e in (a, b)]
    elif what & {"year", "decade", "century"}:
        return _same_year(a, b, what)
    elif what & {"profession", "occupation", "job", "genre", "field", "type", "kind"}:
        found = [occupations(e.passage) for e in (a, b)]
    else:
        found = [names(e.passage) for e in (a, b)]
    common = sorted(set(found[0]) & set(found[1]))
    if not all(found):
        places = _leads((a, b))
    else:
        one = [common[0] if common else next(iter(f)) for f in found]
        places = tuple((e.passage.index, *f[k]) for e, f, k in zip((a, b), found, one, strict=True))
    return Ruling("yes" if common else "no", places, 0.65, "same")


def _shared(entities: list[Entity], analysis: Analysis) -> Ruling | None:
    """What both share, if it is a country or a profession that both leads state."""
    a, b = entities[0].passage, entities[1].passage
    if analysis.head & {"nation", "countri", "citizenship"}:
        first, second = countries(a, 2), countries(b, 2)
        common = [k for k in first if k in second]
    elif analysis.head & {"profess", "occup", "job", "career"}:
        first, second = occupations(a), occupations(b)
        common = [k for k in first if k in second and head_types().get(k) == "person"]
    else:
        return None
    if not common:
        return None
    key = common[0]
    places = tuple((p.index, *found[key]) for p, found in ((a, first), (b, second)))
    start, end = first[key]
    return Ruling(a.text[start:end], places, 0.6, "shared")


def _same_year(a: Entity, b: Entity, what: set[str]) -> Ruling | None:
    first, second = year_of(a.passage, (), False), year_of(b.passage, (), False)
    if first is None or second is None:
        return None
    size = 1 if "year" in what else 10 if "decade" in what else 100
    same = first.value // size == second.value // size
    places = tuple(
        (e.passage.index, v.start, v.end) for e, v in zip((a, b), (first, second), strict=True)
    )
    return Ruling("yes" if same else "no", places, 0.7, "same")


# --- yes or no ------------------------------------------------------------------------------


def _yes_no(scene: Scene, entities: list[Entity]) -> Ruling | None:
    """Yes if what is said of each named thing is borne out by its passage.

    Per thing: .5 idf coverage of the predicate + 2 (cosine of "THING is PREDICATE" and the best
    sentence - .6), minus 1 where the predicate names one country and the passage another; yes if
    the least is above .6. Where only names are said of the things ("both from Cork"), each
    passage must state them all.
    """
    if not entities:
        return None
    pair = tuple(entities[:2])
    predicate = _predicate(scene, pair)
    body = " ".join(
        t.surface
        for t in tokenize(predicate)
        if t.surface not in _GENERIC
        and t.surface not in words("grammar", "auxiliaries")
        and t.surface not in ("and", "the")
    )
    asked = [t.term for t in tokenize(body) if t.surface not in STOP_WORDS]
    vectors = scene.view.encode([f"{_given(e)} is {body}" for e in pair])
    names_only = bool(asked) and all(
        scene.question[t.start].isupper() for t in scene.tokens if t.term in set(asked)
    )
    least = float("inf")
    for e, vector in zip(pair, vectors, strict=True):
        rows = [s.row for s in e.passage.sentences]
        cosine = float((scene.vectors[rows] @ vector).max()) if rows else 0.0
        value = COVERAGE_WEIGHT * _covered(scene, asked, e.passage)
        value += COSINE_WEIGHT * (cosine - COSINE_FLOOR)
        value -= CLASH * _clashes(body, e.passage)
        if names_only:
            value = YES_FLOOR + _covered(scene, asked, e.passage) - NAMES_COVERED
        least = min(least, value)
    yes = least > YES_FLOOR
    confidence = min(0.9, 0.5 + 0.5 * abs(least - YES_FLOOR))
    return Ruling("yes" if yes else "no", _leads(pair), confidence, "yes_no")


def _clashes(predicate: str, passage: PassageFeatures) -> bool:
    """Whether the predicate names a country and the passage's lead names only others."""
    table = country_of()
    wanted = set()
    for surface in predicate.split():
        name = table.get(surface)
        if name is None and surface in words("names", "countries"):
            name = surface
        if name is not None:
            wanted.add(name)
    if not wanted:
        return False
    held = set(countries(passage, 2))
    text = fold(lead(passage, 2))
    return bool(held) and not (wanted & held) and not any(w in text for w in wanted)
