"""The one decision of BeliefRAG: what to do next (spec section 1, "Decision", in its order)."""

from __future__ import annotations

from typing import Literal

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.systems.beliefrag.belief import Assessment, Observation, assess
from core.systems.beliefrag.profiles import FIRST, FitName
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.types import Count, Frozen, Gate

CORRECTION_ACTIONS = 4
"""VERIFY, REWRITE, RETRIEVE and ANSWER must all still fit before a correction starts."""

Outcome = Literal[
    "verify", "rewrite", "retrieve", "answer", "stop", "abstain", "conflict", "exhausted"
]
OUTCOMES: tuple[Outcome, ...] = (
    "verify",
    "rewrite",
    "retrieve",
    "answer",
    "stop",
    "abstain",
    "conflict",
    "exhausted",
)
TERMINAL: frozenset[str] = frozenset({"answer", "stop", "abstain", "conflict", "exhausted"})

READING: frozenset[str] = frozenset({"answer", "stop"})
"""Ends that have the same reader answer from the same evidence; they differ in the branch alone."""


class BeliefInputs(Frozen):
    """The raw history that a decision is taken from.

    ``pending`` is the step that a started correction or rewrite still owes. ``tokens`` were
    spent so far; ``retrieve_tokens`` and ``correction_tokens`` are upper estimates of what
    another retrieval, or a whole correction, would take with the answer after it. ``fit`` is the
    one in force then.
    """

    reasoner: str
    fit: FitName = FIRST
    observations: tuple[Observation, ...]
    rounds: Count
    actions: Count
    tokens: Count
    evidence: Count
    unhelpful: Count
    pending: Literal["none", "rewrite", "retrieve"] = "none"
    nothing_missing: bool = False
    retriever_down: bool = False
    retrieve_tokens: Count = 0
    correction_tokens: Count = 0


class _Gates:
    """Collects gates in evaluation order."""

    def __init__(self) -> None:
        self.passed: list[Gate] = []

    def __call__(
        self, name: str, value: float, op: Literal[">=", "<", "=="], threshold: float
    ) -> bool:
        self.passed.append(gate(name, value, op, threshold))
        return self.passed[-1].fired

    def decide(self, outcome: Outcome, reason: str) -> Decision:
        return Decision(outcome=outcome, gates=tuple(self.passed), reason=reason)


def decide(inputs: BeliefInputs, settings: BeliefRAGSettings) -> Decision | Undetermined:
    """Choose the next action; gates are listed in the order they were evaluated."""
    now = assess(inputs.observations, inputs.rounds, inputs.reasoner, inputs.fit, settings)
    gates = _Gates()
    if gates("correction_under_way", float(inputs.pending != "none"), "==", 1.0):
        if inputs.pending == "rewrite":
            return gates.decide("rewrite", "The correction goes on: reformulate the query.")
        return gates.decide("retrieve", "The rewritten query is searched.")
    conflicting = gates("conflict", now.belief.conflict, ">=", settings.conflict_threshold)
    unreliable = gates("reliability", now.belief.reliability, "<", settings.reliability_threshold)
    may_correct = not inputs.nothing_missing
    if (
        may_correct
        and inputs.evidence
        and (conflicting or unreliable)
        and _fits(inputs, settings, gates)
    ):
        why = "conflicts" if conflicting else "is unreliable"
        return gates.decide("verify", f"The evidence {why}: correct it.")
    flagged = may_correct and inputs.evidence > 0
    if (
        flagged
        and settings.unhelpful_trigger == "before_answer"
        and gates("unhelpful", inputs.unhelpful, ">=", 1)
        and _fits(inputs, settings, gates)
    ):
        return gates.decide("verify", "Unhelpful passages were flagged: correct before answering.")
    if gates("answer", now.p_ans, ">=", settings.answer_threshold) and not conflicting:
        return gates.decide("answer", "The evidence is answerable and conflict is acceptable.")
    if (
        flagged
        and settings.unhelpful_trigger == "after_answer"
        and gates("unhelpful", inputs.unhelpful, ">=", 1)
        and _fits(inputs, settings, gates)
    ):
        return gates.decide("verify", "Not answerable yet and passages were flagged: correct.")
    if (
        may_correct
        and _can_retrieve(inputs, settings, gates)
        and gates("retrieval_value", now.p_flip, ">=", settings.flip_threshold)
    ):
        return _retrieve_or_rewrite(inputs, settings, now, gates)
    return _stop(inputs, settings, now, conflicting, gates)


def _retrieve_or_rewrite(
    inputs: BeliefInputs, settings: BeliefRAGSettings, now: Assessment, gates: _Gates
) -> Decision:
    if (
        inputs.rounds
        and gates("novelty", now.x.novelty, "<", settings.novelty_threshold)
        and gates("actions_for_rewrite", settings.max_actions - inputs.actions, ">=", 3)
    ):
        return gates.decide("rewrite", "The last retrieval added little: reformulate first.")
    return gates.decide("retrieve", "More evidence may make the question answerable.")


def _stop(
    inputs: BeliefInputs,
    settings: BeliefRAGSettings,
    now: Assessment,
    conflicting: bool,
    gates: _Gates,
) -> Decision:
    if conflicting:
        return gates.decide("conflict", "The sources disagree and no correction is left.")
    why = _why_no_more(inputs, gates)
    if not gates("evidence_held", inputs.evidence, ">=", 1):
        if not inputs.rounds and why in _SPENT.values():
            return gates.decide("exhausted", f"{why}: nothing was retrieved at all.")
        return gates.decide("abstain", f"{why}, and nothing is held.")
    if gates("abstain", now.p_ans, "<", settings.abstain_threshold):
        return gates.decide("abstain", f"{why}, and the evidence is inadequate.")
    return gates.decide("stop", f"{why}: the best answer from what is held.")


_SPENT = {
    "rounds_left": "No retrieval round is left",
    "actions_left": "Too few actions are left to retrieve and answer",
    "tokens_left": "Too few tokens are left to retrieve and answer",
}


def _why_no_more(inputs: BeliefInputs, gates: _Gates) -> str:
    """What keeps it from retrieving."""
    if inputs.nothing_missing:
        return "The query writer finds nothing missing"
    if inputs.retriever_down:
        return "The retriever is down"
    closed = [g.name for g in gates.passed if not g.fired]
    spent = next((words for name, words in _SPENT.items() if name in closed), None)
    return spent or "The value of another retrieval lies under its threshold"


def _can_retrieve(inputs: BeliefInputs, settings: BeliefRAGSettings, gates: _Gates) -> bool:
    rounds = 0 if inputs.retriever_down else settings.max_rounds - inputs.rounds
    return (
        gates("rounds_left", rounds, ">=", 1)
        and gates("actions_left", settings.max_actions - inputs.actions, ">=", 2)
        and gates(
            "tokens_left", settings.token_budget - inputs.tokens, ">=", inputs.retrieve_tokens
        )
    )


def _fits(inputs: BeliefInputs, settings: BeliefRAGSettings, gates: _Gates) -> bool:
    rounds = 0 if inputs.retriever_down else settings.max_rounds - inputs.rounds
    return (
        gates("rounds_for_correction", rounds, ">=", 1)
        and gates(
            "actions_for_correction",
            settings.max_actions - inputs.actions,
            ">=",
            CORRECTION_ACTIONS,
        )
        and gates(
            "tokens_for_correction",
            settings.token_budget - inputs.tokens,
            ">=",
            inputs.correction_tokens,
        )
    )


ACT = register(
    Decider(
        name="beliefrag.act",
        inputs=BeliefInputs,
        decide=decide,
        outcomes=OUTCOMES,
        terminal_outcomes=TERMINAL,
        card=Card(
            fitted=True,
            basis="Thresholds and belief parameters are the paper's; p(answerable) and retrieval "
            "value are logistic fits (see the profile in force).",
            inspects="Raw diagnostics of every step, rounds, actions and tokens spent.",
            fails="Where the verifier's signals are wrong, and where a fit meets other sources "
            "than those it was fitted on (threshold transfer).",
            prohibited=(
                "answering while conflict is at or above its threshold",
                "starting a correction that the budgets cannot finish",
                "readmitting a pruned passage",
            ),
        ),
    )
)
