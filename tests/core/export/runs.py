"""Runs to export: of every system, of every ending, with a model, and with hostile texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import get_args

from core import registry
from core.errors import Terminal
from core.events import Called, ModelCalled, RunFinished, RunStarted, Step
from core.export import redacted
from core.faults import FAULTS, Fault
from tests.core.world import run

HOSTILE = (
    "</script><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "]]><![CDATA[<b>",
    "--><!-- <img src=x onerror=alert(1)>",
    "![p](http://evil.example/p.png) $x^2$ :red[no] {{7*7}} %s {0}",
    "<a href='http://evil.example'>go</a><iframe src=//evil.example></iframe>",
    '" onmouseover="alert(1)" \'',
    "a\u202edcba\u202c\u200b\ufeff\x1b[31m\x00 &lt;b&gt; &amp;",
    "</title></head><body onload=alert(1)><h1>",
    "<svg><script href=http://evil.example/x.js></script></svg>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
)
NASTY = " ".join(HOSTILE)
TERMINALS: tuple[str, ...] = get_args(Terminal)


@cache
def of(system: str) -> tuple[Step, ...]:
    """A run of a system in the small world."""
    return tuple(run(system))


def ending(steps: Sequence[Step], terminal: str) -> list[Step]:
    """The run with another ending; only an answered one keeps its answer."""
    *before, last = steps
    assert isinstance(last.event, RunFinished)
    change = {"terminal": terminal, "reason": f"It ended as {terminal}."}
    if terminal != "answered":
        change |= {"answer": None, "grounded": False, "citations": ()}
    return [*before, last.model_copy(update={"event": last.event.model_copy(update=change)})]


def asked_of_a_model(steps: Sequence[Step]) -> list[Step]:
    """The run as a language model would have made it: a request before each call of the reasoner,
    of the call's own tokens."""
    woven = chain.from_iterable(
        ((step, request(step, step.event)), (step, step.event))
        if isinstance(step.event, Called) and step.event.port == "reasoner"
        else ((step, step.event),)
        for step in steps
    )
    return [
        step.model_copy(update={"seq": n, "parent_seq": n - 1 if n else None, "event": event})
        for n, (step, event) in enumerate(woven)
    ]


def request(step: Step, called: Called) -> ModelCalled:
    return ModelCalled(
        task=called.task,
        prompt=f"Prompt of step {step.seq}",
        reply=f"Reply of step {step.seq}",
        model="openai/small",
        tokens_in=called.tokens_in,
        tokens_out=called.tokens_out,
        ms=called.ms,
    )


def poisoned(steps: Sequence[Step], text: str = NASTY) -> list[Step]:
    """The run with ``text`` behind every text that a document, a person or a model could give."""

    def bad(given: str) -> str:
        return f"{given} {text}"

    found = []
    for step in steps:
        event = step.event
        if isinstance(event, RunStarted):
            corpus = event.corpus.model_copy(update={"id": bad(event.corpus.id)})
            named = {"question": bad(event.question), "reasoner": bad(event.reasoner)}
            event = event.model_copy(update={**named, "corpus": corpus})
        elif isinstance(event, Called):
            event = event.model_copy(update={"error": None if event.error is None else text})
        else:
            event = redacted(step, bad).event
        found.append(step.model_copy(update={"event": event, "stage": bad(step.stage)}))
    return found


def cases() -> dict[str, list[Step]]:
    """Runs by what is special in them."""
    found = {name: list(of(name)) for name in registry.systems()}
    found |= {f"ended {t}": ending(of("beliefrag"), t) for t in TERMINALS}
    found |= {
        f"fault {f}": run("iterative", faults=(Fault(f),)) for f in FAULTS if "region" not in f
    }
    found["outside the region"] = run(
        "staterag", faults=(Fault("evidence-outside-region"),), bypass_margin=1.0
    )
    found["with a model"] = asked_of_a_model(of("beliefrag"))
    found["interrupted"] = list(of("staterag")[:-4])
    found["just begun"] = list(of("ragx")[:1])
    return found


CASES = cases()
