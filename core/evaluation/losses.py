"""Where a question was lost, from the run's own steps, and where a system loses to another.

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

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, get_args

from core.evaluation.metrics import (
    SUCCESS,
    Gold,
    coverage,
    expected_terminal,
    final_evidence,
    finished,
    retrieved,
    returned,
    shown_passages,
    started,
    token_f1,
)
from core.evaluation.questions import Question
from core.evaluation.results import Row
from core.evaluation.store import Evaluation
from core.events import Called, Decided, EvidenceChanged, Retrieved, Step
from core.types import Budgets, Count, Frozen, Unit, Usage

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


class Found(Frozen):
    """A gold fact that the losing run never held in the end, and where the other retrieved it.

    ``step`` and ``query`` are of the other run; ``query`` is absent where no search brought it.
    """

    passage_id: str
    title: str
    step: Count
    query: str | None


class Loss(Frozen):
    """A question that system a answered worse than system b.

    ``step`` is the seq, in a's run, of the step at which it was lost, and ``event`` its kind.
    """

    question_id: str
    question: str
    type: str
    hops: int | None
    f1_a: Unit
    f1_b: Unit
    run_a: str
    run_b: str
    lost_at: str
    step: Count
    event: str
    found: tuple[Found, ...]


def losses(evaluation: Evaluation, a: str, b: str) -> list[Loss]:
    """The questions on which a's F1 is below b's, the greatest difference first.

    Raises:
        BadInput: a or b was not evaluated.
    """
    rows_a, rows_b = evaluation.by_question(a), evaluation.by_question(b)
    worse = [(rows_a[q], rows_b[q]) for q in rows_a if q in rows_b and rows_a[q].f1 < rows_b[q].f1]
    worse.sort(key=lambda pair: (pair[0].f1 - pair[1].f1, pair[0].question_id))
    return [_loss(evaluation, row_a, row_b) for row_a, row_b in worse]


def _loss(evaluation: Evaluation, row_a: Row, row_b: Row) -> Loss:
    question = evaluation.questions[row_a.question_id]
    gold = evaluation.gold(question.id)
    steps_a = evaluation.journal.steps(row_a.run_id)
    steps_b = evaluation.journal.steps(row_b.run_id)
    step = lost_step(steps_a, question, gold)
    held = set(final_evidence(steps_a))
    missing = [fact for fact in gold if fact.isdisjoint(held)]
    return Loss(
        question_id=question.id,
        question=question.question,
        type=question.type,
        hops=question.hops,
        f1_a=row_a.f1,
        f1_b=row_b.f1,
        run_a=row_a.run_id,
        run_b=row_b.run_id,
        lost_at=row_a.lost_at,
        step=step.seq,
        event=step.event.kind,
        found=tuple(found for fact in missing if (found := _found(steps_b, fact))),
    )


def _found(steps: Sequence[Step], fact: frozenset[str]) -> Found | None:
    first = next((s for s in steps if not fact.isdisjoint(returned(s))), None)
    if first is None:
        return None
    passage = shown_passages(steps)[min(fact.intersection(returned(first)))]
    searches = (s.event for s in steps if isinstance(s.event, Retrieved))
    query = next((e.query for e in searches if passage.id in {h.id for h in e.passages}), None)
    return Found(passage_id=passage.id, title=passage.title, step=first.seq, query=query)


def lost_step(steps: Sequence[Step], question: Question, gold: Gold) -> Step:
    """The step at which the question was lost; the run's last where no other is to blame.

    ``reader_missed``: the reader's last call. ``pruned``: the removal of a gold fact that the
    final evidence lacks, or the retrieval whose gold was not admitted. ``stopped_too_early`` and
    ``withheld``: the last decision. ``retrieval_missed``: the last retrieval.
    """
    where = lost_at(steps, question, gold)
    blamed: Iterator[Step] = iter(())
    if where == "reader_missed":
        blamed = (s for s in reversed(steps) if _is_call(s, ("answer", "compose")))
    elif where == "pruned":
        held = set(final_evidence(steps))
        lacking = {i for fact in gold if fact.isdisjoint(held) for i in fact}
        removed = (s for s in reversed(steps) if _removes(s, lacking))
        brought = (s for s in steps if lacking.intersection(returned(s)))
        blamed = chain(removed, brought)
    elif where in ("stopped_too_early", "withheld"):
        blamed = (s for s in reversed(steps) if isinstance(s.event, Decided))
    elif where == "retrieval_missed":
        blamed = (s for s in reversed(steps) if isinstance(s.event, Retrieved))
    return next(blamed, steps[-1])


def _is_call(step: Step, tasks: tuple[str, ...]) -> bool:
    return isinstance(step.event, Called) and step.event.task in tasks


def _removes(step: Step, ids: set[str]) -> bool:
    return isinstance(step.event, EvidenceChanged) and not ids.isdisjoint(step.event.removed)


def _another_search_fits(budgets: Budgets, usage: Usage) -> bool:
    """One more round, and an action for it: the answer's own action is already spent."""
    left = {
        name: getattr(budgets, name) - getattr(usage, name)
        for name in ("rounds", "actions", "tokens", "calls", "seconds")
        if getattr(budgets, name) is not None
    }
    return left.pop("rounds", 1) >= 1 and all(amount > 0 for amount in left.values())
