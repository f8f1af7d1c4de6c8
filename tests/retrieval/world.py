"""Small corpora, an embedder without a model, and a vector store in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.errors import StaleIndex
from core.ports import FloatArray
from core.retrieval.library import Library
from core.retrieval.tokenizer import content_terms
from core.types import Access, Passage, digest

DIMENSION = 32


@cache
def direction(term: str, dimension: int) -> npt.NDArray[np.float64]:
    """A seeded direction."""
    seed = int.from_bytes(hashlib.sha256(term.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension)


class HashedWords:
    """Embeds a text as the sum of its terms' seeded directions; counts what it is given."""

    def __init__(self, model: str = "hashed-words", dimension: int = DIMENSION) -> None:
        self.model, self.dimension = model, dimension
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self.texts.extend(texts)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> FloatArray:
        total = np.full(self.dimension, 1e-3)
        for term in content_terms(text):
            total += direction(term, self.dimension)
        return (total / np.linalg.norm(total)).astype(np.float32)


class MemoryStore:
    """Exact nearest neighbours over a dictionary."""

    def __init__(self) -> None:
        self.vectors: dict[str, FloatArray] = {}

    def upsert(
        self,
        ids: Sequence[str],
        vectors: FloatArray,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.vectors.update(zip(ids, vectors, strict=True))
        if progress is not None:
            progress(len(ids))

    def delete(self, ids: Sequence[str]) -> None:
        for identifier in ids:
            self.vectors.pop(identifier, None)

    def count(self) -> int:
        return len(self.vectors)

    def nearest(self, vector: FloatArray, n: int) -> list[str]:
        ids = list(self.vectors)
        cosines = np.stack(list(self.vectors.values())) @ vector
        return [ids[row] for row in np.argsort(-cosines)[:n]]

    def close(self) -> None:
        pass


class MemoryStores:
    """Stores by name, kept as long as this object."""

    def __init__(self, place: str = "memory") -> None:
        self.place = place
        self.stores: dict[str, MemoryStore] = {}

    def holds(self, folder: Path, name: str, count: int) -> bool:
        return count == 0 or (name in self.stores and self.stores[name].count() == count)

    def create(self, folder: Path, name: str) -> MemoryStore:
        self.stores[name] = MemoryStore()
        return self.stores[name]

    def open(self, folder: Path, name: str) -> MemoryStore:
        if name not in self.stores:
            raise StaleIndex("The vectors of this index are gone; re-index the corpus.")
        return self.stores[name]

    def drop(self, folder: Path, name: str) -> None:
        self.stores.pop(name, None)


def library(
    root: Path,
    workspace: str = "shared",
    embedder: HashedWords | None = None,
    stores: MemoryStores | None = None,
    bundled: Path | None = None,
) -> Library:
    return Library(
        root / "data",
        workspace,
        embedder or HashedWords(),
        stores or MemoryStores(),
        bundled or root / "bundled",
    )


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Files of a corpus folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


LIGHTHOUSES = {
    "docs/Skerryvore.md": "---\ntitle: Skerryvore\nsource_tier: reference\n---\n\n"
    "Skerryvore is a lighthouse off the west coast of Scotland. "
    "Alan Stevenson built it, and it was first lit in 1844.\n\n"
    "## Keepers\n\nThe keepers lived on the island of Tiree. The last of them left in 1994.\n",
    "docs/Bell_Rock.md": "# Bell Rock\n\nThe Bell Rock lighthouse stands on a reef near Arbroath. "
    "Robert Stevenson built it with John Rennie.\n",
    "docs/Eddystone.txt": "Four lighthouses have stood on the Eddystone rocks. "
    "John Smeaton built the third of them from granite.\n",
}


def passage(title: str, text: str, **fields: object) -> Passage:
    """A pooled passage."""
    key = digest([title, text])
    return Passage.model_validate(
        {
            "id": key,
            "document": title,
            "title": title,
            "text": text,
            "end": len(text),
            "digest": key,
            **fields,
        }
    )


ALL = Access()


def titles(lib: Library, corpus: str | Path, query: str, channel: str = "lexical") -> list[str]:
    """Titles of the best passages of a corpus."""
    hits = lib.open(corpus).retriever().search(query, 5, channel, ALL)  # type: ignore[arg-type]
    return [hit.passage.title for hit in hits]


def everything_under(root: Path) -> bytes:
    """The bytes of every file below a folder."""
    return b"\0".join(p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file())
