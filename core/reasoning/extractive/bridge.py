"""Bridge entities: names in the evidence, not in the question, that lead on to what is missing.

Findings, "Bridge": names of the corpus's titles and capitalised spans, in sentences near the
question. Beside the whole question, the sub-question that the name would answer is asked and
read: in "the spouse of the actor who plays Jarvis", the name that answers "Which actor plays
Jarvis?". The linear score is fitted on which names lead to a missing gold passage
(``benchmarks/fit_bridge.py``; ``bridge.json``).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.reasoning.extractive.case import Case
from core.reasoning.extractive.facets import share_stated
from core.reasoning.extractive.features import Scene, SentenceFeatures
from core.reasoning.extractive.kinds import name_kinds
from core.retrieval.tokenizer import STOP_WORDS

HOP_STATED = 0.5
"""A hop counts as said where one sentence of the chain states at least this share of it."""
LEAST_KEY = 3
FLOOR = 0.003
"""Probability at which a name counts as no answer at all."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """A name as written, its normalised key, the passage and sentence row of its best mention."""

    name: str
    key: str
    passage: int
    row: int
    score: float


@cache
def weights() -> dict[str, float]:
    """Fitted weights by feature."""
    told = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {name: float(weight) for name, weight in told["weights"].items()}


def bridges(case: Case) -> list[Bridge]:
    """Every candidate, most promising first; a name by its best mention."""
    fitted = weights()
    best: dict[str, Bridge] = {}
    for bridge, features in mentions(case):
        score = sum(fitted.get(name, 0.0) * value for name, value in features.items())
        if bridge.key not in best or score > best[bridge.key].score:
            best[bridge.key] = Bridge(bridge.name, bridge.key, bridge.passage, bridge.row, score)
    return sorted(best.values(), key=lambda b: (-b.score, b.row))


def open_hop(case: Case) -> int:
    """Index of the first hop that the best chain does not say; the last one if it says all."""
    scene = case.scene
    held = [
        s.parse.terms | scene.passages[s.passage].parse.title_terms
        for s in scene.sentences
        if s.passage in case.chain.passages
    ]
    hops = case.facets.hops
    for i, hop in enumerate(hops[:-1]):
        if max((share_stated(scene, hop.terms, stems) for stems in held), default=0) < HOP_STATED:
            return i
    return len(hops) - 1


def asker(case: Case) -> str:
    """The hop, as filled, that the wanted name answers: the one before the first open hop. The
    whole question where it is a plain one."""
    filled = case.ranked.hops
    return filled[max(open_hop(case), 1) - 1] if len(filled) > 1 else case.scene.question


def mentions(case: Case) -> Iterator[tuple[Bridge, dict[str, float]]]:
    """Every mention of a candidate, with its features (each about -1 to 1)."""
    scene, view = case.scene, case.scene.view
    asking = asker(case)
    answers = case.answers(asking)
    asked = f" {' '.join(t.surface for t in scene.tokens)} "
    held = Counter(alias for p in scene.passages for alias in p.parse.aliases)
    for sentence, hop in zip(scene.sentences, case.asking(asking).sentences, strict=True):
        passage = scene.passages[sentence.passage]
        for start, end, key in _names(scene, sentence):
            if len(key) < LEAST_KEY or key in STOP_WORDS or f" {key} " in asked:
                continue
            kinds = name_kinds(key)
            yield (
                Bridge(passage.text[start:end], key, sentence.passage, sentence.row, 0.0),
                {
                    "emb": sentence.emb,
                    "cov": sentence.cov_alone,
                    "hop_emb": hop.emb,
                    "hop_cov": hop.cov,
                    "answer": _strength(answers.get(key, 0.0)),
                    "fresh": float(view.alias_count(key) > held[key]),
                    "in_chain": float(sentence.passage in case.chain.passages),
                    "dull": float(any(k in kinds for k in ("date", "nationality", "language"))),
                    "digits": float(any(c.isdigit() for c in key)),
                },
            )


def _strength(probability: float) -> float:
    """The probability on a log scale: 0 for none, 1 for certain."""
    return math.log(probability / FLOOR + 1) / math.log(1 / FLOOR + 1)


def _names(scene: Scene, sentence: SentenceFeatures) -> list[tuple[int, int, str]]:
    passage = scene.passages[sentence.passage]
    names = {(s.start, s.end): s.key for s in passage.parse.spans[sentence.index]}
    text = passage.text[sentence.start : sentence.end]
    for start, end, alias in scene.view.titles_in(text):
        names.setdefault((sentence.start + start, sentence.start + end), alias)
    return [(start, end, key) for (start, end), key in sorted(names.items())]
