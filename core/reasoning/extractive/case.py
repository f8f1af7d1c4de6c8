"""A question and its passages, examined on demand: every part is worked out once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

from core.ports import TextView
from core.reasoning.extractive.chain import Chain, Weave, search
from core.reasoning.extractive.facets import Facets, facets_of, share_stated
from core.reasoning.extractive.features import Scene, build_scene
from core.reasoning.extractive.reading import RankedAnswers, read
from core.retrieval.titles import alias_key
from core.retrieval.tokenizer import content_terms
from core.types import Passage

CASES_KEPT = 64
BOUND = 0.5
"""A passage says what is asked of its subject where one sentence states at least this of both."""
LIKELY = 0.5
MOST_SUBJECTS = 3


class Case:
    """What the handlers of the tasks share about one question over one set of passages."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._scenes: dict[str, Scene] = {}
        self._readings: dict[str, RankedAnswers] = {}

    @cached_property
    def weave(self) -> Weave:
        """Coverage and links of the passages.

        Where the question takes several hops, a passage states what is asked in the end only if
        it says it of the right subject (``bound``): that somebody else is married covers nothing.
        """
        hops, asked = self.facets.hops, self.facets.asked
        if len(hops) < 2:
            return Weave(self.scene)
        last = asked - frozenset[str]().union(*(hop.terms for hop in hops[:-1]))
        return Weave(self.scene, [frozenset() if b >= BOUND else last for b in self.bound])

    @cached_property
    def chain(self) -> Chain:
        """The best chain of passages."""
        return search(self.weave)[0]

    @cached_property
    def bound(self) -> tuple[float, ...]:
        """For each passage, the most that one sentence states both of what is asked in the end
        and of its subject, in [0, 1]: the lesser of the two shares.

        The subject is the answer of the hop before, as read: any that is at least half as
        probable as the best, three at most. For a plain question it is all its names.
        """
        scene, asked = self.scene, self.facets.asked
        found = [0.0] * len(scene.passages)
        for sentence in scene.sentences:
            i = sentence.passage
            stems = sentence.parse.terms | scene.passages[i].parse.title_terms
            share = share_stated(scene, asked, stems)
            for subject in self._subjects if share > found[i] else ():
                found[i] = max(found[i], min(share, share_stated(scene, subject, stems)))
        return tuple(found)

    @cached_property
    def _subjects(self) -> tuple[frozenset[str], ...]:
        filled = self.ranked.hops
        if len(filled) < 2:
            return (frozenset[str]().union(*(stems for _, stems in self.facets.names)),)
        answers = self.answers(filled[-2])
        least = LIKELY * max(answers.values(), default=0.0)
        likely = [key for key, p in answers.items() if p >= least]
        return tuple(frozenset(content_terms(key)) for key in likely[:MOST_SUBJECTS])

    @cached_property
    def facets(self) -> Facets:
        """What the question requires."""
        return facets_of(self.scene)

    @cached_property
    def ranked(self) -> RankedAnswers:
        """The reader's answers."""
        return read(self.scene)

    def asking(self, question: str) -> Scene:
        """The same passages under another question (a hop as filled)."""
        if question == self.scene.question:
            return self.scene
        if question not in self._scenes:
            self._scenes[question] = self.scene.asking(question)
        return self._scenes[question]

    def reading(self, question: str) -> RankedAnswers:
        """The reader's answers to another question over the same passages."""
        if question == self.scene.question:
            return self.ranked
        if question not in self._readings:
            self._readings[question] = read(self.asking(question))
        return self._readings[question]

    def answers(self, question: str) -> dict[str, float]:
        """Probability of each answer to a hop by its normalised key, without what the whole
        question names itself; most probable first."""
        asked = f" {' '.join(t.surface for t in self.scene.tokens)} "
        found: dict[str, float] = {}
        for answer in self.reading(question).answers:
            key = alias_key(answer.text)
            if key and f" {key} " not in asked:
                found[key] = found.get(key, 0.0) + answer.probability
        return dict(sorted(found.items(), key=lambda item: -item[1]))


class CaseBook:
    """The last cases over one text view, by question and passages; safe between threads."""

    def __init__(self, view: TextView, kept: int = CASES_KEPT) -> None:
        self.view, self._kept = view, kept
        self._cases: OrderedDict[tuple[object, ...], Case] = OrderedDict()
        self._lock = threading.Lock()

    def case(self, question: str, passages: Sequence[Passage]) -> Case:
        """The case, the same object as long as it is kept."""
        key = (question, *((p.id, p.title, p.text) for p in passages))
        with self._lock:
            case = self._cases.get(key)
            if case is None:
                case = self._cases[key] = Case(build_scene(question, passages, self.view))
            self._cases.move_to_end(key)
            if len(self._cases) > self._kept:
                self._cases.popitem(last=False)
            return case
