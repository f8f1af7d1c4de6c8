"""Fit the verifier's three models (``core/reasoning/extractive/verify.json``).

``support``: every gold passage is held. ``gap``: the share of gold passages that is not held.
``wrong``: the reader's answer has a token F1 under .5. Logistic, L2, over the states of
``evidence_states``; the three sets weigh equally, and so do the questions of a set.
Cross-validated by question: AUC, Brier and ECE, over states of 5 passages and over the question's
own top 5 apart.

    python -m benchmarks.fit_verifier [--refresh]
"""

from __future__ import annotations

import argparse
import datetime
import json
import pickle
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.evidence_states import CACHE, CHANNELS, FILES, DevSet, area_under_curve
from core.evaluation.metrics import token_f1
from core.reasoning.extractive import verify
from core.reasoning.extractive.case import Case
from core.reasoning.extractive.features import build_scene
from core.reasoning.extractive.logistic import Logistic
from core.reasoning.extractive.signals import signals

_HELD = ("chain", "bound", "titled", "several", "choice")
MODELS: dict[str, tuple[str, ...]] = {
    "support": _HELD,
    "gap": _HELD,
    "wrong": ("p1", "entropy", "best", "bound", "chain", "in_chain", "several", "choice"),
}
FOLDS = 5
C = 0.3
BINS = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A state's signals and what is true of it."""

    group: str
    kind: str
    values: dict[str, float]
    complete: bool
    lacking: float
    wrong: bool

    def target(self, model: str) -> float:
        return {"support": self.complete, "gap": self.lacking, "wrong": self.wrong}[model]


def rows_of(dev: DevSet) -> list[Row]:
    found = []
    for state in dev.states:
        question = dev.questions[state.question]
        case = Case(build_scene(question.question, state.passages, dev.view))
        if not case.scene.sentences:
            continue
        best = case.ranked.best
        found.append(
            Row(
                f"{dev.name}:{question.id}",
                state.kind,
                signals(case),
                state.complete,
                1 - state.held / state.gold,
                token_f1(best.text if best else "", question.answers) < 0.5,
            )
        )
    return found


def all_rows(refresh: bool) -> list[Row]:
    """Rows of the three sets, kept beside the indexes until ``refresh``."""
    path = CACHE / "verifier_rows.pickle"
    if path.exists() and not refresh:
        return pickle.loads(path.read_bytes())
    rows = [row for name in FILES for row in rows_of(DevSet(name))]
    path.write_bytes(pickle.dumps(rows))
    return rows


def weights_of(rows: list[Row]) -> np.ndarray:
    """Sample weights: sets equal, questions of a set equal."""
    per_question = Counter(r.group for r in rows)
    questions = Counter(g.split(":")[0] for g in per_question)
    return np.array(
        [1 / per_question[r.group] / questions[r.group.split(":")[0]] for r in rows]
    ) * (len(rows) / len(questions))


def fit(rows: list[Row], model: str, names: tuple[str, ...]) -> Logistic:
    """Logistic regression on a target in [0, 1]: each row counts for it and against it."""
    from sklearn.linear_model import LogisticRegression

    x = np.array([[r.values[n] for n in names] for r in rows])
    y = np.array([float(r.target(model)) for r in rows])
    w = weights_of(rows)
    centre, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = (x - centre) / scale
    fitted = LogisticRegression(C=C, max_iter=1_000).fit(
        np.vstack([z, z]),
        np.concatenate([np.ones(len(y)), np.zeros(len(y))]),
        sample_weight=np.concatenate([w * y, w * (1 - y)]),
    )
    slopes = fitted.coef_[0] / scale
    intercept = float(fitted.intercept_[0] - slopes @ centre)
    return Logistic(intercept, dict(zip(names, slopes.tolist(), strict=True)))


def cross_validated(rows: list[Row], model: str, names: tuple[str, ...]) -> np.ndarray:
    groups = sorted({r.group for r in rows})
    order = np.random.default_rng(0).permutation(len(groups))
    fold = {groups[g]: i % FOLDS for i, g in enumerate(order)}
    out = np.zeros(len(rows))
    for k in range(FOLDS):
        fitted = fit([r for r in rows if fold[r.group] != k], model, names)
        for i, row in enumerate(rows):
            if fold[row.group] == k:
                out[i] = fitted(row.values)
    return out


def calibration_error(truth: np.ndarray, said: np.ndarray) -> float:
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    gaps = [
        abs(truth[bins == b].mean() - said[bins == b].mean()) * (bins == b).mean()
        for b in range(BINS)
        if (bins == b).any()
    ]
    return float(sum(gaps))


def report(rows: list[Row], said: np.ndarray, model: str) -> dict[str, dict[str, float]]:
    """By set: AUC over 5 passages and over the question's own top 5, Brier, ECE, base rate."""
    truth = np.array([float(r.target(model)) for r in rows])
    names = np.array([r.group.split(":")[0] for r in rows])
    kinds = np.array([r.kind for r in rows])
    told = {}
    for name in FILES:
        five = (names == name) & (kinds != "sized")
        own = (names == name) & np.isin(kinds, CHANNELS)
        hard = truth > 0.5 if model != "gap" else truth > 0
        told[name] = {
            "auc": area_under_curve(hard[five], said[five]),
            "auc_own_top_5": area_under_curve(hard[own], said[own]),
            "brier": float(np.mean((truth[five] - said[five]) ** 2)),
            "ece": calibration_error(truth[five], said[five]),
            "base_rate": float(truth[five].mean()),
        }
        told[name] = {k: round(v, 3) for k, v in told[name].items()}
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refresh", action="store_true", help="make the states' signals anew")
    rows = all_rows(parser.parse_args().refresh)
    models, measured = {}, {}
    for model, names in MODELS.items():
        measured[model] = report(rows, cross_validated(rows, model, names), model)
        fitted = fit(rows, model, names)
        models[model] = {
            "intercept": round(fitted.intercept, 3),
            "weights": {n: round(w, 3) for n, w in fitted.weights.items()},
        }
    told = {
        "provenance": {
            "script": "benchmarks/fit_verifier.py",
            "date": datetime.date.today().isoformat(),
            "states": dict(Counter(r.group.split(":")[0] for r in rows)),
            "cross_validated_by_question": measured,
        },
        "models": models,
    }
    text = json.dumps(told, indent=2) + "\n"
    Path(verify.__file__).with_suffix(".json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
