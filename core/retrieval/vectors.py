"""Vectors of texts by (model, text): what is embedded once is not embedded again.

A :class:`VectorTable` is a folder with ``keys.npy`` and ``vectors.npy``; nothing is pickled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.ports import FloatArray

KeyArray = npt.NDArray[np.bytes_]
KEY_BYTES = 32


class Embedder(Protocol):
    """Encodes texts to unit vectors."""

    @property
    def model(self) -> str:
        """Names the model; with the dimension it is the embedder's identity."""

    @property
    def dimension(self) -> int:
        """Length of a vector; may load the model."""

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension), float32."""


def text_key(text: str) -> bytes:
    """SHA-256 of a text, as 32 hexadecimal characters."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_BYTES].encode()


class DimensionChanged(Exception):
    """A model of the same name gives vectors of another dimension than before."""


class VectorTable:
    """Unit vectors of distinct texts, memory-mapped from disk."""

    def __init__(self, keys: KeyArray, vectors: FloatArray) -> None:
        """``keys``: shape (n,), ``text_key`` each; ``vectors``: shape (n, dimension)."""
        self.keys, self.vectors = keys, vectors

    @classmethod
    def open(cls, folder: Path) -> VectorTable:
        """Map the table that ``write`` left in a folder.

        Raises:
            OSError, ValueError: it is not there or damaged.
        """
        keys = np.load(folder / "keys.npy", allow_pickle=False)
        vectors = np.load(
            folder / "vectors.npy", mmap_mode="r" if len(keys) else None, allow_pickle=False
        )
        if vectors.ndim != 2 or keys.shape != vectors.shape[:1] or vectors.dtype != np.float32:
            raise ValueError("the vector table is damaged")
        return cls(keys, vectors)

    def rows(self) -> dict[bytes, int]:
        """Row of each key."""
        return {key: row for row, key in enumerate(self.keys.tolist())}


class VectorCache:
    """Vectors to draw on while an index is built: the old index's and those made so far.

    New vectors are kept in ``folder`` segment by segment, each written whole or not at all, so
    that a build that was killed goes on where it was.
    """

    def __init__(self, folder: Path, model: str, previous: VectorTable | None) -> None:
        """``previous`` must come from the same model."""
        self._folder = folder / hashlib.sha256(model.encode()).hexdigest()[:16]
        self._tables: list[VectorTable] = [] if previous is None else [previous]
        self._where: dict[bytes, tuple[int, int]] = {}
        if previous is not None:
            self._index(0)
        for path in sorted(self._folder.glob("*.npz")):
            try:
                with np.load(path, allow_pickle=False) as stored:
                    table = VectorTable(stored["keys"], stored["vectors"])
            except (OSError, ValueError, KeyError):
                path.unlink()
                continue
            self._tables.append(table)
            self._index(len(self._tables) - 1)

    def _index(self, number: int) -> None:
        for key, row in self._tables[number].rows().items():
            self._where.setdefault(key, (number, row))

    @property
    def dimension(self) -> int | None:
        """Length of the vectors held; None where there is none."""
        return next((t.vectors.shape[1] for t in self._tables if len(t.vectors)), None)

    def __contains__(self, key: bytes) -> bool:
        return key in self._where

    def add(self, keys: Sequence[bytes], vectors: FloatArray) -> None:
        """Keep vectors, durably.

        Raises:
            DimensionChanged: the ones held have another dimension.
        """
        if self.dimension not in (None, vectors.shape[1]):
            raise DimensionChanged
        self._folder.mkdir(parents=True, exist_ok=True)
        number = len(self._tables)
        table = VectorTable(np.array(keys, dtype=f"S{KEY_BYTES}"), vectors)
        partial = self._folder / "partial"
        with partial.open("wb") as file:
            np.savez(file, keys=table.keys, vectors=table.vectors)
        partial.rename(self._folder / f"{number:08d}-{keys[0].decode()}.npz")
        self._tables.append(table)
        self._index(number)

    def write(self, keys: Iterable[bytes], dimension: int, folder: Path) -> Mapping[bytes, int]:
        """Write the table of these keys, in order and each once; returns the row of each."""
        rows = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "keys.npy", np.array(list(rows), dtype=f"S{KEY_BYTES}"))
        if not rows:
            np.save(folder / "vectors.npy", np.zeros((0, dimension), dtype=np.float32))
            return rows
        vectors = np.lib.format.open_memmap(
            folder / "vectors.npy", mode="w+", dtype=np.float32, shape=(len(rows), dimension)
        )
        sources: dict[int, tuple[list[int], list[int]]] = {}
        for key, row in rows.items():
            number, source = self._where[key]
            into, out_of = sources.setdefault(number, ([], []))
            into.append(row)
            out_of.append(source)
        for number, (into, out_of) in sources.items():
            vectors[into] = self._tables[number].vectors[out_of]
        vectors.flush()
        return rows
