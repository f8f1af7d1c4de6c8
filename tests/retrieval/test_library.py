from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput, IndexMismatch, RetrieverError, RunCancelled, StaleIndex
from core.retrieval.lexical import indexed_text
from core.retrieval.library import Library
from core.retrieval.progress import Progress
from core.retrieval.sentences import sentence_spans
from core.retrieval.textview import sentence_texts
from core.types import Access, Passage
from tests.retrieval import pdfs
from tests.retrieval.world import (
    LIGHTHOUSES,
    HashedWords,
    MemoryStores,
    library,
    passage,
    write,
)

PROJECT = Path(__file__).resolve().parents[2]
ALL = Access()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "lighthouses", LIGHTHOUSES)


def titles(lib: Library, corpus: str | Path, query: str, channel: str = "lexical") -> list[str]:
    hits = lib.open(corpus).retriever().search(query, 5, channel, ALL)  # type: ignore[arg-type]
    return [hit.passage.title for hit in hits]


def everything_under(root: Path) -> bytes:
    return b"\0".join(p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file())


# --- building and opening ---------------------------------------------------------------------


def test_a_folder_is_indexed_and_opened_by_another_process(tmp_path: Path, folder: Path) -> None:
    stores = MemoryStores()
    report = library(tmp_path, stores=stores).index(folder)
    assert report.changed
    assert report.documents == 3
    assert report.added == tuple(sorted(LIGHTHOUSES))
    # A new library and embedder have nothing in memory: every attribute comes from disk.
    index = library(tmp_path, stores=stores).open(folder)
    assert len(index.passages()) == report.passages
    assert index.corpus.version == report.version
    assert titles(library(tmp_path, stores=stores), folder, "Smeaton granite") == ["Eddystone"]
    skerryvore = index.document("docs/Skerryvore.md")
    assert skerryvore is not None
    for p in index.passages():
        document = index.document(p.document)
        assert document is not None
        assert document.text[p.start : p.end] == p.text
    assert index.manifest.values("source_tier") == ("reference",)
    assert index.document("nothing") is None


def test_passages_are_in_ascending_order_of_their_ids(tmp_path: Path, folder: Path) -> None:
    lib = library(tmp_path)
    lib.index(folder)
    ids = [p.id for p in lib.open(folder).passages()]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_an_update_with_nothing_new_does_nothing_and_says_so(tmp_path: Path, folder: Path) -> None:
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    first = lib.index(folder)
    index, count = lib.open(folder), len(embedder.texts)
    again = lib.index(folder)
    assert not again.changed
    assert again.message == "Nothing to do: 3 documents and 4 passages are up to date."
    assert again.version == first.version
    assert again.files == first.files
    assert len(embedder.texts) == count
    assert lib.open(folder) is index


def test_only_what_changed_is_embedded(tmp_path: Path, folder: Path) -> None:
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    first = lib.index(folder)
    before = {p.id for p in lib.open(folder).passages()}
    del embedder.texts[:]
    write(folder, {"docs/New.md": "# New\n\nA new lighthouse of concrete was lit in 1971.\n"})
    second = lib.index(folder)
    assert second.added == ("docs/New.md",)
    assert second.updated == second.removed == ()
    assert second.version != first.version
    assert before < {p.id for p in lib.open(folder).passages()}
    assert all("New" in text or "concrete" in text for text in embedder.texts)
    assert second.embedded == len(embedder.texts)
    assert second.reused > 0


def test_an_edited_document_replaces_its_old_text_everywhere(tmp_path: Path, folder: Path) -> None:
    lib = library(tmp_path)
    lib.index(folder)
    write(folder, {"docs/Eddystone.txt": "The Eddystone light is now run from Harwich.\n"})
    report = lib.index(folder)
    assert report.updated == ("docs/Eddystone.txt",)
    assert titles(lib, folder, "Smeaton granite") == []
    assert titles(lib, folder, "Harwich") == ["Eddystone"]
    assert b"Smeaton" not in everything_under(lib.root)


def test_an_edit_between_the_passages_keeps_documents_exact(tmp_path: Path, folder: Path) -> None:
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    lib.index(folder)
    del embedder.texts[:]
    text = (folder / "docs/Eddystone.txt").read_text() + "\n\n"
    write(folder, {"docs/Eddystone.txt": text})
    assert lib.index(folder).updated == ("docs/Eddystone.txt",)
    assert embedder.texts == []
    document = lib.open(folder).document("docs/Eddystone.txt")
    assert document is not None
    assert document.text == text
    assert not lib.index(folder).changed


def test_a_removed_document_leaves_nothing_behind_and_can_come_back(
    tmp_path: Path, folder: Path
) -> None:
    stores = MemoryStores()
    lib = library(tmp_path, stores=stores)
    first = lib.index(folder)
    gone = [p for p in lib.open(folder).passages() if p.title == "Eddystone"]
    text = (folder / "docs/Eddystone.txt").read_text()
    (folder / "docs/Eddystone.txt").unlink()
    report = lib.index(folder)
    assert report.removed == ("docs/Eddystone.txt",)
    assert titles(lib, folder, "Smeaton granite") == []
    assert titles(lib, folder, "Smeaton granite", "dense") != []
    assert len(stores.stores) == 1
    (store,) = stores.stores.values()
    assert not {p.id for p in gone} & set(store.vectors)
    left = everything_under(lib.root)
    assert b"Smeaton" not in left
    assert b"smeaton" not in left
    assert not any(p.id.encode() in left for p in gone)
    (folder / "docs/Eddystone.txt").write_text(text)
    again = lib.index(folder)
    assert again.added == ("docs/Eddystone.txt",)
    assert again.version == first.version
    assert titles(lib, folder, "Smeaton granite") == ["Eddystone"]


def test_the_order_of_insertion_does_not_matter(tmp_path: Path) -> None:
    names = sorted(LIGHTHOUSES)
    versions, results = set(), set()
    for number, order in enumerate([names, names[::-1], [names[1], names[2], names[0]]]):
        root = tmp_path / str(number) / "lighthouses"
        lib = library(tmp_path / str(number))
        for name in order:
            write(root, {name: LIGHTHOUSES[name]})
            lib.index(root)
        index = lib.open(root)
        versions.add(index.corpus.version)
        hits = [
            (channel, hit.passage.id, hit.score, hit.calibrated)
            for channel in ("lexical", "dense", "fused")
            for hit in index.retriever().search("Who built the lighthouse?", 9, channel, ALL)
        ]
        results.add(tuple(hits))
    assert len(versions) == 1
    assert len(results) == 1


def test_every_file_has_a_verdict_and_a_bad_one_stops_nothing(tmp_path: Path, folder: Path) -> None:
    write(folder, {"docs/empty.md": "", "docs/data.bin": b"\0", "docs/old.txt": b"caf\xe9"})
    lib = library(tmp_path)
    report = lib.index(folder)
    assert {v.file: v.status for v in report.files} == {
        **dict.fromkeys(LIGHTHOUSES, "indexed"),
        "docs/empty.md": "skipped",
        "docs/data.bin": "skipped",
        "docs/old.txt": "warning",
    }
    summary = lib.summary(lib.list()[-1].name)
    assert (summary.documents, summary.skipped, summary.warnings) == (4, 2, 1)


def test_a_file_that_took_too_long_is_tried_again_and_one_without_text_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a.pdf": pdfs.pdf("A lamp."), "b.pdf": pdfs.pdf("")}
    root = write(tmp_path / "pdfs", files)
    lib = library(tmp_path)
    first = lib.index(root, parse_seconds=0.001)
    assert [v.reason for v in first.files] == ["reading it took longer than 0.001 s"] * 2
    assert lib.index(root).added == ("a.pdf",)
    read: list[str] = []
    monkeypatch.setattr("core.retrieval.corpus.load", lambda source, *_: read.append(source.name))
    assert not lib.index(root).changed
    assert read == []


def test_a_new_verdict_without_a_new_document_is_kept(tmp_path: Path, folder: Path) -> None:
    lib = library(tmp_path)
    first = lib.index(folder)
    write(folder, {"docs/empty.md": ""})
    second = lib.index(folder)
    assert not second.changed
    assert second.version == first.version
    assert lib.summary(lib.list()[-1].name).skipped == 1
    assert library(tmp_path).summary(lib.list()[-1].name).skipped == 1


@pytest.mark.parametrize("files", [{}, {"docs/a.txt": ""}, {"a.png": "x"}])
def test_a_corpus_without_documents_is_indexed_and_finds_nothing(
    tmp_path: Path, files: dict[str, str | bytes]
) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    lib = library(tmp_path)
    report = lib.index(write(root, files))
    assert report.documents == report.passages == 0
    index = lib.open(root)
    for channel in ("lexical", "dense", "fused"):
        assert index.retriever().search("lamp", 5, channel, ALL) == []
    assert index.text_view().titles_in("Anything") == []
    assert not lib.index(root).changed


def test_two_identical_documents_are_both_found(tmp_path: Path) -> None:
    lib = library(tmp_path)
    root = write(tmp_path / "twins", {"a/x.txt": "A lamp burns.", "b/x.txt": "A lamp burns."})
    lib.index(root)
    for channel in ("lexical", "dense", "fused"):
        hits = lib.open(root).retriever().search("lamp", 5, channel, ALL)
        assert sorted(hit.passage.document for hit in hits) == ["a/x.txt", "b/x.txt"]
        if channel != "fused":
            assert hits[0].score == hits[1].score
        assert hits[0].passage.id < hits[1].passage.id


# --- pooled passages --------------------------------------------------------------------------


def test_pooled_passages_are_never_cut_again(tmp_path: Path) -> None:
    long = passage("Long", "A sentence about lamps. " * 200)
    lib = library(tmp_path)
    report = lib.index_passages("pool", [long, passage("B", "Reefs."), long])
    assert report.passages == 2
    assert long in lib.open("pool").passages()
    assert not lib.index_passages("pool", [passage("B", "Reefs."), long]).changed
    assert lib.open("pool").manifest.chunking.pooled


def test_different_passages_of_one_id_are_refused(tmp_path: Path) -> None:
    one, other = passage("A", "One."), passage("A", "Two.")
    with pytest.raises(BadInput, match="have the id"):
        library(tmp_path).index_passages(
            "pool", [one, other.model_copy(update={"id": one.id, "digest": one.digest})]
        )


def test_a_pool_is_re_embedded_when_the_embedder_changed(tmp_path: Path) -> None:
    library(tmp_path).index_passages("pool", [passage("A", "A lamp."), passage("B", "A reef.")])
    other = library(tmp_path, embedder=HashedWords("other", 16))
    with pytest.raises(IndexMismatch, match="re-index"):
        other.open("pool")
    assert other.index("pool").changed
    assert titles(other, "pool", "lamp", "dense")[0] == "A"


# --- the embedder -----------------------------------------------------------------------------


def test_another_embedder_is_refused_before_search_with_the_way_out(
    tmp_path: Path, folder: Path
) -> None:
    library(tmp_path).index(folder)
    other = library(tmp_path, embedder=HashedWords("other-model", 16))
    with pytest.raises(IndexMismatch, match=r"other-model.*re-index"):
        other.open(folder)
    assert other.list()[-1].state == "needs re-indexing"
    assert other.index(folder).changed
    assert other.open(folder).manifest.embedder.dimension == 16
    assert titles(other, folder, "Smeaton granite", "dense")[0] == "Eddystone"


def test_a_model_of_the_same_name_with_another_dimension_is_refused_at_the_search(
    tmp_path: Path, folder: Path
) -> None:
    library(tmp_path).index(folder)
    changed = library(tmp_path, embedder=HashedWords(dimension=16))
    with pytest.raises(IndexMismatch, match=r"dimension 16.*re-index"):
        changed.open(folder).retriever().search("lamp", 5, "dense", ALL)
    write(folder, {"docs/New.md": "A new one."})
    changed.index(folder)
    assert changed.open(folder).manifest.embedder.dimension == 16


def test_stored_vectors_are_those_of_the_texts(tmp_path: Path, folder: Path) -> None:
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    lib.index(folder)
    index = lib.open(folder)
    passages = index.passages()
    np.testing.assert_array_equal(
        index.passage_vectors(), embedder.encode([indexed_text(p) for p in passages])
    )
    del embedder.texts[:]
    view = index.text_view()
    for p in passages:
        spans, vectors = view.sentence_vectors(p)
        assert spans == sentence_spans(p.text)
        np.testing.assert_array_equal(vectors, HashedWords().encode(sentence_texts(p, spans)))
    assert embedder.texts == []


def test_a_large_corpus_stores_no_sentence_vectors_but_has_them(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.retrieval.building.SENTENCES_UP_TO", 3)
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    lib.index(folder)
    index = lib.open(folder)
    assert index.manifest.sentences == 0
    del embedder.texts[:]
    (first, *_) = index.passages()
    spans, vectors = index.text_view().sentence_vectors(first)
    assert embedder.texts == sentence_texts(first, spans)
    assert len(vectors) == len(spans)


def test_a_digest_that_is_not_of_the_text_gives_no_other_texts_vectors(tmp_path: Path) -> None:
    one, two = (
        passage(name, "The same words.").model_copy(update={"digest": "same"}) for name in "AB"
    )
    lib = library(tmp_path)
    lib.index_passages("pool", [one, two])
    view = lib.open("pool").text_view()
    for p in (one, two):
        expected = HashedWords().encode([f"{p.title}. The same words."])
        np.testing.assert_array_equal(view.sentence_vectors(p)[1], expected)


def test_the_text_view_counts_as_the_index_does(tmp_path: Path, folder: Path) -> None:
    lib = library(tmp_path)
    lib.index(folder)
    index = lib.open(folder)
    view, n = index.text_view(), len(index.passages())
    assert view.size == n
    assert view.idf("stevenson") == pytest.approx(np.log(1 + (n - 2 + 0.5) / 2.5))
    assert view.idf("unheard") == pytest.approx(np.log(1 + (n + 0.5) / 0.5))
    assert view.alias_count("bell rock") == 1


# --- progress, cancelling, killing, locking ----------------------------------------------------


def test_progress_runs_through_the_phases_and_ends_each(tmp_path: Path, folder: Path) -> None:
    seen: list[Progress] = []
    library(tmp_path).index(folder, progress=seen.append)
    assert list(dict.fromkeys(p.phase for p in seen)) == [
        "reading",
        "embedding",
        "storing",
        "calibrating",
    ]
    for phase in {p.phase for p in seen}:
        steps = [p for p in seen if p.phase == phase]
        assert steps[-1].done == steps[-1].total
        assert [p.done for p in steps] == sorted(p.done for p in steps)
        assert all(p.seconds_remaining is None or p.seconds_remaining >= 0 for p in steps)


def test_cancelled_at_any_point_the_old_index_is_whole(tmp_path: Path, folder: Path) -> None:
    stores = MemoryStores()
    lib = library(tmp_path, stores=stores)
    first = lib.index(folder)
    write(folder, {"docs/Eddystone.txt": "The Eddystone light is now run from Harwich.\n"})
    points = 0
    while True:
        answers = chain([False] * points, repeat(True))
        try:
            lib.index(folder, cancelled=answers.__next__)
        except RunCancelled:
            points += 1
        else:
            break
        fresh = library(tmp_path, stores=stores)
        assert fresh.open(folder).corpus.version == first.version
        assert titles(fresh, folder, "Smeaton granite") == ["Eddystone"]
        assert titles(fresh, folder, "Smeaton granite", "dense")[0] == "Eddystone"
        assert len(stores.stores) == 1
        if points > 40:
            break
    assert 10 < points < 40
    assert titles(lib, folder, "Harwich") == ["Eddystone"]


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from tests.retrieval.world import HashedWords, library

    class Deadly(HashedWords):
        calls = 0
        def encode(self, texts):
            Deadly.calls += 1
            if Deadly.calls == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
            return super().encode(texts)

    import core.retrieval.building as building
    building.SEGMENT = 4
    library(Path(sys.argv[1]), embedder=Deadly()).index(Path(sys.argv[1]) / "lighthouses")
"""


@pytest.mark.parametrize("call", [1, 3])
def test_a_killed_build_leaves_the_old_index_whole_and_the_new_one_resumable(
    tmp_path: Path, folder: Path, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.retrieval.building.SEGMENT", 4)
    stores = MemoryStores()
    first = library(tmp_path, stores=stores).index(folder)
    news = " ".join(f"The {n} keeper of the new tower came from Leith." for n in range(20))
    write(folder, {"docs/New.md": news})
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), str(call)],
        cwd=PROJECT,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    lib = library(tmp_path, stores=stores)
    assert lib.open(folder).corpus.version == first.version
    assert titles(lib, folder, "Smeaton granite") == ["Eddystone"]
    embedder = HashedWords()
    resumed = library(tmp_path, embedder=embedder, stores=stores).index(folder)
    fresh = library(tmp_path / "fresh", stores=MemoryStores()).index(folder)
    needed = fresh.embedded - first.embedded
    assert resumed.version == fresh.version
    assert len(embedder.texts) == resumed.embedded == needed - 4 * (call - 1)
    assert set(titles(lib, folder, "Leith")) == {"New"}
    assert not list(lib.root.rglob("*.npz"))


def test_killed_while_switching_the_old_index_opens(tmp_path: Path, folder: Path) -> None:
    stores = MemoryStores()
    lib = library(tmp_path, stores=stores)
    lib.index(folder)
    (home,) = [p.parent for p in lib.root.rglob("current")]
    (home / "current.new").write_text("index-half")
    (home / "index-half").mkdir()
    assert titles(library(tmp_path, stores=stores), folder, "Smeaton") == ["Eddystone"]
    assert not lib.index(folder).changed
    assert not (home / "index-half").exists()


def test_one_writer_at_a_time_is_told_what_to_do(tmp_path: Path, folder: Path) -> None:
    lib, caught = library(tmp_path), []

    def meanwhile(_: Progress) -> None:
        for work in (lib.index, lib.delete):
            with pytest.raises(BadInput, match="being indexed already; wait") as info:
                work(lib.list()[-1].name)
            caught.append(info.value.reason_code)

    lib.index(folder, progress=meanwhile)
    assert set(caught) == {"index_locked"}
    lib.delete(lib.list()[-1].name)


def test_a_full_disk_leaves_the_old_index_and_says_so(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lib = library(tmp_path)
    first = lib.index(folder)
    write(folder, {"docs/New.md": "A new one."})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("core.retrieval.building.write_passages", full)
        with pytest.raises(RetrieverError, match="disk is full"):
            lib.index(folder)
    assert lib.open(folder).corpus.version == first.version
    assert lib.index(folder).changed


@pytest.mark.parametrize(
    "file",
    [
        "manifest.json",
        "passages.json",
        "vectors/vectors.npy",
        "passage_rows.npy",
        "lexical/size.json",
    ],
)
@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_damaged_index_is_refused_and_can_be_made_anew(
    tmp_path: Path, folder: Path, file: str, damage: str
) -> None:
    stores = MemoryStores()
    first = library(tmp_path, stores=stores).index(folder)
    lib = library(tmp_path, stores=stores)
    (current,) = lib.root.rglob("current")
    path = current.parent / current.read_text() / file
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(StaleIndex, match="re-index"):
        titles(lib, folder, "Smeaton")
    assert lib.index(folder).version == first.version
    assert titles(lib, folder, "Smeaton") == ["Eddystone"]


# --- workspaces and kinds of corpora -----------------------------------------------------------


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
