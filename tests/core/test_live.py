"""The pool of live runs: bounded, separate, cancellable, and nothing but the journal sees them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import jsonl, trace
from core.errors import BadInput, JournalFull, PlaybackDiverged
from core.events import FaultInjected, RunFinished, RunStarted
from core.faults import Fault
from core.journal import Journal
from core.live import RunPool
from core.types import CorpusRef
from tests.core.world import TEXTS, WordRetriever, deps, passage, run, spec

PATIENCE = 60


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path)
    yield journal
    journal.close()


class Gated(WordRetriever):
    """Searches wait until they are let through."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.open = threading.Event(), threading.Event()

    def search(self, *arguments: Any) -> Any:
        self.reached.set()
        assert self.open.wait(PATIENCE)
        return super().search(*arguments)


def test_a_started_run_is_in_the_journal_at_once_and_runs_to_its_end(journal: Journal) -> None:
    pool, gate = RunPool(), Gated()
    run_id = pool.start(spec("static"), deps(retriever=gate), journal)
    assert isinstance(journal.steps(run_id)[0].event, RunStarted)
    assert pool.is_active(run_id)
    assert pool.active() == (run_id,)
    assert not pool.wait(run_id, 0.01)
    gate.open.set()
    assert pool.wait(run_id, PATIENCE)
    assert not pool.is_active(run_id)
    assert pool.active() == ()
    assert trace.identical(journal.steps(run_id), run("static"))


def test_cancelling_ends_it_after_the_step_it_is_at(journal: Journal) -> None:
    pool, gate = RunPool(), Gated()
    run_id = pool.start(spec("iterative"), deps(retriever=gate), journal)
    assert gate.reached.wait(PATIENCE)
    assert pool.cancel(run_id)
    gate.open.set()
    assert pool.wait(run_id, PATIENCE)
    assert journal.run(run_id).terminal == "cancelled"
    assert any(s.event.kind == "Retrieved" for s in journal.steps(run_id))
    assert not pool.cancel(run_id)
    assert pool.wait("nothing")


def test_the_pool_is_bounded_and_says_so(journal: Journal) -> None:
    pool, gate = RunPool(limit=2), Gated()
    ids = [pool.start(spec("static"), deps(retriever=gate), journal) for _ in range(2)]
    with pytest.raises(BadInput, match="2 runs are going"):
        pool.start(spec("static"), deps(), journal)
    gate.open.set()
    assert all(pool.wait(i, PATIENCE) for i in ids)
    assert pool.wait(pool.start(spec("static"), deps(), journal), PATIENCE)


def test_fifty_runs_at_once_lose_and_mix_nothing_and_can_each_be_stopped(
    journal: Journal,
) -> None:
    """Each run has a corpus of its own; they share the pool, the journal and nothing else."""
    pool, gate = RunPool(), threading.Event()

    class Own(Gated):
        def __init__(self, n: int) -> None:
            super().__init__()
            self.open = gate
            self.corpus = CorpusRef(id=f"world {n}", version="1")
            self.passages = tuple(passage(t, f"{x} Copy {n}.") for t, x in TEXTS.items())

    worlds = [Own(n) for n in range(50)]
    ids = [pool.start(spec("iterative"), deps(retriever=world), journal) for world in worlds]
    assert len(set(ids)) == 50
    stopped = ids[::5]
    for world in worlds:
        assert world.reached.wait(PATIENCE)
    for run_id in stopped:
        assert pool.cancel(run_id)
    gate.set()
    assert all(pool.wait(i, PATIENCE) for i in ids)
    for n, run_id in enumerate(ids):
        steps = journal.steps(run_id)
        assert [s.seq for s in steps] == list(range(len(steps)))
        end = steps[-1].event
        assert isinstance(end, RunFinished)
        assert end.terminal == ("cancelled" if run_id in stopped else "answered")
        assert trace.start(steps).corpus.id == f"world {n}"
        own = {p.id for p in worlds[n].passages}
        assert set(trace.passages(steps)) <= own
        assert set(end.evidence) <= own
    assert journal.count() == 50


def test_a_run_that_cannot_begin_raises_where_it_was_started(journal: Journal) -> None:
    class Full:
        def append(self, steps: Any) -> None:
            raise JournalFull("The disk is full.")

        def abandon(self, run_id: str) -> None:
            raise JournalFull("The disk is full.")

    pool = RunPool()
    with pytest.raises(JournalFull):
        pool.start(spec("static"), deps(), Full())  # type: ignore[arg-type]
    assert pool.active() == ()


def test_a_disk_that_fills_up_leaves_the_run_interrupted_and_resumable(tmp_path: Path) -> None:
    class Filling(Journal):
        room = 3

        def append(self, steps: Any) -> None:
            self.room -= 1
            if self.room < 0:
                raise JournalFull("The disk is full.")
            super().append(steps)

    journal, pool = Filling(tmp_path), RunPool()
    run_id = pool.start(spec("static"), deps(), journal)
    assert pool.wait(run_id, PATIENCE)
    assert journal.run(run_id).status == "interrupted"
    journal.room = 100
    assert pool.resume(run_id, deps(), journal) == run_id
    assert pool.wait(run_id, PATIENCE)
    assert trace.identical(journal.steps(run_id), run("static"))


def test_an_internal_error_ends_the_run_as_failed(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(WordRetriever):
        def search(self, *_: Any) -> Any:
            raise ZeroDivisionError

    pool = RunPool()
    run_id = pool.start(spec("static"), deps(retriever=Broken()), journal)
    assert pool.wait(run_id, PATIENCE)
    assert (journal.run(run_id).status, journal.run(run_id).terminal) == ("finished", "failed")
    assert run_id in caplog.text


def test_forks_and_resumes_run_in_the_pool(journal: Journal) -> None:
    pool, steps = RunPool(), run("iterative")
    forked = pool.fork(steps, 9, deps(), journal, chosen_faults=(Fault("rate-limit"),))
    assert pool.wait(forked, PATIENCE)
    assert any(isinstance(s.event, FaultInjected) for s in journal.steps(forked))
    parent = journal.run(forked).parent
    assert parent is not None
    assert parent.run_id == steps[0].run_id
    journal.import_jsonl(jsonl.dump(steps[:8]))
    assert pool.wait(pool.resume(steps[0].run_id, deps(), journal), PATIENCE)
    assert trace.identical(journal.steps(steps[0].run_id), steps)
    with pytest.raises(BadInput, match="steps 0 to"):
        pool.fork(steps, 999, deps(), journal)
    other = spec("iterative", max_rounds=1).settings
    with pytest.raises(PlaybackDiverged):
        pool.fork(steps, len(steps) - 2, deps(), journal, settings=other)
    assert journal.count() == 2
