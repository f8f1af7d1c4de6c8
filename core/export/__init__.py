"""A run as a file: JSON lines, a self-contained page, or OpenInference spans.

Every form is a pure function of the recorded steps, so the same run gives the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_origin

from pydantic import BaseModel

from core import jsonl
from core.errors import BadInput
from core.events import Step
from core.export import page, spans
from core.reasoning.llm.redact import Redact
from core.settings import unknown_name


@dataclass(frozen=True, slots=True)
class Format:
    """One form of a run's file; ``verbatim`` where it must be the record, character by character,
    so that it can be imported, replayed and forked."""

    name: str
    title: str
    summary: str
    suffix: str
    mime: str
    dump: Callable[[Sequence[Step]], str]
    verbatim: bool = False


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format(
            "jsonl",
            "JSON lines",
            "the whole run; it opens on any other machine",
            "jsonl",
            "application/jsonl",
            jsonl.dump,
            verbatim=True,
        ),
        Format("html", "page", "one file to read, print or send", "html", "text/html", page.dump),
        Format(
            "openinference",
            "OpenInference",
            "spans for a tracing tool, as OTLP JSON",
            "openinference.json",
            "application/json",
            spans.dump,
        ),
    )
}
"""Every form by its name."""


def written(steps: Sequence[Step], name: str, redact: Redact) -> str:
    """A run in one of the forms.

    What the record masks is masked in all of them. ``redact`` is applied to every text of those
    that are only read, since documents and questions may hold what looks like a key as well.

    Raises:
        BadInput: there is no such form, or no step.
    """
    if name not in FORMATS:
        raise BadInput(unknown_name("format", name, FORMATS))
    if not steps:
        raise BadInput("The run has no step yet; export it when it has begun.")
    form = FORMATS[name]
    return form.dump(steps if form.verbatim else [redacted(step, redact) for step in steps])


def redacted(step: Step, redact: Redact) -> Step:
    """The step with every text in it redacted; the same object where nothing had to be."""
    clean: Step = _redacted(step, redact)
    return clean


@cache
def _closed(kind: type[BaseModel]) -> frozenset[str]:
    """Fields that take one of a few known words, which give nothing away."""
    fields = kind.model_fields.items()
    return frozenset(n for n, f in fields if get_origin(f.annotation) is Literal)


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        clean = redact(value)
        return value if clean == value else clean
    if isinstance(value, BaseModel):
        closed = _closed(type(value))
        fields = {n: _redacted(held, redact) for n, held in value if n not in closed}
        changed = {n: new for n, new in fields.items() if new is not getattr(value, n)}
        return value.model_copy(update=changed) if changed else value
    if isinstance(value, dict):
        pairs = {_redacted(k, redact): _redacted(v, redact) for k, v in value.items()}
        return value if all(k in value and value[k] is v for k, v in pairs.items()) else pairs
    if isinstance(value, (tuple, list)):
        items = [_redacted(held, redact) for held in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    return value
