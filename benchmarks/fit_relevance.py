"""Fit the relevance of a passage (``core/reasoning/extractive/relevance.json``).

Logistic over ``passage_signals``: is the passage gold, among the passages of the states of
``evidence_states``? Sets weigh equally, and so do the questions of a set; cross-validated by
question.

    python -m benchmarks.fit_relevance
"""

from __future__ import annotations

import datetime
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.evidence_states import FILES, DevSet, area_under_curve
from benchmarks.fit_verifier import Logistic, calibration_error, cross_validated, fit
from core.reasoning.extractive import relevance
from core.reasoning.extractive.case import Case
from core.reasoning.extractive.features import build_scene

STATES_A_QUESTION = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A passage's signals, and whether it is gold."""

    group: str
    values: dict[str, float]
    gold: bool

    def target(self, model: str) -> float:
        return float(self.gold)


def rows_of(dev: DevSet) -> list[Row]:
    found = []
    taken: Counter[int] = Counter()
    for state in dev.states:
        if state.kind == "sized" or taken[state.question] == STATES_A_QUESTION:
            continue
        taken[state.question] += 1
        question = dev.questions[state.question]
        case = Case(build_scene(question.question, state.passages, dev.view))
        for passage, values in zip(state.passages, relevance.passage_signals(case), strict=True):
            found.append(Row(f"{dev.name}:{question.id}", values, passage.id in question.gold))
    return found


def main() -> None:
    rows = [row for name in FILES for row in rows_of(DevSet(name))]
    names = tuple(rows[0].values)
    said = cross_validated(rows, "passage", names)
    truth = np.array([float(r.gold) for r in rows])
    sets = np.array([r.group.split(":")[0] for r in rows])
    measured = {
        name: {
            "auc": round(area_under_curve(truth[sets == name], said[sets == name]), 3),
            "ece": round(calibration_error(truth[sets == name], said[sets == name]), 3),
        }
        for name in FILES
    }
    fitted: Logistic = fit(rows, "passage", names)
    told = {
        "provenance": {
            "script": "benchmarks/fit_relevance.py",
            "date": datetime.date.today().isoformat(),
            "passages": dict(Counter(sets.tolist())),
            "cross_validated_by_question": measured,
        },
        "models": {
            "passage": {
                "intercept": round(fitted.intercept, 3),
                "weights": {n: round(w, 3) for n, w in fitted.weights.items()},
            }
        },
    }
    text = json.dumps(told, indent=2) + "\n"
    Path(relevance.__file__).with_suffix(".json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
