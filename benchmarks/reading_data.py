"""The development questions as the reader meets them: gold passages only, and with distractors.

A question of the open-domain set brings one passage; its distractors are the nine of the pool
whose best sentence is closest to the question.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.adapters.embeddings import SentenceEmbedder
from core.evaluation.questions import Question, QuestionSet, load_questions, pooled_passage
from core.ports import FloatArray
from core.retrieval.sentences import sentence_spans
from core.retrieval.textview import CorpusTextView, sentence_texts
from core.types import Passage

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = {
    "HotpotQA": "hotpotqa_dev50.json",
    "MuSiQue": "musique_dev50.json",
    "NQ": "nq_dev300.jsonl",
}
NEAREST = 9
HOP_MARK = "#hop"


@dataclass(frozen=True)
class Item:
    """A question with one of its contexts (``gold`` or ``all``)."""

    set: str
    context: str
    question: Question
    passages: tuple[Passage, ...]
    view: CorpusTextView


class CachedEncoder:
    """``SentenceEmbedder.encode`` that remembers texts, on disk if a file is given."""

    def __init__(self, file: Path | None = None) -> None:
        self._file, self._embedder, self._known = file, SentenceEmbedder(), {}
        if file is not None and file.exists():
            self._known = pickle.loads(file.read_bytes())
        self._saved = len(self._known)

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        missing = [t for t in dict.fromkeys(texts) if t not in self._known]
        if missing:
            self._known.update(zip(missing, self._embedder.encode(missing), strict=True))
        return np.stack([self._known[t] for t in texts])

    def save(self) -> None:
        if self._file is not None and len(self._known) > self._saved:
            self._file.write_bytes(pickle.dumps(self._known))
            self._saved = len(self._known)


def load(encode: CachedEncoder, names: Sequence[str] = tuple(SETS)) -> list[Item]:
    """Every question of the sets, first with its gold passages, then with all of its passages."""
    found: list[Item] = []
    for name in names:
        questions = load_questions(DATA / SETS[name])
        texts = [sentence_texts(p, sentence_spans(p.text)) for p in questions.passages]
        encode([t for group in texts for t in group] + [q.question for q in questions.questions])
        vectors = {
            p.digest: encode(group)
            for p, group in zip(questions.passages, texts, strict=True)
            if group
        }
        view = CorpusTextView(questions.passages, encode, vectors)
        context = _contexts(questions, view, _own(SETS[name]))
        for question in (*questions.questions, *_hops(SETS[name])):
            passages = context[parent(question.id)]
            gold = tuple(p for p in passages if p.id in question.gold)
            label = name if parent(question.id) == question.id else f"{name} hops"
            found.append(Item(label, "gold", question, gold, view))
            found.append(Item(label, "all", question, passages, view))
    encode.save()
    return found


def _own(file: str) -> dict[str, list[str]]:
    """Question id -> ids of the passages that a multi-hop file gives it, once each, in order."""
    if file.endswith(".jsonl"):
        return {}
    found = {}
    for item in json.loads((DATA / file).read_text(encoding="utf-8")):
        if "context" in item:
            texts = [(title, "".join(sentences)) for title, sentences in item["context"]]
        else:
            texts = [(p["title"], p["paragraph_text"]) for p in item["paragraphs"]]
        ids = dict.fromkeys(pooled_passage(title, text).id for title, text in texts)
        found[str(item.get("_id", item.get("id")))] = list(ids)
    return found


def parent(question_id: str) -> str:
    """The id of the question that a hop belongs to; of a question, its own."""
    return question_id.split(HOP_MARK)[0]


def _hops(file: str) -> list[Question]:
    """The sub-questions that a file spells out, with earlier answers filled in, as questions."""
    found: list[Question] = []
    if file.endswith(".jsonl"):
        return found
    for item in json.loads((DATA / file).read_text(encoding="utf-8")):
        answers: list[str] = []
        paragraphs = item.get("paragraphs", [])
        for number, hop in enumerate(item.get("question_decomposition", ()), 1):
            text = hop["question"]
            for i, answer in enumerate(answers, 1):
                text = text.replace(f"#{i}", answer)
            answers.append(hop["answer"])
            if " >> " in text:
                subject, relation = text.split(" >> ", 1)
                text = f"What is the {relation} of {subject}?"
            where = paragraphs[hop["paragraph_support_idx"]]
            gold = pooled_passage(where["title"], where["paragraph_text"]).id
            found.append(
                Question(
                    id=f"{item['id']}{HOP_MARK}{number}",
                    question=text,
                    answers=(hop["answer"],),
                    gold=frozenset([gold]),
                )
            )
    return found


def _contexts(
    questions: QuestionSet, view: CorpusTextView, own: dict[str, list[str]]
) -> dict[str, tuple[Passage, ...]]:
    """Each question's own passages in the file's order, or gold and its nearest."""
    pool = {p.id: p for p in questions.passages}
    if not own:
        rows = [view.sentence_vectors(p)[1] for p in pool.values()]
        ids = list(pool)
        found = {}
        for q in questions.questions:
            vector = view.encode([q.question])[0]
            best = [float((r @ vector).max()) if len(r) else -1.0 for r in rows]
            near = [ids[i] for i in np.argsort(best)[::-1] if ids[i] not in q.gold][:NEAREST]
            found[q.id] = tuple(pool[i] for i in (*sorted(q.gold), *near))
        return found
    return {q: tuple(pool[i] for i in ids) for q, ids in own.items()}
