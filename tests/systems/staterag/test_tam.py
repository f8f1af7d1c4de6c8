"""The abstraction memory as a value: its invariants, and what a build depends on."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import RunCancelled
from core.systems.staterag import tam_build, tam_groups
from core.systems.staterag.tam import (
    EVIDENCE,
    RELATION,
    ROOT,
    TOPIC,
    InvalidTam,
    Tam,
    TamSettings,
    validate_tam,
)
from core.systems.staterag.tam_build import build_tam
from core.types import Passage
from tests.systems.staterag.tam_world import corpora, passage, vectors

few = settings(max_examples=40)


def built(passages: list[Passage], **more: Any) -> Tam:
    return build_tam(passages, vectors(passages), **more)[0]


def everything(tam: Tam) -> list[Any]:
    """All that a graph holds, in plain values."""
    return [
        value.tolist() if isinstance(value, np.ndarray) else value
        for value in (getattr(tam, f.name) for f in dataclasses.fields(tam))
    ]


TOWN = [
    passage("bell.md", "Ada Bell", "Ada Bell is a drummer. She founded Low Tide in June 1987."),
    passage("tide.md", "Low Tide", "Low Tide is a band. Its singer is Tom Reeve.", 0),
    passage("tide.md", "Low Tide", "Low Tide played at Whitby Pier with Ada Bell.", 50),
    passage("reeve.md", "Tom Reeve", "Tom Reeve sings with Low Tide. He was born in Leeds."),
    passage("kestrel.md", "Kestrel Records", "Kestrel Records signed Ada Bell. It is in Leeds."),
    passage("herring.md", "Herring", "The herring is a fish that is smoked at Whitby Pier."),
]


@few
@given(corpora())
def test_every_corpus_gives_a_valid_graph_with_every_passage(passages: list[Passage]) -> None:
    tam = built(passages)
    validate_tam(tam, passages)
    evidence = {n for n, kind in zip(tam.ids, tam.types, strict=True) if kind == EVIDENCE}
    assert evidence == {p.id for p in passages}
    assert [tam.ids[n] for n in np.flatnonzero(tam.types == ROOT)] == [tam.root]


@few
@given(corpora(), st.randoms(use_true_random=False))
def test_the_order_of_the_passages_changes_nothing(
    passages: list[Passage], chance: random.Random
) -> None:
    shuffled = chance.sample(passages, len(passages))
    assert everything(built(shuffled)) == everything(built(passages))


@few
@given(corpora(), corpora(most=4))
def test_a_build_that_draws_on_an_earlier_one_equals_a_clean_one(
    before: list[Passage], more: list[Passage]
) -> None:
    _, kept = build_tam(before, vectors(before))
    known = {p.id: p for p in (*before[1:], *more)}
    after = list(known.values())
    assert everything(built(after, cached=kept)) == everything(built(after))


def test_what_is_kept_is_used_again() -> None:
    _, kept = build_tam(TOWN, vectors(TOWN))
    marked = {key: f"kept {text}" for key, text in kept.items()}
    tam = built(TOWN, cached=marked)
    texts = [t for t, kind in zip(tam.texts, tam.types, strict=True) if kind == RELATION]
    assert texts
    assert all(text.startswith("kept ") for text in texts)


@few
@given(corpora(), st.integers(0, 3))
def test_a_seed_gives_one_graph(passages: list[Passage], seed: int) -> None:
    assert everything(built(passages, seed=seed)) == everything(built(passages, seed=seed))


def test_seed_and_settings_are_in_the_digest() -> None:
    digests = {
        built(TOWN).digest,
        built(TOWN, seed=1).digest,
        built(TOWN, settings=TamSettings(cluster_size=2)).digest,
        built(TOWN[1:]).digest,
    }
    assert len(digests) == 4


@pytest.mark.parametrize("count", [0, 1, 2])
def test_hardly_any_passages(count: int) -> None:
    tam = built(TOWN[:count])
    validate_tam(tam, TOWN[:count])
    assert len(tam.ids) == 1 if count == 0 else int((tam.types == EVIDENCE).sum()) == count


def test_identical_documents_are_all_there_and_in_each_other_s_region() -> None:
    same = [passage(f"{n}.md", "Ada Bell", "Ada Bell is a drummer.") for n in range(30)]
    tam = built(same)
    validate_tam(tam, same)
    assert int((tam.types == EVIDENCE).sum()) == 30
    assert all(len(tam.region(row)[0]) >= 7 for row in range(30))


@few
@given(corpora())
def test_a_corpus_that_is_split_first_gives_a_valid_graph(passages: list[Passage]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tam_groups, "WHOLE_UP_TO", 4)
        tam = built(passages)
        validate_tam(tam, passages)
        assert everything(built(passages[::-1])) == everything(tam)


def test_empty_texts_are_reachable_too() -> None:
    empty = [passage(f"{n}.md", "", " ") for n in range(3)]
    validate_tam(built(empty), empty)


def test_more_clusters_than_distinct_passages() -> None:
    near = [passage(f"{n}.md", "A", f"word{n % 2} drum") for n in range(20)]
    tam = built(near, settings=TamSettings(cluster_size=1))
    validate_tam(tam, near)


def test_passages_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="ids of their own"):
        build_tam([TOWN[0], TOWN[0]], vectors([TOWN[0], TOWN[0]]))


def test_what_shares_an_entity_is_a_relation_with_several_parents_for_a_passage() -> None:
    tam = built(TOWN)
    named = {name: node for node, names in tam.names.items() for name in names}
    assert {"Ada Bell", "Low Tide", "Leeds", "Whitby Pier"} <= set(named)
    members = {tam.ids[c] for p, c in tam.edges.tolist() if p == named["Ada Bell"]}
    assert members == {TOWN[0].id, TOWN[2].id, TOWN[4].id}
    parents = np.bincount(tam.edges[:, 1], minlength=len(tam.ids))
    assert (parents[tam.types == EVIDENCE] > 1).any()


def test_a_name_in_too_many_passages_makes_no_relation() -> None:
    many = [passage(f"{n}.md", f"Page {n}", f"It is in Leeds, word{n}.") for n in range(13)]
    names = {name for given in built(many).names.values() for name in given}
    assert "Leeds" not in names
    names = {name for given in built(many[:12]).names.values() for name in given}
    assert "Leeds" in names


def test_a_region_follows_titles_both_ways_documents_and_entities() -> None:
    tam = built(TOWN)
    order = sorted(TOWN, key=lambda p: p.id)

    def region(p: Passage) -> dict[str, float]:
        rows, weights = tam.region(order.index(p))
        return dict(zip((order[r].id for r in rows), weights.tolist(), strict=True))

    bell, tide, played, reeve, kestrel, herring = TOWN
    assert region(bell)[tide.id] > 0
    assert region(tide)[bell.id] > 0
    assert region(tide)[played.id] >= 0.5
    assert region(herring)[played.id] >= 0.5
    assert region(reeve)[kestrel.id] >= 0.5
    ranked = list(region(reeve))
    assert set(ranked[:3]) == {tide.id, played.id, kestrel.id}


def test_one_asker_s_passages_take_no_place_from_another_s() -> None:
    """However many passages of other tenants are linked, those that a tenant may see are kept."""
    hub = passage("hub.md", "Ada Bell", "Ada Bell is a drummer.")
    crowd = [
        passage(f"{n}.md", f"Fan {n}", "Ada Bell, Ada Bell and a drummer.", tenant="b")
        for n in range(60)
    ]
    mine = passage("mine.md", "Notes", "An aside on tea and Ada Bell.", tenant="a")
    passages = [hub, *crowd, mine]
    tam = built(passages)
    rows, _ = tam.region(sorted(p.id for p in passages).index(hub.id))
    assert mine.id in {tam.ids[tam.first_evidence + row] for row in rows}
    assert len(rows) <= 2 * TamSettings().candidates


def test_building_can_be_stopped_and_says_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []
    build_tam(TOWN, vectors(TOWN), step=lambda *said: told.append(said))
    phases = list(dict.fromkeys(phase for phase, _, _ in told))
    assert phases == ["linking", "grouping", "weighing", "abstracting"]
    assert all(0 <= done <= total for _, done, total in told)
    for wanted in phases:

        def stop(phase: str, done: int, total: int, wanted: str = wanted) -> None:
            if phase == wanted:
                raise RunCancelled("stopped")

        with pytest.raises(RunCancelled):
            build_tam(TOWN, vectors(TOWN), step=stop)


def test_a_release_that_builds_otherwise_has_other_digests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = built(TOWN).digest
    monkeypatch.setattr(tam_build, "TAM_VERSION", 99)
    assert built(TOWN).digest != before


# --- breaches ---------------------------------------------------------------------------------


def swapped(tam: Tam, **parts: Any) -> Tam:
    return dataclasses.replace(tam, **parts)


def with_edges(tam: Tam, edges: list[list[int]]) -> Tam:
    return swapped(tam, edges=np.array(sorted(map(tuple, edges)), dtype=np.int64))


def first_of(tam: Tam, kind: int) -> int:
    return int(np.flatnonzero(tam.types == kind)[0])


def cycle(tam: Tam) -> Tam:
    one, two = np.flatnonzero(tam.types == RELATION)[:2].tolist()
    return with_edges(tam, [*tam.edges.tolist(), [one, two], [two, one]])


def itself(tam: Tam) -> Tam:
    node = first_of(tam, RELATION)
    return with_edges(tam, [*tam.edges.tolist(), [node, node]])


def orphan(tam: Tam) -> Tam:
    node = first_of(tam, EVIDENCE)
    return with_edges(tam, [e for e in tam.edges.tolist() if e[1] != node])


def shortcut(tam: Tam) -> Tam:
    return with_edges(tam, [*tam.edges.tolist(), [0, first_of(tam, EVIDENCE)]])


def twice(tam: Tam) -> Tam:
    return with_edges(tam, [*tam.edges.tolist(), tam.edges[0].tolist()])


def childless(tam: Tam) -> Tam:
    """A relation that another one leads to, and that leads nowhere."""
    one, two = np.flatnonzero(tam.types == RELATION)[:2].tolist()
    kept = [e for e in tam.edges.tolist() if e[0] != two]
    used = {e[1] for e in kept}
    lost = [e[1] for e in tam.edges.tolist() if e[1] not in used]
    return with_edges(tam, [*kept, *([one, child] for child in dict.fromkeys(lost))])


def second_root(tam: Tam) -> Tam:
    types = tam.types.copy()
    types[1] = ROOT
    return swapped(tam, types=types)


def region_value(value: int) -> Callable[[Tam], Tam]:
    def change(tam: Tam) -> Tam:
        rows = tam.region_rows.copy()
        rows[0] = value
        return swapped(tam, region_rows=rows)

    return change


def weights(value: float) -> Callable[[Tam], Tam]:
    def change(tam: Tam) -> Tam:
        changed = tam.region_weights.copy()
        changed[1] = value
        return swapped(tam, region_weights=changed)

    return change


BREACHES: list[tuple[Callable[[Tam], Tam], str]] = [
    (cycle, "cycle: relation:"),
    (itself, "cycle: relation:"),
    (orphan, "cannot be reached from the root"),
    (shortcut, "ROOT -> EVIDENCE, which is not admissible"),
    (twice, "comes twice or out of order"),
    (childless, "has no child"),
    (second_root, "2 ROOT nodes"),
    (lambda t: swapped(t, ids=(t.ids[0], t.ids[0], *t.ids[2:])), "Two nodes have the id"),
    (lambda t: swapped(t, ids=(*t.ids[:-1], "other")), "has no EVIDENCE node in its place"),
    (lambda t: swapped(t, texts=(*t.texts[:-1], " ")), "has no abstraction"),
    (lambda t: swapped(t, texts=t.texts[1:]), "texts"),
    (lambda t: swapped(t, types=t.types + 1), "a type that there is not"),
    (lambda t: with_edges(t, [*t.edges.tolist(), [0, 999]]), "names a node that there is not"),
    (lambda t: with_edges(t, [*t.edges.tolist(), [-1, 1]]), "names a node that there is not"),
    (lambda t: swapped(t, edges=t.edges[:, :1]), "not pairs"),
    (region_value(0), "holds the passage itself"),
    (region_value(999), "holds a passage that there is not"),
    (lambda t: region_value(int(t.region_rows[1]))(t), "holds a passage twice"),
    (weights(float("nan")), "not positive"),
    (weights(-1.0), "not positive"),
    (weights(99.0), "not in the order"),
    (lambda t: swapped(t, region_ends=t.region_ends[:-1]), "regions do not fit"),
    (lambda t: swapped(t, term_ids=t.term_ids + len(t.terms)), "terms do not fit"),
    (lambda t: swapped(t, ids=(), texts=(), types=t.types[:0]), "no node"),
]


@pytest.mark.parametrize(("forge", "says"), BREACHES)
def test_a_forged_graph_is_refused_by_its_first_breach(
    forge: Callable[[Tam], Tam], says: str
) -> None:
    tam = built(TOWN)
    validate_tam(tam, TOWN)
    with pytest.raises(InvalidTam) as refused:
        validate_tam(forge(tam), TOWN)
    assert says in str(refused.value)


def test_a_graph_of_other_passages_is_refused() -> None:
    tam = built(TOWN)
    with pytest.raises(InvalidTam, match="5 passages and 6 EVIDENCE nodes"):
        validate_tam(tam, TOWN[1:])


def test_every_edge_is_of_an_admissible_kind_and_topics_lead_to_relations() -> None:
    tam = built(TOWN)
    pairs = {(int(tam.types[p]), int(tam.types[c])) for p, c in tam.edges.tolist()}
    assert {(ROOT, TOPIC), (TOPIC, RELATION), (RELATION, EVIDENCE)} <= pairs
