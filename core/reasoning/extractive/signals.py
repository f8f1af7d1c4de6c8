"""What a set of passages shows under a question, as named figures for the fitted verifier."""

from __future__ import annotations

import math
from collections.abc import Iterable

from core.reasoning.extractive.chain import Chain, Weave
from core.reasoning.extractive.facets import Facets, share_stated
from core.reasoning.extractive.reading import RankedAnswers

ANSWERS_KEPT = 20
"""Entropy is given as a share of that of this many equal answers."""


def signals(weave: Weave, chain: Chain, facets: Facets, ranked: RankedAnswers) -> dict[str, float]:
    """Named figures, each finite and about 0 to 2.

    ``chain``: score of the best chain; ``coverage``: idf share of the question it states;
    ``asked``: the most that one of its sentences states of what is asked in the end; ``asked_on``:
    the same, only in the passages after the first; ``titled``: links by a title; ``linked``: links;
    ``short``: hops that the question takes beyond the chain's passages; ``hop_least`` and
    ``hop_mean``: the most that one sentence of the chain states of a hop, least and mean over the
    hops; ``names``: the same for the question's names, mean; ``union``: idf share that all
    passages state; ``best``: the best sentence's score; ``second``: the second passage's;
    ``p1`` and ``entropy``: of the reader's answers; ``in_chain``: whether its best answer stands
    in the chain; ``choice``: whether the question is one of yes or no, or of given options.
    """
    scene = weave.scene
    titles = [p.parse.title_terms for p in scene.passages]
    held = [(s.passage, s.parse.terms | titles[s.passage]) for s in scene.sentences]
    inside = [(p, terms) for p, terms in held if p in chain.passages]

    def most(terms: Iterable[str], passages: Iterable[int]) -> float:
        wanted, among = frozenset(terms), set(passages)
        shares = [share_stated(scene, wanted, stems) for p, stems in inside if p in among]
        return max(shares, default=0.0)

    hops = [most(hop.terms, chain.passages) for hop in facets.hops] or [0.0]
    names = [most(stems, chain.passages) for _, stems in facets.names] or [1.0]
    scores = sorted((p.pm for p in scene.passages), reverse=True)
    everything = frozenset[str]().union(*(terms for _, terms in held))
    sources = {s.passage for s in ranked.best.sources} if ranked.best else set()
    return {
        "chain": chain.score,
        "coverage": chain.coverage,
        "asked": most(facets.asked, chain.passages),
        "asked_on": most(facets.asked, chain.passages[1:]),
        "titled": float(sum(1 for link in chain.links if link.titled)),
        "linked": float(len(chain.links)),
        "short": float(max(0, min(len(facets.hops), 3) - len(chain.passages))),
        "hop_least": min(hops),
        "hop_mean": sum(hops) / len(hops),
        "names": sum(names) / len(names),
        "union": share_stated(scene, scene.asked, everything),
        "best": scores[0] if scores else 0.0,
        "second": scores[1] if len(scores) > 1 else 0.0,
        "p1": ranked.p1,
        "entropy": ranked.entropy / math.log(ANSWERS_KEPT),
        "in_chain": float(bool(sources & set(chain.passages))),
        "choice": float(facets.choice),
    }
