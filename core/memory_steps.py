"""Shared IO steps over the global store of the shared memory pool.

Memory is a help, never a need: where the store fails, that is said and the run goes on without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.events import Warned
from core.memory import Artifact, Persisted, Recalled
from core.ports import Deps
from core.steps import Stage, call_port, emit
from core.types import as_json


def recall(
    deps: Deps, question: str, select: Callable[[Sequence[Artifact]], Sequence[Artifact]]
) -> Stage[tuple[Artifact, ...]]:
    """What ``select`` takes of the snapshot that the run started from."""

    def call() -> Recalled:
        return Recalled(artifacts=tuple(select(deps.memory.entries())))

    called, recalled, failure = call_port(deps, "recall", {"question": question}, call, "memory")
    if failure is not None:
        yield from emit(deps, called)
        yield from _say(deps, failure.reason_code, f"{failure.message} The run goes on without it.")
        return ()
    yield from emit(deps, called.model_copy(update={"response": as_json(recalled)}))
    return recalled.artifacts


def persist(deps: Deps, artifacts: Sequence[Artifact], used: Sequence[str]) -> Stage[Persisted]:
    """Keep artifacts beyond the run, and note which older ones it used."""
    called, persisted, failure = call_port(
        deps,
        "persist",
        {"artifacts": [a.id for a in artifacts], "used": [*used]},
        lambda: deps.memory.persist(artifacts, used),
        "memory",
    )
    if failure is not None:
        yield from emit(deps, called)
        yield from _say(deps, failure.reason_code, f"{failure.message} Nothing was kept.")
        return Persisted(kept=())
    yield from emit(deps, called.model_copy(update={"response": as_json(persisted)}))
    return persisted


def _say(deps: Deps, fault: str, effect: str) -> Stage[None]:
    yield from emit(deps, Warned(fault=fault, where=f"{deps.stage}: memory", effect=effect))
