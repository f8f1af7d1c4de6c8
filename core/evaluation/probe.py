"""Probe runs: what would have been answered at each point where a run could have ended.

The controller's terminal outcomes are overridden into what it would do next if it neither
answered nor gave up, until the budgets allow no further retrieval. So the probe's path has as its
prefix the path of every run with another answer, flip or abstain threshold, and such a threshold
can be swept over probe runs exactly (``PREFIX_KNOBS``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from core.budget import Ledger
from core.errors import BadInput, ReasonerError
from core.events import Probed
from core.ports import Deps
from core.steps import Emit, Stage, ask, emit
from core.systems.beliefrag.controller import State, decision_inputs, run
from core.systems.beliefrag.decide import ACT
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.systems.definition import System
from core.systems.reader import readable, reserve_answer
from core.tasks import ANSWER, AnswerRequest

PREFIX_KNOBS = frozenset({"answer_threshold", "flip_threshold", "abstain_threshold"})
"""Settings that decide where a run ends and nothing of its way there."""

PROBED_SYSTEMS = ("beliefrag",)

REWRITE_AND_RETRIEVE = 2
"""Actions that rewriting and then searching take, the answer's own set aside."""

_NEVER = {"answer_threshold": 2.0, "flip_threshold": 0.0}
"""No probability reaches the one, every one reaches the other."""


def probing(system: System) -> System:
    """The system with its terminal outcomes overridden and its states probed.

    Raises:
        BadInput: it has no such mode.
    """
    if system.name not in PROBED_SYSTEMS:
        raise BadInput(
            f"{system.title} cannot be probed; --probe works on {', '.join(PROBED_SYSTEMS)}."
        )
    return replace(system, run=probe_states)


def probe_states(question: str, deps: Deps, settings: BeliefRAGSettings) -> Iterator[Emit]:
    """BeliefRAG with every state probed; emits ``Probed`` after each free decision.

    A decision inside a correction is not free: no run ends there.
    """

    def steer(deps: Deps, state: State, outcome: str) -> Stage[str]:
        if state.pending != "none":
            return outcome
        yield from _probe(deps, state, settings)
        if outcome not in ACT.terminal_outcomes:
            return outcome
        onward = _onward(deps, state, settings)
        return outcome if onward in ACT.terminal_outcomes else onward

    return run(question, deps, settings, steer)


def _onward(deps: Deps, state: State, settings: BeliefRAGSettings) -> str:
    """What is done if neither answering nor giving up is allowed; terminal if nothing fits.

    Where the query writer says that nothing is missing every threshold ends the run; the probe
    rewrites its way on.
    """
    inputs = decision_inputs(deps, state, settings)
    free = inputs.model_copy(update={"nothing_missing": False})
    outcome = ACT(free, settings.model_copy(update=_NEVER)).outcome
    if outcome == "retrieve" and inputs.nothing_missing:
        return "rewrite" if deps.ledger.left("actions") >= REWRITE_AND_RETRIEVE else "stop"
    return outcome


def _probe(deps: Deps, state: State, settings: BeliefRAGSettings) -> Stage[None]:
    """Ask the reader as the run would now, on a ledger of its own."""
    at_seq, evidence, window = deps.context.seq, state.helpful, settings.evidence_window
    apart = replace(deps, ledger=Ledger(monotonic=deps.clock.monotonic), stage="probe")
    deps.ledger.release()
    passages = readable(deps, state.question, evidence, window)
    reserve_answer(deps, state.question, evidence, window)
    request, answer = AnswerRequest(question=state.question, passages=passages), ""
    with suppress(ReasonerError):  # journaled by ``ask``; ending here would give no answer
        answer = (yield from ask(apart, ANSWER, request)).answer.strip()
    tokens = apart.ledger.usage().tokens
    yield from emit(apart, Probed(at_seq=at_seq, answer=answer, tokens=tokens))
