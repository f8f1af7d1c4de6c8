"""A run that goes on after an interruption goes on with the faults that it was started with, and
ends as it would have without the interruption."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from core import contracts, jsonl, malformed, registry, trace
from core.errors import BadInput
from core.events import FaultInjected, RunStarted, Step
from core.faults import FAULTS, Fault
from core.journal import Journal
from core.narration import narrate
from core.rerun import fork, resume
from core.runs import execute
from tests.core.world import Kept, deps, run, spec

SETTINGS: dict[str, dict[str, Any]] = {
    "beliefrag": {"answer_threshold": 0.9, "max_actions": 12},
    "staterag": {"bypass_margin": 1.0},
    "ragx": {},
    "iterative": {},
}
BARREN = ("evidence-outside-region",)
"""Faults that only a system with a region can meet."""


def chosen(system: str) -> list[Fault]:
    """Every fault that the system can meet, everywhere, and where it matters in each stage."""
    stages = [node.name for node in registry.system(system).stages]
    faults = [Fault(name) for name in FAULTS if system == "staterag" or name not in BARREN]
    return faults + [Fault("budget-exhausted", stage) for stage in stages]


CELLS = [(system, fault) for system in SETTINGS for fault in chosen(system)]


def undisturbed(system: str, *faults: Fault) -> tuple[list[Step], list[int]]:
    """A run with faults, and after how many steps it could be interrupted."""
    kept = Kept()
    steps = list(execute(spec(system, faults=faults, **SETTINGS[system]), deps(), kept))
    return steps, interruptions(kept)


def interruptions(kept: Kept) -> list[int]:
    """The first commits and the last ones but the very last, and some of those between."""
    ends = list(accumulate(kept.batches))[:-1]
    return sorted({*ends[:4], *ends[4:-4:5], *ends[-4:]})


def resumed(steps: list[Step], length: int, journal: Journal) -> list[Step]:
    """The run as it comes to be when its process dies after ``length`` steps and it is resumed."""
    cut = [s.model_copy(update={"run_id": f"cut-{length}"}) for s in steps[:length]]
    run_id = journal.import_jsonl(jsonl.dump(cut)).run_id
    list(resume(run_id, deps(), journal))
    return journal.steps(run_id)


def strikes(steps: list[Step]) -> list[FaultInjected]:
    return [s.event for s in steps if isinstance(s.event, FaultInjected)]


@pytest.mark.parametrize(("system", "fault"), CELLS, ids=[f"{s} {f.text}" for s, f in CELLS])
def test_a_resumed_run_comes_to_the_same_end_wherever_it_was_interrupted(
    system: str, fault: Fault, tmp_path: Path
) -> None:
    steps, ends = undisturbed(system, fault)
    journal = Journal(tmp_path)
    for length in ends:
        whole = resumed(steps, length, journal)
        assert trace.diff(steps, whole) is None
        assert strikes(whole) == strikes(steps)


def test_every_fault_strikes_in_some_of_these_runs() -> None:
    met = {
        strike.fault for system, fault in CELLS for strike in strikes(undisturbed(system, fault)[0])
    }
    assert met == set(FAULTS)


@pytest.mark.parametrize("system", SETTINGS)
def test_faults_that_were_chosen_together_go_on_together(system: str, tmp_path: Path) -> None:
    together = (Fault("corrupt-metadata"), Fault("repeated-rewrite"), Fault("always-irrelevant"))
    steps, ends = undisturbed(system, *together)
    journal = Journal(tmp_path)
    for length in ends:
        assert trace.diff(steps, resumed(steps, length, journal)) is None


@pytest.mark.parametrize(("system", "fault"), CELLS, ids=[f"{s} {f.text}" for s, f in CELLS])
def test_a_fork_repeats_what_struck_and_goes_on_with_its_own_faults(
    system: str, fault: Fault
) -> None:
    """Without faults of its own, it repeats the faulted run, whichever step it leaves it at."""
    steps, ends = undisturbed(system, fault)
    for length in ends:
        forked = list(fork(steps, length - 1, deps(), Kept()))
        assert trace.diff(steps[:length], forked[:length], first=1) is None
        assert strikes(forked) == strikes(steps[:length])
        assert trace.start(forked).faults == ()


@pytest.mark.parametrize("system", SETTINGS)
@pytest.mark.parametrize("name", ["budget-exhausted", "retriever-error", "malformed-output"])
def test_an_interrupted_fork_goes_on_with_the_faults_of_the_fork(
    system: str, name: str, tmp_path: Path
) -> None:
    before = run(system, faults=(Fault("repeated-rewrite"),), **SETTINGS[system])
    at = len(before) // 2
    kept = Kept()
    forked = list(fork(before, at, deps(), kept, chosen_faults=(Fault(name),)))
    assert trace.start(forked).faults == (name,)
    journal = Journal(tmp_path)
    for length in interruptions(kept):
        assert trace.diff(forked, resumed(forked, length, journal)) is None


def test_faults_are_recorded_as_they_are_written_and_said() -> None:
    faults = (Fault("malformed-output", "answer", ("prose", "nan")), Fault("empty-shard"))
    steps = run("static", faults=faults)
    started = steps[0].event
    assert isinstance(started, RunStarted)
    assert started.faults == ("malformed-output:prose+nan@answer", "empty-shard")
    assert contracts.run_faults(started) == faults
    assert "malformed-output" in narrate(steps[0])


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("stage", [None, "answer"])
def test_a_fault_is_read_as_it_was_written(name: str, stage: str | None) -> None:
    assert Fault.parse(Fault(name, stage).text) == Fault(name, stage)
    for form in malformed.FORMS:
        one = Fault("malformed-output", stage, (form,))
        assert Fault.parse(one.text) == one


@pytest.mark.parametrize("text", ["empty-shard:prose", "malformed-output:odd", "malformed-output:"])
def test_a_form_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="Known: "):
        Fault.parse(text)


@pytest.mark.parametrize("fault", ["nothing", "empty-shard@nowhere", "evidence-outside-region"])
def test_a_record_with_a_fault_that_cannot_be_met_is_refused(fault: str) -> None:
    first, *rest = run("static")
    forged = first.model_copy(update={"event": first.event.model_copy(update={"faults": (fault,)})})
    with pytest.raises(BadInput, match="Line 1"):
        jsonl.load(jsonl.dump([forged, *rest]))
