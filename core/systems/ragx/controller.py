"""ragX: forage, resolve hop by hop, compose once (specification, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.decisions import Decision
from core.errors import AuthenticationFailed, BudgetExhausted, RagError, ReasonerError
from core.events import Warned
from core.ports import Deps
from core.steps import Emit, Stage, decide, emit, stage
from core.systems.ragx.chain import Chain, decompose, hop
from core.systems.ragx.compose import Found, compose, compose_tokens
from core.systems.ragx.decide import FORAGE, HOP, ForageInputs, HopInputs
from core.systems.ragx.forage import Foraged, forage_task, turn
from core.systems.ragx.settings import RagXSettings
from core.tasks import HOP_ANSWER

EXCERPT_TOKENS = 160
"""Upper estimate for one distilled passage with its title (420 characters)."""


def run(question: str, deps: Deps, settings: RagXSettings) -> Iterator[Emit]:
    """Answer a question."""
    yield from _announce(deps, settings)
    foraged, decision = yield from _forage(deps, question, settings)
    chain = Chain()
    if decision.outcome == "chain":
        chain = yield from _resolve(deps, foraged, settings)
    yield from compose(deps, question, _found(foraged, chain), settings)


@stage("forage")
def _announce(deps: Deps, settings: RagXSettings) -> Stage[None]:
    if settings.thinking and deps.reasoner.model is None:
        effect = f"The {deps.reasoner.name} reasoner has no thinking to turn on; it runs as it is."
        yield from emit(deps, Warned(fault="thinking_unsupported", where=deps.stage, effect=effect))


def _forage(deps: Deps, question: str, settings: RagXSettings) -> Stage[tuple[Foraged, Decision]]:
    state = Foraged(question)
    while True:
        _reserve(deps, _found(state, Chain()), question, settings)
        decision = yield from _next_turn(deps, state, settings)
        if decision.outcome != "turn":
            return state, decision
        try:
            state = yield from turn(deps, state, settings)
        except AuthenticationFailed:
            raise
        except (BudgetExhausted, ReasonerError) as error:
            yield from _stopped(deps, error, "The forage loop ends here.")
            state = replace(state, halted=True)


@stage("forage")
def _next_turn(deps: Deps, state: Foraged, settings: RagXSettings) -> Stage[Decision]:
    task = forage_task(settings)
    request = state.request(settings)
    longest = deps.reasoner.tokens_in(task, request) + task.max_tokens_out + task.thinking_tokens
    usage = deps.ledger.usage()
    found = _found(state, Chain())
    inputs = ForageInputs(
        steps=settings.steps,
        turns=state.turns,
        drafted=bool(state.draft),
        halted=state.halted,
        actions=usage.actions,
        tokens=usage.tokens,
        turn_tokens=longest,
        compose_tokens=_held_tokens(deps, found, state.question, settings),
    )
    return (yield from decide(deps, FORAGE, inputs, settings))


def _resolve(deps: Deps, foraged: Foraged, settings: RagXSettings) -> Stage[Chain]:
    try:
        chain = yield from decompose(deps, foraged.question, settings)
    except BudgetExhausted as error:
        yield from _stopped(deps, error, "There is no slot chain.")
        return Chain()
    while True:
        _reserve(deps, _found(foraged, chain), foraged.question, settings)
        decision = yield from _next_hop(deps, foraged, chain, settings)
        if decision.outcome != "hop":
            return chain
        try:
            chain = yield from hop(deps, chain, settings)
        except BudgetExhausted as error:
            yield from _stopped(deps, error, "The slot chain ends here.")
            chain = replace(chain, halted=True)


@stage("chain")
def _next_hop(
    deps: Deps, foraged: Foraged, chain: Chain, settings: RagXSettings
) -> Stage[Decision]:
    usage = deps.ledger.usage()
    filled = chain.next_question()
    longest = deps.tokens.count(filled) + settings.hop_k * EXCERPT_TOKENS
    inputs = HopInputs(
        hop=chain.done,
        hops=len(chain.sub_questions),
        repeated=chain.repeats() if filled else False,
        halted=chain.halted,
        rounds=usage.rounds,
        actions=usage.actions,
        tokens=usage.tokens,
        hop_tokens=longest + HOP_ANSWER.max_tokens_out + settings.thinking_tokens,
        compose_tokens=_held_tokens(deps, _found(foraged, chain), foraged.question, settings),
    )
    decision = yield from decide(deps, HOP, inputs, settings)
    if inputs.repeated and decision.outcome == "compose":
        warned = Warned(fault="repeated_hop", where=deps.stage, effect=decision.reason)
        yield from emit(deps, warned)
    return decision


def _found(foraged: Foraged, chain: Chain) -> Found:
    surfaced = {p.id: p for p in (*foraged.surfaced, *chain.found)}
    return Found(foraged.read_passages, chain.priority, tuple(surfaced.values()))


def _held_tokens(deps: Deps, found: Found, question: str, settings: RagXSettings) -> int:
    """What composing from the passages read and those that resolved a hop would take."""
    held = {p.id: p for p in (*found.reads, *found.hops)}
    return compose_tokens(deps, question, held.values(), settings)


def _reserve(deps: Deps, found: Found, question: str, settings: RagXSettings) -> None:
    """Set aside what composing from what is held takes, or what is left of it."""
    deps.ledger.release()
    need = float(_held_tokens(deps, found, question, settings))
    tokens = max(0.0, min(need, deps.ledger.left("tokens")))
    rounds = max(0.0, min(1.0, deps.ledger.left("rounds")))
    deps.ledger.reserve(calls=1, actions=1, rounds=rounds, tokens=tokens)


def _stopped(deps: Deps, error: RagError, effect: str) -> Stage[None]:
    message = f"{error.message} {effect}"
    yield from emit(
        deps, Warned(fault=error.reason_code, where=error.stage or deps.stage, effect=message)
    )
