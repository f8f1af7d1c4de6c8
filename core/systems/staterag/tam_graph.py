"""The TAM of an open index as runs use it (``graph.AbstractionMemory``)."""

from __future__ import annotations

import errno
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.errors import RetrieverError, RunCancelled, StaleIndex
from core.graph import GraphEdge, PathFacts, Spread
from core.retrieval.progress import Progress, Report
from core.systems.staterag import tam_store
from core.systems.staterag.tam import EVIDENCE, REGION_WIDTH, Tam, TamSettings
from core.systems.staterag.tam_build import TAM_VERSION, BuildPhase, build_tam
from core.systems.staterag.tam_view import TamView
from core.systems.staterag.tam_written import Written, write_abstractions
from core.types import Access, Scored, digest

if TYPE_CHECKING:
    from core.ports import Reasoner
    from core.retrieval.index import Index

VIEWS_KEPT = 8
LIKENESS = 0.5
"""Weight of a passage's own score for the query beside its link weight, in a region."""
POLL_SECONDS = 0.2
KEPT_EVERY = 20
"""After so many nodes what a model wrote is kept: a process that is killed loses no more."""


class IndexGraph:
    """The abstraction memory of one index, built when it is first asked for and then stored.

    Safe to use from several threads; of several processes, one builds and the others wait.
    """

    def __init__(self, index: Index, settings: TamSettings | None = None, seed: int = 0) -> None:
        self._index, self._settings, self._seed = index, settings or TamSettings(), seed
        self._lock = threading.RLock()
        self._tam: Tam | None = None
        self._views: OrderedDict[Access, TamView] = OrderedDict()

    @classmethod
    def of(cls, index: Index) -> IndexGraph:
        """The graph of an index under the default settings, one as long as it is open."""
        found: IndexGraph = index.companions.setdefault("graph", cls(index))
        return found

    @cached_property
    def digest(self) -> str:
        """Digest of the graph: of its passages, its settings and its seed."""
        version = self._index.corpus.version
        return digest([TAM_VERSION, version, self._settings.model_dump(), self._seed])

    @property
    def root(self) -> str:
        """Id of the ROOT node."""
        return f"root:{self.digest}"

    def tam(
        self,
        progress: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
        rebuild: bool = False,
    ) -> Tam:
        """The graph itself: as it was loaded or built before, or stored, or built now.

        ``progress`` is told how far a build is, in this thread; ``cancelled`` is asked now and
        then. ``rebuild``: whatever is stored is forgotten.

        Raises:
            StaleIndex: the stored one is refused, or the index was replaced meanwhile.
            RetrieverError: it cannot be stored.
            RunCancelled: building it was stopped; nothing is stored.
        """
        with self._lock:
            if self._tam is None or rebuild:
                self._views.clear()
                self._tam = self._obtained(_Steps(progress, cancelled), rebuild)
            return self._tam

    def stored(self) -> Tam | None:
        """The graph where it is there already; None where it has yet to be built, or is being
        built. Never waits for a build.

        Raises:
            StaleIndex: the stored one is refused.
        """
        if self._tam is None and self._lock.acquire(timeout=POLL_SECONDS):
            try:
                self._tam = self._tam or self._load()
            finally:
                self._lock.release()
        return self._tam

    def write(
        self,
        reasoner: Reasoner,
        progress: Report | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Written:
        """Have the abstractions of the graph written by a reasoner, and store them; the graph is
        built first where it is not there. What was written before is taken over.

        Raises:
            TaskUnsupported: the reasoner writes no abstractions.
            StaleIndex: the stored graph is refused, or the index was replaced meanwhile.
            RetrieverError: it cannot be stored.
            RunCancelled: it was stopped; the graph is as it was, what was written is kept.
        """
        step = _Steps(progress, cancelled)
        folder = self._index.folder
        with self._lock:
            tam = self.tam(progress, cancelled)
            with self._alone(step):
                known = tam_store.cached_texts(folder, "written")

                def told(done: int, total: int) -> None:
                    if done and done % KEPT_EVERY == 0:
                        tam_store.keep_texts(folder, known, "written")
                    step("abstracting", done, total)

                try:
                    tam, written = write_abstractions(
                        tam, self._index.passages(), reasoner, known, told
                    )
                finally:
                    tam_store.keep_texts(folder, known, "written")
                tam_store.save(tam, folder)
            self._views.clear()
            self._tam = tam
        return written

    def _obtained(self, step: _Steps, rebuild: bool) -> Tam:
        folder = self._index.folder
        if not rebuild and (stored := self._load()) is not None:
            return stored
        with self._alone(step):
            if rebuild:
                tam_store.remove(folder, self.digest)
            stored = self._load()
            return self._built(folder, step) if stored is None else stored

    @contextmanager
    def _alone(self, step: _Steps) -> Iterator[None]:
        """The only one, of all processes, who changes the stored graph.

        Raises:
            StaleIndex: the index was replaced meanwhile.
            RetrieverError: its folder cannot be written.
        """
        from filelock import FileLock, Timeout

        folder = self._index.folder
        if not folder.is_dir():
            raise _gone(self._index.corpus.id)
        lock = FileLock(folder / "tam.lock")
        try:
            while not lock.is_locked:
                step.check()
                with suppress(Timeout):
                    lock.acquire(timeout=POLL_SECONDS)
            yield
        except OSError as error:
            raise _not_stored(self._index.corpus.id, folder, error) from error
        finally:
            lock.release()

    def _load(self) -> Tam | None:
        index = self._index
        passages = index.passages()
        return tam_store.load(index.folder, self.digest, passages, index.corpus.id, self._seed)

    def _built(self, folder: Path, step: _Steps) -> Tam:
        tam, texts = build_tam(
            self._index.passages(),
            self._vectors,
            self._settings,
            self._seed,
            tam_store.cached_texts(folder),
            step,
            self.digest,
        )
        tam_store.save(tam, folder)
        tam_store.keep_texts(folder, texts)
        return tam

    def view(self, access: Access) -> TamView:
        """The graph as one asker sees it."""
        with self._lock:
            tam = self.tam()
            if access not in self._views:
                mask = self._index.allowed(access)
                passages = self._index.passages()
                self._views[access] = TamView(tam, passages, self._vectors, mask)
            self._views.move_to_end(access)
            while len(self._views) > VIEWS_KEPT:
                self._views.popitem(last=False)
            return self._views[access]

    @cached_property
    def _vectors(self) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return np.ascontiguousarray(self._index.passage_vectors())

    def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
        """Every edge out of nodes to children that hold an allowed passage, scored."""
        view = self.view(access)
        return view.edges(parents, view.scores(query, self._index.query_vector(query)))

    def facts(self, path: Sequence[str], access: Access) -> PathFacts:
        """What the graph holds of a path."""
        return self.view(access).facts(path)

    def texts(self, nodes: Sequence[str], access: Access) -> list[str]:
        """The abstraction of each node, from allowed passages alone."""
        view = self.view(access)
        return [view.text(node) for node in nodes]

    def spread(self, terms: Sequence[str], access: Access) -> Spread:
        """In how many allowed passages each term is found."""
        return self.view(access).spread(terms)

    def region(
        self, node: str, query: str, width: int = REGION_WIDTH, access: Access | None = None
    ) -> list[Scored]:
        """The passage of an EVIDENCE node and up to ``width - 1`` that it is linked to.

        Score: link weight (the passage itself 1) + ``LIKENESS`` (.5 cosine + .5 idf share of the
        query's terms). ``lexical`` is BM25, ``dense`` the cosine; ``calibrated`` is the mean of
        cosine and share.

        Raises:
            StaleIndex: there is no such EVIDENCE node, or ``access`` does not allow it.
        """
        access = access or Access()
        view, tam = self.view(access), self.tam()
        number = view.number.get(node)
        if number is None or tam.types[number] != EVIDENCE or not view.there[number]:
            raise StaleIndex(f"There is no EVIDENCE node {node!r} in this graph; navigate again.")
        own = number - tam.first_evidence
        rows, weights = tam.region(own)
        kept = view.there[tam.first_evidence + rows]
        rows = np.concatenate([[own], rows[kept]]).astype(np.int64)
        weights = np.concatenate([[1.0], weights[kept]])
        scores = view.scores(query, self._index.query_vector(query))
        nodes = tam.first_evidence + rows
        likeness = 0.5 * np.maximum(scores.dense[nodes], 0.0) + 0.5 * scores.lexical[nodes]
        total = (weights + LIKENESS * likeness).round(6)
        order = np.lexsort((rows, -total))
        chosen = [place for place in order if place][: max(width - 1, 0)]
        bm25 = self._index.lexical.scores(query)
        found = []
        for rank, place in enumerate(sorted([0, *chosen], key=lambda p: (-total[p], rows[p])), 1):
            row = int(rows[place])
            found.append(
                Scored(
                    passage=self._index.at(row),
                    score=float(total[place]),
                    calibrated=float(np.clip(likeness[place], 0.0, 1.0)),
                    rank=rank,
                    lexical=float(bm25[row]),
                    dense=float(scores.dense[nodes[place]]),
                )
            )
        return found


def _not_stored(corpus: str, folder: Path, error: OSError) -> RetrieverError:
    if not folder.is_dir():
        return _gone(corpus)
    if error.errno == errno.ENOSPC:
        return RetrieverError(
            "The disk is full, so the abstraction memory cannot be stored; free space and ask "
            "again.",
            code="disk_full",
        )
    return RetrieverError(
        f"The abstraction memory of {corpus!r} cannot be stored ({error.strerror}); make the data "
        "directory writable and ask again."
    )


def _gone(corpus: str) -> StaleIndex:
    return StaleIndex(f"The index of {corpus!r} was replaced meanwhile; ask again.")


class _Steps:
    """Tells how far a build is, and stops it when asked to."""

    def __init__(self, report: Report | None, cancelled: Callable[[], bool] | None) -> None:
        self._report, self._cancelled = report, cancelled
        self._phase: BuildPhase | None = None
        self._started = 0.0

    def check(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise RunCancelled("Building the abstraction memory was stopped; nothing was stored.")

    def __call__(self, phase: BuildPhase, done: int, total: int) -> None:
        self.check()
        if phase != self._phase:
            self._phase, self._started = phase, time.monotonic()
        if self._report is None:
            return
        seconds = time.monotonic() - self._started
        known = done > 0 and seconds > 0
        self._report(
            Progress(
                phase,
                done,
                total,
                rate=done / seconds if known else None,
                seconds_remaining=(total - done) * seconds / done if known else None,
            )
        )
