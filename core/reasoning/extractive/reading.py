"""Reading: the answers to a question in its passages, ranked, with where they stand.

Rules first (``rules``: choices, yes or no); else candidates are scored by a linear model whose
weights (``reading.json``) are fitted on the development questions. A question that holds another
is read hop by hop: each sub-question's best answer fills the next, and the last one's features
stand beside those of the whole question, so that a wrong hop misleads but does not decide.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from core.ports import FloatArray, TextView
from core.reasoning.extractive.candidates import answer_key
from core.reasoning.extractive.columns import FEATURES
from core.reasoning.extractive.comparing import Ruling
from core.reasoning.extractive.currency import current
from core.reasoning.extractive.decompose import sub_questions
from core.reasoning.extractive.eligible import eligible
from core.reasoning.extractive.facets import facets_of
from core.reasoning.extractive.features import Scene, build_scene
from core.reasoning.extractive.lexicon import asking
from core.reasoning.extractive.options import options
from core.reasoning.extractive.question import analyse
from core.reasoning.extractive.rules import lacks_operand, rule
from core.reasoning.extractive.scoring import Hop, Pool
from core.reasoning.extractive.statements import read_statement, statement_asked
from core.reasoning.extractive.tongues import reading as other
from core.reasoning.extractive.tongues.asked import Asked, asked_of
from core.retrieval.tokenizer import STOP_WORDS, tokenize
from core.tasks import AnswerRequest, Reading, Support
from core.types import Passage

WEIGHTS = Path(__file__).with_suffix(".json")
CANDIDATES_KEPT = 20
MAX_SUPPORTS = 8


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer stands: characters ``start:end`` of the text of passage ``passage`` of the
    scene. For an answer that is the passage's title, the sentence that was read."""

    passage: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """An answer with its variants merged: ``probability`` is their softmax mass, in [0, 1]."""

    text: str
    probability: float
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class RankedAnswers:
    """Answers, most probable first; ``best`` is the first.

    ``p1`` is the greatest probability and ``entropy`` (nats) that of the whole distribution, both
    0 where nothing was found; ``rule`` names the rule that answered, if one did; ``hops`` are the
    sub-questions as filled, empty for a plain question.
    """

    answers: tuple[RankedAnswer, ...] = ()
    best: RankedAnswer | None = None
    p1: float = 0.0
    entropy: float = 0.0
    rule: str | None = None
    hops: tuple[str, ...] = ()


@cache
def weights() -> FloatArray:
    """The fitted weights, in the order of ``FEATURES``; a feature without one weighs 0."""
    told = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return np.array([told["weights"].get(name, 0.0) for name in FEATURES], dtype=np.float32)


def pool_of(scene: Scene, w: FloatArray) -> tuple[Pool, tuple[str, ...]]:
    """The pool of a scene with its hops read by the weights ``w``, and the hops as filled."""
    hops = sub_questions(scene.question, scene.view)
    if len(hops) < 2:
        return Pool(scene, analyse(scene.question), facets_of(scene).asked), ()
    filled: list[str] = []
    answers: list[str] = []
    keys: list[str] = []
    probability = 1.0
    for hop in hops[:-1]:
        filled.append(_fill(hop, answers))
        under = scene.asking(filled[-1])
        pool = Pool(under, analyse(filled[-1]), facets_of(under).asked)
        answer_, key, p = _hop_answer(pool, w)
        answers.append(answer_)
        keys.append(key)
        probability *= p
    filled.append(_fill(hops[-1], answers))
    hop_ = Hop(scene.asking(filled[-1]), tuple(keys), probability)
    analysis = replace(analyse(scene.question), life=analyse(hops[-1]).life)
    return Pool(scene, analysis, facets_of(scene).asked, hop_), tuple(filled)


def _hop_answer(pool: Pool, w: FloatArray) -> tuple[str, str, float]:
    """The best answer to a hop that is not made of the hop's own words, its key and mass."""
    ranked = rank(pool, w)[0]
    for found in ranked.answers:
        tokens = tokenize(found.text)
        if any(t.term not in pool.scene.asked for t in tokens if t.surface not in STOP_WORDS):
            return found.text, answer_key(tokens), found.probability
    return "", "", 0.0


def _fill(hop: str, answers: list[str]) -> str:
    for number, answer in reversed(list(enumerate(answers, 1))):
        hop = hop.replace(f"#{number}", answer or "it")
    return hop


def rank(
    pool: Pool,
    w: FloatArray,
    hops: tuple[str, ...] = (),
    x: FloatArray | None = None,
    excluded: frozenset[str] = frozenset(),
) -> tuple[RankedAnswers, str]:
    """Answers of the pool by the weights, and the key of the best; ``x`` is its matrix.

    Only keys with an ``eligible`` candidate are answers. ``excluded`` keys are none either, unless
    there is no other: what fills the slot of the last hop is whom it asks about.
    """
    x = pool.matrix() if x is None else x
    if not len(x):
        return RankedAnswers(hops=hops), ""
    scores = x @ w
    barred = np.array([row.candidate.key in excluded for row in pool.rows])
    allowed, kept = eligible(pool)
    if barred.any() and (allowed & ~barred).any():
        scores = np.where(barred, -np.inf, scores)
    e = np.exp(scores - scores.max())
    mine = 1.0
    if kept:
        mine = max(kept, float(e[allowed].sum() / e.sum()))
        e = np.where(allowed, np.exp(scores - scores[allowed].max()), 0.0)
    p = (mine * e / e.sum()).tolist()
    mass: dict[str, float] = {}
    members: dict[str, list[int]] = {}
    for i, row in enumerate(pool.rows):
        if kept and not allowed[i]:
            continue
        key = row.candidate.key
        mass[key] = mass.get(key, 0.0) + p[i]
        members.setdefault(key, []).append(i)
    shares = [*mass.values(), 1.0 - mine]
    stated = [k for k in mass if any(allowed[i] for i in members[k])]
    order = sorted(stated, key=lambda k: (-mass[k], members[k][0]))[:CANDIDATES_KEPT]
    answers = []
    for key in order:
        rows = sorted(members[key], key=lambda i: (-p[i], i))
        sources = tuple(_source(pool, i) for i in rows[:MAX_SUPPORTS])
        answers.append(RankedAnswer(pool.rows[rows[0]].candidate.text, mass[key], sources))
    return RankedAnswers(
        answers=tuple(answers),
        best=answers[0],
        p1=min(1.0, answers[0].probability),
        entropy=max(0.0, -sum(m * math.log(m) for m in shares if m > 0)),
        hops=hops,
    ), order[0]


def _source(pool: Pool, i: int) -> Source:
    row = pool.rows[i]
    if row.candidate.shape == "title":
        return Source(row.sentence.passage, row.sentence.start, row.sentence.end)
    return Source(row.sentence.passage, row.candidate.start, row.candidate.end)


def read(scene: Scene, w: FloatArray | None = None) -> RankedAnswers:
    """The ranked answers of a scene, from its passages that still hold (``currency``).
    Deterministic; never raises for any text."""
    if not asks_something(scene):
        return RankedAnswers()
    kept = current(scene.question, [p.passage for p in scene.passages])
    if len(kept) < len(scene.passages):
        passages = [scene.passages[i].passage for i in kept]
        return _replaced(read(build_scene(scene.question, passages, scene.view), w), kept)
    asked = asked_of(scene.question)
    if asked is not None:
        return _abroad(scene, asked)
    analysis = analyse(scene.question)
    if analysis.form == "span":
        scene.view.encode([scene.question, *sub_questions(scene.question, scene.view)[:1]])
    if lacks_operand(scene, analysis):
        return RankedAnswers()
    ruling = rule(scene, analysis)
    if ruling is not None:
        return ruled(ruling) if ruling.answer else RankedAnswers()
    if analysis.form == "choice" and options(scene.question):
        return RankedAnswers()
    w = weights() if w is None else w
    pool, hops = pool_of(scene, w)
    asks = statement_asked(scene.question, analysis)
    told = read_statement(pool.hop.scene if pool.hop else scene, asks) if asks else None
    if told is not None:
        text = scene.passages[told.passage].text[told.start : told.end]
        place = (told.passage, told.start, told.end)
        return replace(ruled(Ruling(text, (place,), told.confidence, told.asks)), hops=hops)
    if asks and asks != "meaning":
        return RankedAnswers(hops=hops)
    filled = frozenset(pool.hop.answers[-1:]) if pool.hop else frozenset[str]()
    return rank(pool, w, hops, excluded=filled)[0]


def asks_something(scene: Scene) -> bool:
    """Whether the question has a word that tells something, or names a title: "?" and "the of and"
    ask nothing."""
    told = (t for t in scene.tokens if t.surface not in STOP_WORDS and t.surface not in asking())
    return any(told) or bool(scene.view.titles_in(scene.question))


def _replaced(ranked: RankedAnswers, kept: tuple[int, ...]) -> RankedAnswers:
    """Answers from the passages ``kept`` of a scene, with their places in the whole of it."""
    answers = tuple(
        replace(a, sources=tuple(replace(s, passage=kept[s.passage]) for s in a.sources))
        for a in ranked.answers
    )
    return replace(ranked, answers=answers, best=answers[0] if answers else None)


def _abroad(scene: Scene, asked: Asked) -> RankedAnswers:
    """The answers to a question in another language than English."""
    found = other.read(scene, asked)[:CANDIDATES_KEPT]
    if not found:
        return RankedAnswers()
    e = np.exp((np.array([f.score for f in found]) - found[0].score) / other.TEMPERATURE)
    sure = other.UNSURE if found[0].whole else other.MOST_SURE
    p = (sure * e / e.sum()).tolist()
    answers = []
    for f, mass in zip(found, p, strict=True):
        text = f.said or scene.passages[f.passage].text[f.start : f.end]
        answers.append(RankedAnswer(text, mass, (Source(f.passage, f.start, f.end),)))
    return RankedAnswers(
        answers=tuple(answers),
        best=answers[0],
        p1=answers[0].probability,
        entropy=max(0.0, -sum(m * math.log(m) for m in (*p, 1.0 - sure) if m > 0)),
        rule=asked.form if asked.form != "span" else None,
    )


def ruled(ruling: Ruling) -> RankedAnswers:
    """A rule's answer as the only one, with the rest of the mass on no other."""
    p = ruling.confidence
    sources = tuple(Source(*place) for place in ruling.places)
    best = RankedAnswer(ruling.answer, p, sources)
    left = [m for m in (p, 1.0 - p) if m > 0]
    return RankedAnswers(
        answers=(best,),
        best=best,
        p1=p,
        entropy=max(0.0, -sum(m * math.log(m) for m in left)),
        rule=ruling.rule,
    )


def answer(request: AnswerRequest, view: TextView) -> Reading:
    """Answer from the passages alone; an empty answer where there is nothing to read."""
    scene = build_scene(request.question, request.passages, view)
    return as_reading(read(scene), request.passages)


def as_reading(ranked: RankedAnswers, passages: Sequence[Passage]) -> Reading:
    """The answer to give as a reply; ``passages`` are those of the scene, in its order."""
    if ranked.best is None:
        return Reading(answer="")
    supports = tuple(
        Support(passage_id=passages[s.passage].id, start=s.start, end=s.end)
        for s in ranked.best.sources[:MAX_SUPPORTS]
    )
    return Reading(answer=ranked.best.text, supports=supports, confidence=ranked.p1)
