"""Indexing in the background: one job for a corpus, watched by any session of its workspace."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import streamlit as st

from core.errors import RagError
from core.retrieval.building import IndexReport
from core.retrieval.library import Library
from core.retrieval.progress import Progress, Report

NEWS = 120.0
"""Seconds for which the end of an indexing is shown."""


@dataclass
class Job:
    """An indexing under way or done; ``problem`` is a sentence that says what to do."""

    corpus: str
    again: bool = False
    progress: Progress | None = None
    report: IndexReport | None = None
    problem: str = ""
    stopping: bool = False
    ended: float = 0.0
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def active(self) -> bool:
        """Whether it is still at work."""
        return not self.done.is_set()

    @property
    def news(self) -> bool:
        """Whether it ended so lately that its end is still worth saying."""
        return self.done.is_set() and time.monotonic() - self.ended < NEWS


class Jobs:
    """Indexing jobs by workspace and corpus. A second start of a running one joins it."""

    what = "Indexing"

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], Job] = {}
        self._lock = threading.Lock()

    def start(self, library: Library, corpus: str, again: bool = False) -> Job:
        """Work on a corpus in a thread, which touches no page; ``again``: from the beginning."""
        key = (library.workspace, corpus)
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and job.active:
                return job
            job = self._jobs[key] = Job(corpus, again)
        thread = threading.Thread(
            target=self._work, args=(library, job), name=f"{self.what} {corpus}", daemon=True
        )
        thread.start()
        return job

    def get(self, workspace: str, corpus: str) -> Job | None:
        """The newest job of a corpus, if there was one since this process started."""
        return self._jobs.get((workspace, corpus))

    def forget(self, workspace: str, corpus: str) -> None:
        """Drop a finished job and what it said."""
        with self._lock:
            job = self._jobs.get((workspace, corpus))
            if job is not None and not job.active:
                del self._jobs[(workspace, corpus)]

    def _work(self, library: Library, job: Job) -> None:
        def note(progress: Progress) -> None:
            job.progress = progress

        try:
            self._do(library, job, note)
        except RagError as problem:
            job.problem = problem.message
        except Exception as problem:
            job.problem = f"{self.what} failed ({type(problem).__name__}); try again."
            raise
        finally:
            job.ended = time.monotonic()
            job.done.set()

    def _do(self, library: Library, job: Job, note: Report) -> None:
        job.report = library.index(job.corpus, note, lambda: job.stopping)


class GraphJobs(Jobs):
    """Builds of typed abstraction memories, likewise."""

    what = "Building the abstraction memory"

    def _do(self, library: Library, job: Job, note: Report) -> None:
        from core.systems.staterag.tam_graph import IndexGraph

        graph = IndexGraph.of(library.open(job.corpus))
        graph.tam(note, lambda: job.stopping, rebuild=job.again)


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The ones of this process."""
    return Jobs()


@st.cache_resource(show_spinner=False)
def graph_jobs() -> GraphJobs:
    """The ones of this process."""
    return GraphJobs()


def phase_text(progress: Progress | None) -> tuple[float, str]:
    """How far an indexing is: a share for a bar, and words with the remaining time of the phase."""
    if progress is None:
        return 0.0, "Starting"
    words = {
        "reading": "Reading files",
        "embedding": "Embedding texts",
        "storing": "Storing vectors",
        "calibrating": "Calibrating scores",
        "linking": "Abstraction memory: reading names",
        "grouping": "Abstraction memory: grouping passages",
        "weighing": "Abstraction memory: linking passages",
        "abstracting": "Abstraction memory: writing abstractions",
    }[progress.phase]
    share = progress.done / progress.total if progress.total else 1.0
    text = f"{words}: {progress.done:,} of {progress.total:,}"
    if progress.elsewhere:
        text = f"Another process is indexing it. {text}"
    if progress.seconds_remaining is not None and progress.done < progress.total:
        text += f", about {progress.seconds_remaining:.0f} s left in this phase"
    return min(1.0, share), text


def under_way(job: Job, key: str) -> None:
    """Show how far a job is, beside the button ``key`` that stops it."""
    share, text = phase_text(job.progress)
    bar, stop = st.columns([5, 1], vertical_alignment="center")
    bar.progress(share, text=text)
    stop.button(
        "Stopping" if job.stopping else "Stop",
        icon=":material/stop:",
        key=key,
        disabled=job.stopping,
        on_click=_stop,
        args=(job,),
    )


def _stop(job: Job) -> None:
    job.stopping = True
