"""Language work: the tasks that a reasoner can be given, their typed requests and replies, and
what performing one of them took.

A new kind of language work is a request, a reply and a :class:`Task` here; ``ports.Reasoner``
performs every one of them by the same method.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field

from core.types import Count, Frozen, Passage, Unit


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


class AbstractRequest(Request):
    """Say what texts have in common: ``passages`` that share ``names``, or ``parts``, what was
    said of each part of something larger."""

    names: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    parts: tuple[str, ...] = ()


class Abstraction(Reply):
    """What texts have in common, in a sentence, never empty."""

    text: Annotated[str, Field(min_length=1, max_length=1_000)]


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
ABSTRACT = Task("abstract", AbstractRequest, Abstraction, 150)

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
        ABSTRACT,
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
