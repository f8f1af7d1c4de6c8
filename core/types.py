"""Frozen values that every other module speaks in."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

JsonObject = dict[str, JsonValue]
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
LARGEST = 2**63 - 1
"""The largest whole number that a journal can hold."""
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Seed = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Channel = Literal["lexical", "dense", "fused"]
Op = Literal[">=", ">", "<=", "<", "=="]


class Frozen(BaseModel):
    """An immutable value; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def as_json(value: Frozen) -> JsonObject:
    """The JSON form of a value, for a journaled payload."""
    dumped: JsonObject = value.model_dump(mode="json")
    return dumped


def digest(value: object) -> str:
    """SHA-256 (first 16 hex digits) of the canonical JSON of ``value``, or of the text itself.

    Equal values give equal digests whatever the order of their keys.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Metadata(Frozen):
    """What is known of a document besides its text. Absent means unknown, never a default."""

    source_tier: str | None = None
    date: str | None = None
    superseded_by: str | None = None
    tenant: str | None = None
    jurisdiction: str | None = None
    url: str | None = None


class Passage(Frozen):
    """A chunk of a document.

    ``text == document_text[start:end]`` (character offsets); ``line_start``/``line_end`` are
    1-based and inclusive. ``id`` and ``digest`` derive from the content, so that re-indexing
    unchanged text gives the same passage.
    """

    id: str
    document: str
    title: str
    text: str
    start: Count = 0
    end: Count = 0
    digest: str = ""
    line_start: Annotated[int, Field(ge=1)] = 1
    line_end: Annotated[int, Field(ge=1)] = 1
    metadata: Metadata = Metadata()


class Scored(Frozen):
    """A passage as a retriever returned it.

    ``score`` is in the channel's own scale, ``calibrated`` is sigmoid((score - mu)/tau) with
    the channel's fitted location and scale, ``rank`` counts from 1; ``lexical`` and ``dense``
    are the two channels' own scores where they were computed, ``reranked`` a cross-encoder's,
    which then is the ``score`` as well.
    """

    passage: Passage
    score: Finite
    calibrated: Unit
    rank: Annotated[int, Field(ge=1)]
    lexical: Finite | None = None
    dense: Finite | None = None
    reranked: Finite | None = None


class Citation(Frozen):
    """A place that supports the answer: ``quote == passage.text[start:end]``."""

    passage_id: str
    start: Count
    end: Count
    quote: str


class Answer(Frozen):
    """What a reader says, from which passages, and whether the text bears it out."""

    text: str
    grounded: bool = False
    citations: tuple[Citation, ...] = ()


class Usage(Frozen):
    """What a run has spent. ``cost`` is in US dollars, ``seconds`` is wall time."""

    calls: Count = 0
    tokens: Count = 0
    rounds: Count = 0
    actions: Count = 0
    seconds: Annotated[float, Field(ge=0)] = 0.0
    cost: Annotated[float, Field(ge=0)] = 0.0


class Budgets(Frozen):
    """Hard limits of a run; ``None`` is no limit. Checked before a step, never after."""

    calls: Annotated[int, Field(ge=1)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None
    rounds: Count | None = None
    actions: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    cost: Annotated[float, Field(ge=0)] | None = None


class CorpusRef(Frozen):
    """Which corpus, in which state: ``version`` is the hash of its content and indexing."""

    id: str
    version: str


class Access(Frozen):
    """What the asker may see. ``None`` grants everything, a set grants just its members.

    A passage without a tenant is common to all tenants; a passage of a tenant outside
    ``tenants`` or of a source tier outside ``source_tiers`` is never returned or counted.
    """

    tenants: frozenset[str] | None = None
    source_tiers: frozenset[str] | None = None

    def allows(self, metadata: Metadata) -> bool:
        """Whether a passage with this metadata may be seen."""
        tenants, tenant = self.tenants, metadata.tenant
        if tenants is not None and tenant is not None and tenant not in tenants:
            return False
        return self.source_tiers is None or metadata.source_tier in self.source_tiers


class Gate(Frozen):
    """One named comparison inside a decision.

    ``margin`` is how far the value is on the firing side of the threshold (negative: how far
    it is from firing), in the value's own unit.
    """

    name: str
    value: Finite
    op: Op
    threshold: Finite
    margin: Finite
    fired: bool
