"""Runs in threads: a process-wide pool that outlives the page, the session and the reader.

A run's events go to its journal and nowhere else; whoever wants to watch reads the journal.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from core import rerun, runs
from core.errors import BadInput, JournalError, RagError
from core.events import Step
from core.faults import Fault
from core.journal import Journal
from core.ports import Deps
from core.settings import SystemSettings

log = logging.getLogger(__name__)

Cancelled = Callable[[], bool]


@dataclass(slots=True)
class _Live:
    run_id: str
    journal: Journal
    cancel: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    problem: Exception | None = None


class RunPool:
    """At most ``limit`` runs at once, each in a daemon thread of its own.

    When the process ends, runs that are still going are found interrupted at the next start and
    can be resumed.
    """

    def __init__(self, limit: int = 64) -> None:
        self.limit = limit
        self._live: dict[str, _Live] = {}
        self._lock = threading.Lock()

    def start(self, spec: runs.RunSpec, deps: Deps, journal: Journal) -> str:
        """Begin a run; returns its id when its first step is in the journal.

        Raises:
            BadInput: too many runs are going, or one of this id is.
            RagError: the run could not begin, and there is no run.
        """
        return self._begin(
            spec.run_id, journal, lambda cancelled: runs.execute(spec, deps, journal, cancelled)
        )

    def fork(
        self,
        steps: Sequence[Step],
        at_seq: int,
        deps: Deps,
        journal: Journal,
        *,
        settings: SystemSettings | None = None,
        chosen_faults: tuple[Fault, ...] = (),
        run_id: str | None = None,
    ) -> str:
        """Begin a fork (``rerun.fork``); the new run's id, when its past is in the journal.

        Raises:
            BadInput: it cannot be forked there, or too many runs are going.
            PlaybackDiverged: the past does not repeat; there is no new run.
        """
        new = run_id or runs.new_run_id()

        def forked(cancelled: Cancelled) -> Iterator[Step]:
            return rerun.fork(
                steps,
                at_seq,
                deps,
                journal,
                settings=settings,
                run_id=new,
                chosen_faults=chosen_faults,
                cancelled=cancelled,
            )

        return self._begin(new, journal, forked)

    def resume(self, run_id: str, deps: Deps, journal: Journal) -> str:
        """Go on with an interrupted run (``rerun.resume``), when its first new step is kept.

        Raises:
            BadInput: it cannot be resumed, or too many runs are going.
            PlaybackDiverged: the past does not repeat; the run stays as it was.
        """
        return self._begin(
            run_id,
            journal,
            lambda cancelled: rerun.resume(run_id, deps, journal, cancelled),
        )

    def cancel(self, run_id: str) -> bool:
        """Stop a run after the step it is at; whether it was going."""
        live = self._live.get(run_id)
        if live is not None:
            live.cancel.set()
        return live is not None

    def is_stopping(self, run_id: str) -> bool:
        """Whether it was told to stop and is still at its last step."""
        live = self._live.get(run_id)
        return live is not None and live.cancel.is_set()

    def is_active(self, run_id: str) -> bool:
        """Whether this process is running it; False once its last step is in the journal."""
        return run_id in self._live

    def active(self) -> tuple[str, ...]:
        """Ids of the runs that are going, oldest first."""
        with self._lock:
            return tuple(self._live)

    def wait(self, run_id: str, timeout: float | None = None) -> bool:
        """Wait until a run is over; False if ``timeout`` seconds were not enough."""
        live = self._live.get(run_id)
        return live is None or live.done.wait(timeout)

    def _begin(
        self, run_id: str, journal: Journal, make: Callable[[Cancelled], Iterator[Step]]
    ) -> str:
        live = _Live(run_id, journal)
        with self._lock:
            if run_id in self._live:
                raise BadInput(f"Run {run_id} is already going.")
            if len(self._live) >= self.limit:
                raise BadInput(
                    f"{self.limit} runs are going, which is the most; wait for one or stop one."
                )
            self._live[run_id] = live
        thread = threading.Thread(
            target=self._run, args=(live, make), name=f"run {run_id}", daemon=True
        )
        thread.start()
        live.begun.wait()
        if live.problem is not None:
            raise live.problem
        return run_id

    def _run(self, live: _Live, make: Callable[[Cancelled], Iterator[Step]]) -> None:
        try:
            for _ in make(live.cancel.is_set):
                live.begun.set()
        except Exception as problem:
            if not live.begun.is_set():
                live.problem = problem
            elif not isinstance(problem, RagError):  # its run has ended as failed
                log.exception("An internal error ended run %s", live.run_id)
            self._abandon(live)
        finally:
            with self._lock:
                del self._live[live.run_id]
            live.done.set()
            live.begun.set()

    def _abandon(self, live: _Live) -> None:
        """The run as it is on disk can be resumed; where not even this can be written, the next
        start of the product finds it out."""
        try:
            live.journal.abandon(live.run_id)
        except JournalError as problem:
            log.error("Run %s could not be closed: %s", live.run_id, problem.message)
