"""Passages that may be dropped: far behind the best, unlinked, and saying nothing of their own."""

from __future__ import annotations

from collections.abc import Collection

from core.reasoning.extractive.chain import Chain, Weave

FAR_BEHIND = -0.5
MOST_TITLE_SHARE = 0.5
LEAST_OWN_COVERAGE = 0.02


def unhelpful(weave: Weave, chain: Chain, answering: Collection[int]) -> list[int]:
    """Indices of passages that can be dropped, in order; never all of them.

    A passage is unhelpful if all of these hold (findings, "Unhelpful": keeps .98 to 1.0 of gold
    passages, where a plain floor loses 9 to 16%): its best sentence scores more than .5 below the
    best passage's; it is neither in the best chain nor linked to it; the question holds less than
    half of its title; what it alone covers is under .02 of the question; and it does not hold
    the best answer (``answering``).
    """
    scene = weave.scene
    joined = set(chain.passages)
    for i in chain.passages:
        joined |= weave.links[i].keys()
    found = []
    for passage in scene.passages:
        i = passage.index
        if passage.p_rel >= FAR_BEHIND or i in joined or i in answering:
            continue
        if passage.title_share >= MOST_TITLE_SHARE:
            continue
        if _own_coverage(weave, i) < LEAST_OWN_COVERAGE:
            found.append(i)
    return found


def _own_coverage(weave: Weave, index: int) -> float:
    """Idf share of the question that this passage alone of the scene states."""
    others: set[str] = set()
    for i, covered in enumerate(weave.passage_stated):
        if i != index:
            others |= covered.keys()
    mine = weave.passage_stated[index]
    return weave.weigh({t: share for t, share in mine.items() if t not in others})
