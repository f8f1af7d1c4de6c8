"""Faults struck on purpose, by wrapping what a run acts on; every system meets them alike.

Ports are wrapped, and the controller and the recorder for the faults that no port can meet. Each
strike leaves a ``FaultInjected`` notice, which is journaled beside the call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace

from core import malformed
from core.errors import (
    AuthenticationFailed,
    BudgetExhausted,
    ContextTooLong,
    JournalFull,
    ModelRefusal,
    ModelTimeout,
    RateLimited,
    ReasonerError,
    RetrieverError,
    RetrieverTimeout,
    StaleIndex,
)
from core.events import Step
from core.faults import EXHAUSTED, MALFORMED, Fault
from core.graph import AbstractionMemory, GraphEdge, PathFacts, Spread
from core.ports import CallContext, Deps, Reasoner, Recorder, Retriever, bound
from core.reasoning.replies import validate_reply
from core.steps import Emit
from core.systems.definition import System
from core.tasks import (
    Allowance,
    ClaimsRequest,
    ClaimVerdict,
    ClaimVerdicts,
    ForageReply,
    ForageRequest,
    GradeRequest,
    Grades,
    PassageGrade,
    Performed,
    Rep,
    Reply,
    Req,
    Request,
    Rewrite,
    RewriteRequest,
    Task,
    Verification,
    VerifyRequest,
    WriteQueryRequest,
    WrittenQuery,
)
from core.types import Access, Channel, CorpusRef, Metadata, Passage, Scored

RETRIEVER_ERRORS: dict[str, Callable[[], RetrieverError]] = {
    "retriever-timeout": lambda: RetrieverTimeout(
        "The retriever did not answer in time; try again later."
    ),
    "retriever-error": lambda: RetrieverError("The retriever failed; check the index's health."),
    "stale-index": lambda: StaleIndex(
        "The index names a document that is gone; re-index the corpus."
    ),
}
MODEL_ERRORS: dict[str, Callable[[], ReasonerError]] = {
    "model-refusal": lambda: ModelRefusal(
        "The model declined to answer; rephrase the question or choose another reasoner."
    ),
    "model-timeout": lambda: ModelTimeout("The model did not answer in time; try again later."),
    "rate-limit": lambda: RateLimited("The provider limits the rate of calls; wait and try again."),
    "auth-error": lambda: AuthenticationFailed(
        "The provider refused the key; set a valid one or choose the extractive reasoner."
    ),
    "context-too-long": lambda: ContextTooLong(
        "The prompt does not fit the model's context; show it fewer passages."
    ),
}
VERIFIER_TASKS = ("verify", "grade", "check_claims")
REWRITE_TASKS = ("write_query", "rewrite", "forage_turn")


def wrap(deps: Deps, chosen: tuple[Fault, ...]) -> Deps:
    """The same ports with these faults in them."""
    if not chosen:
        return deps
    return replace(
        deps,
        retriever=_FaultyRetriever(deps.retriever, chosen, CallContext()),
        reasoner=_FaultyReasoner(deps.reasoner, chosen, CallContext()),
        graph=deps.graph and _FaultyGraph(deps.graph, deps.retriever, chosen, CallContext()),
    )


class _Faulty:
    def __init__(self, chosen: tuple[Fault, ...], context: CallContext) -> None:
        self.chosen, self.context = chosen, context

    def striking(self, *names: str) -> Fault | None:
        """The first chosen fault of these names that strikes in the current stage."""
        stage = self.context.stage
        return next((f for f in self.chosen if f.name in names and f.strikes(stage)), None)

    def notice(self, fault: Fault, task: str) -> None:
        self.context.notices.append(fault.injected(f"{self.context.stage}: {task}"))

    def out_of_budget(self, task: str) -> None:
        if fault := self.striking(EXHAUSTED):
            self.notice(fault, task)
            raise BudgetExhausted("tokens", 1, 0, stage=self.context.stage)


class _FaultyRetriever(_Faulty):
    def __init__(self, inner: Retriever, chosen: tuple[Fault, ...], context: CallContext) -> None:
        super().__init__(chosen, context)
        self.inner = inner

    def bind(self, context: CallContext) -> _FaultyRetriever:
        return _FaultyRetriever(bound(self.inner, context), self.chosen, context)

    @property
    def corpus(self) -> CorpusRef:
        return self.inner.corpus

    def search(self, query: str, k: int, channel: Channel, access: Access) -> list[Scored]:
        self._fail("search")
        if fault := self.striking("empty-shard"):
            self.notice(fault, "search")
            return []
        hits = self.inner.search(query, k, channel, access)
        if fault := self.striking("corrupt-metadata"):
            self.notice(fault, "search")
            return [
                hit.model_copy(update={"passage": corrupted(hit.passage)}) if n % 2 == 0 else hit
                for n, hit in enumerate(hits)
            ]
        return hits

    def read(self, passage_id: str, access: Access) -> Passage:
        self._fail("read")
        passage = self.inner.read(passage_id, access)
        if fault := self.striking("corrupt-metadata"):
            self.notice(fault, "read")
            return corrupted(passage)
        return passage

    def neighbours(self, passage_id: str, width: int, access: Access) -> list[Passage]:
        self._fail("neighbours")
        return self.inner.neighbours(passage_id, width, access)

    def _fail(self, task: str) -> None:
        self.out_of_budget(task)
        if fault := self.striking(*RETRIEVER_ERRORS):
            self.notice(fault, task)
            raise RETRIEVER_ERRORS[fault.name]()


class _FaultyGraph(_FaultyRetriever):
    """The abstraction memory with a retriever's faults. The first region of a node after its path
    was judged is the committed one; evidence from outside it comes with the next call."""

    def __init__(
        self,
        graph: AbstractionMemory,
        inner: Retriever,
        chosen: tuple[Fault, ...],
        context: CallContext,
    ) -> None:
        super().__init__(inner, chosen, context)
        self.graph = graph
        self.judged: str | None = None
        self.committed: str | None = None

    def bind(self, context: CallContext) -> _FaultyGraph:
        return _FaultyGraph(
            bound(self.graph, context), bound(self.inner, context), self.chosen, context
        )

    @property
    def digest(self) -> str:
        return self.graph.digest

    @property
    def root(self) -> str:
        return self.graph.root

    def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
        self._fail("expand")
        if fault := self.striking("empty-shard"):
            self.notice(fault, "expand")
            return []
        return self.graph.expand(query, parents, access)

    def facts(self, path: Sequence[str], access: Access) -> PathFacts:
        self._fail("path")
        found = self.graph.facts(path, access)
        self.follow("path", path)
        return found

    def texts(self, nodes: Sequence[str], access: Access) -> list[str]:
        return self.graph.texts(nodes, access)

    def spread(self, terms: Sequence[str], access: Access) -> Spread:
        self._fail("spread")
        return self.graph.spread(terms, access)

    def region(self, node: str, query: str, width: int, access: Access) -> list[Scored]:
        self._fail("region")
        if fault := self.striking("empty-shard"):
            self.notice(fault, "region")
            return []
        hits = self.graph.region(node, query, width, access)
        again = node == self.committed
        self.follow("region", node)
        if fault := self.striking("corrupt-metadata"):
            self.notice(fault, "region")
            return [
                hit.model_copy(update={"passage": corrupted(hit.passage)}) if n % 2 else hit
                for n, hit in enumerate(hits)
            ]
        if again and (fault := self.striking("evidence-outside-region")):
            self.notice(fault, "region")
            return self._with_a_stranger(hits, query, access)
        return hits

    def follow(self, task: str, asked: Sequence[str]) -> None:
        """Which node's path was judged last, and whether its region was given since."""
        if task == "path":
            self.judged, self.committed = (asked[-1] if asked else None), None
        elif task == "region" and asked == self.judged:
            self.committed = self.judged

    def _with_a_stranger(self, hits: list[Scored], query: str, access: Access) -> list[Scored]:
        """The hits with a passage that is not among them as the best, the last one left out; a
        made-up passage where the corpus has no other."""
        held = {hit.passage.id for hit in hits}
        near = self.inner.search(query, 4 * len(hits) + 8, "lexical", access)
        strangers = [hit.passage for hit in near if hit.passage.id not in held]
        made_up = hits[0].passage.model_copy(update={"id": "outside"})
        stranger = hits[0].model_copy(update={"passage": strangers[0] if strangers else made_up})
        return [stranger, *hits[: max(1, len(hits) - 1)]]


def corrupted(passage: Passage) -> Passage:
    """The passage with a digest and a span that do not fit its text, and absurd metadata."""
    return passage.model_copy(
        update={
            "digest": "0" * 16,
            "end": passage.start + len(passage.text) + 7,
            "metadata": Metadata(date="99/99/9999", superseded_by=passage.document),
        }
    )


class _FaultyReasoner(_Faulty):
    def __init__(self, inner: Reasoner, chosen: tuple[Fault, ...], context: CallContext) -> None:
        super().__init__(chosen, context)
        self.inner = inner
        self._malformed = 0

    def bind(self, context: CallContext) -> _FaultyReasoner:
        return _FaultyReasoner(bound(self.inner, context), self.chosen, context)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str | None:
        return self.inner.model

    def tokens_in(self, task: Task[Req, Rep], request: Req) -> int:
        return self.inner.tokens_in(task, request)

    def perform(self, task: Task[Req, Rep], request: Req, allowance: Allowance) -> Performed[Rep]:
        self.out_of_budget(task.name)
        fault = self._due(task.name)
        if fault is None:
            return self.inner.perform(task, request, allowance)
        self.notice(fault, task.name)
        if fault.name in MODEL_ERRORS:
            raise MODEL_ERRORS[fault.name]()
        if fault.name == "verifier-error":
            raise ReasonerError("The verifier failed; try again.", code="verifier_error")
        if fault.name == MALFORMED:
            form = fault.forms[self._malformed % len(fault.forms)]
            self.follow(task.name)
            good = self.inner.perform(task, request, allowance)
            return replace(good, value=validate_reply(task, malformed.reply(form, good.value)))
        value = _irrelevant(request) if task.name in VERIFIER_TASKS else _repeated(request)
        return Performed(task.reply.model_validate(value.model_dump()))

    def follow(self, task: str) -> None:
        """How many replies were malformed."""
        fault = self._due(task)
        self._malformed += fault is not None and fault.name == MALFORMED

    def _due(self, task: str) -> Fault | None:
        """The fault that strikes in this task."""
        verifies, rewrites = task in VERIFIER_TASKS, task in REWRITE_TASKS
        return (
            self.striking(*MODEL_ERRORS)
            or (self.striking("verifier-error") if verifies else None)
            or self.striking(MALFORMED)
            or (self.striking("always-irrelevant") if verifies else None)
            or (self.striking("repeated-rewrite") if rewrites else None)
        )


def _irrelevant(request: Request) -> Reply:
    if isinstance(request, VerifyRequest):
        ids = tuple(p.id for p in request.passages)
        return Verification(support=0, conflict=0, uncertainty=1, gap=1, unhelpful=ids)
    if isinstance(request, GradeRequest):
        grades = tuple(
            PassageGrade(passage_id=p.id, relevance=0, authority=0, currency=0)
            for p in request.passages
        )
        return Grades(passages=grades, sufficiency=0)
    assert isinstance(request, ClaimsRequest)
    return ClaimVerdicts(
        verdicts=tuple(
            ClaimVerdict(index=n, verdict="unsupported") for n in range(len(request.claims))
        )
    )


def _repeated(request: Request) -> Reply:
    if isinstance(request, ForageRequest):
        last = request.transcript[-1].action if request.transcript else ""
        return ForageReply(text=last or f"RANK: {request.question}")
    assert isinstance(request, WriteQueryRequest)
    query = request.previous[-1] if request.previous else request.question
    if isinstance(request, RewriteRequest):
        return Rewrite(query=query, transformation="none", rationale="the same again")
    return WrittenQuery(query=query, rationale="the same again")


Silently = Callable[[str], Fault | None]
"""The fault that strikes inside the controller at its next emission in a stage, if one does."""


def silently(chosen: Sequence[Fault], system: System) -> Silently | None:
    """Each of the faults that strike so, once in its stage; None where none does."""
    due = [f for f in chosen if f.strikes_silently(system)]
    if not due:
        return None

    def strikes(stage: str) -> Fault | None:
        fault = next((f for f in due if f.stage == stage), None)
        if fault is not None:
            due.remove(fault)
        return fault

    return strikes


def wrap_controller(
    controller: Iterator[Emit], strikes: Silently, context: CallContext
) -> Generator[Emit, None, None]:
    """The controller, with an exhausted budget raised inside it in a stage that calls no port."""
    assert isinstance(controller, Generator)
    try:
        emission = next(controller)
        while True:
            fault = strikes(emission.stage)
            if fault is None:
                yield emission
                emission = next(controller)
            else:
                context.notices.append(fault.injected(emission.stage))
                error = BudgetExhausted("tokens", 1, 0, stage=emission.stage)
                emission = controller.throw(error)
    except StopIteration:
        return
    finally:
        controller.close()


def wrap_recorder(recorder: Recorder, chosen: tuple[Fault, ...]) -> Recorder:
    """The recorder, with a disk that is full once."""
    full = next((f for f in chosen if f.name == "disk-full"), None)
    return _FullOnce(recorder, full) if full else recorder


class _FullOnce:
    def __init__(self, inner: Recorder, fault: Fault) -> None:
        self.inner, self.due = inner, [fault]

    def append(self, steps: list[Step]) -> None:
        stage = steps[0].stage
        if self.due and stage != "start" and self.due[0].strikes(stage):
            error = JournalFull("The disk is full; free space and resume the run.", stage=stage)
            error.notices = (self.due.pop().injected(stage),)
            raise error
        self.inner.append(steps)
