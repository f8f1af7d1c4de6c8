"""Passages cut down to what bears on a question, for calls that need not read them whole."""

from __future__ import annotations

from core.retrieval.sentences import sentence_spans
from core.retrieval.tokenizer import content_terms
from core.types import Passage

RELATED = 2
EXCERPT = 420
"""Most characters of a distilled passage."""


def distil(passage: Passage, question: str, limit: int = EXCERPT) -> Passage:
    """The passage with its first sentence and the two that share most content terms with the
    question, in their order, within ``limit`` characters; ties to the earlier sentence.

    The excerpt is not at the passage's place in its document: span and digest are cleared.
    """
    spans = sentence_spans(passage.text)
    asked = set(content_terms(question))
    shared = [len(asked.intersection(content_terms(passage.text[a:b]))) for a, b in spans]
    related = sorted(range(1, len(spans)), key=lambda n: (-shared[n], n))[:RELATED]
    chosen = [passage.text[slice(*spans[n])] for n in sorted([0, *related])] if spans else []
    text = " ".join(chosen)
    if len(text) > limit:
        text = text[:limit].rsplit(" ", 1)[0] or text[:limit]
    return passage.model_copy(update={"text": text, "start": 0, "end": 0, "digest": ""})
