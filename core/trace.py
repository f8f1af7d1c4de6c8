"""Pure folds over the steps of a run: what every view, comparison and export is made from.

``state_at(steps, k)`` is the state after step ``k``; ``advance`` moves a state over one more
step, so that a live view folds only what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import events as e
from core.errors import Terminal
from core.narration import narrate, plain
from core.passage_names import passage_names
from core.types import Citation, Frozen, JsonObject, Passage, Usage

__all__ = [
    "Difference",
    "RunState",
    "Span",
    "advance",
    "diff",
    "evidence_at",
    "identical",
    "narrate",
    "passages",
    "plain",
    "spans",
    "start",
    "state_at",
    "states",
    "titles",
    "usage_at",
]


_NOTHING_SPENT = Usage()


@dataclass(frozen=True, slots=True)
class RunState:
    """What is known of a run after some step; everything is empty before the first.

    ``evidence`` are the retained passage ids, oldest first; ``banned`` ids never come back;
    ``hits`` is the newest search's result. ``belief``, ``p_ans`` and ``p_flip`` are those of the
    newest update. ``path`` and ``region`` are the committed ones, ``hops`` the resolved ones.
    ``visits`` are the stages in the order they were entered, ``seq`` is -1 before the first step.
    """

    seq: int = -1
    run_id: str = ""
    started: e.RunStarted | None = None
    stage: str = ""
    elapsed_ms: float = 0.0
    usage: Usage = _NOTHING_SPENT
    visits: tuple[str, ...] = ()
    queries: tuple[e.QueryIssued, ...] = ()
    hits: e.Retrieved | None = None
    evidence: tuple[str, ...] = ()
    banned: frozenset[str] = frozenset()
    diagnostics: e.DiagnosticsMeasured | None = None
    belief: e.Belief | None = None
    p_ans: float | None = None
    p_flip: float | None = None
    decision: e.Decided | None = None
    path: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    turns: tuple[e.ForageTurn, ...] = ()
    hops: tuple[e.HopResolved, ...] = ()
    composed: e.Composed | None = None
    citations: tuple[Citation, ...] = ()
    grounded: bool | None = None
    warnings: tuple[e.Warned, ...] = ()
    faults: tuple[e.FaultInjected, ...] = ()
    finished: e.RunFinished | None = None

    @property
    def question(self) -> str:
        """The question; empty before the run has started."""
        return self.started.question if self.started else ""

    @property
    def settings(self) -> JsonObject:
        """The settings that the run was made with."""
        return self.started.settings if self.started else {}

    @property
    def terminal(self) -> Terminal | None:
        """How the run ended; None while it has not."""
        return self.finished.terminal if self.finished else None

    @property
    def branch(self) -> str | None:
        """By which branch the run ended; None while it has not."""
        return self.finished.branch if self.finished else None

    @property
    def answer(self) -> str | None:
        """The answer; None while there is none."""
        return self.finished.answer if self.finished else None


def advance(state: RunState, step: e.Step) -> RunState:
    """The state after one more step.

    Raises:
        ValueError: the step is not the next one.
    """
    if step.seq != state.seq + 1:
        raise ValueError(f"step {step.seq} does not follow step {state.seq}")
    change = _CHANGE.get(type(step.event))
    visits = state.visits if step.stage == state.stage else (*state.visits, step.stage)
    return replace(
        state,
        seq=step.seq,
        run_id=step.run_id,
        stage=step.stage,
        elapsed_ms=step.elapsed_ms,
        usage=step.usage,
        visits=visits,
        **(change(state, step.event) if change else {}),
    )


def _started(_: RunState, x: e.RunStarted) -> dict[str, Any]:
    return {"started": x}


def _query(s: RunState, x: e.QueryIssued) -> dict[str, Any]:
    return {"queries": (*s.queries, x)}


def _retrieved(_: RunState, x: e.Retrieved) -> dict[str, Any]:
    return {"hits": x}


def _evidence(s: RunState, x: e.EvidenceChanged) -> dict[str, Any]:
    gone = frozenset(x.removed)
    kept = tuple(i for i in s.evidence if i not in gone)
    fresh = tuple(i for i in x.added if i not in kept)
    return {"evidence": kept + fresh, "banned": s.banned.union(x.banned)}


def _diagnostics(_: RunState, x: e.DiagnosticsMeasured) -> dict[str, Any]:
    return {"diagnostics": x}


def _belief(_: RunState, x: e.BeliefUpdated) -> dict[str, Any]:
    return {"belief": x.after, "p_ans": x.p_ans, "p_flip": x.p_flip}


def _decided(_: RunState, x: e.Decided) -> dict[str, Any]:
    return {"decision": x}


def _path(_: RunState, x: e.PathCommitted) -> dict[str, Any]:
    return {"path": x.path, "region": x.region}


def _turn(s: RunState, x: e.ForageTurn) -> dict[str, Any]:
    return {"turns": (*s.turns, x)}


def _hop(s: RunState, x: e.HopResolved) -> dict[str, Any]:
    return {"hops": (*s.hops, x)}


def _composed(_: RunState, x: e.Composed) -> dict[str, Any]:
    return {"composed": x}


def _grounded(_: RunState, x: e.Grounded) -> dict[str, Any]:
    return {"grounded": x.grounded, "citations": x.citations}


def _warned(s: RunState, x: e.Warned) -> dict[str, Any]:
    return {"warnings": (*s.warnings, x)}


def _fault(s: RunState, x: e.FaultInjected) -> dict[str, Any]:
    return {"faults": (*s.faults, x)}


def _finished(_: RunState, x: e.RunFinished) -> dict[str, Any]:
    return {"finished": x, "citations": x.citations, "grounded": x.grounded, "evidence": x.evidence}


_CHANGE: dict[type[Frozen], Callable[[RunState, Any], dict[str, Any]]] = {
    e.RunStarted: _started,
    e.QueryIssued: _query,
    e.Retrieved: _retrieved,
    e.EvidenceChanged: _evidence,
    e.DiagnosticsMeasured: _diagnostics,
    e.BeliefUpdated: _belief,
    e.Decided: _decided,
    e.PathCommitted: _path,
    e.ForageTurn: _turn,
    e.HopResolved: _hop,
    e.Composed: _composed,
    e.Grounded: _grounded,
    e.Warned: _warned,
    e.FaultInjected: _fault,
    e.RunFinished: _finished,
}


def states(steps: Iterable[e.Step]) -> Iterator[RunState]:
    """The state after each step."""
    state = RunState()
    for step in steps:
        state = advance(state, step)
        yield state


def state_at(steps: Sequence[e.Step], k: int) -> RunState:
    """The state after step ``k``; past the end it is the last state, below 0 the empty one."""
    state = RunState()
    for step in steps[: k + 1 if k >= 0 else 0]:
        state = advance(state, step)
    return state


def evidence_at(steps: Sequence[e.Step], k: int) -> tuple[Passage, ...]:
    """The passages retained after step ``k``, oldest first."""
    known = passages(steps)
    return tuple(known[i] for i in state_at(steps, k).evidence if i in known)


def passages(steps: Iterable[e.Step]) -> dict[str, Passage]:
    """Every passage that the run has shown, by id, in the order of their appearance."""
    return {
        p.id: p
        for step in steps
        if isinstance(step.event, e.PassagesShown)
        for p in step.event.passages
    }


def titles(steps: Iterable[e.Step]) -> dict[str, str]:
    """Names of the passages that the run has shown, by id; for ``narrate``."""
    return passage_names(passages(steps).values())


def usage_at(steps: Sequence[e.Step], k: int) -> Usage:
    """What was spent up to step ``k``, without folding; nothing below 0."""
    return steps[min(k, len(steps) - 1)].usage if steps and k >= 0 else _NOTHING_SPENT


def start(steps: Sequence[e.Step]) -> e.RunStarted:
    """The first event of a run.

    Raises:
        ValueError: the steps do not begin with RunStarted.
    """
    if not steps or not isinstance(steps[0].event, e.RunStarted):
        raise ValueError("the steps do not begin with RunStarted")
    return steps[0].event


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive steps of one stage and branch, ``first`` to ``last`` inclusive.

    Its time runs from the step before it to its last step, in milliseconds since the run's start;
    ``calls``, ``tokens`` and ``cost`` are what was spent in it.
    """

    stage: str
    branch: str
    first: int
    last: int
    start_ms: float
    end_ms: float
    calls: int
    tokens: int
    cost: float


def spans(steps: Sequence[e.Step]) -> list[Span]:
    """The stages of a run one after the other, as intervals without gaps."""
    found: list[Span] = []
    before, spent = 0.0, _NOTHING_SPENT
    for n, step in enumerate(steps):
        following = steps[n + 1] if n + 1 < len(steps) else None
        if following and (following.stage, following.branch) == (step.stage, step.branch):
            continue
        found.append(
            Span(
                stage=step.stage,
                branch=step.branch,
                first=found[-1].last + 1 if found else 0,
                last=step.seq,
                start_ms=before,
                end_ms=step.elapsed_ms,
                calls=step.usage.calls - spent.calls,
                tokens=step.usage.tokens - spent.tokens,
                cost=round(step.usage.cost - spent.cost, 9),
            )
        )
        before, spent = step.elapsed_ms, step.usage
    return found


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step at which two runs differ; a side is None where its run has ended.

    ``fields`` are the dotted names that differ, such as ``event.outcome``.
    """

    seq: int
    left: e.Step | None
    right: e.Step | None
    fields: tuple[str, ...]


def diff(left: Sequence[e.Step], right: Sequence[e.Step], first: int = 0) -> Difference | None:
    """Where two runs first differ, at step ``first`` or later; None if nowhere.

    Times and run ids do not count (``events.identity``). With ``first=1`` neither does
    RunStarted, so that the same question under other settings is compared by what it did.
    """
    for n in range(first, max(len(left), len(right))):
        a = left[n] if n < len(left) else None
        b = right[n] if n < len(right) else None
        if a is None or b is None:
            return Difference(n, a, b, ("event",))
        fields = tuple(differing(e.identity(a), e.identity(b)))
        if fields:
            return Difference(n, a, b, fields)
    return None


def identical(left: Sequence[e.Step], right: Sequence[e.Step]) -> bool:
    """Whether two runs are equal but for times and run ids."""
    return diff(left, right) is None


def differing(left: Any, right: Any, name: str = "") -> Iterator[str]:
    """Dotted names of the parts in which two JSON values differ; lists differ as a whole."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in dict.fromkeys([*left, *right]):
            part = f"{name}.{key}" if name else str(key)
            if key in left and key in right:
                yield from differing(left[key], right[key], part)
            else:
                yield part
    elif left != right or type(left) is not type(right):
        yield name
