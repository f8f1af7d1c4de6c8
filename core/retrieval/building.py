"""Building an index: only what changed is read and embedded, and the old index stays whole.

A build makes a new folder beside the one in use and then switches to it, which is atomic; whatever
a killed build leaves is cleared by the next one, except for the vectors, which it goes on from.
"""

from __future__ import annotations

import errno
import json
import shutil
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from core.errors import RetrieverError
from core.retrieval import calibration
from core.retrieval.calibration import Calibration
from core.retrieval.corpus import Contents
from core.retrieval.dense import VectorStores
from core.retrieval.home import Home
from core.retrieval.index import Index, write_passages
from core.retrieval.lexical import LexicalIndex, Rows, indexed_text
from core.retrieval.loading import FileVerdict
from core.retrieval.manifest import EmbedderIdentity, Lexical, Manifest, content_version
from core.retrieval.progress import Tracker
from core.retrieval.sentences import sentence_spans
from core.retrieval.textview import sentence_texts
from core.retrieval.vectors import DimensionChanged, Embedder, VectorCache, VectorTable, text_key
from core.types import Access, Channel, Frozen, Passage

SENTENCES_UP_TO = 20_000
"""Larger corpora keep no sentence vectors; these are then encoded when first asked for."""
SEGMENT = 512
"""Texts embedded between two savings of what is done."""
CHANNELS: tuple[Channel, ...] = ("lexical", "dense", "fused")


class IndexReport(Frozen):
    """What indexing did. ``changed`` is False where everything was up to date already.

    ``added``, ``updated`` and ``removed`` are document ids; ``embedded`` counts texts that went
    through the embedder and ``reused`` those whose vectors were there.
    """

    corpus: str
    version: str
    changed: bool
    message: str
    files: tuple[FileVerdict, ...]
    documents: int
    passages: int
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    embedded: int = 0
    reused: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Texts:
    """What is embedded: by passage row, its text; its sentences; and the pseudo-queries."""

    passages: list[str]
    sentences: list[list[str]]
    queries: list[tuple[int, str]]

    def all(self) -> Iterable[str]:
        yield from self.passages
        for sentences in self.sentences:
            yield from sentences
        yield from (text for _, text in self.queries)


def build(
    home: Home,
    contents: Contents,
    embedder: Embedder,
    stores: VectorStores,
    tracker: Tracker,
    old: Index | None,
    started: float | None = None,
) -> IndexReport:
    """Index the contents of a corpus; the caller holds ``home.writing()``.

    ``old`` is the index in use, None where there is none that can be read.

    Raises:
        RunCancelled: stopped; what was embedded is kept for the next time.
        RetrieverError, BadInput: it failed; the index in use is as it was.
    """
    started = time.monotonic() if started is None else started
    previous = None if old is None else old.manifest
    home.clear(stores)
    version = content_version(embedder.model, Lexical(), contents.chunking, contents.passages)
    files = tuple(entry.verdict for entry in contents.files)
    if old is not None and not contents.fresh and _up_to_date(old, version, stores):
        if old.manifest.files != contents.files:  # verdicts on files that have no document
            changes = {"files": contents.files, "updated_at": datetime.now(UTC)}
            _write_manifest(old.folder, old.manifest.model_copy(update=changes))
        return IndexReport(
            corpus=contents.id,
            version=version,
            changed=False,
            message=f"Nothing to do: {_count(len(contents.documents), 'document')} and "
            f"{_count(len(contents.passages), 'passage')} are up to date.",
            files=files,
            documents=len(contents.documents),
            passages=len(contents.passages),
            seconds=time.monotonic() - started,
        )
    folder = home.path / f"index-{version}-{uuid.uuid4().hex[:8]}"
    try:
        embedded, reused = _build_in(
            folder, home, contents, version, embedder, stores, tracker, old
        )
    except OSError as error:
        home.clear(stores)
        if error.errno == errno.ENOSPC:
            raise RetrieverError(
                "The disk is full; free space and index again. The index in use is as it was.",
                code="disk_full",
            ) from error
        raise
    except BaseException:
        home.clear(stores)
        raise
    home.switch(folder)
    shutil.rmtree(home.path / "vectors", ignore_errors=True)
    home.clear(stores)
    before = {} if previous is None else {d.id: d for d in previous.documents}
    after = {document.id: document for document in contents.documents}
    added = tuple(sorted(after.keys() - before.keys()))
    removed = tuple(sorted(before.keys() - after.keys()))
    updated = tuple(sorted(i for i in contents.fresh if i in before))
    return IndexReport(
        corpus=contents.id,
        version=version,
        changed=True,
        message=f"Indexed {_count(len(after), 'document')} in "
        f"{_count(len(contents.passages), 'passage')}: {len(added)} added, {len(updated)} "
        f"updated, {len(removed)} removed.",
        files=files,
        documents=len(after),
        passages=len(contents.passages),
        added=added,
        updated=updated,
        removed=removed,
        embedded=embedded,
        reused=reused,
        seconds=time.monotonic() - started,
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _up_to_date(old: Index, version: str, stores: VectorStores) -> bool:
    manifest = old.manifest
    return (
        manifest.version == version
        and manifest.place == stores.place
        and old.is_whole()
        and stores.holds(old.folder / "chroma", manifest.store, manifest.passages)
    )


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    partial = folder / "manifest.new"
    partial.write_text(manifest.model_dump_json(), encoding="utf-8")
    partial.replace(folder / "manifest.json")


def _build_in(
    folder: Path,
    home: Home,
    contents: Contents,
    version: str,
    embedder: Embedder,
    stores: VectorStores,
    tracker: Tracker,
    old: Index | None,
) -> tuple[int, int]:
    """Make a whole index in ``folder``; returns how many texts were embedded and reused."""
    passages = list(contents.passages)
    texts = _texts(passages)
    unfinished = home.path / "vectors"
    cache = VectorCache(unfinished, embedder.model, _previous_vectors(old, embedder))
    try:
        embedded, wanted = _embed(texts.all(), cache, embedder, tracker)
    except DimensionChanged:
        shutil.rmtree(unfinished, ignore_errors=True)
        cache = VectorCache(unfinished, embedder.model, None)
        embedded, wanted = _embed(texts.all(), cache, embedder, tracker)
    folder.mkdir(parents=True)
    name = f"{contents.id}-{folder.name}"
    (folder / "store.json").write_text(
        json.dumps({"name": name, "place": stores.place}), encoding="utf-8"
    )
    write_passages(folder, passages)
    documents = contents.write_documents(folder)
    dimension = cache.dimension or 0
    rows = cache.write(map(text_key, texts.all()), dimension, folder / "vectors")
    _save_rows(folder, texts, rows)
    LexicalIndex.build(texts.passages).save(folder / "lexical")
    _store(folder, name, passages, stores, tracker)
    created = datetime.now(UTC)
    manifest = Manifest(
        id=contents.id,
        version=version,
        created_at=created if old is None else old.manifest.created_at,
        updated_at=created,
        embedder=EmbedderIdentity(model=embedder.model, dimension=dimension),
        chunking=contents.chunking,
        passages=len(passages),
        sentences=sum(map(len, texts.sentences)),
        documents=documents,
        files=contents.files,
        calibration={channel: Calibration() for channel in CHANNELS},
        store=name,
        place=stores.place,
    )
    fitted = _calibrate(Index(folder, manifest, embedder, stores), texts.queries, rows, tracker)
    _write_manifest(folder, manifest.model_copy(update={"calibration": fitted}))
    return embedded, wanted - embedded


def _texts(passages: Sequence[Passage]) -> _Texts:
    with_sentences = len(passages) <= SENTENCES_UP_TO
    return _Texts(
        passages=[indexed_text(passage) for passage in passages],
        sentences=[
            sentence_texts(passage, sentence_spans(passage.text)) if with_sentences else []
            for passage in passages
        ],
        queries=calibration.pseudo_queries(passages),
    )


def _previous_vectors(old: Index | None, embedder: Embedder) -> VectorTable | None:
    same = old is not None and old.manifest.embedder.model == embedder.model
    return old.table if old is not None and same else None


def _embed(
    texts: Iterable[str], cache: VectorCache, embedder: Embedder, tracker: Tracker
) -> tuple[int, int]:
    """Embed what the cache lacks, longest first, so that a batch has texts of one length."""
    keyed = {text_key(text): text for text in texts}
    missing = sorted(
        ((key, text) for key, text in keyed.items() if key not in cache),
        key=lambda pair: (-len(pair[1]), pair[0]),
    )
    work = sum(len(text) for _, text in missing)
    done = finished = 0
    tracker.step("embedding", 0, len(missing))
    for start in range(0, len(missing), SEGMENT):
        part = missing[start : start + SEGMENT]
        cache.add([key for key, _ in part], embedder.encode([text for _, text in part]))
        done += len(part)
        finished += sum(len(text) for _, text in part)
        tracker.step("embedding", done, len(missing), share=finished / work)
    return len(missing), len(keyed)


def _save_rows(folder: Path, texts: _Texts, rows: Mapping[bytes, int]) -> None:
    def of(values: Iterable[str]) -> Rows:
        return np.array([rows[text_key(text)] for text in values], dtype=np.intp)

    np.save(folder / "passage_rows.npy", of(texts.passages))
    np.save(folder / "sentence_rows.npy", of(t for group in texts.sentences for t in group))
    ends = np.cumsum([len(group) for group in texts.sentences], dtype=np.intp)
    np.save(folder / "sentence_ends.npy", ends)


def _store(
    folder: Path,
    name: str,
    passages: Sequence[Passage],
    stores: VectorStores,
    tracker: Tracker,
) -> None:
    tracker.step("storing", 0, len(passages))
    if not passages:
        return
    table = VectorTable.open(folder / "vectors")
    rows = np.load(folder / "passage_rows.npy", allow_pickle=False)
    store = stores.create(folder / "chroma", name)
    try:
        store.upsert(
            [passage.id for passage in passages],
            table.vectors[rows],
            lambda done: tracker.step("storing", done, len(passages)),
        )
    finally:
        store.close()


def _calibrate(
    index: Index,
    queries: Sequence[tuple[int, str]],
    rows: Mapping[bytes, int],
    tracker: Tracker,
) -> dict[Channel, Calibration]:
    """Fit each channel on the top scores of the pseudo-queries, their own text left out."""
    scores: dict[Channel, list[float]] = {channel: [] for channel in CHANNELS}
    retriever = index.retriever()
    try:
        for done, (row, text) in enumerate(queries, 1):
            own = indexed_text(index.at(row))
            index.remember_query(text, rows[text_key(text)])
            for channel in CHANNELS:
                hits = retriever.search(text, 2 * calibration.TOP + 10, channel, Access())
                others = [hit.score for hit in hits if indexed_text(hit.passage) != own]
                scores[channel].extend(others[: calibration.TOP])
            tracker.step("calibrating", done, len(queries))
    finally:
        index.close()
    return {channel: calibration.fit(values) for channel, values in scores.items()}
