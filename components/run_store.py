"""Steps of recently shown runs, kept once a process so that a live page reads only what is new.

The journal is the truth; nothing here outlives the process, and a workspace reads only its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import streamlit as st

from core import collecting, trace
from core.events import RunFinished, RunStarted, Step
from core.journal import Journal
from core.replay import ParsedRun, ReplayReport
from core.settings import SystemSettings

RUNS_KEPT = 24
STEPS_KEPT = 100_000
"""Runs of more steps than these together push the longest unused ones out."""
LONG = 2_000
"""So many steps read at once are set aside from the garbage collector while they are kept."""


@dataclass
class _Kept:
    steps: list[Step] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    parsed: ParsedRun | None = None


class StepStore:
    """A bounded memory of runs by workspace and run id; safe from several threads."""

    def __init__(self, kept: int = RUNS_KEPT) -> None:
        self._size = kept
        self._runs: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def steps(self, journal: Journal, run_id: str) -> list[Step]:
        """All steps of a run so far; only those not known yet are read from the journal.

        Raises:
            BadInput: this workspace has no such run.
        """
        kept = self._kept(journal, run_id)
        with kept.lock:
            return list(self._read(kept, journal, run_id))

    def start(self, journal: Journal, run_id: str) -> RunStarted:
        """What a run was started with; of a run that is not kept, only its first step is read.

        Raises:
            BadInput: this workspace has no such run.
        """
        with self._lock:
            kept = self._runs.get((journal.workspace, run_id))
        steps = kept.steps[:1] if kept else []
        return trace.start(steps or journal.steps(run_id, limit=1))

    def replay(self, journal: Journal, run_id: str, settings: SystemSettings) -> ReplayReport:
        """Re-decide a run; its decisions are parsed once and kept.

        Raises:
            BadInput: this workspace has no such run.
        """
        kept = self._kept(journal, run_id)
        with kept.lock:
            steps = self._read(kept, journal, run_id)
            if kept.parsed is None or len(kept.parsed.steps) != len(steps):
                with collecting.paused():
                    kept.parsed = ParsedRun(list(steps))
                    if len(steps) >= LONG:
                        collecting.set_aside()
            return kept.parsed.replay(settings)

    def _kept(self, journal: Journal, run_id: str) -> _Kept:
        key = (journal.workspace, run_id)
        with self._lock:
            kept = self._runs.setdefault(key, _Kept())
            self._runs.move_to_end(key)
            held = sum(len(k.steps) for k in self._runs.values())
            while len(self._runs) > self._size or (held > STEPS_KEPT and len(self._runs) > 1):
                gone = len(self._runs.popitem(last=False)[1].steps)
                held -= gone
                if gone >= LONG:
                    collecting.take_back()
            return kept

    @staticmethod
    def _read(kept: _Kept, journal: Journal, run_id: str) -> list[Step]:
        if not (kept.steps and isinstance(kept.steps[-1].event, RunFinished)):
            with collecting.paused():
                fresh = journal.steps(run_id, after=len(kept.steps) - 1)
                kept.steps += fresh
                if len(fresh) >= LONG:
                    collecting.set_aside()
        return kept.steps

    def forget(self, workspace: str, run_id: str) -> None:
        """Read the run anew when it is next asked for."""
        with self._lock:
            self._runs.pop((workspace, run_id), None)


@st.cache_resource(show_spinner=False)
def store() -> StepStore:
    """The one of this process."""
    return StepStore()
