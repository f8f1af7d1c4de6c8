"""Scores of a channel on one scale: sigmoid((score - mu)/tau).

mu and tau are the median and IQR/1.349 of the top-5 scores of pseudo-queries, which are seeded
sentences of the corpus with their own passage left out (BeliefRAG, calibrated relevance). A high
value says that a passage scores like the best matches inside this corpus do.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np

from core.retrieval.sentences import sentence_spans
from core.retrieval.tokenizer import content_terms
from core.types import Finite, Frozen, Passage

QUERIES = 200
TOP = 5
SEED = 20_240_601
MIN_TERMS = 3
MAX_CHARACTERS = 400
_SMALLEST = 1e-9
_LARGEST_EXPONENT = 40.0


class Calibration(Frozen):
    """Location and scale of a channel's scores; the defaults are those of no data."""

    mu: Finite = 0.0
    tau: Finite = 1.0

    def __call__(self, score: float) -> float:
        """sigmoid((score - mu)/tau) in [0, 1]; a step at mu where tau is 0."""
        if abs(score - self.mu) <= _SMALLEST:
            return 0.5
        exponent = (score - self.mu) / max(self.tau, _SMALLEST)
        exponent = min(max(exponent, -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
        return 1.0 / (1.0 + math.exp(-exponent))


def fit(scores: Sequence[float]) -> Calibration:
    """Median and IQR/1.349 of the scores; the defaults where there is none."""
    if not len(scores):
        return Calibration()
    low, middle, high = np.quantile(np.asarray(scores, dtype=np.float64), (0.25, 0.5, 0.75))
    return Calibration(mu=float(middle), tau=float((high - low) / 1.349))


def pseudo_queries(passages: Sequence[Passage]) -> list[tuple[int, str]]:
    """Up to ``QUERIES`` sentences of the corpus as (row of its passage, sentence), one a passage.

    Drawn by seeded hashes of passage and sentence, so that the same corpus gives the same ones
    and a few new documents exchange only a few.
    """
    found: list[tuple[int, str]] = []
    for row in sorted(range(len(passages)), key=lambda row: _draw(passages[row].id)):
        if len(found) == QUERIES:
            break
        text = passages[row].text
        sentences = [text[start:end][:MAX_CHARACTERS] for start, end in sentence_spans(text)]
        for sentence in sorted(sentences, key=_draw):
            if len(set(content_terms(sentence))) >= MIN_TERMS:
                found.append((row, sentence))
                break
    return found


def _draw(text: str) -> bytes:
    return hashlib.sha256(f"{SEED} {text}".encode("utf-8", "surrogatepass")).digest()
