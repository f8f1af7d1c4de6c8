"""StateRAG: initial retrieval, bypass, MARS cycles, terminal admission (specification, 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from core.decisions import Decision
from core.errors import BadInput, BudgetExhausted, RetrieverError
from core.events import MemoryOp, Warned
from core.graph import Spread
from core.graph_steps import graph_of, region, spread
from core.memory import MemoryScope
from core.memory_steps import persist, recall
from core.ports import Deps
from core.steps import Emit, Stage, decide, emit, search, stage
from core.systems.reader import answer, answer_tokens, finish, reserve_answer
from core.systems.staterag.bypass import BYPASS, bypass_inputs, words_of
from core.systems.staterag.cycle import cycle
from core.systems.staterag.decide import (
    ABSTAIN,
    ACTION,
    ADMIT,
    REUSE,
    AbstainInputs,
    ActionInputs,
    AdmitInputs,
    Branch,
    ReuseInputs,
)
from core.systems.staterag.memory import Pool, offered, settle, trails
from core.systems.staterag.run import Run, commit, hold
from core.systems.staterag.settings import StateRAGSettings
from core.systems.staterag.state import EvidenceItem, EvidenceValue
from core.tasks import PLAN, VERIFY, WRITE_QUERY

PASSAGE_TOKENS = 256
"""Upper estimate for a passage that was not seen yet."""


def preflight(deps: Deps, settings: StateRAGSettings) -> None:
    """Refuse a corpus without a graph.

    Raises:
        BadInput: there is no typed abstraction memory; the run does not start.
    """
    if deps.graph is None:
        raise BadInput(
            "StateRAG needs the corpus's typed abstraction memory; index the corpus again to "
            "build it."
        )


def run(question: str, deps: Deps, settings: StateRAGSettings) -> Iterator[Emit]:
    """Answer a question."""
    at = yield from initialise(deps, question, settings)
    decision, bypassed = yield from bypass(deps, at, settings)
    if bypassed:
        yield from _end(deps, at, "BYPASS", bypassed, decision.reason, settings)
        return
    while True:
        reserve_answer(deps, question, at.evidence(at.held), len(at.held))
        stopped = False
        try:
            at = yield from cycle(deps, at, settings)
        except BudgetExhausted as error:
            if not at.cycles:
                raise
            stopped = True
            yield from _warn(deps, error.reason_code, error.stage, error.message)
        decision, at = yield from act(deps, at, settings, stopped=stopped)
        if decision.outcome != "REVISE":
            branch = cast(Branch, decision.outcome)
            yield from _end(deps, at, branch, (), decision.reason, settings)
            return


@stage("initial")
def initialise(deps: Deps, question: str, settings: StateRAGSettings) -> Stage[Run]:
    """E0: one retrieval with the question; U: what the pool offers for it."""
    deps.ledger.require(stage=deps.stage, actions=1)
    deps.ledger.charge(actions=1)
    hits = yield from search(
        deps, question, k=settings.top_k, channel=settings.channel, rationale="the question"
    )
    at = Run(question, _pool(deps, settings), initial=hits, queries=(question,))
    at = at.seen(hit.passage for hit in hits)
    if hits:
        found = EvidenceValue(items=tuple(EvidenceItem.of(hit.passage) for hit in hits))
        at = yield from commit(deps, at, "evidence", found)
        at = yield from hold(deps, at, found.ids, "initial retrieval")
    if settings.memory != "shared":
        return at
    recalled = yield from recall(deps, question, lambda kept: offered(question, kept))
    if not recalled:
        return at
    at = replace(at, pool=replace(at.pool, recalled={a.id: a for a in recalled}))
    at = yield from _refresh(deps, at)
    offers = trails(question, at.pool, graph_of(deps).root)
    reuse = yield from decide(deps, REUSE, ReuseInputs(trails=offers), settings)
    chosen = next((t for t in offers if reuse.outcome == f"reuse {t.path}"), None)
    return replace(at, trail=chosen)


def _pool(deps: Deps, settings: StateRAGSettings) -> Pool:
    scope = MemoryScope.of(deps.retriever.corpus, deps.access).key
    return Pool(settings.memory, scope if settings.memory == "shared" else f"isolated {scope}")


@stage("bypass")
def bypass(
    deps: Deps, at: Run, settings: StateRAGSettings
) -> Stage[tuple[Decision, tuple[str, ...]]]:
    """The compact-evidence check, once; what it selects, or nothing."""
    near: tuple[str, ...] | None = None
    found: Spread | None = None
    if at.initial and settings.bypass_rule != "off":
        words = words_of(at.question)
        try:
            found = yield from spread(deps, words)
            if settings.bypass_rule == "compact":
                first = at.initial[0].passage.id
                hits = yield from region(deps, first, at.question, settings.region_width)
                near = tuple(hit.passage.id for hit in hits)
        except RetrieverError as error:
            yield from _warn(deps, error.reason_code, deps.stage, error.message)
            near, found = (), found or Spread(passages=0, holders=(0,) * len(words))
    inputs = bypass_inputs(at.question, at.initial, near, found)
    decision = yield from decide(deps, BYPASS, inputs, settings)
    branch, _, ids = decision.outcome.partition(" ")
    return decision, tuple(ids.split(",")) if branch == "BYPASS" else ()


@stage("action")
def act(
    deps: Deps, at: Run, settings: StateRAGSettings, *, stopped: bool
) -> Stage[tuple[Decision, Run]]:
    """RELEASE, REVISE or FALLBACK by the committed verdict and the budgets; then the cycle's
    artifacts are persisted, and U is refreshed for another cycle."""
    last = at.cycles[-1]
    if not stopped:
        at = yield from hold(deps, at, last.evidence.ids, f"cycle {last.number} is committed")
    reserve_answer(deps, at.question, at.evidence(at.held), len(at.held))
    usage = deps.ledger.usage()
    inputs = ActionInputs(
        verdict="PASS" if last.verdict.verdict == "PASS" else "FAIL",
        cycle=last.number,
        rounds=usage.rounds,
        actions=usage.actions,
        tokens=usage.tokens,
        cycle_tokens=_cycle_tokens(deps, at),
        stopped=stopped,
    )
    decision = yield from decide(deps, ACTION, inputs, settings)
    at = replace(at, trail=None)
    if settings.memory == "off":
        return decision, at
    pool, lasting, events = settle(at.pool, verified=decision.outcome == "RELEASE")
    at = replace(at, pool=pool)
    if events:
        yield from emit(deps, *events)
    if decision.outcome == "REVISE":
        at = yield from _refresh(deps, at)
    elif settings.memory == "shared" and (lasting or pool.used):
        kept = yield from persist(deps, lasting, pool.used)
        for gone in kept.evicted:
            yield from emit(deps, _evicted(pool, gone))
    return decision, at


def _refresh(deps: Deps, at: Run) -> Stage[Run]:
    """U <- the ids now available."""
    listed = MemoryOp(
        role="controller",
        operation="list",
        scope=at.pool.name("query" if at.cycles else "global"),
        artifact="*",
        allowed=True,
        reason=f"{len(at.pool.available)} artifacts are available",
    )
    yield from emit(deps, listed)
    return (yield from commit(deps, at, "artifacts", at.pool.available))


def _evicted(pool: Pool, artifact: str) -> MemoryOp:
    return MemoryOp(
        role="controller",
        operation="evict",
        scope=pool.name("global"),
        artifact=artifact,
        allowed=True,
        reason="the store is full; the longest unused goes",
    )


def _cycle_tokens(deps: Deps, at: Run) -> int:
    """Upper estimate in tokens of another cycle and the answer after it."""
    question = deps.tokens.count(at.question)
    longest = max((deps.tokens.count(p.text) for p in at.texts(at.held)), default=PASSAGE_TOKENS)
    shown = (len(at.cycles[-1].evidence.items) + 2) * longest
    planned = 3 * question + 2 * shown + PLAN.max_tokens_out + WRITE_QUERY.max_tokens_out
    verified = question + shown + VERIFY.max_tokens_out
    held = at.evidence(at.held).window(len(at.held))
    return planned + verified + answer_tokens(deps, at.question, held)


def _end(
    deps: Deps,
    at: Run,
    branch: Branch,
    bypassed: tuple[str, ...],
    reason: str,
    settings: StateRAGSettings,
) -> Stage[None]:
    """Admit the terminal evidence; ask the reader, once, or abstain."""
    weighed = (yield from weigh(deps, at, settings)) if branch == "FALLBACK" else None
    at, order, said = yield from admit(deps, at, branch, bypassed, settings)
    if weighed is not None and weighed.outcome == "abstain":
        acting = replace(deps, stage="action")
        evidence = at.evidence(order)
        yield from finish(acting, "abstained", branch, evidence, f"{reason} {weighed.reason}")
        return
    yield from answer(
        deps,
        at.question,
        at.evidence(order),
        len(order),
        branch,
        f"{reason} {said}",
        unanswered=branch,
    )


@stage("action")
def admit(
    deps: Deps, at: Run, branch: Branch, bypassed: tuple[str, ...], settings: StateRAGSettings
) -> Stage[tuple[Run, tuple[str, ...], str]]:
    """E*: what the reader gets, in order."""
    inputs = AdmitInputs(
        branch=branch,
        bypassed=at.places(bypassed),
        cycles=at.gathered(),
        initial=at.places(hit.passage.id for hit in at.initial),
    )
    decision = yield from decide(deps, ADMIT, inputs, settings)
    order = tuple(decision.outcome.partition(" ")[2].split(","))
    at = yield from hold(deps, at, order, f"admitted by {branch}")
    return at, order, decision.reason


@stage("action")
def weigh(deps: Deps, at: Run, settings: StateRAGSettings) -> Stage[Decision]:
    """Whether the merged evidence is worth reading."""
    inputs = AbstainInputs(uncertainties=tuple(c.uncertainty for c in at.cycles))
    return (yield from decide(deps, ABSTAIN, inputs, settings))


def _warn(deps: Deps, fault: str, where: str, effect: str) -> Stage[None]:
    yield from emit(deps, Warned(fault=fault, where=where or deps.stage, effect=effect))
