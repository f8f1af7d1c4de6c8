"""Features of answer candidates under a question, as one matrix.

Names are in ``FEATURES``; the weights are fitted (``benchmarks/fit_reader.py``). What is read off
the passage alone is cached; the rest is counted over the pool of sentences.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from core.ports import FloatArray
from core.reasoning.extractive.candidates import Candidate, candidates
from core.reasoning.extractive.features import PassageParse, Scene, SentenceFeatures, parse
from core.reasoning.extractive.kinds import Kinds, title_kinds
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.question import Analysis, Kind
from core.retrieval.tokenizer import STOP_WORDS

POOL = 10
BRIDGE_POOL = 10
BRIDGE_WEIGHT = 0.5
CONTEXT = 4
_DECAY = 0.25
_ASKED_KINDS: tuple[Kind, ...] = (
    "person",
    "place",
    "org",
    "work",
    "date",
    "number",
    "nationality",
    "language",
)

STATIC = (
    "name",
    "quote",
    "title",
    "date",
    "number",
    "ordinal",
    "noun",
    "inside",
    "joined",
    "length",
    "single",
    "lower",
    "demonym",
    "has_link",
    "article_before",
    "by_before",
    "in_before",
    "of_before",
    "as_before",
    "is_a_before",
    "prep_before",
    "verb_before",
    "opens",
    "comma_before",
    "comma_after",
    "verb_after",
    "prep_after",
    "noun_after",
    "bracketed",
    "of_after",
    "possessive_after",
)
DYNAMIC = (
    "emb",
    "rank",
    "p_rel",
    "alone",
    "first",
    "echo",
    "all_echo",
    "fit",
    "weak_fit",
    "clash",
    "untyped_name",
    *(f"fit_{k}" for k in _ASKED_KINDS),
    "date_unasked",
    "number_unasked",
    "person_unasked",
    "name_any",
    "noun_any",
    "head_in",
    "head_beside",
    "phrase_near",
    "measure_fit",
    "unit_number",
    "proximity",
    "related_near",
    "governed",
    "governs",
    "governed_related",
    "governs_related",
    "question_share",
    "title_share",
    "own_title",
    "other_title",
    "other_title_asked",
    "frequency",
    "passages",
    "bridge",
    "residual",
    "bridge_first",
    "who_by",
    "who_subject",
    "when_in",
    "where_in",
    "what_is_a",
    "name_as",
    "cloze_is_a",
    "plural_joined",
    "full_date",
    "year_asked",
    "year_fit",
    "where_join",
    "ordinal_any",
)
FEATURES = STATIC + DYNAMIC
_INDEX = {name: i for i, name in enumerate(FEATURES)}


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate of the pool and the sentence it stands in."""

    sentence: SentenceFeatures
    candidate: Candidate


@lru_cache(maxsize=2_048)
def static_features(title: str, text: str) -> tuple[FloatArray, ...]:
    """For each sentence, an array (candidates, len(STATIC)) of what needs no question."""
    parsed = parse(title, text)
    return tuple(
        np.array([_static(parsed, c) for c in found], dtype=np.float32).reshape(-1, len(STATIC))
        for found in candidates(title, text)
    )


def _static(parsed: PassageParse, c: Candidate) -> list[float]:
    tokens, text = parsed.tokens, parsed.text
    sentence = parsed.sentences[c.sentence]
    is_title = c.shape == "title"
    before = tokens[c.first - 1].surface if c.first > sentence.first and not is_title else ""
    before2 = tokens[c.first - 2].surface if c.first > sentence.first + 1 and not is_title else ""
    article = before in ("the", "a", "an")
    lead = before2 if article else before
    lead2 = (
        tokens[c.first - 3].surface
        if article and c.first > sentence.first + 2
        else ("" if article else before2)
    )
    after = tokens[c.last].surface if c.last < sentence.last and not is_title else ""
    left = text[max(0, c.start - 2) : c.start]
    right = text[c.end : c.end + 2]
    n = c.key.count(" ") + 1
    prepositions = words("grammar", "prepositions")
    verbs = words("grammar", "auxiliaries") | words("grammar", "past_verbs")
    verbs |= words("grammar", "present_verbs")
    shapes = [float(c.shape == s) for s in STATIC[:7]]
    return [
        *shapes,
        float(c.inside),
        float(c.joined),
        min(n, 8) / 8,
        float(n == 1),
        float(c.text[:1].islower()),
        float(c.kinds.get("nationality", 0.0) > 0),
        float(any(w in STOP_WORDS for w in c.key.split())),
        float(article),
        float(lead == "by"),
        float(lead in ("in", "at", "near", "on")),
        float(lead == "of"),
        float(lead in ("as", "called", "named", "titled", "nicknamed", "termed")),
        float(article and lead in ("is", "was", "are", "were", "be")),
        float(lead in prepositions),
        float(lead in verbs or (lead.endswith("ed") and len(lead) > 4)),
        float(c.first - float(article) <= sentence.first),
        float("," in left),
        float(right[:1] == ","),
        float(after in verbs or (after.endswith("ed") and len(after) > 4)),
        float(after in prepositions),
        float(
            bool(after)
            and after not in STOP_WORDS
            and after not in prepositions
            and after not in verbs
            and right[:1] in (" ", "-")
        ),
        float("(" in left or right[:1] == ")"),
        float(after == "of"),
        float(right in ("'s", "’s") or lead2 == ""),
    ]


class Pool:
    """The sentences that are read for a question, their candidates, and the feature matrix."""

    def __init__(self, scene: Scene, analysis: Analysis) -> None:
        self.scene, self.analysis = scene, analysis
        self.bridges = self._bridges()
        self.sentences = self._sentences()
        self.rank = {s.row: i for i, s in enumerate(self.sentences)}

    @cached_property
    def rows(self) -> list[Row]:
        """Every candidate of the pool, by sentence."""
        found = []
        for s in sorted(self.sentences, key=lambda s: s.row):
            p = self.scene.passages[s.passage].passage
            found += [Row(s, c) for c in candidates(p.title, p.text)[s.index]]
        return found

    def _bridges(self) -> list[tuple[float, frozenset[str]]]:
        """For each passage: best pm of another that names its title, times 1 - title share, and
        the question's stems that the naming passage does not hold."""
        scene = self.scene
        best: list[tuple[float, frozenset[str]]] = [(0.0, frozenset())] * len(scene.passages)
        for i, named in enumerate(scene.mentions):
            source = scene.passages[i]
            for j in named:
                value = max(source.pm, 0.0) * (1.0 - scene.passages[j].title_share)
                if value > best[j][0]:
                    best[j] = value, scene.asked - source.covered
        return best

    def _sentences(self) -> list[SentenceFeatures]:
        every = self.scene.sentences
        by_score = sorted(every, key=lambda s: (-s.s, s.row))
        by_bridge = sorted(every, key=lambda s: (-self._bridged(s), s.row))
        taken = {s.row: s for s in [*by_score[:POOL], *by_bridge[:BRIDGE_POOL]]}
        return sorted(taken.values(), key=lambda s: (-self._bridged(s), s.row))

    def _bridged(self, s: SentenceFeatures) -> float:
        bridge, missing = self.bridges[s.passage]
        return s.s + BRIDGE_WEIGHT * bridge + self.scene.share(missing & s.covered)

    def matrix(self) -> FloatArray:
        """Features, shape (len(rows), len(FEATURES)), float32."""
        rows = self.rows
        x = np.zeros((len(rows), len(FEATURES)), dtype=np.float32)
        if not rows:
            return x
        start = 0
        counts = Counter(r.candidate.key for r in rows if r.candidate.shape != "title")
        holders: dict[str, set[int]] = {}
        for r in rows:
            holders.setdefault(r.candidate.key, set()).add(r.sentence.passage)
        for s in sorted(self.sentences, key=lambda s: s.row):
            p = self.scene.passages[s.passage].passage
            static = static_features(p.title, p.text)[s.index]
            x[start : start + len(static), : len(STATIC)] = static
            context = _Sentence(self, s)
            for i in range(len(static)):
                candidate = rows[start + i].candidate
                context.fill(x[start + i], candidate)
                x[start + i, _FREQUENCY] = min(counts[candidate.key], 5) / 5
                x[start + i, _PASSAGES] = min(len(holders[candidate.key]), 3) / 3
            start += len(static)
        return x

    @cached_property
    def titles(self) -> dict[str, list[int]]:
        """Title alias -> passages of the scene with that title."""
        found: dict[str, list[int]] = {}
        for p in self.scene.passages:
            for alias in p.parse.aliases:
                found.setdefault(alias, []).append(p.index)
        return found

    @cached_property
    def title_kinds(self) -> list[Kinds]:
        """What each passage says its title is."""
        return [title_kinds(p.parse) for p in self.scene.passages]


_FREQUENCY, _PASSAGES = _INDEX["frequency"], _INDEX["passages"]


class _Sentence:
    """One sentence of the pool under the question: where its words match."""

    def __init__(self, pool: Pool, s: SentenceFeatures) -> None:
        self.pool, self.scene, self.a, self.s = pool, pool.scene, pool.analysis, s
        passage = self.scene.passages[s.passage]
        self.passage = passage
        self.tokens = passage.parse.tokens
        terms, related = self.scene.terms, self.a.related
        total = self.scene.weight or 1.0
        self.hits: list[tuple[int, str, float]] = []
        self.related: list[int] = []
        for i in range(s.parse.first, s.parse.last):
            term = self.tokens[i].term
            if term in terms:
                self.hits.append((i, term, terms[term] / total))
            elif term in related:
                self.related.append(i)
        bridge, missing = pool.bridges[s.passage]
        self.common = {
            "emb": s.emb,
            "rank": 1.0 / (1 + pool.rank[s.row]),
            "p_rel": passage.p_rel,
            "alone": s.cov_alone,
            "first": float(s.index == 0),
            "question_share": passage.question_share,
            "title_share": passage.title_share,
            "bridge": bridge,
            "residual": self.scene.share(missing & s.covered),
            "bridge_first": bridge * float(s.index == 0),
        }

    def fill(self, x: FloatArray, c: Candidate) -> None:
        """Write the candidate's dynamic features into its row."""
        a, scene = self.a, self.scene
        v = dict(self.common)
        inner = self.tokens[c.first : c.last]
        content = [t.term for t in inner if t.surface not in STOP_WORDS] or [t.term for t in inner]
        if c.shape == "title":
            content = list(self.passage.parse.title_terms)
        echo = sum(1 for t in content if t in scene.terms)
        v["echo"] = echo / len(content) if content else 0.0
        v["all_echo"] = float(bool(content) and echo == len(content))
        self._fit(v, c)
        self._head(v, c, content)
        self._near(v, c)
        own = c.key in self.passage.parse.aliases
        v["own_title"] = float(own and c.shape != "title")
        others = [j for j in self.pool.titles.get(c.key, ()) if j != self.s.passage]
        if others and not own:
            v["other_title"] = 1.0
            v["other_title_asked"] = max(
                scene.share(scene.passages[j].covered - self.passage.covered) for j in others
            )
        lead = {name: float(x[_INDEX[name]]) for name in ("by_before", "in_before", "is_a_before")}
        v["who_by"] = float(a.kind == "person") * lead["by_before"]
        v["who_subject"] = float(a.wh == "who") * float(x[_INDEX["opens"]])
        v["when_in"] = float(a.kind == "date") * lead["in_before"]
        v["where_in"] = float(a.kind == "place") * lead["in_before"]
        v["what_is_a"] = float(a.kind == "any") * lead["is_a_before"]
        v["cloze_is_a"] = float(a.cloze) * lead["is_a_before"]
        v["name_as"] = float(a.wants_name) * float(x[_INDEX["as_before"]])
        v["plural_joined"] = float(a.plural and c.joined)
        v["where_join"] = float(a.kind == "place" and c.joined)
        for name, value in v.items():
            x[_INDEX[name]] = value

    def _fit(self, v: dict[str, float], c: Candidate) -> None:
        a = self.a
        kinds = c.kinds
        if c.shape == "name" and (named := self.pool.titles.get(c.key)):
            kinds = self.pool.title_kinds[named[0]] or kinds
        if a.kind == "any":
            v["date_unasked"] = float("date" in kinds)
            v["number_unasked"] = float("number" in kinds and c.shape == "number")
            v["person_unasked"] = kinds.get("person", 0.0)
            v["name_any"] = float(c.shape == "name")
            v["noun_any"] = float(c.shape == "noun")
            v["ordinal_any"] = float(c.shape == "ordinal")
            return
        fit = kinds.get(a.kind, 0.0)
        if a.wh == "who" and fit == 0.0:
            fit = 0.5 * kinds.get("org", 0.0)
        v["fit"] = float(fit >= 1.0)
        v["weak_fit"] = float(0.0 < fit < 1.0)
        v[f"fit_{a.kind}"] = fit
        v["clash"] = 0.0 if fit else max(kinds.values(), default=0.0)
        v["untyped_name"] = float(not kinds and c.shape == "name")
        v["date_unasked"] = float("date" in kinds and a.kind != "date")
        v["number_unasked"] = float("number" in kinds and a.kind != "number")
        if a.kind == "date":
            v["full_date"] = float(c.unit == "day" and not c.inside)
            if "year" in a.head:
                v["year_asked"] = float(c.unit not in ("year", "range"))
                v["year_fit"] = float(c.unit == "year")
        if a.kind == "number":
            v["unit_number"] = float(bool(c.unit))

    def _head(self, v: dict[str, float], c: Candidate, content: list[str]) -> None:
        a = self.a
        if not a.head and not a.measure:
            return
        low, high = max(self.s.parse.first, c.first - 1), min(self.s.parse.last, c.last + 1)
        beside = {t.term for t in (*self.tokens[low : c.first], *self.tokens[c.last : high])}
        v["head_in"] = float(any(h in content for h in a.head))
        v["head_beside"] = float(bool(a.head & beside))
        if a.phrase:
            low, high = max(self.s.parse.first, c.first - 3), min(self.s.parse.last, c.last + 3)
            near = {t.term for t in self.tokens[low:high]}
            v["phrase_near"] = len(a.phrase & near) / len(a.phrase)
        if a.kind == "number":
            after = {t.term for t in self.tokens[c.last : min(self.s.parse.last, c.last + 3)]}
            wanted = a.head | {a.measure}
            v["measure_fit"] = float(bool(wanted & (after | set(content))))

    def _near(self, v: dict[str, float], c: Candidate) -> None:
        best: dict[str, float] = {}
        left = right = -1
        for i, term, weight in self.hits:
            if i < c.first:
                distance = c.first - i
                left = i
            elif i >= c.last:
                distance = i - c.last + 1
                right = i if right < 0 else right
            else:
                continue
            value = weight / (1.0 + _DECAY * distance)
            if value > best.get(term, 0.0):
                best[term] = value
        v["proximity"] = sum(best.values())
        if left >= 0 and c.first - left <= CONTEXT and self._stops(left + 1, c.first):
            v["governed"] = 1.0
        if right >= 0 and right - c.last < CONTEXT and self._stops(c.last, right):
            v["governs"] = 1.0
        near = 0.0
        for i in self.related:
            if i < c.first:
                near = max(near, 1.0 / (1.0 + _DECAY * (c.first - i)))
                if c.first - i <= CONTEXT and self._stops(i + 1, c.first):
                    v["governed_related"] = 1.0
            elif i >= c.last:
                near = max(near, 1.0 / (1.0 + _DECAY * (i - c.last + 1)))
                if i - c.last < CONTEXT and self._stops(c.last, i):
                    v["governs_related"] = 1.0
        v["related_near"] = near

    def _stops(self, first: int, last: int) -> bool:
        return all(t.surface in STOP_WORDS for t in self.tokens[first:last])


def softmax(scores: FloatArray) -> FloatArray:
    """Probabilities of one list of scores; empty for empty."""
    if not len(scores):
        return scores
    e: FloatArray = np.exp(scores - scores.max())
    total: FloatArray = e / e.sum()
    return total


def entropy(probabilities: Sequence[float]) -> float:
    """Shannon entropy in nats, at least 0."""
    return -sum(p * math.log(p) for p in probabilities if p > 0)
