"""Settings: one field per knob, declared once beside the controller that uses it.

``knob`` declares the field with its role, bounds, title and group. The settings panel, the
command line's ``--set``, the URL, profiles and the journal all read ``model_fields``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from rapidfuzz import process

from core.errors import BadInput
from core.memory import MemoryMode
from core.types import Budgets, Channel


class Role(StrEnum):
    """What a change of a setting means for a recorded run.

    ``DECISION``: read by deciders only, so the run re-decides. ``ACTION``: changes what was
    fetched or asked, so the run is unknown from the setting's first use. ``INDEX``: changes the
    index, so the run is unknown from its first retrieval.
    """

    DECISION = "decision"
    ACTION = "action"
    INDEX = "index"


def knob(
    default: Any,
    *,
    role: Role,
    title: str,
    description: str,
    group: str = "Control",
    first_use: str = "",
    unit: str = "",
    step: float | None = None,
    advanced: bool = False,
    **bounds: Any,
) -> Any:
    """A settings field.

    ``first_use`` names where an action or index setting first matters: a kind of event
    (``Retrieved`` where a search uses it), a decider whose inputs it shapes, or a port's task
    (``retriever.region``); ``step`` is the slider's step; ``bounds`` are
    Pydantic's ``ge``, ``gt``, ``le``, ``lt``.
    """
    if role is not Role.DECISION and not first_use:
        raise ValueError(f"{title}: an {role} setting declares where it is first used")
    return Field(
        default,
        title=title,
        description=description,
        json_schema_extra={
            "role": role.value,
            "group": group,
            "first_use": first_use,
            "unit": unit,
            "step": step,
            "advanced": advanced,
        },
        **bounds,
    )


class SystemSettings(BaseModel):
    """Knobs that every system has; each system subclasses it and sets its own defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    channel: Channel = knob(
        "fused",
        role=Role.ACTION,
        first_use="Retrieved",
        group="Retrieval",
        title="Channel",
        description="Lexical (BM25), dense (embeddings), or both fused by reciprocal rank.",
    )
    top_k: int = knob(
        5,
        ge=1,
        le=50,
        role=Role.ACTION,
        first_use="Retrieved",
        group="Retrieval",
        unit="passages",
        title="Passages a retrieval",
        description="How many passages one search returns.",
    )
    evidence_window: int = knob(
        10,
        ge=1,
        le=50,
        role=Role.ACTION,
        first_use="EvidenceChanged",  # what answering would take is reckoned from the first held
        group="Budgets",
        unit="passages",
        title="Reader window",
        description="At most this many retained passages are shown to the reader.",
    )
    max_rounds: int = knob(
        3,
        ge=0,
        le=20,
        role=Role.DECISION,
        group="Budgets",
        unit="rounds",
        title="Retrieval rounds",
        description="At most this many searches.",
    )
    max_actions: int = knob(
        6,
        ge=1,
        le=60,
        role=Role.DECISION,
        group="Budgets",
        unit="actions",
        title="Actions",
        description="At most this many controller actions, the answer included.",
    )
    token_budget: int = knob(
        12_000,
        ge=100,
        le=1_000_000,
        role=Role.DECISION,
        group="Budgets",
        unit="tokens",
        title="Token budget",
        description="Every text given to or taken from the reasoner counts against it.",
    )
    max_calls: int = knob(
        40,
        ge=1,
        le=1_000,
        role=Role.ACTION,
        first_use="RunStarted",
        group="Budgets",
        unit="calls",
        title="Reasoner calls",
        description="At most this many calls of the reasoner, retries included.",
        advanced=True,
    )
    max_seconds: float = knob(
        600.0,
        gt=0,
        le=86_400,
        role=Role.ACTION,
        first_use="RunStarted",
        group="Budgets",
        unit="s",
        title="Time limit",
        description="No step starts after this much time.",
        advanced=True,
    )
    max_cost: float = knob(
        5.0,
        ge=0,
        le=1_000,
        role=Role.ACTION,
        first_use="RunStarted",
        group="Budgets",
        unit="USD",
        title="Cost limit",
        description="No model call starts that could pass this cost; local reasoners cost nothing.",
        advanced=True,
    )

    def memory_mode(self) -> MemoryMode:
        """How a run uses the shared memory pool; off where the system has none."""
        return "off"

    def budgets(self) -> Budgets:
        """The hard limits that the ledger enforces."""
        return Budgets(
            calls=self.max_calls,
            tokens=self.token_budget,
            rounds=self.max_rounds,
            actions=self.max_actions,
            seconds=self.max_seconds,
            cost=self.max_cost,
        )


S = TypeVar("S", bound=BaseModel)


def extra(settings: type[BaseModel], name: str) -> dict[str, Any]:
    """What ``knob`` declared of a field beside Pydantic's own metadata."""
    declared = settings.model_fields[name].json_schema_extra
    return dict(declared) if isinstance(declared, dict) else {}


def role_of(settings: type[BaseModel], name: str) -> Role:
    """The role that a knob declares.

    Raises:
        KeyError: the settings have no such knob, or it was not declared with ``knob``.
    """
    return Role(extra(settings, name)["role"])


def changed(before: BaseModel, after: BaseModel) -> tuple[str, ...]:
    """Names of the fields whose values differ, in declaration order."""
    return tuple(n for n in type(after).model_fields if getattr(before, n) != getattr(after, n))


def override(settings: S, values: Mapping[str, JsonValue]) -> S:
    """``settings`` with some values replaced, validated as a whole.

    Raises:
        BadInput: an unknown name (the nearest known one is offered) or a value out of bounds.
    """
    kind = type(settings)
    for name in values:
        if name not in kind.model_fields:
            raise BadInput(unknown_name("setting", name, kind.model_fields))
    try:
        return kind.model_validate({**settings.model_dump(), **values})
    except ValidationError as error:
        raise BadInput(_describe(kind, error)) from None


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """One sentence that names the nearest known name and all the others."""
    names = sorted(known)
    near = process.extractOne(name, names, score_cutoff=60)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"Unknown {what} {name!r}.{hint} Known: {', '.join(names) or 'none'}."


def parse_assignments(pairs: Iterable[str]) -> dict[str, JsonValue]:
    """``key=value`` strings as a mapping; a value is JSON, or else the bare word itself.

    Raises:
        BadInput: a pair without ``=``, or one name given twice with different values.
    """
    values: dict[str, JsonValue] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        name = name.strip()
        if not sign or not name:
            raise BadInput(f"--set takes key=value, not {_short(pair)}.")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        if name in values and values[name] != value:
            raise BadInput(f"--set gives {name!r} twice with different values.")
        values[name] = value
    return values


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _describe(kind: type[BaseModel], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else kind.__name__
    title = kind.model_fields[name].title if name in kind.model_fields else name
    return f"Setting {name!r} ({title}): {first['msg']}; got {_short(first.get('input'))}."
