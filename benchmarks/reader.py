"""How well the extractive reader answers from given passages, by the committed weights.

``python -m benchmarks.reader [--cache FILE]``. Token F1 (SQuAD normalisation, best over aliases)
with the gold passages only and with distractors, by set and by what is asked for; how well its
confidence tells right from wrong; and the time of an answer, with the sentences' vectors cached
and the question's to be made. The weights were fitted on these questions: their honest figures
are the cross-validated ones, printed from ``reading.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.reading_data import DATA, CachedEncoder, Item, load
from core.adapters.embeddings import SentenceEmbedder
from core.evaluation.metrics import token_f1
from core.ports import FloatArray, TextView
from core.reasoning.extractive import reading
from core.reasoning.extractive.question import analyse
from core.tasks import AnswerRequest

RIGHT = 0.5
TIMED = 50
MOST_PASSAGES = 10


class FreshQueries:
    """A view whose sentence vectors are cached and whose other texts are always encoded anew."""

    def __init__(self, view: TextView, embedder: SentenceEmbedder) -> None:
        self._view, self._embedder = view, embedder
        self._texts: dict[str, FloatArray] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        missing = [t for t in dict.fromkeys(texts) if t not in self._texts]
        if missing:
            self._texts.update(zip(missing, self._embedder.encode(missing), strict=True))
        return np.stack([self._texts[t] for t in texts])


def ask(item: Item, view: TextView | None = None) -> reading.Reading:
    request = AnswerRequest(question=item.question.question, passages=item.passages)
    return reading.answer(request, view or item.view)


def auc(scores: Sequence[float], right: Sequence[bool]) -> float:
    """Chance that a right answer is surer than a wrong one; ties count half."""
    yes = np.array([s for s, r in zip(scores, right, strict=True) if r])
    no = np.array([s for s, r in zip(scores, right, strict=True) if not r])
    if not len(yes) or not len(no):
        return float("nan")
    wins = (yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()
    return float(wins)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader")
    parser.add_argument("--cache", type=Path, help="keep the embeddings of texts in this file")
    options = parser.parse_args(arguments)
    if not DATA.exists():
        print("The development questions are not beside the project; nothing to measure.")
        return 0
    told = json.loads(reading.WEIGHTS.read_text(encoding="utf-8"))["cross_validated_f1"]
    encode = CachedEncoder(options.cache)
    items = load(encode)
    found: dict[tuple[str, str], list[tuple[Item, float, float]]] = {}
    for item in items:
        said = ask(item)
        score = token_f1(said.answer, item.question.answers)
        found.setdefault((item.set, item.context), []).append((item, score, said.confidence))
    encode.save()
    rows = []
    for (name, context), results in found.items():
        scores = [s for _, s, _ in results]
        sure = auc([c for _, _, c in results], [s >= RIGHT for s in scores])
        error = np.std(scores) / np.sqrt(len(scores))
        rows.append(
            (
                name,
                "gold only" if context == "gold" else "with distractors",
                len(scores),
                told.get(f"{name} {context}", "-"),
                f"{np.mean(scores):.3f}",
                f"{error:.3f}",
                f"{sure:.2f}",
            )
        )
    print("### Token F1 of the reader\n")
    head = ("set", "passages", "n", "F1 cross-validated", "F1 refit", "standard error", "AUC p1")
    print(table(head, rows))
    print("\n### By what is asked for (gold passages only, refit)\n")
    kinds: dict[tuple[str, str], list[float]] = {}
    for (name, context), results in found.items():
        for item, score, _ in results if context == "gold" else ():
            asked = analyse(item.question.question)
            kind = asked.kind if asked.form == "span" else asked.form
            kinds.setdefault((name, kind), []).append(score)
    print(
        table(
            ("set", "asked for", "n", "F1"),
            [(*k, len(v), f"{np.mean(v):.3f}") for k, v in sorted(kinds.items())],
        )
    )
    print("\n### CPU time of an answer (sentence vectors cached, at most 10 passages)\n")
    print(table(("set", "passages", "median ms", "90% below"), _times(items)))
    return 0


def _times(items: Sequence[Item]) -> list[tuple[object, ...]]:
    embedder = SentenceEmbedder()
    embedder.encode(["warm up"])
    rows: list[tuple[object, ...]] = []
    for name in dict.fromkeys(i.set for i in items):
        chosen = [i for i in items if i.set == name and i.context == "all"][:TIMED]
        spent = []
        for item in chosen:
            view = FreshQueries(item.view, embedder)
            request = AnswerRequest(
                question=item.question.question, passages=item.passages[:MOST_PASSAGES]
            )
            begun = time.process_time()
            reading.answer(request, view)
            spent.append(1e3 * (time.process_time() - begun))
        most = max(min(len(i.passages), MOST_PASSAGES) for i in chosen)
        rows.append((name, most, f"{np.median(spent):.0f}", f"{np.quantile(spent, 0.9):.0f}"))
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
