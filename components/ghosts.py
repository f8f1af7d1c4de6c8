"""What a recorded run would have done under the settings now: the ghost over the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from components.belief_charts import MEASURES, Reading
from components.palette import GHOST, Sign
from components.run_store import store
from core.events import BeliefUpdated, Decided, Step
from core.journal import Journal
from core.replay import Redecision, ReplayReport
from core.settings import Role, SystemSettings, changed, extra, role_of
from core.systems.beliefrag.decide import ACT, READING
from core.wording import outcome

SIGN = Sign(GHOST, "alt_route", "under the settings now")
REST = "Move a threshold or a limit in Settings, and see here where this run would have turned."
LIVE = "When it has ended, move a threshold or a limit in Settings: where would it have turned?"


@dataclass(frozen=True, slots=True)
class Ghosts:
    """A recorded run re-decided; ``decisions`` by the step that decided, ``readings`` by the step
    that updated the belief. Empty where the settings are as recorded."""

    changed: tuple[str, ...] = ()
    report: ReplayReport | None = None
    decisions: Mapping[int, Redecision] = field(default_factory=dict)
    readings: Mapping[int, Reading] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def diverges(self) -> int | None:
        """The first step whose outcome certainly differs."""
        first = self.report and self.report.first_divergence
        return first.seq if first else None

    @property
    def reads_alike(self) -> bool:
        """Whether the answer is read from the same evidence all the same, under another branch."""
        first = self.report and self.report.first_divergence
        if not first or first.decider != ACT.name:
            return False
        return {first.recorded, first.replayed} <= READING

    @property
    def greyed_from(self) -> int | None:
        """The first recorded step that would not, or may not, come about."""
        if self.report is None or self.reads_alike:
            return None
        if self.report.ends_as is not None and self.diverges is not None:
            return self.diverges + 1
        return self.report.unknown_from

    def turn(self, steps: Sequence[Step]) -> int | None:
        """The first step that comes out otherwise, or may: from there a new run can go on."""
        report = self.report
        if report is None:
            return None
        turns = [n for n in (self.diverges, report.unknown_from) if n is not None]
        return max(1, min(turns)) if turns and len(steps) > 1 else None

    def summary(self) -> str:
        """The whole of it in one or two sentences."""
        report = self.report
        assert report is not None
        first = report.first_divergence
        if first is None and report.unknown_from is None:
            return "Every decision comes out as recorded."
        parts = []
        if first is not None:
            new, old = outcome(first.replayed), outcome(first.recorded)
            other = f"would {new} another" if new == old else f"would come out as {new}, not {old}"
            parts.append(f"Step {first.seq} {other}.")
        if self.reads_alike:
            parts.append("The answer would be read from the same evidence.")
        elif report.ends_as is not None:
            parts.append("The run would end there.")
        elif report.unknown_from is not None:
            because = report.unknown_because.rstrip(".")
            if first is not None:
                because = because.replace(first.replayed, outcome(first.replayed))
            parts.append(f"Unknown from step {report.unknown_from}: {because}.")
        return " ".join(parts)


NONE = Ghosts()


def redecide(
    journal: Journal,
    run_id: str,
    steps: Sequence[Step],
    recorded: SystemSettings,
    settings: SystemSettings,
) -> Ghosts:
    """Take every decision of a finished run again under other settings; no model is called."""
    names = changed(recorded, settings)
    if not names:
        return NONE
    report = store().replay(journal, run_id, settings)
    return Ghosts(
        changed=names,
        report=report,
        decisions={d.seq: d for d in report.decisions},
        readings=_readings(steps, settings),
        notes=tuple(_needs_a_run(type(settings), names)),
    )


def _needs_a_run(kind: type[SystemSettings], names: Sequence[str]) -> list[str]:
    """Settings that no replay can answer for, with the event at which they first matter."""
    return [
        f"{kind.model_fields[n].title} changes what is done from the first "
        f"{extra(kind, n)['first_use']} on; run again to see it."
        for n in names
        if role_of(kind, n) is not Role.DECISION
    ]


def _readings(steps: Sequence[Step], settings: SystemSettings) -> dict[int, Reading]:
    """The belief after each recorded observation, by BeliefRAG's own functions."""
    from core.systems.beliefrag.belief import assess
    from core.systems.beliefrag.decide import BeliefInputs
    from core.systems.beliefrag.settings import BeliefRAGSettings

    decided = [s.event for s in steps if isinstance(s.event, Decided)]
    if not isinstance(settings, BeliefRAGSettings) or not decided:
        return {}
    last = BeliefInputs.model_validate(decided[-1].inputs)
    seen = last.observations
    updates = [s for s in steps if isinstance(s.event, BeliefUpdated)]
    found = {}
    for place, step in enumerate(updates[: len(seen)], 1):
        now = assess(seen[:place], step.usage.rounds, last.reasoner, last.fit, settings)
        values = now.belief.model_dump() | {"p_ans": now.p_ans, "p_flip": now.p_flip}
        found[step.seq] = Reading(step.seq, {n: values[n] for n in MEASURES})
    return found
