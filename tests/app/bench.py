"""A workbench with fakes at its ports: cheap vectors, and a reasoner whose verdicts are listed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.adapters.embeddings import SentenceEmbedder
from core.ports import FloatArray, Reasoner
from core.retrieval.index import Index
from core.retrieval.tokenizer import terms
from core.tasks import Allowance, Performed, Verification
from core.wiring import Workbench
from tests.app.recorded import Judge, Words

DIMENSION = 64


class CheapEmbedder(SentenceEmbedder):
    """Words hashed into a few buckets: deterministic unit vectors without a model."""

    def __init__(self) -> None:
        super().__init__("cheap")

    def load(self) -> Any:
        return self

    @property
    def dimension(self) -> int:
        return DIMENSION

    def encode(self, texts: Sequence[str]) -> FloatArray:
        vectors = np.full((len(texts), DIMENSION), 0.01, dtype=np.float32)
        for row, text in enumerate(texts):
            for term in terms(text):
                vectors[row, hashlib.sha1(term.encode()).digest()[0] % DIMENSION] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Reader(Judge):
    """Reads the first sentence of the passage that shares most words with the question."""

    def perform(self, task: Any, request: Any, allowance: Allowance) -> Performed[Any]:
        if task.name in ("answer", "compose"):
            self.wait()
            return Performed(_first_sentence(request))
        return super().perform(task, request, allowance)


def _first_sentence(request: Any) -> Any:
    from core.tasks import Reading, Support

    wanted = set(terms(request.question))
    if not request.passages:
        return Reading(answer="")
    best = max(request.passages, key=lambda p: len(wanted & set(terms(p.text))))
    end = best.text.find(".") + 1 or len(best.text)
    span = Support(passage_id=best.id, start=0, end=end)
    return Reading(answer=best.text[:end][:120], supports=(span,), confidence=0.7)


@dataclass
class FakeBench(Workbench):
    """Everything real but the embedder, the tokenizer and the reasoner."""

    embedder: SentenceEmbedder = field(default_factory=CheapEmbedder)
    tokens: Any = field(default_factory=Words)
    verdicts: tuple[Verification, ...] = Judge.verdicts
    wait: Callable[[], None] = lambda: None

    def reasoner(
        self,
        index: Index,
        model: str = "extractive",
        api_key: str | None = None,
        api_base: str | None = None,
    ) -> Reasoner:
        return Reader(verdicts=self.verdicts, wait=self.wait)
