"""The choice between options by what the passages say of each: comparisons, values, statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import regex

from core.reasoning.extractive.comparatives import NOT, Comparison, comparisons
from core.reasoning.extractive.comparing import Ruling, Value, valued
from core.reasoning.extractive.features import PassageFeatures, Scene, SentenceFeatures
from core.reasoning.extractive.lexicon import table, words
from core.reasoning.extractive.measured import values
from core.reasoning.extractive.measures import is_interval, measure_of
from core.reasoning.extractive.options import Option, own_words, spoken_of
from core.reasoning.extractive.quantities import Quantity, quantities
from core.reasoning.extractive.relations import stated
from core.retrieval.tokenizer import STOP_WORDS, Token, tokenize

STATED, VALUED, OFFERED, UNSURE = 0.7, 0.7, 0.5, 0.3
"""Confidence of a choice that a sentence states, by values of titles and of what is no title, and
by who is spoken of."""
FOR_LONGER = regex.compile(r"\bfor (?:the )?long(?:er|est)\b", regex.IGNORECASE)
"""What has been so for longer began earlier."""
_CLAUSES = regex.compile(r"[,;:]|\b(?:but|while|whereas|although|though)\b", regex.IGNORECASE)
_SUBJECTS = frozenset(["it", "he", "she", "they", "this", "these"])
_NEAR_THAN = 6
"""Tokens between a comparative and its "than", and from there to what it is compared with."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One of the things compared: how the answer writes it, and its passage if a title names it."""

    option: Option
    answer: str
    passage: PassageFeatures | None = None


Found = tuple[int, Value]
"""A value and the passage that it was read from."""


def spaced_by(surfaces: set[str]) -> bool | None:
    """Whether the longer interval is asked for ("less often"), or the shorter; None: neither."""
    if "interval" in surfaces or "intervals" in surfaces:
        return bool(surfaces & (words("compare", "more") | {"more"}))
    if surfaces & words("compare", "often"):
        return bool(surfaces & {"less", "least", "rarely", "seldom"})
    return None


def best(
    operands: Sequence[Operand], found: Sequence[Found | None], more: bool, name: str
) -> Ruling | None:
    """The operand with the most, or the least, of those that have a value; None where fewer than
    two have one, where they cannot be compared, and where the best are equal."""
    known = [(o, *f) for o, f in zip(operands, found, strict=True) if f is not None]
    if len(known) < 2 or len({v.measure for _, _, v in known}) != 1:
        return None
    ordered = sorted(known, key=lambda k: k[2].value, reverse=more)
    if ordered[0][2].value == ordered[1][2].value:
        return None
    confidence = VALUED if all(o.passage is not None for o, _, _ in known) else OFFERED
    places = tuple((i, v.start, v.end) for _, i, v in known)
    return Ruling(ordered[0][0].answer, places, confidence, name)


def by_value(
    scene: Scene, operands: Sequence[Operand], asked: Sequence[Comparison]
) -> Ruling | None:
    """The choice by the values of what is compared. Where a word compares several quantities
    ("shorter") and they choose differently, there is none."""
    chosen: dict[str, Ruling] = {}
    for wanted in asked:
        read = [_values(scene, o, operands, wanted) for o in operands]
        for measure, _ in wanted.measures:
            ruling = best(operands, [r.get(measure) for r in read], wanted.more, "choice:value")
            if ruling is not None:
                chosen.setdefault(ruling.answer, ruling)
                break
    return next(iter(chosen.values())) if len(chosen) == 1 else None


def _values(
    scene: Scene, operand: Operand, operands: Sequence[Operand], wanted: Comparison
) -> dict[str, Found]:
    p = operand.passage
    found: dict[str, Found] = {}
    if p is not None:
        spans = [(s.start, s.end) for s in p.sentences if not _of_another(p, s, operand, operands)]
        found = {m: (p.index, v) for m, v in values(p, spans, wanted).items()}
    for index, start, end in _told_of(scene, operand, operands):
        for m, v in values(scene.passages[index], [(start, end)], wanted).items():
            found.setdefault(m, (index, v))
    return found


def _told_of(
    scene: Scene, operand: Operand, operands: Sequence[Operand]
) -> Iterator[tuple[int, int, int]]:
    """Where the passages speak of one operand alone: sentences, and of a sentence that names
    several the part from its name to the next one."""
    for s in spoken_of(scene, operand.option, [o.option for o in operands]):
        yield s.passage, s.start, s.end
    names = [_names(o, operands) for o in operands]
    for s in scene.sentences:
        p = scene.passages[s.passage]
        tokens = p.parse.tokens[s.parse.first : s.parse.last]
        surfaces = {t.surface for t in tokens}
        if "than" in surfaces or sum(n <= surfaces for n in names) < 2:
            continue
        starts: dict[int, int] = {}
        for i, name in enumerate(names):
            own = name.difference(*(n for n in names if n != name)) or name
            at = [t.start for t in tokens if t.surface in own]
            if name <= surfaces and at:
                starts[i] = min(at)
        mine = starts.get(operands.index(operand))
        if mine is not None and list(starts.values()).count(mine) == 1:
            yield s.passage, mine, min((x for x in starts.values() if x > mine), default=s.end)


def _of_another(
    p: PassageFeatures, s: SentenceFeatures, operand: Operand, operands: Sequence[Operand]
) -> bool:
    surfaces = {t.surface for t in p.parse.tokens[s.parse.first : s.parse.last]}
    others = [o for o in operands if o is not operand]
    return any(_names(o, operands) <= surfaces for o in others)


def _names(operand: Operand, operands: Sequence[Operand]) -> frozenset[str]:
    others = [o.option.text for o in operands if o is not operand]
    return own_words(operand.option.text, others)


# --- a sentence that states the comparison --------------------------------------------------


def by_statement(
    scene: Scene, operands: Sequence[Operand], asked: Sequence[Comparison]
) -> Ruling | None:
    """The choice that sentences state: "X costs less than Y". Of three or more the one that is
    said, directly or by another, to be before all others; None where sentences disagree."""
    wanted = {c.name: c.more for c in asked}
    over: dict[tuple[int, int], tuple[int, int, int]] = {}
    for s in scene.sentences:
        p = scene.passages[s.passage]
        tokens = p.parse.tokens[s.parse.first : s.parse.last]
        for at, token in enumerate(tokens):
            if token.surface != "than":
                continue
            for than_of in _said(tokens, at, wanted):
                sides = _sides(p, tokens, at, operands)
                if sides is not None:
                    pair = sides if than_of else sides[::-1]
                    over.setdefault(pair, (s.passage, s.start, s.end))
    for b in range(len(operands)):
        for a, c in product(range(len(operands)), repeat=2):
            if (a, b) in over and (b, c) in over:
                over.setdefault((a, c), over[a, b])
    if any((b, a) in over for a, b in over):
        return None
    for a, operand in enumerate(operands):
        places = [over.get((a, b)) for b in range(len(operands)) if b != a]
        if places and all(places):
            kept = tuple(dict.fromkeys(x for x in places if x is not None))
            return Ruling(operand.answer, kept, STATED, "choice:stated")
    return None


def _said(tokens: Sequence[Token], than: int, wanted: dict[str, bool]) -> list[bool]:
    """Whether the comparative before "than" says that its subject is what is asked for; empty
    where it compares something else, or is denied."""
    for at in range(than - 1, max(-1, than - _NEAR_THAN), -1):
        if at and tokens[at - 1].surface in ("more", "less"):
            continue
        found = comparisons(tokens[:than], at)
        if found:
            if NOT & {t.surface for t in tokens[max(0, at - 4) : at]}:
                return []
            agree = {c.more == wanted[c.name] for c in found if c.name in wanted}
            return [next(iter(agree))] if len(agree) == 1 else []
    return []


def _sides(
    p: PassageFeatures, tokens: Sequence[Token], than: int, operands: Sequence[Operand]
) -> tuple[int, int] | None:
    """The operands before and after "than"; a pronoun before it is what the passage is titled."""
    left = [t.surface for t in tokens[:than]]
    right = {t.surface for t in tokens[than + 1 : than + 1 + _NEAR_THAN]}
    names = [_names(o, operands) for o in operands]
    after = [i for i, n in enumerate(names) if n <= right]
    before = [i for i, n in enumerate(names) if n <= set(left) and i not in after]
    if not before and left and left[0] in _SUBJECTS:
        before = [
            i
            for i, o in enumerate(operands)
            if o.passage is not None and o.passage.index == p.index and i not in after
        ]
    return (before[0], after[0]) if len(before) == 1 and len(after) == 1 else None


# --- kinds of things that are larger than others --------------------------------------------


def by_class(operands: Sequence[Operand], asked: Sequence[Comparison]) -> Ruling | None:
    """The larger or smaller by what each is: "trees" and "a flowering plant"."""
    size = next((c for c in asked if c.name == "size"), None)
    if size is None:
        return None
    for scale in table("size_classes").values():
        ranks = {w: -r for r, group in enumerate(scale.split("|")) for w in group.split()}
        found = [_class(o.passage, ranks) for o in operands]
        ruling = best(operands, found, size.more, "choice:class")
        if ruling is not None:
            return Ruling(ruling.answer, ruling.places, UNSURE, ruling.rule)
    return None


def _class(p: PassageFeatures | None, ranks: dict[str, int]) -> Found | None:
    if p is None or not p.parse.sentences:
        return None
    lead = p.parse.sentences[0]
    tokens = p.parse.tokens[lead.first : lead.last]
    verb = next((i for i, t in enumerate(tokens) if t.surface in ("is", "are", "was", "were")), -1)
    for token in tokens[verb + 1 :]:
        rank = ranks.get(token.surface, ranks.get(token.surface.removesuffix("s")))
        if rank is not None:
            return p.index, Value(rank, token.start, token.end, "class")
    return None


# --- what is no title -----------------------------------------------------------------------


def first_values(
    scene: Scene, operands: Sequence[Operand], wanted: Callable[[Quantity, str], bool]
) -> list[Found | None]:
    """For each operand the first wanted value of a sentence that speaks of it."""
    found: list[Found | None] = []
    for operand in operands:
        held = None
        for s in spoken_of(scene, operand.option, [o.option for o in operands]):
            text = scene.passages[s.passage].text
            fitting = [
                q
                for q in quantities(text)
                if s.start <= q.start < s.end and q.value is not None and wanted(q, text)
            ]
            if fitting:
                held = s.passage, valued(fitting[0], text)
                break
        found.append(held)
    return found


def is_date(q: Quantity, text: str) -> bool:
    """Whether it is a whole date."""
    return q.kind == "date" and not q.part


def is_spacing(q: Quantity, text: str) -> bool:
    """Whether it is the time from one event to the next."""
    return q.kind == "number" and measure_of(q.unit)[0] == "time" and is_interval(text, q.start)


def by_mention(scene: Scene, operands: Sequence[Operand], predicate: str) -> Ruling | None:
    """The only one that the sentence nearest to the question speaks of; what is denied of it
    answers a question that denies it too, and no other."""
    offered = [o.option for o in operands]
    asked = {t.term for t in tokenize(predicate) if t.surface not in STOP_WORDS} & scene.asked
    denied = denies(tokenize(predicate))
    held = [
        (s, o)
        for o in operands
        for s in spoken_of(scene, o.option, offered)
        if asked & s.covered and denied_in(scene.passages[s.passage], s, asked) == denied
    ]
    if not held:
        return None
    s, chosen = max(held, key=lambda h: (h[0].s, -h[0].row))
    return Ruling(chosen.answer, ((s.passage, s.start, s.end),), UNSURE, "choice:offered")


def denies(tokens: Iterable[Token]) -> bool:
    """Whether one of the tokens denies what is said."""
    return not NOT.isdisjoint(t.surface for t in tokens)


def denied_in(p: PassageFeatures, s: SentenceFeatures, asked: Iterable[str]) -> bool:
    """Whether the sentence denies what is asked: a word that denies stands before the last asked
    word of its clause that states most of it."""
    tokens = p.parse.tokens[s.parse.first : s.parse.last]
    cuts = [m.start() + s.start for m in _CLAUSES.finditer(p.text[s.start : s.end])]
    clauses: list[list[Token]] = [[] for _ in range(len(cuts) + 1)]
    for token in tokens:
        clauses[sum(cut < token.start for cut in cuts)].append(token)
    wanted = list(asked)
    most, verdict = 0.0, False
    for clause in clauses:
        present = {t.term for t in clause}
        share = sum(stated(wanted, present).values())
        if share <= most:
            continue
        said = [i for i, t in enumerate(clause) if stated(wanted, {t.term})]
        most, verdict = share, denies(clause[: said[-1] + 1] if said else ())
    return verdict
