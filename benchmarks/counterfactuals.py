"""Copies of passages in which one value is changed, to measure what contradictions are found."""

from __future__ import annotations

import random
from dataclasses import dataclass

import regex

from benchmarks.evidence_states import DevSet
from core.evaluation.questions import pooled_passage
from core.reasoning.extractive.features import Scene, build_scene
from core.types import Passage

_YEAR = regex.compile(r"\b(?:1[5-9]|20)\d\d\b")
_NUMBER = regex.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})*(?![\d,.]|\p{L})")
LEAST_RELEVANCE = 0.3
"""Only sentences that bear on the question are changed (the rule looks at no others)."""


@dataclass(frozen=True, slots=True)
class Altered:
    """A set of passages in which the last contradicts an earlier one in one value."""

    question: str
    kind: str
    passages: tuple[Passage, ...]


def altered_sets(dev: DevSet) -> list[Altered]:
    """One for each question where the best gold sentence with a value can be changed."""
    rng = random.Random(f"counterfactuals of {dev.name}")
    names = _names(dev)
    found = []
    for question in dev.questions:
        top = dev.search(question.question, 4)
        held = {p.id: p for p in [*top, *(dev.by_id[i] for i in sorted(question.gold))]}
        passages = tuple(held.values())[:7]
        scene = build_scene(question.question, passages, dev.view)
        made = _alter(scene, question.gold, names, rng)
        if made is not None:
            found.append(Altered(question.question, made[0], (*passages, made[1])))
    return found


def _names(dev: DevSet) -> list[str]:
    names = set()
    for passage in dev.pool[:300]:
        scene = build_scene("", (passage,), dev.view)
        for spans in scene.passages[0].parse.spans:
            names |= {passage.text[s.start : s.end] for s in spans if s.last - s.first == 2}
    return sorted(n for n in names if not any(c.isdigit() for c in n))


def _alter(
    scene: Scene, gold: frozenset[str], names: list[str], rng: random.Random
) -> tuple[str, Passage] | None:
    sentences = [
        s
        for s in scene.sentences
        if scene.passages[s.passage].passage.id in gold and s.emb >= LEAST_RELEVANCE
    ]
    for sentence in sorted(sentences, key=lambda s: -s.s):
        passage = scene.passages[sentence.passage]
        text = passage.text[sentence.start : sentence.end]
        spans: dict[str, list[tuple[int, int]]] = {
            "date": [m.span() for m in _YEAR.finditer(text)],
            "number": [m.span() for m in _NUMBER.finditer(text) if not _YEAR.fullmatch(m.group())],
            "name": [
                (s.start - sentence.start, s.end - sentence.start)
                for s in passage.parse.spans[sentence.index]
                if s.first > sentence.parse.first
                and not set(s.key.split()) & set(passage.parse.title.lower().split())
            ],
        }
        kinds = [kind for kind, where in spans.items() if where]
        if not kinds:
            continue
        kind = rng.choice(kinds)
        start, end = rng.choice(spans[kind])
        value = _other(kind, text[start:end], names, rng)
        changed = text[:start] + value + text[end:]
        whole = passage.text[: sentence.start] + changed + passage.text[sentence.end :]
        return kind, pooled_passage(passage.passage.title, whole)
    return None


def _other(kind: str, value: str, names: list[str], rng: random.Random) -> str:
    if kind == "date":
        return str(int(value) + rng.choice([-7, -3, -2, 2, 4, 9]))
    if kind == "number":
        return f"{int(value.replace(',', '')) + rng.choice([3, 5, 12]):,}"
    return rng.choice([n for n in names if not set(n.split()) & set(value.split())])
