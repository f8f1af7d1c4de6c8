"""Validation of what belongs to a system or a port inside an otherwise closed event.

Run on every step that is appended or imported, so that the journal never holds a payload that
the code which must read it would refuse.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from core import decisions, registry
from core.errors import BadInput
from core.events import SCHEMA_VERSION, Called, Decided, Event, Proposed, RunStarted, Step
from core.faults import Fault
from core.responses import parse_response
from core.settings import SystemSettings
from core.types import Frozen, JsonObject

M = TypeVar("M", bound=BaseModel)


def check(step: Step) -> None:
    """Refuse a step whose payload its system or port would not accept.

    Raises:
        BadInput: names the step and the first thing that is wrong with it.
    """
    event = step.event
    try:
        if isinstance(event, Decided):
            decision_inputs(event)
        elif isinstance(event, Called):
            if event.error is None:
                parse_response(event.port, event.task, event.response)
        elif isinstance(event, RunStarted):
            if event.schema_version > SCHEMA_VERSION:
                raise BadInput(
                    f"The run has schema version {event.schema_version}, this product reads up to "
                    f"{SCHEMA_VERSION}; update the product to open it."
                )
            run_settings(event)
            run_faults(event)
        elif isinstance(event, Proposed):
            _proposal(event)
    except BadInput as error:
        raise BadInput(f"Step {step.seq} ({event.kind}): {error.message}") from None


def run_settings(started: RunStarted) -> SystemSettings:
    """The settings that a run was made with.

    Raises:
        BadInput: an unknown system, or settings that it does not accept.
    """
    return _parse(registry.system(started.system).settings, started.settings, "settings")


def run_faults(started: RunStarted) -> tuple[Fault, ...]:
    """The faults that a run was started with.

    Raises:
        BadInput: an unknown system or fault, or one that the system cannot meet.
    """
    chosen = tuple(Fault.parse(text) for text in started.faults)
    for fault in chosen:
        fault.check(registry.system(started.system))
    return chosen


def decision_inputs(event: Decided) -> Frozen:
    """The recorded inputs of a decision as the decider's own type.

    Raises:
        BadInput: an unknown decider, or inputs that it does not accept.
    """
    kind: type[Frozen] = decisions.get(event.decider).inputs
    return _parse(kind, event.inputs, f"inputs of {event.decider}")


def completed(event: Event) -> Event:
    """The event with its payload as it would be written now: a field that came after the record
    was made has its default.

    Raises:
        BadInput: the payload is not accepted.
    """
    found: dict[str, Frozen | SystemSettings] = {}
    if isinstance(event, Decided):
        found["inputs"] = decision_inputs(event)
    elif isinstance(event, Called) and event.error is None:
        found["response"] = parse_response(event.port, event.task, event.response)
    elif isinstance(event, RunStarted):
        found["settings"] = run_settings(event)
    elif isinstance(event, Proposed):
        found["value"] = _proposal(event)
    return event.model_copy(update={n: v.model_dump(mode="json") for n, v in found.items()})


@cache
def _payloads() -> dict[str, type[Frozen]]:
    return {role: kind for s in registry.systems().values() for role, kind in s.payloads}


def _proposal(event: Proposed) -> Frozen:
    if event.role not in _payloads():
        raise BadInput(f"an unknown role {event.role!r} proposes a value")
    if not isinstance(event.value, dict):
        raise BadInput(f"the value proposed by {event.role!r} is not an object")
    return _parse(_payloads()[event.role], event.value, f"value of {event.role}")


def _parse(kind: type[M], value: JsonObject, what: str) -> M:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The {what} are invalid at {where or 'the top'}: {first['msg']}.") from None
