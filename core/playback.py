"""Ports that answer from a recorded run, and what is built on them: fork and resume.

A controller is run again. As long as it does what was recorded, its calls are answered from the
record and the steps that come out are compared with it; then the ports go live. Nothing of a run
that comes out otherwise is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from core import contracts, faults, runs
from core.errors import (
    BadInput,
    JournalError,
    RagError,
    ReasonerError,
    RetrieverError,
    StaleIndex,
)
from core.events import (
    Called,
    Origin,
    ParentStep,
    Port,
    RunFinished,
    RunStarted,
    Step,
    Warned,
)
from core.faults import Fault
from core.graph import (
    AbstractionMemory,
    Expansion,
    GraphEdge,
    NodeTexts,
    PathFacts,
    Region,
    Spread,
)
from core.journal import Journal
from core.memory import Artifact, Memory, MemoryScope, NoMemory, Persisted, Recalled
from core.ports import CallContext, Clock, Deps, Reasoner, Reranker, Retriever, bound
from core.registry import system
from core.responses import ReadResponse, RerankResponse, SearchResponse, parse_response
from core.settings import SystemSettings
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
        return [
            Scored(
                passage=self.tape.passage(hit.id),
                calibrated=0.0,
                rank=rank,
                **hit.model_dump(exclude={"id", "title"}),
            )
            for rank, hit in enumerate(self._response("region", Region).hits, 1)
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


class _Recorder:
    """Compares what the rerun repeats, and keeps the rest. ``copy``: what is repeated is kept too,
    in one piece and not before all of it came out the same."""

    def __init__(self, journal: runs.Recorder, tape: Tape, *, copy: bool) -> None:
        self.journal, self.tape, self.copy = journal, tape, copy
        self.waiting: list[Step] = []
        self.ready: list[Step] = []

    def append(self, steps: list[Step]) -> None:
        if self.tape.error is not None:
            raise self.tape.error
        kept = list(self.waiting)
        for step in steps:
            if self.tape.live:
                kept.append(step)
                continue
            step = self.tape.accept(step)
            if self.copy:
                kept.append(step)
        if self.tape.live and kept:
            self.journal.append(kept)
            self.ready += kept
            kept = []
        self.waiting = kept

    def publish(self, executed: Iterator[Step]) -> Iterator[Step]:
        """The steps as they were kept, each after that."""
        for _ in executed:
            ready, self.ready = self.ready, []
            yield from ready


def _played(deps: Deps, tape: Tape, access: Access, memory: Memory) -> Deps:
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


def fork(
    steps: Sequence[Step],
    at_seq: int,
    deps: Deps,
    journal: runs.Recorder,
    *,
    settings: SystemSettings | None = None,
    run_id: str | None = None,
    origin: Origin = "fork",
    chosen_faults: tuple[Fault, ...] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Step]:
    """A new run that repeats a recorded one up to and including step ``at_seq`` and then goes its
    own way, under ``settings`` or the recorded ones. It recalls what the recorded run did, and
    from there on leaves the shared memory alone.

    Where the step is a decision that the settings change, the new run turns there. Yields every
    step of the new run, each already journaled. The question and the access are the recorded ones.

    Raises:
        BadInput: there is no such step to fork at, or the run cannot be read.
        PlaybackDiverged: the controller does not repeat the record, for instance because the
            settings change an earlier decision; nothing of the new run was kept.
        JournalError: see ``runs.execute``.
    """
    started = start(steps)
    last = len(steps) - (2 if isinstance(steps[-1].event, RunFinished) else 1)
    if not 0 <= at_seq <= last:
        raise BadInput(f"The run can be forked at steps 0 to {last}, not at step {at_seq}.")
    stopped = steps[at_seq].event
    cancelled_here = isinstance(stopped, Warned) and stopped.fault == "cancelled"
    length = at_seq if cancelled_here else at_seq + 1
    recorded_settings = contracts.run_settings(started)
    settings = settings or recorded_settings
    loose = settings != recorded_settings or (started.reasoner, started.model) != (
        deps.reasoner.name,
        deps.reasoner.model,
    )
    spec = runs.RunSpec(
        system(started.system),
        started.question,
        settings,
        run_id=run_id or runs.new_run_id(),
        seed=started.seed,
        origin=origin,
        parent=ParentStep(run_id=steps[0].run_id, seq=at_seq),
    )
    for fault in chosen_faults:
        fault.check(spec.system)
        if fault.strikes_silently(spec.system):
            raise BadInput(f"Stage {fault.stage!r} spends nothing; in a fork, name another stage.")
    tape = Tape(steps, length, loose=loose)
    live = faults.wrap(deps, chosen_faults)
    keeper = faults.wrap_recorder(journal, chosen_faults)
    recorder = _Recorder(keeper, tape, copy=True)
    ports = _played(live, tape, started.access, NoMemory())
    executed = runs.execute(spec, ports, recorder, _once_live(tape, cancelled))
    yield from recorder.publish(executed)


def resume(
    run_id: str,
    deps: Deps,
    journal: Journal,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Step]:
    """Go on with an interrupted run, under its own id and settings, from where it was.

    Yields the new steps only. What was spent counts on.

    Raises:
        BadInput: the run is not interrupted, belongs to another corpus, reasoner or model than
            ``deps``, or was steered by a probe.
        PlaybackDiverged: the controller does not repeat the record; the run stays as it was.
        JournalError: see ``runs.execute``.
    """
    steps = journal.claim(run_id)
    try:
        started = start(steps)
        recalled = any(isinstance(s.event, Called) and s.event.port == "memory" for s in steps)
        _same_world(started, deps, recalled=recalled)
        spec = runs.RunSpec(
            system(started.system),
            started.question,
            contracts.run_settings(started),
            run_id=run_id,
            seed=started.seed,
            origin=started.origin,
            parent=started.parent,
        )
        tape = Tape(steps, len(steps), loose=False)
        recorder = _Recorder(journal, tape, copy=False)
        ports = _played(deps, tape, started.access, deps.memory)
        executed = runs.execute(spec, ports, recorder, _once_live(tape, cancelled))
        yield from recorder.publish(executed)
    finally:
        journal.abandon(run_id)


def _once_live(tape: Tape, cancelled: Callable[[], bool]) -> Callable[[], bool]:
    """A repeated part cannot be cancelled: it did not happen now."""
    return lambda: tape.live and cancelled()


def _same_world(started: RunStarted, deps: Deps, *, recalled: bool) -> None:
    """``recalled``: what the run needs of the shared memory is recorded."""
    if started.origin == "probe":
        raise BadInput("A probe run cannot be resumed; evaluate the question again.")
    if deps.retriever.corpus != started.corpus:
        raise BadInput(
            f"The corpus {started.corpus.id!r} has changed since the run; fork it instead."
        )
    if (deps.reasoner.name, deps.reasoner.model) != (started.reasoner, started.model):
        wanted = started.model or started.reasoner
        raise BadInput(f"The run was made with {wanted}; resume it with that, or fork it.")
    settings = contracts.run_settings(started)
    if settings.memory_mode() != "shared" or recalled:
        return
    scope = MemoryScope.of(started.corpus, started.access)
    if deps.memory.open(scope).digest != started.memory_digest:
        raise BadInput("The shared memory has changed since the run; fork it instead.")
