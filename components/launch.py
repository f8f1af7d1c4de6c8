"""Starting and stopping runs; they belong to the process and the journal, not to a session.

What a run needs first (an index, the loaded models) is prepared in a thread as well, so that the
page is there at once and a reload meanwhile finds the preparation under its run id.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import streamlit as st

from components import session
from components.frame import RUN
from components.workspace import bench_of
from core import registry
from core.errors import RagError
from core.journal import RunRecord
from core.live import RunPool
from core.retrieval.progress import Progress
from core.runs import RunSpec, new_run_id
from core.settings import SystemSettings
from core.wiring import Workbench

KEPT = 200


@dataclass
class Launch:
    """A run that is being prepared. ``problem`` says in one sentence why it could not start."""

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
        self, bench: Workbench, corpus: str, system: str, question: str, settings: SystemSettings
    ) -> str:
        """Begin a run; its id, under which it will be in the journal.

        Raises:
            BadInput: the question is empty or too long.
        """
        spec = RunSpec(
            system=registry.system(system),
            question=question,
            settings=settings,
            run_id=new_run_id(),
        )
        launch = Launch(spec.run_id, bench.workspace, corpus, question)
        with self._lock:
            self._launches[spec.run_id] = launch
            while len(self._launches) > KEPT:
                self._launches.popitem(last=False)
        thread = threading.Thread(
            target=self._prepare, args=(bench, spec, launch), name="prepare run", daemon=True
        )
        thread.start()
        return spec.run_id

    def get(self, workspace: str, run_id: str) -> Launch | None:
        """A run that this process is preparing or could not start."""
        launch = self._launches.get(run_id)
        return launch if launch is not None and launch.workspace == workspace else None

    def stop(self, run_id: str) -> None:
        """Stop a run, or its preparation."""
        launch = self._launches.get(run_id)
        if launch is not None:
            launch.stopping = True
        self.pool.cancel(run_id)

    def _prepare(self, bench: Workbench, spec: RunSpec, launch: Launch) -> None:
        def note(progress: Progress) -> None:
            launch.progress = progress

        try:
            launch.what = "Opening the corpus"
            bench.library.ensure(launch.corpus, note, lambda: launch.stopping)
            launch.progress, launch.what = None, "Loading the models"
            deps = bench.deps(launch.corpus)
            bench.embedder.load()
            if launch.stopping:
                launch.problem = "Stopped before the run began."
                return
            self.pool.start(spec, deps, bench.journal)
        except RagError as problem:
            launch.problem = problem.message
        except Exception as problem:
            launch.problem = f"The run could not start ({type(problem).__name__}); try again."
            raise
        finally:
            launch.done.set()


@st.cache_resource(show_spinner=False)
def launcher() -> Launcher:
    """The one of this process."""
    return Launcher(RunPool())


def ask(bench: Workbench, corpus: str, system: str, question: str, settings: SystemSettings) -> str:
    """Begin a run from the page.

    Raises:
        BadInput: the question is empty or too long.
    """
    return launcher().start(bench, corpus, system, question, settings)


def go_to(run_id: str) -> None:
    """Open a run on the run page."""
    st.switch_page(RUN, query_params=session.link(run=run_id))


def stop(run_id: str) -> None:
    """The stop button."""
    launcher().stop(run_id)


def again(workspace: str, record: RunRecord, settings: SystemSettings) -> None:
    """A new run of a recorded question, over the corpus as it is now."""
    run_id = launcher().start(
        bench_of(workspace), record.corpus.id, record.system, record.question, settings
    )
    session.show(
        **{session.P_RUN: run_id, session.P_STEP: None, session.P_SET: None},
    )
