"""Indexing reported, cancelled, killed, locked, on a full disk, damaged."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import pytest

from core.errors import BadInput, RetrieverError, RunCancelled, StaleIndex
from core.retrieval.progress import Progress
from tests.retrieval.world import (
    HashedWords,
    MemoryStores,
    library,
    titles,
    write,
)

PROJECT = Path(__file__).resolve().parents[2]


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


def test_whoever_would_change_a_corpus_that_is_being_indexed_is_told_what_to_do(
    tmp_path: Path,
) -> None:
    lib, caught = library(tmp_path), []
    lib.add_files("towers", [("a.txt", b"A tower.")])

    def meanwhile(_: Progress) -> None:
        for work in (
            lambda: lib.delete("towers"),
            lambda: lib.add_files("towers", [("b.txt", b"Another tower.")]),
            lambda: lib.remove_file("towers", "a.txt"),
        ):
            with pytest.raises(BadInput, match="being indexed already; wait") as info:
                work()
            caught.append(info.value.reason_code)

    lib.index("towers", progress=meanwhile)
    assert set(caught) == {"index_locked"}
    lib.delete("towers")


INDEXING = """
    import sys, time
    from pathlib import Path
    from tests.retrieval.world import HashedWords, library

    class Held(HashedWords):
        def encode(self, texts):
            (root / "at work").touch()
            while not (root / "go on").exists():
                time.sleep(0.02)
            return super().encode(texts)

    root = Path(sys.argv[1])
    library(root, embedder=Held()).index(root / "lighthouses")
"""


@pytest.fixture
def elsewhere(tmp_path: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that is indexing the folder, and is held while it embeds."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INDEXING), str(tmp_path)], cwd=PROJECT
    )
    while process.poll() is None and not (tmp_path / "at work").exists():
        threading.Event().wait(0.02)
    assert process.poll() is None
    yield process
    (tmp_path / "go on").touch()
    process.wait(60)


def test_an_indexing_by_another_process_is_waited_for_with_its_progress_and_not_done_again(
    tmp_path: Path, folder: Path, elsewhere: subprocess.Popen[bytes]
) -> None:
    lib = library(tmp_path, stores=MemoryStores())
    (name,) = [c.name for c in lib.list()]
    under_way = lib.under_way(name)
    assert under_way is not None
    assert under_way.phase == "embedding"
    seen: list[Progress] = []

    def told(progress: Progress) -> None:
        seen.append(progress)
        (tmp_path / "go on").touch()

    embedder = HashedWords()
    library(tmp_path, embedder=embedder).ensure(name, told)
    assert seen[0] == replace(under_way, elsewhere=True)
    assert embedder.texts == []
    assert elsewhere.wait(60) == 0
    assert lib.under_way(name) is None


def test_who_waits_for_another_process_can_be_stopped_and_leaves_it_at_work(
    tmp_path: Path, folder: Path, elsewhere: subprocess.Popen[bytes]
) -> None:
    with pytest.raises(RunCancelled, match="goes on there"):
        library(tmp_path).ensure(folder, cancelled=lambda: True)
    assert elsewhere.poll() is None


def test_a_process_that_stands_still_is_not_waited_for_without_end(
    tmp_path: Path,
    folder: Path,
    elsewhere: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.retrieval.home.STALLED", 0.0)
    with pytest.raises(BadInput, match="end that process") as info:
        library(tmp_path).ensure(folder)
    assert info.value.reason_code == "index_locked"


def test_nobody_is_waited_for_that_was_killed(
    tmp_path: Path, folder: Path, elsewhere: subprocess.Popen[bytes]
) -> None:
    lib = library(tmp_path)
    elsewhere.kill()
    elsewhere.wait(60)
    (name,) = [c.name for c in lib.list()]
    assert list(tmp_path.rglob("progress.json"))
    assert lib.under_way(name) is None
    assert not list(tmp_path.rglob("progress.json"))
    assert lib.index(name).changed


def test_a_corpus_deleted_while_it_was_waited_for_is_named_as_gone(
    tmp_path: Path, folder: Path, elsewhere: subprocess.Popen[bytes]
) -> None:
    lib = library(tmp_path)
    (name,) = [c.name for c in lib.list()]

    def gone(progress: Progress) -> None:
        if elsewhere.poll() is None:
            elsewhere.kill()
            elsewhere.wait(60)
            library(tmp_path).delete(name)

    with pytest.raises(BadInput, match=name):
        lib.ensure(name, gone)
    assert not lib.list()
    assert not list(tmp_path.rglob("manifest.json"))


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
