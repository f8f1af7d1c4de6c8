"""Bundled corpora as they are and transformed, behind the real retrieval and reasoner."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core import runs
from core.adapters.clock import SystemClock
from core.adapters.embeddings import SentenceEmbedder
from core.adapters.tokens import MiniLMTokens
from core.events import Step
from core.ports import Deps, TokenCounter
from core.reasoning.extractive.reasoner import ExtractiveReasoner
from core.registry import system
from core.retrieval.index import Index
from core.retrieval.library import BUNDLED, Library
from core.retrieval.vectors import Embedder
from core.systems.staterag.tam_graph import IndexGraph
from core.types import Access, Passage, digest
from tests.core.world import Kept

SYSTEMS = ("static", "iterative", "beliefrag", "ragx-lexical", "staterag")


@dataclass
class CachedEmbedder:
    """The packaged embedder; what it encoded once in this process it does not encode again."""

    real: SentenceEmbedder = field(default_factory=SentenceEmbedder)
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> str:
        return self.real.model

    @property
    def dimension(self) -> int:
        return self.real.dimension

    def encode(self, texts: Iterable[str]) -> Any:
        import numpy as np

        texts = list(texts)
        missing = [t for t in dict.fromkeys(texts) if t not in self.kept]
        self.kept.update(zip(missing, self.real.encode(missing), strict=True))
        rows = [self.kept[t] for t in texts]
        return np.stack(rows) if rows else self.real.encode([])


@cache
def embedder() -> CachedEmbedder:
    return CachedEmbedder()


@cache
def tokens() -> MiniLMTokens:
    return MiniLMTokens()


@dataclass(frozen=True)
class World:
    """An indexed corpus with the reasoner over it."""

    index: Index
    tokens: TokenCounter

    def deps(self, access: Access) -> Deps:
        return Deps(
            retriever=self.index.retriever(),
            reasoner=ExtractiveReasoner(self.index.text_view(), self.tokens),
            tokens=self.tokens,
            clock=SystemClock(),
            graph=IndexGraph.of(self.index),
            access=access,
        )

    def run(
        self, name: str, question: str, access: Access = Access(), **settings: Any
    ) -> list[Step]:
        chosen = system(name)
        spec = runs.RunSpec(chosen, question, chosen.settings(**settings))
        return list(runs.execute(spec, self.deps(access), Kept()))


def questions(corpus: str) -> list[dict[str, Any]]:
    text = (BUNDLED / corpus / "questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@cache
def passages(corpus: str) -> tuple[Passage, ...]:
    """The passages of a bundled corpus."""
    with TemporaryDirectory() as folder:
        library = Library(Path(folder), "tests", embedder())
        library.index(BUNDLED / corpus)
        return tuple(library.open(BUNDLED / corpus).passages())


def world(
    root: Path,
    held: Iterable[Passage],
    embed: Embedder | None = None,
    count: TokenCounter | None = None,
) -> World:
    """Index passages, which keep their ids, in a folder of their own."""
    library = Library(root, "tests", embed or embedder())
    library.index_passages("world", tuple(held))
    return World(library.open("world"), count or tokens())


def changed(passage: Passage, change: Callable[[str], str], **metadata: Any) -> Passage:
    """A passage with another title and text under the same id."""
    title, text = change(passage.title), change(passage.text)
    return passage.model_copy(
        update={
            "title": title,
            "text": text,
            "end": passage.start + len(text),
            "digest": digest(text),
            "metadata": passage.metadata.model_copy(update=metadata),
        }
    )
