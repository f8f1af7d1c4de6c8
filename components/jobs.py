"""Indexing in the background: one job for a corpus, watched by any session of its workspace."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import streamlit as st

from core.errors import RagError
from core.retrieval.building import IndexReport
from core.retrieval.library import Library
from core.retrieval.progress import Progress

NEWS = 120.0
"""Seconds for which the end of an indexing is shown."""


@dataclass
class Job:
    """An indexing under way or done; ``problem`` is a sentence that says what to do."""

    corpus: str
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

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], Job] = {}
        self._lock = threading.Lock()

    def start(self, library: Library, corpus: str) -> Job:
        """Index a corpus in a thread, which touches no page."""
        key = (library.workspace, corpus)
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and job.active:
                return job
            job = self._jobs[key] = Job(corpus)
        thread = threading.Thread(
            target=self._work, args=(library, job), name=f"index {corpus}", daemon=True
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
            job.report = library.index(job.corpus, note, lambda: job.stopping)
        except RagError as problem:
            job.problem = problem.message
        except Exception as problem:
            job.problem = f"Indexing failed ({type(problem).__name__}); try again."
            raise
        finally:
            job.ended = time.monotonic()
            job.done.set()


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The ones of this process."""
    return Jobs()


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
    if progress.seconds_remaining is not None and progress.done < progress.total:
        text += f", about {progress.seconds_remaining:.0f} s left in this phase"
    return min(1.0, share), text
