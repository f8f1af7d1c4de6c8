"""What a comparative asks for or states: which quantity, and which end of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from core.reasoning.extractive.lexicon import quantity_table, table, words
from core.reasoning.extractive.relations import related
from core.retrieval.tokenizer import STOP_WORDS, Token, fold, stem

MORE = frozenset(["more", "most", "greater", "greatest", "many"])
LESS = frozenset(["less", "least", "fewer", "fewest"])
DEGREES = MORE | LESS
COPULAS = frozenset(["is", "are", "was", "were", "be", "been", "s"])
NOT = frozenset(
    "not no never none without cannot neither nor lacks lack isn aren wasn weren doesn don didn "
    "isnt arent wasnt werent doesnt dont didnt hasnt havent hadnt cant couldnt wont".split()
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One quantity and the end of it that is meant.

    ``measures``: those that a value of it may have, in order, with -1 where the smaller value has
    more of it; ``("", 1)``: things counted, or a value of any measure. ``cues``: stems that stand
    beside such a value; ``counted``: a value counts in that the cue follows it.
    """

    name: str
    more: bool
    measures: tuple[tuple[str, int], ...] = ()
    cues: frozenset[str] = frozenset()
    counted: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    comparison: Comparison
    plain: bool


def _measures(raw: str) -> tuple[tuple[str, int], ...]:
    return tuple((m.lstrip("-"), -1 if m.startswith("-") else 1) for m in raw.split())


def _stems(raw: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in raw.split())


@cache
def _lexicon() -> dict[str, tuple[_Word, ...]]:
    found: dict[str, list[_Word]] = {}
    for row in quantity_table():
        for key, more, plain in (
            ("more", True, False),
            ("less", False, False),
            ("high", True, True),
            ("low", False, True),
        ):
            for word in row[key].split():
                told = Comparison(
                    row["name"], more, _measures(row["measures"]), _stems(row["cues"])
                )
                found.setdefault(word, []).append(_Word(told, plain))
    return {word: tuple(entries) for word, entries in found.items()}


@cache
def dimension_words() -> frozenset[str]:
    """Plain adjectives that tell what a value before them is of: "40 m *wide*"."""
    return frozenset(word for word, found in _lexicon().items() if any(w.plain for w in found))


def comparisons(tokens: Sequence[Token], at: int) -> tuple[Comparison, ...]:
    """What the token at ``at`` compares, with the words after it; empty for no comparative.

    A word may compare several quantities ("shorter"). "less expensive" is the low end of a price,
    "fewer members" that of a count, "a larger area" the high end of an area.
    """
    surface = tokens[at].surface
    entries = _lexicon().get(surface, ())
    after = tokens[at + 1 : at + 4]
    following = after[0] if after else None
    if surface in DEGREES and following is not None:
        plain = [w.comparison for w in _lexicon().get(following.surface, ()) if w.plain]
        if plain and surface not in ("greater", "greatest", "many"):
            return tuple(_towards(c, c.more == (surface in MORE)) for c in plain)
    more = surface in MORE or any(w.comparison.more for w in entries if not w.plain)
    noun = _noun(after)
    if surface in DEGREES or (noun and any(not w.plain for w in entries)):
        if surface in DEGREES and noun is not None and _is_adjective(tokens, at):
            return (Comparison(f"as {noun.term}", more),)
        if noun is not None and (surface in DEGREES or noun.surface in table("compared_nouns")):
            return (_of_noun(noun, more),)
        if surface in DEGREES and noun is None:
            return (_of_verb(tokens, at, more),)
    found = tuple(w.comparison for w in entries if not w.plain)
    alone = at > 0 and tokens[at - 1].surface in COPULAS
    alone = alone and all(t.surface in STOP_WORDS for t in tokens[at + 1 :])
    if not found and alone and surface.endswith("er"):
        return (Comparison(f"{OTHER}{surface}", True),)
    return found


OTHER = "quality "
"""What a comparative of no known quantity begins its name with: only sentences can tell of it."""


def _is_adjective(tokens: Sequence[Token], at: int) -> bool:
    """Whether what follows "more" is an adjective: "is more dangerous"."""
    return at > 0 and tokens[at - 1].surface in COPULAS


def _towards(c: Comparison, more: bool) -> Comparison:
    return Comparison(c.name, more, c.measures, c.cues, c.counted)


def _noun(after: Sequence[Token]) -> Token | None:
    """The thing compared, right after the comparative or behind an adjective."""
    known = [t for t in after[:2] if t.surface in table("compared_nouns")]
    if known:
        return known[0]
    stop = STOP_WORDS | words("grammar", "prepositions")
    run: list[Token] = []
    for token in after:
        if token.surface in stop:
            break
        run.append(token)
    if run and run[0].surface in table("amounts"):
        return run[0]
    plural = [t for t in run[:2] if t.surface.endswith("s") and not t.surface.endswith("ss")]
    return plural[0] if plural else run[0] if run else None


def _of_noun(noun: Token, more: bool) -> Comparison:
    measure = table("compared_nouns").get(noun.surface) or table("amounts").get(noun.surface)
    cues = frozenset([noun.term]) | related(noun.term)
    if measure:
        return Comparison(noun.surface, more, _measures(measure), cues)
    return Comparison(f"count {noun.term}", more, (("", 1),), cues, counted=True)


def _of_verb(tokens: Sequence[Token], at: int, more: bool) -> Comparison:
    """ "costs less", "weighs more", "holds more": what is compared is the verb's."""
    paid = [table("amount_verbs")[t.surface] for t in tokens if t.surface in table("amount_verbs")]
    if paid:
        name = {"money": "price", "mass": "weight"}[paid[0]]
        row = next(r for r in quantity_table() if r["name"] == name)
        return Comparison(name, more, _measures(row["measures"]), _stems(row["cues"]))
    before = [t for t in tokens[:at] if t.surface not in STOP_WORDS][-1:]
    cues = frozenset(t.term for t in before)
    name = "amount " + " ".join(sorted(cues))
    return Comparison(name, more, (("any", 1),), cues | frozenset().union(*map(related, cues)))


def asked_of(tokens: Sequence[Token]) -> tuple[Comparison, ...]:
    """What the first comparative among the tokens of a question compares."""
    for at in range(len(tokens)):
        found = comparisons(tokens, at)
        if found:
            return found
    return ()
