"""What a set of passages shows under a question, as named figures for the fitted verifier."""

from __future__ import annotations

import math

from core.reasoning.extractive.case import Case
from core.reasoning.extractive.facets import share_stated
from core.retrieval.tokenizer import content_terms

ANSWERS_KEPT = 20
"""Entropy is given as a share of that of this many equal answers."""
LIKELY = 0.5
MOST_SUBJECTS = 3


def signals(case: Case) -> dict[str, float]:
    """Named figures, each finite and about 0 to 2.

    ``chain``: score of the best chain; ``titled``: its links by a title; ``bound``: see ``bound``;
    ``best``: the best sentence's score; ``p1`` and ``entropy``: of the reader's answers;
    ``in_chain``: whether its best answer stands in the chain; ``choice``: whether the question is
    one of yes or no, or of given options; ``several``: whether it takes several hops.
    """
    scene, chain, facets, ranked = case.scene, case.chain, case.facets, case.ranked
    sources = {s.passage for s in ranked.best.sources} if ranked.best else set()
    return {
        "chain": chain.score,
        "titled": float(sum(1 for link in chain.links if link.titled)),
        "bound": bound(case),
        "best": max((p.pm for p in scene.passages), default=0.0),
        "p1": ranked.p1,
        "entropy": ranked.entropy / math.log(ANSWERS_KEPT),
        "in_chain": float(bool(sources & set(chain.passages))),
        "choice": float(facets.choice),
        "several": float(len(facets.hops) > 1),
    }


def bound(case: Case) -> float:
    """The most that one sentence states both of what is asked in the end and of its subject.

    The subject is the answer of the hop before, as read (any that is at least half as probable
    as the best); for a plain question its names. In [0, 1]: the lesser of the two shares.
    """
    scene, facets = case.scene, case.facets
    filled = case.ranked.hops
    if len(filled) > 1:
        answers = case.answers(filled[-2])
        least = LIKELY * max(answers.values(), default=0.0)
        likely = [key for key, p in answers.items() if p >= least][:MOST_SUBJECTS]
        subjects = [frozenset(content_terms(key)) for key in likely]
    else:
        subjects = [frozenset[str]().union(*(stems for _, stems in facets.names))]
    best = 0.0
    for sentence in scene.sentences:
        stems = sentence.parse.terms | scene.passages[sentence.passage].parse.title_terms
        asked = share_stated(scene, facets.asked, stems)
        for subject in subjects if asked > best else ():
            best = max(best, min(asked, share_stated(scene, subject, stems)))
    return best
