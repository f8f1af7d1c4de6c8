"""Whether an answer was let out by the gates of its system, or is only the best guess.

It is a best guess where the run ended by a branch that its system declares as forced
(``System.branches``), or where the answer is not found in the sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core import measures, registry
from core.errors import Terminal
from core.events import Decided, RunFinished, Step
from core.systems.definition import Branch
from core.trace import start
from core.types import Gate

UNGROUNDED = "The answer is not found in the sources."
STANDS = (
    "A passage holds these words. Nobody checked whether they answer the question: no gate let "
    "this answer out."
)
"""What it says of a best guess that its words are in the sources."""
_SIDES = {">=": "below", ">": "not above", "<=": "above", "<": "not below", "==": "not at"}


def branch_of(system: str, name: str | None) -> Branch | None:
    """A branch by which runs of the system come to an answer, as the system declares it."""
    known = registry.systems().get(system)
    return next((b for b in known.branches if b.name == name), None) if known else None


def guess(
    system: str, terminal: Terminal | None, branch: str | None, *, grounded: bool | None
) -> str:
    """Why a run's answer is only a best guess, from what a journal lists of it; empty where it is
    more than that, or where there is no answer."""
    if terminal != "answered":
        return ""
    declared = branch_of(system, branch)
    if declared is not None and declared.forced:
        return declared.forced
    return "" if grounded else UNGROUNDED


def guess_of(steps: Sequence[Step]) -> str:
    """Why a run's answer is only a best guess, with the numbers that fell short."""
    last = steps[-1].event
    if not isinstance(last, RunFinished):
        return ""
    system = start(steps).system
    why = guess(system, last.terminal, last.branch, grounded=last.grounded)
    declared = branch_of(system, last.branch)
    if not why or declared is None or not declared.forced:
        return why
    short = list(lacking(steps, declared))
    if short:
        why = f"{'; '.join(short)}."
    return why if last.grounded else f"{why} {UNGROUNDED}"


def lacking(steps: Sequence[Step], branch: Branch) -> Iterator[str]:
    """Which gates of the branch did not fire when they were last evaluated, in words:
    ``answerable 0.38, below the threshold 0.50``."""
    for gate in weighed(steps, branch):
        if not gate.fired:
            yield _short(measures.measure(branch.decider, gate.name), gate)


def weighed(steps: Sequence[Step], branch: Branch) -> list[Gate]:
    """The branch's gates as its decider last evaluated them; such as it did not reach are left
    out."""
    for step in reversed(steps):
        if isinstance(step.event, Decided) and step.event.decider == branch.decider:
            return [g for g in step.event.gates if g.name in branch.gates]
    return []


def _short(what: measures.Measure, gate: Gate) -> str:
    title = what.title.lower()
    if what.kind == "flag":
        return f"{title}: {'yes' if gate.value else 'no'}"
    if what.kind == "count":
        value, threshold = f"{gate.value:,.0f}", f"{gate.threshold:,.0f}"
    else:
        for digits in (2, 3, 4, 6, 12):
            value, threshold = f"{gate.value:.{digits}f}", f"{gate.threshold:.{digits}f}"
            if value != threshold:
                break
    return f"{title} {value}, {_SIDES[gate.op]} the threshold {threshold}"
