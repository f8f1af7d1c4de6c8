"""Judging the evidence held: support, conflict, uncertainty, gap, and what may be dropped.

Support is the chance that every passage the question takes is held, gap the expected share of
them that is not, uncertainty the chance that the reader's answer is wrong: three logistic models
over ``signals``, fitted on states of the development questions (``benchmarks/fit_verifier.py``;
coefficients and provenance in ``verify.json``). Conflict is the strongest contradiction found.
"""

from __future__ import annotations

from core.reasoning.extractive.case import Case
from core.reasoning.extractive.conflict import Conflict, conflicts
from core.reasoning.extractive.facets import ASKING
from core.reasoning.extractive.logistic import models
from core.reasoning.extractive.signals import signals
from core.reasoning.extractive.unhelpful import unhelpful
from core.tasks import Verification

MOST_MISSING = 6
UNSAID_SUPPORT, UNSAID_GAP = 0.5, 0.3
"""Where no sentence says what a question of several hops asks of the right subject
(``Case.bound``), support is at most this share less, and the gap is at least this."""
STATED = 0.5
"""A facet counts as said where one place states at least this share of it."""


def verification(case: Case) -> Verification:
    """The verdict on the evidence. No sentence held: S = C = 0, U = G = 1.

    ``unhelpful`` is in the order of the passages; ``conflicting`` too; ``missing`` names what is
    not said, the most telling first.
    """
    scene = case.scene
    if not scene.sentences:
        return Verification(
            support=0.0, conflict=0.0, uncertainty=1.0, gap=1.0, missing=missing(case)
        )
    values = signals(case)
    fitted = models("verify")
    unsaid = _unsaid(case, values)
    found = conflicts(scene)
    best = case.ranked.best
    answering = {source.passage for source in best.sources} if best else set()
    disputed = {c.first.passage for c in found} | {c.second.passage for c in found}
    ids = [p.passage.id for p in scene.passages]
    dropped = unhelpful(case.weave, case.chain, answering | disputed)
    return Verification(
        support=_support(values, unsaid),
        conflict=max((c.strength for c in found), default=0.0),
        uncertainty=fitted["wrong"](values),
        gap=max(fitted["gap"](values), UNSAID_GAP * unsaid),
        unhelpful=tuple(ids[i] for i in dropped),
        conflicting=tuple(ids[i] for i in sorted(disputed)),
        missing=(*missing(case), *(_disputed(c) for c in found[:1]))[:MOST_MISSING],
        draft=best.text if best else "",
    )


def support(case: Case) -> float:
    """S alone, without what else a verdict takes."""
    values = signals(case)
    return _support(values, _unsaid(case, values)) if case.scene.sentences else 0.0


def _unsaid(case: Case, values: dict[str, float]) -> float:
    """How far no sentence says of the right subject what a question of several hops asks."""
    several = len(case.facets.hops) > 1 and not case.facets.choice
    return 1.0 - values["bound"] if several else 0.0


def _support(values: dict[str, float], unsaid: float) -> float:
    return models("verify")["support"](values) * (1.0 - UNSAID_SUPPORT * unsaid)


def missing(case: Case) -> tuple[str, ...]:
    """What the question requires and the best chain does not say, in the question's words.

    Names first, then what is asked in the end, then other words, the rarest first. What is asked
    counts as unsaid where no sentence says it of the right subject (``Case.bound``).
    """
    scene, asked = case.scene, case.facets.asked
    covered = case.chain.covered
    if max(case.bound, default=0.0) < STATED:
        covered -= asked
    found: list[str] = []
    for name, stems in case.facets.names:
        weight = sum(scene.terms[t] for t in stems)
        if sum(scene.terms[t] for t in stems & covered) < STATED * weight:
            found.append(name)
    named = frozenset[str]().union(*(stems for _, stems in case.facets.names))
    words = {t.term: t.surface for t in reversed(scene.tokens)}
    bare = [t for t in scene.terms if t not in covered | named and words[t] not in ASKING]
    found += [words[t] for t in sorted(bare, key=lambda t: (t not in asked, -scene.terms[t]))]
    return tuple(word[:4_000] for word in dict.fromkeys(found))[:MOST_MISSING]


def _disputed(conflict: Conflict) -> str:
    one, other = conflict.values[0]
    return f"which is right: {one} or {other}"
