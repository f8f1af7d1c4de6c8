"""The states of BeliefRAG's probe runs: what was measured, and whether answering was right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core.contracts import decision_inputs, run_settings
from core.errors import BadInput
from core.evaluation.metrics import SUCCESS, finished, started, token_f1
from core.evaluation.questions import Question
from core.evaluation.store import Evaluation
from core.events import Decided, Probed, RunFinished, Step
from core.systems.beliefrag.belief import Signals, assess
from core.systems.beliefrag.decide import BeliefInputs
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.types import Count, Frozen, Unit, Usage

SYSTEM = "beliefrag"


class ProbedState(Frozen):
    """A state in which a run could have ended.

    ``f1`` is of the answer that would have been given, ``tokens`` what that answer would have
    taken on top of ``usage``. ``flips`` says that answering is wrong here and right after one
    more retrieval. It is false where one was tried and the query writer had nothing to ask, and
    absent where none was tried as a live run would.
    """

    question_id: str
    seq: Count
    inputs: BeliefInputs
    usage: Usage
    answer: str
    tokens: Count
    f1: Unit
    x: Signals
    sufficiency: Unit
    flips: bool | None = None

    @property
    def right(self) -> bool:
        """The target of p_ans: F1 >= .5."""
        return self.f1 >= SUCCESS


@dataclass(frozen=True, slots=True)
class ProbedRun:
    """A probe run: its states in order, its settings, and how it ended."""

    question: Question
    settings: BeliefRAGSettings
    states: tuple[ProbedState, ...]
    end: RunFinished


def probed_runs(evaluation: Evaluation) -> list[ProbedRun]:
    """The probe runs of every question that has answers.

    Raises:
        BadInput: the evaluation holds none.
    """
    if not evaluation.manifest.probe or SYSTEM not in evaluation.manifest.systems:
        raise BadInput(
            f"{evaluation.out.name} holds no probe runs; make them with "
            f"`evaluate --probe --systems {SYSTEM}`."
        )
    asked = ((evaluation.questions[row.question_id], s) for row, s in evaluation.runs(SYSTEM))
    return [probed_run(steps, question) for question, steps in asked if question.answers]


def probed_run(steps: Sequence[Step], question: Question) -> ProbedRun:
    """One probe run, read from its steps."""
    start, end = started(steps), finished(steps)
    assert start is not None
    assert end is not None
    settings = run_settings(start)
    assert isinstance(settings, BeliefRAGSettings)
    decided = {s.seq: s for s in steps if isinstance(s.event, Decided)}
    states = [
        _state(decided[s.event.at_seq], s.event, question, settings)
        for s in steps
        if isinstance(s.event, Probed)
    ]
    return ProbedRun(question, settings, tuple(_with_flip(states)), end)


def _state(
    step: Step, probed: Probed, question: Question, settings: BeliefRAGSettings
) -> ProbedState:
    assert isinstance(step.event, Decided)
    inputs = decision_inputs(step.event)
    assert isinstance(inputs, BeliefInputs)
    now = assess(inputs.observations, inputs.rounds, inputs.reasoner, inputs.fit, settings)
    return ProbedState(
        question_id=question.id,
        seq=step.seq,
        inputs=inputs,
        usage=step.usage,
        answer=probed.answer,
        tokens=probed.tokens,
        f1=token_f1(probed.answer, question.answers),
        x=now.x,
        sufficiency=now.belief.sufficiency,
    )


def _with_flip(states: Sequence[ProbedState]) -> Iterator[ProbedState]:
    for state, after in zip_longest(states, states[1:]):
        if after is None or state.inputs.nothing_missing:
            yield state
        elif after.inputs.rounds == state.inputs.rounds + 1:
            yield state.model_copy(update={"flips": after.right and not state.right})
        elif after.inputs.nothing_missing:
            yield state.model_copy(update={"flips": False})
        else:
            yield state
