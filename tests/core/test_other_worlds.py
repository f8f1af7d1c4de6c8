"""A run keeps what it was made over and is resumed over nothing else; the true reason is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import jsonl, registry, trace
from core.errors import BadInput, PlaybackDiverged
from core.events import Step
from core.journal import Journal
from core.ports import Deps
from core.replay import replay
from core.rerun import fork, resume
from core.retrieval.manifest import Lexical, content_version
from core.retrieval.tokenizer import TOKENIZER_VERSION
from core.types import CorpusRef, Passage
from tests.core.world import Kept, WordGraph, WordRetriever, deps, run
from tests.evaluation.small_world import OtherGraph
from tests.retrieval.world import MemoryStores, library
from tests.systems.staterag.test_tam import TOWN


def interrupted(journal: Journal, steps: list[Step], **started: Any) -> str:
    """The id of the run's first steps as a run whose process died; its start changed."""
    first = steps[0].model_copy(update={"event": steps[0].event.model_copy(update=started)})
    return journal.import_jsonl(jsonl.dump([first, *steps[1:6]])).run_id


def told(journal: Journal, run_id: str, world: Deps) -> str:
    before = journal.steps(run_id)
    with pytest.raises(BadInput) as refused:
        list(resume(run_id, world, journal))
    assert journal.run(run_id).status == "interrupted"
    assert journal.steps(run_id) == before
    return refused.value.message


@pytest.mark.parametrize("name", list(registry.systems()))
def test_a_run_records_the_graph_that_it_uses_and_no_other(name: str) -> None:
    uses = any(
        call.removeprefix("retriever.") in ("expand", "spread", "region")
        for stage in registry.system(name).stages
        for call in stage.calls
    )
    assert trace.start(run(name)).graph == (WordGraph.digest if uses else "")


def test_a_run_is_not_resumed_over_another_graph_but_forked(tmp_path: Path) -> None:
    journal, steps = Journal(tmp_path), run("staterag")
    run_id = interrupted(journal, steps)
    said = told(journal, run_id, deps(graph=OtherGraph()))
    assert "another abstraction memory" in said
    assert "fork" in said
    forked = list(fork(steps, 5, deps(graph=OtherGraph()), Kept()))
    assert trace.start(forked).graph == OtherGraph.digest
    assert list(resume(run_id, deps(), journal))


def test_a_run_from_before_the_graph_was_recorded_is_resumed(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    run_id = interrupted(journal, run("staterag"), graph="")
    assert list(resume(run_id, deps(), journal))[-1].event.kind == "RunFinished"


def tampered(steps: list[Step], seq: int, **changes: Any) -> list[Step]:
    event = steps[seq].event.model_copy(update=changes)
    return [*steps[:seq], steps[seq].model_copy(update={"event": event}), *steps[seq + 1 :]]


def otherwise(name: str) -> tuple[list[Step], int]:
    """A run with a call that this release does not make, as an older one might have."""
    steps = run(name)
    seq = next(s.seq for s in steps if s.event.kind == "Called")
    shown = [next(iter(trace.passages(steps)))]
    return tampered(steps, seq, port="retriever", task="read", response={"ids": shown}), seq


@pytest.mark.parametrize("name", list(registry.systems()))
@pytest.mark.parametrize("moved", [{}, {"evidence_window": 3}], ids=["as it was", "other settings"])
def test_a_run_of_another_release_is_refused_in_words_that_say_what_still_works(
    name: str, moved: dict[str, Any], tmp_path: Path
) -> None:
    steps, seq = otherwise(name)
    settings = registry.system(name).settings(**moved)
    kept = Kept()
    with pytest.raises(PlaybackDiverged) as refused:
        list(fork(steps, len(steps) - 2, deps(), kept, settings=settings))
    assert kept.steps == []
    assert replay(steps, moved).model_calls == 0
    journal = Journal(tmp_path)
    run_id = journal.import_jsonl(jsonl.dump(steps[:-1])).run_id
    with pytest.raises(PlaybackDiverged) as not_resumed:
        list(resume(run_id, deps(), journal))
    assert journal.steps(run_id) == steps[:-1]
    for said, done in ((refused.value.message, "forked"), (not_resumed.value.message, "resumed")):
        assert f"cannot be {done}: another release" in said
        assert "opened, replayed and exported" in said
        assert "ask its question again" in said
        assert f"step {seq}: " in said


@pytest.mark.parametrize("name", list(registry.systems()))
def test_settings_that_change_the_past_are_not_taken_for_another_release(name: str) -> None:
    steps = run(name)
    kind = registry.system(name).settings
    settings = kind(**{"top_k" if "top_k" in kind.model_fields else "rank_k": 1})
    with pytest.raises(PlaybackDiverged) as refused:
        list(fork(steps, len(steps) - 2, deps(), Kept(), settings=settings))
    assert "release" not in refused.value.message
    assert refused.value.message.startswith("The rerun leaves the record at step ")


def of(passages: list[Passage], tokenizer: int) -> Callable[[Any], str]:
    def version(index: Any) -> str:
        made = index.manifest
        words = Lexical(tokenizer=tokenizer)
        return content_version(made.embedder.model, words, made.chunking, passages)

    return version


SORTED = sorted(TOWN, key=lambda p: p.id)
REASONS: dict[str, tuple[str, Callable[[Any], str], str]] = {
    "an older tokenizer": ("town", of(SORTED, TOKENIZER_VERSION - 1), "cuts text into words other"),
    "other passages": ("town", of(SORTED[1:], TOKENIZER_VERSION), "has changed since the run, or"),
    "both": ("town", of(SORTED[1:], TOKENIZER_VERSION - 1), "has changed since the run, or"),
    "unknown": ("town", lambda _: "0" * 16, "has changed since the run, or"),
    "another corpus": ("port", lambda index: index.corpus.version, "over the corpus 'port', not"),
}


@pytest.mark.parametrize("case", REASONS)
def test_the_true_reason_is_told_why_a_run_is_not_resumed(tmp_path: Path, case: str) -> None:
    shelf = library(tmp_path, stores=MemoryStores())
    shelf.index_passages("town", TOWN)
    index = shelf.open("town")
    assert of(SORTED, TOKENIZER_VERSION)(index) == index.corpus.version
    name, version, says = REASONS[case]
    journal = Journal(tmp_path)
    then = CorpusRef(id=name, version=version(index))
    run_id = interrupted(journal, run("static"), corpus=then)
    said = told(journal, run_id, deps(retriever=index.retriever()))
    assert says in said
    assert ("has changed" in said) == (says.startswith("has changed"))


def test_a_retriever_that_cannot_tell_is_not_asked_why(tmp_path: Path) -> None:
    class Other(WordRetriever):
        corpus = CorpusRef(id="world", version="2")

    journal = Journal(tmp_path)
    said = told(journal, interrupted(journal, run("static")), deps(retriever=Other()))
    assert "'world' has changed since the run, or is indexed otherwise" in said
