"""The best chain of passages under a question: where it enters, and over which names it goes on.

Findings, "Verifying": beam 4, at most 3 passages. A start scores its best sentence + .3 title
share. Two passages are linked by a title mention either way, or by a shared capitalised span that
at most 3 passages hold and the question does not. A step asks the linked passage for the linking
name and the question's words that are still uncovered, and scores
.5 max over sentences (cosine + newly covered share) + .6 gain in coverage - .35.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.ports import FloatArray
from core.reasoning.extractive.features import PassageFeatures, Scene, as_written
from core.reasoning.extractive.relations import stated
from core.retrieval.tokenizer import STOP_WORDS

BEAM = 4
MAX_PASSAGES = 3
TITLE_WEIGHT = 0.3
STEP_WEIGHT = 0.5
GAIN_WEIGHT = 0.6
STEP_COST = 0.35
MOST_HOLDERS = 3
"""A capitalised span in more passages than this links nothing."""


@dataclass(frozen=True, slots=True)
class Link:
    """Why passage ``target`` follows ``source``: the name they share, as one of them writes it.

    ``titled`` tells that it is the title of ``target`` ("out"), of ``source`` ("in") or of
    neither ("").
    """

    source: int
    target: int
    name: str
    titled: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Passages of a scene in order (indices), how they are linked, and what they cover.

    ``score`` is at least 0 for no passage and grows without a fixed bound (about 2.5 at best);
    ``stated`` maps a covered question stem to 1, or to less where a related word stands for it;
    ``coverage`` is the idf share that they cover, in [0, 1].
    """

    passages: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()
    score: float = 0.0
    stated: tuple[tuple[str, float], ...] = ()
    coverage: float = 0.0

    @property
    def covered(self) -> frozenset[str]:
        """Question stems that the chain states, by the word or a related one."""
        return frozenset(term for term, _ in self.stated)


class Weave:
    """What a scene's passages cover, and what links them; see ``best_chain``."""

    def __init__(self, scene: Scene, unsaid: Sequence[frozenset[str]] = ()) -> None:
        """``unsaid``: for each passage, question stems that do not count as stated by it (it
        says them of something else); none if empty."""
        self.scene = scene
        self.total = scene.weight or 1.0
        self._unsaid = unsaid or (frozenset(),) * len(scene.passages)

    @cached_property
    def passage_stated(self) -> tuple[dict[str, float], ...]:
        """For each passage, the question stems that its title or text states."""
        return tuple(
            stated(
                self.scene.asked - self._unsaid[p.index],
                p.parse.title_terms.union(*(s.terms for s in p.parse.sentences)),
            )
            for p in self.scene.passages
        )

    @cached_property
    def sentence_stated(self) -> tuple[dict[str, float], ...]:
        """For each sentence of the scene, the question stems that it or its title states."""
        scene = self.scene
        return tuple(
            stated(
                scene.asked - self._unsaid[s.passage],
                s.parse.terms | scene.passages[s.passage].parse.title_terms,
            )
            for s in scene.sentences
        )

    def weigh(self, covered: dict[str, float]) -> float:
        """Idf share of the question that ``covered`` stems make up, in [0, 1]."""
        terms = self.scene.terms
        return sum(terms[t] * share for t, share in covered.items()) / self.total

    @cached_property
    def links(self) -> tuple[dict[int, Link], ...]:
        """For each passage, the passages linked to it, by the most telling name."""
        scene, n = self.scene, len(self.scene.passages)
        found: list[dict[int, Link]] = [{} for _ in range(n)]
        for i, mentioned in enumerate(scene.mentions):
            for j, places in mentioned.items():
                start, end = places[0]
                name = scene.passages[i].text[start:end]
                found[i][j] = Link(i, j, name, "out")
                found[j].setdefault(i, Link(j, i, name, "in"))
        for key, (name, holders) in self._shared_names().items():
            del key
            for i in holders:
                for j in holders:
                    if i != j and j not in found[i]:
                        found[i][j] = Link(i, j, name, "")
        return tuple(found)

    def _shared_names(self) -> dict[str, tuple[str, list[int]]]:
        holders: dict[str, tuple[str, list[int]]] = {}
        asked = " ".join(t.surface for t in self.scene.tokens)
        for i, passage in enumerate(self.scene.passages):
            for spans in passage.parse.spans:
                for span in spans:
                    if len(span.key) < 3 or span.key in STOP_WORDS:
                        continue
                    name = passage.text[span.start : span.end]
                    _, held = holders.setdefault(span.key, (name, []))
                    if not held or held[-1] != i:
                        held.append(i)
        shared = {
            key: (name, held)
            for key, (name, held) in holders.items()
            if 2 <= len(held) <= MOST_HOLDERS and f" {key} " not in f" {asked} "
        }
        return dict(sorted(shared.items(), key=lambda item: -len(item[0])))

    def residual(self, covered: frozenset[str]) -> str:
        """The question's content words whose stems are not covered, in order, once each."""
        left = self.scene.asked - covered
        return " ".join(as_written([t for t in self.scene.tokens if t.term in left]))


def best_chain(scene: Scene) -> Chain:
    """The chain of the highest score; of no passage if the scene has none."""
    return search(Weave(scene))[0]


def search(weave: Weave) -> list[Chain]:
    """The last beam and every chain that was better, best first; ties to the earlier passages."""
    scene = weave.scene
    if not any(p.sentences for p in scene.passages):
        return [Chain()]
    beam = _best([_start(weave, p) for p in scene.passages if p.sentences])
    found = list(beam)
    for _ in range(MAX_PASSAGES - 1):
        wanted = [
            (chain, link, f"{link.name} {weave.residual(chain.covered)}".strip())
            for chain in beam
            for link in _onward(weave, chain)
        ]
        if not wanted:
            break
        queries = list(dict.fromkeys(query for _, _, query in wanted))
        vectors = dict(zip(queries, scene.view.encode(queries), strict=True))
        beam = _best([_step(weave, chain, link, vectors[q]) for chain, link, q in wanted])
        found += beam
    return _best(found, len(found))


def _best(chains: list[Chain], most: int = BEAM) -> list[Chain]:
    return sorted(chains, key=lambda c: (-c.score, len(c.passages), c.passages))[:most]


def _start(weave: Weave, passage: PassageFeatures) -> Chain:
    covered = weave.passage_stated[passage.index]
    return Chain(
        passages=(passage.index,),
        score=passage.pm + TITLE_WEIGHT * passage.title_share,
        stated=tuple(covered.items()),
        coverage=weave.weigh(covered),
    )


def _onward(weave: Weave, chain: Chain) -> list[Link]:
    reached: dict[int, Link] = {}
    for i in reversed(chain.passages):
        for j, link in weave.links[i].items():
            if j not in chain.passages and weave.scene.passages[j].sentences:
                reached.setdefault(j, link)
    return list(reached.values())


def _step(weave: Weave, chain: Chain, link: Link, query: FloatArray) -> Chain:
    scene, held = weave.scene, dict(chain.stated)
    target = scene.passages[link.target]
    rows = [s.row for s in target.sentences]
    cosines: FloatArray = scene.vectors[rows] @ query
    new = np.array([weave.weigh(_new(weave.sentence_stated[r], held)) for r in rows])
    covered = _union(held, weave.passage_stated[link.target])
    coverage = weave.weigh(covered)
    gain = coverage - chain.coverage
    step = STEP_WEIGHT * float((cosines + new).max()) + GAIN_WEIGHT * gain - STEP_COST
    return Chain(
        passages=(*chain.passages, link.target),
        links=(*chain.links, link),
        score=chain.score + step,
        stated=tuple(covered.items()),
        coverage=coverage,
    )


def _new(found: dict[str, float], held: dict[str, float]) -> dict[str, float]:
    return {t: share - held.get(t, 0.0) for t, share in found.items() if share > held.get(t, 0.0)}


def _union(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    return {t: max(first.get(t, 0.0), second.get(t, 0.0)) for t in first | second}
