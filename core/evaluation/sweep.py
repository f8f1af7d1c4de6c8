"""Sweep a stopping threshold over probe runs: exact, and without any further call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from core.errors import BadInput
from core.evaluation.bootstrap import Interval, mean_interval
from core.evaluation.metrics import token_f1
from core.evaluation.probe import PREFIX_KNOBS
from core.evaluation.states import ProbedRun, probed_runs
from core.evaluation.store import Evaluation
from core.settings import override
from core.systems.beliefrag.decide import ACT
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.types import Frozen, Unit

MAX_POINTS = 1_000


class Point(Frozen):
    """What the runs would have come to at one value of the knob.

    ``front``: no other value has at least this F1 for at most these tokens, and one of both
    better.
    """

    value: float
    f1: Interval
    tokens: float
    rounds: float
    answered: Unit
    front: bool = False


def parse_range(text: str) -> tuple[str, tuple[float, ...]]:
    """``name=first:last:step`` as the name and its values, both ends included.

    >>> parse_range("answer_threshold=0.3:0.5:0.1")
    ('answer_threshold', (0.3, 0.4, 0.5))

    Raises:
        BadInput: another form, an empty range, or more than 1,000 values.
    """
    name, sign, spread = text.partition("=")
    parts = spread.split(":")
    try:
        first, last, step = (float(part) for part in parts)
    except ValueError:
        first = last = step = math.nan
    if not sign or not all(map(math.isfinite, (first, last, step))):
        raise BadInput(f"--knob takes name=first:last:step, not {text[:80]!r}.")
    if step <= 0 or last < first:
        raise BadInput(f"The range {spread} is empty; give first <= last and a step above 0.")
    if (last - first) / step >= MAX_POINTS:
        raise BadInput(f"The range {spread} has too many values; at most {MAX_POINTS} are swept.")
    count = math.floor((last - first) / step + 1e-9) + 1
    values = [round(first + i * step, 10) for i in range(count)]
    if not math.isclose(values[-1], last):
        values.append(last)
    return name.strip(), tuple(values)


def sweep(evaluation: Evaluation, knob: str, values: Sequence[float]) -> list[Point]:
    """F1, tokens, rounds and the share answered at each value, over all probed questions.

    A run is walked to the first state at which its decider, with the recorded inputs and this
    value, ends it: the answer is the one probed there, the tokens are those spent up to there
    and those of the answer.

    Raises:
        BadInput: no probe runs, a knob that cannot be swept from them, or a value out of bounds.
    """
    if knob not in PREFIX_KNOBS:
        raise BadInput(
            f"{knob!r} cannot be swept without new runs, for it changes what a run does on its "
            f"way; these can: {', '.join(sorted(PREFIX_KNOBS))}."
        )
    for value in values:
        override(BeliefRAGSettings(), {knob: value})
    runs = probed_runs(evaluation)
    points = [_point(runs, knob, value) for value in values]
    return [p.model_copy(update={"front": _on_front(p, points)}) for p in points]


class _End(Frozen):
    f1: Unit
    tokens: int
    rounds: int
    answered: bool


def _point(runs: Sequence[ProbedRun], knob: str, value: float) -> Point:
    ends = [_end(run, knob, value) for run in runs]
    return Point(
        value=value,
        f1=mean_interval([e.f1 for e in ends]),
        tokens=fmean(e.tokens for e in ends),
        rounds=fmean(e.rounds for e in ends),
        answered=fmean(e.answered for e in ends),
    )


def _end(run: ProbedRun, knob: str, value: float) -> _End:
    settings = override(run.settings, {knob: value})
    for state in run.states:
        outcome = ACT(state.inputs, settings).outcome
        if outcome in ACT.terminal_outcomes:
            asked = outcome in ("answer", "stop")
            return _End(
                f1=state.f1 if asked else 0.0,
                tokens=state.usage.tokens + (state.tokens if asked else 0),
                rounds=state.usage.rounds,
                answered=asked and bool(state.answer),
            )
    return _End(
        f1=token_f1(run.end.answer, run.question.answers),
        tokens=run.end.usage.tokens,
        rounds=run.end.usage.rounds,
        answered=run.end.terminal == "answered",
    )


def _on_front(point: Point, points: Sequence[Point]) -> bool:
    return not any(
        other.f1.value >= point.f1.value
        and other.tokens <= point.tokens
        and (other.f1.value > point.f1.value or other.tokens < point.tokens)
        for other in points
    )
