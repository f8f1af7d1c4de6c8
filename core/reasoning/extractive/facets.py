"""What a question requires, part by part: the names it gives, and the hops it takes.

A facet is covered as far as one place in the evidence states its words; the words of the last hop
beside names are what is asked in the end ("spouse" in "the spouse of the actor who ...").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.reasoning.extractive.decompose import sub_questions
from core.reasoning.extractive.features import Scene
from core.reasoning.extractive.lexicon import asking
from core.reasoning.extractive.question import analyse
from core.reasoning.extractive.relations import stated
from core.retrieval.tokenizer import STOP_WORDS, tokenize

_ASKING = """
name kind type sort many much number amount year date time called known which whose whom happened
happen part person people thing title
"""
ASKING = frozenset(_ASKING.split()) | frozenset(asking())
"""Surfaces that say what form the answer has, not what it is about."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A sub-question: its words as index stems without stop words, slots and words that ask."""

    question: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Facets:
    """Names of a question as (text, stems), its hops in order, and the stems asked in the end.

    ``choice``: it asks for yes or no, or for one of given options.
    """

    names: tuple[tuple[str, frozenset[str]], ...]
    hops: tuple[Hop, ...]
    asked: frozenset[str]
    choice: bool = False


def facets_of(scene: Scene) -> Facets:
    """The facets of the scene's question."""
    names: list[tuple[str, frozenset[str]]] = []
    for first, last in _names(scene):
        stems = frozenset(t.term for t in scene.tokens[first:last]) & scene.asked
        if stems:
            text = scene.question[scene.tokens[first].start : scene.tokens[last - 1].end]
            names.append((text, stems))
    hops = tuple(_hop(q) for q in sub_questions(scene.question, scene.view))
    named = frozenset().union(*(stems for _, stems in names))
    asked = (hops[-1].terms - named) & scene.asked
    choice = analyse(scene.question).form != "span"
    return Facets(tuple(names), hops, asked or (scene.asked - named) or scene.asked, choice)


def _names(scene: Scene) -> Iterator[tuple[int, int]]:
    """Token ranges of the names, longest first where they overlap; "A and B" is two names unless
    it is a title or one of its sides is a single word that is no title."""
    edge = 0
    for span in scene.entities:
        if span.first < edge:
            continue
        edge = span.last
        first = span.first
        whole = scene.view.alias_count(span.key) > 0
        for i in range(first + 1, span.last - 1):
            if whole or scene.tokens[i].surface != "and":
                continue
            if _stands(scene, first, i) and _stands(scene, i + 1, span.last):
                yield first, i
                first = i + 1
        yield first, span.last


def _stands(scene: Scene, first: int, last: int) -> bool:
    """Whether the words are a name by themselves: two at least, or a title."""
    key = " ".join(t.surface for t in scene.tokens[first:last])
    return last - first > 1 or scene.view.alias_count(key) > 0


def _hop(question: str) -> Hop:
    terms = frozenset(
        t.term
        for t in tokenize(question.replace("#", " "))
        if t.surface not in STOP_WORDS and t.surface not in ASKING and len(t.surface) > 1
    )
    return Hop(question, terms)


def share_stated(scene: Scene, terms: Iterable[str], present: frozenset[str]) -> float:
    """Idf share of ``terms`` that ``present`` stems state, in [0, 1]; 1 for no terms."""
    wanted = {term: scene.view.idf(term) for term in terms}
    total = sum(wanted.values())
    if not total:
        return 1.0
    return sum(wanted[t] * share for t, share in stated(wanted, present).items()) / total
