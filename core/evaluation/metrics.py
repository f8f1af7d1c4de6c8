"""Metrics of a run: pure functions over its steps, the question, and the gold passages.

Notation: E is the final evidence (``RunFinished.evidence``), E_t what was held before step t
(the fold of ``EvidenceChanged``), D_t every passage that a retriever had returned before step t,
F_1..F_n the facts of :data:`Gold`. A set X *covers* F_i when it holds one of F_i's passages, and
c(X) is the share of the facts that X covers. A metric whose denominator is empty is ``None``:
it is left out of means, never counted as 0 or 1.
"""

from __future__ import annotations

import itertools
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import TypeAlias

from core.evaluation.questions import Question
from core.events import (
    Called,
    Decided,
    EvidenceChanged,
    PassagesShown,
    QueryIssued,
    Retrieved,
    RunFinished,
    RunStarted,
    Step,
)
from core.ports import TokenCounter
from core.retrieval.tokenizer import terms
from core.tasks import VERIFY, Verification
from core.types import Frozen, Passage, Unit

Gold: TypeAlias = tuple[frozenset[str], ...]
"""One set of passage ids for each fact that is needed; any one of a set bears its fact out."""

SUCCESS = 0.5
"""Token F1 from which an answer counts as right (``task_success``, ``lost_at``, p_ans)."""

CORRECTIVE = frozenset({("beliefrag.act", "verify")})
"""(decider, outcome) of the decisions that begin a correction."""

_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_PUNCTUATION = str.maketrans("", "", string.punctuation)


# --- answers -------------------------------------------------------------------------------


def normalize_answer(text: str) -> str:
    """SQuAD normalisation: lower case, no ASCII punctuation, no articles, single spaces.

    >>> normalize_answer("  The Beatles, (English)  band!")
    'beatles english band'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str | None, answers: Sequence[str]) -> float:
    """1 if the prediction equals any answer after normalisation, else 0.

    A question without answers is one that should not be answered: 1 if nothing was (the
    convention of SQuAD 2). ``None`` and blank text are no answer.
    """
    if not (prediction or "").strip() or not answers:
        return float(not answers and not (prediction or "").strip())
    return float(normalize_answer(prediction or "") in map(normalize_answer, answers))


def token_f1(prediction: str | None, answers: Sequence[str]) -> float:
    """The best, over the answers, of 2PR/(P + R) with P = o/|p|, R = o/|a|.

    p and a are the bags of normalised tokens and o is the size of their intersection as bags;
    where normalisation leaves either empty, 1 if both are. Without answers, or without a
    prediction, as :func:`exact_match`.
    """
    if not (prediction or "").strip() or not answers:
        return exact_match(prediction, answers)
    said = normalize_answer(prediction or "").split()
    return max(_overlap_f1(said, normalize_answer(a).split()) for a in answers)


def _overlap_f1(said: list[str], answer: list[str]) -> float:
    if not said or not answer:
        return float(said == answer)
    overlap = sum((Counter(said) & Counter(answer)).values())
    return 2 * overlap / (len(said) + len(answer))


# --- evidence ------------------------------------------------------------------------------


class EvidenceScores(Frozen):
    """How a set of passages compares with the gold facts."""

    precision: Unit
    recall: Unit
    f1: Unit
    all_gold: bool


def evidence_scores(evidence: Iterable[str], gold: Gold) -> EvidenceScores | None:
    """Precision |{e in E : e in some F_i}|/|E|, recall c(E), their harmonic mean, c(E) = 1.

    Precision of no evidence is 0. ``None`` without gold.
    """
    if not gold:
        return None
    held = set(evidence)
    relevant = held & frozenset().union(*gold)
    precision = len(relevant) / len(held) if held else 0.0
    recall = coverage(held, gold) or 0.0
    total = precision + recall
    return EvidenceScores(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / total if total else 0.0,
        all_gold=recall == 1.0,
    )


def coverage(ids: Set[str], gold: Gold) -> float | None:
    """c(ids): the share of the facts that a set of passages covers; ``None`` without gold."""
    return sum(not fact.isdisjoint(ids) for fact in gold) / len(gold) if gold else None


def evidence_tokens(steps: Sequence[Step], counter: TokenCounter) -> int:
    """Tokens of title and text, summed over the passages of the final evidence."""
    shown = shown_passages(steps)
    held = [shown[i] for i in final_evidence(steps) if i in shown]
    return sum(counter.count(p.title) + counter.count(p.text) for p in held)


# --- what a run holds ----------------------------------------------------------------------


def started(steps: Sequence[Step]) -> RunStarted | None:
    """The run's first event, if it has one."""
    return next((s.event for s in steps if isinstance(s.event, RunStarted)), None)


def finished(steps: Sequence[Step]) -> RunFinished | None:
    """The run's last event, if it has come to it."""
    return next((s.event for s in reversed(steps) if isinstance(s.event, RunFinished)), None)


def final_evidence(steps: Sequence[Step]) -> tuple[str, ...]:
    """Ids of the final evidence E, in order; of what was held last in an unfinished run."""
    end = finished(steps)
    if end is not None:
        return end.evidence
    held: list[str] = []
    for step in steps:
        if isinstance(step.event, EvidenceChanged):
            held = _after(held, step.event)
    return tuple(held)


def shown_passages(steps: Sequence[Step]) -> dict[str, Passage]:
    """Every passage whose text the run brought, by id."""
    return {
        passage.id: passage
        for step in steps
        if isinstance(step.event, PassagesShown)
        for passage in step.event.passages
    }


def retrieved(steps: Sequence[Step]) -> frozenset[str]:
    """Ids of every passage that came out of a retriever, by search, read or neighbourhood."""
    return frozenset(i for step in steps for i in returned(step))


def returned(step: Step) -> Iterator[str]:
    """Ids of the passages that a retriever returned at this step."""
    if isinstance(step.event, Retrieved):
        yield from (hit.id for hit in step.event.passages)
    elif isinstance(step.event, PassagesShown):
        yield from (passage.id for passage in step.event.passages)


def _after(held: list[str], change: EvidenceChanged) -> list[str]:
    kept = [i for i in held if i not in change.removed]
    return kept + [i for i in change.added if i not in kept]


def _walk(steps: Sequence[Step]) -> Iterator[tuple[Step, frozenset[str], frozenset[str]]]:
    """Each step with E_t and D_t, what was held and what was known before it."""
    held: list[str] = []
    known: set[str] = set()
    for step in steps:
        yield step, frozenset(held), frozenset(known)
        if isinstance(step.event, EvidenceChanged):
            held = _after(held, step.event)
        known.update(returned(step))


# --- trajectories --------------------------------------------------------------------------


def expected_terminal(question: Question) -> str:
    """The terminal that a right run ends in: ``answered`` where the file does not say."""
    return question.expected_terminal or "answered"


def terminal_accuracy(steps: Sequence[Step], question: Question) -> float:
    """1 if the run ended in the expected terminal, else 0."""
    end = finished(steps)
    return float(end is not None and end.terminal == expected_terminal(question))


def task_success(steps: Sequence[Step], question: Question) -> float:
    """1 if the terminal is the expected one and, where that is ``answered``, F1 >= .5."""
    end = finished(steps)
    if end is None or end.terminal != expected_terminal(question):
        return 0.0
    if end.terminal != "answered":
        return 1.0
    return float(token_f1(end.answer, question.answers) >= SUCCESS)


def evidence_coverage(steps: Sequence[Step], gold: Gold) -> float | None:
    """c(D): the share of the facts that the run ever retrieved."""
    return coverage(retrieved(steps), gold)


def unnecessary_retrieval_rate(steps: Sequence[Step], gold: Gold) -> float | None:
    """|{t : step t issues a query and c(E_t) = 1}| / |{t : step t issues a query}|."""
    if not gold:
        return None
    needless = [
        coverage(held, gold) == 1.0
        for step, held, _ in _walk(steps)
        if isinstance(step.event, QueryIssued)
    ]
    return _mean(needless)


def branch_utility(steps: Sequence[Step], gold: Gold) -> float | None:
    """Of the retrievals after the first, the share with c(D_t + returned) > c(D_t)."""
    if not gold:
        return None
    known: frozenset[str] = frozenset()
    gains = []
    for step in steps:
        if isinstance(step.event, Retrieved):
            wider = known | {hit.id for hit in step.event.passages}
            gains.append((coverage(wider, gold) or 0.0) > (coverage(known, gold) or 0.0))
            known = wider
    return _mean(gains[1:])


def duplicate_query_rate(steps: Sequence[Step]) -> float | None:
    """Of the queries after the first, the share whose index terms equal an earlier query's."""
    queries = [tuple(terms(s.event.query)) for s in steps if isinstance(s.event, QueryIssued)]
    return _mean([query in queries[:i] for i, query in enumerate(queries)][1:])


def correction_success(steps: Sequence[Step], gold: Gold) -> float | None:
    """Of the corrections, the share that ends with c(E) above that at its start.

    A correction lasts from a decision in :data:`CORRECTIVE` to the next such decision, or to
    the run's end.
    """
    if not gold:
        return None
    starts = [
        coverage(held, gold) or 0.0
        for step, held, _ in _walk(steps)
        if isinstance(step.event, Decided)
        and (step.event.decider, step.event.outcome) in CORRECTIVE
    ]
    ends = [*starts[1:], coverage(set(final_evidence(steps)), gold) or 0.0]
    return _mean([after > before for before, after in zip(starts, ends, strict=False)])


def verifier_reversals(steps: Sequence[Step]) -> float | None:
    """Of consecutive verifications, the share in which support changes sides of .5."""
    verdicts = [
        Verification.model_validate(s.event.response).support >= 0.5
        for s in steps
        if isinstance(s.event, Called) and s.event.task == VERIFY.name and s.event.error is None
    ]
    return _mean([before != after for before, after in itertools.pairwise(verdicts)])


def policy_violations(steps: Sequence[Step]) -> int:
    """How many passages the run was shown that its access does not allow."""
    start = started(steps)
    if start is None:
        return 0
    return sum(not start.access.allows(p.metadata) for p in shown_passages(steps).values())


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
