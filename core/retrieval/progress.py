"""How far a long piece of work is, and whether it should stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from core.errors import RunCancelled

Phase = Literal[
    "reading",
    "embedding",
    "storing",
    "calibrating",
    "linking",
    "grouping",
    "weighing",
    "abstracting",
]
"""The last four are those of the abstraction memory."""


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` items of a phase (files, texts, vectors, queries,
    passages); ``rate`` in items a second, and ``seconds_remaining`` of the phase, once something
    is done. ``elsewhere``: another process does it, and is waited for."""

    phase: Phase
    done: int
    total: int
    rate: float | None = None
    seconds_remaining: float | None = None
    elsewhere: bool = False


Report = Callable[[Progress], None]
SELDOM = 0.5
"""Seconds between two notes of one phase for other processes."""


class Tracker:
    """Reports progress and ends the work when it is cancelled."""

    def __init__(
        self, report: Report | None = None, cancelled: Callable[[], bool] | None = None
    ) -> None:
        self._report, self._cancelled = report, cancelled
        self._others: Report | None = None
        self._phase: Phase | None = None
        self._started = self._told = 0.0

    def also(self, report: Report) -> None:
        """Tell another one as well, at most once in ``SELDOM`` seconds of a phase."""
        self._others = report

    def elsewhere(self, progress: Progress | None) -> None:
        """Say how far another one is that is waited for; None where that is not known yet.

        Raises:
            RunCancelled: the person stopped it.
        """
        if self._cancelled is not None and self._cancelled():
            raise RunCancelled("Stopped while another process was indexing; it goes on there.")
        if self._report is not None:
            self._report(replace(progress or Progress("reading", 0, 1), elsewhere=True))

    def step(self, phase: Phase, done: int, total: int, share: float | None = None) -> None:
        """Say how far a phase is; ``share`` of the work done where items differ in size.

        Raises:
            RunCancelled: the person stopped it.
        """
        if self._cancelled is not None and self._cancelled():
            raise RunCancelled(
                "Indexing was stopped; the previous index is as it was, and indexing again goes "
                "on from here."
            )
        fresh = phase != self._phase
        if fresh:
            self._phase, self._started = phase, time.monotonic()
        if self._report is None and self._others is None:
            return
        seconds = time.monotonic() - self._started
        share = (done / total if total else 1.0) if share is None else share
        known = done > 0 and seconds > 0 and share > 0
        progress = Progress(
            phase,
            done,
            total,
            rate=done / seconds if known else None,
            seconds_remaining=max(0.0, seconds / share - seconds) if known else None,
        )
        if self._report is not None:
            self._report(progress)
        if self._others is not None and (fresh or time.monotonic() - self._told > SELDOM):
            self._told = time.monotonic()
            self._others(progress)
