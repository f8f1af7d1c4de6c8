"""Where one corpus's index lies on disk, who may write there, and which state of it is in use.

A home holds ``current`` (the name of the folder in use), that folder, a lock, and ``vectors`` of
an unfinished build. While a writer is at work, ``progress.json`` tells the others how far it is.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from core.errors import BadInput, RetrieverError
from core.retrieval.dense import VectorStores
from core.retrieval.index import read_manifest
from core.retrieval.manifest import Manifest
from core.retrieval.progress import Progress, Tracker

CURRENT, PROGRESS = "current", "progress.json"
PROBED = 0.3
"""Seconds for which a writer that does not wait still does: another may be probing the lock."""
LOOK = 0.2
"""Seconds between two looks at a writer that is waited for."""
STALLED = 600.0
"""Seconds without any progress of another writer after which it is waited for no longer."""


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds one corpus's index in all its states."""

    path: Path

    def current(self) -> Path | None:
        """The folder of the index in use; None where there is none."""
        try:
            name = (self.path / CURRENT).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return None
        folder = self.path / name
        return folder if name and folder.parent == self.path and folder.is_dir() else None

    def manifest(self) -> Manifest | None:
        """The manifest of the index in use; None where there is none that can be read."""
        folder = self.current()
        if folder is None:
            return None
        try:
            return read_manifest(folder)
        except RetrieverError:
            return None

    def stamp(self) -> tuple[str, int] | None:
        """What changes with the manifest of the index in use; None where there is none."""
        folder = self.current()
        if folder is None:
            return None
        try:
            return folder.name, (folder / "manifest.json").stat().st_mtime_ns
        except OSError:
            return folder.name, 0

    @contextmanager
    def writing(self, name: str, tracker: Tracker | None = None) -> Iterator[None]:
        """Be the one writer. With a tracker, another one is waited for, its progress told; and
        what is told to the tracker is kept for the others to see.

        Raises:
            BadInput: another one is at work, and is not waited for or has come to a standstill.
            RunCancelled: the tracker was stopped.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / "lock")
        if tracker is None:
            self._acquire(lock, name)
        else:
            self._wait(lock, name, tracker)
            tracker.also(self._note)
        try:
            yield
        finally:
            with suppress(OSError):
                (self.path / PROGRESS).unlink(missing_ok=True)
            lock.release()

    def under_way(self) -> Progress | None:
        """How far the writer is that indexes the corpus now, in any process; None: nobody does."""
        found = self._noted()
        if found is None:
            return None
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return found
        with suppress(OSError):  # left behind by a process that was killed
            (self.path / PROGRESS).unlink(missing_ok=True)
        lock.release()
        return None

    @staticmethod
    def _acquire(lock: FileLock, name: str) -> None:
        try:
            lock.acquire(timeout=PROBED, poll_interval=0.02)
        except Timeout:
            raise BadInput(
                f"{name!r} is being indexed already; wait until that has finished, or stop it "
                "there, and try again.",
                code="index_locked",
            ) from None

    def _wait(self, lock: FileLock, name: str, tracker: Tracker) -> None:
        seen, since = None, time.monotonic()
        while True:
            try:
                lock.acquire(timeout=LOOK, poll_interval=LOOK / 4)
                return
            except Timeout:
                found = self._noted()
            if found != seen:
                seen, since = found, time.monotonic()
            if time.monotonic() - since > STALLED:
                raise BadInput(
                    f"{name!r} is being indexed by another process, which has not gone on for "
                    f"{STALLED / 60:.0f} minutes; end that process and try again.",
                    code="index_locked",
                )
            tracker.elsewhere(found)

    def _note(self, progress: Progress) -> None:
        with suppress(OSError):  # nobody needs it to index
            (self.path / PROGRESS).write_text(json.dumps(asdict(progress)), encoding="ascii")

    def _noted(self) -> Progress | None:
        try:
            return Progress(**json.loads((self.path / PROGRESS).read_text(encoding="ascii")))
        except (OSError, ValueError, TypeError):  # none, or half written
            return None

    def switch(self, folder: Path) -> None:
        """Make a folder the one in use."""
        partial = self.path / f"{CURRENT}.new"
        with partial.open("w", encoding="ascii") as file:
            file.write(folder.name)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.path / CURRENT)

    def clear(self, stores: VectorStores) -> None:
        """Remove every folder that is not in use, with its vector store."""
        current = self.current()
        for folder in sorted(self.path.glob("index-*")):
            if folder != current:
                try:
                    store = json.loads((folder / "store.json").read_text(encoding="utf-8"))
                except (OSError, ValueError):
                    store = None
                if isinstance(store, dict) and store.get("place") == stores.place:
                    stores.drop(folder / "chroma", str(store.get("name")))
                shutil.rmtree(folder, ignore_errors=True)
