"""Asks in child processes and kills them at random moments; run as a program of its own.

``python -m tests.core.killing DIR SEED...``: for every seed the printed lines go to DIR/SEED.jsonl
and the journal to DIR/SEED/. One process that forks is quicker than one start for each seed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

from core import wiring
from core.cli.main import main
from tests.core.bench import Bench
from tests.core.world import QUESTION, run

CASES: tuple[tuple[str, dict[str, float]], ...] = (
    ("beliefrag", {"answer_threshold": 0.99, "max_actions": 40, "max_rounds": 12}),
    ("iterative", {"max_actions": 40, "max_rounds": 12}),
    ("static", {}),
    ("staterag", {"bypass_coverage": 1.0, "max_actions": 40}),
    ("ragx", {}),
)


def case(seed: int) -> tuple[str, dict[str, float]]:
    """The system of a seed and its settings."""
    return CASES[seed % len(CASES)]


def ask(seed: int, directory: Path) -> int:
    name, settings = case(seed)
    more = [part for n, v in settings.items() for part in ("--set", f"{n}={v}")]
    place = ("--journal", str(directory / str(seed)))
    question = ("--corpus", "world", "--question", QUESTION)
    return main(["ask", "--system", name, *question, "--jsonl", *place, *more])


def kill(seed: int, directory: Path) -> None:
    """Starts a child, reads some of its lines, and kills it a random while later."""
    chance = random.Random(seed)
    name, settings = case(seed)
    enough = max(2, len(run(name, **settings)) // 2)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 1)
        sys.stdout = os.fdopen(1, "w", buffering=1)
        os._exit(ask(seed, directory))
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        printed = [lines.readline() for _ in range(chance.randrange(1, enough))]
        for _ in range(chance.randrange(20_000)):
            pass
        os.kill(child, signal.SIGKILL)
        printed.append(lines.read())
    os.waitpid(child, 0)
    (directory / f"{seed}.jsonl").write_bytes(b"".join(printed))


if __name__ == "__main__":
    wiring.Workbench = Bench  # type: ignore[assignment, misc]
    for argument in sys.argv[2:]:
        kill(int(argument), Path(sys.argv[1]))
