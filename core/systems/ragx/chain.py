"""The slot chain: ordered sub-questions, each answer put into the next (ragX, "Slot chain")."""

from __future__ import annotations

from dataclasses import dataclass, replace

import regex

from core.errors import AuthenticationFailed, ReasonerError, RetrieverError
from core.events import EvidenceChanged, HopResolved, Warned
from core.ports import Deps
from core.retrieval.tokenizer import terms
from core.steps import Stage, ask, decide, emit, stage
from core.systems.excerpts import distil
from core.systems.ragx.decide import SLOT, SLOTS, SlotInputs
from core.systems.ragx.ranker import rank
from core.systems.ragx.settings import RagXSettings
from core.tasks import DECOMPOSE, HOP_ANSWER, DecomposeRequest, HopRequest
from core.types import Passage, Scored

PRIORITY = 2
"""So many top passages of each hop are kept for the compose call."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A slot chain under way: sub-questions, how far each was filled, answers, passages found."""

    sub_questions: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    priority: tuple[Passage, ...] = ()
    found: tuple[Passage, ...] = ()
    halted: bool = False

    @property
    def done(self) -> int:
        """Hops taken."""
        return len(self.answers)

    def next_question(self) -> str:
        """The next sub-question with earlier answers in its slots; empty after the last.

        A slot whose hop found no answer keeps that hop's question text; a number that is no slot
        of an earlier hop ("the #1 hit") stays as it is written.
        """
        if self.done >= len(self.sub_questions):
            return ""

        def value(slot: regex.Match[str]) -> str:
            n = int(slot[1]) - 1
            if not 0 <= n < self.done:
                return str(slot[0])
            return self.answers[n] or self.filled[n].rstrip("?. ")

        return str(SLOT.sub(value, self.sub_questions[self.done]))

    def repeats(self) -> bool:
        """Whether the next filled sub-question was asked before."""
        asked = [sorted(set(terms(f))) for f in self.filled]
        return sorted(set(terms(self.next_question()))) in asked


@stage("chain")
def decompose(deps: Deps, question: str, settings: RagXSettings) -> Stage[Chain]:
    """Have the question decomposed and check the slots; where it fails, the question itself is
    the one hop, and that is said.

    Raises:
        BudgetExhausted: the call does not fit.
    """
    task = replace(DECOMPOSE, thinking_tokens=settings.thinking_tokens)
    note = ""
    for attempt in (1, 2):
        request = DecomposeRequest(question=question, max_hops=settings.max_hops, note=note)
        try:
            reply = yield from ask(deps, task, request)
        except AuthenticationFailed:
            raise
        except ReasonerError as error:
            yield from _warn(deps, error.reason_code, f"{error.message} {_UNDECOMPOSED}")
            return Chain((question,))
        parts = tuple(s.strip() for s in reply.sub_questions)
        inputs = SlotInputs(sub_questions=parts, limit=settings.max_hops, attempt=attempt)
        decision = yield from decide(deps, SLOTS, inputs, settings)
        if decision.outcome == "chain":
            return Chain(parts)
        note = decision.reason
    yield from _warn(deps, "invalid_decomposition", decision.reason)
    return Chain((question,))


_UNDECOMPOSED = "The question is taken as one hop."


@stage("chain")
def hop(deps: Deps, chain: Chain, settings: RagXSettings) -> Stage[Chain]:
    """Resolve the next hop: retrieve for it, distil, ask for its answer.

    A failing retriever or reasoner leaves the answer empty, which is said.

    Raises:
        BudgetExhausted: the search or the call does not fit.
    """
    filled = chain.next_question()
    number = chain.done + 1
    deps.ledger.require(stage=deps.stage, actions=1)
    hits: tuple[Scored, ...] = ()
    try:
        hits = yield from rank(
            deps,
            filled,
            settings.hop_k,
            settings,
            parent=chain.filled[-1] if chain.filled else None,
            transformation="hop",
            rationale=f"hop {number} of {len(chain.sub_questions)}",
        )
    except RetrieverError as error:
        yield from _warn(deps, error.reason_code, f"{error.message} Hop {number} has no passages.")
    deps.ledger.charge(actions=1)
    passages = tuple(h.passage for h in hits)
    answer = yield from _answer(deps, filled, passages, settings)
    if not answer and number < len(chain.sub_questions):
        effect = f"Hop {number} found no answer; its question text stands in its slot."
        yield from _warn(deps, "empty_hop", effect)
    known = {p.id for p in chain.priority}
    kept = tuple(p for p in passages[:PRIORITY] if p.id not in known)
    resolved = HopResolved(
        hop=number,
        sub_question=chain.sub_questions[chain.done],
        filled=filled,
        passages=tuple(p.id for p in passages),
        answer=answer,
    )
    if kept:
        changed = EvidenceChanged(added=tuple(p.id for p in kept), reason=f"hop {number}")
        yield from emit(deps, resolved, changed)
    else:
        yield from emit(deps, resolved)
    return replace(
        chain,
        filled=(*chain.filled, filled),
        answers=(*chain.answers, answer),
        priority=(*chain.priority, *kept),
        found=(*chain.found, *passages),
    )


def hop_request(question: str, passages: tuple[Passage, ...]) -> HopRequest:
    """What a hop's answer is read from: each passage distilled."""
    return HopRequest(question=question, passages=tuple(distil(p, question) for p in passages))


def _answer(
    deps: Deps, question: str, passages: tuple[Passage, ...], settings: RagXSettings
) -> Stage[str]:
    if not passages:
        return ""
    task = replace(HOP_ANSWER, thinking_tokens=settings.thinking_tokens)
    try:
        reply = yield from ask(deps, task, hop_request(question, passages))
    except AuthenticationFailed:
        raise
    except ReasonerError as error:
        yield from _warn(deps, error.reason_code, error.message)
        return ""
    return " ".join(reply.answer.split())


def _warn(deps: Deps, fault: str, effect: str) -> Stage[None]:
    yield from emit(deps, Warned(fault=fault, where=deps.stage, effect=effect))
