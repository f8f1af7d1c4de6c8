"""A short answer to one hop, from distilled excerpts."""

from __future__ import annotations

from core.reasoning.extractive.case import Case
from core.retrieval.titles import alias_key
from core.tasks import HopAnswer

LEAST_PROBABILITY = 0.05
"""A less probable answer is none: the excerpts do not say."""


def hop_answer(case: Case) -> HopAnswer:
    """The reader's best answer that the question does not name itself; empty for none.

    What a rule answers (yes or no, one of two) is taken as it is.
    """
    ranked = case.ranked
    if ranked.best is None:
        return HopAnswer(answer="")
    if ranked.rule is not None:
        return HopAnswer(answer=ranked.best.text)
    answers = case.answers(case.scene.question)
    best = next(iter(answers), "")
    if not best or answers[best] < LEAST_PROBABILITY:
        return HopAnswer(answer="")
    written = {alias_key(a.text): a.text for a in reversed(ranked.answers)}
    return HopAnswer(answer=written[best])
