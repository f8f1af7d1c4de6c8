"""OTLP JSON: how a span and its attributes are written for a collector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.types import JsonObject, digest

UNSET, OK, ERROR = 0, 1, 2
"""Codes of a span's status."""
_INTERNAL = 1
Attributes = dict[str, Any]


@dataclass(slots=True)
class Span:
    """One span. ``start`` and ``end``: nanoseconds since 1970; ``number``: place in the trace."""

    number: int
    name: str
    parent: Span | None
    start: int
    end: int
    attributes: Attributes
    status: int = OK
    message: str = ""
    events: list[JsonObject] = field(default_factory=list)


def encoded(span: Span, run_id: str) -> JsonObject:
    """The span as OTLP JSON writes it; its ids derive from the run's id."""
    status: JsonObject = {"code": span.status}
    if span.message:
        status["message"] = span.message
    found: JsonObject = {
        "traceId": digest(f"{run_id} trace") + digest(f"{run_id} run"),
        "spanId": _span_id(run_id, span),
        "parentSpanId": "" if span.parent is None else _span_id(run_id, span.parent),
        "name": span.name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": attributes(span.attributes),
        "status": status,
    }
    if span.events:
        events: list[Any] = span.events
        found["events"] = events
    return found


def _span_id(run_id: str, span: Span) -> str:
    return digest(f"{run_id} {span.number}")


def attributes(values: Mapping[str, Any]) -> list[Any]:
    """Attributes as OTLP's list of keys and typed values."""
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Any) -> JsonObject:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    values: list[Any] = [_value(item) for item in value]
    return {"arrayValue": {"values": values}}
