"""Re-decide a recorded run under other settings, without any call.

Every recorded decision is taken again by the same decider from the recorded inputs. Up to the first
outcome that differs the result is certain. From there on it is unknown, unless the new outcome ends
the run; and a changed action or index setting makes it unknown from that setting's first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

from pydantic import JsonValue

from core import contracts, decisions
from core.decisions import Decider, Decision, Undetermined
from core.events import Called, Decided, Step
from core.settings import Role, SystemSettings, changed, extra, override, role_of
from core.tasks import TASKS
from core.trace import start
from core.types import Budgets, Frozen, Gate, JsonObject

RESOURCES = ("calls", "tokens", "rounds", "actions")
Certainty = Literal["same", "diverged", "undetermined", "unknown", "ended"]


class Divergence(Frozen):
    """The first decision that comes out otherwise; ``gates`` are those of the new decision."""

    seq: int
    decider: str
    recorded: str
    replayed: str
    gates: tuple[Gate, ...]


class Redecision(Frozen):
    """A recorded decision under the new settings.

    ``same``: certain, and the outcome is the recorded one. ``diverged``: certain, and it is not.
    ``undetermined``: the settings need what was never fetched. ``unknown``: not reachable from what
    was recorded; ``replayed`` and ``gates`` then say what would be decided from these very inputs,
    if they came about. ``ended``: the run would have ended before.
    """

    seq: int
    decider: str
    recorded: str
    replayed: str | None
    gates: tuple[Gate, ...]
    reason: str
    certainty: Certainty


class ReplayReport(Frozen):
    """A run re-decided. ``unknown_from`` is the first step that these settings leave open, and
    ``unknown_because`` the reason in words; ``ends_as`` the terminal outcome of a divergence."""

    decisions: tuple[Redecision, ...]
    first_divergence: Divergence | None
    unknown_from: int | None
    unknown_because: str
    ends_as: str | None
    model_calls: Literal[0] = 0

    @property
    def diverged(self) -> bool:
        """Whether some certain outcome is another than the recorded one."""
        return self.first_divergence is not None

    def as_json(self) -> JsonObject:
        """The form that the command line prints."""
        first = self.first_divergence
        return {
            "decisions": len(self.decisions),
            "diverged": self.diverged,
            "first_divergence": None if first is None else first.model_dump(mode="json"),
            "model_calls": self.model_calls,
        }


@dataclass(slots=True)
class _Parsed:
    """A recorded decision, its newest result, and the settings that this depended on, if noted."""

    seq: int
    decider: Decider[Any, Any]
    inputs: Frozen
    recorded: str
    result: Decision | Undetermined
    reads: frozenset[str] | None

    def decide(self, settings: SystemSettings, *, noting: bool) -> None:
        """Take the decision anew. To note what it reads makes it half as fast."""
        if noting:
            watched = Watched(settings)
            self.result = self.decider.decide(self.inputs, watched)
            self.reads = frozenset(watched.read_)
        else:
            self.result = self.decider.decide(self.inputs, settings)
            self.reads = None


def _parsed(step: Step, event: Decided, settings: SystemSettings) -> _Parsed:
    decider, inputs = decisions.get(event.decider), contracts.decision_inputs(event)
    watched = Watched(settings)
    result = decider.decide(inputs, watched)
    return _Parsed(step.seq, decider, inputs, event.outcome, result, frozenset(watched.read_))


class ParsedRun:
    """A recorded run with its decisions' inputs parsed once, so that a slider re-decides at once.
    For one thread at a time.

    Raises:
        BadInput: an unknown system or decider, or payloads that they do not accept.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.settings = contracts.run_settings(start(steps))
        self.decisions = tuple(
            _parsed(step, step.event, self.settings)
            for step in steps
            if isinstance(step.event, Decided)
        )
        self._newest, self._moved = self.settings, frozenset[str]()

    def _redecide(self, settings: SystemSettings) -> None:
        """Take the decisions anew that read a setting which has moved since the last time.

        While one slider is dragged, what is read is not noted; it is when another one moves.
        """
        moved = frozenset(changed(self._newest, settings))
        noting = moved != self._moved
        for parsed in self.decisions:
            if moved and (parsed.reads is None or not moved.isdisjoint(parsed.reads)):
                parsed.decide(settings, noting=noting)
        self._newest, self._moved = settings, moved or self._moved

    def replay(self, settings: SystemSettings) -> ReplayReport:
        """Re-decide the whole run under these settings."""
        unknown_from, because = self._first_unknown(settings)
        first: Divergence | None = None
        ends_as: str | None = None
        found = []
        self._redecide(settings)
        for parsed in self.decisions:
            result = parsed.result
            known = unknown_from is None or parsed.seq < unknown_from
            certainty: Certainty = "ended" if ends_as is not None else "unknown"
            if ends_as is None and known:
                certainty = _certainty(parsed, result)
            found.append(_redecision(parsed, result, certainty))
            if certainty == "undetermined":
                assert isinstance(result, Undetermined)
                unknown_from, because = parsed.seq, f"{parsed.decider.name} needs {result.missing}"
            elif certainty == "diverged":
                assert isinstance(result, Decision)
                first = Divergence(
                    seq=parsed.seq,
                    decider=parsed.decider.name,
                    recorded=parsed.recorded,
                    replayed=result.outcome,
                    gates=result.gates,
                )
                if parsed.decider.ends(result.outcome):
                    ends_as, unknown_from, because = result.outcome, None, ""
                else:
                    unknown_from = parsed.seq + 1
                    because = f"the run would go on with {result.outcome!r} instead"
        return ReplayReport(
            decisions=tuple(found),
            first_divergence=first,
            unknown_from=unknown_from,
            unknown_because=because,
            ends_as=ends_as,
        )

    def outcomes(self, settings: SystemSettings) -> tuple[str | None, ...]:
        """What each decision comes to from its recorded inputs, certain or not; None where it is
        undetermined. For charts over many settings."""
        self._redecide(settings)
        results = (parsed.result for parsed in self.decisions)
        return tuple(r.outcome if isinstance(r, Decision) else None for r in results)

    def _first_unknown(self, settings: SystemSettings) -> tuple[int | None, str]:
        found = []
        for name in changed(self.settings, settings):
            if role_of(type(settings), name) is Role.DECISION:
                continue
            declared = extra(type(settings), name)
            seq = self._first_use(declared["first_use"])
            if seq is not None:
                title = type(settings).model_fields[name].title
                found.append((seq, f"{title} changes what was done from step {seq} on"))
        if settings.budgets() != self.settings.budgets():
            found += list(self._refused(settings.budgets()))
        return min(found, default=(None, ""))

    def _first_use(self, kind: str) -> int | None:
        searched = kind == "Retrieved"  # a search that failed used its settings as well
        for step in self.steps:
            event = step.event
            met: set[str] = {event.kind}
            if isinstance(event, Called):
                met.add(f"{event.port}.{event.task}")
            elif isinstance(event, Decided):
                met.add(event.decider)
            if kind in met or (searched and "retriever.search" in met):
                return step.seq
        return None

    def _refused(self, budgets: Budgets) -> Iterator[tuple[int, str]]:
        """The first step that the ledger would have refused under these budgets."""
        limits = (budgets.calls, budgets.tokens, budgets.rounds, budgets.actions)
        for seq, needs in self._needs:
            for name, limit, needed in zip(RESOURCES, limits, needs, strict=True):
                if limit is not None and needed > limit:
                    yield seq, f"the {name} budget would refuse step {seq}"
                    return

    @cached_property
    def _needs(self) -> list[tuple[int, tuple[int, ...]]]:
        """What the ledger had to hold at each step that spent something."""
        found: list[tuple[int, tuple[int, ...]]] = []
        before: tuple[int, ...] = (0, 0, 0, 0)
        for step in self.steps:
            used = step.usage
            needs = (used.calls, used.tokens + _unused(step.event), used.rounds, used.actions)
            if needs != before:
                found.append((step.seq, needs))
            before = (used.calls, used.tokens, used.rounds, used.actions)
        return found


def replay(steps: Sequence[Step], overrides: Mapping[str, JsonValue]) -> ReplayReport:
    """Re-decide a run under its own settings with some of them replaced.

    Raises:
        BadInput: an unknown setting or a value out of bounds, or a run that cannot be read.
    """
    run = ParsedRun(steps)
    return run.replay(override(run.settings, overrides))


def _certainty(parsed: _Parsed, result: Decision | Undetermined) -> Certainty:
    if isinstance(result, Undetermined):
        return "undetermined"
    return "same" if result.outcome == parsed.recorded else "diverged"


def _redecision(
    parsed: _Parsed, result: Decision | Undetermined, certainty: Certainty
) -> Redecision:
    outcome: str | None = None
    gates: tuple[Gate, ...] = ()
    if isinstance(result, Undetermined):
        reason = f"needs {result.missing}"
    else:
        outcome, gates, reason = result.outcome, result.gates, result.reason
    return Redecision(
        seq=parsed.seq,
        decider=parsed.decider.name,
        recorded=parsed.recorded,
        replayed=outcome,
        gates=gates,
        reason=reason,
        certainty=certainty,
    )


def _unused(event: Frozen) -> int:
    """Tokens that a call had to have left for the longest reply and did not use."""
    if not isinstance(event, Called) or event.port != "reasoner" or event.attempt > 1:
        return 0
    return max(0, TASKS[event.task].max_tokens_out - event.tokens_out)


class Watched:
    """Settings that note which fields were read, in ``read_``.

    A property of the settings is computed from the watched fields; any other attribute counts as a
    read of every field.
    """

    __slots__ = ("fields_", "read_", "settings_")

    def __init__(self, settings: SystemSettings) -> None:
        self.settings_ = settings
        self.fields_ = _fields(type(settings))
        self.read_: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name in self.fields_:
            self.read_.add(name)
            return getattr(self.settings_, name)
        found = getattr(type(self.settings_), name, None)
        if isinstance(found, property) and found.fget is not None:
            return found.fget(self)
        self.read_.update(self.fields_)
        return getattr(self.settings_, name)


@cache
def _fields(kind: type[SystemSettings]) -> frozenset[str]:
    return frozenset(kind.model_fields)
