"""The contents of a corpus, ready to be indexed: documents, passages and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput
from core.retrieval.chunking import chunk
from core.retrieval.index import Index
from core.retrieval.loading import Document, load, scan
from core.retrieval.manifest import Chunking, DocumentEntry, FileEntry
from core.retrieval.parsing import Parser
from core.retrieval.progress import Tracker
from core.types import Passage


@dataclass(frozen=True, slots=True)
class Contents:
    """Passages by ascending id, documents and files by name; ``texts`` are the whole documents
    (none for pooled passages); ``fresh`` are the ids of documents that were read anew."""

    id: str
    chunking: Chunking
    passages: tuple[Passage, ...]
    documents: tuple[DocumentEntry, ...]
    files: tuple[FileEntry, ...] = ()
    texts: Mapping[str, Document] | None = None
    fresh: frozenset[str] = frozenset()

    def write_documents(self, folder: Path) -> tuple[DocumentEntry, ...]:
        """Write ``documents.jsonl``; the entries with the place of each text in it."""
        if self.texts is None:
            return self.documents
        entries = []
        partial = folder / "documents.new"
        with partial.open("wb") as file:
            for entry in self.documents:
                entries.append(entry.model_copy(update={"offset": file.tell()}))
                file.write(self.texts[entry.id].model_dump_json().encode() + b"\n")
        partial.replace(folder / "documents.jsonl")
        return tuple(entries)


def of_folder(
    corpus_id: str, root: Path, previous: Index | None, parser: Parser, tracker: Tracker
) -> Contents:
    """Read a corpus folder. Files that are as they were in ``previous`` are not read again.

    Raises:
        BadInput: no such folder.
        RunCancelled: stopped.
    """
    folder = scan(root)
    known = _known(previous)
    documents: list[Document] = []
    entries: list[FileEntry] = [FileEntry(verdict=verdict) for verdict in folder.skipped]
    passages: dict[str, list[Passage]] = {}
    file_of: dict[str, str] = {}
    fresh: set[str] = set()
    for done, source in enumerate(folder.files):
        tracker.step("reading", done, len(folder.files))
        try:
            fingerprint = folder.fingerprint(source)
        except OSError:  # loading says why
            fingerprint = ""
        kept = known.get(fingerprint)
        if kept is not None and previous is not None:
            verdict = kept.verdict
            found = [_kept(previous, name) for name in verdict.documents]
            passages.update((d.id, _passages_of(previous, d.id)) for d in found)
        else:
            loaded = load(source, folder, parser)
            verdict, found = loaded.verdict, list(loaded.documents)
            passages.update((document.id, chunk(document)) for document in found)
            fresh.update(document.id for document in found)
            fingerprint = "" if loaded.again else fingerprint
        documents.extend(found)
        file_of.update((document.id, verdict.file) for document in found)
        entries.append(FileEntry(verdict=verdict, fingerprint=fingerprint))
    tracker.step("reading", len(folder.files), len(folder.files))
    documents.sort(key=lambda document: document.id)
    return Contents(
        id=corpus_id,
        chunking=Chunking(),
        passages=tuple(sorted((p for d in documents for p in passages[d.id]), key=lambda p: p.id)),
        documents=tuple(
            DocumentEntry(
                id=document.id,
                title=document.title,
                passages=len(passages[document.id]),
                metadata=document.metadata,
                file=file_of[document.id],
            )
            for document in documents
        ),
        files=tuple(sorted(entries, key=lambda entry: entry.verdict.file)),
        texts={document.id: document for document in documents},
        fresh=frozenset(fresh),
    )


def of_passages(corpus_id: str, passages: Sequence[Passage], previous: Index | None) -> Contents:
    """Ready-made passages, indexed as they are. Equal ones count once.

    Raises:
        BadInput: two different passages share an id.
    """
    by_id: dict[str, Passage] = {}
    for passage in passages:
        if by_id.setdefault(passage.id, passage) != passage:
            raise BadInput(f"Two different passages have the id {passage.id!r}.")
    ordered = tuple(by_id[i] for i in sorted(by_id))
    old = {} if previous is None else {p.id: p for p in previous.passages()}
    grouped: dict[str, list[Passage]] = {}
    for passage in ordered:
        grouped.setdefault(passage.document, []).append(passage)
    return Contents(
        id=corpus_id,
        chunking=Chunking(pooled=True),
        passages=ordered,
        documents=tuple(
            DocumentEntry(
                id=document,
                title=grouped[document][0].title,
                passages=len(grouped[document]),
                metadata=grouped[document][0].metadata,
            )
            for document in sorted(grouped)
        ),
        fresh=frozenset(p.document for p in ordered if old.get(p.id) != p),
    )


def _known(previous: Index | None) -> dict[str, FileEntry]:
    """Files of the previous index by fingerprint, if it was cut as one would be cut now."""
    if previous is None or previous.manifest.chunking != Chunking():
        return {}
    return {entry.fingerprint: entry for entry in previous.manifest.files if entry.fingerprint}


def _kept(previous: Index, document_id: str) -> Document:
    document = previous.document(document_id)
    assert document is not None, "the manifest names a document without a text"
    return document


def _passages_of(previous: Index, document_id: str) -> list[Passage]:
    return [previous.at(row) for row in previous.rows_of_document(document_id)]
