"""The lexical channel: BM25 over "title, newline, text".

score(q, p) = sum over the terms t of q of idf(t) tf/(tf + k1 (1 - b + b len/avglen)), with
idf(t) = ln(1 + (N - df + .5)/(df + .5)) (Robertson and Zaragoza 2009, in Lucene's form).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.retrieval.tokenizer import content_terms, terms
from core.types import Passage

K1 = 0.9
B = 0.4

Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


def indexed_text(passage: Passage) -> str:
    """What both channels index of a passage."""
    return f"{passage.title}\n{passage.text}"


def query_terms(query: str) -> list[str]:
    """The distinct terms of a query in order, without stop words unless it has no other.

    Stop words stay in the index, for queries like "The Who"; in longer ones they only add noise
    (all-gold at 20 of 50 development questions of MuSiQue: .46 without, .44 with).
    """
    return list(dict.fromkeys(content_terms(query) or terms(query)))


class LexicalIndex:
    """BM25 scores of passages by row; where passages tie, the lower row comes first."""

    def __init__(self, bm25: Any, size: int, *, documents: npt.NDArray[np.int64]) -> None:
        """``bm25`` is None where no passage has a term; ``documents``: df of each vocabulary
        entry, in the order of its number."""
        self._bm25, self.size, self._df = bm25, size, documents

    @classmethod
    def build(cls, texts: Iterable[str]) -> LexicalIndex:
        """Index texts, one row each."""
        tokens = [terms(text) for text in texts]
        vocabulary = {term: n for n, term in enumerate(sorted({t for row in tokens for t in row}))}
        if not vocabulary:
            return cls(None, len(tokens), documents=np.zeros(0, dtype=np.int64))
        import bm25s

        bm25 = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64", int_dtype="int32")
        ids = [[vocabulary[term] for term in row] for row in tokens]
        bm25.index((ids, vocabulary), create_empty_token=False, show_progress=False)
        return cls(bm25, len(tokens), documents=np.diff(bm25.scores["indptr"]))

    def save(self, folder: Path) -> None:
        """Write the index into a folder; arrays and JSON only."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "size.json").write_text(json.dumps(self.size), encoding="ascii")
        if self._bm25 is not None:
            self._bm25.save(folder, show_progress=False)

    @classmethod
    def open(cls, folder: Path) -> LexicalIndex:
        """Read what ``save`` wrote.

        Raises:
            OSError, ValueError: it is not there or damaged.
        """
        size = int(json.loads((folder / "size.json").read_text(encoding="ascii")))
        if not (folder / "vocab.index.json").exists():
            return cls(None, size, documents=np.zeros(0, dtype=np.int64))
        import bm25s

        bm25 = bm25s.BM25.load(folder, show_progress=False, load_corpus=False, allow_pickle=False)
        if bm25.scores["num_docs"] != size:
            raise ValueError("the lexical index is damaged")
        return cls(bm25, size, documents=np.diff(bm25.scores["indptr"]))

    def scores(self, query: str) -> Scores:
        """The score of every row, shape (size,); 0 where no ``query_terms`` term occurs."""
        if self._bm25 is None:
            return np.zeros(self.size)
        vocabulary: dict[str, int] = self._bm25.vocab_dict
        numbers = [vocabulary[t] for t in query_terms(query) if t in vocabulary]
        if not numbers:
            return np.zeros(self.size)
        scores: Scores = self._bm25.get_scores_from_ids(numbers)
        return scores

    def frequencies(self) -> dict[str, int]:
        """How many rows each term occurs in."""
        if self._bm25 is None:
            return {}
        counts = self._df.tolist()
        return {term: counts[number] for term, number in self._bm25.vocab_dict.items()}


def idf(size: int, frequency: int) -> float:
    """ln(1 + (N - df + .5)/(df + .5)) for N = ``size`` passages."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def best(scores: Scores, k: int, allowed: Mask | None = None) -> Rows:
    """Rows of the ``k`` highest positive scores among the allowed, best first, ties by row."""
    if allowed is not None:
        scores = np.where(allowed, scores, 0.0)
    hits = np.flatnonzero(scores > 0)
    return ranked(scores, hits, k)


def ranked(scores: Scores, rows: Rows, k: int) -> Rows:
    """The ``k`` of ``rows`` (ascending) with the highest ``scores[row]``, best first, ties by
    row."""
    if k <= 0:
        return rows[:0]
    if len(rows) > k:
        values = scores[rows]
        least = np.partition(values, len(rows) - k)[len(rows) - k]
        rows = rows[values >= least]
    return rows[np.lexsort((rows, -scores[rows]))][:k]
