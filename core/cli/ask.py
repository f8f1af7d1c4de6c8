"""``ask``: one run, shown as it happens."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Literal

import typer

from core import registry, trace
from core.cli.options import (
    FAULT_HELP,
    ApiBase,
    JournalDir,
    Json,
    Model,
    Seed,
    Settings,
    progress_line,
)
from core.errors import BadInput, RagError
from core.events import RunFinished, Step
from core.faults import Fault, unstruck
from core.narration import narrate, plain
from core.runs import RunSpec, execute
from core.settings import override, parse_assignments
from core.types import JsonObject

SystemName = Annotated[str, typer.Option("--system", help="A system; see `systems`.")]
Corpus = Annotated[str, typer.Option("--corpus", help="A corpus by name, or a folder.")]
Question = Annotated[str, typer.Option("--question", help="The question.")]
Memory = Annotated[
    Literal["isolated", "shared", "off"] | None,
    typer.Option(
        "--memory", help="The shared memory pool, where the system has one; isolated if not given."
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Option("--fault", metavar="KIND[@STAGE]", help=f"{FAULT_HELP} May be repeated."),
]
Jsonl = Annotated[bool, typer.Option("--jsonl", help="Print each step as a line of JSON.")]


def ask(
    system: SystemName,
    corpus: Corpus,
    question: Question,
    model: Model = "extractive",
    settings: Settings = None,
    seed: Seed = 0,
    memory: Memory = None,
    fault: Faults = None,
    as_jsonl: Jsonl = False,
    as_json: Json = False,
    journal: JournalDir = None,
    api_base: ApiBase = None,
) -> None:
    """Ask a question. Ctrl-C stops the run after the step it is at."""
    if as_json and as_jsonl:
        raise BadInput("Choose --json or --jsonl, not both.")
    chosen = registry.system(system)
    values = parse_assignments(settings or [])
    if memory is not None:
        if "memory" in chosen.settings.model_fields:
            values = parse_assignments([*(settings or []), f"memory={memory}"])
        elif memory == "shared":
            raise BadInput(f"{chosen.title} has no shared memory; leave --memory out.")
    spec = RunSpec(
        chosen,
        question,
        override(chosen.settings(), values),
        seed=seed,
        faults=tuple(Fault.parse(text) for text in fault or []),
    )
    from core.wiring import Workbench

    bench = Workbench(journal_dir=journal)
    kept = bench.journal
    index = bench.library.ensure(corpus, progress_line())  # what is loaded here is not run time
    deps = bench.deps_over(index, model, api_base=api_base)
    bench.embedder.load()  # once a process, and no part of a run's seconds
    with suppress(Exception):  # a failure belongs into the run, where it will come again
        deps.retriever.search(question, 1, spec.settings.channel, deps.access)
    steps: list[Step] = []
    with _stopping() as stopped:
        for step in _told(execute(spec, deps, kept, stopped.is_set)):
            steps.append(step)
            if as_jsonl:
                print(step.model_dump_json(), flush=True)
            elif not as_json:
                line = narrate(step, trace.titles(steps))
                print(f"{step.seq:>4}  {step.stage:<10}  {line}", flush=True)
    if as_json:
        print(json.dumps(outcome(steps), ensure_ascii=False))
    elif not as_jsonl:
        _conclude(steps)
    for missed in unstruck(steps, spec.faults):
        print(
            f"The fault {missed.text} did not strike: the run never asked there what it concerns.",
            file=sys.stderr,
        )


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """An event that the first interrupt or termination signal sets; a second one strikes."""
    stopped = threading.Event()
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, _: object) -> None:
        stopped.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _told(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps; an internal error after the run's end is told beside it, for the end stands."""
    finished = False
    try:
        for step in steps:
            finished = isinstance(step.event, RunFinished)
            yield step
    except RagError:
        raise
    except Exception as error:
        if not finished:
            raise
        print(f"Internal error, {type(error).__name__}: {plain(str(error), 300)}", file=sys.stderr)


def outcome(steps: list[Step]) -> JsonObject:
    """What a finished run came to, as ``ask --json`` prints it."""
    end, known = steps[-1].event, trace.passages(steps)
    assert isinstance(end, RunFinished)
    usage: JsonObject = end.usage.model_dump(mode="json")
    return {
        "run_id": steps[0].run_id,
        "system": trace.start(steps).system,
        "terminal": end.terminal,
        "branch": end.branch,
        "answer": end.answer,
        "grounded": end.grounded,
        "citations": [
            {
                "passage_id": c.passage_id,
                "title": known[c.passage_id].title,
                "document": known[c.passage_id].document,
                "start": c.start,
                "end": c.end,
                "quote": c.quote,
            }
            for c in end.citations
        ],
        "evidence": list(end.evidence),
        "usage": usage,
    }


def _conclude(steps: list[Step]) -> None:
    end, known = steps[-1].event, trace.passages(steps)
    assert isinstance(end, RunFinished)
    print()
    print(f"Answer: {plain(end.answer, 2_000)}" if end.answer is not None else "No answer.")
    for c in end.citations:
        print(f"  {plain(known[c.passage_id].title, 60)}: “{plain(c.quote, 200)}”")
    if end.answer is not None and not end.grounded:
        print("  Not found in the sources.")
    print(f"{end.terminal} ({end.branch}): {plain(end.reason, 300)}")
    print(f"Run {steps[0].run_id}")
