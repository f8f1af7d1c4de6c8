"""Where in the passages an answer was read: a model's quotation and handles as spans."""

from __future__ import annotations

from collections.abc import Sequence

from core.grounding import YES_NO, ground
from core.retrieval.sentences import sentence_spans
from core.retrieval.tokenizer import content_terms, fold
from core.tasks import Support
from core.types import Passage

SHORTEST = 4
"""Fewer characters than this are found letter by letter only."""


def locate(words: str, passage: Passage) -> Support | None:
    """The place of some words: their exact characters, else the sentence that holds them
    (``core.grounding``: token run, or 80% of the content words). None: they are not there."""
    words = words.strip(" \n\"'“”«»…")
    if not words:
        return None
    start = passage.text.find(words)
    if start >= 0:
        return Support(passage_id=passage.id, start=start, end=start + len(words))
    found = ground(words, [passage]) if len(words) >= SHORTEST else ()
    if not found:
        return None
    return Support(passage_id=passage.id, start=found[0].start, end=found[0].end)


def supports(
    question: str, answer: str, quote: str, named: Sequence[Passage], shown: Sequence[Passage]
) -> tuple[Support, ...]:
    """Places that bear an answer out: the quotation, looked for in the named passages and then in
    all that were shown, and the answer itself in each named one. For yes and no, which stand
    nowhere, the sentence of each named passage that shares most with the question. A quotation
    that is nowhere counts for nothing.
    """
    order = (*named, *(p for p in shown if p not in named))
    places: dict[Support, None] = {}
    if place := next((s for p in order if (s := locate(quote, p))), None):
        places[place] = None
    for passage in named:
        if fold(answer.strip(" .!")) in YES_NO:
            found = _nearest(question, passage)
        else:
            found = locate(answer, passage)
        if found is not None:
            places[found] = None
    return tuple(places)[:8]


def _nearest(question: str, passage: Passage) -> Support | None:
    asked = set(content_terms(question))
    spans = sentence_spans(passage.text)
    shared = [len(asked & set(content_terms(passage.text[a:b]))) for a, b in spans]
    if not any(shared):
        return None
    start, end = spans[shared.index(max(shared))]
    return Support(passage_id=passage.id, start=start, end=end)
