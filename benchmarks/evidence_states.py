"""States of evidence made from the development questions: passages held, and what is known of them.

A state is up to 8 passages under a question, with the number of gold passages among them. Kinds:
``mix`` (5 passages; gold drawn, the rest from what the question itself retrieves or, every other
time, from the question's own distractors), ``lexical``, ``dense``, ``fused`` (the question's own
top 5 over the pooled passages of all questions) and ``sized`` (1 to 8 passages, drawn likewise).
Everything is seeded by the name of the set, so a state is the same in every run.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from core.adapters.embeddings import SentenceEmbedder
from core.evaluation.gold import resolve_gold
from core.evaluation.questions import Question, load_questions, pooled_passage
from core.ports import Retriever, TextView
from core.retrieval.library import Library
from core.types import Access, Channel, Passage

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CORPORA = Path(__file__).resolve().parents[1] / "sample_corpora"
CACHE = Path(tempfile.gettempdir()) / "rag-inspector-bench"
FILES = {
    "hotpotqa": "hotpotqa_dev50.json",
    "musique": "musique_dev50.json",
    "nq": "nq_dev300.jsonl",
}
MIXES = {"nq": 2}
SIZED = {"nq": 1}
MANY_MIXES, MANY_SIZED = 10, 4
SIZE = 5
HARD = 15
"""How many of the best non-gold passages count as hard distractors."""
BUNDLED = ("film_night", "music_labels")
CHANNELS: tuple[Channel, ...] = ("fused", "lexical", "dense")


@dataclass(frozen=True, slots=True)
class State:
    """Passages under the question at ``question`` of its set; ``held`` of ``gold`` are there."""

    question: int
    kind: str
    passages: tuple[Passage, ...]
    held: int
    gold: int

    @property
    def complete(self) -> bool:
        return self.held == self.gold


class DevSet:
    """A file of development questions, indexed as one pool."""

    def __init__(self, name: str, data: Path = DATA, cache: Path = CACHE) -> None:
        self.name = name
        path = data / FILES[name]
        loaded = load_questions(path)
        self.questions: tuple[Question, ...] = loaded.questions
        self.pool: tuple[Passage, ...] = loaded.passages
        self._path, self._cache = path, cache

    @cached_property
    def index(self):
        library = Library(self._cache, embedder=SentenceEmbedder())
        library.index_passages(f"dev-{self.name}", self.pool)
        return library.open(f"dev-{self.name}")

    @cached_property
    def view(self) -> TextView:
        return self.index.text_view()

    @cached_property
    def retriever(self) -> Retriever:
        return self.index.retriever()

    @cached_property
    def by_id(self) -> dict[str, Passage]:
        return {p.id: p for p in self.pool}

    @cached_property
    def own(self) -> list[list[str]]:
        """Ids of the passages that each item of the file brings, in its order."""
        text = self._path.read_text(encoding="utf-8")
        items = (
            json.loads(text)
            if self._path.suffix == ".json"
            else [json.loads(line) for line in text.splitlines() if line.strip()]
        )
        return [list(dict.fromkeys(p.id for p in _brought(item))) for item in items]

    def search(self, query: str, k: int = SIZE, channel: Channel = "fused") -> list[Passage]:
        return [hit.passage for hit in self.retriever.search(query, k, channel, Access())]

    @cached_property
    def states(self) -> list[State]:
        rng = random.Random(f"states of {self.name}")
        return [state for q in range(len(self.questions)) for state in self._states(q, rng)]

    def _states(self, at: int, rng: random.Random) -> Iterator[State]:
        question = self.questions[at]
        gold = sorted(question.gold)
        found = [p.id for p in self.search(question.question, 2 * HARD)]
        hard = [i for i in found if i not in question.gold][:HARD]
        own = [i for i in self.own[at] if i not in question.gold]

        def state(kind: str, size: int, held: int, distractors: list[str]) -> State:
            ids = rng.sample(gold, held)
            ids += rng.sample(distractors, min(len(distractors), size - held))
            rng.shuffle(ids)
            return State(at, kind, tuple(self.by_id[i] for i in ids), held, len(gold))

        for turn in range(MIXES.get(self.name, MANY_MIXES)):
            few = len(gold) < 3 or turn % 2
            held = rng.randint(0, len(gold)) if few else rng.choice([len(gold), len(gold) - 1])
            yield state("mix", SIZE, held, own if turn % 2 and len(own) >= SIZE else hard)
        for channel in CHANNELS:
            top = self.search(question.question, SIZE, channel)
            held = len({p.id for p in top} & question.gold)
            yield State(at, channel, tuple(top), held, len(gold))
        for _ in range(SIZED.get(self.name, MANY_SIZED)):
            size = rng.choice([1, 2, 3, 4, 6, 7, 8])
            yield state("sized", size, rng.randint(0, min(size, len(gold))), hard)


class BundledSet(DevSet):
    """The questions with gold of a bundled corpus, over its chunks."""

    def __init__(self, name: str, cache: Path = CACHE) -> None:
        self.name, self._cache = name, cache
        told = load_questions(CORPORA / name / "questions.jsonl").questions
        self.pool = tuple(self.index.passages())
        gold = resolve_gold(told, self.pool)
        self.questions = tuple(
            q.model_copy(update={"gold": frozenset(sorted(f)[0] for f in gold[q.id])})
            for q in told
            if gold[q.id]
        )

    @cached_property
    def index(self):
        library = Library(self._cache, embedder=SentenceEmbedder())
        return library.ensure(self.name)

    @cached_property
    def own(self) -> list[list[str]]:
        return [[] for _ in self.questions]


def _brought(item: dict) -> list[Passage]:
    if "context" in item:
        return [pooled_passage(title, "".join(sentences)) for title, sentences in item["context"]]
    if "paragraphs" in item:
        return [pooled_passage(p["title"], p["paragraph_text"]) for p in item["paragraphs"]]
    return [pooled_passage(c["title"], c["text"]) for c in item["ctxs"]]


def area_under_curve(truth: np.ndarray, score: np.ndarray) -> float:
    """AUC; NaN where all are alike."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, score)) if len(set(truth.tolist())) == 2 else float("nan")
