"""The journal's contract against a real PostgreSQL server, where one can be started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import jsonl, trace
from core.errors import BadInput, JournalError
from core.journal import Journal, RunFilter
from core.rerun import resume
from core.runs import execute
from tests.core import postgres
from tests.core.world import append_at_once, deps, run, spec

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres.server() as url:
        yield url


@pytest.fixture
def journal(url: str, request: pytest.FixtureRequest) -> Iterator[Journal]:
    """Each test in a workspace of its own."""
    journal = Journal(url, request.node.name)
    yield journal
    journal.close()


def test_runs_are_kept_listed_and_noted(journal: Journal) -> None:
    steps = list(execute(spec(), deps(), journal))
    run_id = steps[0].run_id
    assert journal.steps(run_id) == steps
    assert journal.steps(run_id, after=3, limit=2) == steps[4:6]
    journal.rename(run_id, "a name")
    journal.label(run_id, "right")
    record = journal.run(run_id)
    assert (record.status, record.terminal, record.name) == ("finished", "answered", "a name")
    assert journal.runs(RunFilter(text="A NAM", label="right")) == [record]
    assert journal.count(RunFilter(label="wrong")) == 0


def test_a_question_with_nul_is_kept(journal: Journal) -> None:
    steps = list(execute(spec(question="Who\x00 is it?"), deps(), journal))
    assert journal.steps(steps[0].run_id) == steps


def test_appends_are_all_or_nothing_and_of_one_writer(journal: Journal, url: str) -> None:
    steps = run()
    journal.append(steps[:4])
    other = Journal(url, journal.workspace)
    with pytest.raises(JournalError) as two:
        other.append(steps[:2])
    assert two.value.reason_code == "two_writers"
    with pytest.raises(BadInput, match="still running"):
        other.claim(steps[0].run_id)
    other.close()
    journal.append(steps[4:])
    assert journal.steps(steps[0].run_id) == steps


def test_import_export_delete_and_purge(journal: Journal) -> None:
    text = jsonl.dump(run())
    record = journal.import_jsonl(text)
    assert journal.import_jsonl(text) == record
    assert journal.export_jsonl(record.run_id) == text
    journal.delete(record.run_id)
    assert journal.runs() == []
    journal.restore(record.run_id)
    assert journal.purge(corpus_id="world") == 1
    with pytest.raises(BadInput, match="no run"):
        journal.steps(record.run_id)


def test_threads_do_not_mix(journal: Journal) -> None:
    runs = [run("iterative") for _ in range(6)]
    append_at_once(journal, runs)
    for steps in runs:
        assert journal.steps(steps[0].run_id) == steps


DIES_RUNNING = """
import os, signal, sys
from core.journal import Journal
from core.runs import execute
from tests.core.world import deps, spec
for step in execute(spec("iterative"), deps(), Journal(sys.argv[1], sys.argv[2])):
    print(step.run_id, flush=True)
    if step.seq == 9:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_gives_up_its_run_and_a_living_one_does_not(
    journal: Journal, url: str
) -> None:
    command = [sys.executable, "-c", DIES_RUNNING, url, journal.workspace]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    run_id = done.stdout.split()[0]
    mine = execute(spec(), deps(), journal)
    running = next(mine).run_id
    assert Journal(url, journal.workspace).recover() == 0
    assert journal.run(run_id).status == "interrupted"
    assert journal.run(running).status == "running"
    list(resume(run_id, deps(), journal))
    assert trace.identical(journal.steps(run_id), run("iterative"))
    list(mine)
