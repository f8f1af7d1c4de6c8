"""What a model is asked to write: one flat type per task.

Every field is required, numbers are whole percents and handles are the numbers of the prompt,
so that the schema stays inside what every provider's structured output takes. The types accept
more than the schema asks for (``LENGTH``, ``MOST``): a long reason is no reason to fail.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from core.types import Frozen

HANDLE = "x-handle"
"""In a schema: this number refers to the named numbering of the prompt."""
LENGTH = "x-length"
"""In a schema: the length to ask for, in characters."""
MOST = "x-most"
"""In a schema: the list has at most as many entries as the named count."""
EACH = "x-each"
"""In a schema: the list has exactly as many entries as the named count."""

LONGEST, MOST_ENTRIES = 1_000, 200


def _text(length: int, shortest: int = 0) -> Any:
    return Field(
        min_length=shortest, max_length=LONGEST, json_schema_extra={LENGTH: max(1, length)}
    )


def _handle(kind: str, lowest: int = 1) -> Any:
    return Field(ge=lowest, json_schema_extra={HANDLE: kind})


def _entries(rule: str, count: str, fewest: int = 0) -> Any:
    return Field(min_length=fewest, max_length=MOST_ENTRIES, json_schema_extra={rule: count})


Percent = Annotated[int, Field(ge=0, le=100)]
Reason = Annotated[str, _text(80)]
Phrase = Annotated[str, _text(120)]
Sentence = Annotated[str, _text(180)]
Name = Annotated[str, _text(100, shortest=1)]
PassageHandle = Annotated[int, _handle("passages")]
PassageHandles = Annotated[tuple[PassageHandle, ...], _entries(MOST, "passages")]


class WireVerification(Frozen):
    """Reply to ``verify``."""

    missing: Annotated[tuple[Phrase, ...], _entries(MOST, "missing")]
    draft: Phrase
    support: Percent
    gap: Percent
    uncertainty: Percent
    conflict: Percent
    unhelpful: PassageHandles
    conflicting: PassageHandles


class WireQuery(Frozen):
    """Reply to ``write_query``."""

    rationale: Phrase
    nothing_missing: bool
    bridge: Phrase
    query: Phrase


class WireRewrite(Frozen):
    """Reply to ``rewrite``."""

    rationale: Phrase
    nothing_missing: bool
    transformation: Reason
    query: Phrase


class WireReading(Frozen):
    """Reply to ``answer`` and ``compose``."""

    answer: Sentence
    passages: PassageHandles
    quote: Sentence
    confidence: Percent


class WirePlan(Frozen):
    """Reply to ``plan``."""

    objective: Sentence
    entities: Annotated[tuple[Phrase, ...], _entries(MOST, "entities")]
    required_facts: Annotated[tuple[Phrase, ...], _entries(MOST, "facts", fewest=1)]


class WireDecomposition(Frozen):
    """Reply to ``decompose``."""

    sub_questions: Annotated[tuple[Phrase, ...], _entries(MOST, "hops", fewest=1)]


class WireHopAnswer(Frozen):
    """Reply to ``hop_answer``."""

    answer: Phrase


class WireGrade(Frozen):
    """Grades of one passage."""

    passage: PassageHandle
    relevance: Percent
    authority: Percent
    currency: Percent
    reason: Reason


class WireGrades(Frozen):
    """Reply to ``grade``."""

    grades: Annotated[tuple[WireGrade, ...], _entries(EACH, "passages")]
    covered: Annotated[tuple[Annotated[int, _handle("facets")], ...], _entries(MOST, "facets")]
    sufficiency: Percent


class WireVerdict(Frozen):
    """Verdict on one claim."""

    claim: Annotated[int, _handle("claims")]
    verdict: Literal["supported", "unsupported", "contradicted"]
    passages: PassageHandles
    reason: Reason


class WireVerdicts(Frozen):
    """Reply to ``check_claims``."""

    verdicts: Annotated[tuple[WireVerdict, ...], _entries(EACH, "claims")]


class WireRouting(Frozen):
    """Reply to ``route``; source 0 is none."""

    reason: Reason
    complexity: Literal["none", "single", "multi"]
    source: Annotated[int, _handle("sources", lowest=0)]


class WireFact(Frozen):
    """One fact and the passage that states it."""

    passage: PassageHandle
    subject: Name
    relation: Name
    object: Name
    confidence: Percent


class WireAbstraction(Frozen):
    """Reply to ``abstract``."""

    text: Annotated[str, _text(220, shortest=1)]


class WireFacts(Frozen):
    """Reply to ``extract_facts``."""

    facts: Annotated[tuple[WireFact, ...], _entries(MOST, "facts")]
