"""The only place that knows the adapters: builds what a run acts on.

A :class:`Workbench` is one workspace of one data directory: its corpora, its journal, and the
ports for a run over one of its corpora.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from platformdirs import user_data_path

from core.adapters.clock import SystemClock
from core.adapters.embeddings import SentenceEmbedder
from core.adapters.memory_store import MemoryPool
from core.adapters.reranker import CrossEncoderReranker
from core.adapters.tokens import MiniLMTokens
from core.journal import Journal
from core.memory import DeferredMemory
from core.ports import Clock, Deps, Reasoner, Reranker, TokenCounter
from core.retrieval.index import Index
from core.retrieval.library import Library
from core.types import Access

EXTRACTIVE = "extractive"
SHARED_WORKSPACE = "shared"


def data_dir() -> Path:
    """Where corpora and runs are kept: ``RAG_INSPECTOR_DATA``, or the user's data directory."""
    configured = os.environ.get("RAG_INSPECTOR_DATA")
    return Path(configured) if configured else user_data_path("rag-inspector", appauthor=False)


@dataclass
class Workbench:
    """One workspace: its corpora, its journal, and the ports for its runs."""

    root: Path = field(default_factory=data_dir)
    workspace: str = SHARED_WORKSPACE
    journal_dir: Path | None = None
    embedder: SentenceEmbedder = field(default_factory=SentenceEmbedder)
    tokens: TokenCounter = field(default_factory=MiniLMTokens)
    clock: Clock = field(default_factory=SystemClock)
    reranker: Reranker = field(default_factory=CrossEncoderReranker)

    @cached_property
    def library(self) -> Library:
        """The corpora of this workspace and the bundled ones."""
        return Library(self.root, self.workspace, self.embedder)

    @cached_property
    def journal(self) -> Journal:
        """The runs of this workspace (``DATABASE_URL`` where set)."""
        place = os.environ.get("DATABASE_URL") if self.journal_dir is None else None
        return Journal(place or self.journal_dir or self.root, self.workspace)

    @cached_property
    def memory(self) -> MemoryPool:
        """The shared memory pool of this workspace, beside its runs."""
        return self.journal.memory()

    def deps(
        self,
        corpus: str,
        model: str = EXTRACTIVE,
        access: Access | None = None,
        api_key: str | None = None,
        api_base: str | None = None,
    ) -> Deps:
        """Ports for runs over a corpus that is indexed.

        Raises:
            BadInput: no such corpus, not indexed yet, or a model that cannot be used.
        """
        index = self.library.open(corpus)
        return self.deps_over(index, model, access, api_key, api_base)

    def deps_over(
        self,
        index: Index,
        model: str = EXTRACTIVE,
        access: Access | None = None,
        api_key: str | None = None,
        api_base: str | None = None,
    ) -> Deps:
        """Ports for runs over an open index. Its abstraction memory is built when it is first
        asked for."""
        from core.systems.staterag.tam_graph import IndexGraph

        return Deps(
            retriever=index.retriever(),
            reasoner=self.reasoner(index, model, api_key, api_base),
            tokens=self.tokens,
            clock=self.clock,
            reranker=self.reranker,
            graph=IndexGraph.of(index),
            memory=DeferredMemory(lambda scope: self.memory.open(scope)),
            access=access or Access(),
        )

    def reasoner(
        self,
        index: Index,
        model: str = EXTRACTIVE,
        api_key: str | None = None,
        api_base: str | None = None,
    ) -> Reasoner:
        """Who does the language work over an index: ``extractive``, a language model as litellm
        names it, or one for all tasks and others by task (``extractive, verify=openai/...``).

        Raises:
            BadInput: a model that cannot be used (no key, no such model, its server is down).
        """
        from core.reasoning.by_role import RoleReasoner, parse_choice

        default, by_task = parse_choice(model)
        made = {
            name: self._reasoner(index, name, api_key, api_base)
            for name in dict.fromkeys((default, *by_task.values()))
        }
        if not by_task:
            return made[default]
        return RoleReasoner({task: made[name] for task, name in by_task.items()}, made[default])

    def _reasoner(
        self, index: Index, model: str, api_key: str | None, api_base: str | None
    ) -> Reasoner:
        if model == EXTRACTIVE:
            from core.reasoning.extractive.reasoner import ExtractiveReasoner

            return ExtractiveReasoner(index.text_view(), self.tokens)
        from core.adapters.model_check import check_model
        from core.reasoning.llm.reasoner import LLMReasoner

        check_model(model, api_key, api_base)
        return LLMReasoner.for_model(model, self.tokens, api_key, api_base)
