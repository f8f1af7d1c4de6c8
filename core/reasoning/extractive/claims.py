"""Checking claims against passages, by their words and values.

Supported: one sentence, two neighbouring ones, or the best chain states the claim's words, every
name and number included. Contradicted: a passage says the same with another value or the other
way round. All else is unsupported; differently worded contradictions are not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.reasoning.extractive.case import Case, CaseBook
from core.reasoning.extractive.conflict import conflicts
from core.reasoning.extractive.facets import share_stated
from core.reasoning.extractive.features import Scene, capitalised_spans
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.relevance import relevances
from core.retrieval.tokenizer import STOP_WORDS, Token, tokenize
from core.tasks import ClaimVerdict, ClaimVerdicts
from core.types import Passage

STATED = 0.75
STATED_BY_CHAIN = 0.85
STATED_BUT_VALUE = 0.7
SHORT = 4
"""A claim of no more content words than this is a bare answer."""
LEAST_RELEVANCE = 0.2
"""A bare answer counts as supported in a passage that the question takes at least so likely."""
MOST_PASSAGES = 8
_MODALS = frozenset(["may", "might", "must", "shall", "also"])
_NEGATIONS = frozenset(
    ["not", "no", "never", "cannot", "without", "neither", "nor", "dont", "doesnt", "didnt",
     "isnt", "arent", "wasnt", "werent", "cant", "couldnt", "wont", "hasnt", "havent", "hadnt"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim read: its content stems, those of its names, its figures, and whether it denies."""

    text: str
    terms: frozenset[str]
    names: frozenset[str]
    figures: frozenset[str]
    denies: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """A stretch of a passage: its index, tokens, and stems with those of the title."""

    passage: int
    tokens: Sequence[Token]
    stems: frozenset[str]

    @property
    def denies(self) -> bool:
        return any(t.surface in _NEGATIONS for t in self.tokens)

    @property
    def figures(self) -> frozenset[str]:
        return _figures(self.tokens)


def check_claims(case: Case, claims: tuple[str, ...], book: CaseBook) -> ClaimVerdicts:
    """One verdict for each claim, in order; at most 8 passages to a verdict."""
    return ClaimVerdicts(
        verdicts=tuple(_verdict(case, i, _read(claim), book) for i, claim in enumerate(claims))
    )


def _read(text: str) -> _Claim:
    tokens = tokenize(text)
    names = frozenset(
        t.term
        for span in capitalised_spans(text, tokens)
        if span.first > 0 or span.last - span.first > 1 or len(tokens) <= SHORT
        for t in tokens[span.first : span.last]
        if t.surface not in STOP_WORDS
    )
    content = frozenset(t.term for t in tokens if t.surface not in STOP_WORDS | _MODALS)
    return _Claim(
        text, content, names, _figures(tokens), any(t.surface in _NEGATIONS for t in tokens)
    )


def _figures(tokens: Sequence[Token]) -> frozenset[str]:
    numerals = words("numbers", "words")
    return frozenset(t.term for t in tokens if t.surface[0].isdigit() or t.surface in numerals)


def _verdict(case: Case, index: int, claim: _Claim, book: CaseBook) -> ClaimVerdict:
    scene = case.scene
    if not claim.terms or not scene.sentences:
        return _said(case, index, "unsupported", [], "there is nothing to compare")
    if len(claim.terms) <= SHORT and not claim.denies:
        return _bare(case, index, claim)
    against = _contradicting(case, claim, book)
    if against:
        return _said(case, index, "contradicted", against, "a passage gives another value")
    denied = []
    for place in _places(scene):
        if not (claim.names | claim.figures) <= place.stems:
            continue
        if share_stated(scene, claim.terms, place.stems) < STATED:
            continue
        if place.denies == claim.denies:
            return _said(case, index, "supported", [place.passage], "a passage states it")
        denied.append(place.passage)
    if denied:
        return _said(case, index, "contradicted", denied, "a passage says the opposite")
    chain = case.chain.passages
    stems = frozenset[str]().union(*(_passage_stems(scene, i) for i in chain))
    if (
        len(chain) > 1
        and not claim.denies
        and (claim.names | claim.figures) <= stems
        and share_stated(scene, claim.terms, stems) >= STATED_BY_CHAIN
    ):
        return _said(case, index, "supported", list(chain), "linked passages state it together")
    return _said(case, index, "unsupported", [], "no passage states all of it")


def _bare(case: Case, index: int, claim: _Claim) -> ClaimVerdict:
    """A bare answer: it stands, word for word, in a passage that the question takes."""
    wanted = f" {' '.join(t.surface for t in tokenize(claim.text))} "
    holding = [
        p.index
        for p, relevance in zip(case.scene.passages, relevances(case), strict=True)
        if relevance >= LEAST_RELEVANCE
        and (
            wanted in f" {' '.join(t.surface for t in p.parse.tokens)} "
            or wanted in f" {' '.join(t.surface for t in p.parse.title_tokens)} "
        )
    ]
    if holding:
        return _said(case, index, "supported", holding, "a passage on the question has it")
    return _said(case, index, "unsupported", [], "no passage on the question has it")


def _contradicting(case: Case, claim: _Claim, book: CaseBook) -> list[int]:
    """Passages that say the claim with another value."""
    scene = case.scene
    passages = [p.passage for p in scene.passages]
    said = Passage(id="claim", document="claim", title="", text=claim.text, end=len(claim.text))
    beside = book.case(claim.text, (said, *passages)).scene
    found = {
        other.passage - 1
        for conflict in conflicts(beside)
        for one, other in (
            (conflict.first, conflict.second),
            (conflict.second, conflict.first),
        )
        if one.passage == 0
    }
    if len(claim.figures) == 1:
        bare = claim.terms - claim.figures
        for place in _places(scene, pairs=False):
            if place.denies != claim.denies or not claim.names <= place.stems:
                continue
            others = place.figures - claim.figures
            if not others or claim.figures & _passage_stems(scene, place.passage):
                continue
            if share_stated(scene, bare, place.stems) >= STATED_BUT_VALUE:
                found.add(place.passage)
    return sorted(found)


def _places(scene: Scene, pairs: bool = True) -> Iterator[_Place]:
    """Every sentence, and every two neighbouring sentences of a passage."""
    for p in scene.passages:
        tokens, title = p.parse.tokens, p.parse.title_terms
        spans = [s.parse for s in p.sentences]
        for s in spans:
            yield _Place(p.index, tokens[s.first : s.last], s.terms | title)
        for one, other in pairwise(spans) if pairs else ():
            stems = one.terms | other.terms | title
            yield _Place(p.index, tokens[one.first : other.last], stems)


def _passage_stems(scene: Scene, index: int) -> frozenset[str]:
    p = scene.passages[index]
    return p.parse.title_terms.union(*(s.parse.terms for s in p.sentences))


def _said(
    case: Case,
    index: int,
    verdict: str,
    passages: list[int],
    reason: str,
) -> ClaimVerdict:
    ids = [case.scene.passages[i].passage.id for i in dict.fromkeys(passages)]
    return ClaimVerdict.model_validate(
        {
            "index": index,
            "verdict": verdict,
            "passage_ids": tuple(ids[:MOST_PASSAGES]),
            "reason": reason,
        }
    )
