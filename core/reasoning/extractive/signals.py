"""What a set of passages shows under a question, as named figures for the fitted verifier."""

from __future__ import annotations

import math

from core.reasoning.extractive.case import Case

ANSWERS_KEPT = 20
"""Entropy is given as a share of that of this many equal answers."""


def signals(case: Case) -> dict[str, float]:
    """Named figures, each finite and about 0 to 2.

    ``chain``: score of the best chain; ``titled``: its links by a title; ``bound``: how far a
    passage says what is asked of the right subject, the most (``Case.bound``);
    ``best``: the best sentence's score; ``p1`` and ``entropy``: of the reader's answers;
    ``in_chain``: whether its best answer stands in the chain; ``choice``: whether the question is
    one of yes or no, or of given options; ``several``: whether it takes several hops;
    ``short``: hops, three at most, beyond the passages of the chain; ``coverage``: idf share of
    the question that the chain states.
    """
    scene, chain, facets, ranked = case.scene, case.chain, case.facets, case.ranked
    sources = {s.passage for s in ranked.best.sources} if ranked.best else set()
    return {
        "chain": chain.score,
        "titled": float(sum(1 for link in chain.links if link.titled)),
        "bound": max(case.bound, default=0.0),
        "best": max((p.pm for p in scene.passages), default=0.0),
        "p1": ranked.p1,
        "entropy": ranked.entropy / math.log(ANSWERS_KEPT),
        "in_chain": float(bool(sources & set(chain.passages))),
        "choice": float(facets.choice),
        "several": float(len(facets.hops) > 1),
        "short": float(max(0, min(len(facets.hops), 3) - len(chain.passages))),
        "coverage": chain.coverage,
    }
