"""The hard question of ``film_night`` with the extractive reasoner: nothing is scripted here."""

from __future__ import annotations

from typing import Any

import pytest

from core import registry
from core.events import Called, ForageTurn, HopResolved, Retrieved, RunFinished, Step
from core.runs import RunSpec, execute
from core.trace import identical, passages
from core.wiring import Workbench
from tests.core.world import Kept

QUESTION = "Who is the spouse of the actor who plays Jarvis in Iron Man?"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    bench = Workbench(root=tmp_path_factory.mktemp("bench"))
    bench.library.ensure("film_night")
    return bench


def asked(bench: Workbench, name: str) -> list[Step]:
    system = registry.system(name)
    spec = RunSpec(system, QUESTION, system.settings())
    return list(execute(spec, bench.deps("film_night"), Kept()))


def of(steps: list[Step], kind: type) -> list[Any]:
    return [s.event for s in steps if isinstance(s.event, kind)]


@pytest.mark.parametrize("name", ["ragx", "ragx-lexical", "ragx-fused", "ragx-fast"])
def test_the_jarvis_question(bench: Workbench, name: str) -> None:
    steps = asked(bench, name)
    turns = [(t.action, t.argument) for t in of(steps, ForageTurn)]
    # the question itself first, then the film's article, then the actor that it names, and his
    assert turns[0] == ("RANK", QUESTION)
    film = next(n for n, (a, x) in enumerate(turns) if a == "READ" and "Iron_Man.md" in x)
    named = next(n for n, (a, x) in enumerate(turns) if a == "RANK" and "Paul Bettany" in x)
    actor = next(n for n, (a, x) in enumerate(turns) if a == "READ" and "Paul_Bettany.md" in x)
    assert 0 < film < named < actor
    assert "Bettany" not in QUESTION
    hops = of(steps, HopResolved)
    if name == "ragx-fast":
        assert not hops
        assert not {c.task for c in of(steps, Called)} & {"decompose", "hop_answer"}
    else:
        assert [h.answer for h in hops] == ["Paul Bettany", "Jennifer Connelly"]
        assert hops[1].filled == "Who is the spouse of Paul Bettany?"
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert end.answer == "Jennifer Connelly"
    cited = [c for c in end.citations if passages(steps)[c.passage_id].title == "Paul Bettany"]
    assert any("Jennifer Connelly wed" in c.quote for c in cited)
    calls = [c for c in of(steps, Called) if c.port == "reasoner"]
    assert (5 if name == "ragx-fast" else 8) <= len(calls) <= 15


def test_no_query_copied_from_the_question_meets_the_answer_passage_by_its_words(
    bench: Workbench,
) -> None:
    first = of(asked(bench, "ragx-lexical"), Retrieved)[0]
    assert "Paul Bettany" not in {hit.title for hit in first.passages}


def test_the_same_run_comes_out_again(bench: Workbench) -> None:
    assert identical(asked(bench, "ragx-core"), asked(bench, "ragx-core"))
