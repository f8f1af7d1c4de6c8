"""Each task's form: what its prompt is filled with, what the model writes, what that means.

``read`` turns a model's reply into the port's value. It raises ``Invalid`` where the reply names
what is not there or leaves something out, and ``Doubtful`` where it can be used but should be
asked for once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from core.fencing import fence, one_line, unfence
from core.reasoning.llm.fence import line, listed, numbered, plain, visible
from core.reasoning.llm.parse import Invalid
from core.reasoning.llm.prompts import template
from core.reasoning.llm.quotes import supports
from core.reasoning.llm.wire import (
    WireAbstraction,
    WireDecomposition,
    WireFacts,
    WireGrades,
    WireHopAnswer,
    WirePlan,
    WireQuery,
    WireReading,
    WireRewrite,
    WireRouting,
    WireVerdicts,
    WireVerification,
)
from core.tasks import (
    ABSTRACT,
    ANSWER,
    CHECK_CLAIMS,
    COMPOSE,
    DECOMPOSE,
    EXTRACT_FACTS,
    FORAGE_TURN,
    GRADE,
    HOP_ANSWER,
    PLAN,
    REWRITE,
    ROUTE,
    VERIFY,
    WRITE_QUERY,
    Abstraction,
    AbstractRequest,
    AnswerRequest,
    ClaimsRequest,
    ClaimVerdict,
    ClaimVerdicts,
    DecomposeRequest,
    Decomposition,
    Fact,
    Facts,
    FactsRequest,
    ForageReply,
    ForageRequest,
    GradeRequest,
    Grades,
    HopAnswer,
    HopRequest,
    PassageGrade,
    Plan,
    PlanRequest,
    Reading,
    Reply,
    Rewrite,
    RewriteRequest,
    RouteRequest,
    Routing,
    Verification,
    VerifyRequest,
    WriteQueryRequest,
    WrittenQuery,
)
from core.types import Frozen, Passage

MAX_FORAGE = 20_000
MAX_FACTS = 24
"""As many facts as a reply has room for."""
NO_ANSWER = frozenset(
    {"unknown", "n/a", "null", "not stated", "not mentioned", "not specified", "not given"}
    | {"not provided", "no answer", "cannot be determined"}
)
"""What models write for an empty answer although they were asked to leave it empty."""

FIRST_ATTEMPT = "(this is the first attempt)"
"""In place of what was wrong with the last attempt."""

_SLOT = regex.compile(r"#(\d+)")


class Doubtful(Exception):
    """A reply that can be used as it is (``value``) but should be asked for once more."""

    def __init__(self, problem: str, value: Reply) -> None:
        super().__init__(problem)
        self.problem, self.value = problem, value


@dataclass(frozen=True, slots=True)
class Form:
    """``values`` fills the prompt, ``wire`` is what the model writes (None: free text),
    ``counts`` are the sizes that the reply's schema refers to, ``read`` is described above; all
    but ``wire`` are functions of the request."""

    wire: type[Frozen] | None
    values: Callable[[Any], dict[str, str]]
    counts: Callable[[Any], Mapping[str, int]]
    read: Callable[[Any, Any], Reply]


def _shown(request: Any) -> dict[str, str]:
    return {"passages": numbered(request.passages), "question": line(request.question)}


def _count(request: Any, **more: int) -> dict[str, int]:
    return {"passages": len(request.passages), **more}


def _said(text: str) -> str:
    return one_line(visible(text))


def _all_said(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(said for t in texts if (said := _said(t))))


def _ids(handles: Iterable[int], passages: Sequence[Passage], where: str) -> tuple[str, ...]:
    """Passage ids of handles, once each.

    Raises:
        Invalid: a handle that the prompt does not have.
    """
    found: dict[str, None] = {}
    for handle in handles:
        if handle > len(passages):
            raise Invalid(f"{where}: there is no passage [{handle}]")
        found[passages[handle - 1].id] = None
    return tuple(found)


def _each_once(handles: Iterable[int], count: int, what: str) -> None:
    """Refuse numbers that are missing, repeated or too high; they are named."""
    seen = Counter(handles)
    missing = [n for n in range(1, count + 1) if n not in seen]
    if missing:
        raise Invalid(f"nothing is said of {what} {', '.join(f'[{n}]' for n in missing)}")
    odd = sorted(n for n, times in seen.items() if times > 1 or n > count)
    if odd:
        raise Invalid(f"{what} [{odd[0]}] is named twice or does not exist")


def _verify_values(request: VerifyRequest) -> dict[str, str]:
    return {**_shown(request), "draft": line(request.draft or "") or "(none)"}


def _verification(request: VerifyRequest, reply: WireVerification) -> Verification:
    return Verification(
        support=reply.support / 100,
        conflict=reply.conflict / 100,
        uncertainty=reply.uncertainty / 100,
        gap=reply.gap / 100,
        unhelpful=_ids(reply.unhelpful, request.passages, "unhelpful"),
        conflicting=_ids(reply.conflicting, request.passages, "conflicting"),
        missing=_all_said(reply.missing),
        draft=_answer(reply.draft),
    )


def _query_values(request: WriteQueryRequest) -> dict[str, str]:
    return {**_shown(request), "previous": listed(request.previous)}


def _checked(request: WriteQueryRequest, query: str, value: Reply) -> None:
    if not query:
        raise Invalid("query: it is empty although something is missing")
    if query.casefold() in {_said(q).casefold() for q in request.previous}:
        raise Doubtful("query: this query was used already", value)


def _query(request: WriteQueryRequest, reply: WireQuery) -> WrittenQuery:
    query, bridge, rationale = (_said(t) for t in (reply.query, reply.bridge, reply.rationale))
    if reply.nothing_missing:
        return WrittenQuery(query="", rationale=rationale, nothing_missing=True)
    value = WrittenQuery(query=query, rationale=rationale, bridge=bridge or None)
    _checked(request, query, value)
    return value


def _rewrite(request: RewriteRequest, reply: WireRewrite) -> Rewrite:
    rationale, change = _said(reply.rationale), _said(reply.transformation) or "reworded"
    if reply.nothing_missing:
        return Rewrite(query="", transformation="none", rationale=rationale, nothing_missing=True)
    value = Rewrite(query=_said(reply.query), transformation=change, rationale=rationale)
    _checked(request, value.query, value)
    return value


def _answer(text: str) -> str:
    said = _said(text)
    return "" if said.casefold().strip(" .") in NO_ANSWER else said


def _answer_values(request: AnswerRequest) -> dict[str, str]:
    return {**_shown(request), "hint": line(request.hint) or "not known"}


def _reading(request: AnswerRequest, reply: WireReading) -> Reading:
    answer, shown = _answer(reply.answer), request.passages
    _ids(reply.passages, shown, "passages")
    if not answer:
        return Reading(answer="")
    named = [shown[n - 1] for n in dict.fromkeys(reply.passages)]
    return Reading(
        answer=answer,
        supports=supports(request.question, answer, reply.quote, named, shown),
        confidence=reply.confidence / 100,
    )


def _hop_answer(request: HopRequest, reply: WireHopAnswer) -> HopAnswer:
    return HopAnswer(answer=_answer(reply.answer))


def _plan_values(request: PlanRequest) -> dict[str, str]:
    return {
        "question": line(request.question),
        "known": listed(request.known),
        "note": line(request.note) or FIRST_ATTEMPT,
    }


def _plan(request: PlanRequest, reply: WirePlan) -> Plan:
    objective, facts = _said(reply.objective), _all_said(reply.required_facts)
    if not objective or not facts:
        raise Invalid("objective and required_facts must not be empty")
    return Plan(objective=objective, required_facts=facts, entities=_all_said(reply.entities))


def _decompose_values(request: DecomposeRequest) -> dict[str, str]:
    return {
        "question": line(request.question),
        "max_hops": str(request.max_hops),
        "note": line(request.note) or FIRST_ATTEMPT,
    }


def _decomposition(request: DecomposeRequest, reply: WireDecomposition) -> Decomposition:
    hops = tuple(_said(q) for q in reply.sub_questions)
    if not all(hops):
        raise Invalid("sub_questions: one is empty")
    if len(hops) > request.max_hops:
        raise Invalid(f"sub_questions: there are {len(hops)}, at most {request.max_hops} may be")
    for n, hop in enumerate(hops, start=1):
        if any(not 1 <= int(slot) < n for slot in _SLOT.findall(hop)):
            raise Invalid(f"sub_questions: number {n} refers to an answer that is not there yet")
    return Decomposition(sub_questions=hops)


def _forage_values(request: ForageRequest) -> dict[str, str]:
    tools = tuple(dict.fromkeys((*request.tools, "ANSWER")))
    known = dict(
        (row.partition(":")[0], row) for row in template("actions").substitute().splitlines()
    )
    turns = [
        f"Turn {n}: {line(entry.action)}\n{fence(plain(unfence(entry.observation)), tools)}"
        for n, entry in enumerate(request.transcript, start=1)
    ]
    return {
        "question": line(request.question),
        "actions": "\n".join(known.get(tool, f"{line(tool)}: argument") for tool in tools),
        "transcript": "\n".join(turns) or "(nothing yet)",
        "turns_left": str(request.turns_left),
    }


def _forage_reply(request: ForageRequest, text: str) -> ForageReply:
    said = visible(text).strip()
    if not said:
        raise Invalid("it is empty")
    return ForageReply(text=said[:MAX_FORAGE])


def _route_values(request: RouteRequest) -> dict[str, str]:
    return {"question": line(request.question), "sources": listed(request.sources)}


def _routing(request: RouteRequest, reply: WireRouting) -> Routing:
    if reply.source > len(request.sources):
        raise Invalid(f"source: there is no source [{reply.source}]")
    source = request.sources[reply.source - 1] if reply.source else None
    return Routing(complexity=reply.complexity, source=source, reason=_said(reply.reason))


def _grade_values(request: GradeRequest) -> dict[str, str]:
    count = str(len(request.passages))
    return {**_shown(request), "facets": listed(request.facets), "count": count}


def _grades(request: GradeRequest, reply: WireGrades) -> Grades:
    _each_once((g.passage for g in reply.grades), len(request.passages), "passage")
    if any(n > len(request.facets) for n in reply.covered):
        raise Invalid("covered: it names a number that is not listed")
    return Grades(
        passages=tuple(
            PassageGrade(
                passage_id=request.passages[g.passage - 1].id,
                relevance=g.relevance / 100,
                authority=g.authority / 100,
                currency=g.currency / 100,
                reason=_said(g.reason),
            )
            for g in sorted(reply.grades, key=lambda g: g.passage)
        ),
        sufficiency=reply.sufficiency / 100,
        covered=tuple(request.facets[n - 1] for n in sorted(set(reply.covered))),
    )


def _claims_values(request: ClaimsRequest) -> dict[str, str]:
    count = str(len(request.claims))
    return {**_shown(request), "claims": listed(request.claims), "count": count}


def _verdicts(request: ClaimsRequest, reply: WireVerdicts) -> ClaimVerdicts:
    _each_once((v.claim for v in reply.verdicts), len(request.claims), "claim")
    verdicts = []
    for verdict in sorted(reply.verdicts, key=lambda v: v.claim):
        ids = _ids(verdict.passages, request.passages, f"claim [{verdict.claim}]")
        if verdict.verdict != "unsupported" and not ids:
            raise Invalid(f"claim [{verdict.claim}] is {verdict.verdict}, but by no passage")
        verdicts.append(
            ClaimVerdict(
                index=verdict.claim - 1,
                verdict=verdict.verdict,
                passage_ids=ids if verdict.verdict != "unsupported" else (),
                reason=_said(verdict.reason),
            )
        )
    return ClaimVerdicts(verdicts=tuple(verdicts))


def _most_facts(request: FactsRequest) -> int:
    return min(MAX_FACTS, 4 * len(request.passages))


def _facts_values(request: FactsRequest) -> dict[str, str]:
    return {**_shown(request), "most": str(_most_facts(request))}


def _facts(request: FactsRequest, reply: WireFacts) -> Facts:
    found = []
    for fact in reply.facts:
        (passage_id,) = _ids([fact.passage], request.passages, "facts")
        triple = [_said(t) for t in (fact.subject, fact.relation, fact.object)]
        if not all(triple):
            raise Invalid("facts: a subject, relation or object is empty")
        found.append(
            Fact(
                subject=triple[0],
                relation=triple[1],
                object=triple[2],
                passage_id=passage_id,
                confidence=fact.confidence / 100,
            )
        )
    return Facts(facts=tuple(dict.fromkeys(found)))


def _abstract_values(request: AbstractRequest) -> dict[str, str]:
    return {
        "names": ", ".join(line(name) for name in request.names) or "(none)",
        "passages": numbered(request.passages),
        "parts": listed(request.parts),
    }


def _abstraction(request: AbstractRequest, reply: WireAbstraction) -> Abstraction:
    said = _said(reply.text)
    if not said:
        raise Invalid("text: it is empty")
    return Abstraction(text=said)


FORMS: dict[str, Form] = {
    VERIFY.name: Form(
        WireVerification, _verify_values, lambda r: _count(r, missing=4), _verification
    ),
    WRITE_QUERY.name: Form(WireQuery, _query_values, _count, _query),
    REWRITE.name: Form(WireRewrite, _query_values, _count, _rewrite),
    ANSWER.name: Form(WireReading, _answer_values, _count, _reading),
    COMPOSE.name: Form(WireReading, _answer_values, _count, _reading),
    PLAN.name: Form(WirePlan, _plan_values, lambda r: {"entities": 5, "facts": 5}, _plan),
    DECOMPOSE.name: Form(
        WireDecomposition, _decompose_values, lambda r: {"hops": r.max_hops}, _decomposition
    ),
    FORAGE_TURN.name: Form(None, _forage_values, lambda r: {}, _forage_reply),
    HOP_ANSWER.name: Form(WireHopAnswer, _shown, _count, _hop_answer),
    GRADE.name: Form(WireGrades, _grade_values, lambda r: _count(r, facets=len(r.facets)), _grades),
    CHECK_CLAIMS.name: Form(
        WireVerdicts, _claims_values, lambda r: _count(r, claims=len(r.claims)), _verdicts
    ),
    ROUTE.name: Form(WireRouting, _route_values, lambda r: {"sources": len(r.sources)}, _routing),
    EXTRACT_FACTS.name: Form(
        WireFacts, _facts_values, lambda r: _count(r, facts=_most_facts(r)), _facts
    ),
    ABSTRACT.name: Form(WireAbstraction, _abstract_values, _count, _abstraction),
}
"""The form of every task."""
