"""Ports that answer from a recorded run, and go live where the record is used up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.errors import JournalError, RagError, ReasonerError, RetrieverError, StaleIndex
from core.events import Port, Step
from core.graph import AbstractionMemory, Expansion, GraphEdge, NodeTexts, PathFacts, Region, Spread
from core.memory import Artifact, Memory, MemoryScope, Persisted, Recalled
from core.ports import CallContext, Clock, Deps, Reasoner, Reranker, Retriever, bound, follow
from core.responses import ReadResponse, RerankResponse, SearchResponse, parse_response
from core.tape import Tape, recorded_error
from core.tasks import Allowance, Performed, Rep, Req, Task
from core.trace import passages, start
from core.types import Access, Channel, CorpusRef, Passage, Scored, digest


class PlaybackRetriever:
    """Answers searches and reads from the record, then from ``inner``."""

    def __init__(self, inner: Retriever, tape: Tape, context: CallContext) -> None:
        self.inner, self.tape, self.context = inner, tape, context

    def bind(self, context: CallContext) -> PlaybackRetriever:
        """The same for one run."""
        return PlaybackRetriever(bound(self.inner, context), self.tape, context)

    @property
    def corpus(self) -> CorpusRef:
        """The live corpus."""
        return self.inner.corpus

    def search(self, query: str, k: int, channel: Channel, access: Access) -> list[Scored]:
        """The recorded hits, with the texts that the run has shown."""
        if self.tape.live:
            return self.inner.search(query, k, channel, access)
        response = self._response("search", SearchResponse)
        return [
            Scored(
                passage=self.tape.passage(hit.id),
                **hit.model_dump(exclude={"id", "title"}),
            )
            for hit in response.hits
        ]

    def read(self, passage_id: str, access: Access) -> Passage:
        """The recorded passage."""
        if self.tape.live:
            return self.inner.read(passage_id, access)
        return self.tape.passage(self._response("read", ReadResponse).ids[0])

    def neighbours(self, passage_id: str, width: int, access: Access) -> list[Passage]:
        """The recorded passages."""
        if self.tape.live:
            return self.inner.neighbours(passage_id, width, access)
        return [self.tape.passage(i) for i in self._response("neighbours", ReadResponse).ids]

    def _response(self, task: str, kind: type[Any]) -> Any:
        return _recorded(self.tape, "retriever", task, kind, RetrieverError, self.context)


class PlaybackGraph:
    """Edges, paths and regions from the record, then from ``inner``."""

    def __init__(self, inner: AbstractionMemory | None, tape: Tape, context: CallContext) -> None:
        self.inner, self.tape, self.context = inner, tape, context

    def bind(self, context: CallContext) -> PlaybackGraph:
        """The same for one run."""
        return PlaybackGraph(bound(self.inner, context), self.tape, context)

    @property
    def digest(self) -> str:
        """The live graph's digest; of nothing where it is gone."""
        return self.inner.digest if self.inner else ""

    @property
    def root(self) -> str:
        """The root that the recorded search started from, then the live one."""
        recorded = None if self.tape.live else self.tape.root()
        return recorded or self._live().root

    def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
        """The recorded edges."""
        if self.tape.live:
            return self._live().expand(query, parents, access)
        return list(self._response("expand", Expansion).edges)

    def facts(self, path: Sequence[str], access: Access) -> PathFacts:
        """The recorded facts of a path."""
        if self.tape.live:
            return self._live().facts(path, access)
        facts: PathFacts = self._response("path", PathFacts)
        follow(self.inner, "path", path)
        return facts

    def texts(self, nodes: Sequence[str], access: Access) -> list[str]:
        """The recorded abstractions."""
        if self.tape.live:
            return self._live().texts(nodes, access)
        found: NodeTexts = self._response("texts", NodeTexts)
        texts = dict(found.nodes)
        return [texts.get(node, "") for node in nodes]

    def spread(self, terms: Sequence[str], access: Access) -> Spread:
        """The recorded counts."""
        if self.tape.live:
            return self._live().spread(terms, access)
        found: Spread = self._response("spread", Spread)
        return found

    def region(self, node: str, query: str, width: int, access: Access) -> list[Scored]:
        """The recorded region, with the texts that the run has shown."""
        if self.tape.live:
            return self._live().region(node, query, width, access)
        region: Region = self._response("region", Region)
        follow(self.inner, "region", node)
        return [
            Scored(
                passage=self.tape.passage(hit.id),
                calibrated=0.0,
                rank=rank,
                **hit.model_dump(exclude={"id", "title"}),
            )
            for rank, hit in enumerate(region.hits, 1)
        ]

    def _live(self) -> AbstractionMemory:
        if self.inner is None:
            raise StaleIndex("The corpus is gone; index it again to navigate it.")
        return self.inner

    def _response(self, task: str, kind: type[Any]) -> Any:
        return _recorded(self.tape, "retriever", task, kind, RetrieverError, self.context)


class PlaybackMemory:
    """What was recalled and persisted from the record, then from ``inner``."""

    def __init__(self, inner: Memory, tape: Tape, context: CallContext) -> None:
        self.inner, self.tape, self.context = inner, tape, context

    def bind(self, context: CallContext) -> PlaybackMemory:
        """The same for one run."""
        return PlaybackMemory(bound(self.inner, context), self.tape, context)

    def open(self, scope: MemoryScope) -> PlaybackMemory:
        """The same over a scope of the live store."""
        return PlaybackMemory(self.inner.open(scope), self.tape, self.context)

    @property
    def digest(self) -> str:
        """The live snapshot's digest."""
        return self.inner.digest

    def entries(self) -> Sequence[Artifact]:
        """The recorded artifacts, which are those that mattered to the question."""
        if self.tape.live:
            return self.inner.entries()
        recalled = _recorded(self.tape, "memory", "recall", Recalled, JournalError, self.context)
        artifacts: tuple[Artifact, ...] = recalled.artifacts
        return artifacts

    def persist(self, artifacts: Sequence[Artifact], used: Sequence[str]) -> Persisted:
        """What was kept then; nothing is kept anew."""
        if self.tape.live:
            return self.inner.persist(artifacts, used)
        kept: Persisted = _recorded(
            self.tape, "memory", "persist", Persisted, JournalError, self.context
        )
        return kept


def _recorded(
    tape: Tape,
    port: Port,
    task: str,
    kind: type[Any],
    failure: type[RagError],
    context: CallContext,
) -> Any:
    called, _ = tape.called(port, task, None, context)
    if called.error is not None:
        raise recorded_error(failure, called.error)
    value = parse_response(port, task, called.response)
    assert isinstance(value, kind)
    return value


class PlaybackReranker:
    """Scores from the record, then from ``inner``."""

    def __init__(self, inner: Reranker | None, tape: Tape, context: CallContext) -> None:
        self.inner, self.tape, self.context = inner, tape, context

    def bind(self, context: CallContext) -> PlaybackReranker:
        """The same for one run."""
        return PlaybackReranker(self.inner, self.tape, context)

    def check(self, model: str) -> None:
        """Nothing to check before the record is used up."""
        if self.tape.live and self.inner is not None:
            self.inner.check(model)

    def scores(self, model: str, query: str, passages: Sequence[Passage]) -> list[float]:
        """The recorded scores.

        Raises:
            RetrieverError: the recorded failure, or the record is used up and there is no model.
        """
        if self.tape.live:
            if self.inner is None:
                raise RetrieverError("There is no reranker here; choose another variant.")
            return self.inner.scores(model, query, passages)
        value = _recorded(
            self.tape, "retriever", "rerank", RerankResponse, RetrieverError, self.context
        )
        return list(value.scores)


class ShownPassages:
    """A retriever for a run whose corpus is gone: it reads what the run has shown, and says that
    nothing can be searched."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.corpus = start(steps).corpus
        self._passages = passages(steps)

    def search(self, query: str, k: int, channel: Channel, access: Access) -> list[Scored]:
        """Nothing can be searched.

        Raises:
            StaleIndex: always.
        """
        raise StaleIndex(f"The corpus {self.corpus.id!r} is gone; index it again to search it.")

    def read(self, passage_id: str, access: Access) -> Passage:
        """A passage that the run has shown.

        Raises:
            StaleIndex: it has shown none of that id, or ``access`` does not allow it.
        """
        passage = self._passages.get(passage_id)
        if passage is None or not access.allows(passage.metadata):
            raise StaleIndex(f"The run has shown no passage {passage_id}.")
        return passage

    def neighbours(self, passage_id: str, width: int, access: Access) -> list[Passage]:
        """None: the document is gone."""
        return []


class PlaybackReasoner:
    """Replies from the record, then from ``inner``; its tokens are always counted by ``inner``."""

    def __init__(self, inner: Reasoner, tape: Tape, context: CallContext) -> None:
        self.inner, self.tape, self.context = inner, tape, context

    def bind(self, context: CallContext) -> PlaybackReasoner:
        """The same for one run."""
        return PlaybackReasoner(bound(self.inner, context), self.tape, context)

    @property
    def name(self) -> str:
        """The live reasoner's name."""
        return self.inner.name

    @property
    def model(self) -> str | None:
        """The live reasoner's model."""
        return self.inner.model

    def tokens_in(self, task: Task[Req, Rep], request: Req) -> int:
        """As the live reasoner counts."""
        return self.inner.tokens_in(task, request)

    def perform(self, task: Task[Req, Rep], request: Req, allowance: Allowance) -> Performed[Rep]:
        """The recorded reply or error."""
        if self.tape.live:
            return self.inner.perform(task, request, allowance)
        called, model_calls = self.tape.called("reasoner", task.name, digest(request), self.context)
        follow(self.inner, task.name)
        if called.error is not None:
            failure = recorded_error(ReasonerError, called.error)
            failure.model_calls = model_calls
            raise failure
        return Performed(task.reply.model_validate(called.response), model_calls)


class PlaybackClock:
    """Stands at the recorded time during playback, and goes on from there."""

    def __init__(self, inner: Clock, tape: Tape) -> None:
        self.inner, self.tape = inner, tape
        self._offset: float | None = None

    def now(self) -> Any:
        """The real time."""
        return self.inner.now()

    def monotonic(self) -> float:
        """Seconds since the start of the run, recorded ones included."""
        if not self.tape.live:
            return self.tape.elapsed()
        if self._offset is None:
            self._offset = self.tape.elapsed() - self.inner.monotonic()
        return self.inner.monotonic() + self._offset


def played(deps: Deps, tape: Tape, access: Access, memory: Memory) -> Deps:
    """The ports of a rerun: each answers from the tape, and then goes on by ``deps``, in memory by
    ``memory``."""
    return replace(
        deps,
        graph=PlaybackGraph(deps.graph, tape, CallContext()),
        memory=PlaybackMemory(memory, tape, CallContext()),
        retriever=PlaybackRetriever(deps.retriever, tape, CallContext()),
        reasoner=PlaybackReasoner(deps.reasoner, tape, CallContext()),
        reranker=PlaybackReranker(deps.reranker, tape, CallContext()),
        clock=PlaybackClock(deps.clock, tape),
        access=access,
    )
