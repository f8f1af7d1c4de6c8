"""Runs know the bundled corpora only by reading them.

Over the real retrieval, embedder and extractive reasoner: with all names replaced a run is the
same but for the names; with a gold document gone its answer is not given; with the tenants
swapped, so is what each sees and gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core.evaluation.metrics import exact_match
from core.events import (
    Decided,
    EvidenceChanged,
    PathCommitted,
    QueryIssued,
    Retrieved,
    RunFinished,
    Step,
)
from core.retrieval import calibration
from core.types import Access, Passage
from tests.corpora.renaming import OldNamesEmbedder, OldNamesTokens, Renaming
from tests.corpora.worlds import (
    SYSTEMS,
    World,
    changed,
    embedder,
    passages,
    questions,
    tokens,
    world,
)

CORPORA = ("film_night", "music_labels", "support_desk")
TOLERANCE = {"staterag": 3e-3}
"""Of scores and gates by system, 1e-3 where none is named."""
NODE = re.compile(r"\b(root|topic|relation):[0-9a-f]{16}")
"""A node of the graph above the passages: its id is a digest of what it holds."""


class Pair(NamedTuple):
    """A corpus as it is, and with all names replaced."""

    name: str
    plain: World
    renamed: World
    renaming: Renaming


@pytest.fixture(scope="module", params=CORPORA)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    name = request.param
    held, root = passages(name), tmp_path_factory.mktemp(name)
    asked = [f"{q['question']} {' '.join(q['answers'])}" for q in questions(name)]
    renaming = Renaming([*(f"{p.title}. {p.text}" for p in held), *asked], name)
    draw = calibration._draw
    with pytest.MonkeyPatch.context() as patch:
        plain = world(root / "plain", held)
        patch.setattr(calibration, "_draw", lambda text: draw(renaming.back(text)))
        renamed = world(
            root / "renamed",
            [changed(p, renaming) for p in held],
            OldNamesEmbedder(embedder(), renaming),
            OldNamesTokens(tokens(), renaming),
        )
    yield Pair(name, plain, renamed, renaming)
    plain.index.close()
    renamed.index.close()


def spread(items: list[Any], count: int) -> list[Any]:
    """``count`` of them, evenly spaced."""
    return items[:: max(1, len(items) // count)][:count]


def access(question: dict[str, Any]) -> Access:
    """What the asker of a question may see (drafts nobody)."""
    tenant = question.get("tenant")
    tiers = frozenset({"official", "incident", "community", "reference", "press"})
    return Access(tenants=frozenset({tenant}) if tenant else None, source_tiers=tiers)


def shape(steps: list[Step]) -> list[tuple[object, ...]]:
    """What a run did, without times, digests and figures that only measure."""
    rows: list[tuple[object, ...]] = []
    for step in steps:
        event = step.event
        row: tuple[object, ...] = (step.stage, event.kind)
        if isinstance(event, QueryIssued):
            row += (event.query, event.transformation)
        elif isinstance(event, Retrieved):
            row += (event.query, tuple(p.id for p in event.passages))
        elif isinstance(event, EvidenceChanged):
            row += (event.added, event.removed, event.banned)
        elif isinstance(event, Decided):
            fired = tuple((g.name, g.fired) for g in event.gates)
            row += (event.decider, NODE.sub(r"\1", event.outcome), fired)
        elif isinstance(event, PathCommitted):
            row += (tuple(NODE.sub(r"\1", node) for node in event.path), event.region)
        elif isinstance(event, RunFinished):
            places = tuple((c.passage_id, c.start, c.end, c.quote) for c in event.citations)
            row += (event.terminal, event.branch, event.answer, event.evidence, places)
        rows.append(row)
    return rows


def figures(steps: list[Step]) -> list[float]:
    """Scores, and the values of all gates."""
    found = []
    for step in steps:
        if isinstance(step.event, Retrieved):
            found += [p.score for p in step.event.passages]
        elif isinstance(step.event, Decided):
            found += [g.value for g in step.event.gates]
    return found


def translated(row: tuple[object, ...], back: Any) -> tuple[object, ...]:
    return tuple(
        translated(part, back)
        if isinstance(part, tuple)
        else back(part)
        if isinstance(part, str)
        else part
        for part in row
    )


def test_the_renaming_reaches_the_names_and_loses_nothing(pair: Pair) -> None:
    for passage in pair.plain.index.passages():
        assert pair.renaming.back(pair.renaming(passage.text)) == passage.text
    asked = [q["question"] for q in questions(pair.name)]
    reached = sum(pair.renaming(q) != q for q in asked)
    least = {"film_night": 0.7, "music_labels": 0.7, "support_desk": 0.25}[pair.name]
    assert reached >= least * len(asked)


@pytest.mark.parametrize("system", SYSTEMS)
def test_all_names_replaced_the_run_is_the_same_but_for_the_names(pair: Pair, system: str) -> None:
    rename, back, tolerance = pair.renaming, pair.renaming.back, TOLERANCE.get(system, 1e-3)
    asked = [q for q in questions(pair.name) if rename(q["question"]) != q["question"]]
    for question in spread(asked, 5):
        text = question["question"]
        first = pair.plain.run(system, text, access(question))
        second = pair.renamed.run(system, rename(text), access(question))
        assert [translated(row, back) for row in shape(second)] == shape(first), question["id"]
        assert figures(second) == pytest.approx(figures(first), abs=tolerance), question["id"]


def states(passage: Passage, answer: str) -> bool:
    text = f"{passage.title}. {passage.text}"
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE) is not None


@pytest.mark.parametrize("corpus", CORPORA)
def test_without_its_documents_the_old_answer_is_not_given(corpus: str, tmp_path: Path) -> None:
    """A value that no document states any more is not answered; nor is one guessed from the
    question's own words where a thing it compares is gone."""
    answered = [q for q in questions(corpus) if q["expected_terminal"] == "answered"]
    told = ("comparison", "yesno")
    chosen = spread([q for q in answered if q["type"] in told], 3)
    chosen += spread([q for q in answered if q["type"] not in told], 3)
    assert len(chosen) == 6
    for number, question in enumerate(chosen):
        gold = question["gold"][-1]["document"]
        guessable = question["type"] in told
        held = [
            p
            for p in passages(corpus)
            if p.document != gold
            and (guessable or not any(states(p, a) for a in question["answers"]))
        ]
        assert len(held) >= 0.5 * len(passages(corpus))
        without = world(tmp_path / str(number), held)
        for system in SYSTEMS:
            end = without.run(system, question["question"], access(question))[-1].event
            assert isinstance(end, RunFinished)
            old = exact_match(end.answer, question["answers"]) == 1
            assert not (end.terminal == "answered" and old), (system, question["id"], end.answer)
        without.index.close()


TENANTS = ("aurora", "borealis")


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, World]]:
    """The support desk, and the same with each tenant's documents given to the other."""
    held, root = passages("support_desk"), tmp_path_factory.mktemp("tenants")
    other = dict(zip(TENANTS, reversed(TENANTS), strict=True))
    swapped = [
        changed(p, str, tenant=other[p.metadata.tenant]) if p.metadata.tenant else p for p in held
    ]
    both = (world(root / "plain", held), world(root / "swapped", swapped))
    yield both
    for desk in both:
        desk.index.close()


@pytest.mark.parametrize("system", SYSTEMS)
def test_tenants_swapped_swap_what_each_sees_and_gets(
    desks: tuple[World, World], system: str
) -> None:
    plain, swapped = desks
    own = {p.id: p.metadata.tenant for p in plain.index.passages()}
    asked = {q["question"]: None for q in questions("support_desk") if q["type"] == "tenant"}
    apart = 0
    for text in spread(list(asked), 6):
        seen: dict[str, list[tuple[object, ...]]] = {}
        for tenant, other in zip(TENANTS, reversed(TENANTS), strict=True):
            mine = plain.run(system, text, Access(tenants=frozenset({tenant})))
            theirs = swapped.run(system, text, Access(tenants=frozenset({other})))
            assert shape(theirs) == shape(mine)
            seen[tenant] = shape(mine)
            shown = {p.id for s in mine if isinstance(s.event, Retrieved) for p in s.event.passages}
            assert {own[i] for i in shown} <= {None, tenant}
        apart += seen[TENANTS[0]] != seen[TENANTS[1]]
    assert apart >= 3
