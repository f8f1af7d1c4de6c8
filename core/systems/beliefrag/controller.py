"""The closed loop of BeliefRAG: measure, update the belief, decide, act."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from core.decisions import Decision
from core.errors import BudgetExhausted, RetrieverError, Terminal
from core.events import BeliefUpdated, DiagnosticsMeasured, QueryIssued, Warned
from core.ports import Deps
from core.steps import Emit, Stage, ask, decide, emit, search, stage
from core.systems.beliefrag.belief import (
    NOTHING_HELD,
    Observation,
    answerability,
    believe,
    diagnostics,
    retrieval_value,
    update,
)
from core.systems.beliefrag.decide import ACT, BeliefInputs
from core.systems.beliefrag.profiles import NEWEST, resolve
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.systems.evidence import NO_EVIDENCE, EvidenceSet, novelty, query_overlap
from core.systems.excerpts import distil
from core.systems.reader import answer, answer_tokens, finish, reserve_answer
from core.tasks import (
    REWRITE,
    VERIFY,
    WRITE_QUERY,
    RewriteRequest,
    VerifyRequest,
    WriteQueryRequest,
)
from core.types import Passage

_ENDS: dict[str, Terminal] = {
    "abstain": "abstained",
    "conflict": "conflict",
    "exhausted": "budget_exhausted",
}
VERIFIER_WINDOW = 8
"""The verifier sees at most this many passages (specification, Diagnostics)."""
EXCERPT = 700
"""Most characters it sees of each: three sentences that are rarely cut, since a value that is
changed at the end of a sentence must still be seen."""


@dataclass(frozen=True, slots=True)
class State:
    """The state at a step: question, evidence, history, and the raw material of the belief."""

    question: str
    evidence: EvidenceSet = NO_EVIDENCE
    observations: tuple[Observation, ...] = ()
    queries: tuple[str, ...] = ()
    rewritten: str | None = None
    unhelpful: tuple[str, ...] = ()
    draft: str = ""
    calibrated: tuple[float, ...] = ()
    novelty: float = 1.0
    pending: Literal["none", "rewrite", "retrieve"] = "none"
    nothing_missing: bool = False
    retriever_down: bool = False

    @property
    def helpful(self) -> EvidenceSet:
        """The evidence without what is flagged: what is read. All of it where all is flagged."""
        kept = self.evidence.without(self.unhelpful)
        return kept if len(kept) else self.evidence


Steer = Callable[[Deps, State, str], Stage[str]]
"""Sees the state and the decided outcome at each decision and says what is done instead; only
probe runs (``evaluation``) steer, and their origin says so."""


def run(
    question: str, deps: Deps, settings: BeliefRAGSettings, steer: Steer | None = None
) -> Iterator[Emit]:
    """Answer a question (specification, section 1)."""
    state = yield from measure(deps, State(question), settings)
    while True:
        reserve_answer(deps, question, state.helpful, settings.evidence_window)
        decision = yield from choose(deps, state, settings)
        outcome = decision.outcome
        if steer is not None:
            outcome = yield from steer(deps, state, outcome)
        if outcome in ("answer", "stop"):
            yield from answer(
                deps,
                question,
                state.evidence,
                settings.evidence_window,
                outcome,
                decision.reason,
                shown=state.helpful,
            )
            return
        if outcome in _ENDS:
            yield from finish(
                replace(deps, stage="decide"),
                _ENDS[outcome],
                outcome,
                state.evidence,
                decision.reason,
            )
            return
        searches = len(state.queries)
        try:
            state = yield from act(deps, outcome, state, settings)
            if len(state.queries) > searches:
                state = yield from measure(deps, state, settings)
        except BudgetExhausted as error:
            if not len(state.evidence):
                raise
            yield from _warn(deps, error.reason_code, error.stage, error.message)
            yield from answer(
                deps,
                question,
                state.evidence,
                settings.evidence_window,
                "budget",
                error.message,
                shown=state.helpful,
            )
            return


def act(deps: Deps, outcome: str, state: State, settings: BeliefRAGSettings) -> Stage[State]:
    """Do what was decided, short of ending the run."""
    if outcome == "verify":
        return (yield from verify(deps, state))
    if outcome == "rewrite":
        return (yield from rewrite(deps, state))
    return (yield from retrieve(deps, state, settings))


@stage("decide")
def choose(deps: Deps, state: State, settings: BeliefRAGSettings) -> Stage[Decision]:
    """Record the raw history and decide from it."""
    return (yield from decide(deps, ACT, decision_inputs(deps, state, settings), settings))


def decision_inputs(deps: Deps, state: State, settings: BeliefRAGSettings) -> BeliefInputs:
    """The raw history that the decision at this state is taken from."""
    usage = deps.ledger.usage()
    query_cost, verify_cost = _step_costs(deps, state, settings)
    return BeliefInputs(
        reasoner=deps.reasoner.name,
        fit=NEWEST,
        observations=state.observations,
        rounds=usage.rounds,
        actions=usage.actions,
        tokens=usage.tokens,
        evidence=len(state.evidence),
        unhelpful=len(state.unhelpful),
        pending=state.pending,
        nothing_missing=state.nothing_missing,
        retriever_down=state.retriever_down,
        retrieve_tokens=query_cost + verify_cost,
        correction_tokens=2 * query_cost + verify_cost,
    )


@stage("measure")
def measure(deps: Deps, state: State, settings: BeliefRAGSettings) -> Stage[State]:
    """Measure the evidence and update the belief: at the start, and after each retrieval."""
    if not len(state.evidence):
        seen = NOTHING_HELD.model_copy(
            update={
                "tokens": deps.ledger.usage().tokens,
                "novelty": state.novelty,
                "calibrated": state.calibrated,
            }
        )
        unhelpful: tuple[str, ...] = ()
        draft = state.draft
    else:
        reserve_answer(deps, state.question, state.helpful, settings.evidence_window)
        passages = excerpts(state)
        reply = yield from ask(
            deps,
            VERIFY,
            VerifyRequest(question=state.question, passages=passages, draft=state.draft or None),
        )
        seen_ids = {p.id for p in passages}
        earlier = tuple(i for i in state.unhelpful if i not in seen_ids)
        flagged = tuple(i for i in dict.fromkeys(reply.unhelpful) if i in seen_ids)
        unhelpful = (*earlier, *flagged)
        if len(flagged) < len(set(reply.unhelpful)):
            yield from _warn(
                deps,
                "unknown_handle",
                deps.stage,
                "The verifier flagged passages it was not shown.",
            )
        draft = reply.draft
        seen = Observation(
            calibrated=state.calibrated,
            support=reply.support,
            conflict=reply.conflict,
            uncertainty=reply.uncertainty,
            gap=reply.gap,
            novelty=state.novelty,
            tokens=deps.ledger.usage().tokens,
        )
    before, _ = believe(state.observations, settings)
    x = diagnostics(seen, settings)
    instantaneous, after, terms = update(before, x, settings)
    answer_model, value_model = resolve(settings, deps.reasoner.name, NEWEST)
    yield from emit(
        deps,
        DiagnosticsMeasured(**x.model_dump()),
        BeliefUpdated(
            before=before,
            instantaneous=instantaneous,
            after=after,
            p_ans=answerability(x, answer_model),
            p_flip=retrieval_value(deps.ledger.usage().rounds, x, after, value_model),
            terms=terms,
        ),
    )
    return replace(
        state,
        observations=(*state.observations, seen),
        unhelpful=unhelpful,
        draft=draft,
    )


def excerpts(state: State) -> tuple[Passage, ...]:
    """What is measured and reworded from: the helpful passages, distilled to what bears on the
    question. Measuring is to cost less than the reading that it may save."""
    return tuple(distil(p, state.question, EXCERPT) for p in state.helpful.window(VERIFIER_WINDOW))


@stage("retrieve")
def retrieve(deps: Deps, state: State, settings: BeliefRAGSettings) -> Stage[State]:
    """Search: the question itself first, later what the evidence-aware query writer asks for."""
    query, parent, transformation, rationale = state.question, None, "verbatim", "the question"
    if state.queries and len(state.evidence):
        written = yield from ask(
            deps,
            WRITE_QUERY,
            WriteQueryRequest(
                question=state.question,
                passages=state.helpful.window(settings.evidence_window),
                previous=state.queries,
            ),
        )
        if written.nothing_missing and state.rewritten is None:
            return replace(state, nothing_missing=True, pending="none")
        query, parent = written.query.strip(), state.rewritten or state.queries[-1]
        transformation, rationale = "bridge" if written.bridge else "follow_up", written.rationale
    if state.queries and query in ("", state.question, state.rewritten):
        query, parent = state.rewritten or state.question, state.queries[-1]
        transformation, rationale = "rewrite", "the query writer adds nothing to it"
    deps.ledger.require(stage=deps.stage, actions=1)
    deps.ledger.charge(actions=1)
    round_ = deps.ledger.usage().rounds + 1
    try:
        hits = yield from search(
            deps,
            query,
            k=settings.top_k,
            channel=settings.channel,
            parent=parent,
            transformation=transformation,
            rationale=rationale,
            overlap=None if parent is None else query_overlap(query, parent),
        )
    except RetrieverError as error:
        if not len(state.evidence):
            raise
        yield from _warn(deps, error.reason_code, error.stage or deps.stage, error.message)
        return replace(state, retriever_down=True, pending="none")
    held = [h.passage for h in state.evidence.held]
    evidence, added, changed = state.evidence.admit(hits, round_, "retrieved")
    if changed is not None:
        yield from emit(deps, changed)
    return replace(
        state,
        evidence=evidence,
        queries=(*state.queries, query),
        rewritten=None,
        calibrated=tuple(hit.calibrated for hit in hits),
        novelty=novelty(added, held),
        pending="none",
    )


@stage("verify")
def verify(deps: Deps, state: State) -> Stage[State]:
    """Begin a correction: prune what the last verification flagged."""
    deps.ledger.charge(actions=1)
    evidence, changed = state.evidence.prune(state.unhelpful, "flagged as unhelpful")
    if changed is not None:
        yield from emit(deps, changed)
    return replace(state, evidence=evidence, unhelpful=(), pending="rewrite")


@stage("rewrite")
def rewrite(deps: Deps, state: State) -> Stage[State]:
    """Reformulate the query; nothing is retrieved here."""
    deps.ledger.charge(actions=1)
    reply = yield from ask(
        deps,
        REWRITE,
        RewriteRequest(
            question=state.question,
            passages=excerpts(state),
            previous=state.queries,
        ),
    )
    if reply.nothing_missing:
        return replace(state, nothing_missing=True, pending="none")
    parent = state.queries[-1] if state.queries else state.question
    yield from emit(
        deps,
        QueryIssued(
            query=reply.query,
            parent=parent,
            transformation=reply.transformation,
            rationale=reply.rationale,
            overlap=query_overlap(reply.query, parent),
        ),
    )
    return replace(state, rewritten=reply.query, pending="retrieve")


def _step_costs(deps: Deps, state: State, settings: BeliefRAGSettings) -> tuple[int, int]:
    """Upper estimates in tokens: of one query-writing call, and of verifying and answering.

    Passages to come are taken to be as long as the longest one held, or 256 tokens.
    """
    window = state.helpful.window(settings.evidence_window)
    shown = answer_tokens(deps, state.question, window)
    longest = max(
        (deps.tokens.count(p.text) + deps.tokens.count(p.title) for p in window), default=256
    )
    after = min(settings.evidence_window, len(window) + settings.top_k)
    verified = min(VERIFIER_WINDOW, len(window) + settings.top_k)
    question = deps.tokens.count(state.question)
    query_cost = shown + sum(deps.tokens.count(q) for q in state.queries)
    verify_cost = 2 * question + (after + verified) * longest + 600
    return query_cost if state.queries else 0, verify_cost if window else question + 300


def _warn(deps: Deps, fault: str, where: str, effect: str) -> Stage[None]:
    yield from emit(deps, Warned(fault=fault, where=where, effect=effect))
