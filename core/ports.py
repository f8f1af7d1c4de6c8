"""Protocols between controllers and the world, and the bundle of them that a run acts on.

``Reasoner.perform`` is the one way to ask for language work of any kind (``tasks``); wrappers
(faults, playback, per-role choice) therefore need one method. Every call of a port is journaled
as ``Called``, with a response that ``responses.parse_response`` reads back, so that a recorded run
can stand in for the port (``playback``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from core.budget import Ledger
from core.events import FaultInjected, Step, Warned
from core.graph import AbstractionMemory
from core.memory import Memory, MemoryMode, MemoryScope, NoMemory
from core.tasks import Allowance, Performed, Rep, Req, Task
from core.types import Access, Budgets, Channel, CorpusRef, Passage, Scored

FloatArray = npt.NDArray[np.float32]


class Clock(Protocol):
    """Time, injectable so that tests need no sleep."""

    def now(self) -> Any:
        """The current UTC time, a timezone-aware ``datetime``."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""


class TokenCounter(Protocol):
    """Counts tokens of a text by one local tokenizer, the same for every reasoner."""

    def count(self, text: str) -> int:
        """Number of tokens, without special tokens; 0 for the empty text."""


class Retriever(Protocol):
    """Search over one corpus."""

    @property
    def corpus(self) -> CorpusRef:
        """Which corpus, in which state."""

    def search(self, query: str, k: int, channel: Channel, access: Access) -> list[Scored]:
        """The best ``k`` passages that ``access`` allows, best first, ties by passage id.

        Zero-score lexical hits are no hits, so fewer than ``k`` may come back.

        Raises:
            RetrieverError: the index cannot answer (timeout, stale, mismatch).
        """

    def read(self, passage_id: str, access: Access) -> Passage:
        """One passage whole.

        Raises:
            StaleIndex: there is none of that id, or ``access`` does not allow it.
        """

    def neighbours(self, passage_id: str, width: int, access: Access) -> list[Passage]:
        """Up to ``width`` passages on either side in the same document, in document order."""


class Reranker(Protocol):
    """Cross-encoders, by name or path."""

    def check(self, model: str) -> None:
        """Load a model, or say why it cannot be.

        Raises:
            BadInput: there is no such model here; says what to do.
        """

    def scores(self, model: str, query: str, passages: Sequence[Passage]) -> list[float]:
        """How relevant each passage is to the query, higher is better, in the model's own scale.

        Raises:
            RetrieverError: the model failed.
        """


class Reasoner(Protocol):
    """Whatever does the language work."""

    @property
    def name(self) -> str:
        """``extractive``, ``llm``, ``scripted``, ``playback``."""

    @property
    def model(self) -> str | None:
        """The model string, or None where there is no model."""

    def tokens_in(self, task: Task[Req, Rep], request: Req) -> int:
        """Tokens that ``perform`` would give to the reasoner at the first attempt."""

    def perform(self, task: Task[Req, Rep], request: Req, allowance: Allowance) -> Performed[Rep]:
        """Do the work.

        Raises:
            ReasonerError: typed failure; ``model_calls`` on the error tells what was spent.
        """


class TextView(Protocol):
    """What the extractive reasoner reads of an index: cached vectors and corpus statistics."""

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension)."""

    def sentence_vectors(self, passage: Passage) -> tuple[tuple[tuple[int, int], ...], FloatArray]:
        """Character spans of the passage's sentences and the unit vectors of "title. sentence",
        shape (sentences, dimension); from the index's cache where it holds the passage."""

    def idf(self, term: str) -> float:
        """ln(1 + (N - df + .5)/(df + .5)) of an index term; highest for an unseen one."""

    def alias_count(self, alias: str) -> int:
        """How many passages have a title with this (normalised) alias; 0 for no title."""

    def titles_in(self, text: str) -> list[tuple[int, int, str]]:
        """Titles of the corpus mentioned in a text: (start, end, alias), longest match."""


class Recorder(Protocol):
    """Where steps go before anyone sees them (``journal.Journal`` is one)."""

    def append(self, steps: list[Step]) -> None:
        """Keep these steps durably, all or none.

        Raises:
            JournalError: they could not be kept.
        """


@dataclass(slots=True)
class CallContext:
    """The stage of the port call under way, and what port wrappers have to say of it.

    Steps set ``stage`` before a call and journal ``notices`` after it; fault wrappers read the
    one and leave the other. ``seq`` is that of the newest step of the run, -1 before the first.
    """

    stage: str = ""
    seq: int = -1
    notices: list[FaultInjected | Warned] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Deps:
    """All that a controller may act on; passed in, never global.

    ``stage`` is set by ``steps.stage``; ``ledger`` and ``context`` belong to one run
    (``for_run`` makes them fresh).
    """

    retriever: Retriever
    reasoner: Reasoner
    tokens: TokenCounter
    clock: Clock
    memory: Memory = field(default_factory=NoMemory)
    reranker: Reranker | None = None
    graph: AbstractionMemory | None = None
    access: Access = field(default_factory=Access)
    ledger: Ledger = field(default_factory=Ledger)
    context: CallContext = field(default_factory=CallContext)
    stage: str = "run"

    def for_run(self, budgets: Budgets, memory: MemoryMode = "isolated") -> Deps:
        """The same ports with a new ledger and context, for one run.

        Only a run whose ``memory`` is shared sees the pool's global store.
        A port that keeps something of a run (a wrapper) offers ``bind(context)``, which gives
        the port to use in that run.
        """
        context = CallContext()
        scope = MemoryScope.of(self.retriever.corpus, self.access)
        pool = bound(self.memory, context).open(scope) if memory == "shared" else NoMemory()
        return replace(
            self,
            memory=pool,
            ledger=Ledger(budgets, self.clock.monotonic),
            context=context,
            retriever=bound(self.retriever, context),
            reasoner=bound(self.reasoner, context),
            reranker=bound(self.reranker, context),
            graph=bound(self.graph, context),
        )


PortT = TypeVar("PortT")


def follow(port: object, task: str, *asked: object) -> None:
    """Tell a port of a call that a record has answered in its stead, where that changes what it
    will answer later: ``port.follow(task, *asked)`` where it offers that."""
    told: Callable[..., None] | None = getattr(port, "follow", None)
    if told is not None:
        told(task, *asked)


def bound(port: PortT, context: CallContext) -> PortT:
    """The port for one run: ``port.bind(context)`` where it offers that, else itself."""
    bind: Callable[[CallContext], PortT] | None = getattr(port, "bind", None)
    return port if bind is None else bind(context)
