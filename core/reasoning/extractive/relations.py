"""Relation words that may stand for each other: "spouse" is said by "married" and by "wed".

The groups of the lexicon that the reader uses, and further ones that only judging the evidence
needs. Any word of a group may state the relation that another of them asks for; comparison is by
stem, and a word may be in several groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import cache

from core.reasoning.extractive.lexicon import synonym_groups, synonyms
from core.retrieval.tokenizer import fold, stem

SYNONYM_WEIGHT = 0.8
"""Share of a word's weight that a related word covers: it may mean something else."""

_GROUPS = (
    "screenwriter screenplay script scripted scriptwriter wrote written scenario",
    "author book poet playwright wrote",
    "score scored soundtrack composer composed composition",
    "performer artist band musician recorded",
    "drummer drums drummed drumming drum percussion percussionist",
    "guitarist guitar guitars",
    "bassist bass",
    "frontman singer vocalist vocals",
    "set launched founded founder cofounder cofounded started",
    "designer designed devised creator architect",
    "birthplace hometown birth",
    "murdered assassinated shot death",
    "buried burial grave tomb cemetery interred",
    "mother mothered mum wife",
    "child children eldest youngest son daughter",
    "sibling twin",
    "alma university college school trained doctorate graduated studied attended",
    "employer employed joined worked",
    "citizen citizenship nationality national country",
    "located lies stands found site near",
    "capital seat",
    "office based headquarters",
    "populous census population",
    "adjoins boundary border neighbouring",
    "member members belongs belong joined membership",
    "party politician political",
    "charge ruler led minister president",
    "subsidiary parent owned",
    "label signed released records",
    "issued appeared release",
    "award awards awarded won win prize prizes honour honor medal medals oscar nominated",
    "sport sports game footballer player plays",
    "team club side plays played squad",
    "position plays played striker goalkeeper midfielder quarterback",
    "language languages speak speaks spoken tongue",
    "religion faith church religious",
    "eponym alias nickname",
    "abolished disbanded split dissolved",
    "inaugurated opened",
    "elevation altitude tall",
    "area size square hectares acres",
    "river flows stream tributary",
    "airport airfield",
    "sequel followed",
    "genre style",
    "aircraft plane airplane",
    "film movie picture",
    "ancestor descendant descended",
    "broadcast broadcasts aired airs channel network station televised",
    "constructed construction erected built",
    "distributed distributor distribution",
    "cause caused causes due because",
    "teach taught",
    "give gave given",
    "take took taken",
    "sing sang sung",
    "win won",
    "lead led",
    "sell sold",
    "buy bought",
    "build built",
    "hold held",
    "speak spoke spoken",
    "begin began begun",
    "fall fell fallen",
    "lose lost",
    "pay paid",
    "make made",
    "meet met",
    "send sent",
    "choose chose chosen",
    "draw drew drawn",
    "drive drove driven",
    "fly flew flown",
    "grow grew grown",
    "keep kept",
    "ride rode ridden",
    "shoot shot",
    "steal stole stolen",
    "throw threw thrown",
    "wear wore worn",
    "catch caught",
    "fight fought",
    "bring brought",
    "break broke broken",
    "sink sank sunk",
    "swim swam swum",
)


@cache
def _table() -> dict[str, frozenset[str]]:
    table = {term: set(others) | {term} for term, others in synonyms().items()}
    for group in _GROUPS:
        stems = {stem(fold(word)) for word in group.split()}
        for one in stems:
            table.setdefault(one, set()).update(stems)
    return {one: frozenset(others - {one}) for one, others in table.items()}


def related(term: str) -> frozenset[str]:
    """Stems that may state what the stem ``term`` asks for, without itself."""
    return _table().get(term, frozenset())


@cache
def _spoken() -> dict[str, tuple[str, ...]]:
    spoken: dict[str, dict[str, str]] = {}
    for group in (*synonym_groups(), *(group.split() for group in _GROUPS)):
        stems = {stem(fold(word)): word for word in reversed(group)}
        for one in stems:
            others = spoken.setdefault(one, {})
            for other in (stem(fold(word)) for word in group):
                if other != one:
                    others.setdefault(other, stems[other])
    return {one: tuple(others.values()) for one, others in spoken.items()}


def other_words(term: str) -> tuple[str, ...]:
    """Words that may state what the stem asks for, one for each stem, the nearest group first.

    >>> other_words("spous")[:3]
    ('married', 'wed', 'wife')
    """
    return _spoken().get(term, ())


def is_relation(term: str) -> bool:
    """Whether the stem is in the table."""
    return term in _table()


def stated(asked: Iterable[str], present: Set[str]) -> dict[str, float]:
    """Which asked stems the present ones state: 1 for the stem itself, less for a related one.

    >>> stated(["spous", "actor"], {"wed"})
    {'spous': 0.8}
    """
    found = {}
    for term in asked:
        if term in present:
            found[term] = 1.0
        elif not related(term).isdisjoint(present):
            found[term] = SYNONYM_WEIGHT
    return found
