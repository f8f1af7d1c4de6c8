"""Fork and resume: a controller is run again over a recorded run.

As long as it does what was recorded, its calls are answered from the record (``playback``) and the
steps that come out are compared with it (``tape``); then the ports go live. Nothing of a run that
comes out otherwise is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from core import contracts, injection, runs
from core.errors import BadInput, PlaybackDiverged
from core.events import (
    Called,
    FaultInjected,
    Origin,
    ParentStep,
    RunFinished,
    RunStarted,
    Step,
    Warned,
)
from core.faults import Fault
from core.journal import Journal
from core.memory import MemoryScope, NoMemory
from core.playback import played
from core.ports import Deps, Recorder, Retriever
from core.registry import system
from core.settings import SystemSettings
from core.tape import Tape
from core.trace import start
from core.types import CorpusRef


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
        PlaybackDiverged: the controller does not repeat the record, because the settings change
            an earlier decision or because another release made it; nothing of the new run was kept.
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
        faults=chosen_faults,
    )
    tape = Tape(steps, length, loose=loose)
    ports = played(injection.wrap(deps, spec.faults), tape, started.access, NoMemory())
    try:
        yield from _rerun(spec, ports, journal, tape, cancelled, copy=True)
    except PlaybackDiverged as error:
        if settings != recorded_settings:
            unchanged = replace(spec, settings=recorded_settings, faults=())
            if _repeats(unchanged, steps, length, deps):
                raise
        raise _of_another_release(error, "forked") from error


def resume(
    run_id: str,
    deps: Deps,
    journal: Journal,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Step]:
    """Go on with an interrupted run, under its own id, settings and faults, from where it was.

    Yields the new steps only. What was spent counts on.

    Raises:
        BadInput: the run is not interrupted, belongs to another corpus, reasoner or model than
            ``deps``, or was steered by a probe.
        PlaybackDiverged: the controller does not repeat the record, because another release made
            it; the run stays as it was.
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
            faults=contracts.run_faults(started),
        )
        tape = Tape(steps, len(steps), loose=False)
        ports = played(injection.wrap(deps, spec.faults), tape, started.access, deps.memory)
        yield from _rerun(spec, ports, journal, tape, cancelled, copy=False)
    except PlaybackDiverged as error:
        raise _of_another_release(error, "resumed") from error
    finally:
        journal.abandon(run_id)


def _rerun(
    spec: runs.RunSpec,
    ports: Deps,
    journal: Recorder,
    tape: Tape,
    cancelled: Callable[[], bool],
    *,
    copy: bool,
) -> Iterator[Step]:
    """The run over ports that play back and then strike the spec's faults. What struck in the
    repeated part is repeated, and that part cannot be cancelled: it did not happen now."""
    recorder = _Recorder(injection.wrap_recorder(journal, spec.faults), tape, copy=copy)
    own = tape.recorded[spec.parent.seq + 1 if spec.parent else 0 : tape.length]
    spent = {s.event.where for s in own if isinstance(s.event, FaultInjected)}
    due = injection.silently([f for f in spec.faults if f.stage not in spent], spec.system)
    executed = runs.execute(
        spec,
        ports,
        recorder,
        lambda: tape.live and cancelled(),
        silently=lambda stage: (due and due(stage)) if tape.live else tape.struck(stage),
    )
    yield from recorder.publish(executed)


def _repeats(spec: runs.RunSpec, steps: Sequence[Step], length: int, deps: Deps) -> bool:
    """Whether the controller repeats the record, if it is asked for nothing else."""
    tape = Tape(steps, length, loose=True)
    ports = played(deps, tape, start(steps).access, NoMemory())
    try:
        for _ in _rerun(spec, ports, _Nowhere(), tape, lambda: True, copy=False):
            pass
    except PlaybackDiverged:
        return False
    return True


def _of_another_release(error: PlaybackDiverged, done: str) -> PlaybackDiverged:
    return PlaybackDiverged(
        f"The run cannot be {done}: another release of this product made it, whose steps this one "
        "does not repeat. It can still be opened, replayed and exported; to go on from it, ask its "
        f"question again. ({error.message})"
    )


class _Nowhere:
    """A recorder that keeps nothing."""

    def append(self, steps: list[Step]) -> None:
        """Nothing is kept."""


def _same_world(started: RunStarted, deps: Deps, *, recalled: bool) -> None:
    """``recalled``: what the run needs of the shared memory is recorded."""
    if started.origin == "probe":
        raise BadInput("A probe run cannot be resumed; evaluate the question again.")
    if deps.retriever.corpus != started.corpus:
        raise BadInput(_other_corpus(started.corpus, deps.retriever))
    graph = system(started.system).graph_digest(deps)
    if started.graph and graph != started.graph:
        raise BadInput(
            f"This release, or another seed or settings, gives {started.corpus.id!r} another "
            "abstraction memory than the run's; fork the run instead."
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


def _other_corpus(then: CorpusRef, retriever: Retriever) -> str:
    now = retriever.corpus
    if now.id != then.id:
        return f"The run was made over the corpus {then.id!r}, not {now.id!r}; resume it over that."
    only_words_differ: Callable[[str], bool] | None = getattr(retriever, "only_words_differ", None)
    if only_words_differ is not None and only_words_differ(then.version):
        return (
            f"The corpus {then.id!r} holds what it held, but this release cuts text into words "
            "otherwise than the one that made the run, so searches would find other passages; "
            "fork the run instead."
        )
    return (
        f"The corpus {then.id!r} has changed since the run, or is indexed otherwise; "
        "fork the run instead."
    )


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
