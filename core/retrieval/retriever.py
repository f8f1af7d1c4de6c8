"""Search, read and neighbours over an open index: ``ports.Retriever``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.errors import StaleIndex
from core.retrieval.fusion import DEPTH, reciprocal_rank
from core.retrieval.lexical import Mask, Rows, Scores, best, ranked
from core.types import Access, Channel, CorpusRef, Passage, Scored

if TYPE_CHECKING:
    from core.retrieval.index import Index


class IndexRetriever:
    """``ports.Retriever`` over one index. What ``access`` hides is cut before ranks are given."""

    def __init__(self, index: Index) -> None:
        self._index = index

    @property
    def corpus(self) -> CorpusRef:
        """Which corpus, in which state."""
        return self._index.corpus

    def only_words_differ(self, version: str) -> bool:
        """Whether the corpus of that version is this one, cut into words by an older release."""
        return self._index.only_words_differ(version)

    def search(self, query: str, k: int, channel: Channel, access: Access) -> list[Scored]:
        """The best ``k`` passages that ``access`` allows, best first, ties by passage id.

        A lexical hit shares a term with the query. Fused hits come from the best ``DEPTH`` of
        each channel and carry both channels' own scores, a lexical one of 0 where no term is
        shared.
        """
        allowed = self._index.allowed(access)
        if k <= 0 or not query.strip():
            return []
        if channel == "lexical":
            scores = self._index.lexical.scores(query)
            rows = best(scores, k, allowed)
            return self._hits(channel, rows, scores[rows], lexical=scores[rows])
        if channel == "dense":
            rows, cosines = self._dense(query, k, allowed)
            return self._hits(channel, rows, cosines, dense=cosines)
        return self._fused(query, k, allowed)

    def _fused(self, query: str, k: int, allowed: Mask | None) -> list[Scored]:
        lexical = self._index.lexical.scores(query)
        dense_rows, _ = self._dense(query, DEPTH, allowed)
        lists = [best(lexical, DEPTH, allowed).tolist(), dense_rows.tolist()]
        fused = reciprocal_rank(lists)[:k]
        rows = np.array([row for row, _ in fused], dtype=np.intp)
        cosines = self._index.dense.cosines(self._index.query_vector(query), rows)
        return self._hits(
            "fused",
            rows,
            np.array([score for _, score in fused]),
            lexical=lexical[rows],
            dense=cosines,
        )

    def _dense(self, query: str, k: int, allowed: Mask | None) -> tuple[Rows, Scores]:
        dense = self._index.dense
        if not dense.size or (allowed is not None and not allowed.any()):
            return np.zeros(0, dtype=np.intp), np.zeros(0)
        vector = self._index.query_vector(query)
        candidates = dense.candidates(vector, k, allowed)
        cosines = dense.cosines(vector, candidates)
        chosen = ranked(cosines, np.arange(len(candidates)), k)
        return candidates[chosen], cosines[chosen]

    def _hits(
        self,
        channel: Channel,
        rows: Rows,
        scores: Scores,
        lexical: Scores | None = None,
        dense: Scores | None = None,
    ) -> list[Scored]:
        calibrated = self._index.manifest.calibration[channel]
        return [
            Scored(
                passage=self._index.at(int(row)),
                score=float(scores[i]),
                calibrated=calibrated(float(scores[i])),
                rank=i + 1,
                lexical=None if lexical is None else float(lexical[i]),
                dense=None if dense is None else float(dense[i]),
            )
            for i, row in enumerate(rows)
        ]

    def read(self, passage_id: str, access: Access) -> Passage:
        """One passage whole.

        Raises:
            StaleIndex: there is none of that id, or ``access`` does not allow it.
        """
        return self._index.at(self._row(passage_id, access))

    def neighbours(self, passage_id: str, width: int, access: Access) -> list[Passage]:
        """Up to ``width`` passages on either side in the same document, in document order,
        without the passage itself.

        Raises:
            StaleIndex: there is none of that id, or ``access`` does not allow it.
        """
        row = self._row(passage_id, access)
        rows = self._index.rows_of_document(self._index.at(row).document)
        place = rows.index(row)
        around = rows[max(0, place - width) : place] + rows[place + 1 : place + 1 + width]
        passages = [self._index.at(other) for other in around]
        return [passage for passage in passages if access.allows(passage.metadata)]

    def _row(self, passage_id: str, access: Access) -> int:
        row = self._index.row(passage_id)
        if row is None or not access.allows(self._index.at(row).metadata):
            raise StaleIndex(f"There is no passage {passage_id!r} in this corpus; search again.")
        return row
