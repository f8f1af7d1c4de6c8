"""Reading in other languages: the sentence that says it, and the span of the type asked for.

A sentence is scored by the idf share of the question's words that it or its title states (forms
of a word count as the word), and by the cosine. Its spans of the type asked for are ranked with
what stands around them. Where no type is known or no span is found, the answer is the sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.reasoning.extractive.features import PassageFeatures, Scene
from core.reasoning.extractive.tongues import spaced, unspaced
from core.reasoning.extractive.tongues.asked import Asked, stripped
from core.reasoning.extractive.tongues.pieces import RELATED, Piece, Word, alike, related
from core.reasoning.extractive.tongues.quantities import dates, numbers

ALONE, COSINE, SENTENCE, LOST = 0.2, 0.3, 3.0, 0.35
"""Weights of a sentence's own coverage and its cosine beside coverage with the title; of its score
beside the cues of a span; and how far below the best a sentence may be and still be read."""
SUBJECT = 2.0
"""A word of some title weighs this much more: whom it is about comes before what is said."""
DECAY, NEAR, PER_WORD = 0.25, 0.5, 6
READ = 6
STATED, STATED_RUNS = 0.5, 0.4
"""Share of the question that a sentence states at least where it may say no; less where words are
runs or pairs of characters."""
TEMPERATURE = 0.5
MOST_SURE, UNSURE = 0.6, 0.2
"""The most that an answer in another language claims: about the share of right answers of the
English reader with distractors (there are no development questions in others); and what a whole
sentence claims."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence under the question: ``alone``: share of each term that it states, ``titled``:
    that it or its title states, both in [0, 1] and in the order of the terms."""

    passage: int
    start: int
    end: int
    words: tuple[Word, ...]
    alone: tuple[float, ...]
    titled: tuple[float, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """A span that answers; ``score`` is comparable within one question. ``said``: "yes" or "no"
    where the span bears that out; ``whole``: it is a sentence for want of a span."""

    passage: int
    start: int
    end: int
    score: float
    said: str = ""
    whole: bool = False


class Reader:
    """The passages of a scene under a question in another language."""

    def __init__(self, scene: Scene, asked: Asked) -> None:
        self.scene, self.asked, self.tongue = scene, asked, asked.tongue
        self.lines = self._lines()

    # --- sentences ---

    def _words(self, text: str, start: int, end: int) -> tuple[Word, ...]:
        if self.tongue.segmented or self.tongue.code == "ko":
            found = spaced.words_of(text, start, end, self.tongue)
            if self.tongue.code == "ko":
                return tuple(Word(stripped(w.key, self.tongue), w.start, w.end) for w in found)
            return found
        return (Word(text[start:end], start, end),)

    def _states(self, term: str, words: Sequence[Word]) -> float:
        """How far words (or a text without blanks) state a term: 1, .6 for a related word, 0."""
        if self.tongue.segmented or self.tongue.code == "ko":
            least = 4 if self.tongue.segmented else 2
            if any(alike(term, w.key, least) for w in words):
                return 1.0
        elif any(term in w.key for w in words):
            return 1.0
        if not self.tongue.segmented and self.tongue.code != "ko":
            groups = [g for g in self.tongue.groups if any(m in term for m in g)]
            return RELATED * any(m in w.key for g in groups for m in g for w in words)
        return RELATED * any(related(term, w.key, self.tongue) for w in words)

    def _lines(self) -> list[Line]:
        terms = self.asked.terms
        rows = []
        for p in self.scene.passages:
            title = self._words(p.passage.title, 0, len(p.passage.title))
            in_title = [self._states(t, title) for t in terms]
            for s in p.sentences:
                words = self._words(p.text, s.start, s.end)
                alone = tuple(self._states(t, words) for t in terms)
                titled = tuple(max(x, y) for x, y in zip(alone, in_title, strict=True))
                rows.append((p, s, words, alone, titled, in_title))
        n = len(rows)
        weights = [
            math.log(1.0 + n / (0.5 + sum(r[4][i] > 0 for r in rows)))
            * (SUBJECT if any(r[5][i] == 1.0 for r in rows) else 1.0)
            for i in range(len(terms))
        ]
        total = sum(weights) or 1.0
        self.weights = tuple(w / total for w in weights)
        found = []
        for p, s, words, alone, titled, _ in rows:
            score = self.share(titled) + ALONE * self.share(alone) + COSINE * s.emb
            found.append(Line(p.index, s.start, s.end, words, alone, titled, score))
        return sorted(found, key=lambda x: (-x.score, x.passage, x.start))

    def share(self, stated: Sequence[float]) -> float:
        """Share of the question's weight that is stated, in [0, 1]."""
        return sum(w * s for w, s in zip(self.weights, stated, strict=True))

    # --- spans ---

    def spans(self) -> list[Found]:
        """Spans of the type asked for in the best sentences, best first."""
        best = self.lines[0].score
        found: dict[tuple[int, int, int], Found] = {}
        for line in self.lines[:READ]:
            if line.score < best - LOST:
                break
            for piece in self._pieces(line):
                score = SENTENCE * line.score + piece.cue + NEAR * self._near(line, piece)
                key = line.passage, piece.start, piece.end
                if key not in found or score > found[key].score:
                    found[key] = Found(*key, score)
        return sorted(found.values(), key=lambda f: (-f.score, f.passage, f.start, f.end))

    def _pieces(self, line: Line) -> Iterator[Piece]:
        asked, text = self.asked, self._passage(line).text
        if asked.kind == "date":
            yield from dates(text, line.start, line.end, self.tongue, asked.year)
        elif asked.kind == "number":
            yield from numbers(text, line.start, line.end, self.tongue, asked.head, asked.measure)
        elif asked.kind in ("person", "place", "org"):
            yield from self._names(line)

    def _names(self, line: Line) -> Iterator[Piece]:
        text = self._passage(line).text
        if self.tongue.segmented:
            yield from spaced.names(text, line.words, self.asked, self.known)
        else:
            yield from unspaced.names(text, line.start, line.end, self.asked)

    def _passage(self, line: Line) -> PassageFeatures:
        return self.scene.passages[line.passage]

    @property
    def known(self) -> frozenset[str]:
        """Folded words of titles and those with a capital inside a sentence."""
        found: set[str] = set()
        for line in self.lines:
            text = self._passage(line).text
            found.update(w.key for w in line.words[1:] if text[w.start].isupper())
        for p in self.scene.passages:
            title = p.passage.title
            found.update(w.key for w in self._words(title, 0, len(title)) if len(w.key) > 2)
        return frozenset(found)

    def _near(self, line: Line, piece: Piece) -> float:
        """Closeness to the nearest word of the question that the title does not state, in
        [0, 1]: 1 / (1 + .25 words)."""
        places = []
        for i, term in enumerate(self.asked.terms):
            if not line.alone[i]:
                continue
            if self.tongue.segmented or self.tongue.code == "ko":
                places += [(w.start, w.end) for w in line.words if self._states(term, (w,))]
            else:
                at = self._passage(line).text.find(term, line.start, line.end)
                places += [(at, at + len(term))] if at >= 0 else []
        gaps = [
            max(a - piece.end, piece.start - b, 0)
            for a, b in places
            if not (piece.start <= a and b <= piece.end)
        ]
        return 1.0 / (1.0 + DECAY * min(gaps) / PER_WORD) if gaps else 0.0

    # --- yes or no, one or the other ---

    def polar(self) -> Found | None:
        """Yes where one sentence (with its title) states all that is asked; no where it states
        all but a name or number and holds another such; else no ruling."""
        line = self.lines[0]
        if not self.asked.terms:
            return None
        missing = [t for t, s in zip(self.asked.terms, line.titled, strict=True) if not s]
        negated = self._negated(line)
        score = SENTENCE * line.score
        if not missing:
            return Found(line.passage, line.start, line.end, score, "no" if negated else "yes")
        least = STATED if self.tongue.segmented else STATED_RUNS
        if negated or self.share(line.titled) < least or not any(line.alone):
            return None
        if self._named(missing) and self._rival(line):
            return Found(line.passage, line.start, line.end, score, "no")
        return None

    def _negated(self, line: Line) -> bool:
        if self.tongue.segmented:
            return any(w.key in self.tongue.words("not") for w in line.words)
        text = self._passage(line).text[line.start : line.end]
        return any(n in text for n in self.tongue.phrases("not"))

    def _named(self, missing: Sequence[str]) -> bool:
        """Whether all that is missing is a name or a number in the question."""
        question = self.scene.question
        if not self.tongue.segmented:
            return len(missing) <= 4
        for word in spaced.words_of(question, 0, len(question), self.tongue):
            if word.key in missing and not (
                question[word.start].isupper() or question[word.start].isdigit()
            ):
                return False
        return True

    def _rival(self, line: Line) -> bool:
        """Whether the sentence names something that the question does not."""
        return any(True for _ in self._names(line))

    def choice(self) -> Found | None:
        """The operand that a sentence which states the rest of the question holds, where the
        other does not stand in it."""
        rest = frozenset(t for ts in self.asked.operands for t in ts)
        for line in self.lines[:READ]:
            held = [self._place(line, operand) for operand in self.asked.operands]
            if (held[0] is None) == (held[1] is None):
                continue
            if not any(
                s and t not in rest for t, s in zip(self.asked.terms, line.titled, strict=True)
            ):
                continue
            start, end = next(h for h in held if h is not None)
            return Found(line.passage, start, end, SENTENCE * line.score)
        return None

    def _place(self, line: Line, operand: tuple[str, ...]) -> tuple[int, int] | None:
        if self.tongue.segmented or self.tongue.code == "ko":
            least = 4 if self.tongue.segmented else 2
            hits = [w for w in line.words if any(alike(t, w.key, least) for t in operand)]
            if len(hits) < len(operand):
                return None
            start, end = hits[0].start, hits[-1].end
            if self.tongue.code == "ko":
                text = self._passage(line).text[start:end]
                end = start + len(stripped(text, self.tongue))
            return start, end
        at = self._passage(line).text.find(operand[0], line.start, line.end)
        return (at, at + len(operand[0])) if at >= 0 else None


def read(scene: Scene, asked: Asked) -> list[Found]:
    """What answers, best first: a ruling, spans of the type, or the sentence alone."""
    if not scene.sentences:
        return []
    reader = Reader(scene, asked)
    found: list[Found] = []
    if asked.form == "yes_no":
        ruled = reader.polar()
        found = [ruled] if ruled else []
    elif asked.form == "choice":
        ruled = reader.choice()
        found = [ruled] if ruled else []
    else:
        found = reader.spans()
    if found:
        return found
    line = reader.lines[0]
    return [Found(line.passage, line.start, line.end, 0.0, whole=True)]
