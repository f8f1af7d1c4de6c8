"""One contract for every vector store: in memory, Chroma on disk, and a Chroma server."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.adapters.chroma import ChromaStores, collection_name
from core.errors import BadInput, StaleIndex
from core.ports import FloatArray
from core.retrieval.dense import VectorStores
from core.types import Access, Channel, Metadata
from tests.retrieval.world import LIGHTHOUSES, MemoryStores, library, passage, write

ALL = Access()
CHANNELS: tuple[Channel, ...] = ("lexical", "dense", "fused")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = Path(sys.executable).with_name("chroma")
    if not program.exists():
        pytest.skip("the chroma program is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma")
    process = subprocess.Popen(
        [program, "run", "--host", "127.0.0.1", "--port", str(port), "--path", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    limit = threading.Timer(60, process.kill)
    limit.start()
    try:
        if not any("listening on address" in line for line in process.stdout):
            pytest.skip("a Chroma server cannot be started here")
        limit.cancel()
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}"
    finally:
        limit.cancel()
        process.kill()
        process.wait()


@pytest.fixture(params=["memory", "folder", "server"])
def stores(request: pytest.FixtureRequest) -> VectorStores:
    if request.param == "memory":
        return MemoryStores()
    if request.param == "folder":
        return ChromaStores(url="")
    return ChromaStores(url=request.getfixturevalue("server"))


def unit(rows: int, dimension: int = 16, seed: int = 0) -> FloatArray:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def ids(count: int) -> list[str]:
    return [f"{n:016x}" for n in range(count)]


# --- stores -----------------------------------------------------------------------------------


def test_nearest_upsert_delete_and_count(stores: VectorStores, tmp_path: Path) -> None:
    vectors, name = unit(300), f"contract {tmp_path}"
    done: list[int] = []
    store = stores.create(tmp_path / "chroma", name)
    store.upsert(ids(300), vectors, done.append)
    assert done[-1] == store.count() == 300
    query = unit(1, seed=9)[0]
    expected = [ids(300)[row] for row in np.argsort(-(vectors @ query))]
    assert store.nearest(query, 10) == expected[:10]
    store.upsert([ids(300)[7]], -vectors[7:8])
    assert store.count() == 300
    assert store.nearest(-vectors[7], 1) == [ids(300)[7]]
    store.delete([ids(300)[7], "not there"])
    assert store.count() == 299
    assert ids(300)[7] not in store.nearest(-vectors[7], 50)
    store.close()
    stores.drop(tmp_path / "chroma", name)


def test_a_store_is_found_again_and_only_where_it_is_whole(
    stores: VectorStores, tmp_path: Path
) -> None:
    place, name = tmp_path / "chroma", f"again {tmp_path}"
    assert not stores.holds(place, name, 3)
    with pytest.raises(StaleIndex, match=r"again|re-index"):
        stores.open(place, name)
    store = stores.create(place, name)
    store.upsert(ids(3), unit(3))
    store.close()
    assert stores.holds(place, name, 3)
    opened = stores.open(place, name)
    assert opened.count() == 3
    opened.close()
    replaced = stores.create(place, name)
    assert replaced.count() == 0
    replaced.close()
    stores.drop(place, name)


def test_more_vectors_than_a_batch_takes(tmp_path: Path) -> None:
    store = ChromaStores(url="").create(tmp_path / "chroma", "big")
    done: list[int] = []
    store.upsert(ids(6_000), unit(6_000, 4), done.append)
    assert store.count() == 6_000
    assert done == [2_000, 4_000, 6_000]
    store.close()


@pytest.mark.parametrize(
    "name",
    ["a", "", "x" * 600, "../..", "日本", "a b/c", "🎬", "\udcff", "Film_Night", "192.168.1.1"],
)
def test_collection_names_are_safe_and_distinct(name: str) -> None:
    import regex

    safe = collection_name(name)
    assert regex.fullmatch(r"[a-z0-9][a-z0-9-]{1,60}[a-z0-9]", safe)
    assert safe == collection_name(name)
    assert safe != collection_name(name + "x")


def test_a_server_that_does_not_answer_is_said(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(BadInput, match=r"does not answer.*unset CHROMA_URL"):
            ChromaStores(url=url).create(tmp_path, "x")


def test_an_address_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="give one like"):
        ChromaStores(url="http://host:notaport").open(tmp_path, "x")


def test_credentials_in_the_address_stay_out_of_the_place() -> None:
    assert ChromaStores(url="https://me:secret@host:9000/x").place == "https://host:9000"


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMA_URL", "localhost:9001")
    assert ChromaStores().place == "http://localhost:9001"
    monkeypatch.delenv("CHROMA_URL")
    assert ChromaStores().place == "folder"


# --- indexes over each store --------------------------------------------------------------------


def test_all_stores_rank_alike(stores: VectorStores, tmp_path: Path) -> None:
    passages = [
        passage(f"T{n}", f"Keeper {n} lit lamp {n % 7} over reef {n % 11} in year {n % 13}.")
        for n in range(150)
    ]
    queries = [f"lamp {n % 7} of the reef {n % 5}" for n in range(8)]
    results = []
    for root, kind in ((tmp_path / "a", stores), (tmp_path / "b", MemoryStores())):
        lib = library(root, stores=kind)  # type: ignore[arg-type]
        lib.index_passages("pool", passages)
        retriever = lib.open("pool").retriever()
        results.append([retriever.search(q, 20, c, ALL) for q in queries for c in CHANNELS])
        lib.delete("pool")
    assert results[0] == results[1]


def test_a_corpus_lives_and_dies_in_each_store(stores: VectorStores, tmp_path: Path) -> None:
    root = write(tmp_path / "lighthouses", LIGHTHOUSES)
    lib = library(tmp_path, stores=stores)  # type: ignore[arg-type]
    first = lib.index(root)
    assert not lib.index(root).changed
    hits = lib.open(root).retriever().search("Smeaton granite", 2, "dense", ALL)
    assert hits[0].passage.title == "Eddystone"
    (root / "docs/Eddystone.txt").unlink()
    assert lib.index(root).removed == ("docs/Eddystone.txt",)
    hits = lib.open(root).retriever().search("Smeaton granite", 9, "dense", ALL)
    assert "Eddystone" not in {hit.passage.title for hit in hits}
    write(root, LIGHTHOUSES)
    assert lib.index(root).version == first.version
    lib.open(root).close()
    lib.delete(lib.list()[-1].name)


def test_a_server_keeps_no_collection_that_is_not_in_use(server: str, tmp_path: Path) -> None:
    import chromadb

    stores = ChromaStores(url=server)
    lib = library(tmp_path, stores=stores)  # type: ignore[arg-type]
    port = int(server.rpartition(":")[2])
    client = chromadb.HttpClient(host="127.0.0.1", port=port)
    before = client.count_collections()
    for text in ("One lamp.", "Two lamps.", "Three lamps."):
        lib.index_passages("pool", [passage("A", text)])
        assert client.count_collections() == before + 1
    (collection,) = [c for c in client.list_collections() if c.name.startswith("pool-")]
    client.delete_collection(collection.name)
    with pytest.raises(StaleIndex, match="re-index"):
        lib.open("pool").retriever().search("lamp", 1, "dense", ALL)
    assert lib.index("pool").changed
    lib.delete("pool")
    assert client.count_collections() == before


def test_a_corpus_indexed_elsewhere_is_indexed_again_here(server: str, tmp_path: Path) -> None:
    root = write(tmp_path / "lighthouses", LIGHTHOUSES)
    library(tmp_path, stores=ChromaStores(url="")).index(root)  # type: ignore[arg-type]
    served = library(tmp_path, stores=ChromaStores(url=server))  # type: ignore[arg-type]
    assert served.list()[-1].state == "needs re-indexing"
    assert served.index(root).changed
    assert served.list()[-1].state == "ready"
    assert served.open(root).retriever().search("Smeaton granite", 1, "dense", ALL)
    served.delete(served.list()[-1].name)


# --- access -------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact_below", [0, 2_000], ids=["by over-fetching", "exactly"])
def test_access_is_applied_before_the_cut_in_every_channel(
    stores: VectorStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact_below: int
) -> None:
    monkeypatch.setattr("core.retrieval.dense.EXACT_BELOW", exact_below)
    monkeypatch.setattr("core.retrieval.dense.MARGIN", 2)
    tenants = (None, "aurora", "borealis")
    passages = [
        passage(
            f"T{n}",
            f"Keeper {n} lit the lamp of reef {n % 9}.",
            metadata=Metadata(tenant=tenants[n % 3], source_tier=("official", "draft")[n % 2]),
        )
        for n in range(90)
    ]
    lib = library(tmp_path, stores=stores)  # type: ignore[arg-type]
    lib.index_passages("pool", passages)
    retriever = lib.open("pool").retriever()
    for access in (
        Access(tenants=frozenset()),
        Access(tenants=frozenset({"aurora"})),
        Access(tenants=frozenset({"borealis"}), source_tiers=frozenset({"draft"})),
        Access(source_tiers=frozenset({"unheard of"})),
    ):
        for channel in CHANNELS:
            query = "lamp of reef 4"
            everything = retriever.search(query, 90, channel, ALL)
            allowed = [h for h in everything if access.allows(h.passage.metadata)]
            found = retriever.search(query, 7, channel, access)
            assert len(found) == min(7, len(allowed))
            assert all(access.allows(hit.passage.metadata) for hit in found)
            assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
            if channel != "fused":
                assert [h.passage.id for h in found] == [h.passage.id for h in allowed[:7]]
    lib.delete("pool")
