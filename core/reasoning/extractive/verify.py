"""Judging the evidence held: support, conflict, uncertainty, gap, and what may be dropped.

Support is the chance that every passage the question takes is held, gap the expected share of
them that is not, uncertainty the chance that the reader's answer is wrong: three logistic models
over ``signals``, fitted on states of the development questions (``benchmarks/fit_verifier.py``;
coefficients and provenance in ``verify.json``). Conflict is the strongest contradiction found.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.ports import Verification
from core.reasoning.extractive.case import Case
from core.reasoning.extractive.conflict import Conflict, conflicts
from core.reasoning.extractive.signals import signals
from core.reasoning.extractive.unhelpful import unhelpful

MOST_MISSING = 6
STATED = 0.5
"""A facet counts as said where one place states at least this share of it."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """sigmoid(intercept + sum of weight x signal)."""

    intercept: float
    weights: dict[str, float]

    def __call__(self, values: dict[str, float]) -> float:
        """The modelled probability, in [0, 1]."""
        z = self.intercept + sum(w * values[name] for name, w in self.weights.items())
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


@cache
def models() -> dict[str, Logistic]:
    """The fitted models: ``support``, ``gap`` and ``wrong``."""
    fitted = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {
        name: Logistic(told["intercept"], told["weights"])
        for name, told in fitted["models"].items()
    }


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
    values = signals(case.weave, case.chain, case.facets, case.ranked)
    fitted = models()
    found = conflicts(scene)
    best = case.ranked.best
    answering = {source.passage for source in best.sources} if best else set()
    disputed = {c.first.passage for c in found} | {c.second.passage for c in found}
    ids = [p.passage.id for p in scene.passages]
    dropped = unhelpful(case.weave, case.chain, answering | disputed)
    return Verification(
        support=fitted["support"](values),
        conflict=max((c.strength for c in found), default=0.0),
        uncertainty=fitted["wrong"](values),
        gap=fitted["gap"](values),
        unhelpful=tuple(ids[i] for i in dropped),
        conflicting=tuple(ids[i] for i in sorted(disputed)),
        missing=(*missing(case), *(_disputed(c) for c in found[:1]))[:MOST_MISSING],
        draft=best.text if best else "",
    )


def missing(case: Case) -> tuple[str, ...]:
    """What the question requires and the best chain does not say, in the question's words."""
    scene, covered = case.scene, case.chain.covered
    found: list[str] = []
    edge = 0
    for span in scene.entities:
        if span.start < edge:
            continue
        edge = span.end
        stems = {t.term for t in scene.tokens[span.first : span.last]} & scene.asked
        said = sum(scene.terms[t] for t in stems & covered)
        if stems and said < STATED * sum(scene.terms[t] for t in stems):
            found.append(scene.question[span.start : span.end])
    named = frozenset[str]().union(*(stems for _, stems in case.facets.names))
    words = {t.term: t.surface for t in reversed(scene.tokens)}
    bare = [t for t in scene.terms if t not in covered and t not in named]
    asked = [t for t in bare if t in case.facets.asked]
    found += [words[t] for t in sorted(asked, key=lambda t: -scene.terms[t])]
    found += [words[t] for t in sorted(bare, key=lambda t: -scene.terms[t]) if t not in asked]
    return tuple(dict.fromkeys(found))[:MOST_MISSING]


def _disputed(conflict: Conflict) -> str:
    one, other = conflict.values[0]
    return f"which is right: {one} or {other}"
