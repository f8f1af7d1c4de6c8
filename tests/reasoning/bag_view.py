"""A text view whose vectors are hashed bags of stems: deterministic, fast, and no model."""

from __future__ import annotations

import zlib

import numpy as np

from core.retrieval.textview import CorpusTextView
from core.retrieval.tokenizer import content_terms
from core.types import Passage, digest

DIMENSION = 256


def bag_vectors(texts):
    rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for term in content_terms(text):
            row[zlib.crc32(term.encode()) % DIMENSION] += 1.0
        norm = float(np.linalg.norm(row))
        if norm:
            row /= norm
    return rows


def passage(title: str, text: str) -> Passage:
    key = digest([title, text])
    return Passage(id=key, document=title, title=title, text=text, end=len(text), digest=key)


def view_of(*passages: Passage) -> CorpusTextView:
    return CorpusTextView(passages, bag_vectors)


class WordTokens:
    def count(self, text: str) -> int:
        return len(text.split())
