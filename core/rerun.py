"""Fork and resume: a controller is run again over a recorded run.

As long as it does what was recorded, its calls are answered from the record (``playback``) and the
steps that come out are compared with it (``tape``); then the ports go live. Nothing of a run that
comes out otherwise is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from core import contracts, injection, runs
from core.errors import BadInput
from core.events import Called, Origin, ParentStep, RunFinished, RunStarted, Step, Warned
from core.faults import Fault
from core.journal import Journal
from core.memory import MemoryScope, NoMemory
from core.playback import played
from core.ports import Deps, Recorder
from core.registry import system
from core.settings import SystemSettings
from core.tape import Tape
from core.trace import start


def fork(
    steps: Sequence[Step],
    at_seq: int,
    deps: Deps,
    journal: Recorder,
    *,
    settings: SystemSettings | None = None,
    run_id: str | None = None,
    origin: Origin = "fork",
    chosen_faults: tuple[Fault, ...] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Step]:
    """A new run that repeats a recorded one up to and including step ``at_seq`` and then goes its
    own way, under ``settings`` or the recorded ones. It recalls what the recorded run did, and
    from there on leaves the shared memory alone.

    Where the step is a decision that the settings change, the new run turns there. Yields every
    step of the new run, each already journaled. The question and the access are the recorded ones.

    Raises:
        BadInput: there is no such step to fork at, or the run cannot be read.
        PlaybackDiverged: the controller does not repeat the record, for instance because the
            settings change an earlier decision; nothing of the new run was kept.
        JournalError: see ``runs.execute``.
    """
    started = start(steps)
    last = len(steps) - (2 if isinstance(steps[-1].event, RunFinished) else 1)
    if not 0 <= at_seq <= last:
        raise BadInput(f"The run can be forked at steps 0 to {last}, not at step {at_seq}.")
    stopped = steps[at_seq].event
    cancelled_here = isinstance(stopped, Warned) and stopped.fault == "cancelled"
    length = at_seq if cancelled_here else at_seq + 1
    recorded_settings = contracts.run_settings(started)
    settings = settings or recorded_settings
    loose = settings != recorded_settings or (started.reasoner, started.model) != (
        deps.reasoner.name,
        deps.reasoner.model,
    )
    spec = runs.RunSpec(
        system(started.system),
        started.question,
        settings,
        run_id=run_id or runs.new_run_id(),
        seed=started.seed,
        origin=origin,
        parent=ParentStep(run_id=steps[0].run_id, seq=at_seq),
    )
    for fault in chosen_faults:
        fault.check(spec.system)
        if fault.strikes_silently(spec.system):
            raise BadInput(f"Stage {fault.stage!r} spends nothing; in a fork, name another stage.")
    tape = Tape(steps, length, loose=loose)
    live = injection.wrap(deps, chosen_faults)
    keeper = injection.wrap_recorder(journal, chosen_faults)
    recorder = _Recorder(keeper, tape, copy=True)
    ports = played(live, tape, started.access, NoMemory())
    executed = runs.execute(spec, ports, recorder, _once_live(tape, cancelled))
    yield from recorder.publish(executed)


def resume(
    run_id: str,
    deps: Deps,
    journal: Journal,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Step]:
    """Go on with an interrupted run, under its own id and settings, from where it was.

    Yields the new steps only. What was spent counts on.

    Raises:
        BadInput: the run is not interrupted, belongs to another corpus, reasoner or model than
            ``deps``, or was steered by a probe.
        PlaybackDiverged: the controller does not repeat the record; the run stays as it was.
        JournalError: see ``runs.execute``.
    """
    steps = journal.claim(run_id)
    try:
        started = start(steps)
        recalled = any(isinstance(s.event, Called) and s.event.port == "memory" for s in steps)
        _same_world(started, deps, recalled=recalled)
        spec = runs.RunSpec(
            system(started.system),
            started.question,
            contracts.run_settings(started),
            run_id=run_id,
            seed=started.seed,
            origin=started.origin,
            parent=started.parent,
        )
        tape = Tape(steps, len(steps), loose=False)
        recorder = _Recorder(journal, tape, copy=False)
        ports = played(deps, tape, started.access, deps.memory)
        executed = runs.execute(spec, ports, recorder, _once_live(tape, cancelled))
        yield from recorder.publish(executed)
    finally:
        journal.abandon(run_id)


def _once_live(tape: Tape, cancelled: Callable[[], bool]) -> Callable[[], bool]:
    """A repeated part cannot be cancelled: it did not happen now."""
    return lambda: tape.live and cancelled()


def _same_world(started: RunStarted, deps: Deps, *, recalled: bool) -> None:
    """``recalled``: what the run needs of the shared memory is recorded."""
    if started.origin == "probe":
        raise BadInput("A probe run cannot be resumed; evaluate the question again.")
    if deps.retriever.corpus != started.corpus:
        raise BadInput(
            f"The corpus {started.corpus.id!r} has changed since the run; fork it instead."
        )
    if (deps.reasoner.name, deps.reasoner.model) != (started.reasoner, started.model):
        wanted = started.model or started.reasoner
        raise BadInput(f"The run was made with {wanted}; resume it with that, or fork it.")
    settings = contracts.run_settings(started)
    if settings.memory_mode() != "shared" or recalled:
        return
    scope = MemoryScope.of(started.corpus, started.access)
    if deps.memory.open(scope).digest != started.memory_digest:
        raise BadInput("The shared memory has changed since the run; fork it instead.")


class _Recorder:
    """Compares what the rerun repeats, and keeps the rest. ``copy``: what is repeated is kept too,
    in one piece and not before all of it came out the same."""

    def __init__(self, journal: Recorder, tape: Tape, *, copy: bool) -> None:
        self.journal, self.tape, self.copy = journal, tape, copy
        self.waiting: list[Step] = []
        self.ready: list[Step] = []

    def append(self, steps: list[Step]) -> None:
        if self.tape.error is not None:
            raise self.tape.error
        kept = list(self.waiting)
        for step in steps:
            if self.tape.live:
                kept.append(step)
                continue
            step = self.tape.accept(step)
            if self.copy:
                kept.append(step)
        if self.tape.live and kept:
            self.journal.append(kept)
            self.ready += kept
            kept = []
        self.waiting = kept

    def publish(self, executed: Iterator[Step]) -> Iterator[Step]:
        """The steps as they were kept, each after that."""
        for _ in executed:
            ready, self.ready = self.ready, []
            yield from ready
