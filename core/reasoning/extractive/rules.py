"""Rules that answer before ranking: choices, yes or no, and what two things share.

Findings, "Reading" 1. A rule answers only if the things it compares are found among the passages;
else there is no ruling and candidates are ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import regex

from core.reasoning.extractive.comparatives import NOT, OTHER
from core.reasoning.extractive.comparatives import asked_of as comparisons_asked
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
    occupations,
    states,
    year_of,
)
from core.reasoning.extractive.features import PassageFeatures, Scene
from core.reasoning.extractive.lexicon import country_of, head_types, words
from core.reasoning.extractive.offered import (
    FOR_LONGER,
    Found,
    Operand,
    best,
    by_class,
    by_mention,
    by_statement,
    by_value,
    denied_in,
    denies,
    first_values,
    is_date,
    is_spacing,
    spaced_by,
)
from core.reasoning.extractive.options import Option, holder, options, titled, told
from core.reasoning.extractive.quantities import Quantity
from core.reasoning.extractive.question import Analysis
from core.reasoning.extractive.relations import stated
from core.retrieval.tokenizer import STOP_WORDS, Token, fold, tokenize

YES_FLOOR = 0.6
NAMES_COVERED = 0.95
COVERAGE_WEIGHT, COSINE_WEIGHT, COSINE_FLOOR, CLASH = 0.5, 2.0, 0.6, 1.0

NOTHING = Ruling("", (), 0.0, "choice")
"""The ruling that the passages do not tell which of the options it is."""
_LISTED = regex.compile(r"\s*,\s*(?:the\s+)?", regex.IGNORECASE)
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
        if _operands(scene, entities) or (
            offered and (titled(scene, offered) or told(scene, offered))
        ):
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
    """The choice between options; a ruling without an answer where what is compared is unknown."""
    offered = options(scene.question)
    named = _operands(scene, entities)
    if offered and (named is None or len(named) < len(offered)):
        named = titled(scene, offered)
    if named is not None:
        operands = [Operand(Option(e.text, e.start, e.end), _given(e), e.passage) for e in named]
    elif offered:
        operands = [Operand(o, o.text, holder(scene, o)[0]) for o in offered]
        shared = [o.passage.index for o in operands if o.passage is not None]
        operands = [
            replace(o, passage=None)
            if o.passage is not None and shared.count(o.passage.index) > 1
            else o
            for o in operands
            if not holder(scene, o.option)[1]
        ]
    else:
        return None
    predicate = _predicate(scene, [o.option for o in operands] if named else list(offered or ()))
    ruling = _compared(scene, operands, predicate)
    if ruling is not None:
        return ruling
    if named is not None:
        return _by_predicate(scene, named, predicate)
    return by_mention(scene, [Operand(o, o.text) for o in offered or ()], predicate) or NOTHING


def _compared(scene: Scene, operands: list[Operand], predicate: str) -> Ruling | None:
    """The choice by what the predicate compares; None where it compares nothing."""
    tokens = tokenize(predicate)
    surfaces = {t.surface for t in tokens}
    asked = {t.term for t in tokens if t.surface not in STOP_WORDS}
    compared = comparisons_asked(tokens)
    turned = denies(tokens) and bool(compared)
    if turned and len(operands) > 2:
        return NOTHING
    ends = tuple(replace(c, more=c.more != turned) for c in compared)
    spaced = spaced_by(surfaces)
    if spaced is not None:
        found = _dated(scene, operands, lambda p: interval_of(p, asked), is_spacing)
        return best(operands, found, spaced, "choice:interval") or NOTHING
    if FOR_LONGER.search(predicate):
        found = _dated(scene, operands, lambda p: year_of(p, asked, False), is_date)
        ruling = best(operands, found, bool(surfaces & {"not"}), "choice:earlier")
        if ruling is not None:
            return ruling
    if _LIVED_LONGER.search(scene.question):
        found = _dated(scene, operands, _lifespan, None)
        ruling = best(operands, found, True, "choice:lifespan")
        if ruling is not None:
            return ruling
    ruling = by_statement(scene, operands, ends) if ends else None
    if ruling is not None:
        return ruling
    for name, later in (("earlier", False), ("later", True)):
        if surfaces & words("compare", name):
            birth = bool(surfaces & words("compare", "born"))
            found = _dated(scene, operands, partial(year_of, asked=asked, birth=birth), is_date)
            ruling = best(operands, found, later != turned, f"choice:{name}")
            if ruling is not None:
                return ruling
    if any(not c.name.startswith(OTHER) for c in ends):
        return by_value(scene, operands, ends) or by_class(operands, ends) or NOTHING
    if surfaces & words("compare", "ordering") and not _before_noun(tokens):
        return NOTHING
    return None


def _before_noun(tokens: list[Token]) -> bool:
    """Whether "first", "last" belong to a noun ("the first president"), so that nothing is
    compared."""
    places = [i for i, t in enumerate(tokens) if t.surface in words("compare", "ordering")]
    return any(
        i + 1 < len(tokens) and tokens[i + 1].surface not in STOP_WORDS and i > 0 for i in places
    )


def _dated(
    scene: Scene,
    operands: list[Operand],
    read: Callable[[PassageFeatures], Value | None],
    wanted: Callable[[Quantity, str], bool] | None,
) -> list[Found | None]:
    """The value of each operand: read from its passage, else the first that is wanted of where it
    is spoken of."""
    spoken = first_values(scene, operands, wanted) if wanted else [None] * len(operands)
    found: list[Found | None] = []
    for operand, other in zip(operands, spoken, strict=True):
        p = operand.passage
        value = read(p) if p is not None else None
        found.append((p.index, value) if p is not None and value is not None else other)
    return found


def _operands(scene: Scene, entities: list[Entity]) -> tuple[Entity, ...] | None:
    """The named things that "or" stands between: the nearest on either side, and those listed
    with commas before them."""
    joints = list(_OR.finditer(scene.question)) or list(_AND.finditer(scene.question))
    for match in reversed(joints):
        left = [e for e in entities if e.end <= match.start()]
        right = [e for e in entities if e.start >= match.end()]
        if left and right:
            between = scene.question[match.end() : right[0].start]
            if len(between.split()) <= 3 and match.start() - left[-1].end <= 30:
                found = [left[-1], right[0]]
                for e in reversed(left[:-1]):
                    if not _LISTED.fullmatch(scene.question[e.end : found[0].start]):
                        break
                    found.insert(0, e)
                return tuple(found)
    return None


def _predicate(scene: Scene, named: Sequence[Entity | Option]) -> str:
    """The question without what it compares."""
    text = scene.question
    for e in sorted(named, key=lambda e: -e.start):
        text = f"{text[: e.start]} {text[e.end :]}"
    return " ".join(regex.sub(r"[?,]|\bor\b", " ", text).split())


def _lifespan(passage: PassageFeatures) -> Value | None:
    born, died = year_of(passage, (), True), death_of(passage)
    if born is None or died is None or died.value <= born.value:
        return None
    return Value(died.value - born.value, died.start, died.end)


def _given(entity: Entity) -> str:
    """The entity as its title writes it, without a bracket; the question's spelling where the
    title differs only by that."""
    if entity.as_asked:
        return entity.text
    title = regex.sub(r"\s*\([^()]*\)\s*$", "", entity.passage.parse.title.replace("_", " "))
    return title.strip() or entity.text


def _by_predicate(scene: Scene, named: Sequence[Entity], predicate: str) -> Ruling:
    """The one whose best sentence is closest to the predicate, and covers more of it; what is
    denied of it answers only a question that denies it too."""
    tokens = tokenize(predicate)
    asked = [t.term for t in tokens if t.surface not in STOP_WORDS and t.surface not in NOT]
    denied = denies(tokens)
    left = [e for e in named if _denied(scene, asked, e.passage) == denied]
    if not left or (denied and not asked):
        return NOTHING
    vectors = scene.view.encode([f"{_given(e)} {predicate}" for e in left])
    scores = []
    for e, vector in zip(left, vectors, strict=True):
        rows = [s.row for s in e.passage.sentences]
        cosine = float((scene.vectors[rows] @ vector).max()) if rows else -1.0
        scores.append(cosine + _covered(scene, asked, e.passage))
    order = sorted(range(len(left)), key=lambda i: -scores[i])
    lead_ = scores[order[0]] - scores[order[1]] if len(order) > 1 else 0.0
    confidence = min(0.9, 0.5 + abs(lead_))
    return Ruling(_given(left[order[0]]), _leads(named), confidence, "choice:predicate")


def _denied(scene: Scene, asked: list[str], passage: PassageFeatures) -> bool:
    """Whether the sentence that states most of what is asked denies it."""
    held = [(sum(stated(asked, s.parse.terms).values()), s) for s in passage.sentences]
    told = max(held, key=lambda h: (h[0], -h[1].row), default=None)
    return told is not None and told[0] > 0 and denied_in(passage, told[1], asked)


def _covered(scene: Scene, asked: list[str], passage: PassageFeatures) -> float:
    wanted = {term: scene.view.idf(term) for term in asked}
    present = passage.parse.title_terms.union(*(s.terms for s in passage.parse.sentences))
    total = sum(wanted.values())
    if not total:
        return 0.0
    return sum(wanted[t] * share for t, share in stated(wanted, present).items()) / total


def _leads(entities: Sequence[Entity]) -> tuple[Place, ...]:
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
