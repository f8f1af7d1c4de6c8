"""What an index says of itself: ``manifest.json`` in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from core.retrieval.calibration import Calibration
from core.retrieval.chunking import CHUNKER_VERSION, MAX_WORDS, TARGET_WORDS
from core.retrieval.lexical import K1, B
from core.retrieval.loading import FileVerdict
from core.retrieval.tokenizer import TOKENIZER_VERSION
from core.types import Channel, CorpusRef, Count, Frozen, Metadata, Passage, digest

FORMAT = 1
"""Raised when an index on disk must be rebuilt to be read."""


class EmbedderIdentity(Frozen):
    """Which embedder made the vectors."""

    model: str
    dimension: Count


class Chunking(Frozen):
    """How passages were cut; ``pooled`` ones came ready-made."""

    pooled: bool = False
    target_words: int = TARGET_WORDS
    max_words: int = MAX_WORDS
    version: int = CHUNKER_VERSION


class Lexical(Frozen):
    """Parameters of BM25."""

    k1: float = K1
    b: float = B
    tokenizer: int = TOKENIZER_VERSION


def content_version(
    model: str, lexical: Lexical, chunking: Chunking, passages: Sequence[Passage]
) -> str:
    """Digest of everything that passages and their ranking depend on; ``passages`` ascend by id."""
    held = [p.model_dump(mode="json") for p in passages]
    return digest([model, lexical.model_dump(), chunking.model_dump(), held])


class DocumentEntry(Frozen):
    """A document of the index. ``file`` is its verdict's file; ``offset`` where its text starts
    in ``documents.jsonl`` (None for pooled passages, which have no document text)."""

    id: str
    title: str
    passages: Count
    metadata: Metadata = Metadata()
    file: str = ""
    offset: Count | None = None


class FileEntry(Frozen):
    """A file's verdict, and the digest of what its documents derive from."""

    verdict: FileVerdict
    fingerprint: str = ""


class Manifest(Frozen):
    """An index: which corpus in which state, made how, from what.

    ``version`` is the digest of the passages, their metadata and everything the ranking depends
    on. ``sentences`` counts the sentence vectors (0: none are stored). ``store`` names the
    vector store's collection, ``place`` where it is: ``folder`` or a server's address.
    """

    format: int = FORMAT
    id: str
    version: str
    created_at: datetime
    updated_at: datetime
    embedder: EmbedderIdentity
    chunking: Chunking
    lexical: Lexical = Lexical()
    passages: Count
    sentences: Count
    documents: tuple[DocumentEntry, ...]
    files: tuple[FileEntry, ...]
    calibration: dict[Channel, Calibration]
    store: str
    place: str

    @property
    def ref(self) -> CorpusRef:
        """Which corpus, in which state."""
        return CorpusRef(id=self.id, version=self.version)

    def values(self, field: Literal["source_tier", "tenant", "jurisdiction"]) -> tuple[str, ...]:
        """The distinct values of a metadata field, sorted."""
        return tuple(sorted({v for d in self.documents if (v := getattr(d.metadata, field))}))

    def dates(self) -> tuple[str, str] | None:
        """The earliest and the latest date that a document bears, as written."""
        found = sorted(d.metadata.date for d in self.documents if d.metadata.date)
        return (found[0], found[-1]) if found else None
