"""One call over everything that both routes found, grounded in what it was shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.errors import BudgetExhausted, RetrieverError
from core.events import Composed, EvidenceChanged, Grounded, RunFinished, Warned
from core.grounding import ground
from core.ports import Deps
from core.steps import Stage, ask, decide, emit, stage
from core.systems.ragx.hint import hint
from core.systems.ragx.packing import PACK, Packing, PackInputs, pack
from core.systems.ragx.ranker import rank
from core.systems.ragx.settings import RANK_DEPTH, RagXSettings
from core.tasks import COMPOSE, AnswerRequest, Reading, Task
from core.types import Citation, Passage


@dataclass(frozen=True, slots=True)
class Found:
    """What the forage loop and the slot chain found."""

    reads: tuple[Passage, ...]
    hops: tuple[Passage, ...]
    surfaced: tuple[Passage, ...]

    @property
    def held(self) -> tuple[str, ...]:
        """Ids that are evidence before the packing, in order."""
        return tuple(dict.fromkeys(p.id for p in (*self.reads, *self.hops)))


def compose_task(settings: RagXSettings) -> Task[AnswerRequest, Reading]:
    """The compose task, with thinking where it is on."""
    return replace(COMPOSE, thinking_tokens=settings.thinking_tokens)


def compose_tokens(
    deps: Deps, question: str, passages: Iterable[Passage], settings: RagXSettings
) -> int:
    """Most tokens that composing over these passages takes, the longest reply included."""
    task = compose_task(settings)
    request = AnswerRequest(question=question, passages=tuple(passages), hint=hint(question))
    return deps.reasoner.tokens_in(task, request) + task.max_tokens_out + task.thinking_tokens


@stage("compose")
def compose(deps: Deps, question: str, found: Found, settings: RagXSettings) -> Stage[None]:
    """Pack, answer, ground, and end the run.

    Raises:
        BudgetExhausted: not one passage fits.
        ReasonerError: the composer failed.
    """
    deps.ledger.release()
    ranked = yield from _ranked(deps, question, bool(found.surfaced), settings)
    texts = {p.id: p for p in (*ranked, *found.surfaced, *found.hops, *found.reads)}
    packing = yield from _pack(deps, question, found, ranked, texts, settings)
    chosen = tuple(p.id for p in packing.passages)
    added = tuple(i for i in chosen if i not in found.held)
    removed = tuple(i for i in found.held if i not in chosen)
    evidence = (*(i for i in found.held if i in chosen), *added)
    composed = Composed(
        passages=packing.passages, trimmed=packing.trimmed, hint=hint(question) if chosen else ""
    )
    if added or removed:
        changed = EvidenceChanged(added=added, removed=removed, reason="packing")
        yield from emit(deps, composed, changed)
    else:
        yield from emit(deps, composed)
    if not chosen:
        if texts:
            need = compose_tokens(deps, question, (), settings) + 1
            left = deps.ledger.left("tokens")
            raise BudgetExhausted("tokens", need, max(0.0, left), stage=deps.stage)
        yield from _abstain(deps, "no_evidence", "Nothing relevant was found.", chosen)
        return
    deps.ledger.require(stage=deps.stage, actions=1)
    deps.ledger.charge(actions=1)
    passages = tuple(texts[i] for i in chosen)
    request = AnswerRequest(question=question, passages=passages, hint=composed.hint)
    reading = yield from ask(deps, compose_task(settings), request)
    text = reading.answer.strip()
    citations = ground(text, passages, reading.supports) if text else ()
    yield from emit(deps, Grounded(grounded=bool(citations), citations=citations))
    if not text:
        reason = "No answer was found in the composed evidence."
        yield from _abstain(deps, "no_answer", reason, evidence)
        return
    yield from _finish(deps, text, citations, evidence)


def _ranked(
    deps: Deps, question: str, held: bool, settings: RagXSettings
) -> Stage[tuple[Passage, ...]]:
    """The question's own ranking; nothing, and that said, where it cannot be had.

    Raises:
        RetrieverError, BudgetExhausted: it cannot be had, and nothing is held either.
    """
    try:
        hits = yield from rank(
            deps,
            question,
            RANK_DEPTH,
            settings,
            parent=None,
            transformation="verbatim",
            rationale="the question's own ranking",
        )
    except (RetrieverError, BudgetExhausted) as error:
        if not held:
            raise
        effect = f"{error.message} What was surfaced stays in its order; there is no backfill."
        yield from emit(deps, Warned(fault=error.reason_code, where=deps.stage, effect=effect))
        return ()
    return tuple(h.passage for h in hits)


def _pack(
    deps: Deps,
    question: str,
    found: Found,
    ranked: tuple[Passage, ...],
    texts: dict[str, Passage],
    settings: RagXSettings,
) -> Stage[Packing]:
    """Decide the packing; once more with a higher overhead if the whole call is larger than its
    parts."""
    empty = compose_tokens(deps, question, (), settings)
    inputs = PackInputs(
        reads=tuple(p.id for p in found.reads),
        hops=tuple(p.id for p in found.hops),
        surfaced=tuple(dict.fromkeys(p.id for p in found.surfaced)),
        ranked=tuple(p.id for p in ranked),
        depth=RANK_DEPTH,
        tokens={
            i: compose_tokens(deps, question, (p,), settings) - empty for i, p in texts.items()
        },
        overhead=empty,
        spent=deps.ledger.usage().tokens,
    )
    while True:
        yield from decide(deps, PACK, inputs, settings)
        packing = pack(inputs, settings)
        passages = [texts[p.id] for p in packing.passages]
        whole = compose_tokens(deps, question, passages, settings)
        if whole <= packing.tokens or not passages:
            return packing
        inputs = inputs.model_copy(update={"overhead": inputs.overhead + whole - packing.tokens})


def _finish(
    deps: Deps, text: str, citations: tuple[Citation, ...], evidence: tuple[str, ...]
) -> Stage[None]:
    yield from emit(
        deps,
        RunFinished(
            terminal="answered",
            branch="compose",
            answer=text,
            grounded=bool(citations),
            citations=citations,
            evidence=evidence,
            usage=deps.ledger.usage(),
            reason="Composed from what the agent read and what the hops found.",
        ),
    )


def _abstain(deps: Deps, branch: str, reason: str, evidence: tuple[str, ...]) -> Stage[None]:
    yield from emit(
        deps,
        RunFinished(
            terminal="abstained",
            branch=branch,
            answer=None,
            grounded=False,
            citations=(),
            evidence=evidence,
            usage=deps.ledger.usage(),
            reason=reason,
        ),
    )
