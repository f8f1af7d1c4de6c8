"""Fit the score of bridge entities (``core/reasoning/extractive/bridge.json``).

For every state of HotpotQA, MuSiQue and two bundled corpora (documents of several chunks, nearly
every name a title) that lacks gold and names a way to it: softmax over all mentions, likelihood
of those that are, or are part of, a missing gold passage's title; questions weigh equally; L2.
Cross-validated by question: how often is the first name a way on?

    python -m benchmarks.fit_bridge
"""

from __future__ import annotations

import datetime
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.evidence_states import BUNDLED, BundledSet, DevSet
from core.reasoning.extractive import bridge
from core.reasoning.extractive.case import Case
from core.reasoning.extractive.features import build_scene
from core.retrieval.titles import aliases

MULTI_HOP = ("hotpotqa", "musique")
SETS = (*MULTI_HOP, *BUNDLED)
L2 = 0.01
FOLDS = 6


@dataclass(frozen=True, slots=True)
class Choice:
    """The mentions of a state, which of them lead on, and whose question it is."""

    group: str
    features: np.ndarray
    leads: np.ndarray


def leads(key: str, titles: list[str]) -> bool:
    spaced = f" {key} "
    return any(
        spaced in f" {alias} " or f" {alias} " in spaced
        for title in titles
        for alias in aliases(title)
    )


def choices(dev: DevSet, names: list[str]) -> list[Choice]:
    found = []
    for state in dev.states:
        if state.complete or not state.held:
            continue
        question = dev.questions[state.question]
        ids = {p.id for p in state.passages}
        missing = [dev.by_id[i].title for i in sorted(question.gold - ids)]
        case = Case(build_scene(question.question, state.passages, dev.view))
        rows = list(bridge.mentions(case))
        truth = np.array([leads(b.key, missing) for b, _ in rows], dtype=bool)
        if truth.any():
            if not names:
                names += rows[0][1]
            x = np.array([[f[n] for n in names] for _, f in rows])
            found.append(Choice(f"{dev.name}:{question.id}", x, truth))
    return found


def fit(train: list[Choice]) -> np.ndarray:
    from scipy.optimize import minimize

    counts = Counter(c.group for c in train)
    shares = np.array([1 / counts[c.group] for c in train])
    shares /= shares.sum()

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = L2 * float(w @ w), 2 * L2 * w
        for choice, share in zip(train, shares, strict=True):
            z = choice.features @ w
            e = np.exp(z - z.max())
            p = e / e.sum()
            right = p * choice.leads
            mass = right.sum() + 1e-12
            total -= share * np.log(mass)
            slope = slope - share * (choice.features.T @ (right / mass - p))
        return total, slope

    return minimize(loss, np.zeros(train[0].features.shape[1]), jac=True, method="L-BFGS-B").x


def first_leads(test: list[Choice], w: np.ndarray) -> list[bool]:
    return [bool(c.leads[int(np.argmax(c.features @ w))]) for c in test]


def main() -> None:
    names: list[str] = []
    devs = [*map(DevSet, MULTI_HOP), *map(BundledSet, BUNDLED)]
    data = [c for dev in devs for c in choices(dev, names)]
    groups = sorted({c.group for c in data})
    order = np.random.default_rng(0).permutation(len(groups))
    fold = {groups[g]: i % FOLDS for i, g in enumerate(order)}
    hits: dict[str, list[bool]] = {name: [] for name in SETS}
    for k in range(FOLDS):
        w = fit([c for c in data if fold[c.group] != k])
        for choice in (c for c in data if fold[c.group] == k):
            hits[choice.group.split(":")[0]] += first_leads([choice], w)
    measured = {name: round(float(np.mean(hit)), 3) for name, hit in hits.items()}
    w = fit(data)
    told = {
        "provenance": {
            "script": "benchmarks/fit_bridge.py",
            "date": datetime.date.today().isoformat(),
            "states": len(data),
            "questions": len(groups),
            "first_name_leads_on_cross_validated": measured,
        },
        "weights": {name: round(float(x), 3) for name, x in zip(names, w, strict=True)},
    }
    text = json.dumps(told, indent=2) + "\n"
    Path(bridge.__file__).with_suffix(".json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
