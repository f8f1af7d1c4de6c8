"""How likely a passage is one that the question takes.

A logistic model, fitted on gold passages among the distractors that the questions themselves
retrieve (``benchmarks/fit_relevance.py``; ``relevance.json``).
"""

from __future__ import annotations

from core.reasoning.extractive.case import Case
from core.reasoning.extractive.facets import share_stated
from core.reasoning.extractive.logistic import models


def passage_signals(case: Case) -> list[dict[str, float]]:
    """For each passage, named figures, each about -1 to 2.

    ``best``: its best sentence's score; ``behind``: how far behind the best passage that is;
    ``coverage``: idf share of the question that it states; ``hop``: the most that one of its
    sentences states of a hop; ``in_chain``; ``near``: linked to the best chain; ``title``: share
    of its title that the question holds; ``several``: whether the question takes several hops.
    """
    scene, weave, chain = case.scene, case.weave, case.chain
    joined = {j for i in chain.passages for j in weave.links[i]}
    several = float(len(case.facets.hops) > 1)
    found = []
    for p in scene.passages:
        stems = [s.parse.terms | p.parse.title_terms for s in p.sentences]
        hops = [share_stated(scene, h.terms, t) for h in case.facets.hops for t in stems]
        found.append(
            {
                "best": max(p.pm, 0.0),
                "behind": max(p.p_rel, -1.0),
                "coverage": weave.weigh(weave.passage_stated[p.index]),
                "hop": max(hops, default=0.0),
                "in_chain": float(p.index in chain.passages),
                "near": float(p.index in joined),
                "title": p.title_share,
                "several": several,
            }
        )
    return found


def relevances(case: Case) -> tuple[float, ...]:
    """For each passage, the probability that the question takes it."""
    model = models("relevance")["passage"]
    return tuple(
        model(values) if passage.sentences else 0.0
        for passage, values in zip(case.scene.passages, passage_signals(case), strict=True)
    )
