"""An index of a folder: built, opened, brought up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.retrieval import pdfs
from tests.retrieval.world import (
    ALL,
    LIGHTHOUSES,
    HashedWords,
    MemoryStores,
    everything_under,
    library,
    titles,
    write,
)


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
