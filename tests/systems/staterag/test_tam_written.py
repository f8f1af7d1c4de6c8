"""Abstractions written by a model: other texts, the same graph, and failures that are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import wiring
from core.adapters import model_check
from core.cli.main import main
from core.errors import (
    AuthenticationFailed,
    ModelRefusal,
    ModelUnavailable,
    RateLimited,
    ReasonerError,
    RunCancelled,
    TaskUnsupported,
)
from core.reasoning.llm.reasoner import LLMReasoner
from core.reasoning.scripted import ScriptedReasoner
from core.retrieval.progress import Progress
from core.systems.staterag import tam_graph, tam_store
from core.systems.staterag.tam import EVIDENCE, RELATION, ROOT, TOPIC, Tam
from core.systems.staterag.tam_graph import IndexGraph
from core.systems.staterag.tam_written import MOST_FAILURES
from core.tasks import Abstraction, AbstractRequest
from core.types import Access
from core.wiring import Workbench
from tests.reasoning.llm.samples import FakeGateway, WordTokens
from tests.retrieval.world import LIGHTHOUSES, HashedWords, MemoryStores, library, write
from tests.systems.staterag.test_tam import TOWN
from tests.systems.staterag.test_tam_graph import ONLY_A, TENANTS, everywhere, opened

PROSE = "I would rather not."


def said(text: str) -> str:
    return json.dumps({"text": text})


def model(*script: str | ReasonerError, name: str = "fake/model") -> LLMReasoner:
    return LLMReasoner(FakeGateway([*script], model=name), WordTokens(), repeats=0)


def requests(reasoner: LLMReasoner) -> list[str]:
    assert isinstance(reasoner.gateway, FakeGateway)
    return [r.messages[-1].content for r in reasoner.gateway.requests]


def inner(tam: Tam) -> list[int]:
    return [n for n in range(len(tam.ids)) if tam.types[n] in (TOPIC, RELATION)]


def test_only_the_texts_of_topics_and_relations_change(tmp_path: Path) -> None:
    graph = IndexGraph(opened(tmp_path))
    before = graph.tam()
    written = graph.write(model(said("What Whitby sings.")))
    after = graph.tam()
    assert (written.nodes, written.asked, written.failed) == (len(inner(before)),) * 2 + (0,)
    for name in Tam.__dataclass_fields__:
        if name not in ("texts", "writer"):
            assert np.array_equal(getattr(before, name), getattr(after, name)), name
    changed = {n for n, (a, b) in enumerate(zip(before.texts, after.texts, strict=True)) if a != b}
    assert changed == set(inner(before))
    assert {after.texts[n] for n in changed} == {"What Whitby sings."}
    assert (before.writer, after.writer) == ("", "fake/model")


def test_a_relation_is_written_from_its_passages_and_a_topic_from_what_was_written(
    tmp_path: Path,
) -> None:
    graph = IndexGraph(opened(tmp_path))
    asked: list[AbstractRequest] = []

    def write_(request: Any) -> Abstraction:
        asked.append(request)
        return Abstraction(text=f"text {len(asked)}")

    graph.write(ScriptedReasoner({"abstract": write_}, WordTokens()))
    tam = graph.tam()
    relations = [r for r in asked if r.passages]
    assert len(relations) == int((tam.types == RELATION).sum())
    assert all(r.names == tam.names.get(n, ()) for r, n in zip(relations, _relations(tam)))  # noqa: B905
    topics = asked[len(relations) :]
    assert len(topics) == int((tam.types == TOPIC).sum())
    for topic in topics:
        assert topic.parts
        assert all(part.startswith("text ") for part in topic.parts)


def _relations(tam: Tam) -> list[int]:
    return [n for n in reversed(range(len(tam.ids))) if tam.types[n] == RELATION]


def test_a_stored_graph_keeps_what_was_written_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    index = opened(tmp_path)
    first = IndexGraph(index)
    first.write(model(said("one")))
    assert IndexGraph(index).tam().texts == first.tam().texts
    again = model(said("two"))
    written = IndexGraph(index).write(again)
    assert (written.asked, written.kept) == (0, written.nodes)
    assert requests(again) == []
    other = model(said("three"), name="fake/other")
    assert IndexGraph(index).write(other).kept == 0
    rebuilt = IndexGraph(index)
    rebuilt.tam(rebuild=True)
    assert rebuilt.tam().writer == ""
    assert rebuilt.write(model(said("four"))).kept == 0


def test_another_passage_asks_only_for_what_is_above_it(tmp_path: Path) -> None:
    stores = MemoryStores()
    index = opened(tmp_path, stores=stores)
    IndexGraph(index).write(model(said("as it was")))
    changed = [p if n else p.model_copy(update={"text": f"{p.text} Now."})
               for n, p in enumerate(TOWN)]  # fmt: skip
    shelf = library(tmp_path, stores=stores)
    shelf.index_passages("town", changed)
    written = IndexGraph(shelf.open("town")).write(model(said("anew")))
    assert 0 < written.asked < written.nodes
    assert written.kept == written.nodes - written.asked


def test_a_node_that_the_model_fails_at_keeps_its_extractive_text_and_is_counted(
    tmp_path: Path,
) -> None:
    graph = IndexGraph(opened(tmp_path))
    before = graph.tam()
    written = graph.write(model(PROSE, PROSE, said("fine")))
    after = graph.tam()
    assert written.failed == 1
    assert "cannot be used" in written.problem
    assert sum(before.texts[n] == after.texts[n] for n in inner(before)) == 1
    assert graph.write(model(said("later"))).asked >= 1, "what failed is asked for again"
    assert graph.tam().texts != after.texts


def test_a_model_that_does_not_work_is_asked_no_more_and_all_is_told(tmp_path: Path) -> None:
    graph = IndexGraph(opened(tmp_path))
    before = graph.tam()
    refused = model(AuthenticationFailed("The provider refused the key; set a valid one."))
    written = graph.write(refused)
    assert len(requests(refused)) == written.asked == min(MOST_FAILURES, written.nodes)
    assert written.failed == written.nodes > MOST_FAILURES
    assert written.problem.startswith("The provider refused the key")
    assert graph.tam().texts == before.texts


def test_what_was_written_before_it_was_stopped_is_kept(tmp_path: Path) -> None:
    index = opened(tmp_path)
    graph = IndexGraph(index)
    before = graph.tam()
    told: list[Progress] = []
    with pytest.raises(RunCancelled):
        graph.write(model(said("half")), told.append, lambda: len(told) > 3)
    assert graph.tam().texts == before.texts
    assert graph.write(model(said("whole"))).kept > 0
    assert {p.phase for p in told} == {"abstracting"}


def test_a_process_that_is_killed_loses_few_of_the_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tam_graph, "KEPT_EVERY", 2)
    index = opened(tmp_path)
    graph = IndexGraph(index)
    graph.tam()
    on_disk: list[tuple[int, int]] = []

    def look(progress: Progress) -> None:
        kept = tam_store.cached_texts(index.folder, "written")
        on_disk.append((progress.done, len(kept)))

    graph.write(model(said("What Whitby sings.")), look)
    assert any(kept > 0 for done, kept in on_disk if done < on_disk[-1][0])
    assert all(kept > 0 for done, kept in on_disk if done >= 2)


def test_an_asker_who_may_not_see_all_reads_nothing_that_was_written_of_the_rest(
    tmp_path: Path,
) -> None:
    graph = IndexGraph(opened(tmp_path, TENANTS))
    graph.write(model(said("codename Magpie Sweep")))
    texts = everywhere(graph, ONLY_A)
    assert texts
    assert all("Magpie" not in text for text in texts.values())
    whole = everywhere(graph, Access())
    tam = graph.tam()
    shown = {whole[tam.ids[n]] for n in inner(tam) if tam.ids[n] in whole}
    assert shown == {"codename Magpie Sweep"}


def test_without_rules_for_it_the_reasoner_is_refused(tmp_path: Path) -> None:
    index = opened(tmp_path)
    with pytest.raises(TaskUnsupported):
        IndexGraph(index).write(Workbench(root=tmp_path / "d").reasoner(index))


def test_the_ends_of_the_graph_stay_as_they_are(tmp_path: Path) -> None:
    graph = IndexGraph(opened(tmp_path))
    before = graph.tam()
    graph.write(model(said("x")))
    for n, kind in enumerate(before.types):
        if kind in (ROOT, EVIDENCE):
            assert graph.tam().texts[n] == before.texts[n]


@pytest.fixture
def tam(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs ``tam`` with a scripted model: exit code, standard output, standard error."""
    stores = MemoryStores()
    write(tmp_path / "bundled" / "lights", LIGHTHOUSES)
    monkeypatch.setattr(model_check, "check_model", lambda *_: None)

    class Bench(Workbench):
        def __init__(self) -> None:
            super().__init__(root=tmp_path / "data", embedder=HashedWords())  # type: ignore[arg-type]
            self.library = library(tmp_path, stores=stores)

    monkeypatch.setattr(wiring, "Workbench", Bench)

    def call(*arguments: str, script: tuple[str | ReasonerError, ...] = ()) -> tuple[int, str, str]:
        monkeypatch.setattr(LLMReasoner, "for_model", lambda *_, **__: model(*script))
        code = main(("tam", "--corpus", "lights", *arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_the_command_says_how_many_were_written(tam: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = tam("--model", "fake/model", "--json", script=(said("Lights."),))
    assert code == 0
    assert " written by the model" in err
    nodes = json.loads(out)["nodes"]
    written = {n["text"] for n in nodes if n["type"] in ("TOPIC", "RELATION")}
    assert written == {"Lights."}
    assert json.loads(tam("--json")[1])["nodes"] == nodes, "the stored ones are shown"


def test_the_command_says_how_many_failed_and_why(tam: Callable[..., tuple[int, str, str]]) -> None:
    plain = json.loads(tam("--json")[1])
    code, out, err = tam("--model", "fake/model", "--json", script=(PROSE, PROSE, said("Fine.")))
    assert code == 0
    assert "1 node kept the extractive abstraction, since the model failed" in err
    differs = [a["text"] != b["text"] for a, b in zip(plain["nodes"], json.loads(out)["nodes"])]  # noqa: B905
    assert 0 < sum(differs) < len(differs)


@pytest.mark.parametrize(
    "failure",
    [
        PROSE,
        ModelRefusal("The model declined."),
        ModelUnavailable("The server is down."),
        AuthenticationFailed("The provider refused the key; set a valid one."),
        RateLimited("The provider limits the rate."),
    ],
    ids=lambda f: f if isinstance(f, str) else f.code,
)
@pytest.mark.parametrize("before", [(), (said("one"), PROSE)], ids=["nothing", "some of it"])
def test_a_model_that_fails_at_every_node_is_a_failed_request_and_the_graph_stays(
    tam: Callable[..., tuple[int, str, str]],
    failure: str | ReasonerError,
    before: tuple[str | ReasonerError, ...],
) -> None:
    if before:
        assert tam("--model", "fake/model", script=(*before, PROSE))[0] == 0
    shown = tam("--json")
    assert shown[0] == 0
    code, out, err = tam("--model", "fake/model", "--json", script=(failure,))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "the graph stays as it is: " in err
    assert (failure.message if isinstance(failure, ReasonerError) else "cannot be used") in err
    assert tam("--json") == shown


def test_the_rules_write_no_abstractions(tam: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = tam("--model", "extractive")
    assert (code, out) == (2, "")
    assert "choose a language model" in err
