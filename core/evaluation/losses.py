"""Where a question was lost, from the run's own steps.

The first of these that holds, with G the gold facts, D every passage the run retrieved, E its
final evidence (see ``metrics``):

- ``failed``: the run ended ``failed``, ``incomplete``, ``cancelled``, or not at all.
- ``wrong_terminal``: another terminal than ``answered`` is expected, and it is not the run's.
- ``answered``: nothing was lost. F1 >= .5, or the expected terminal other than ``answered``.
- ``unjudged``: F1 < .5, and the question has no gold to tell why.
- ``withheld``: E covers G, and the run gave no answer.
- ``reader_missed``: E covers G, and the answer given has F1 < .5.
- ``pruned``: D covers G, and E does not: gold was removed, or never admitted.
- ``stopped_too_early``: D does not cover G, and a further search still fitted the budgets
  (a round, and every other limit but the answer's reserve, was left).
- ``retrieval_missed``: D does not cover G, and no further search fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from core.evaluation.metrics import (
    SUCCESS,
    Gold,
    coverage,
    expected_terminal,
    final_evidence,
    finished,
    retrieved,
    started,
    token_f1,
)
from core.evaluation.questions import Question
from core.events import Step
from core.types import Budgets, Usage

LostAt = Literal[
    "failed",
    "wrong_terminal",
    "answered",
    "unjudged",
    "withheld",
    "reader_missed",
    "pruned",
    "stopped_too_early",
    "retrieval_missed",
]
LOST_AT: tuple[LostAt, ...] = get_args(LostAt)

UNDEFINED = frozenset({"failed", "incomplete", "cancelled"})


def lost_at(steps: Sequence[Step], question: Question, gold: Gold) -> LostAt:
    """Where the question was lost; the definitions are the module's."""
    end = finished(steps)
    expected = expected_terminal(question)
    if end is None or end.terminal in UNDEFINED - {expected}:
        return "failed"
    if expected != "answered":
        return "answered" if end.terminal == expected else "wrong_terminal"
    if token_f1(end.answer, question.answers) >= SUCCESS:
        return "answered"
    if not gold:
        return "unjudged"
    if coverage(set(final_evidence(steps)), gold) == 1.0:
        return "reader_missed" if (end.answer or "").strip() else "withheld"
    if coverage(retrieved(steps), gold) == 1.0:
        return "pruned"
    start = started(steps)
    searchable = start is not None and _another_search_fits(start.budgets, end.usage)
    return "stopped_too_early" if searchable else "retrieval_missed"


def _another_search_fits(budgets: Budgets, usage: Usage) -> bool:
    """One more round, and an action for it: the answer's own action is already spent."""
    left = {
        name: getattr(budgets, name) - getattr(usage, name)
        for name in ("rounds", "actions", "tokens", "calls", "seconds")
        if getattr(budgets, name) is not None
    }
    return left.pop("rounds", 1) >= 1 and all(amount > 0 for amount in left.values())
