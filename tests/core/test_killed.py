"""A process that is killed at any moment loses nothing that it has shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core import jsonl, trace
from core.events import RunFinished, Step
from core.journal import Journal
from core.replay import replay
from core.rerun import fork, resume
from tests.core.killing import case
from tests.core.world import Kept, deps, run

ROOT = Path(__file__).resolve().parents[2]
SEEDS = range(20)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a child process of every seed was killed."""
    directory = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-m", "tests.core.killing", str(directory), *map(str, SEEDS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return directory


def shown(directory: Path, seed: int) -> list[Step]:
    """The steps that were printed; the last line may have been cut by the kill."""
    lines = (directory / f"{seed}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    return [Step.model_validate_json(line) for line in lines if line.endswith("\n")]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_shown_is_kept_and_the_run_goes_on_to_the_same_end(
    seed: int, killed: Path, tmp_path: Path
) -> None:
    name, settings = case(seed)
    undisturbed = run(name, **settings)
    printed = shown(killed, seed)
    journal = Journal(killed / str(seed))
    (record,) = journal.runs()
    kept = journal.steps(record.run_id)
    assert kept[: len(printed)] == printed
    assert [s.seq for s in kept] == list(range(len(kept)))
    assert trace.identical(kept, undisturbed[: len(kept)])
    ended = isinstance(kept[-1].event, RunFinished)
    assert record.status == ("finished" if ended else "interrupted")

    assert not replay(kept, {}).diverged
    assert trace.state_at(kept, len(kept)).seq == len(kept) - 1
    elsewhere = Journal(tmp_path)
    assert elsewhere.import_jsonl(journal.export_jsonl(record.run_id)).steps == len(kept)
    at = len(kept) - (2 if ended else 1)
    assert trace.diff(list(fork(kept, at, deps(), Kept())), undisturbed, first=1) is None

    if not ended:
        resumed = list(resume(record.run_id, deps(), journal))
        assert resumed[0].seq == len(kept)
    whole = journal.steps(record.run_id)
    assert trace.identical(whole, undisturbed)
    assert whole[: len(kept)] == kept
    assert journal.run(record.run_id).status == "finished"


def test_most_of_the_runs_were_killed_before_their_end(killed: Path) -> None:
    """Otherwise the test above would look at nothing."""
    ends = [any(isinstance(s.event, RunFinished) for s in shown(killed, seed)) for seed in SEEDS]
    assert sum(ends) <= len(SEEDS) / 2


def test_a_killed_run_is_whole_as_json_lines(killed: Path) -> None:
    for seed in SEEDS:
        steps = shown(killed, seed)
        assert jsonl.load(jsonl.dump(steps)) == steps
