"""Which corpora a workspace has: bundled, folders, uploads; added, deleted, replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from core.errors import BadInput, StaleIndex
from core.types import Passage
from tests.retrieval.world import (
    ALL,
    LIGHTHOUSES,
    HashedWords,
    MemoryStores,
    everything_under,
    library,
    passage,
    titles,
    write,
)

PROJECT = Path(__file__).resolve().parents[2]


def test_bundled_corpora_are_found_by_name_in_every_workspace(tmp_path: Path) -> None:
    write(tmp_path / "bundled" / "lights", LIGHTHOUSES)
    stores = MemoryStores()
    one, two = library(tmp_path, "one", stores=stores), library(tmp_path, "two", stores=stores)
    assert [c.name for c in one.list()] == ["lights"]
    assert one.list()[0].state == "not indexed"
    with pytest.raises(BadInput, match="not indexed yet"):
        one.open("lights")
    one.index("lights")
    assert two.list()[0].state == "ready"
    assert two.open("lights") is one.open("lights")
    assert one.open(tmp_path / "bundled" / "lights") is one.open("lights")


def test_workspaces_never_see_each_others_corpora(tmp_path: Path, folder: Path) -> None:
    one, two = library(tmp_path, "one"), library(tmp_path, "two")
    one.index(folder)
    one.index_passages("pool", [passage("A", "A lamp of one.")])
    one.add_files("mine", [("a.txt", b"A secret of one.")])
    one.index("mine")
    assert len(one.list()) == 3
    assert two.list() == []
    for name in [c.name for c in one.list()] + [str(folder)]:
        with pytest.raises(BadInput):
            two.open(name)
    two.add_files("mine", [("a.txt", b"Something of two.")])
    two.index("mine")
    assert titles(two, "mine", "secret") == []
    assert titles(one, "mine", "secret") == ["a"]
    two.delete("mine")
    assert titles(one, "mine", "secret") == ["a"]


@pytest.mark.parametrize("name", ["../other", "a/b", "", ".", "x" * 80])
def test_a_workspace_with_an_unsafe_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="cannot name a workspace"):
        library(tmp_path, name)


def test_an_unknown_corpus_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "bundled" / "lighthouses", LIGHTHOUSES)
    with pytest.raises(BadInput, match="Did you mean 'lighthouses'"):
        library(tmp_path).open("lighthuoses")


def test_a_folder_is_found_by_any_form_of_its_path(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lib = library(tmp_path)
    with pytest.raises(BadInput, match="not indexed yet"):
        lib.open("lighthouses")
    index = lib.ensure("lighthouses")
    for form in (folder, str(folder), "./lighthouses", "lighthouses/../lighthouses"):
        assert lib.open(form) is index
    assert lib.open(index.corpus.id) is index


@pytest.mark.parametrize("name", ["", "x" * 5_000, "nul\0", "\udcff", "\u202e"])
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    lib = library(tmp_path)
    for work in (lib.open, lib.index, lib.ensure, lib.delete, lib.summary):
        with pytest.raises(BadInput, match="Unknown corpus"):
            work(name)


def test_uploads_become_sources_and_can_be_replaced_and_removed(tmp_path: Path) -> None:
    lib = library(tmp_path)
    ids = lib.add_files(
        "mine",
        [
            ("notes.md", b"# Notes\n\nThe first lamp."),
            ("../../evil.txt", b"An outside lamp."),
            ("x/notes.md", b"# Notes\n\nThe second lamp."),
        ],
    )
    assert ids[0] == "notes.md"
    assert len(set(ids)) == 3
    root = lib.root / "workspaces"
    assert all(p.resolve().is_relative_to(root) for p in tmp_path.rglob("*.txt"))
    assert lib.index("mine").documents == 3
    lib.add_files("mine", [("notes.md", b"# Notes\n\nA reef instead.")])
    assert lib.index("mine").updated == ("notes.md",)
    assert len(lib.open("mine").retriever().search("lamp", 9, "lexical", ALL)) == 2
    lib.remove_file("mine", ids[1])
    assert lib.index("mine").removed == (ids[1],)
    for name in ("nothing.md", "../corpus.json", "x"):
        with pytest.raises(BadInput, match="no uploaded file"):
            lib.remove_file("mine", name)


def test_two_files_of_one_name_in_an_upload_are_told_apart(tmp_path: Path) -> None:
    lib = library(tmp_path)
    ids = lib.add_files("mine", [("a.txt", b"One."), ("a.txt", b"Two."), ("A.TXT", b"Three.")])
    assert len({i.casefold() for i in ids}) == 3
    assert lib.index("mine").documents == 3


def test_an_uploaded_readme_is_a_document(tmp_path: Path) -> None:
    lib = library(tmp_path)
    lib.add_files("mine", [("README.md", b"A lamp."), ("questions.jsonl", b'{"text": "A reef."}')])
    assert lib.index("mine").documents == 2


def test_upload_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lib = library(tmp_path)
    monkeypatch.setattr("core.retrieval.uploads.MAX_BYTES", 10)
    monkeypatch.setattr("core.retrieval.uploads.MAX_FILES", 3)
    with pytest.raises(BadInput, match="larger than"):
        lib.add_files("mine", [("a.txt", b"ok"), ("b.txt", b"x" * 11)])
    with pytest.raises(BadInput, match="At most 3"):
        lib.add_files("mine", [("a.txt", b"ok")] * 4)
    assert lib.list() == []


@pytest.mark.parametrize("name", ["lights", "../x", "a b"])
def test_a_corpus_name_that_cannot_be_had(tmp_path: Path, name: str) -> None:
    write(tmp_path / "bundled" / "lights", LIGHTHOUSES)
    with pytest.raises(BadInput):
        library(tmp_path).add_files(name, [("a.txt", b"x")])


def test_kinds_do_not_mix_under_one_name(tmp_path: Path) -> None:
    lib = library(tmp_path)
    lib.index_passages("pool", [passage("A", "A lamp.")])
    with pytest.raises(BadInput, match="another kind"):
        lib.add_files("pool", [("a.txt", b"x")])


def test_deleting_leaves_nothing_but_a_folder_of_the_persons(tmp_path: Path, folder: Path) -> None:
    stores = MemoryStores()
    lib = library(tmp_path, stores=stores)
    lib.index(folder)
    lib.add_files("mine", [("a.txt", b"A secret.")])
    lib.index("mine")
    for corpus in lib.list():
        lib.delete(corpus.name)
    assert lib.list() == []
    assert stores.stores == {}
    assert b"secret" not in everything_under(lib.root)
    assert (folder / "docs/Bell_Rock.md").exists()
    with pytest.raises(BadInput):
        lib.open("mine")
    lib.add_files("mine", [("a.txt", b"Something new.")])
    assert lib.index("mine").changed


def test_a_second_upload_never_shows_the_first_ones_index(tmp_path: Path) -> None:
    lib = library(tmp_path)
    lib.add_files("mine", [("a.txt", b"The first lamp.")])
    lib.index("mine")
    first = lib.open("mine")
    lib.delete("mine")
    lib.add_files("mine", [("a.txt", b"A second reef.")])
    lib.index("mine")
    assert lib.open("mine") is not first
    assert titles(lib, "mine", "lamp") == []


def test_ensure_indexes_once(tmp_path: Path, folder: Path) -> None:
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    index = lib.ensure(folder)
    count = len(embedder.texts)
    assert lib.ensure(folder) is index
    assert len(embedder.texts) == count
    with pytest.raises(BadInput):
        lib.ensure("nothing")


def test_an_index_that_is_replaced_while_open_is_refused_not_wrong(
    tmp_path: Path, folder: Path
) -> None:
    stores = MemoryStores()
    lib = library(tmp_path, stores=stores)
    lib.index(folder)
    old = lib.open(folder)
    write(folder, {"docs/New.md": "A new one."})
    lib.index(folder)
    with pytest.raises(StaleIndex):
        old.retriever().search("lamp", 5, "dense", ALL)
    assert lib.open(folder).corpus != old.corpus


def test_many_threads_search_one_index(tmp_path: Path, folder: Path) -> None:
    lib = library(tmp_path)
    lib.index(folder)
    retriever = lib.open(folder).retriever()
    queries = [f"Who built lighthouse {n % 7}?" for n in range(40)]
    expected = [retriever.search(q, 5, "fused", ALL) for q in queries]
    fresh = library(tmp_path, stores=lib.stores).open(folder).retriever()  # type: ignore[arg-type]
    found: dict[int, object] = {}

    def work(n: int) -> None:
        found[n] = fresh.search(queries[n], 5, "fused", ALL)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(queries))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[n] for n in range(len(queries))] == expected


def test_opening_loads_neither_model_nor_vector_store(tmp_path: Path) -> None:
    passages = [
        passage(f"Title {n}", f"Sentence {n} of the keeper. Another {n}.") for n in range(9)
    ]
    library(tmp_path, stores=MemoryStores("folder")).index_passages("pool", passages)
    script = f"""
        import json, sys, time
        from pathlib import Path
        from core.retrieval.library import Library
        from core.types import Access
        class Named:
            model = "hashed-words"
        from core.adapters.chroma import ChromaStores
        root = Path({str(tmp_path / "data")!r})
        lib = Library(root, embedder=Named(), stores=ChromaStores(url=""))
        lib.list()
        index = lib.open("pool")
        hits = index.retriever().search("keeper 3", 3, "lexical", Access())
        view = index.text_view()
        spans, vectors = view.sentence_vectors(index.passages()[0])
        heavy = ["torch", "sentence_transformers", "transformers", "chromadb", "sklearn", "pandas"]
        print(json.dumps([len(hits), len(vectors), [m for m in heavy if m in sys.modules]]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "CHROMA_URL": ""},
    )
    assert json.loads(done.stdout) == [3, 2, []]


def test_passages_of_the_index_are_the_values_that_were_indexed(tmp_path: Path) -> None:
    given: list[Passage] = [passage("日本", "東京は首都です。"), passage("ملف", "مرحبا. 🎬")]
    lib = library(tmp_path)
    lib.index_passages("pool", given)
    assert sorted(lib.open("pool").passages(), key=lambda p: p.title) == sorted(
        given, key=lambda p: p.title
    )


def test_a_list_follows_what_other_processes_do_to_the_corpora(tmp_path: Path) -> None:
    stores = MemoryStores()
    watching, working = library(tmp_path, stores=stores), library(tmp_path, stores=stores)

    def seen() -> list[tuple[str, str, int, int]]:
        return [(c.name, c.state, c.documents, c.skipped) for c in watching.list()]

    working.add_files("lamps", [("a.txt", b"A lamp.")])
    assert seen() == [("lamps", "not indexed", 0, 0)]
    working.index("lamps")
    assert seen() == [("lamps", "ready", 1, 0)]
    working.add_files("lamps", [("empty.txt", b"")])
    assert not working.index("lamps").changed, "only a verdict is new"
    assert seen() == [("lamps", "ready", 1, 1)]
    working.delete("lamps")
    assert seen() == []
    working.add_files("lamps", [("b.txt", b"Another lamp."), ("c.txt", b"A third lamp.")])
    working.index("lamps")
    assert seen() == [("lamps", "ready", 2, 0)]


def test_a_corpus_that_is_deleted_while_it_is_looked_up_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lib = library(tmp_path)
    lib.add_files("lamps", [("a.txt", b"A lamp.")])
    names = lib._own_names()
    lib.delete("lamps")
    monkeypatch.setattr(lib, "_own_names", lambda: names)
    assert lib.list() == []
    with pytest.raises(BadInput, match="Unknown corpus"):
        lib.open("lamps")
