from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import StaleIndex
from core.ports import Retriever
from core.retrieval.fusion import reciprocal_rank
from core.retrieval.index import Index
from core.types import Access, Channel, Metadata
from tests.retrieval.world import MemoryStores, library, passage, write

ALL = Access()
CHANNELS: tuple[Channel, ...] = ("lexical", "dense", "fused")


@pytest.fixture
def index(tmp_path: Path) -> Index:
    lib = library(tmp_path)
    lib.index_passages(
        "pool",
        [
            passage(f"Tower {n}", f"Tower {n} has lamp {n % 5}. Keeper {n % 7} painted it red.")
            for n in range(120)
        ],
    )
    return lib.open("pool")


@pytest.mark.parametrize("channel", CHANNELS)
def test_hits_are_ranked_scored_and_calibrated(index: Index, channel: Channel) -> None:
    hits = index.retriever().search("lamp 3 of keeper 2", 10, channel, ALL)
    assert [hit.rank for hit in hits] == list(range(1, 11))
    order = [(-hit.score, hit.passage.id) for hit in hits]
    assert order == sorted(order)
    assert all(0 <= hit.calibrated <= 1 for hit in hits)
    calibrated = [hit.calibrated for hit in hits]
    assert calibrated == sorted(calibrated, reverse=True)
    calibration = index.manifest.calibration[channel]
    assert calibration.tau > 0
    assert hits[0].calibrated == calibration(hits[0].score)


def test_fused_hits_carry_both_channels_own_scores(index: Index) -> None:
    query, retriever = "lamp 3 of keeper 2", index.retriever()
    lexical = {h.passage.id: h for h in retriever.search(query, 200, "lexical", ALL)}
    dense = {h.passage.id: h for h in retriever.search(query, 200, "dense", ALL)}
    fused = retriever.search(query, 200, "fused", ALL)
    lists = [
        [h.passage.id for h in retriever.search(query, 100, channel, ALL)]
        for channel in ("lexical", "dense")
    ]
    assert [(h.passage.id, h.score) for h in fused] == reciprocal_rank(lists)
    for hit in fused:
        own = lexical.get(hit.passage.id)
        assert hit.lexical == (own.score if own else 0.0)
        assert hit.dense == dense[hit.passage.id].score
    assert all(h.lexical == h.score and h.dense is None for h in lexical.values())
    assert all(h.dense == h.score and h.lexical is None for h in dense.values())


def test_a_deeper_cut_extends_a_shallower_one(index: Index) -> None:
    for channel in CHANNELS:
        deep = index.retriever().search("red tower lamp", 50, channel, ALL)
        assert index.retriever().search("red tower lamp", 5, channel, ALL) == deep[:5]


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("query", "k"), [("", 5), (" \n", 5), ("lamp", 0), ("lamp", -1)])
def test_nothing_asked_nothing_found(index: Index, channel: Channel, query: str, k: int) -> None:
    assert index.retriever().search(query, k, channel, ALL) == []


def test_k_beyond_the_corpus(index: Index) -> None:
    assert len(index.retriever().search("tower", 500, "dense", ALL)) == 120
    assert 100 <= len(index.retriever().search("tower", 500, "fused", ALL)) <= 120


def test_a_query_without_a_common_term_has_no_lexical_hit(index: Index) -> None:
    assert index.retriever().search("xylophone", 5, "lexical", ALL) == []
    fused = index.retriever().search("xylophone", 5, "fused", ALL)
    assert [hit.lexical for hit in fused] == [0.0] * 5


def test_recent_queries_are_not_encoded_again(tmp_path: Path) -> None:
    lib = library(tmp_path)
    lib.index_passages("pool", [passage("A", "A lamp.")])
    index = lib.open("pool")
    embedder = lib.embedder
    del embedder.texts[:]  # type: ignore[attr-defined]
    for _ in range(3):
        index.retriever().search("lamp", 1, "dense", ALL)
        index.retriever().search("lamp", 1, "fused", ALL)
    assert embedder.texts == ["lamp"]  # type: ignore[attr-defined]


def test_it_is_a_retriever_of_its_corpus(index: Index) -> None:
    retriever: Retriever = index.retriever()
    assert retriever.corpus == index.corpus
    assert retriever.corpus.id == "pool"


# --- reading ------------------------------------------------------------------------------------

SECTIONS = "\n\n".join(f"# Part {n}\n\nPart {n} tells of lamp {n}." for n in range(6))


@pytest.fixture
def sections(tmp_path: Path) -> Index:
    lib = library(tmp_path, stores=MemoryStores())
    root = write(
        tmp_path / "book",
        {
            "book.md": f"---\ntenant: aurora\n---\n{SECTIONS}",
            "other.md": "# Part 9\n\nAnother lamp.",
        },
    )
    lib.index(root)
    return lib.open(root)


def part(index: Index, n: int) -> str:
    (found,) = [p.id for p in index.passages() if p.text.startswith(f"# Part {n}")]
    return found


@pytest.mark.parametrize(
    ("n", "width", "expected"),
    [
        (2, 1, [1, 3]),
        (0, 2, [1, 2]),
        (5, 2, [3, 4]),
        (3, 9, [0, 1, 2, 4, 5]),
        (9, 3, []),
        (2, 0, []),
    ],
)
def test_neighbours_in_document_order(
    sections: Index, n: int, width: int, expected: list[int]
) -> None:
    found = sections.retriever().neighbours(part(sections, n), width, ALL)
    assert [p.text.split("\n")[0] for p in found] == [f"# Part {m}" for m in expected]


def test_read_gives_the_passage(sections: Index) -> None:
    found = sections.retriever().read(part(sections, 3), ALL)
    assert found.text == "# Part 3\n\nPart 3 tells of lamp 3."
    assert found.metadata == Metadata(tenant="aurora")


def test_what_is_gone_or_hidden_cannot_be_read(sections: Index) -> None:
    retriever, hidden = sections.retriever(), Access(tenants=frozenset({"borealis"}))
    for passage_id, access in (("nothing", ALL), (part(sections, 3), hidden)):
        with pytest.raises(StaleIndex, match="no passage"):
            retriever.read(passage_id, access)
        with pytest.raises(StaleIndex, match="no passage"):
            retriever.neighbours(passage_id, 1, access)
    assert retriever.read(part(sections, 9), hidden)
