"""The evidence that a run retains, as an immutable value that controllers thread through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.events import EvidenceChanged
from core.retrieval.tokenizer import content_terms
from core.types import Passage, Scored


@dataclass(frozen=True, slots=True)
class Held:
    """A retained passage, the round that brought it (from 1) and its rank there (from 1)."""

    passage: Passage
    round: int
    rank: int


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """Retained passages and banned ids; ids pruned once are never readmitted."""

    held: tuple[Held, ...] = ()
    banned: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.held)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the retained passages, oldest first."""
        return tuple(h.passage.id for h in self.held)

    def window(self, size: int) -> tuple[Passage, ...]:
        """At most ``size`` passages for a reader: by rank in their round, newer rounds first."""
        best = sorted(self.held, key=lambda h: (h.rank, -h.round))
        return tuple(h.passage for h in best[:size])

    def without(self, ids: Iterable[str]) -> EvidenceSet:
        """The same without these passages, to show it; nothing is removed or banned."""
        left_out = frozenset(ids)
        return replace(self, held=tuple(h for h in self.held if h.passage.id not in left_out))

    def admit(
        self, hits: Iterable[Scored], round_: int, reason: str
    ) -> tuple[EvidenceSet, tuple[Passage, ...], EvidenceChanged | None]:
        """Add the hits that are neither held nor banned; what came in, and the event if any."""
        known = {*self.ids, *self.banned}
        new: list[Held] = []
        for hit in hits:
            if hit.passage.id not in known:
                known.add(hit.passage.id)
                new.append(Held(hit.passage, round_, hit.rank))
        if not new:
            return self, (), None
        added = tuple(h.passage for h in new)
        event = EvidenceChanged(added=tuple(p.id for p in added), reason=reason)
        return replace(self, held=(*self.held, *new)), added, event

    def prune(self, ids: Iterable[str], reason: str) -> tuple[EvidenceSet, EvidenceChanged | None]:
        """Remove and ban the given ids that are held; the event if any was."""
        gone = tuple(i for i in self.ids if i in set(ids))
        if not gone:
            return self, None
        kept = tuple(h for h in self.held if h.passage.id not in gone)
        event = EvidenceChanged(removed=gone, banned=gone, reason=reason)
        return EvidenceSet(kept, self.banned | frozenset(gone)), event


NO_EVIDENCE = EvidenceSet()


def novelty(new: Iterable[Passage], retained: Iterable[Passage]) -> float:
    """1 - mean over the new passages of their highest Jaccard similarity to a retained one.

    1 when nothing was retained before, 0 when nothing new came (spec: N of BeliefRAG).
    """
    fresh = [frozenset(content_terms(p.text)) for p in new]
    old = [frozenset(content_terms(p.text)) for p in retained]
    if not fresh:
        return 0.0
    if not old:
        return 1.0
    highest = [max(jaccard(a, b) for b in old) for a in fresh]
    return 1.0 - sum(highest) / len(highest)


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """|a & b| / |a | b|; two empty sets are equal, so 1."""
    union = len(a | b)
    return len(a & b) / union if union else 1.0


def query_overlap(query: str, earlier: str) -> float:
    """Jaccard similarity of the content terms of two queries."""
    return jaccard(frozenset(content_terms(query)), frozenset(content_terms(earlier)))
