"""The dense channel: exact cosines over candidates from a vector store.

The store proposes more candidates than are asked for; their cosines are computed from the
index's own vectors, so that an embedded and a served store rank alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from core.ports import FloatArray
from core.retrieval.lexical import Mask, Rows, Scores

MARGIN = 100
"""At least this many more candidates are fetched than are asked for."""
FACTOR = 2
EXACT_BELOW = 2_000
"""Where ``access`` leaves no more passages than this, all their cosines are computed."""
DECIMALS = 6
"""Cosines are rounded: float32 vectors carry no more, and equal texts must tie."""


class VectorStore(Protocol):
    """Approximate nearest neighbours over ids."""

    def upsert(
        self,
        ids: Sequence[str],
        vectors: FloatArray,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Add or replace vectors, shape (len(ids), dimension)."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors."""

    def count(self) -> int:
        """How many vectors there are."""

    def nearest(self, vector: FloatArray, n: int) -> list[str]:
        """Ids of about the ``n`` nearest by cosine."""

    def close(self) -> None:
        """Let go of files and connections."""


class VectorStores(Protocol):
    """Makes and opens the vector store of an index."""

    @property
    def place(self) -> str:
        """``folder`` where stores lie in the index's folder, else the server's address."""

    def holds(self, folder: Path, name: str, count: int) -> bool:
        """Whether the store is there with as many vectors."""

    def create(self, folder: Path, name: str) -> VectorStore:
        """A new, empty store."""

    def open(self, folder: Path, name: str) -> VectorStore:
        """The store that ``create`` made; StaleIndex if it is gone."""

    def drop(self, folder: Path, name: str) -> None:
        """Delete what lies outside ``folder``."""


class DenseIndex:
    """Cosines between a query's vector and the vectors of passages by row."""

    def __init__(
        self,
        table: FloatArray,
        table_rows: Rows,
        row_of: Mapping[str, int],
        store: Callable[[], VectorStore],
    ) -> None:
        """``table[table_rows[row]]`` is a passage's unit vector; ``row_of`` maps the store's ids
        to rows; ``store`` opens the store at its first use."""
        self._table, self._table_rows, self._row_of = table, table_rows, row_of
        self._store = store

    @property
    def size(self) -> int:
        """How many passages there are."""
        return len(self._table_rows)

    def cosines(self, vector: FloatArray, rows: Rows) -> Scores:
        """Exact cosines of some rows, rounded to ``DECIMALS``, shape (len(rows),)."""
        if not len(rows):
            return np.zeros(0)
        # einsum sums each row by itself: a row's cosine does not depend on the rows beside it.
        vectors = self._table[self._table_rows[rows]].astype(np.float64)
        cosines: Scores = np.einsum("ij,j->i", vectors, vector.astype(np.float64))
        return cosines.round(DECIMALS)

    def candidates(self, vector: FloatArray, k: int, allowed: Mask | None) -> Rows:
        """Rows, ascending, among which are the ``k`` allowed ones with the highest cosine."""
        permitted = self.size if allowed is None else int(allowed.sum())
        if allowed is not None and permitted <= EXACT_BELOW:
            return np.flatnonzero(allowed)
        fetch = min(self.size, max(FACTOR * k, k + MARGIN))
        while True:
            ids = self._store().nearest(vector, fetch)
            rows = np.array(sorted(self._row_of[i] for i in set(ids) if i in self._row_of), np.intp)
            if allowed is not None:
                rows = rows[allowed[rows]]
            if len(rows) >= min(k, permitted) or fetch >= self.size:
                return rows
            fetch = min(self.size, 4 * fetch)
