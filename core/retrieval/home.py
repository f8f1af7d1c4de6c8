"""Where one corpus's index lies on disk, who may write there, and which state of it is in use.

A home holds ``current`` (the name of the folder in use), that folder, a lock, and ``vectors`` of
an unfinished build.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from core.errors import BadInput, RetrieverError
from core.retrieval.dense import VectorStores
from core.retrieval.index import read_manifest
from core.retrieval.manifest import Manifest

CURRENT = "current"


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

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Be the one writer.

        Raises:
            BadInput: another one is at work.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise BadInput(
                f"{name!r} is being indexed already; wait until that has finished, or stop it "
                "there, and try again.",
                code="index_locked",
            ) from None
        try:
            yield
        finally:
            lock.release()

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
