"""A forage turn by rules: rank the question, read, rank what was named there, read on, answer.

The forager knows what the transcript shows it and nothing else of the passages. From what it has
read it takes bridge entities (titles of the corpus and capitalised names in sentences near the
question) and ranks them beside the *residual*, the question's words that the naming passage does
not hold; two entities to a query, since committing to one loses (findings: "Finding multi-hop
evidence", Bridge). It ends before its last turn where a search for further names lists nothing
that was not listed before, or where what it has read is judged to hold all that the question
takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import regex

from core.observations import Listed, Printed, read_observation
from core.reasoning.extractive.case import CaseBook
from core.reasoning.extractive.decompose import sub_questions
from core.reasoning.extractive.features import Scene
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.verify import support
from core.retrieval.titles import aliases
from core.retrieval.tokenizer import STOP_TERMS, STOP_WORDS, fold, tokenize
from core.tasks import ForageReply, ForageRequest
from core.types import Passage, digest

FIRST_READS = 2
"""Passages of the question's own ranking that are read before an entity is ranked."""
LAST_READS = 2
"""The last turns are spent reading: what was read comes first in the composed evidence."""
ENTITIES_A_QUERY = 3
ENOUGH = 0.8
"""At this chance that every passage the question takes was read (the verifier's support), the
forager answers. On 50 MuSiQue and 50 HotpotQA questions 0.8 costs no gold passage, 0.5 some."""
RANK_DECAY = 0.5
NAMED_TITLE = 1.0
NAMED_FIRST = 0.5
PARTLY_NAMED_TITLE = 0.3
MENTIONED_TITLE = 0.5
ASKED_TITLE = 0.5
TITLE_IN_QUESTION = 0.5
NEWEST = 0.3
LINKED = 0.5
OVERLAP = 0.02
"""Weight of the idf overlap of sentence and question beside the cosine (findings: Bridge)."""
_SLOT = regex.compile(r"#\d")
_ASKING = frozenset(["many", "much", "name"])
"""Words that ask and name nothing, beside the stop words."""


@dataclass(frozen=True, slots=True)
class _Ranking:
    key: str
    words: frozenset[str]
    rows: tuple[Listed, ...]


@dataclass(slots=True)
class _Notes:
    """What the transcript says: rankings, passages read, and handles that were tried."""

    rankings: list[_Ranking] = field(default_factory=list)
    printed: dict[str, Printed] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    since_ranking: int = 0
    refused: int = 0

    @property
    def dried_up(self) -> bool:
        """Whether the newest of several rankings lists known passages only."""
        *earlier, newest = self.rankings
        known = {row.handle for ranking in earlier for row in ranking.rows}
        return bool(newest.rows) and known.issuperset(row.handle for row in newest.rows)


@dataclass(slots=True)
class _Entity:
    """A name that a read passage mentions, and how near the question it does.

    ``near``: of its best sentence (``_nearness``); ``linked``: cosine of the best sentence that
    mentions it as a title, 0 for none; ``source``: the passage's place among those read.
    """

    key: str
    surface: str
    source: int
    near: float
    linked: float
    ambiguity: float = 1.0

    @property
    def worth(self) -> float:
        """How promising it is to rank it."""
        return self.near + LINKED * self.linked * self.ambiguity


def forage_turn(request: ForageRequest, book: CaseBook) -> ForageReply:
    """The next action, as one line of the forage grammar."""
    notes = _notes(request)
    if not notes.rankings:
        if notes.refused:
            return ForageReply(text="ANSWER: nothing was found")
        return ForageReply(text=f"RANK: {_flat(request.question)}")
    case = book.case(request.question, _passages(notes.printed.values()))
    scene = case.scene
    entities = _entities(scene)
    if notes.dried_up or (notes.printed and support(case) >= ENOUGH):
        best = case.ranked.best if notes.printed else None
        return ForageReply(text=f"ANSWER: {_flat(best.text) if best else _draft(entities)}")
    wanted = FIRST_READS if len(notes.rankings) == 1 else 1
    handle = _best_unread(notes, scene, entities)
    closing = request.turns_left <= LAST_READS
    if handle is not None and (closing or notes.since_ranking < wanted):
        return ForageReply(text=f"READ: {handle}")
    query = _unseen_names(notes, scene) or _next_query(notes, scene, entities)
    if query:
        return ForageReply(text=f"RANK: {query}")
    if handle is not None:
        return ForageReply(text=f"READ: {handle}")
    return ForageReply(text=f"ANSWER: {_draft(entities)}")


def _notes(request: ForageRequest) -> _Notes:
    notes = _Notes()
    for entry in request.transcript:
        word, _, argument = entry.action.partition(":")
        seen = read_observation(entry.observation)
        if word == "RANK":
            notes.since_ranking = 0
            surfaces = [t.surface for t in tokenize(argument)]
            notes.rankings.append(_Ranking(" ".join(surfaces), frozenset(surfaces), seen.ranked))
        elif word == "READ":
            notes.since_ranking += 1
            notes.tried.add(argument.strip())
            if seen.printed is not None:
                notes.printed[seen.printed.handle] = seen.printed
        if not (seen.ranked or seen.printed):
            notes.refused += 1
    return notes


def _passages(printed: Iterable[Printed]) -> list[Passage]:
    """Passages as printed; an index knows their sentence vectors by the same digest."""
    return [
        Passage(
            id=p.handle,
            document=p.handle,
            title=p.title,
            text=p.text,
            end=len(p.text),
            digest=digest([p.title, p.text]),
        )
        for p in printed
    ]


def _entities(scene: Scene) -> list[_Entity]:
    """Names in the read passages that the question does not hold and no read title is, the most
    promising first."""
    asked = {t.surface for t in scene.tokens}
    titles = {alias for p in scene.passages for alias in p.parse.aliases}
    parts = _parts(scene)
    found: dict[tuple[int, str], _Entity] = {}
    for p in scene.passages:
        for s in p.sentences:
            near = max(_nearness(part, p.index, s.index) for part in parts)
            spans = [(a.start, a.end, a.key, 0.0) for a in p.parse.spans[s.index]]
            sentence = p.text[s.start : s.end]
            spans += [
                (s.start + a, s.start + b, alias, s.emb)
                for a, b, alias in scene.view.titles_in(sentence)
            ]
            for start, end, key, linked in spans:
                if key in titles or asked.issuperset(key.split()) or _is_no_bridge(key):
                    continue
                entity = found.setdefault(
                    (p.index, key), _Entity(key, p.text[start:end], p.index, near, linked)
                )
                entity.near = max(entity.near, near)
                entity.linked = max(entity.linked, linked)
    for entity in found.values():
        entity.ambiguity = 1.0 / math.sqrt(max(1, scene.view.alias_count(entity.key)))
    return sorted(found.values(), key=lambda e: (-e.worth, e.source))


def _nearness(part: Scene, passage: int, sentence: int) -> float:
    """How near a sentence is to a part of the question, less what its passage is behind the best
    one for that part."""
    p = part.passages[passage]
    s = p.sentences[sentence]
    return s.emb + OVERLAP * sum(part.terms[t] for t in s.covered) + p.p_rel


def _parts(scene: Scene) -> list[Scene]:
    """The question, and its sub-questions but the last with their slots left out."""
    hops = sub_questions(scene.question, scene.view)[:-1]
    return [scene, *(scene.asking(_flat(_SLOT.sub(" ", hop))) for hop in hops)]


def _is_no_bridge(key: str) -> bool:
    """Whether a name is a date, or the name of a people alone."""
    parts = key.split()
    dated = words("time", "months")
    return all(part in dated or part[0].isdigit() for part in parts) or (
        len(parts) == 1 and parts[0] in words("names", "demonyms")
    )


def _best_unread(notes: _Notes, scene: Scene, entities: Sequence[_Entity]) -> str | None:
    """The listed passage most worth reading, from its place in the rankings and its title."""
    mentioned: dict[str, float] = {}
    for e in entities:
        mentioned[e.key] = max(mentioned.get(e.key, 0.0), e.near * e.ambiguity)
    asked = {t.surface for t in scene.tokens}
    best: tuple[float, str] | None = None
    for n, ranking in enumerate(notes.rankings):
        fresh = ranking.words - asked
        newest = n == len(notes.rankings) - 1
        for place, row in enumerate(ranking.rows):
            if row.handle in notes.tried or row.handle in notes.printed:
                continue
            names = aliases(row.label) or (fold(row.label),)
            score = 1.0 / (1.0 + RANK_DECAY * place)
            score += _title_bonus(names, ranking, fresh)
            score += MENTIONED_TITLE * max(mentioned.get(name, 0.0) for name in names)
            score += _asked(row.label, scene)
            score += NEWEST if newest and fresh else 0.0
            if best is None or score > best[0]:
                best = (score, row.handle)
    return None if best is None else best[1]


def _title_bonus(names: Sequence[str], ranking: _Ranking, fresh: frozenset[str]) -> float:
    """How far a title is what a query newly named: wholly, and first of all, or by the share of
    its words."""
    parts = [set(name.split()) for name in names]
    if any(p <= ranking.words and p & fresh for p in parts):
        first = any(f"{ranking.key} ".startswith(f"{name} ") for name in names)
        return NAMED_TITLE + (NAMED_FIRST if first else 0.0)
    return PARTLY_NAMED_TITLE * max(len(p & fresh - STOP_WORDS) / len(p) for p in parts)


def _asked(title: str, scene: Scene) -> float:
    """How much a title and the question share: the idf share of each that the other holds."""
    content = {t.term: scene.view.idf(t.term) for t in tokenize(title)}
    content = {t: w for t, w in content.items() if t not in STOP_TERMS}
    total = sum(content.values())
    shared = sum(w for t, w in content.items() if t in scene.terms)
    of_title = shared / total if total else 0.0
    return ASKED_TITLE * of_title + TITLE_IN_QUESTION * scene.share(frozenset(content))


def _unseen_names(notes: _Notes, scene: Scene) -> str:
    """Names in the question that no read passage holds and that were not ranked by themselves."""
    seen = {t.surface for p in scene.passages for t in (*p.parse.tokens, *p.parse.title_tokens)}
    names = []
    for span in scene.entities:
        parts = set(span.key.split())
        if parts <= seen or any(parts <= r.words for r in notes.rankings[1:]):
            continue
        names.append(scene.question[span.start : span.end])
    return " ".join(dict.fromkeys(_flat(name) for name in names))


def _next_query(notes: _Notes, scene: Scene, entities: Sequence[_Entity]) -> str:
    """The best entities not ranked yet, and the residual: the question's words that none of the
    passages which name them holds, or all its words where they hold them all."""
    chosen: list[_Entity] = []
    for entity in entities:
        parts = set(entity.key.split())
        if any(parts <= r.words for r in notes.rankings) or any(
            parts <= set(c.key.split()) or parts >= set(c.key.split()) for c in chosen
        ):
            continue
        chosen.append(entity)
        if len(chosen) == ENTITIES_A_QUERY:
            break
    if not chosen:
        return ""
    covered = [scene.passages[e.source].covered for e in chosen]
    asked = [t for t in scene.tokens if t.term in scene.terms and t.surface not in _ASKING]
    residual = [t for t in asked if all(t.term not in c for c in covered)] or asked
    names = [_flat(e.surface) for e in chosen]
    return " ".join([*names, *dict.fromkeys(t.surface for t in residual)])


def _draft(entities: Sequence[_Entity]) -> str:
    return _flat(entities[0].surface) if entities else "nothing was found"


def _flat(text: str) -> str:
    return " ".join(text.split())
