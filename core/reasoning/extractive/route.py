"""Routing by rules: does a question need documents, of one or of several, and from where."""

from __future__ import annotations

import regex

from core.ports import TextView
from core.reasoning.extractive.decompose import sub_questions
from core.reasoning.extractive.facets import facets_of
from core.reasoning.extractive.features import build_scene
from core.retrieval.tokenizer import content_terms
from core.tasks import RouteRequest, Routing

LEAST_LIKENESS = 0.2
"""Cosine of question and source name below which a source does not fit."""
_ARITHMETIC = regex.compile(
    r"^(?:what(?:'s| is)|how much is|calculate|compute)?\s*[-+(]*\d[\d.,]*\s*"
    r"(?:(?:[-+*/x×÷^%()]|plus|minus|times|divided by)\s*[-+(]*\d[\d.,]*\)*\s*)+[=?.]*$",
    regex.IGNORECASE,
)
_SMALL_TALK = regex.compile(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?|thank you|bye|goodbye|"
    r"ok(?:ay)?|how are you(?: doing| today)?|who are you|what can you do|are you there|"
    r"what(?:'s| is) your name)\b[\s!.?,]*(?:\w+[\s!.?]*)?$",
    regex.IGNORECASE,
)


def route(request: RouteRequest, view: TextView) -> Routing:
    """Complexity and first source.

    ``none``: small talk, arithmetic, or nothing to look up by; ``multi``: a nested question, or
    one that sets several names beside each other; else ``single``. The source shares words with
    the question or is nearest to it; a lone source is taken.
    """
    question = request.question.strip()
    if _SMALL_TALK.match(question):
        return Routing(complexity="none", reason="Small talk needs no document.")
    if _ARITHMETIC.match(question):
        return Routing(complexity="none", reason="Arithmetic needs no document.")
    if not content_terms(question):
        return Routing(complexity="none", reason="There is nothing to look up by.")
    source = _source(request, view)
    hops = sub_questions(question, view)
    if len(hops) > 1:
        reason = f"It takes {len(hops)} steps, the first: {hops[0]}"
        return Routing(complexity="multi", source=source, reason=reason)
    facets = facets_of(build_scene(question, (), view))
    if facets.choice and len(facets.names) > 1:
        names = " and ".join(name for name, _ in facets.names[:3])
        return Routing(complexity="multi", source=source, reason=f"It compares {names}.")
    return Routing(complexity="single", source=source, reason="One passage should hold it.")


def _source(request: RouteRequest, view: TextView) -> str | None:
    if len(request.sources) < 2:
        return request.sources[0] if request.sources else None
    asked = set(content_terms(request.question))
    shared = [len(asked & set(content_terms(s.replace("_", " ")))) for s in request.sources]
    if max(shared):
        return request.sources[shared.index(max(shared))]
    names = [s.replace("_", " ") for s in request.sources]
    vectors = view.encode([request.question, *names])
    likeness = (vectors[1:] @ vectors[0]).tolist()
    best = max(likeness)
    return request.sources[likeness.index(best)] if best >= LEAST_LIKENESS else None
