"""StateRAG on ``film_night`` with the real abstraction memory and the extractive reasoner."""

from __future__ import annotations

import pytest

from core import registry
from core.events import Called, Decided, MemoryOp, PathCommitted, Proposed, RunFinished, Step
from core.runs import RunSpec, execute
from core.systems.staterag.state import EvidenceValue, PathValue
from core.systems.staterag.validators import validate_path
from core.wiring import Workbench

QUESTION = "Who is the spouse of the actor who plays Jarvis in Iron Man?"
ALIKE = "What is the name of the spouse of the actor who plays Jarvis in Iron Man?"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    bench = Workbench(root=tmp_path_factory.mktemp("bench"))
    bench.library.ensure("film_night")
    return bench


def asked(bench: Workbench, question: str, memory: str) -> list[Step]:
    system = registry.system("staterag")
    settings = system.settings(memory=memory, bypass_rule="off")
    return list(execute(RunSpec(system, question, settings), bench.deps("film_night"),
                        bench.journal))  # fmt: skip


def end(steps: list[Step]) -> RunFinished:
    assert isinstance(steps[-1].event, RunFinished)
    return steps[-1].event


def test_paths_are_in_the_graph_and_evidence_in_its_region(bench: Workbench) -> None:
    steps = asked(bench, QUESTION, "off")
    deps = bench.deps("film_night")
    assert deps.graph is not None
    paths = [s.event for s in steps if isinstance(s.event, PathCommitted)]
    assert paths
    for committed in paths:
        facts = deps.graph.facts(committed.path, deps.access)
        assert validate_path(PathValue(nodes=committed.path), facts) is None
        assert committed.path[-1] in committed.region
    proposed = [
        EvidenceValue.model_validate(s.event.value).ids
        for s in steps
        if isinstance(s.event, Proposed) and s.event.role == "retriever"
    ]
    assert len(proposed) == len(paths)
    for ids, committed in zip(proposed, paths, strict=True):
        assert set(ids) <= set(committed.region)
    assert sum(isinstance(s.event, Called) and s.event.task == "answer" for s in steps) == 1


def test_a_second_question_gains_by_what_the_first_verified(bench: Workbench) -> None:
    first = asked(bench, QUESTION, "shared")
    assert end(first).branch == "RELEASE"
    second, without = asked(bench, ALIKE, "shared"), asked(bench, ALIKE, "off")
    ops = [s.event for s in second if isinstance(s.event, MemoryOp)]
    reads = [op for op in ops if "reused" in op.reason]
    assert {op.role for op in reads} == {"planner", "navigator", "retriever"}
    assert end(second).usage.tokens < end(without).usage.tokens
    assert end(second).answer == end(first).answer == "Jennifer Connelly"


@pytest.mark.parametrize(
    ("question", "branch"),
    [
        (QUESTION, "MARS"),
        ("Where was Jennifer Connelly born?", "BYPASS"),
        ("Which composer was born first, James Horner or Patrick Doyle?", "BYPASS"),
    ],
)
def test_only_what_the_initial_passages_say_bypasses(
    bench: Workbench, question: str, branch: str
) -> None:
    system = registry.system("staterag")
    steps = execute(
        RunSpec(system, question, system.settings()), bench.deps("film_night"), bench.journal
    )
    decided = [
        s.event.outcome
        for s in steps
        if isinstance(s.event, Decided) and s.event.decider == "staterag.bypass"
    ]
    assert [outcome.partition(" ")[0] for outcome in decided] == [branch]
