"""ragX runs with a scripted agent over the three-document world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.errors import RetrieverTimeout
from core.events import Step
from core.tasks import (
    Allowance,
    AnswerRequest,
    Decomposition,
    ForageReply,
    HopAnswer,
    Performed,
    Reading,
)
from core.types import Access, Channel, Passage, Scored
from tests.app.recorded import Judge, World, _read, record

TURNS = (
    "RANK: actor who plays Jarvis",
    "READ: docs/iron.md:1",
    "RANK: who plays the actor Jarvis",
    "I will look it up now.",
    "READ: docs/nowhere.md",
    "ANSWER: Jennifer Connelly",
)
SUBS = ("Which actor plays Jarvis?", "Who is married to #1?")


@dataclass
class Agent(Judge):
    """Takes listed turns, splits the question as listed, and answers hops as listed."""

    turns: tuple[str, ...] = TURNS
    subs: tuple[str, ...] = SUBS
    hops: tuple[str, ...] = ("Paul Bettany", "Jennifer Connelly")
    answer: str | None = None
    _turn: int = field(default=0, init=False)
    _hop: int = field(default=0, init=False)

    def perform(self, task: Any, request: Any, allowance: Allowance) -> Performed[Any]:
        self.wait()
        if task.name == "forage_turn":
            text = self.turns[min(self._turn, len(self.turns) - 1)]
            self._turn += 1
            return Performed(ForageReply(text=text))
        if task.name == "decompose":
            return Performed(Decomposition(sub_questions=self.subs))
        if task.name == "hop_answer":
            text = self.hops[min(self._hop, len(self.hops) - 1)]
            self._hop += 1
            return Performed(HopAnswer(answer=text))
        if isinstance(request, AnswerRequest) and self.answer is not None:
            return Performed(Reading(answer=self.answer))
        if isinstance(request, AnswerRequest):
            return Performed(_read(request.passages))
        return super().perform(task, request, allowance)


@dataclass
class Flaky(World):
    """A retriever of which one search, counted from 1, times out."""

    broken: int = 99

    def read(self, passage_id: str, access: Access) -> Passage:
        return next(p for found in self.results for p in found if p.id == passage_id)

    def search(self, query: str, k: int, channel: Channel, access: Access) -> list[Scored]:
        if len(self.searches) + 1 == self.broken:
            self.searches.append(query)
            raise RetrieverTimeout("The retriever did not answer in time; try again.")
        return super().search(query, k, channel, access)


def foraged(system: str = "ragx", agent: Agent | None = None, **options: Any) -> list[Step]:
    """The steps of a whole ragX run."""
    return record(system, judge=agent or Agent(), **options)
