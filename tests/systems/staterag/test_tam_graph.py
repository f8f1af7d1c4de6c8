"""The abstraction memory of an index as runs use it: stored, served, under access."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import RunCancelled, StaleIndex
from core.graph import ADMISSIBLE, AbstractionMemory
from core.reasoning.scripted import ScriptedReasoner
from core.retrieval.index import Index
from core.retrieval.progress import Progress
from core.retrieval.tokenizer import content_terms
from core.systems.staterag import tam_graph
from core.systems.staterag.tam import EVIDENCE, TamSettings
from core.systems.staterag.tam_build import build_tam
from core.systems.staterag.tam_graph import IndexGraph
from core.systems.staterag.tam_view import TamView
from core.tasks import Abstraction
from core.types import Access, Passage
from tests.reasoning.llm.samples import WordTokens
from tests.retrieval.world import MemoryStores, library
from tests.systems.staterag.tam_world import corpora, passage, vectors
from tests.systems.staterag.test_tam import TOWN

EVERYONE = Access()
ONLY_A = Access(tenants=frozenset({"a"}))
QUERY = "Who sings in Low Tide?"

TENANTS = [
    *TOWN,
    passage("a.md", "Plan of A", "Ada Bell tours Leeds in secret, codename Heron.", tenant="a"),
    passage("b.md", "Plan of B", "Ada Bell sues Low Tide, codename Magpie Sweep.", tenant="b"),
    passage("b2.md", "Magpie Sweep", "Magpie Sweep is a plan of Ada Bell.", tenant="b"),
]


def opened(
    tmp_path: Path, passages: list[Passage] = TOWN, stores: MemoryStores | None = None
) -> Index:
    shelf = library(tmp_path, stores=stores)
    shelf.index_passages("town", passages)
    return shelf.open("town")


def graph_of(tmp_path: Path, passages: list[Passage] = TOWN) -> AbstractionMemory:
    return IndexGraph(opened(tmp_path, passages))


def everywhere(graph: AbstractionMemory, access: Access = EVERYONE) -> dict[str, str]:
    """Every node that can be reached, with its abstraction."""
    seen, open_ = {graph.root}, [graph.root]
    while open_:
        found = {edge.child for edge in graph.expand(QUERY, open_, access)} - seen
        seen |= found
        open_ = sorted(found)
    nodes = sorted(seen)
    return dict(zip(nodes, graph.texts(nodes, access), strict=True))


# --- expanding --------------------------------------------------------------------------------


def test_expanding_leads_from_the_root_to_every_passage(tmp_path: Path) -> None:
    found = everywhere(graph_of(tmp_path))
    assert {p.id for p in TOWN} <= set(found)
    assert all(found.values())


def test_edges_come_in_order_typed_and_scored(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    topics = [edge.child for edge in graph.expand(QUERY, [graph.root], EVERYONE)]
    edges = graph.expand(QUERY, [*topics[::-1], *topics, "no such node"], EVERYONE)
    assert [(e.parent, e.child) for e in edges] == sorted({(e.parent, e.child) for e in edges})
    for edge in edges:
        assert edge.types in ADMISSIBLE
        assert edge.lexical is not None
        assert edge.dense is not None


def test_scores_are_the_share_of_the_query_and_the_cosine_of_the_centroid(tmp_path: Path) -> None:
    index = opened(tmp_path)
    graph = IndexGraph(index)
    view, tam = graph.view(EVERYONE), graph.tam()
    scores = view.scores(QUERY, index.query_vector(QUERY))
    order = index.passages()
    for row, p in enumerate(order):
        node = tam.first_evidence + row
        has = set(content_terms(f"{p.title} {p.text}"))
        asked = content_terms(QUERY)
        idf = {t: index.text_view().idf(t) for t in asked}
        share = sum(idf[t] for t in asked if t in has) / sum(idf.values())
        assert scores.lexical[node] == pytest.approx(share, abs=1e-5)
        cosine = index.passage_vectors()[row] @ index.query_vector(QUERY)
        assert scores.dense[node] == pytest.approx(float(cosine), abs=1e-5)
    relation = next(n for n, names in tam.names.items() if "Low Tide" in names)
    rows = [c - tam.first_evidence for p, c in tam.edges.tolist() if p == relation]
    centroid = index.passage_vectors()[rows].mean(axis=0)
    expected = centroid @ index.query_vector(QUERY) / np.linalg.norm(centroid)
    assert scores.dense[relation] == pytest.approx(float(expected), abs=1e-5)
    assert scores.lexical[relation] > 0


@pytest.mark.parametrize("query", ["", "the of", "xyzzy", "?!", "海辺"])
def test_any_query_is_scored(tmp_path: Path, query: str) -> None:
    graph = graph_of(tmp_path)
    edges = graph.expand(query, [graph.root], EVERYONE)
    assert edges
    assert all(edge.lexical is not None and 0 <= edge.lexical <= 1 for edge in edges)


def test_a_path_is_judged_by_what_the_graph_holds(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    path = [graph.root]
    while edges := graph.expand(QUERY, [path[-1]], EVERYONE):
        path.append(edges[0].child)
    facts = graph.facts(path, EVERYONE)
    assert facts.root == graph.root
    assert facts.types[0] == "ROOT"
    assert facts.types[-1] == "EVIDENCE"
    assert all(facts.edges)
    forged = graph.facts([graph.root, path[-1], "no such node"], EVERYONE)
    assert forged.types == ("ROOT", "EVIDENCE", None)
    assert forged.edges == (False, False)


# --- regions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 3, 8, 40])
def test_a_region_holds_its_passage_and_is_ranked(tmp_path: Path, width: int) -> None:
    graph = graph_of(tmp_path)
    for p in TOWN:
        hits = graph.region(p.id, QUERY, width, EVERYONE)
        ids = [hit.passage.id for hit in hits]
        assert p.id in ids
        assert len(ids) == len(set(ids)) <= width
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))
        assert hits == graph.region(p.id, QUERY, width, EVERYONE)


def test_a_region_leans_to_the_query(tmp_path: Path) -> None:
    crowd = [passage(f"{n}.md", f"Fan {n}", f"Ada Bell, word{n} word{n + 1}.") for n in range(10)]
    graph = graph_of(tmp_path, crowd)
    hits = graph.region(crowd[0].id, "word7", 3, EVERYONE)
    assert {"Fan 6", "Fan 7"} & {hit.passage.title for hit in hits}


@pytest.mark.parametrize("node", ["no such node", "", "root"])
def test_no_region_of_what_is_no_evidence_node(tmp_path: Path, node: str) -> None:
    graph = graph_of(tmp_path)
    with pytest.raises(StaleIndex, match="no EVIDENCE node"):
        graph.region(graph.root if node == "root" else node, QUERY, 8, EVERYONE)


# --- access -----------------------------------------------------------------------------------


def test_what_an_asker_may_not_see_is_nowhere(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, TENANTS)
    assert "Magpie" in " ".join(everywhere(graph).values())
    found = everywhere(graph, ONLY_A)
    hidden = {p.id for p in TENANTS if p.metadata.tenant == "b"}
    assert {p.id for p in TENANTS} - hidden <= set(found)
    assert not hidden & set(found)
    assert "Magpie" not in " ".join(found.values())
    assert "Plan of B" not in " ".join(found.values())
    assert "Heron" in " ".join(found.values())
    for node in hidden:
        with pytest.raises(StaleIndex):
            graph.region(node, QUERY, 8, ONLY_A)
        assert graph.facts([node], ONLY_A).types == (None,)
        assert graph.texts([node], ONLY_A) == [""]
    for p in TENANTS:
        if p.id not in hidden:
            assert not hidden & {h.passage.id for h in graph.region(p.id, QUERY, 40, ONLY_A)}


@settings(max_examples=30)
@given(corpora(), st.sampled_from(["Low Tide drum", "Reeve", "harbour E-4012"]))
def test_an_asker_s_scores_and_texts_are_those_of_his_passages_alone(
    passages: list[Passage], query: str
) -> None:
    """Whatever the hidden passages say, as long as the graph is the same one."""
    ordered = sorted(passages, key=lambda p: p.id)
    points = vectors(ordered)
    tam, _ = build_tam(ordered, points)
    mask = np.array([ONLY_A.allows(p.metadata) for p in ordered], dtype=bool)
    noise = points.copy()
    noise[~mask] = -noise[~mask]
    hidden = [
        p if mask[row] else p.model_copy(update={"text": "Hidden Words", "title": "Hidden Title"})
        for row, p in enumerate(ordered)
    ]
    vector = vectors([passage("q", "", query)])[0]
    plain, other = TamView(tam, ordered, points, mask), TamView(tam, hidden, noise, mask)
    scores, others = plain.scores(query, vector), other.scores(query, vector)
    there = plain.there
    assert (there == other.there).all()
    assert scores.dense[there] == pytest.approx(others.dense[there], abs=1e-5)
    assert [plain.text(n) for n in tam.ids] == [other.text(n) for n in tam.ids]
    assert not any("Hidden" in plain.text(n) for n in tam.ids)


def test_an_asker_who_may_see_nothing_gets_a_root_alone(tmp_path: Path) -> None:
    mine = [p.model_copy(update={"metadata": TENANTS[-1].metadata}) for p in TOWN]
    graph = graph_of(tmp_path, mine)
    nobody = Access(tenants=frozenset())
    assert graph.expand(QUERY, [graph.root], nobody) == []
    assert graph.texts([graph.root], nobody) == ["0 passages of 0 documents"]


# --- stored -----------------------------------------------------------------------------------


def no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("built anew")

    monkeypatch.setattr(tam_graph, "build_tam", refuse)


def test_a_stored_graph_is_read_back_and_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened(tmp_path)
    first = everywhere(IndexGraph(index))
    no_build(monkeypatch)
    again = IndexGraph(index)
    assert everywhere(again) == first
    assert again.root in first


def test_another_seed_settings_or_corpus_is_another_graph(tmp_path: Path) -> None:
    stores = MemoryStores()
    digests = set()
    for passages in (TOWN, TENANTS):
        index = opened(tmp_path, passages, stores)
        for graph in (
            IndexGraph(index),
            IndexGraph(index, seed=1),
            IndexGraph(index, TamSettings(cluster_size=2)),
        ):
            assert graph.tam().digest == graph.digest
            assert graph.tam().root == graph.root
            digests.add(graph.digest)
    assert len(digests) == 6


def test_graphs_of_other_seeds_and_settings_lie_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened(tmp_path)
    kinds: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"seed": 2},
        {"settings": TamSettings(cluster_size=2)},
    ]
    built = [everywhere(IndexGraph(index, **kind)) for kind in kinds]
    rebuilt = IndexGraph(index, seed=1)
    rebuilt.tam(rebuild=True)
    assert everywhere(rebuilt) == built[1]
    no_build(monkeypatch)
    assert [everywhere(IndexGraph(index, **kind)) for kind in kinds] == built


def test_what_a_model_wrote_of_one_graph_stays_when_another_is_built(tmp_path: Path) -> None:
    index = opened(tmp_path)
    graph = IndexGraph(index)
    graph.write(ScriptedReasoner({"abstract": Abstraction(text="Written.")}, WordTokens()))
    IndexGraph(index, seed=1).tam(rebuild=True)
    assert IndexGraph(index).tam().texts == graph.tam().texts


def test_a_graph_under_the_name_of_another_is_refused(tmp_path: Path) -> None:
    index = opened(tmp_path)
    graph, other = IndexGraph(index), IndexGraph(index, seed=7)
    graph.tam()
    for ending in ("json", "npz"):
        path = stored(index.folder, ending)
        shutil.copy(path, path.with_name(path.name.replace(graph.digest, other.digest)))
    with pytest.raises(StaleIndex, match="--rebuild --seed 7") as refused:
        other.tam()
    assert "another one" in refused.value.message


def test_a_corpus_that_changed_gives_what_a_clean_build_gives(tmp_path: Path) -> None:
    stores = MemoryStores()
    IndexGraph(opened(tmp_path, TOWN[:3], stores)).tam()
    grown = IndexGraph(opened(tmp_path, TENANTS, stores))
    clean = IndexGraph(opened(tmp_path / "clean", TENANTS))
    assert everywhere(grown) == everywhere(clean)
    back = IndexGraph(opened(tmp_path, TOWN[:3], stores))
    assert set(everywhere(back)) >= {p.id for p in TOWN[:3]}
    assert not set(everywhere(back)) & {p.id for p in TENANTS[3:]}


def stored(folder: Path, ending: str) -> Path:
    (path,) = folder.glob(f"tam-*.{ending}")
    return path


def edit(name: str, change: Callable[[dict[str, object]], None]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = stored(folder, "json")
        words = json.loads(path.read_text(encoding="utf-8"))
        change(words)
        path.write_text(json.dumps(words), encoding="utf-8")

    damage.__name__ = name
    return damage


def array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = stored(folder, "npz")
        with np.load(path) as kept:
            arrays = dict(kept)
        arrays[name] = change(arrays[name])
        np.savez(path, **arrays)

    damage.__name__ = name
    return damage


def cut(folder: Path) -> None:
    path = stored(folder, "npz")
    path.write_bytes(path.read_bytes()[:200])


def not_json(folder: Path) -> None:
    stored(folder, "json").write_text("{", encoding="utf-8")


def no_text(words: dict[str, object]) -> None:
    words["texts"] = [""] * len(words["texts"])  # type: ignore[arg-type]


def other_ids(words: dict[str, object]) -> None:
    words["ids"] = [f"x{n}" for n, _ in enumerate(words["ids"])]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (cut, "cannot be read"),
        (not_json, "cannot be read"),
        (edit("a_field", lambda words: words.update(extra=1)), "cannot be read"),
        (edit("texts", no_text), "has no abstraction"),
        (edit("ids", other_ids), "has no EVIDENCE node in its place"),
        (array("edges", lambda edges: edges[:, ::-1]), "not admissible"),
        (array("edges", lambda edges: edges[1:]), "cannot be reached"),
        (array("edges", lambda edges: edges.astype(float)), "not of their kind"),
        (array("region_rows", lambda rows: rows + 1_000), "there is not"),
    ],
)
def test_a_damaged_or_forged_graph_is_refused_until_it_is_rebuilt(
    tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    index = opened(tmp_path)
    whole = everywhere(IndexGraph(index))
    damage(index.folder)
    with pytest.raises(StaleIndex) as refused:
        IndexGraph(index).expand(QUERY, ["x"], EVERYONE)
    assert says in refused.value.message
    assert "--rebuild" in refused.value.message
    graph = IndexGraph(index)
    graph.tam(rebuild=True)
    assert everywhere(graph) == whole
    assert everywhere(IndexGraph(index)) == whole


def test_building_can_be_stopped_and_leaves_nothing(tmp_path: Path) -> None:
    index = opened(tmp_path)
    with pytest.raises(RunCancelled, match="nothing was stored"):
        IndexGraph(index).tam(cancelled=lambda: True)
    assert not list(index.folder.glob("tam-*"))
    told: list[Progress] = []
    IndexGraph(index).tam(told.append)
    assert {p.phase for p in told} == {"linking", "grouping", "weighing", "abstracting"}
    assert told[-1].done == told[-1].total


def test_an_index_that_was_replaced_meanwhile_says_so(tmp_path: Path) -> None:
    index = opened(tmp_path)
    shutil.rmtree(index.folder)
    with pytest.raises(StaleIndex, match="replaced meanwhile"):
        IndexGraph(index).tam()


def test_an_open_index_has_one_graph(tmp_path: Path) -> None:
    index = opened(tmp_path)
    assert IndexGraph.of(index) is IndexGraph.of(index)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_hardly_any_passages_can_be_asked(tmp_path: Path, count: int) -> None:
    graph = graph_of(tmp_path, TOWN[:count])
    found = everywhere(graph)
    assert {p.id for p in TOWN[:count]} <= set(found)
    for p in TOWN[:count]:
        assert p in [hit.passage for hit in graph.region(p.id, QUERY, 8, EVERYONE)]


def test_evidence_nodes_bear_the_ids_of_their_passages(tmp_path: Path) -> None:
    tam = IndexGraph(opened(tmp_path)).tam()
    assert [tam.ids[n] for n in np.flatnonzero(tam.types == EVIDENCE)] == sorted(p.id for p in TOWN)


@pytest.mark.parametrize("access", [EVERYONE, ONLY_A])
def test_a_term_is_found_in_as_many_passages_as_hold_it(tmp_path: Path, access: Access) -> None:
    graph = graph_of(tmp_path, TENANTS)
    allowed = [p for p in TENANTS if access.allows(p.metadata)]
    texts = [frozenset(content_terms(f"{p.title}\n{p.text}")) for p in allowed]
    asked = sorted({term for text in texts for term in text} | {"heron", "magpi", "nowhere"})
    found = graph.spread(asked, access)
    assert found.passages == len(allowed)
    assert found.holders == tuple(sum(term in text for text in texts) for term in asked)
