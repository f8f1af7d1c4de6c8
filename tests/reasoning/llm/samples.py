"""A request and a good model reply for every task."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from core.chat import ChatReply, ChatRequest
from core.errors import ReasonerError
from core.tasks import (
    TASKS,
    AbstractRequest,
    AnswerRequest,
    ClaimsRequest,
    DecomposeRequest,
    FactsRequest,
    ForageEntry,
    ForageRequest,
    GradeRequest,
    HopRequest,
    PlanRequest,
    Request,
    RewriteRequest,
    RouteRequest,
    VerifyRequest,
    WriteQueryRequest,
)
from core.types import Passage, digest

QUESTION = "Which band did the drummer of Swan Lake Records found?"


def passage(title: str, text: str) -> Passage:
    return Passage(
        id=f"p-{digest(title + text)}",
        document=f"{title}.md",
        title=title,
        text=text,
        end=len(text),
        digest=digest(text),
    )


PASSAGES = (
    passage("Swan Lake Records", "Swan Lake Records is a label. Its drummer is Ida Berg."),
    passage("Ida Berg", "Ida Berg founded the band Night Ferry in 1974. She lives in Oslo."),
    passage("Oslo", "Oslo is the capital of Norway."),
)

REQUESTS: dict[str, Request] = {
    "verify": VerifyRequest(question=QUESTION, passages=PASSAGES, draft="Night Ferry"),
    "write_query": WriteQueryRequest(question=QUESTION, passages=PASSAGES, previous=(QUESTION,)),
    "rewrite": RewriteRequest(question=QUESTION, passages=PASSAGES, previous=(QUESTION,)),
    "answer": AnswerRequest(question=QUESTION, passages=PASSAGES),
    "compose": AnswerRequest(question=QUESTION, passages=PASSAGES, hint="name of a band"),
    "plan": PlanRequest(question=QUESTION, note="the drummer is not named", known=("a fact",)),
    "decompose": DecomposeRequest(question=QUESTION, note="part 2 refers to itself"),
    "forage_turn": ForageRequest(
        question=QUESTION,
        transcript=(ForageEntry(action="RANK: drummer", observation="1. Ida Berg"),),
        tools=("RANK", "READ"),
        turns_left=3,
    ),
    "hop_answer": HopRequest(question="Who is the drummer?", passages=PASSAGES),
    "grade": GradeRequest(question=QUESTION, passages=PASSAGES, facets=("drummer", "band")),
    "check_claims": ClaimsRequest(
        question=QUESTION, claims=("Berg founded Night Ferry.", "Berg died."), passages=PASSAGES
    ),
    "route": RouteRequest(question=QUESTION, sources=("docs", "incidents")),
    "extract_facts": FactsRequest(question=QUESTION, passages=PASSAGES),
    "abstract": AbstractRequest(
        names=("Swan Lake Records", "Ida Berg"), passages=PASSAGES, parts=("Records and bands.",)
    ),
}

GOOD: dict[str, dict[str, Any]] = {
    "verify": {
        "missing": [],
        "draft": "Night Ferry",
        "support": 90,
        "gap": 5,
        "uncertainty": 10,
        "conflict": 0,
        "unhelpful": [3],
        "conflicting": [],
    },
    "write_query": {
        "rationale": "the band",
        "nothing_missing": False,
        "bridge": "Ida Berg",
        "query": "Ida Berg band founded",
    },
    "rewrite": {
        "rationale": "too wide",
        "nothing_missing": False,
        "transformation": "key words",
        "query": "Swan Lake Records drummer band",
    },
    "answer": {
        "answer": "Night Ferry",
        "passages": [2],
        "quote": "founded the band Night Ferry",
        "confidence": 80,
    },
    "compose": {
        "answer": "Night Ferry",
        "passages": [2],
        "quote": "founded the band Night Ferry",
        "confidence": 80,
    },
    "plan": {
        "objective": "Find the drummer's band.",
        "entities": ["Swan Lake Records"],
        "required_facts": ["drummer of Swan Lake Records", "band that the drummer founded"],
    },
    "decompose": {"sub_questions": ["Who drums at Swan Lake Records?", "Which band did #1 found?"]},
    "forage_turn": {},
    "hop_answer": {"answer": "Ida Berg"},
    "grade": {
        "grades": [
            {"passage": n, "relevance": 70, "authority": 50, "currency": 50, "reason": "names it"}
            for n in (1, 2, 3)
        ],
        "covered": [1, 2],
        "sufficiency": 85,
    },
    "check_claims": {
        "verdicts": [
            {"claim": 1, "verdict": "supported", "passages": [2], "reason": "it says so"},
            {"claim": 2, "verdict": "unsupported", "passages": [], "reason": "nothing"},
        ]
    },
    "route": {"reason": "two facts", "complexity": "multi", "source": 1},
    "extract_facts": {
        "facts": [
            {
                "passage": 2,
                "subject": "Ida Berg",
                "relation": "founded",
                "object": "Night Ferry",
                "confidence": 95,
            }
        ]
    },
    "abstract": {"text": "Swan Lake Records and the bands of its drummer Ida Berg."},
}
assert set(REQUESTS) == set(GOOD) == set(TASKS)


def good_text(task: str) -> str:
    return "READ: Ida Berg" if task == "forage_turn" else json.dumps(GOOD[task])


class WordTokens:
    """Counts white-space separated words and punctuation marks roughly: characters over 4."""

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4


@dataclass
class FakeGateway:
    """Plays texts, replies or failures in order; the last one again for ever."""

    script: list[str | ChatReply | ReasonerError]
    model: str = "fake/model"
    context_tokens: int | None = None
    price: float = 0.0
    requests: list[ChatRequest] = field(default_factory=list)
    kept: list[ChatReply] = field(default_factory=list)

    def worst_cost(self, tokens_in: int, tokens_out: int) -> float:
        return self.price

    def complete(self, request: ChatRequest) -> ChatReply:
        line = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        if isinstance(line, ReasonerError):
            raise line
        if isinstance(line, str):
            return ChatReply(text=line, cost=self.price)
        return line

    def accepted(self, request: ChatRequest, reply: ChatReply) -> None:
        self.kept.append(reply)
