"""Shared IO steps. Each checks the budget, calls one port, and emits what happened.

A stage of a controller is a generator that emits and returns: ``state = yield from plan(deps,
...)``. ``stage("verify")`` names it; its first argument is the ``Deps``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import update_wrapper
from typing import Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

from core.decisions import Decider, Decision
from core.errors import JournalError, MalformedOutput, ReasonerError, RetrieverError
from core.events import (
    MAIN,
    Called,
    Decided,
    Event,
    Hit,
    ModelCalled,
    PassagesShown,
    Port,
    QueryIssued,
    Retrieved,
    Warned,
)
from core.ports import Deps
from core.responses import ReadResponse, RerankResponse, SearchResponse
from core.settings import SystemSettings
from core.tasks import Allowance, ModelCall, Rep, Req, Task
from core.types import Channel, Frozen, JsonObject, Passage, Scored, as_json, digest


class Emit(NamedTuple):
    """Events that belong together: they are journaled in one commit, in this order."""

    events: tuple[Event, ...]
    stage: str
    branch: str = MAIN


T = TypeVar("T")
DIn = TypeVar("DIn", bound=Frozen)
DSet = TypeVar("DSet", bound=SystemSettings)
P = ParamSpec("P")
Stage: TypeAlias = Generator[Emit, None, T]
PortError: TypeAlias = RetrieverError | JournalError


def stage(
    name: str,
) -> Callable[[Callable[Concatenate[Deps, P], Stage[T]]], Callable[Concatenate[Deps, P], Stage[T]]]:
    """Name a stage: everything that the generator emits and calls carries the name."""

    def decorate(
        function: Callable[Concatenate[Deps, P], Stage[T]],
    ) -> Callable[Concatenate[Deps, P], Stage[T]]:
        def named(deps: Deps, /, *args: P.args, **kwargs: P.kwargs) -> Stage[T]:
            return function(replace(deps, stage=name), *args, **kwargs)

        return update_wrapper(named, function)

    return decorate


def emit(deps: Deps, *events: Event) -> Stage[None]:
    """Emit events as one commit, behind what the port wrappers had to say since the last one."""
    notices, deps.context.notices = deps.context.notices, []
    yield Emit((*notices, *events), deps.stage)


def decide(deps: Deps, decider: Decider[DIn, DSet], inputs: DIn, settings: DSet) -> Stage[Decision]:
    """Take a decision and record it with everything it was taken from."""
    decision = decider(inputs, settings)
    yield from emit(
        deps,
        Decided(
            decider=decider.name,
            inputs=as_json(inputs),
            gates=decision.gates,
            outcome=decision.outcome,
            reason=decision.reason,
        ),
    )
    return decision


def search(
    deps: Deps,
    query: str,
    *,
    k: int,
    channel: Channel,
    parent: str | None = None,
    transformation: str = "verbatim",
    rationale: str = "",
    overlap: float | None = None,
    reranker: str | None = None,
) -> Stage[tuple[Scored, ...]]:
    """Search once. Spends one round. With a ``reranker``, a cross-encoder, the hits come in the
    order of its scores, ties as they were found.

    Raises:
        BudgetExhausted: no round is left; nothing was searched.
        RetrieverError: the retriever or the cross-encoder failed; the failed call is journaled,
            and what was found before it.
    """
    deps.ledger.require(stage=deps.stage, rounds=1)
    yield from emit(
        deps,
        QueryIssued(
            query=query,
            parent=parent,
            transformation=transformation,
            rationale=rationale,
            overlap=overlap,
        ),
    )
    request: JsonObject = {"query": query, "k": k, "channel": channel, "access": access_json(deps)}
    deps.ledger.charge(rounds=1)
    hits: list[Scored]
    called, hits, failure = call_port(
        deps, "search", request, lambda: deps.retriever.search(query, k, channel, deps.access)
    )
    if failure is not None:
        yield from emit(deps, called)
        raise failure
    hits = sound(deps, hits)
    recorded = as_json(SearchResponse(hits=_listed(hits)))
    found = (
        called.model_copy(update={"response": recorded}),
        PassagesShown(passages=tuple(hit.passage for hit in hits)),
    )
    if reranker is None or not hits:
        yield from emit(deps, *found, _retrieved(query, channel, hits, called.ms))
        return tuple(hits)
    yield from emit(deps, *found)
    ordered, hits, failure = _reranked(deps, reranker, query, hits)
    listed = _retrieved(query, channel, hits, called.ms + ordered.ms)
    yield from emit(deps, ordered, listed)
    if failure is not None:
        raise failure
    return tuple(hits)


def _listed(hits: Sequence[Scored]) -> tuple[Hit, ...]:
    return tuple(
        Hit(
            id=hit.passage.id,
            title=hit.passage.title,
            score=hit.score,
            calibrated=hit.calibrated,
            rank=hit.rank,
            lexical=hit.lexical,
            dense=hit.dense,
            reranked=hit.reranked,
        )
        for hit in hits
    )


def _retrieved(query: str, channel: Channel, hits: Sequence[Scored], ms: float) -> Retrieved:
    return Retrieved(query=query, channel=channel, passages=_listed(hits), ms=ms)


def _reranked(
    deps: Deps, model: str, query: str, hits: list[Scored]
) -> tuple[Called, list[Scored], PortError | None]:
    """The cross-encoder's call, the hits in the order of its scores (as they were where it failed),
    and its failure. ``calibrated`` becomes the sigmoid of the score."""
    passages = [hit.passage for hit in hits]
    request: JsonObject = {"model": model, "query": query, "ids": [p.id for p in passages]}
    called, scores, failure = call_port(
        deps, "rerank", request, lambda: _scores(deps, model, query, passages)
    )
    if failure is not None:
        return called, hits, failure
    called = called.model_copy(update={"response": as_json(RerankResponse(scores=tuple(scores)))})
    order = sorted(range(len(hits)), key=lambda n: -scores[n])
    ordered = [
        hits[n].model_copy(
            update={
                "score": scores[n],
                "reranked": scores[n],
                "calibrated": _sigmoid(scores[n]),
                "rank": rank,
            }
        )
        for rank, n in enumerate(order, 1)
    ]
    return called, ordered, None


def read(deps: Deps, passage_id: str) -> Stage[Passage]:
    """Read one passage whole.

    Raises:
        StaleIndex: there is none of that id.
        RetrieverError: the passage is corrupt, or the retriever failed.
    """
    request: JsonObject = {"passage_id": passage_id, "access": access_json(deps)}
    called, passage, failure = call_port(
        deps, "read", request, lambda: _intact(deps.retriever.read(passage_id, deps.access))
    )
    if failure is not None:
        yield from emit(deps, called)
        raise failure
    yield from emit(
        deps,
        called.model_copy(update={"response": as_json(ReadResponse(ids=(passage.id,)))}),
        PassagesShown(passages=(passage,)),
    )
    return passage


def _scores(deps: Deps, model: str, query: str, passages: Sequence[Passage]) -> list[float]:
    if deps.reranker is None:
        raise RetrieverError("There is no reranker here; choose another variant.", code="reranker")
    return deps.reranker.scores(model, query, passages)


def _sigmoid(score: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-500.0, min(500.0, score))))


def ask(deps: Deps, task: Task[Req, Rep], request: Req) -> Stage[Rep]:
    """Have a piece of language work done. Spends calls, tokens and cost.

    Raises:
        BudgetExhausted: the call with the longest reply it may give does not fit; not called.
        ReasonerError: the work failed; the failed call is journaled, nothing is committed.
    """
    ledger = deps.ledger
    tokens_in = deps.reasoner.tokens_in(task, request)
    longest = tokens_in + task.max_tokens_out + task.thinking_tokens
    ledger.require(stage=deps.stage, calls=1, tokens=longest)
    deps.context.stage = deps.stage
    started = deps.clock.monotonic()
    allowance = Allowance(
        calls=ledger.left("calls") - 1,
        tokens=ledger.left("tokens") - longest,
        seconds=ledger.left("seconds"),
        cost=ledger.left("cost"),
    )
    failure: ReasonerError | None = None
    reply: Rep | None = None
    model_calls: tuple[ModelCall, ...] = ()
    try:
        performed = deps.reasoner.perform(task, request, allowance)
        reply, model_calls = performed.value, performed.model_calls
        tokens_out = sum(deps.tokens.count(text) for text in reply.texts())
        if not model_calls and tokens_out > task.max_tokens_out:
            raise MalformedOutput(
                f"The reply to {task.name} has {tokens_out} tokens; at most "
                f"{task.max_tokens_out} are allowed."
            )
    except ReasonerError as error:
        failure, reply, tokens_out = error, None, 0
        model_calls = error.model_calls or model_calls
        failure.stage = failure.stage or deps.stage
    if model_calls:
        tokens_in = sum(call.tokens_in for call in model_calls)
        tokens_out = sum(call.tokens_out for call in model_calls)
    cost = sum(call.cost for call in model_calls)
    ledger.charge(calls=max(1, len(model_calls)), tokens=tokens_in + tokens_out, cost=cost)
    called = Called(
        port="reasoner",
        task=task.name,
        request_digest=digest(request),
        response=None if reply is None else as_json(reply),
        error=None if failure is None else f"{failure.reason_code}: {failure.message}",
        ms=_elapsed_ms(deps, started),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        attempt=max(1, len(model_calls)),
        cached=bool(model_calls) and all(call.cached for call in model_calls),
        cost=cost,
    )
    yield from emit(deps, *(_model_called(task.name, c) for c in model_calls), called)
    if failure is not None:
        raise failure
    assert reply is not None
    return reply


def call_port(
    deps: Deps, task: str, request: JsonObject, call: Callable[[], T], port: Port = "retriever"
) -> tuple[Called, T, PortError | None]:
    """Call a port once: what is to be journaled of it (the response still left out), the value,
    and the failure where there is one."""
    deps.context.stage = deps.stage
    started = deps.clock.monotonic()
    failure: PortError | None = None
    value: T = None  # type: ignore[assignment]
    try:
        value = call()
    except (RetrieverError, JournalError) as error:
        failure = error
        failure.stage = failure.stage or deps.stage
    called = Called(
        port=port,
        task=task,
        request_digest=digest(request),
        response=None,
        error=None if failure is None else f"{failure.reason_code}: {failure.message}",
        ms=_elapsed_ms(deps, started),
    )
    return called, value, failure


def _is_sound(passage: Passage) -> bool:
    """Whether the span fits the text; a span of 0:0 claims nothing."""
    return passage.end - passage.start == len(passage.text) or passage.end == 0


def sound(deps: Deps, hits: list[Scored]) -> list[Scored]:
    """The hits that can be cited; a notice tells which were left out."""
    corrupt = [hit.passage.id for hit in hits if not _is_sound(hit.passage)]
    if not corrupt:
        return hits
    effect = f"{len(corrupt)} of {len(hits)} passages were left out: their spans do not fit."
    deps.context.notices.append(
        Warned(fault="corrupt_evidence", where=f"{deps.stage}: search", effect=effect)
    )
    return [hit for hit in hits if hit.passage.id not in corrupt]


def _intact(passage: Passage) -> Passage:
    if not _is_sound(passage):
        raise RetrieverError(
            f"The span of passage {passage.id} does not fit its text; re-index the corpus.",
            code="corrupt_evidence",
        )
    return passage


def _elapsed_ms(deps: Deps, started: float) -> float:
    return round(1000 * max(0.0, deps.clock.monotonic() - started), 3)


def access_json(deps: Deps) -> JsonObject:
    """The access as part of a request's digest."""
    access = deps.access
    return {
        "tenants": None if access.tenants is None else [*sorted(access.tenants)],
        "source_tiers": None if access.source_tiers is None else [*sorted(access.source_tiers)],
    }


def _model_called(task: str, call: ModelCall) -> ModelCalled:
    return ModelCalled(
        task=task,
        prompt=call.prompt,
        reply=call.reply,
        model=call.model,
        tokens_in=call.tokens_in,
        tokens_out=call.tokens_out,
        ms=call.ms,
        attempt=call.attempt,
        cached=call.cached,
        error=call.error,
    )
