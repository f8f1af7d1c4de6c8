"""The corpora of a workspace: bundled ones, folders, uploads, and pooled passages.

Bundled corpora are visible to every workspace and share one index; all else lies in the
workspace's own folder, where no other workspace looks.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput, IndexMismatch, RetrieverError, StaleIndex
from core.retrieval import uploads
from core.retrieval.building import IndexReport, build
from core.retrieval.corpus import Contents, of_folder, of_passages
from core.retrieval.dense import VectorStores
from core.retrieval.home import Home
from core.retrieval.index import Index
from core.retrieval.names import checked_slug, printable
from core.retrieval.parsing import SECONDS, Parser
from core.retrieval.progress import Progress, Report, Tracker
from core.retrieval.summary import CorpusSummary, Kind, Summaries
from core.retrieval.vectors import Embedder
from core.settings import unknown_name
from core.types import Frozen, Passage

__all__ = ["BUNDLED", "CorpusSummary", "Entry", "Library"]

BUNDLED = Path(__file__).resolve().parents[2] / "sample_corpora"

_OPEN: weakref.WeakValueDictionary[tuple[Path, str, str], Index] = weakref.WeakValueDictionary()
_OPEN_LOCK = threading.Lock()


class Entry(Frozen):
    """How a workspace keeps a corpus: ``corpus.json`` in its folder."""

    name: str
    kind: Kind
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class _Corpus:
    """A corpus found: its name, kind, where its documents are and where its index is."""

    name: str
    kind: Kind
    source: Path | None
    home: Home


class Library:
    """The corpora that one workspace sees."""

    def __init__(
        self,
        root: Path,
        workspace: str = "shared",
        embedder: Embedder | None = None,
        stores: VectorStores | None = None,
        bundled: Path = BUNDLED,
    ) -> None:
        """``root`` is the data directory. ``embedder`` and ``stores`` are, if not given, the
        packaged MiniLM and Chroma.

        Raises:
            BadInput: the workspace's name is not safe as a folder name.
        """
        self.root, self.workspace = Path(root), checked_slug(workspace, "workspace")
        self.embedder, self.stores = _adapters(embedder, stores)
        self._bundled = bundled
        self._mine = self.root / "workspaces" / workspace / "corpora"
        self._opened: dict[str, Index] = {}
        self._summaries = Summaries(self.embedder.model, self.stores.place)

    def list(self) -> list[CorpusSummary]:
        """The bundled corpora and then the workspace's own, each by name."""
        names = [*self._bundled_names(), *self._own_names()]
        found = []
        for name in names:
            with suppress(FileNotFoundError):  # deleted since it was listed
                found.append(self._summary(self._named(name)))
        return found

    def summary(self, name: str) -> CorpusSummary:
        """One corpus.

        Raises:
            BadInput: there is none of that name.
        """
        return self._summary(self._find(name))

    def index(
        self,
        name_or_path: str | Path,
        progress: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
        parse_seconds: float = SECONDS,
    ) -> IndexReport:
        """Bring a corpus's index up to date. A folder given by its path joins the workspace.
        Where another process is indexing it, that is waited for.

        ``progress`` is told how far it is, in this thread; ``cancelled`` is asked now and then.
        ``parse_seconds`` limits the time for one pdf, docx or html file.

        Raises:
            BadInput: no such corpus or folder, or another process that is indexing it stands still.
            RunCancelled: ``cancelled`` said so; the old index is as it was.
        """
        started = time.monotonic()
        corpus = self._find(name_or_path, register=True)
        if corpus.source is None:
            return self._pool_is_up_to_date(corpus)
        tracker = Tracker(progress, cancelled)
        with corpus.home.writing(corpus.name, tracker), Parser(parse_seconds) as parser:
            self._find(corpus.name)  # it may have been deleted while another writer was waited for
            previous = self._previous(corpus)
            contents = of_folder(corpus.name, corpus.source, previous, parser, tracker)
            return self._build(corpus, contents, tracker, previous, started)

    def index_passages(
        self,
        name: str,
        passages: Sequence[Passage],
        progress: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexReport:
        """Index ready-made passages (a question file's pool) as a corpus of this workspace.

        Raises:
            BadInput: an unusable name, or one that another kind of corpus has.
            RunCancelled: ``cancelled`` said so; the old index is as it was.
        """
        started = time.monotonic()
        corpus = self._own(name, "pool")
        tracker = Tracker(progress, cancelled)
        with corpus.home.writing(name, tracker):
            previous = self._previous(corpus)
            contents = of_passages(name, passages, previous)
            return self._build(corpus, contents, tracker, previous, started)

    def under_way(self, name: str) -> Progress | None:
        """How far an indexing of a corpus is, whichever process does it; None: none does."""
        try:
            return self._find(name).home.under_way()
        except BadInput:
            return None

    def open(self, name_or_path: str | Path) -> Index:
        """The index of a corpus, as it is; neither embedder nor vector store is loaded.

        Raises:
            BadInput: no such corpus, or it is not indexed yet.
            IndexMismatch: it was made with another embedder; re-index it.
            StaleIndex: it is damaged; re-index it.
        """
        corpus = self._find(name_or_path)
        folder = corpus.home.current()
        if folder is None:
            raise BadInput(f"The corpus {corpus.name!r} is not indexed yet; index it first.")
        key = (folder, self.embedder.model, self.stores.place)
        with _OPEN_LOCK:
            index = _OPEN.get(key)
            if index is None:
                index = _OPEN[key] = Index.open(folder, self.embedder, self.stores)
            self._opened[corpus.name] = index
        return index

    def ensure(
        self,
        name_or_path: str | Path,
        progress: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Index:
        """Open a corpus, indexing it first if there is no index that can be used.

        Raises:
            BadInput, RunCancelled: as ``index``.
        """
        try:
            corpus = self._find(name_or_path)
            if corpus.home.current() is not None:
                return self.open(name_or_path)
        except (BadInput, IndexMismatch, StaleIndex):
            pass
        self.index(name_or_path, progress, cancelled)
        return self.open(name_or_path)

    def add_files(self, name: str, files: Iterable[tuple[str, bytes]]) -> tuple[str, ...]:
        """Keep uploaded files (name, content) as sources of a corpus; index it afterwards.

        Names become safe document ids. A file replaces an earlier one of its id; two different
        files of one id in the same upload are told apart by their content. Returns the ids.

        Raises:
            BadInput: an unusable corpus name, or too many or too large files; nothing is kept.
            RetrieverError: the disk does not take them; some may be kept.
        """
        given = list(files)
        uploads.placed(given)
        corpus = self._own(name, "uploads")
        assert corpus.source is not None
        with corpus.home.writing(name):
            chosen = uploads.named(given, uploads.kept(corpus.source))
            try:
                for identifier, content in chosen.items():
                    uploads.keep(corpus.source / identifier, content)
            except OSError as error:
                raise RetrieverError(
                    f"The files cannot be kept ({error.strerror}); free space or add fewer."
                ) from error
        return tuple(chosen)

    def remove_file(self, name: str, file_id: str) -> None:
        """Take an uploaded file out of a corpus's sources; index it afterwards.

        Raises:
            BadInput: no such uploaded file.
        """
        corpus = self._find(name)
        known = (
            {}
            if corpus.kind != "uploads" or corpus.source is None
            else {p.relative_to(corpus.source).as_posix(): p for p in corpus.source.rglob("*")}
        )
        path = known.get(file_id)
        if path is None or not path.is_file():
            raise BadInput(f"{name!r} has no uploaded file {printable(file_id)!r}.")
        with corpus.home.writing(name):
            path.unlink()

    def delete(self, name: str) -> None:
        """Delete a corpus of this workspace with its index and uploads. A folder that was
        indexed by its path stays where it is; of a bundled corpus, the index is deleted.

        Raises:
            BadInput: no such corpus, or it is being indexed.
        """
        corpus = self._find(name)
        with corpus.home.writing(corpus.name), ExitStack() as stack:
            index = self._opened.pop(corpus.name, None)
            if index is not None:
                stack.callback(index.close)
            (corpus.home.path / "current").unlink(missing_ok=True)
            corpus.home.clear(self.stores)
        place = corpus.home.path if corpus.kind == "bundled" else corpus.home.path.parent
        shutil.rmtree(place, ignore_errors=True)

    # --- finding -----------------------------------------------------------------------------

    def _bundled_names(self) -> tuple[str, ...]:
        if not self._bundled.is_dir():
            return ()
        return tuple(sorted(p.name for p in self._bundled.iterdir() if (p / "docs").is_dir()))

    def _own_names(self) -> tuple[str, ...]:
        if not self._mine.is_dir():
            return ()
        found = (p.name for p in self._mine.iterdir() if (p / "corpus.json").is_file())
        return tuple(sorted(found))

    def _named(self, name: str) -> _Corpus:
        if name in self._bundled_names():
            home = Home(self.root / "bundled" / name)
            return _Corpus(name, "bundled", self._bundled / name, home)
        place = self._mine / name
        entry = Entry.model_validate_json((place / "corpus.json").read_bytes())
        source = {"uploads": place / "sources", "pool": None}.get(
            entry.kind, None if entry.folder is None else Path(entry.folder)
        )
        return _Corpus(name, entry.kind, source, Home(place / "index"))

    def _find(self, name_or_path: str | Path, register: bool = False) -> _Corpus:
        """A corpus by its name, or by the path of its folder (``register``: adds that)."""
        name = str(name_or_path)
        known = [*self._bundled_names(), *self._own_names()]
        if name in known:
            with suppress(FileNotFoundError):  # deleted since it was listed
                return self._named(name)
        path = Path(name_or_path)
        if name and _is_folder(path):
            path = path.resolve()
            if path.parent == self._bundled.resolve() and path.name in self._bundled_names():
                return self._named(path.name)
            name = _folder_name(path)
            if name in self._own_names():
                return self._named(name)
            if register:
                return self._register(Entry(name=name, kind="folder", folder=str(path)))
            raise BadInput(f"The folder {path.name!r} is not indexed yet; index it first.")
        raise BadInput(unknown_name("corpus", printable(name), known))

    def _own(self, name: str, kind: Kind) -> _Corpus:
        """A corpus of this workspace and kind, made if there is none."""
        checked_slug(name, "corpus")
        if name in self._bundled_names():
            raise BadInput(f"{name!r} is a bundled corpus; choose another name.")
        if name not in self._own_names():
            return self._register(Entry(name=name, kind=kind))
        corpus = self._named(name)
        if corpus.kind != kind:
            raise BadInput(f"There is a corpus {name!r} of another kind; choose another name.")
        return corpus

    def _register(self, entry: Entry) -> _Corpus:
        place = self._mine / entry.name
        place.mkdir(parents=True, exist_ok=True)
        if entry.kind == "uploads":
            (place / "sources").mkdir(exist_ok=True)
        partial = place / "corpus.new"
        partial.write_text(entry.model_dump_json(), encoding="utf-8")
        partial.replace(place / "corpus.json")
        return self._named(entry.name)

    def _previous(self, corpus: _Corpus) -> Index | None:
        folder, manifest = corpus.home.current(), corpus.home.manifest()
        if folder is None or manifest is None:
            return None
        try:
            return Index(folder, manifest, self.embedder, self.stores)
        except RetrieverError:
            return None

    def _build(
        self,
        corpus: _Corpus,
        contents: Contents,
        tracker: Tracker,
        previous: Index | None,
        started: float,
    ) -> IndexReport:
        return build(corpus.home, contents, self.embedder, self.stores, tracker, previous, started)

    def _summary(self, corpus: _Corpus) -> CorpusSummary:
        return self._summaries.of(corpus.name, corpus.kind, corpus.home)

    def _pool_is_up_to_date(self, corpus: _Corpus) -> IndexReport:
        """A pool of passages has no files to read again; re-embed it if the embedder changed."""
        previous = self._previous(corpus)
        if previous is None:
            raise BadInput(f"{corpus.name!r} has no passages; load its question file again.")
        return self.index_passages(corpus.name, previous.passages())


def _adapters(
    embedder: Embedder | None, stores: VectorStores | None
) -> tuple[Embedder, VectorStores]:
    if embedder is None:
        from core.adapters.embeddings import SentenceEmbedder

        embedder = SentenceEmbedder()
    if stores is None:
        from core.adapters.chroma import ChromaStores

        stores = ChromaStores()
    return embedder, stores


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # such as a name that is too long
        return False


def _folder_name(path: Path) -> str:
    """The corpus name of a folder: its own, and a mark of where it is."""
    mark = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    base = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in path.name)
    return f"{base.strip('_-')[:50] or 'folder'}-{mark}"
