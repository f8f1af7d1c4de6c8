"""Which passages still hold: a superseded one is not read where what replaced it is held."""

from __future__ import annotations

from collections.abc import Sequence

from core.retrieval.tokenizer import tokenize
from core.types import Passage


def current(question: str, passages: Sequence[Passage]) -> tuple[int, ...]:
    """Indices of the passages to read, ascending.

    Left out is a passage of a superseded document whose successor is held, at once or by way of
    others that are held, unless the question names the version: a word with a digit that the
    superseded title has and the successor's has not.
    """
    by_document = {p.document: p for p in passages}
    asked = {t.surface for t in tokenize(question)}
    kept = []
    for i, passage in enumerate(passages):
        newest = _newest(passage, by_document)
        if newest is passage or asked & (_versions(passage) - _versions(newest)):
            kept.append(i)
    return tuple(kept)


def _newest(passage: Passage, by_document: dict[str, Passage]) -> Passage:
    """What replaced the passage's document, as far as it is held; itself where nothing did. Two
    documents that supersede each other tell nothing."""
    seen = {passage.document}
    newest = passage
    while (successor := newest.metadata.superseded_by) in by_document:
        if successor in seen:
            return passage
        seen.add(successor)
        newest = by_document[successor]
    return newest


def _versions(passage: Passage) -> set[str]:
    return {t.surface for t in tokenize(passage.title) if any(c.isdigit() for c in t.surface)}
