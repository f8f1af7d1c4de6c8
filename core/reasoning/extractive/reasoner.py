"""The extractive reasoner: rules over the text, no language model.

Deterministic, without key or network. What it is asked to do is a table of handlers by task name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from core.errors import TaskUnsupported
from core.ports import TextView, TokenCounter
from core.reasoning.extractive import (
    claims,
    decompose,
    facts,
    forage,
    grade,
    hops,
    plan,
    queries,
    route,
    verify,
)
from core.reasoning.extractive.case import Case, CaseBook
from core.reasoning.extractive.reading import as_reading
from core.tasks import (
    Allowance,
    AnswerRequest,
    ClaimsRequest,
    ClaimVerdicts,
    DecomposeRequest,
    Decomposition,
    Facts,
    FactsRequest,
    ForageReply,
    ForageRequest,
    GradeRequest,
    Grades,
    HopAnswer,
    HopRequest,
    Performed,
    Plan,
    PlanRequest,
    Reading,
    Rep,
    Req,
    Rewrite,
    RewriteRequest,
    RouteRequest,
    Routing,
    Task,
    Verification,
    VerifyRequest,
    WriteQueryRequest,
    WrittenQuery,
)
from core.types import Passage

Handler: TypeAlias = Callable[[Any, CaseBook], Any]


def _verify(request: VerifyRequest, book: CaseBook) -> Verification:
    return verify.verification(book.case(request.question, request.passages))


def _write_query(request: WriteQueryRequest, book: CaseBook) -> WrittenQuery:
    case = book.case(request.question, request.passages)
    return queries.write_query(case, request.previous)


def _rewrite(request: RewriteRequest, book: CaseBook) -> Rewrite:
    case = book.case(request.question, request.passages)
    return queries.rewrite(case, request.previous)


def _answer(request: AnswerRequest, book: CaseBook) -> Reading:
    ranked = book.case(request.question, request.passages).ranked
    return as_reading(ranked, request.passages)


def _decompose(request: DecomposeRequest, book: CaseBook) -> Decomposition:
    return decompose.decompose(request, book.view)


def _forage_turn(request: ForageRequest, book: CaseBook) -> ForageReply:
    return forage.forage_turn(request, book)


def _plan(request: PlanRequest, book: CaseBook) -> Plan:
    return plan.plan(request, book.view)


def _hop_answer(request: HopRequest, book: CaseBook) -> HopAnswer:
    return hops.hop_answer(book.case(request.question, request.passages))


def _grade(request: GradeRequest, book: CaseBook) -> Grades:
    return grade.grade(book.case(request.question, request.passages), request.facets)


def _check_claims(request: ClaimsRequest, book: CaseBook) -> ClaimVerdicts:
    return claims.check_claims(book.case(request.question, request.passages), request.claims, book)


def _route(request: RouteRequest, book: CaseBook) -> Routing:
    return route.route(request, book.view)


def _extract_facts(request: FactsRequest, book: CaseBook) -> Facts:
    return facts.extract_facts(book.case(request.question, request.passages))


HANDLERS: Mapping[str, Handler] = {
    "verify": _verify,
    "write_query": _write_query,
    "rewrite": _rewrite,
    "answer": _answer,
    "compose": _answer,
    "decompose": _decompose,
    "forage_turn": _forage_turn,
    "plan": _plan,
    "hop_answer": _hop_answer,
    "grade": _grade,
    "check_claims": _check_claims,
    "route": _route,
    "extract_facts": _extract_facts,
}


class ExtractiveReasoner:
    """``ports.Reasoner`` by rules over the text and the corpus's statistics.

    What was worked out about a question and its passages is kept, so that verifying and then
    answering on the same evidence costs once. Safe between threads.
    """

    name = "extractive"
    model: str | None = None

    def __init__(self, view: TextView, tokens: TokenCounter) -> None:
        self._book, self._tokens = CaseBook(view), tokens

    def case(self, question: str, passages: Sequence[Passage]) -> Case:
        """What is worked out about a question over these passages, as the handlers share it."""
        return self._book.case(question, passages)

    def tokens_in(self, task: Task[Req, Rep], request: Req) -> int:
        """Tokens of every text in the request, the question and each passage included."""
        return sum(self._tokens.count(text) for text in request.texts())

    def perform(self, task: Task[Req, Rep], request: Req, allowance: Allowance) -> Performed[Rep]:
        """Do the work; no model is called and nothing of the allowance is spent.

        Raises:
            TaskUnsupported: there are no rules for this task.
        """
        handler = HANDLERS.get(task.name)
        if handler is None:
            raise TaskUnsupported(
                f"The extractive reasoner has no rules for the task {task.name!r}; "
                "choose a language model for it."
            )
        reply = handler(request, self._book)
        if isinstance(reply, Plan):
            reply = plan.fitting(reply, self._tokens.count, task.max_tokens_out)
        return Performed(reply)
