"""The journal through its public API: durability, ownership, workspaces, JSON lines."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.errors import BadInput, JournalError, JournalFull
from core.events import QueryIssued, RunFinished
from core.journal import Journal, RunFilter
from core.runs import execute
from tests.core.world import append_at_once, deps, run, spec

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


def finished(journal: Journal, name: str = "static", **settings: object) -> str:
    """The id of a finished run in the journal."""
    return list(execute(spec(name, **settings), deps(), journal))[-1].run_id


def in_other_process(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 or done.returncode < 0, done.stderr
    return done.stdout


DIES_RUNNING = """
import os, signal, sys
from core.journal import Journal
from core.runs import execute
from tests.core.world import deps, spec
journal = Journal(sys.argv[1])
for step in execute(spec("iterative"), deps(), journal):
    print(step.run_id, step.seq, flush=True)
    if step.seq == 9:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_is_kept_step_by_step_and_summarised_at_its_end(journal: Journal) -> None:
    seen = []
    for step in execute(spec(), deps(), journal):
        seen.append(step)
        assert journal.steps(step.run_id)[step.seq] == step
    run_id = seen[0].run_id
    record, end = journal.run(run_id), seen[-1].event
    assert isinstance(end, RunFinished)
    assert journal.steps(run_id) == seen
    assert (record.status, record.terminal, record.answer) == ("finished", "answered", end.answer)
    assert (record.steps, record.usage) == (len(seen), end.usage)
    assert record.finished == seen[-1].at


def test_a_running_run_is_listed_with_the_steps_it_has(journal: Journal) -> None:
    steps = execute(spec(), deps(), journal)
    first = next(steps)
    next(steps)
    record = journal.run(first.run_id)
    assert record.status == "running"
    assert record.terminal is None
    assert record.steps == len(journal.steps(first.run_id))


def test_steps_are_paged(journal: Journal) -> None:
    run_id = finished(journal)
    whole = journal.steps(run_id)
    assert journal.steps(run_id, after=2, limit=3) == whole[3:6]
    assert journal.steps(run_id, after=whole[-1].seq) == []


def test_appending_is_all_or_nothing(journal: Journal) -> None:
    steps = run()
    journal.append(steps[:3])
    with pytest.raises(JournalError):
        journal.append([steps[3], steps[5]])
    with pytest.raises(JournalError):
        journal.append(steps[4:6])
    assert journal.steps(steps[0].run_id) == steps[:3]
    journal.append(steps[3:])
    assert journal.steps(steps[0].run_id) == steps


def test_a_finished_run_takes_no_more(journal: Journal) -> None:
    steps = run()
    journal.append(steps)
    more = steps[-2].model_copy(update={"seq": len(steps)})
    with pytest.raises(JournalError, match="does not belong"):
        journal.append([more])


def test_two_writers_of_one_run_are_refused(tmp_path: Path) -> None:
    steps = run()
    mine, other = Journal(tmp_path), Journal(tmp_path)
    mine.append(steps[:4])
    with pytest.raises(JournalError):
        other.append(steps[:4])
    with pytest.raises(JournalError):
        other.append(steps[4:5])
    with pytest.raises(BadInput, match="still running"):
        other.claim(steps[0].run_id)
    assert mine.steps(steps[0].run_id) == steps[:4]


def test_a_full_disk_keeps_nothing_of_the_batch_and_is_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    steps = run()
    journal.append(steps[:2])
    with journal._store.engine.connect() as connection:  # the limit belongs to the file's writer
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    with journal._store.transaction() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    big = steps[2].model_copy(
        update={"event": QueryIssued(query="x" * 500_000, transformation="t", rationale="r")}
    )
    with pytest.raises(JournalFull, match="free space"):
        journal.append([big])
    assert journal.steps(steps[0].run_id) == steps[:2]
    with journal._store.transaction() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    journal.append([big])
    assert journal.steps(steps[0].run_id) == [*steps[:2], big]


def test_a_killed_process_leaves_its_run_interrupted_and_whole(tmp_path: Path) -> None:
    printed = in_other_process(DIES_RUNNING, str(tmp_path)).split()
    run_id, last = printed[0], int(printed[-1])
    journal = Journal(tmp_path)
    record = journal.run(run_id)
    assert record.status == "interrupted"
    kept = journal.steps(run_id)
    assert [s.seq for s in kept] == list(range(len(kept)))
    assert kept[-1].seq >= last
    assert journal.claim(run_id) == kept
    assert journal.run(run_id).status == "running"
    with pytest.raises(BadInput, match="still running"):
        Journal(tmp_path).claim(run_id)


def test_a_living_process_keeps_its_runs_when_another_starts(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    steps = execute(spec(), deps(), journal)
    run_id = next(steps).run_id
    code = (
        "import sys; from core.journal import Journal; j = Journal(sys.argv[1]); "
        "print(j.run(sys.argv[2]).status)"
    )
    assert in_other_process(code, str(tmp_path), run_id).strip() == "running"
    assert list(steps)[-1].event.kind == "RunFinished"


def test_an_abandoned_run_can_be_claimed_again(journal: Journal) -> None:
    steps = run()
    journal.append(steps[:5])
    journal.abandon(steps[0].run_id)
    assert journal.run(steps[0].run_id).status == "interrupted"
    with pytest.raises(JournalError, match="does not belong"):
        journal.append(steps[5:6])
    assert journal.claim(steps[0].run_id) == steps[:5]
    journal.append(steps[5:])
    assert journal.run(steps[0].run_id).status == "finished"


def test_threads_do_not_mix_or_lose_steps(journal: Journal) -> None:
    runs = [run("iterative") for _ in range(8)]
    append_at_once(journal, runs)
    for steps in runs:
        assert journal.steps(steps[0].run_id) == steps


def test_workspaces_do_not_see_each_other(tmp_path: Path) -> None:
    ours, theirs = Journal(tmp_path, "ours"), Journal(tmp_path, "theirs")
    run_id = finished(ours)
    assert theirs.runs() == []
    assert theirs.count() == 0
    for forbidden in (
        theirs.run,
        theirs.steps,
        theirs.export_jsonl,
        theirs.delete,
        theirs.restore,
        theirs.claim,
        lambda i: theirs.rename(i, "x"),
        lambda i: theirs.label(i, "right"),
    ):
        with pytest.raises(BadInput, match="no run"):
            forbidden(run_id)
    assert theirs.purge(corpus_id="world") == 0
    theirs.import_jsonl(ours.export_jsonl(run_id))
    theirs.rename(run_id, "theirs")
    assert ours.run(run_id).name == ""
    assert theirs.steps(run_id) == ours.steps(run_id)


def test_names_notes_and_labels(journal: Journal) -> None:
    run_id = finished(journal)
    journal.rename(run_id, " a name ")
    journal.note(run_id, "seen in class")
    journal.label(run_id, "wrong", "Low Tide")
    record = journal.run(run_id)
    assert (record.name, record.note) == ("a name", "seen in class")
    assert (record.label, record.right_answer) == ("wrong", "Low Tide")
    journal.label(run_id, None)
    assert journal.run(run_id).label is None
    with pytest.raises(BadInput, match="at most"):
        journal.note(run_id, "x" * 10_001)


def test_listing_filters_pages_and_counts(journal: Journal) -> None:
    ids = [finished(journal, name) for name in ("static", "iterative", "static")]
    journal.note(ids[1], "100% of_it")
    assert {r.run_id for r in journal.runs()} == set(ids)
    assert [r.started for r in journal.runs()] == sorted(
        (r.started for r in journal.runs()), reverse=True
    )
    assert {r.run_id for r in journal.runs(RunFilter(system="static"))} == {ids[0], ids[2]}
    assert journal.count(RunFilter(terminal="answered")) == 3
    assert [r.run_id for r in journal.runs(RunFilter(text="100% OF_"))] == [ids[1]]
    assert journal.runs(RunFilter(text="100%of")) == []
    paged = journal.runs(limit=2) + journal.runs(offset=2, limit=2)
    assert [r.run_id for r in paged] == [r.run_id for r in journal.runs()]


def test_deleting_can_be_undone_until_it_is_purged(journal: Journal) -> None:
    run_id = finished(journal)
    journal.delete(run_id)
    assert journal.runs() == []
    assert [r.run_id for r in journal.runs(RunFilter(deleted=True))] == [run_id]
    assert journal.purge(deleted_before=datetime.now(UTC) - timedelta(days=1)) == 0
    journal.restore(run_id)
    assert [r.run_id for r in journal.runs()] == [run_id]
    journal.delete(run_id)
    assert journal.purge(deleted_before=datetime.now(UTC) + timedelta(days=1)) == 1
    with pytest.raises(BadInput, match="no run"):
        journal.steps(run_id)


def test_purging_a_corpus_takes_its_runs_and_no_running_one(journal: Journal) -> None:
    gone = finished(journal)
    running = execute(spec(), deps(), journal)
    kept = next(running).run_id
    assert journal.purge(corpus_id="another") == 0
    assert journal.purge(corpus_id="world") == 1
    assert [r.run_id for r in journal.runs()] == [kept]
    with journal._store.engine.connect() as connection:
        left = connection.scalar(
            sa.text("select count(*) from steps where run_id = :run"), {"run": gone}
        )
    assert left == 0
    with pytest.raises(BadInput, match="still running"):
        journal.delete(kept)


def test_a_newer_or_damaged_journal_is_refused_with_a_sentence(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "newer")
    with journal._store.transaction() as connection:
        connection.execute(sa.text("update journal_meta set schema = 99"))
    with pytest.raises(BadInput, match="newer version"):
        Journal(tmp_path / "newer")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "journal.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(JournalError, match="damaged"):
        Journal(tmp_path / "damaged")
    (tmp_path / "file").write_text("x")
    with pytest.raises(JournalError, match="directory"):
        Journal(tmp_path / "file")
    with pytest.raises(BadInput, match="in-memory"):
        Journal("sqlite://")


@pytest.mark.parametrize(("level", "number"), [("NORMAL", 1), ("FULL", 2)])
def test_a_journal_can_be_made_to_survive_a_power_failure(
    level: str, number: int, tmp_path: Path
) -> None:
    journal = Journal(tmp_path, synchronous=level)  # type: ignore[arg-type]
    with journal._store.transaction() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == number
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
