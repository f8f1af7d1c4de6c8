"""Step overhead beside LangGraph's, and replayed decisions a second.

A step here is one event: validated, put in its envelope, committed to the journal (SQLite, WAL,
``synchronous=NORMAL``), then shown. The same cycle in LangGraph is a graph of one node that makes
and validates the same event, writes it to its state, and loops; with ``SqliteSaver`` (WAL as well,
``durability="sync"``, so that a step is on disk before the next), with ``InMemorySaver``, and
without any checkpointer. Only the newest event is in LangGraph's state, so that its checkpoints do
not grow. All are measured in turn, several times, and the fastest of each counts.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core import runs
from core.adapters.clock import SystemClock
from core.evaluation.report import Table, markdown
from core.events import (
    Decided,
    DiagnosticsMeasured,
    Event,
    EvidenceChanged,
    QueryIssued,
    RunFinished,
    RunStarted,
    Step,
)
from core.journal import Journal
from core.ports import Deps
from core.reasoning.scripted import ScriptedReasoner
from core.registry import system
from core.replay import ParsedRun
from core.steps import Emit
from core.systems.beliefrag.belief import Observation
from core.systems.beliefrag.decide import ACT, BeliefInputs
from core.types import CorpusRef, Usage

STEPS, REPEATS = 200, 9
DECISIONS, SLIDES = 400, 25
Timed = Callable[[], float]


def event(n: int) -> Event:
    """One of four kinds of event, as small and as large as a run's are."""
    match n % 4:
        case 0:
            return QueryIssued(
                query=f"the singer of the band that drummer {n} founded",
                parent="who sings in the band",
                transformation="bridge",
                rationale="names the band that was found last",
                overlap=0.25,
            )
        case 1:
            return DiagnosticsMeasured(
                relevance=0.5, support=0.4, conflict=0.0, uncertainty=0.6, gap=0.7, novelty=1.0
            )
        case 2:
            ids = tuple(f"{n:08x}{i:08x}" for i in range(5))
            return EvidenceChanged(added=ids, reason="retrieved")
    inputs = {"rounds": 1, "actions": n, "tokens": 900, "evidence": 5, "next_tokens": 1_200}
    return Decided(
        decider="static.next", inputs=inputs, gates=(), outcome="answer", reason="It is done."
    )


class _Nothing:
    """Ports that are never asked."""

    corpus = CorpusRef(id="none", version="1")

    def count(self, text: str) -> int:
        return len(text.split())


def ours(folder: Path) -> Timed:
    """A run of ``STEPS`` events through ``runs.execute`` into a journal."""

    def controller(question: str, deps: Deps, settings: Any) -> Iterator[Emit]:
        for n in range(STEPS):
            yield Emit((event(n),), "decide")
        finished = RunFinished(
            terminal="abstained",
            branch="done",
            answer=None,
            grounded=False,
            citations=(),
            evidence=(),
            usage=deps.ledger.usage(),
        )
        yield Emit((finished,), "decide")

    static = system("static")
    measured = replace(static, run=controller)
    nothing: Any = _Nothing()
    deps = Deps(nothing, ScriptedReasoner({}, nothing), nothing, SystemClock())
    journal = Journal(folder)

    def once() -> float:
        spec = runs.RunSpec(measured, "How long does a step take?", static.settings())
        started = time.perf_counter()
        count = sum(1 for _ in runs.execute(spec, deps, journal))
        taken = time.perf_counter() - started
        assert journal.run(spec.run_id).steps == count == STEPS + 2
        return taken / STEPS

    return once


def langgraph(saver: Any, durability: str | None) -> Timed:
    """A graph whose one node makes an event and loops ``STEPS`` times."""
    from langgraph.graph import END, START, StateGraph
    from pydantic import BaseModel

    class State(BaseModel):
        n: int = 0
        newest: Event | None = None

    def step(state: State) -> dict[str, Any]:
        return {"n": state.n + 1, "newest": event(state.n)}

    graph = StateGraph(State)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda s: END if s.n >= STEPS else "step")
    app = graph.compile(checkpointer=saver)
    runs_made = iter(range(10**9))

    def once() -> float:
        config = {
            "recursion_limit": STEPS + 10,
            "configurable": {"thread_id": str(next(runs_made))},
        }
        more = {} if durability is None else {"durability": durability}
        started = time.perf_counter()
        count = sum(1 for _ in app.stream(State(), config, stream_mode="updates", **more))
        taken = time.perf_counter() - started
        assert count == STEPS
        return taken / STEPS

    return once


def fastest(timed: dict[str, Timed]) -> dict[str, float]:
    """The best of several times of each, taken in turn so that all see the same machine."""
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(REPEATS):
        for name, once in timed.items():
            best[name] = min(best[name], once())
    return best


def steps_table() -> Table:
    """Microseconds a step, and our share of each."""
    with tempfile.TemporaryDirectory() as folder:
        timed = {"this journal": ours(Path(folder) / "ours")}
        try:
            from langgraph.checkpoint.memory import InMemorySaver
            from langgraph.checkpoint.sqlite import SqliteSaver
        except ImportError:
            print("LangGraph is not installed (benchmarks/requirements.txt); ours alone:\n")
            found = fastest(timed)
        else:
            with SqliteSaver.from_conn_string(str(Path(folder) / "langgraph.db")) as saver:
                timed["LangGraph, SQLite checkpointer"] = langgraph(saver, "sync")
                timed["LangGraph, in memory"] = langgraph(InMemorySaver(), None)
                timed["LangGraph, no checkpointer"] = langgraph(None, None)
                found = fastest(timed)
    mine = found["this journal"]
    asked = {"LangGraph, SQLite checkpointer": 0.2, "LangGraph, in memory": 0.7}
    lines = []
    for name, seconds in found.items():
        ratio, limit = mine / seconds, asked.get(name)
        holds = "" if limit is None else "yes" if ratio <= limit else "NO"
        wanted = "" if limit is None else f"at most {limit}"
        lines.append((name, f"{seconds * 1e6:.0f}", f"{ratio:.2f}", wanted, holds))
    return Table(("a step in", "µs", "ours / it", "asked", "holds"), lines)


def decided_run() -> list[Step]:
    """A run of BeliefRAG decisions over one to four observations each."""
    chance, settings = random.Random(0), system("beliefrag").settings()
    now = datetime.now(UTC)

    def observation() -> Observation:
        return Observation(
            calibrated=tuple(chance.random() for _ in range(5)),
            support=chance.random(),
            conflict=chance.random() * 0.5,
            uncertainty=chance.random(),
            gap=chance.random(),
            novelty=chance.random(),
            tokens=chance.randrange(8_000),
        )

    def step(seq: int, made: Event) -> Step:
        parent = seq - 1 if seq else None
        return Step(
            run_id="bench",
            seq=seq,
            parent_seq=parent,
            at=now,
            elapsed_ms=0,
            stage="decide",
            event=made,
        )

    started = RunStarted(
        system="beliefrag",
        question="?",
        settings=settings.model_dump(mode="json"),
        corpus=CorpusRef(id="none", version="1"),
        reasoner="extractive",
        model=None,
        budgets=settings.budgets(),
        seed=0,
        memory_digest="empty",
        origin="live",
    )
    steps = [step(0, started)]
    for n in range(DECISIONS):
        inputs = BeliefInputs(
            reasoner="extractive",
            observations=tuple(observation() for _ in range(1 + n % 4)),
            rounds=n % 4,
            actions=n % 6,
            tokens=chance.randrange(8_000),
            evidence=5 * (n % 4 > 0),
            unhelpful=chance.randrange(3),
        )
        made = ACT(inputs, settings)
        decided = Decided(
            decider=ACT.name,
            inputs=inputs.model_dump(mode="json"),
            gates=made.gates,
            outcome=made.outcome,
            reason=made.reason,
        )
        steps.append(step(n + 1, decided))
    assert steps[-1].usage == Usage()
    return steps


def replay_table() -> Table:
    """Decisions a second of processor time while a slider moves: the decider alone, through
    ``ParsedRun``, and there while a slider moves that no decision reads."""
    run = ParsedRun(decided_run())
    inputs = [d.inputs for d in run.decisions]
    thresholds = [{"answer_threshold": 0.3 + 0.4 * i / SLIDES} for i in range(SLIDES)]
    costs = [{"max_cost": 1.0 + i} for i in range(SLIDES)]
    deciding, unread = (
        [run.settings.model_copy(update=move) for move in moves] for moves in (thresholds, costs)
    )

    def alone() -> float:
        started = time.process_time()
        for settings in deciding:
            for one in inputs:
                ACT.decide(one, settings)
        return (time.process_time() - started) / (SLIDES * DECISIONS)

    def through(moves: list[Any]) -> Timed:
        def once() -> float:
            run.outcomes(moves[0])
            run.outcomes(moves[1])
            started = time.process_time()
            for settings in moves:
                run.outcomes(settings)
            return (time.process_time() - started) / (SLIDES * DECISIONS)

        return once

    found = fastest(
        {
            "the decider": alone,
            "a parsed run, threshold moved": through(deciding),
            "a parsed run, cost limit moved": through(unread),
        }
    )
    lines = []
    for name, seconds in found.items():
        rate = 1 / seconds
        holds = "yes" if rate >= 20_000 else "NO"
        lines.append((name, f"{rate:,.0f}", "at least 20,000", holds))
    return Table(("BeliefRAG decisions through", "a second", "asked", "holds"), lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both; 0 whatever came out."""
    print(f"## Steps ({STEPS} a run, the fastest of {REPEATS} runs)\n")
    print(markdown(steps_table()))
    print(f"\n## Replay ({DECISIONS} decisions, {SLIDES} settings, parsing apart)\n")
    print(markdown(replay_table()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
