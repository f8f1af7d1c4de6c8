"""Protocols between controllers and the world, and the values that cross them.

Every piece of language work is a :class:`Task` with a typed request and a typed reply, and
``Reasoner.perform`` is the one way to ask for it; wrappers (faults, playback, per-role choice)
therefore need one method. Every call of a port is journaled as ``Called``, with a response that
``parse_response`` reads back, so that a recorded run can stand in for the port (``playback``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, JsonValue, ValidationError

from core.budget import Ledger
from core.errors import BadInput
from core.events import FaultInjected, Hit, Port, Warned
from core.graph import AbstractionMemory, Expansion, NodeTexts, PathFacts, Region, Spread
from core.memory import Memory, MemoryMode, MemoryScope, NoMemory, Persisted, Recalled
from core.types import (
    Access,
    Budgets,
    Channel,
    CorpusRef,
    Count,
    Finite,
    Frozen,
    JsonObject,
    Passage,
    Scored,
    Unit,
)

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


# --- retrieval -----------------------------------------------------------------------------


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


class SearchResponse(Frozen):
    """Recorded form of a search: texts are in ``PassagesShown``."""

    hits: tuple[Hit, ...]


class RerankResponse(Frozen):
    """Recorded form of a reranking: a score for each passage, in the order given."""

    scores: tuple[Finite, ...]


class ReadResponse(Frozen):
    """Recorded form of a read or of neighbours."""

    ids: tuple[str, ...]


# --- language work -------------------------------------------------------------------------


class Request(Frozen):
    """What a reasoner is given. ``texts`` is every text in it, as counted against the budget."""

    def texts(self) -> Iterator[str]:
        """Titles, passages, questions and queries, in order."""
        return _texts(self)


_HANDLES = frozenset({"passage_id", "passage_ids", "unhelpful", "conflicting"})


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Passage):
        yield value.title
        yield value.text
    elif isinstance(value, Frozen):
        for name, part in value.__dict__.items():
            if name not in _HANDLES:
                yield from _texts(part)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _texts(part)


class Reply(Frozen):
    """What a reasoner gives back, already validated."""

    def texts(self) -> Iterator[str]:
        """Every text in it; passage ids are handles and count for nothing."""
        return _texts(self)


Req = TypeVar("Req", bound=Request)
Rep = TypeVar("Rep", bound=Reply)
Text = Annotated[str, Field(max_length=4_000)]


class VerifyRequest(Request):
    """Judge the evidence held for a question; ``draft`` is the answer so far, if any."""

    question: str
    passages: Annotated[tuple[Passage, ...], Field(max_length=8)]
    draft: str | None = None


class Verification(Reply):
    """Support, conflict, uncertainty and gap of a set of passages, each in [0, 1].

    ``unhelpful`` and ``conflicting`` are passage ids of the request; ``missing`` names in words
    what the question requires and the passages do not say; ``draft`` is the best answer so far.
    """

    support: Unit
    conflict: Unit
    uncertainty: Unit
    gap: Unit
    unhelpful: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()
    missing: tuple[Text, ...] = ()
    draft: Text = ""


class WriteQueryRequest(Request):
    """Write the next query from the evidence held; ``previous`` queries must not repeat."""

    question: str
    passages: tuple[Passage, ...]
    previous: tuple[str, ...] = ()


class WrittenQuery(Reply):
    """A query, or ``nothing_missing``; ``bridge`` is the entity it newly names."""

    query: Text
    rationale: Text
    bridge: Text | None = None
    nothing_missing: bool = False


class RewriteRequest(WriteQueryRequest):
    """Reformulate the last query; no new entity is asked for."""


class Rewrite(Reply):
    """A reformulated query and how it was made; ``nothing_missing`` when none is needed."""

    query: Text
    transformation: Text
    rationale: Text
    nothing_missing: bool = False


class AnswerRequest(Request):
    """Answer the question from these passages alone, as shortly as is exact."""

    question: str
    passages: tuple[Passage, ...]
    hint: str = ""


class Support(Frozen):
    """A place the answer was read from: characters ``start:end`` of the passage's text."""

    passage_id: str
    start: Count
    end: Count


class Reading(Reply):
    """An answer (empty: none found), where it was read, and how sure the reader is."""

    answer: Text
    supports: Annotated[tuple[Support, ...], Field(max_length=8)] = ()
    confidence: Unit = 0.0


class PlanRequest(Request):
    """Plan what to look for; ``note`` is the last verdict's justification."""

    question: str
    note: str = ""
    known: tuple[str, ...] = ()


class Plan(Reply):
    """A retrieval objective, the facts it requires, and the entities it starts from."""

    objective: Text
    required_facts: tuple[Text, ...]
    entities: tuple[Text, ...]


class DecomposeRequest(Request):
    """Split a question into at most ``max_hops`` ordered sub-questions with ``#N`` slots.

    ``note`` says what was wrong with the first decomposition where this asks for another.
    """

    question: str
    max_hops: Annotated[int, Field(ge=1, le=8)] = 4
    note: str = ""


class Decomposition(Reply):
    """Ordered sub-questions; ``#N`` stands for the answer of the N-th (1-based, backwards)."""

    sub_questions: tuple[Text, ...]


class ForageEntry(Frozen):
    """An earlier turn: the action as written and the fenced observation."""

    action: str
    observation: str


class ForageRequest(Request):
    """Take the next turn of a forage loop."""

    question: str
    transcript: tuple[ForageEntry, ...]
    tools: tuple[str, ...]
    turns_left: Count


class ForageReply(Reply):
    """The reply as written; the system's action grammar parses it."""

    text: Annotated[str, Field(max_length=20_000)]


class HopRequest(Request):
    """Answer one hop from distilled excerpts."""

    question: str
    passages: tuple[Passage, ...]


class HopAnswer(Reply):
    """A short answer, empty where the excerpts do not say."""

    answer: Text


class GradeRequest(Request):
    """Grade each passage and the set for a question with these required facets."""

    question: str
    passages: tuple[Passage, ...]
    facets: tuple[str, ...] = ()


class PassageGrade(Frozen):
    """Four separate grades of one passage, each in [0, 1]."""

    passage_id: str
    relevance: Unit
    authority: Unit
    currency: Unit
    reason: Text = ""


class Grades(Reply):
    """Grades per passage, and how sufficient the set is; ``covered`` is a part of the facets."""

    passages: tuple[PassageGrade, ...]
    sufficiency: Unit
    covered: tuple[Text, ...] = ()


class ClaimsRequest(Request):
    """Check claims of an answer against passages."""

    question: str
    claims: tuple[str, ...]
    passages: tuple[Passage, ...]


class ClaimVerdict(Frozen):
    """Whether passages support or contradict the claim at ``index``, and which."""

    index: Count
    verdict: Literal["supported", "unsupported", "contradicted"]
    passage_ids: tuple[str, ...] = ()
    reason: Text = ""


class ClaimVerdicts(Reply):
    """One verdict for each claim, in order."""

    verdicts: tuple[ClaimVerdict, ...]


class RouteRequest(Request):
    """Decide whether and from where to retrieve."""

    question: str
    sources: tuple[str, ...] = ()


class Routing(Reply):
    """Predicted complexity (none: no retrieval needed) and the source to start from."""

    complexity: Literal["none", "single", "multi"]
    source: str | None = None
    reason: Text = ""


class FactsRequest(Request):
    """Extract the facts of passages that bear on a question."""

    question: str
    passages: tuple[Passage, ...]


class Fact(Frozen):
    """A subject, relation, object triple with its source and confidence in [0, 1]."""

    subject: Text
    relation: Text
    object: Text
    passage_id: str
    confidence: Unit


class Facts(Reply):
    """Extracted facts, at most 200."""

    facts: Annotated[tuple[Fact, ...], Field(max_length=200)]


@dataclass(frozen=True, slots=True)
class Task(Generic[Req, Rep]):
    """A kind of language work: its name, its types, and the most tokens a reply may have.

    ``thinking_tokens`` are allowed beside the reply to a model that thinks first; 0: it should
    not.
    """

    name: str
    request: type[Req]
    reply: type[Rep]
    max_tokens_out: int
    thinking_tokens: int = 0


VERIFY = Task("verify", VerifyRequest, Verification, 400)
WRITE_QUERY = Task("write_query", WriteQueryRequest, WrittenQuery, 200)
REWRITE = Task("rewrite", RewriteRequest, Rewrite, 200)
ANSWER = Task("answer", AnswerRequest, Reading, 250)
COMPOSE = Task("compose", AnswerRequest, Reading, 250)
PLAN = Task("plan", PlanRequest, Plan, 300)
DECOMPOSE = Task("decompose", DecomposeRequest, Decomposition, 250)
FORAGE_TURN = Task("forage_turn", ForageRequest, ForageReply, 200)
HOP_ANSWER = Task("hop_answer", HopRequest, HopAnswer, 100)
GRADE = Task("grade", GradeRequest, Grades, 900)
CHECK_CLAIMS = Task("check_claims", ClaimsRequest, ClaimVerdicts, 600)
ROUTE = Task("route", RouteRequest, Routing, 120)
EXTRACT_FACTS = Task("extract_facts", FactsRequest, Facts, 1_500)

TASKS: dict[str, Task[Any, Any]] = {
    task.name: task
    for task in (
        VERIFY,
        WRITE_QUERY,
        REWRITE,
        ANSWER,
        COMPOSE,
        PLAN,
        DECOMPOSE,
        FORAGE_TURN,
        HOP_ANSWER,
        GRADE,
        CHECK_CLAIMS,
        ROUTE,
        EXTRACT_FACTS,
    )
}


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a language model as it went over the wire."""

    prompt: str
    reply: str
    model: str
    tokens_in: int
    tokens_out: int
    ms: float
    attempt: int = 1
    cached: bool = False
    cost: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Performed(Generic[Rep]):
    """A reply, with the model calls that it took (none for the extractive reasoner)."""

    value: Rep
    model_calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a reasoner may still spend on retries inside one task."""

    calls: float = float("inf")
    tokens: float = float("inf")
    seconds: float = float("inf")
    cost: float = float("inf")


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


def bound(port: PortT, context: CallContext) -> PortT:
    """The port for one run: ``port.bind(context)`` where it offers that, else itself."""
    bind: Callable[[CallContext], PortT] | None = getattr(port, "bind", None)
    return port if bind is None else bind(context)


_RETRIEVER_RESPONSES: dict[str, type[Frozen]] = {
    "search": SearchResponse,
    "read": ReadResponse,
    "neighbours": ReadResponse,
    "rerank": RerankResponse,
    "expand": Expansion,
    "spread": Spread,
    "path": PathFacts,
    "texts": NodeTexts,
    "region": Region,
}
_MEMORY_RESPONSES: dict[str, type[Frozen]] = {"recall": Recalled, "persist": Persisted}


def parse_response(port: Port, task: str, response: JsonValue) -> Frozen:
    """A recorded ``Called.response`` as the value that the port returned.

    Raises:
        BadInput: an unknown task or a response that does not validate.
    """
    kind: type[Frozen]
    if port == "reasoner" and task in TASKS:
        kind = TASKS[task].reply
    elif port == "retriever" and task in _RETRIEVER_RESPONSES:
        kind = _RETRIEVER_RESPONSES[task]
    elif port == "memory" and task in _MEMORY_RESPONSES:
        kind = _MEMORY_RESPONSES[task]
    else:
        raise BadInput(f"A recorded call names the unknown task {port}.{task}.")
    try:
        return kind.model_validate(response)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            f"The response of {port}.{task} is invalid at {where}: {first['msg']}."
        ) from None


def as_json(value: Frozen) -> JsonObject:
    """The JSON form of a value, for a journaled payload."""
    dumped: JsonObject = value.model_dump(mode="json")
    return dumped
