"""Fit the reader's weights on the development questions and write ``reading.json``.

Loss: -log sum_i p_i F1_i^2 over the candidates i of a question, p their softmax, plus L2; it is
summed over questions by the weight of their set and context. Questions that a rule answers are
left out. L2 pulls to ``PRIOR``. Hops are read by the weights themselves, so fitting and
extracting alternate; the hops that MuSiQue spells out are questions of their own.

Cross-validated by question: the weights that answer a question, in either context, and that read
its hops, saw neither. ``python -m benchmarks.fit_reader [--cache FILE] [--folds N] [--write]``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from benchmarks.reading_data import CachedEncoder, Item, load, parent
from core.evaluation.metrics import token_f1
from core.ports import FloatArray
from core.reasoning.extractive import reading
from core.reasoning.extractive.columns import FEATURES
from core.reasoning.extractive.decompose import sub_questions
from core.reasoning.extractive.features import build_scene
from core.reasoning.extractive.question import analyse
from core.reasoning.extractive.rules import rule

L2 = 5.0
POWER = 2
ROUNDS = 2
SET_WEIGHT = {"HotpotQA": 1.5, "MuSiQue": 1.0, "MuSiQue hops": 0.5, "NQ": 0.6}
CONTEXT_WEIGHT = {"gold": 1.0, "all": 0.7}
PRIOR = {
    "agent": 1.5,
    "other_agent": -1.5,
    "subject": 1.0,
    "asked_near": 0.8,
    "asked_alone": 0.6,
    "asked_governed": 0.4,
    "asked_governs": 0.3,
    "misgoverned": -0.6,
    "unit_fit": 1.5,
    "unit_clash": -2.0,
    "listed": 1.5,
    "unlisted": -1.5,
    "born_first": 1.5,
    "born_second": -1.0,
    "died_second": 1.5,
    "died_first": -1.0,
    "echo_title": -1.5,
    "echo_name": -1.0,
    "hop_answer": -3.5,
    "fit": 1.5,
    "clash": -1.0,
    "heading": -1.5,
    "named_value": -1.5,
    "unit_number": 0.5,
}
"""What is known before any question is seen, and too rare in them to be learnt: L2 pulls there."""


@dataclass
class Example:
    """An item with its candidates' features, F1 and keys, or what a rule answered."""

    item: Item
    nested: bool
    ruled: reading.RankedAnswers | None
    pool: reading.Pool | None = None
    hops: tuple[str, ...] = ()
    x: FloatArray | None = None
    f1: FloatArray | None = None

    @property
    def key(self) -> str:
        """What the example shares with whatever must be in the same fold."""
        return parent(self.item.question.id)

    def extract(self, w: FloatArray) -> None:
        """Features under the weights ``w``, which read the hops."""
        scene = build_scene(self.item.question.question, self.item.passages, self.item.view)
        self.pool, self.hops = reading.pool_of(scene, w)
        self.x = self.pool.matrix()
        answers = self.item.question.answers
        texts = {r.candidate.text for r in self.pool.rows}
        known = {text: token_f1(text, answers) for text in texts}
        self.f1 = np.array([known[r.candidate.text] for r in self.pool.rows], dtype=np.float32)

    def predict(self, w: FloatArray) -> str:
        if self.ruled is not None:
            return self.ruled.best.text if self.ruled.best else ""
        ranked = reading.rank(self.pool, w, self.hops, self.x)[0]
        return ranked.best.text if ranked.best else ""


def examples(items: Sequence[Item]) -> list[Example]:
    found = []
    for item in items:
        scene = build_scene(item.question.question, item.passages, item.view)
        ruling = rule(scene, analyse(scene.question))
        nested = len(sub_questions(scene.question, item.view)) > 1
        found.append(Example(item, nested, reading.ruled(ruling) if ruling else None))
    return found


def fit(train: Sequence[Example], start: FloatArray | None = None) -> FloatArray:
    """The weights of least loss."""
    used = [e for e in train if e.ruled is None and len(e.f1) and e.f1.max() > 0]
    x = np.concatenate([e.x for e in used])
    gain = np.concatenate([e.f1 for e in used]).astype(np.float64) ** POWER
    sizes = [len(e.f1) for e in used]
    starts = np.cumsum([0, *sizes])[:-1]
    owner = np.repeat(np.arange(len(used)), sizes)
    weight = np.array([SET_WEIGHT[e.item.set] * CONTEXT_WEIGHT[e.item.context] for e in used])
    weight *= len(used) / weight.sum()

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        s = (x @ w.astype(np.float32)).astype(np.float64)
        e = np.exp(s - np.maximum.reduceat(s, starts)[owner])
        p = e / np.add.reduceat(e, starts)[owner]
        expected = np.add.reduceat(p * gain, starts) + 1e-12
        slope = weight[owner] * (p - p * gain / expected[owner])
        gradient = (slope.astype(np.float32) @ x).astype(np.float64)
        off = w - prior
        return -(weight @ np.log(expected)) + 0.5 * L2 * off @ off, gradient + L2 * off

    prior = np.array([PRIOR.get(name, 0.0) for name in FEATURES])
    first = prior if start is None else start.astype(np.float64)
    options = {"maxiter": 200, "ftol": 1e-7}
    found = minimize(loss, first, jac=True, method="L-BFGS-B", options=options)
    return found.x.astype(np.float32)


def alternate(train: Sequence[Example]) -> FloatArray:
    """Fit on plain questions, read the hops of nested ones by that, fit on all; and again."""
    w = fit([e for e in train if not e.nested])
    for _ in range(ROUNDS):
        for e in train:
            if e.nested:
                e.extract(w)
        w = fit(train, w)
    return w


def cross_validate(all_: Sequence[Example], folds: int, seed: int = 0) -> dict[str, list[float]]:
    """F1 per set and context, each question answered by weights that did not see it."""
    keys = sorted({e.key for e in all_})
    np.random.default_rng(seed).shuffle(keys)
    fold = {key: i % folds for i, key in enumerate(keys)}
    scores: dict[str, list[float]] = {}
    for k in range(folds):
        train = [e for e in all_ if fold[e.key] != k]
        held = [e for e in all_ if fold[e.key] == k]
        w = alternate(train)
        for e in held:
            if e.nested:
                e.extract(w)
            score = token_f1(e.predict(w), e.item.question.answers)
            scores.setdefault(f"{e.item.set} {e.item.context}", []).append(score)
        print(f"fold {k + 1}/{folds}: {summary(scores)}", flush=True)
    return scores


def summary(scores: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} {np.mean(v):.3f}" for name, v in sorted(scores.items()))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit_reader")
    parser.add_argument("--cache", type=Path, help="keep the embeddings of texts in this file")
    parser.add_argument("--folds", type=int, default=6, help="0: no cross-validation")
    parser.add_argument("--write", action="store_true", help=f"write {reading.WEIGHTS.name}")
    options = parser.parse_args(arguments)
    encode = CachedEncoder(options.cache)
    found = examples(load(encode))
    first = np.zeros(len(FEATURES), np.float32)
    begun = time.monotonic()
    for e in found:
        e.extract(first)
    print(f"{len(found)} extracted in {time.monotonic() - begun:.0f} s", flush=True)
    told: dict[str, float] = {}
    if options.folds:
        scores = cross_validate(found, options.folds)
        told = {name: round(float(np.mean(v)), 3) for name, v in sorted(scores.items())}
    w = alternate(found)
    encode.save()
    if options.write:
        record = {
            "how": __doc__.split("\n\n")[1].replace("\n", " "),
            "l2": L2,
            "cross_validated_f1": told,
            "folds": options.folds,
            "weights": {n: round(float(v), 4) for n, v in zip(FEATURES, w, strict=True)},
        }
        reading.WEIGHTS.write_text(
            json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        print(f"wrote {reading.WEIGHTS.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
