"""Abstractions: what a node is about, in words that a person reads.

An EVIDENCE node reads as its title and first sentence; a RELATION as the entities that its
passages share and their most central sentence; a TOPIC and the ROOT as the names that lead in
them. Each depends on the member passages alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from core.retrieval.titles import alias_key
from core.retrieval.tokenizer import content_terms
from core.systems.staterag.tam_names import Sentence, bare_title, is_heading, shown
from core.types import Passage

LONGEST = 220
"""Characters of a sentence in an abstraction."""
NAMES, LEADING = 4, 6
"""Names of a RELATION, and of a TOPIC."""

SentencesOf = Callable[[int], Sequence[Sentence]]


def evidence_text(passage: Passage, sentences: Sequence[Sentence]) -> str:
    """Title and first sentence that says something."""
    lines = (passage.text[s.start : s.end] for s in sentences if s.terms)
    lead = _cut(next((line for line in lines if not is_heading(line)), ""))
    title = shown(passage.title)
    return ": ".join(part for part in (title, lead) if part) or f"Passage {passage.id}"


def relation_text(
    members: Sequence[int], names: Sequence[str], passages: Sequence[Passage], read: SentencesOf
) -> str:
    """What members (rows) have in common: ``names``, or their leading titles where there are
    none, and the sentence that shares most with the other members."""
    shared = Counter(
        term for row in members for term in frozenset().union(*(s.terms for s in read(row)))
    )
    wanted = frozenset(content_terms(" ".join(names)))

    def centrality(sentence: Sentence) -> float:
        total: float = sum(shared[term] - 1 for term in sentence.terms)
        about = len(wanted & sentence.terms) / len(wanted) if wanted else 0.0
        value: float = total / max(len(members) - 1, 1) + 2 * about
        return value / math.sqrt(len(sentence.terms) + 4)

    best: dict[int, tuple[float, str]] = {}
    for row in members:
        for sentence in read(row):
            spoken = passages[row].text[sentence.start : sentence.end]
            if len(sentence.terms) >= 3 and not is_heading(spoken):
                value = round(centrality(sentence), 6)
                if row not in best or value > best[row][0]:
                    best[row] = (value, spoken)
    ranked = sorted(members, key=lambda row: (-best.get(row, (0.0, ""))[0], row))
    central = _cut(best[ranked[0]][1]) if ranked and ranked[0] in best else ""
    titles = [bare_title(passages[row].title) for row in ranked]
    listed = distinct(names or titles, NAMES)
    for title in titles:
        if names and len(listed) < 2:
            listed = distinct([*listed, title], NAMES)
    text = ": ".join(part for part in (" · ".join(listed), central) if part)
    return text or " · ".join(f"Passage {passages[row].id}" for row in ranked[:NAMES])


def leading_names(counts: Mapping[str, int], everywhere: Mapping[str, int]) -> list[str]:
    """Names that lead in a topic: many passages under it, and most of all passages under the
    topics of its level (``everywhere``) that have them."""
    weighed = {name: count * count / everywhere[name] for name, count in counts.items()}
    ranked = sorted(weighed, key=lambda name: (-round(weighed[name], 6), name))
    return distinct(ranked, LEADING)


def distinct(names: Iterable[str], most: int) -> list[str]:
    """The first names of which none repeats the words of another."""
    kept: list[str] = []
    words: list[set[str]] = []
    for name in names:
        own = set(alias_key(name).split()) - {"the", "of", "a"}
        if own and not any(own <= other or other <= own for other in words):
            kept.append(name)
            words.append(own)
        if len(kept) == most:
            break
    return kept


def _cut(sentence: str) -> str:
    line = " ".join(sentence.split())
    if len(line) <= LONGEST:
        return line
    return line[:LONGEST].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def topic_texts(
    beneath: Sequence[Sequence[int]],
    members: Mapping[int, Sequence[int]],
    names: Mapping[int, Sequence[str]],
    passages: Sequence[Passage],
) -> list[str]:
    """Leading names of each topic. ``beneath``: the relations under it; ``members``: rows of
    each relation; a relation without names counts by its titles."""
    counted = [_counts(relations, members, names, passages) for relations in beneath]
    everywhere: Counter[str] = Counter()
    for counts in counted:
        everywhere.update(counts)
    return [" · ".join(leading_names(counts, everywhere)) or "Passages" for counts in counted]


def root_text(
    rows: Sequence[int],
    members: Mapping[int, Sequence[int]],
    names: Mapping[int, Sequence[str]],
    passages: Sequence[Passage],
) -> str:
    """How many passages there are, and the names that most of them share."""
    documents = len({passages[row].document for row in rows})
    counts = _counts(list(members), members, names, passages)
    leading = " · ".join(leading_names(counts, counts))
    size = f"{_count(len(rows), 'passage')} of {_count(documents, 'document')}"
    return f"{size}: {leading}" if leading else size


def _counts(
    relations: Iterable[int],
    members: Mapping[int, Sequence[int]],
    names: Mapping[int, Sequence[str]],
    passages: Sequence[Passage],
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for relation in relations:
        rows = members[relation]
        if names.get(relation):
            for name in distinct(names[relation], NAMES):
                counts[name] += len(rows)
        else:
            counts.update(bare_title(passages[row].title) for row in rows)
    return counts


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
