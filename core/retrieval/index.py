"""An index on disk, opened: passages, search, and what the extractive reasoner reads of it."""

from __future__ import annotations

import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from core.errors import IndexMismatch, StaleIndex
from core.ports import FloatArray
from core.retrieval.dense import DenseIndex, VectorStore, VectorStores
from core.retrieval.lexical import LexicalIndex, Mask, Rows
from core.retrieval.loading import Document
from core.retrieval.manifest import FORMAT, DocumentEntry, Lexical, Manifest, content_version
from core.retrieval.retriever import IndexRetriever
from core.retrieval.textview import CorpusTextView
from core.retrieval.vectors import Embedder, VectorTable
from core.types import Access, CorpusRef, Passage, digest

QUERY_VECTORS_KEPT = 4_096
MASKS_KEPT = 32
_PASSAGES = TypeAdapter(list[Passage])


class Index:
    """One version of a corpus's index. Immutable; safe to use from several threads.

    ``passages`` are in ascending order of their ids, and a row is a place in that order.
    """

    def __init__(
        self, folder: Path, manifest: Manifest, embedder: Embedder, stores: VectorStores
    ) -> None:
        """Use ``Index.open``."""
        self.folder, self.manifest = folder, manifest
        self._embedder, self._stores = embedder, stores
        self._lock = threading.RLock()
        self._queries: OrderedDict[str, FloatArray] = OrderedDict()
        self._masks: OrderedDict[Access, Mask] = OrderedDict()
        self._store: VectorStore | None = None
        self.companions: dict[str, Any] = {}
        """What others derive from this index and keep as long as it is open."""
        try:
            self._passages = read_passages(folder)
            self.table = VectorTable.open(folder / "vectors")
            self._rows: Rows = np.load(folder / "passage_rows.npy", allow_pickle=False)
            self._sentence_rows: Rows = np.load(folder / "sentence_rows.npy", allow_pickle=False)
            self._sentence_ends: Rows = np.load(folder / "sentence_ends.npy", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise _damaged(manifest.id) from error
        if not len(self._passages) == len(self._rows) == manifest.passages:
            raise _damaged(manifest.id)
        self._row_of = {passage.id: row for row, passage in enumerate(self._passages)}

    @classmethod
    def open(cls, folder: Path, embedder: Embedder, stores: VectorStores) -> Index:
        """Open the index in a folder, without loading the embedder or the vector store.

        Raises:
            StaleIndex: there is none, or it is damaged.
            IndexMismatch: it was made with another embedder or by an older version.
        """
        manifest = read_manifest(folder)
        if manifest.format != FORMAT or manifest.lexical != Lexical():
            raise IndexMismatch(
                f"The index of {manifest.id!r} was made by another version of this product; "
                "re-index the corpus."
            )
        if manifest.embedder.model != embedder.model:
            raise IndexMismatch(
                f"The index of {manifest.id!r} was made with the embedder "
                f"{manifest.embedder.model!r}, not {embedder.model!r}; re-index the corpus or "
                "choose that embedder again."
            )
        return cls(folder, manifest, embedder, stores)

    def is_whole(self) -> bool:
        """Whether its parts that are read at their first use are there."""
        try:
            return self.lexical.size == len(self._passages)
        except StaleIndex:
            return False

    @property
    def corpus(self) -> CorpusRef:
        """Which corpus, in which state."""
        return self.manifest.ref

    def only_words_differ(self, version: str) -> bool:
        """Whether an older tokenizer gives these very passages that version."""
        made = self.manifest
        return any(
            version
            == content_version(
                made.embedder.model,
                made.lexical.model_copy(update={"tokenizer": older}),
                made.chunking,
                self._passages,
            )
            for older in range(1, made.lexical.tokenizer)
        )

    def passages(self) -> list[Passage]:
        """All passages, by ascending id."""
        return list(self._passages)

    def row(self, passage_id: str) -> int | None:
        """The row of a passage; None if there is no such passage."""
        return self._row_of.get(passage_id)

    def at(self, row: int) -> Passage:
        """The passage at a row."""
        return self._passages[row]

    def document(self, document_id: str) -> Document | None:
        """A document with its whole text; None where none of that id was indexed from a file.

        Raises:
            StaleIndex: the index was deleted meanwhile.
        """
        with self._lock:
            entry = self._entries.get(document_id)
        if entry is None or entry.offset is None:
            return None
        try:
            with (self.folder / "documents.jsonl").open("rb") as file:
                file.seek(entry.offset)
                return Document.model_validate_json(file.readline())
        except (OSError, ValidationError) as error:
            raise _damaged(self.manifest.id) from error

    @cached_property
    def _entries(self) -> dict[str, DocumentEntry]:
        return {document.id: document for document in self.manifest.documents}

    def retriever(self) -> IndexRetriever:
        """Search over this index (``ports.Retriever``)."""
        return IndexRetriever(self)

    def text_view(self) -> CorpusTextView:
        """Vectors and statistics for the extractive reasoner (``ports.TextView``)."""
        with self._lock:
            return self._text_view

    @cached_property
    def _text_view(self) -> CorpusTextView:
        return CorpusTextView(
            self._passages,
            self.encode,
            vectors=_SentenceVectors(self),
            frequencies=self.lexical.frequencies(),
        )

    @property
    def lexical(self) -> LexicalIndex:
        """BM25 over the rows."""
        with self._lock:
            return self._lexical

    @cached_property
    def _lexical(self) -> LexicalIndex:
        try:
            return LexicalIndex.open(self.folder / "lexical")
        except (OSError, ValueError, KeyError) as error:
            raise _damaged(self.manifest.id) from error

    @cached_property
    def dense(self) -> DenseIndex:
        """Cosines over the rows."""
        return DenseIndex(self.table.vectors, self._rows, self._row_of, self._opened_store)

    def _opened_store(self) -> VectorStore:
        with self._lock:
            if self._store is None:
                self._store = self._stores.open(self.folder / "chroma", self.manifest.store)
                self._close = weakref.finalize(self, self._store.close)
            return self._store

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors of texts, shape (len(texts), dimension).

        Raises:
            IndexMismatch: the embedder's vectors have another dimension than the index's.
        """
        vectors = self._embedder.encode(texts)
        expected = self.manifest.embedder.dimension
        if len(texts) and self.manifest.passages and vectors.shape[1] != expected:
            raise IndexMismatch(
                f"The embedder gives vectors of dimension {vectors.shape[1]}, the index of "
                f"{self.manifest.id!r} holds {expected}; re-index the corpus."
            )
        return vectors

    def query_vector(self, query: str) -> FloatArray:
        """The unit vector of a query; recent ones come from memory."""
        with self._lock:
            if query in self._queries:
                self._queries.move_to_end(query)
                return self._queries[query]
        vector: FloatArray = self.encode([query])[0]
        self._keep(query, vector)
        return vector

    def remember_query(self, query: str, row: int) -> None:
        """Use the stored vector at a row of the vector table for a query."""
        self._keep(query, self.table.vectors[row])

    def forget_queries(self) -> None:
        """Drop the query vectors kept in memory."""
        with self._lock:
            self._queries.clear()

    def _keep(self, query: str, vector: FloatArray) -> None:
        with self._lock:
            self._queries[query] = vector
            while len(self._queries) > QUERY_VECTORS_KEPT:
                self._queries.popitem(last=False)

    def allowed(self, access: Access) -> Mask | None:
        """Which rows ``access`` allows; None where it allows all."""
        if access.tenants is None and access.source_tiers is None:
            return None
        with self._lock:
            mask = self._masks.get(access)
            if mask is None:
                mask = np.array([access.allows(p.metadata) for p in self._passages], dtype=bool)
                self._masks[access] = mask
                while len(self._masks) > MASKS_KEPT:
                    self._masks.popitem(last=False)
            return mask

    def rows_of_document(self, document_id: str) -> list[int]:
        """Rows of a document's passages, in document order."""
        with self._lock:
            return self._document_rows.get(document_id, [])

    @cached_property
    def _document_rows(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, passage in enumerate(self._passages):
            found.setdefault(passage.document, []).append(row)
        for rows in found.values():
            rows.sort(key=lambda row: (self._passages[row].start, row))
        return found

    def sentence_vectors(self, row: int) -> FloatArray | None:
        """Unit vectors of "title. sentence" for a row's sentences; None where none are stored."""
        if not self.manifest.sentences:
            return None
        start = self._sentence_ends[row - 1] if row else 0
        vectors: FloatArray = self.table.vectors[
            self._sentence_rows[start : self._sentence_ends[row]]
        ]
        return vectors

    def passage_vectors(self) -> FloatArray:
        """Unit vectors of all passages by row, shape (passages, dimension)."""
        vectors: FloatArray = self.table.vectors[self._rows]
        return vectors

    def close(self) -> None:
        """Let go of the vector store; a later search opens it again."""
        with self._lock:
            if self._store is not None:
                self._close()
                self._store = None


class _SentenceVectors(Mapping[str, FloatArray]):
    """An index's stored sentence vectors by passage digest."""

    def __init__(self, index: Index) -> None:
        self._index = index
        # A ready-made passage may bring a digest that is not of its title and text.
        self._row_of = {
            p.digest: row
            for row, p in enumerate(index.passages())
            if p.digest == digest([p.title, p.text])
        }

    def __getitem__(self, key: str) -> FloatArray:
        vectors = self._index.sentence_vectors(self._row_of[key])
        if vectors is None:
            raise KeyError(key)
        return vectors

    def __iter__(self) -> Iterator[str]:
        return iter(self._row_of)

    def __len__(self) -> int:
        return len(self._row_of)


def read_manifest(folder: Path) -> Manifest:
    """The manifest in an index's folder.

    Raises:
        StaleIndex: there is none, or it is damaged.
        IndexMismatch: it is of another format.
    """
    try:
        text = (folder / "manifest.json").read_text(encoding="utf-8")
        content = json.loads(text)
    except (OSError, ValueError) as error:
        raise StaleIndex("The index is gone or damaged; re-index the corpus.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise IndexMismatch(
            "The index was made by another version of this product; re-index the corpus."
        )
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        raise StaleIndex("The index is damaged; re-index the corpus.") from error


def read_passages(folder: Path) -> list[Passage]:
    """The passages of an index, by ascending id.

    Raises:
        OSError, ValueError: they are not there or damaged.
    """
    return _PASSAGES.validate_json((folder / "passages.json").read_bytes())


def write_passages(folder: Path, passages: list[Passage]) -> None:
    """Write what ``read_passages`` reads."""
    (folder / "passages.json").write_bytes(_PASSAGES.dump_json(passages))


def _damaged(name: str) -> StaleIndex:
    return StaleIndex(f"The index of {name!r} is damaged or was deleted; re-index the corpus.")
