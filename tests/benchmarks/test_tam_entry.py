"""Flat entry differs from the tree in nothing but the way to a passage."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import tam_entry
from benchmarks.tam_entry import FlatGraph, compared
from core.graph import ADMISSIBLE
from core.systems.staterag.navigator import Explored, beam_search, by_parent
from core.systems.staterag.settings import StateRAGSettings
from core.systems.staterag.state import PathValue
from core.systems.staterag.tam_graph import IndexGraph
from core.systems.staterag.validators import validate_path
from core.types import Access
from tests.evaluation.test_results import row
from tests.systems.staterag.test_tam_graph import ONLY_A, TENANTS, opened

QUERY = "Who sings in Low Tide?"


@pytest.mark.parametrize("access", [Access(), ONLY_A])
def test_every_allowed_passage_is_an_entry_with_the_trees_own_score(
    tmp_path: Path, access: Access
) -> None:
    index = opened(tmp_path, TENANTS)
    flat, tree = FlatGraph(index), IndexGraph.of(index)
    settings = StateRAGSettings(beam=32)
    rounds: list[Explored] = []
    while needed := (
        found := beam_search(flat.root, by_parent(rounds, settings.plan_share), (), settings)
    ).needed:
        edges = tuple(flat.expand(QUERY, needed, access))
        assert {edge.types for edge in edges} <= ADMISSIBLE
        rounds.append(Explored(parents=needed, edges=edges))
    assert len(rounds) == 3
    allowed = {p.id for p in TENANTS if access.allows(p.metadata)}
    assert {trace[-1] for trace, _ in found.completed} == allowed
    for trace, _ in found.completed:
        value = PathValue(nodes=trace)
        assert validate_path(value, flat.facts(trace, access)) is None
    view = tree.view(access)
    scores = view.scores(QUERY, index.query_vector(QUERY))
    for edge in rounds[-1].edges:
        number = view.number[edge.child]
        assert (edge.lexical, edge.dense) == (scores.lexical[number], scores.dense[number])
        ours, theirs = (g.region(edge.child, QUERY, 8, access) for g in (flat, tree))
        assert ours == theirs


def test_a_path_that_is_not_its_own_is_refused(tmp_path: Path) -> None:
    flat = FlatGraph(opened(tmp_path, TENANTS))
    hidden = next(p.id for p in TENANTS if not ONLY_A.allows(p.metadata))
    for path in (
        (flat.root, tam_entry.TOPIC, tam_entry.RELATION, hidden),
        (flat.root, tam_entry.RELATION, tam_entry.TOPIC, TENANTS[0].id),
        (flat.root, tam_entry.TOPIC, tam_entry.RELATION, "nowhere"),
    ):
        assert validate_path(PathValue(nodes=path), flat.facts(path, ONLY_A)) is not None


def test_the_difference_is_paired_by_question() -> None:
    tree = [row(question_id=f"q{n}", f1=0.5, evidence_f1=0.8, all_gold=1.0) for n in range(4)]
    flat = [r.model_copy(update={"evidence_f1": 0.6}) for r in reversed(tree)]
    lines = compared("own", {"tree": tree, "flat": flat})
    assert [line[1] for line in lines] == ["tree", "flat", "difference"]
    assert lines[2][2].startswith("+0.200")
    assert lines[2][3].startswith("+0.000")


def test_without_the_questions_it_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tam_entry, "DATA", tmp_path / "none")
    assert tam_entry.main([]) == 0
    assert "skipped" in capsys.readouterr().out
