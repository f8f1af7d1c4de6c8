"""The small world of the core's tests as one that worker processes can open."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.ports import Deps
from core.types import Passage
from tests.core.world import PASSAGES, QUESTION, SCRIPT, WordGraph, deps


@dataclass(frozen=True)
class SmallWorld:
    """Opened anew in every process; ``corpus`` tells worlds of different content apart."""

    corpus: str = "world"

    def open(self) -> Deps:
        return deps()

    def passages(self) -> Sequence[Passage]:
        return PASSAGES


@dataclass(frozen=True)
class BrokenWorld(SmallWorld):
    """Its reader breaks in a way that no contract foresees."""

    def open(self) -> Deps:
        def broken(request: Any) -> Any:
            raise ZeroDivisionError

        return deps({"answer": broken})


class OtherGraph(WordGraph):
    digest = "other words"


@dataclass(frozen=True)
class OtherGraphWorld(SmallWorld):
    """The same corpus with a graph of other settings."""

    def open(self) -> Deps:
        return deps(graph=OtherGraph())


@dataclass(frozen=True)
class KillingWorld(SmallWorld):
    """Its reader kills the process that it runs in, once it is asked about fish."""

    def open(self) -> Deps:
        def answer(request: Any) -> Any:
            if "fish" in request.question:
                os.kill(os.getpid(), signal.SIGKILL)
            reply = SCRIPT["answer"]
            assert callable(reply)
            return reply(request)

        return deps({"answer": answer})


ASKED: list[dict[str, Any]] = [
    {
        "id": "band",
        "question": QUESTION,
        "answers": ["Low Tide"],
        "gold": [
            {"document": "Kestrel Records.md", "quote": "the drummer Ada Bell"},
            {"document": "Ada Bell.md", "quote": "founded the band Low Tide"},
        ],
        "type": "bridge",
        "hops": 2,
    },
    {
        "id": "town",
        "question": "What fish is smoked in Whitby?",
        "answers": ["herring"],
        "gold": [{"document": "Herring.md", "quote": "The herring is a fish"}],
        "type": "single",
        "hops": 1,
    },
    {
        "id": "nothing",
        "question": "xyzzy?",
        "answers": [],
        "expected_terminal": "abstained",
    },
]


def question_file(folder: Path, items: list[dict[str, Any]] | None = None) -> Path:
    path = folder / "questions.jsonl"
    lines = (json.dumps(item) for item in (ASKED if items is None else items))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
