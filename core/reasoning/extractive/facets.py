"""What a question requires, part by part: the names it gives, and the hops it takes.

A facet is covered as far as one place in the evidence states its words; the words of the last hop
beside names are what is asked in the end ("spouse" in "the spouse of the actor who ...").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.reasoning.extractive.decompose import sub_questions
from core.reasoning.extractive.features import Scene
from core.reasoning.extractive.question import analyse
from core.reasoning.extractive.relations import stated
from core.retrieval.tokenizer import STOP_WORDS, tokenize

_ASKING = """
name kind type sort many much number amount year date time called known which whose whom happened
happen part person people thing title
"""
ASKING = frozenset(_ASKING.split())
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
    edge = 0
    for span in scene.entities:
        if span.start < edge:
            continue
        edge = span.end
        stems = frozenset(t.term for t in scene.tokens[span.first : span.last]) & scene.asked
        if stems:
            names.append((scene.question[span.start : span.end], stems))
    hops = tuple(_hop(q) for q in sub_questions(scene.question, scene.view))
    named = frozenset().union(*(stems for _, stems in names))
    asked = (hops[-1].terms - named) & scene.asked
    choice = analyse(scene.question).form != "span"
    return Facets(tuple(names), hops, asked or (scene.asked - named) or scene.asked, choice)


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
