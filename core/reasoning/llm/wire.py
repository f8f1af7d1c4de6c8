"""What a model is asked to write: one flat type per task.

Every field is required, numbers are whole percents and handles are the numbers of the prompt,
so that the schema stays inside what every provider's structured output takes. ``Handle`` names
in its schema which numbering of the prompt it refers to; ``schema`` puts the highest number in.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from core.types import Frozen

Percent = Annotated[int, Field(ge=0, le=100)]
Short = Annotated[str, Field(max_length=400)]

HANDLE = "x-handle"


def _handle(kind: str, lowest: int = 1) -> Any:
    return Field(ge=lowest, json_schema_extra={HANDLE: kind})


PassageHandle = Annotated[int, _handle("passages")]
ClaimHandle = Annotated[int, _handle("claims")]
FacetHandle = Annotated[int, _handle("facets")]
SourceHandle = Annotated[int, _handle("sources", lowest=0)]
PassageHandles = Annotated[tuple[PassageHandle, ...], Field(max_length=100)]


class WireVerification(Frozen):
    """Reply to ``verify``."""

    missing: Annotated[tuple[Short, ...], Field(max_length=8)]
    draft: Short
    support: Percent
    gap: Percent
    uncertainty: Percent
    conflict: Percent
    unhelpful: PassageHandles
    conflicting: PassageHandles


class WireQuery(Frozen):
    """Reply to ``write_query``."""

    rationale: Short
    nothing_missing: bool
    bridge: Short
    query: Short


class WireRewrite(Frozen):
    """Reply to ``rewrite``."""

    rationale: Short
    nothing_missing: bool
    transformation: Short
    query: Short


class WireQuote(Frozen):
    """Words copied from a passage."""

    passage: PassageHandle
    words: Short


class WireReading(Frozen):
    """Reply to ``answer`` and ``compose``."""

    answer: Short
    quotes: Annotated[tuple[WireQuote, ...], Field(max_length=8)]
    confidence: Percent


class WirePlan(Frozen):
    """Reply to ``plan``."""

    objective: Short
    entities: Annotated[tuple[Short, ...], Field(max_length=12)]
    required_facts: Annotated[tuple[Short, ...], Field(max_length=8)]


class WireDecomposition(Frozen):
    """Reply to ``decompose``."""

    sub_questions: Annotated[tuple[Short, ...], Field(min_length=1, max_length=8)]


class WireHopAnswer(Frozen):
    """Reply to ``hop_answer``."""

    answer: Short


class WireGrade(Frozen):
    """Grades of one passage."""

    passage: PassageHandle
    relevance: Percent
    authority: Percent
    currency: Percent
    reason: Short


class WireGrades(Frozen):
    """Reply to ``grade``."""

    grades: Annotated[tuple[WireGrade, ...], Field(max_length=100)]
    covered: Annotated[tuple[FacetHandle, ...], Field(max_length=100)]
    sufficiency: Percent


class WireVerdict(Frozen):
    """Verdict on one claim."""

    claim: ClaimHandle
    verdict: Literal["supported", "unsupported", "contradicted"]
    passages: PassageHandles
    reason: Short


class WireVerdicts(Frozen):
    """Reply to ``check_claims``."""

    verdicts: Annotated[tuple[WireVerdict, ...], Field(max_length=100)]


class WireRouting(Frozen):
    """Reply to ``route``."""

    reason: Short
    complexity: Literal["none", "single", "multi"]
    source: SourceHandle


class WireFact(Frozen):
    """One fact and the passage that states it."""

    passage: PassageHandle
    subject: Annotated[str, Field(min_length=1, max_length=400)]
    relation: Annotated[str, Field(min_length=1, max_length=400)]
    object: Annotated[str, Field(min_length=1, max_length=400)]
    confidence: Percent


class WireFacts(Frozen):
    """Reply to ``extract_facts``."""

    facts: Annotated[tuple[WireFact, ...], Field(max_length=200)]
