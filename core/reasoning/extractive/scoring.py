"""Features of answer candidates under a question, as one matrix.

Names are in ``columns``; the weights are fitted (``benchmarks/fit_reader.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.ports import FloatArray
from core.reasoning.extractive.candidates import Candidate
from core.reasoning.extractive.columns import (
    CROSSED,
    FEATURES,
    INDEX,
    KINDS,
    MULTI,
    SHAPES,
    STATIC,
    UNITS,
)
from core.reasoning.extractive.features import Scene, SentenceFeatures
from core.reasoning.extractive.kinds import listed, title_kinds
from core.reasoning.extractive.question import Analysis
from core.reasoning.extractive.relations import SYNONYM_WEIGHT, is_relation, related
from core.reasoning.extractive.table import Table, table
from core.retrieval.tokenizer import stem

POOL = 10
BRIDGE_WEIGHT = 0.5
DECAY = 0.25

_MULTI_FROM = np.array([INDEX[n] for n in MULTI])
_MULTI_TO = np.array([INDEX[f"multi_{n}"] for n in MULTI])
_CROSS_FROM = {kind: np.array([INDEX[n] for n in names]) for kind, names in CROSSED.items()}
_CROSS_TO = {k: np.array([INDEX[f"{k}_{n}"] for n in names]) for k, names in CROSSED.items()}
_FIT_TO = {k: INDEX[f"fit_{k}"] for k in KINDS}
_SHAPE = {name: i for i, name in enumerate(SHAPES)}


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate of the pool and the sentence it stands in."""

    sentence: SentenceFeatures
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Hop:
    """The last sub-question with its slots filled: its scene, and how sure the filling is."""

    scene: Scene
    answers: tuple[str, ...]
    probability: float


class Words:
    """A question's stems, and related ones, with their share of its weight."""

    def __init__(self, terms: Mapping[str, float], only: frozenset[str] | None = None) -> None:
        kept = {t: w for t, w in terms.items() if only is None or t in only}
        total = sum(kept.values()) or 1.0
        self.direct = {t: w / total for t, w in kept.items()}
        self.related: dict[str, float] = {}
        for term, weight in self.direct.items():
            for other in related(term):
                if other not in self.direct:
                    value = SYNONYM_WEIGHT * weight
                    self.related[other] = max(self.related.get(other, 0.0), value)


class Pool:
    """The sentences that are read for a question, their candidates, and the feature matrix."""

    def __init__(
        self, scene: Scene, analysis: Analysis, asked: frozenset[str], hop: Hop | None = None
    ) -> None:
        self.scene, self.analysis, self.hop = scene, analysis, hop
        self.words = Words(scene.terms)
        self.asked = Words(scene.terms, asked)
        self.bridges = self._bridges()
        self.rank: dict[int, int] = {}
        self.sentences = self._sentences()
        self.tables: list[Table] = []
        self.rows: list[Row] = []
        self.starts: list[int] = []
        for s in self.sentences:
            passage = scene.passages[s.passage].passage
            found = table(passage.title, passage.text, s.index)
            self.tables.append(found)
            self.starts.append(len(self.rows))
            self.rows += [Row(s, c) for c in found.rows]

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
        bridged = {s.row: self._bridged(s) for s in every}
        orders = [
            sorted(every, key=lambda s: (-s.s, s.row)),
            sorted(every, key=lambda s: (-bridged[s.row], s.row)),
        ]
        if self.hop is not None:
            asked = self.hop.scene.sentences
            orders.append(sorted(every, key=lambda s: (-asked[s.row].s, s.row)))
        taken = {s.row for order in orders for s in order[:POOL]}
        self.rank = {s.row: i for i, s in enumerate(orders[1]) if s.row in taken}
        return [s for s in every if s.row in taken]

    def _bridged(self, s: SentenceFeatures) -> float:
        bridge, missing = self.bridges[s.passage]
        return s.s + BRIDGE_WEIGHT * bridge + self.scene.share(missing & s.covered)

    def matrix(self) -> FloatArray:
        """Features, shape (len(rows), len(FEATURES)), float32."""
        x = np.zeros((len(self.rows), len(FEATURES)), dtype=np.float32)
        if not self.rows:
            return x
        titles: dict[str, list[int]] = {}
        for p in self.scene.passages:
            for alias in p.parse.aliases:
                titles.setdefault(alias, []).append(p.index)
        for s, t, start in zip(self.sentences, self.tables, self.starts, strict=True):
            if t.rows:
                _Block(self, s, t, x[start : start + len(t.rows)], titles).fill()
        self._counts(x)
        if self.hop is not None:
            x[:, _MULTI_TO] = x[:, _MULTI_FROM]
        if self.analysis.kind in CROSSED:
            kind = self.analysis.kind
            x[:, _CROSS_TO[kind]] = x[:, _CROSS_FROM[kind]]
        return x

    def _counts(self, x: FloatArray) -> None:
        keys = [r.candidate.key for r in self.rows]
        counts = Counter(r.candidate.key for r in self.rows if r.candidate.shape != "title")
        holders: dict[str, set[int]] = {}
        for r in self.rows:
            holders.setdefault(r.candidate.key, set()).add(r.sentence.passage)
        x[:, INDEX["frequency"]] = [min(counts[k], 5) / 5 for k in keys]
        x[:, INDEX["passages"]] = [min(len(holders[k]), 3) / 3 for k in keys]


class _Block:
    """The rows ``x`` of one sentence's candidates."""

    def __init__(
        self,
        pool: Pool,
        s: SentenceFeatures,
        t: Table,
        x: FloatArray,
        titles: Mapping[str, list[int]],
    ) -> None:
        self.pool, self.scene, self.a = pool, pool.scene, pool.analysis
        self.s, self.t, self.x, self.titles = s, t, x, titles
        self.left, self.right = t.left.tolist(), t.right.tolist()

    def put(self, name: str, values: ArrayLike) -> None:
        self.x[:, INDEX[name]] = values

    def fill(self) -> None:
        self.x[:, : len(STATIC)] = self.t.static
        self._sentence()
        self._near("", self.pool.words)
        self._asked()
        self._titles()
        self._fit()
        self._head()
        self._special()
        if self.pool.hop is not None:
            self._hop(self.pool.hop)

    def _sentence(self) -> None:
        s, passage = self.s, self.scene.passages[self.s.passage]
        bridge, missing = self.pool.bridges[s.passage]
        first = float(s.index == 0)
        self.put("emb", s.emb)
        self.put("rank", 1.0 / (1 + self.pool.rank[s.row]))
        self.put("p_rel", passage.p_rel)
        self.put("alone", s.cov_alone)
        self.put("cov", s.cov)
        self.put("first", first)
        self.put("question_share", passage.question_share)
        self.put("title_share", passage.title_share)
        self.put("bridge", bridge)
        self.put("residual", self.scene.share(missing & s.covered))
        self.put("bridge_first", bridge * first)

    def _hits(self, terms: Mapping[str, float]) -> list[tuple[int, str, float]]:
        tokens = self.t.parsed.tokens
        found = []
        for i in range(self.s.parse.first, self.s.parse.last):
            weight = terms.get(tokens[i].term)
            if weight is not None:
                found.append((i, tokens[i].term, weight))
        return found

    def _closeness(self, at: FloatArray) -> FloatArray:
        """1 / (1 + DECAY distance) of candidates (rows) to tokens ``at`` (columns); 0 inside."""
        before = self.t.first[:, None] - at[None, :]
        after = at[None, :] - self.t.last[:, None] + 1
        distance = np.where(before > 0, before, after)
        close: FloatArray = np.where(distance > 0, 1.0 / (1.0 + DECAY * np.maximum(distance, 0)), 0)
        return close

    def _weighted(self, hits: list[tuple[int, str, float]]) -> tuple[FloatArray, FloatArray]:
        """Sum over stems of weight times closeness of the nearest, and the greatest closeness."""
        close = self._closeness(np.array([h[0] for h in hits]))
        total = np.zeros(len(self.t.rows), dtype=np.float32)
        by_term: dict[str, list[int]] = {}
        for column, (_, term, _) in enumerate(hits):
            by_term.setdefault(term, []).append(column)
        for columns in by_term.values():
            total += hits[columns[0]][2] * close[:, columns].max(axis=1)
        return total, close.max(axis=1)

    def _near(self, prefix: str, given: Words) -> None:
        hits = self._hits(given.direct)
        asked = given.direct
        echo = [sum(1 for t in c if t in asked) / len(c) if c else 0.0 for c in self.t.content]
        self.put(f"{prefix}echo", echo)
        if hits:
            total, nearest = self._weighted(hits)
            at = {h[0] for h in hits}
            self.put(f"{prefix}near" if prefix else "proximity", total)
            self.put(f"{prefix}nearest", nearest)
            self.put(f"{prefix}governed", [i in at for i in self.left])
            governs = np.array([i in at for i in self.right])
            self.put(f"{prefix}governs", governs)
            if not prefix:
                self.put("as_hit", governs * self.x[:, INDEX["as_after"]])
                bracketed = self.x[:, INDEX["bracketed"]]
                previous = np.array([i - 1 in at for i in self.t.first.tolist()])
                self.put("bracket_hit", previous * bracketed)
        if prefix:
            return
        self.put("all_echo", [e == 1.0 for e in echo])
        others = self._hits(given.related)
        if others:
            close = self._closeness(np.array([h[0] for h in others]))
            at = {h[0] for h in others}
            self.put("related_near", close.max(axis=1))
            self.put("governed_related", [i in at for i in self.left])
            self.put("governs_related", [i in at for i in self.right])

    def _asked(self) -> None:
        """How the candidate stands to the words of the relation asked for: "written **by X**"
        and "**X** wrote" where a writer is asked for, against "directed by X"."""
        asked = self.pool.asked
        hits = self._hits({**asked.related, **asked.direct})
        tokens = self.t.parsed.tokens
        at = {h[0] for h in hits}
        by = self.x[:, INDEX["by_before"]]
        governed = np.array([i in at for i in self.left])
        governs = np.array([i in at for i in self.right])
        other = np.array(
            [i >= 0 and i not in at and is_relation(tokens[i].term) for i in self.left]
        )
        self.put("agent", by * governed)
        self.put("other_agent", by * ~governed)
        self.put("asked_governed", governed)
        self.put("asked_governs", governs)
        self.put("misgoverned", other)
        self.put("subject", governs * self.x[:, INDEX["verb_after"]])
        if hits:
            self.put("asked_alone", min(1.0, sum({term: w for _, term, w in hits}.values())))
            total, _ = self._weighted(hits)
            self.put("asked_near", np.minimum(total, 1.0))

    def _titles(self) -> None:
        scene, here = self.scene, self.s.passage
        covered = scene.passages[here].covered
        own = self.t.own_title
        shape = self.t.shape
        self.put("own_title", own & (shape != _SHAPE["title"]))
        for i, key in enumerate(self.t.keys):
            others = [j for j in self.titles.get(key, ()) if j != here]
            if others and not own[i]:
                self.x[i, INDEX["other_title"]] = 1.0
                self.x[i, INDEX["other_title_asked"]] = max(
                    scene.share(scene.passages[j].covered - covered) for j in others
                )

    def _kinds(self) -> FloatArray:
        """Kinds of the candidates; of a passage's title, what that passage says it is."""
        kinds = self.t.kinds
        for i, key in enumerate(self.t.keys):
            named = self.titles.get(key)
            if named:
                told = title_kinds(self.scene.passages[named[0]].parse)
                if told:
                    kinds = kinds.copy() if kinds is self.t.kinds else kinds
                    kinds[i] = [told.get(k, 0.0) for k in KINDS]
        return kinds

    def _fit(self) -> None:
        a, kinds, shape = self.a, self._kinds(), self.t.shape
        units = self.t.units
        is_date, is_number = kinds[:, KINDS.index("date")] > 0, shape == _SHAPE["number"]
        name = shape == _SHAPE["name"]
        if a.kind != "date":
            self.put("date_unasked", is_date)
        if a.kind != "number":
            self.put("number_unasked", is_number)
        self.put("name_as", float(a.wants_name) * self.x[:, INDEX["as_before"]])
        self.put("plural_joined", float(a.plural) * self.x[:, INDEX["joined"]])
        if a.wants_name:
            self.put("named_value", is_date | is_number)
        if a.kind == "any":
            self.put("person_unasked", kinds[:, KINDS.index("person")])
            self.put("name_any", name)
            self.put("noun_any", shape == _SHAPE["noun"])
            self.put("ordinal_any", shape == _SHAPE["ordinal"])
            return
        fit = kinds[:, KINDS.index(a.kind)].copy()
        if a.wh == "who":
            fit = np.maximum(fit, 0.5 * kinds[:, KINDS.index("org")])
        best = kinds.max(axis=1)
        self.put("fit", fit >= 1.0)
        self.put("weak_fit", (fit > 0) & (fit < 1.0))
        self.x[:, _FIT_TO[a.kind]] = fit
        self.put("clash", np.where(fit > 0, 0.0, best))
        self.put("untyped_name", name & (best == 0))
        if a.kind == "date":
            inside = self.x[:, INDEX["inside"]]
            self.put("full_date", [u == "day" for u in units] * (1 - inside))
            if "year" in a.head:
                self.put("year_asked", [u in ("year", "range") for u in units])
        if a.kind == "number":
            heads = [stem(u) in a.head for u in units]
            self.put("unit_number", heads if a.counts else [bool(u) for u in units])
            if a.counts:
                pairs = zip(units, heads, strict=True)
                self.put("unit_clash", [bool(u) and not fits for u, fits in pairs])

    def _head(self) -> None:
        a = self.a
        if a.head:
            self.put("head_in", [not a.head.isdisjoint(c) for c in self.t.content])
            self.put("head_beside", [not a.head.isdisjoint(c) for c in self.t.beside])
        if a.phrase:
            n = len(a.phrase)
            self.put("phrase_near", [len(a.phrase & c) / n for c in self.t.near])
        if a.kind == "number":
            wanted = a.head | {a.measure}
            follows = zip(self.t.content, self.t.after, strict=True)
            self.put("measure_fit", [not wanted.isdisjoint(c | f) for c, f in follows])

    def _special(self) -> None:
        a, keys, shape = self.a, self.t.keys, self.t.shape
        echo = self.x[:, INDEX["all_echo"]]
        self.put("echo_title", echo * (shape == _SHAPE["title"]))
        self.put("echo_name", echo * (shape == _SHAPE["name"]))
        if a.kind in ("place", "language", "any"):
            told = np.array([listed(key, a.head) for key in keys])
            self.put("listed", told > 0)
            self.put("unlisted", told < 0)
        if a.type_of:
            self.put("type_noun", (shape == _SHAPE["noun"]) * self.x[:, INDEX["head_in"]])
            self.put("type_name", shape == _SHAPE["name"])
        first, second = self.x[:, INDEX["life_first"]], self.x[:, INDEX["life_second"]]
        if a.life and a.kind == "date":
            born = a.life == "birth"
            self.put("born_first" if born else "died_first", first)
            self.put("born_second" if born else "died_second", second)
        if "year" in a.head:
            self.x[[u == "year" for u in self.t.units], INDEX["inside"]] = 0.0
        wanted = UNITS.get(next(iter(a.head), ""))
        if wanted and not a.counts:
            units = self.t.units
            self.put("unit_fit", [u in wanted for u in units])
            self.put("unit_clash", [bool(u) and u not in wanted for u in units])

    def _hop(self, hop: Hop) -> None:
        s = hop.scene.sentences[self.s.row]
        passage = hop.scene.passages[self.s.passage]
        p = hop.probability
        self.put("hop_emb", s.emb)
        self.put("hop_rank", passage.p_rel)
        self.put("hop_alone", s.cov_alone)
        self.put("hop_cov", s.cov)
        self.put("hop_named", p * float(not set(passage.parse.aliases).isdisjoint(hop.answers)))
        self._near("hop_", Words(hop.scene.terms))
        self.put("hop_answer", [p * float(k in hop.answers) for k in self.t.keys])
