"""Worlds in which the reasoner says what was drawn: for laws that must hold whatever it says."""

from __future__ import annotations

import random
from typing import Any

from core import registry
from core.errors import RateLimited, RetrieverTimeout
from core.events import Decided
from core.memory import (
    MADE_BY,
    Artifact,
    PathArtifact,
    PlanArtifact,
    RegionArtifact,
    artifact_id,
)
from core.ports import Deps
from core.tasks import Decomposition, ForageReply, HopAnswer, Verification
from core.types import Frozen
from tests.core.world import (
    PASSAGES,
    QUESTION,
    SCRIPT,
    TEXTS,
    Shelf,
    WordGraph,
    WordRetriever,
    deps,
    run,
)

TITLES = tuple(TEXTS)


def drawn_world(seed: int) -> Deps:
    """A world whose verifier, query writer and failures are those of this seed."""
    chance = random.Random(seed)
    base = chance.random()

    def near() -> float:
        return min(1.0, max(0.0, base + chance.uniform(-0.5, 0.5)))

    def verify(request: Any) -> Verification:
        ids = [p.id for p in request.passages]
        return Verification(
            support=near(),
            conflict=near() if chance.random() < 0.5 else chance.choice((0.0, 1.0)),
            uncertainty=near(),
            gap=near(),
            unhelpful=tuple(i for i in ids if chance.random() < 0.3),
            draft=chance.choice(("", "Low Tide")),
        )

    def write_query(request: Any) -> Any:
        written = SCRIPT["write_query"](request)  # type: ignore[operator]
        if chance.random() < 0.15:
            return written.model_copy(update={"nothing_missing": True})
        return written

    def answer(request: Any) -> Any:
        if chance.random() < 0.1:
            return RateLimited("Wait and try again.")
        return SCRIPT["answer"](request)  # type: ignore[operator]

    def forage(request: Any) -> Any:
        drawn = chance.random()
        if drawn < 0.5:
            return SCRIPT["forage_turn"](request)  # type: ignore[operator]
        lines = (
            "RANK: Ada Bell band",
            f"RANK: {chance.choice(TITLES)} {chance.choice(TITLES)}",
            f"READ: {chance.choice(TITLES)}.md",
            "SEARCH: whitby",
            "I am not sure.",
            "RANK:",
            "ANSWER: Low Tide",
        )
        return ForageReply(text=chance.choice(lines))

    def decompose(request: Any) -> Any:
        if chance.random() < 0.6:
            return SCRIPT["decompose"](request)  # type: ignore[operator]
        drawn = [(), ("Who is #1?",), ("Who?", "Who?"), ("Who?", "#1?", "#3?"), ("Where?",) * 9]
        return Decomposition(sub_questions=chance.choice([*drawn, ("", "x")]))

    def hop_answer(request: Any) -> Any:
        if chance.random() < 0.3:
            return HopAnswer(answer=chance.choice(("", "#1", "Low Tide", "Kestrel Records")))
        return SCRIPT["hop_answer"](request)  # type: ignore[operator]

    class Unsteady(WordRetriever):
        def search(self, *arguments: Any) -> Any:
            if chance.random() < 0.1:
                raise RetrieverTimeout("Too slow; try again later.")
            return super().search(*arguments) if chance.random() < 0.9 else []

    def plan(request: Any) -> Any:
        drawn = SCRIPT["plan"](request)  # type: ignore[operator]
        if chance.random() < 0.1:
            return drawn.model_copy(update={"required_facts": ()})
        return drawn.model_copy(update={"entities": (chance.choice(TITLES),)})

    class Shaky(WordGraph):
        def region(self, *arguments: Any) -> Any:
            if chance.random() < 0.05:
                raise RetrieverTimeout("Too slow; try again later.")
            hits = super().region(*arguments)
            scores = sorted((chance.random() for _ in hits), reverse=True)
            return [h.model_copy(update={"score": s}) for h, s in zip(hits, scores, strict=True)]

        def expand(self, *arguments: Any) -> Any:
            return [
                e.model_copy(update={"dense": chance.random()}) if e.lexical is not None else e
                for e in super().expand(*arguments)
            ]

    script = {
        "verify": verify,
        "plan": plan,
        "write_query": write_query,
        "answer": answer,
        "compose": answer,
        "forage_turn": forage,
        "decompose": decompose,
        "hop_answer": hop_answer,
    }
    return deps(script, retriever=Unsteady(), graph=Shaky(), memory=Shelf(*_remembered(chance)))


def _remembered(chance: random.Random) -> list[Artifact]:
    """Verified artifacts of a question like the one that is asked."""
    asked = chance.choice((QUESTION, f"{QUESTION[:-1]} in the end?", "Who is Ada Bell?"))
    drummer = PASSAGES[1].id
    payloads = (
        PlanArtifact(objective="Find it", required_facts=("a band",), entities=("Ada Bell",)),
        PathArtifact(nodes=("root", "topic", "about Ada Bell", drummer)),
        RegionArtifact(anchor=drummer, passages=(drummer,), committed=(drummer,)),
    )
    return [
        Artifact(
            id=artifact_id(asked, payload),
            producer=MADE_BY[payload.kind],
            store="global",
            question=asked,
            payload=payload,
            verified=True,
        )
        for payload in payloads
    ]


def drawn_decisions(name: str, runs: int) -> dict[str, list[Frozen]]:
    """Inputs of a system's decisions in many drawn worlds, by decider."""
    from core import contracts

    found: dict[str, list[Frozen]] = {d.name: [] for d in registry.system(name).deciders}
    for seed in range(runs):
        asked = QUESTION if seed % 3 else f"{QUESTION[:-1]} with money?"
        for step in run(name, drawn_world(seed), question=asked, **wide(name, seed)):
            if isinstance(step.event, Decided):
                found[step.event.decider].append(contracts.decision_inputs(step.event))
    return found


def wide(name: str, seed: int) -> dict[str, Any]:
    """Settings under which a system goes on for long, where it has such."""
    fields = registry.system(name).settings.model_fields
    chance = random.Random(1_000 + seed)
    wanted = {
        "answer_threshold": chance.choice((0.5, 0.8, 0.99)),
        "flip_threshold": chance.choice((0.0, 0.1)),
        "max_actions": chance.choice((6, 20)),
        "slot_chain": chance.random() < 0.8,
        "bypass_rule": chance.choice(("compact", "single", "off")),
        "memory": chance.choice(("shared", "isolated", "off")),
    }
    return {n: v for n, v in wanted.items() if n in fields}
