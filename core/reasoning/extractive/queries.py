"""Queries from the evidence: the next one to ask, and other words for the last one.

The next query is a bridge entity and the *residual*, the question's words that the passage which
names it does not say ("entity + residual" beats "entity + all words"; findings, "Bridge").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.reasoning.extractive.bridge import Bridge, bridges
from core.reasoning.extractive.case import Case
from core.reasoning.extractive.facets import ASKING
from core.reasoning.extractive.features import as_written
from core.reasoning.extractive.relations import other_words
from core.reasoning.extractive.verify import missing, verification
from core.retrieval.tokenizer import content_terms, terms
from core.tasks import Rewrite, WrittenQuery

ENOUGH_COVERAGE = 0.8
ENOUGH_ASKED = 0.5
ENOUGH_SUPPORT = 0.8
"""At this support all gold is held in .93 or more of the states of every development set."""
SYNONYMS_A_WORD = 2
SYNONYMS = 4


def write_query(case: Case, previous: Sequence[str] = ()) -> WrittenQuery:
    """The next query, which repeats none of ``previous`` nor the question.

    ``nothing_missing``: the best chain covers the question, or nothing new can be asked; the
    query is empty then.
    """
    if covers(case):
        return WrittenQuery(
            query="",
            rationale="The passages held are linked and state what the question asks.",
            nothing_missing=True,
        )
    asked = [frozenset(terms(q)) for q in (case.scene.question, *previous)]
    for query, bridge, rationale in _candidates(case, previous):
        if _new(query, asked):
            name = bridge.name if bridge else None
            return WrittenQuery(query=query[:4_000], rationale=rationale[:4_000], bridge=name)
    return WrittenQuery(
        query="",
        rationale="Every query that the evidence suggests was asked already.",
        nothing_missing=True,
    )


def rewrite(case: Case, previous: Sequence[str] = ()) -> Rewrite:
    """The last query in other words, without a new entity; it repeats none of ``previous``.

    ``nothing_missing`` also where support is high: other words for the question find nothing
    that is not held then.
    """
    if covers(case) or verification(case).support >= ENOUGH_SUPPORT:
        return Rewrite(
            query="",
            transformation="none",
            rationale="The passages held state what the question asks.",
            nothing_missing=True,
        )
    asked = [frozenset(terms(q)) for q in previous]
    for query, transformation, rationale in _rewrites(case):
        if _new(query, asked):
            return Rewrite(query=query[:4_000], transformation=transformation, rationale=rationale)
    return Rewrite(
        query="",
        transformation="none",
        rationale="Every reformulation of the question was asked already.",
        nothing_missing=True,
    )


def covers(case: Case) -> bool:
    """Whether the best chain says all that the question takes: idf coverage of at least .8, what
    is asked in the end stated, and, where there are several hops, two linked passages (findings,
    "Stop") and one sentence that states what is asked of the answer of the hop before."""
    chain, facets = case.chain, case.facets
    if chain.coverage < ENOUGH_COVERAGE:
        return False
    said = [weight for term, weight in chain.stated if term in facets.asked]
    if sum(said) < ENOUGH_ASKED * len(facets.asked):
        return False
    if len(facets.hops) < 2:
        return True
    return len(chain.passages) > 1 and max(case.bound, default=0.0) >= ENOUGH_ASKED


def _new(query: str, asked: Sequence[frozenset[str]]) -> bool:
    words = frozenset(terms(query))
    return bool(words) and words not in asked


def _candidates(case: Case, previous: Sequence[str]) -> Iterator[tuple[str, Bridge | None, str]]:
    """Queries worth asking, best first, with the bridge entity and why."""
    used = [frozenset(terms(q)) for q in previous]
    for bridge in bridges(case):
        named = frozenset(terms(bridge.name))
        if any(named <= words for words in used):
            continue
        title = case.scene.passages[bridge.passage].passage.title
        residual = _residual(case, bridge.passage, named)
        wanted = f"does not say {residual!r}" if residual else "leaves the question open"
        yield (
            f"{bridge.name} {residual}".strip(),
            bridge,
            f"{title!r} names {bridge.name!r} and {wanted}.",
        )
    words = " ".join(dict.fromkeys((*missing(case), *_words(case, case.facets.asked))))
    yield words, None, "No name in the evidence leads on; these words of the question are unsaid."
    for query, transformation, _ in _rewrites(case):
        yield query, None, f"No name in the evidence leads on; the question as {transformation}."


def _residual(case: Case, passage: int, named: frozenset[str]) -> str:
    """Words of the question that the passage does not say; what is asked if it says all."""
    said = frozenset(case.weave.passage_stated[passage])
    left = _words(case, case.scene.asked - said - named)
    return " ".join(left or _words(case, case.facets.asked - named))


def _words(case: Case, stems: frozenset[str]) -> list[str]:
    """The question's words with these stems, in order, without those that only ask."""
    tokens = case.scene.tokens
    return as_written([t for t in tokens if t.term in stems and t.surface not in ASKING])


def _rewrites(case: Case) -> Iterator[tuple[str, str, str]]:
    """Reformulations of the question: (query, transformation, rationale)."""
    scene = case.scene
    key_words = _key_words(case)
    yield (
        " ".join(key_words),
        "key words",
        "Question words and auxiliaries are dropped, names are kept.",
    )
    named = frozenset[str]().union(*(stems for _, stems in case.facets.names))
    asked = case.facets.asked
    relations = [t for t in scene.terms if t not in named]
    relations.sort(key=lambda t: (t not in asked, -scene.terms[t]))
    extra: list[str] = []
    held = set(scene.asked)
    for stem in relations:
        fresh = [w for w in other_words(stem) if not held & set(content_terms(w))]
        for word in fresh[:SYNONYMS_A_WORD]:
            extra.append(word)
            held |= set(content_terms(word))
    yield (
        " ".join([*key_words, *extra[:SYNONYMS]]) if extra else "",
        "synonyms",
        "Words that may state the relation are added.",
    )
    names = [name for name, _ in case.facets.names]
    yield (
        " ".join([*names, *_words(case, case.facets.asked - named), *extra[:SYNONYMS_A_WORD]]),
        "names and what is asked",
        "Only the names and what is asked in the end are kept.",
    )
    yield " ".join(names), "names", "Only the names are kept."


def _key_words(case: Case) -> list[str]:
    """Names as written and the other content words, in the order of the question."""
    scene = case.scene
    pieces: list[tuple[int, str]] = []
    edge = 0
    for span in scene.entities:
        if span.start >= edge:
            pieces.append((span.start, scene.question[span.start : span.end]))
            edge = span.end
    inside = [(s.start, s.end) for s in scene.entities]
    kept = [
        t
        for t in scene.tokens
        if t.term in scene.asked
        and not any(a <= t.start < b for a, b in inside)
        and t.surface not in ASKING
    ]
    words = as_written(kept)
    starts = {t.surface: t.start for t in reversed(kept)}
    pieces += [(starts.get(w, starts.get(w[:2], 0)), w) for w in words]
    return [text for _, text in sorted(pieces)]
