"""Starting and stopping runs; they belong to the process and the journal, not to a session.

What a run needs first (an index, the loaded models) is prepared in a thread as well, so that the
page is there at once and a reload meanwhile finds the preparation under its run id.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import streamlit as st

from components import session
from components.composer import Reader, reader
from components.frame import RUN
from components.jobs import jobs
from components.workspace import bench_of
from core import registry
from core.errors import BadInput, RagError, RunCancelled
from core.events import ParentStep, Step
from core.journal import RunRecord
from core.live import RunPool
from core.ports import Deps
from core.retrieval.library import Library
from core.retrieval.progress import Progress
from core.runs import RunSpec, new_run_id
from core.settings import SystemSettings
from core.wiring import Workbench

KEPT = 200
log = logging.getLogger(__name__)


@dataclass
class Launch:
    """A run that is being prepared, and will be in the journal under ``run_id`` once ``done``;
    ``problem`` says in one sentence why it could not start."""

    run_id: str
    workspace: str
    corpus: str
    question: str
    what: str = "Getting ready"
    progress: Progress | None = None
    problem: str = ""
    stopping: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class Launcher:
    """Prepares runs in threads and hands them to the pool."""

    def __init__(self, pool: RunPool) -> None:
        self.pool = pool
        self._launches: OrderedDict[str, Launch] = OrderedDict()
        self._lock = threading.Lock()

    def start(
        self,
        bench: Workbench,
        corpus: str,
        system: str,
        question: str,
        settings: SystemSettings,
        reader: Reader = Reader(),
        parent: ParentStep | None = None,
    ) -> str:
        """Begin a run; its id, under which it will be in the journal. ``parent``: the first step
        of the run whose question is asked again.

        Raises:
            BadInput: the question is empty or too long.
        """
        spec = RunSpec(
            system=registry.system(system),
            question=question,
            settings=settings,
            run_id=new_run_id(),
            parent=parent,
        )
        launch = Launch(spec.run_id, bench.workspace, corpus, question)
        return self._go(
            bench, launch, reader, lambda deps: self.pool.start(spec, deps, bench.journal)
        )

    def fork(
        self,
        bench: Workbench,
        record: RunRecord,
        steps: Sequence[Step],
        at: int,
        settings: SystemSettings,
        reader: Reader,
    ) -> str:
        """Begin a run that repeats a recorded one up to a step, then goes on live."""
        launch = Launch(new_run_id(), bench.workspace, record.corpus.id, record.question)

        def go(deps: Deps) -> str:
            return self.pool.fork(
                steps, at, deps, bench.journal, settings=settings, run_id=launch.run_id
            )

        return self._go(bench, launch, reader, go)

    def resume(self, bench: Workbench, record: RunRecord, reader: Reader) -> str:
        """Go on with an interrupted run, under its own id."""
        launch = Launch(record.run_id, bench.workspace, record.corpus.id, record.question)
        return self._go(
            bench,
            launch,
            reader,
            lambda deps: self.pool.resume(record.run_id, deps, bench.journal),
        )

    def get(self, workspace: str, run_id: str) -> Launch | None:
        """A run that this process is preparing or could not start."""
        launch = self._launches.get(run_id)
        return launch if launch is not None and launch.workspace == workspace else None

    def forget(self, run_id: str) -> None:
        """Drop what is known of a preparation that is over."""
        with self._lock:
            self._launches.pop(run_id, None)

    def stop(self, run_id: str) -> None:
        """Stop a run, or its preparation."""
        launch = self._launches.get(run_id)
        if launch is not None:
            launch.stopping = True
        self.pool.cancel(run_id)

    def _go(
        self, bench: Workbench, launch: Launch, reader: Reader, go: Callable[[Deps], str]
    ) -> str:
        with self._lock:
            self._launches[launch.run_id] = launch
            while len(self._launches) > KEPT:
                self._launches.popitem(last=False)
        thread = threading.Thread(
            target=self._prepare, args=(bench, launch, reader, go), name="prepare run", daemon=True
        )
        thread.start()
        return launch.run_id

    def _prepare(
        self, bench: Workbench, launch: Launch, reader: Reader, go: Callable[[Deps], str]
    ) -> None:
        try:
            launch.what = "Opening the corpus"
            self._ensure(bench.library, launch)
            launch.progress, launch.what = None, "Loading the models"
            deps = bench.deps(
                launch.corpus, reader.model, api_key=reader.api_key, api_base=reader.api_base
            )
            bench.embedder.load()
            if launch.stopping:
                raise RunCancelled("Stopped before the run began.")
            go(deps)
        except RagError as problem:
            launch.problem = problem.message
        except Exception as problem:
            launch.problem = f"The run could not start ({type(problem).__name__}); try again."
            log.exception("A run could not start")
        finally:
            launch.done.set()

    @staticmethod
    def _ensure(library: Library, launch: Launch) -> None:
        """Index the corpus where it has no usable index; an indexing under way is joined."""
        if library.summary(launch.corpus).state == "ready":
            return
        before = jobs().get(library.workspace, launch.corpus)
        job = jobs().start(library, launch.corpus)
        launch.what = "Indexing the corpus"
        while not job.done.wait(0.2):
            launch.progress = job.progress
            if launch.stopping:
                job.stopping = job.stopping or job is not before
                raise RunCancelled("Stopped before the run began.")
        if job.problem:
            raise BadInput(job.problem)


@st.cache_resource(show_spinner=False)
def launcher() -> Launcher:
    """The one of this process."""
    return Launcher(RunPool())


def go_to(run_id: str) -> None:
    """Open a run on the run page."""
    st.switch_page(RUN, query_params=session.link(run=run_id))


def stop(run_id: str) -> None:
    """The stop button."""
    launcher().stop(run_id)


def again(workspace: str, record: RunRecord, settings: SystemSettings) -> None:
    """A new run of a recorded question, over the corpus as it is now."""
    bench = bench_of(workspace)
    show(
        launcher().start(
            bench,
            record.corpus.id,
            record.system,
            record.question,
            settings,
            _same(record),
            ParentStep(run_id=record.run_id, seq=0),
        )
    )


def resume(workspace: str, record: RunRecord) -> None:
    """Go on with a run whose process died."""
    show(launcher().resume(bench_of(workspace), record, _same(record)))


def fork(
    workspace: str, record: RunRecord, steps: Sequence[Step], at: int, settings: SystemSettings
) -> None:
    """A new run that shares the past of this one and goes on live under other settings."""
    show(launcher().fork(bench_of(workspace), record, steps, at, settings, _same(record)))


def _same(record: RunRecord) -> Reader:
    """The reader that a run was made with, with this session's key."""
    return Reader() if record.model is None else reader(record.model)


def show(run_id: str, step: int | None = None) -> None:
    """Have the run page show another run. A link of the host to the page that is open already
    would leave the address as it is."""
    session.show(**{session.P_RUN: run_id, session.P_STEP: step, session.P_SET: None})
