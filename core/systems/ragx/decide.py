"""The decisions of ragX that steer the run; packing is in ``packing``."""

from __future__ import annotations

import regex

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.retrieval.tokenizer import terms
from core.systems.ragx.settings import RagXSettings
from core.types import Count, Frozen

SLOT = regex.compile(r"#(\d+)")


class ForageInputs(Frozen):
    """How far the forage loop is.

    ``steps``: the number of turns that the agent is told of with each turn. ``halted``: the
    reasoner, the retriever or a budget stopped it. ``turn_tokens`` is what another turn takes at
    most, ``compose_tokens`` what composing from what is held takes.
    """

    steps: Count
    turns: Count
    drafted: bool
    halted: bool
    actions: Count
    tokens: Count
    turn_tokens: Count
    compose_tokens: Count


def next_turn(inputs: ForageInputs, settings: RagXSettings) -> Decision | Undetermined:
    """Take another turn, or go on to the slot chain or, without one, to the compose call."""
    if inputs.turns and settings.steps != inputs.steps:
        return Undetermined(f"turns of an agent that was told of {settings.steps}")
    gates = [
        gate("drafted", float(inputs.drafted), "==", 1.0),
        gate("halted", float(inputs.halted), "==", 1.0),
    ]
    over = "The agent gave its draft." if inputs.drafted else "The forage loop was stopped."
    if not (gates[0].fired or gates[1].fired):
        over = "The turns or a budget are used up."
        gates.append(gate("turns_left", settings.steps - inputs.turns, ">=", 1))
        if gates[-1].fired:
            gates.append(gate("actions_left", settings.max_actions - inputs.actions, ">=", 2))
        if gates[-1].fired:
            left = settings.token_budget - inputs.tokens
            need = inputs.turn_tokens + inputs.compose_tokens
            gates.append(gate("tokens_left", left, ">=", need))
        if gates[-1].fired:
            return Decision(outcome="turn", gates=tuple(gates), reason="The agent goes on.")
    if settings.slot_chain:
        return Decision(outcome="chain", gates=tuple(gates), reason=f"{over} Now hop by hop.")
    return Decision(outcome="compose", gates=tuple(gates), reason=over)


FORAGE = register(
    Decider(
        name="ragx.forage",
        inputs=ForageInputs,
        decide=next_turn,
        outcomes=("turn", "chain", "compose"),
        terminal_outcomes=frozenset(),
        card=Card(
            fitted=False,
            basis="Ten turns and one action each (the frozen settings).",
            inspects="Turns, actions and tokens spent, and whether the agent gave a draft.",
            fails="It trusts the agent's judgement of when enough was read.",
            prohibited=("a turn that would leave no tokens to compose with",),
        ),
    )
)


class SlotInputs(Frozen):
    """A decomposition as it came back; ``limit`` is what was asked for, ``attempt`` from 1."""

    sub_questions: tuple[str, ...]
    limit: Count
    attempt: Count


def faults_of(sub_questions: tuple[str, ...]) -> tuple[int, int, int]:
    """How many sub-questions are empty, repeat an earlier one, or refer to one that is not
    earlier."""
    empty = sum(not s.strip() for s in sub_questions)
    plain = [" ".join(terms(s)) for s in sub_questions]
    repeated = sum(s in plain[:n] for n, s in enumerate(plain))
    forward = sum(
        any(not 1 <= int(slot) <= n for slot in SLOT.findall(s))
        for n, s in enumerate(sub_questions)
    )
    return empty, repeated, forward


def accept_slots(inputs: SlotInputs, settings: RagXSettings) -> Decision | Undetermined:
    """Accept the decomposition, ask once more, or go on with the question as it is."""
    if settings.max_hops != inputs.limit:
        return Undetermined(f"a decomposition into at most {settings.max_hops} hops")
    empty, repeated, forward = faults_of(inputs.sub_questions)
    gates = (
        gate("sub_questions", len(inputs.sub_questions), ">=", 1),
        gate("within_limit", len(inputs.sub_questions), "<=", settings.max_hops),
        gate("empty", empty, "==", 0),
        gate("repeated", repeated, "==", 0),
        gate("slots_not_backwards", forward, "==", 0),
    )
    wrong = [g.name.replace("_", " ") for g in gates if not g.fired]
    if not wrong:
        return Decision(outcome="chain", gates=gates, reason="The sub-questions are in order.")
    said = f"The decomposition is not valid ({', '.join(wrong)})"
    again = gate("first_attempt", inputs.attempt, "<=", 1)
    if again.fired:
        return Decision(outcome="retry", gates=(*gates, again), reason=f"{said}: once more.")
    return Decision(
        outcome="undecomposed",
        gates=(*gates, again),
        reason=f"{said}: the question is taken as one hop.",
    )


SLOTS = register(
    Decider(
        name="ragx.slots",
        inputs=SlotInputs,
        decide=accept_slots,
        outcomes=("chain", "retry", "undecomposed"),
        terminal_outcomes=frozenset(),
        card=Card(
            fitted=False,
            basis="The form of a slot chain: at most four sub-questions, slots backwards only.",
            inspects="The sub-questions' form, never their sense.",
            fails="Accepts a decomposition that is in order and asks for the wrong thing.",
            prohibited=("a slot that refers to its own or a later hop",),
        ),
    )
)


class HopInputs(Frozen):
    """How far the slot chain is; ``repeated``: the next filled sub-question was asked before."""

    hop: Count
    hops: Count
    repeated: bool
    halted: bool
    rounds: Count
    actions: Count
    tokens: Count
    hop_tokens: Count
    compose_tokens: Count


def next_hop(inputs: HopInputs, settings: RagXSettings) -> Decision | Undetermined:
    """Resolve the next hop, or compose."""
    gates = [gate("hops_left", inputs.hops - inputs.hop, ">=", 1)]
    reason = "Every hop was taken."
    if gates[-1].fired:
        gates.append(gate("halted", float(inputs.halted), "==", 0.0))
        reason = "The chain was stopped."
    if gates[-1].fired:
        gates.append(gate("repeated", float(inputs.repeated), "==", 0.0))
        reason = "The next sub-question was asked before: the chain ends here."
    if gates[-1].fired:
        gates.append(gate("rounds_left", settings.max_rounds - inputs.rounds, ">=", 2))
        reason = "No search is left for another hop."
    if gates[-1].fired:
        gates.append(gate("actions_left", settings.max_actions - inputs.actions, ">=", 2))
        reason = "No action is left for another hop."
    if gates[-1].fired:
        left = settings.token_budget - inputs.tokens
        gates.append(gate("tokens_left", left, ">=", inputs.hop_tokens + inputs.compose_tokens))
        reason = "Another hop would leave too few tokens to compose with."
    if gates[-1].fired:
        return Decision(outcome="hop", gates=tuple(gates), reason="The next hop is taken.")
    return Decision(outcome="compose", gates=tuple(gates), reason=reason)


HOP = register(
    Decider(
        name="ragx.hop",
        inputs=HopInputs,
        decide=next_hop,
        outcomes=("hop", "compose"),
        terminal_outcomes=frozenset(),
        card=Card(
            fitted=False,
            basis="One hop for each sub-question (the frozen settings).",
            inspects="Hops taken, actions and tokens spent, repeats.",
            fails="A wrong hop answer fills the next slot unnoticed.",
            prohibited=("asking one filled sub-question twice",),
        ),
    )
)
