"""The last stage of a run: ask the reader, ground what it says, finish."""

from __future__ import annotations

from core.errors import BudgetExhausted, Terminal
from core.events import Grounded, RunFinished
from core.grounding import ground
from core.ports import Deps
from core.steps import Stage, ask, emit, stage
from core.systems.evidence import EvidenceSet
from core.tasks import ANSWER, AnswerRequest
from core.types import Citation, Passage


def answer_tokens(deps: Deps, question: str, window: tuple[Passage, ...]) -> int:
    """Most tokens that answering from this window takes, the longest reply included."""
    request = AnswerRequest(question=question, passages=window)
    return deps.reasoner.tokens_in(ANSWER, request) + ANSWER.max_tokens_out


def reserve_answer(deps: Deps, question: str, evidence: EvidenceSet, window: int) -> None:
    """Set aside what answering from the evidence held will take, or what is left of it."""
    deps.ledger.release()
    need = answer_tokens(deps, question, evidence.window(window))
    tokens = max(0.0, min(float(need), deps.ledger.left("tokens")))
    deps.ledger.reserve(calls=1, actions=1, tokens=tokens)


@stage("answer")
def answer(
    deps: Deps,
    question: str,
    evidence: EvidenceSet,
    window: int,
    branch: str,
    reason: str,
    unanswered: str = "no_answer",
    shown: EvidenceSet | None = None,
) -> Stage[None]:
    """Answer from the best passages held, as many whole ones as the token budget lets in.

    ``shown`` is the part of the evidence that is read, by default all of it.
    Ends the run: ``answered``, or ``abstained``, by the branch ``unanswered``, when the reader
    finds no answer.

    Raises:
        BudgetExhausted: not even one passage fits.
        ReasonerError: the reader failed.
    """
    deps.ledger.release()
    deps.ledger.require(stage=deps.stage, actions=1, calls=1)
    passages = readable(deps, question, shown or evidence, window)
    if not _fits(deps, question, passages):
        need = answer_tokens(deps, question, passages)
        raise BudgetExhausted("tokens", need, deps.ledger.left("tokens"), stage=deps.stage)
    deps.ledger.charge(actions=1)
    reading = yield from ask(deps, ANSWER, AnswerRequest(question=question, passages=passages))
    text = reading.answer.strip()
    citations = ground(text, passages, reading.supports) if text else ()
    yield from emit(deps, Grounded(grounded=bool(citations), citations=citations))
    if text:
        yield from finish(deps, "answered", branch, evidence, reason, text, citations)
    else:
        yield from finish(
            deps, "abstained", unanswered, evidence, "The reader found no answer in the evidence."
        )


def readable(deps: Deps, question: str, evidence: EvidenceSet, window: int) -> tuple[Passage, ...]:
    """The window's best passages, as many whole ones as the budget lets in, at least one of them.

    What was reserved for the answer is to be released before.
    """
    passages = evidence.window(window)
    while len(passages) > 1 and not _fits(deps, question, passages):
        passages = passages[:-1]
    return passages


def _fits(deps: Deps, question: str, passages: tuple[Passage, ...]) -> bool:
    return deps.ledger.fits(tokens=answer_tokens(deps, question, passages))


def finish(
    deps: Deps,
    terminal: Terminal,
    branch: str,
    evidence: EvidenceSet,
    reason: str,
    text: str | None = None,
    citations: tuple[Citation, ...] = (),
) -> Stage[None]:
    """End the run."""
    yield from emit(
        deps,
        RunFinished(
            terminal=terminal,
            branch=branch,
            answer=text,
            grounded=bool(citations),
            citations=citations,
            evidence=evidence.ids,
            usage=deps.ledger.usage(),
            reason=reason,
        ),
    )
