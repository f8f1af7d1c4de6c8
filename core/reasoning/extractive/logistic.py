"""Fitted logistic models, read from the JSON that their fitting script wrote."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Logistic:
    """sigmoid(intercept + sum of weight x signal)."""

    intercept: float
    weights: dict[str, float]

    def __call__(self, values: dict[str, float]) -> float:
        """The modelled probability, in [0, 1]."""
        z = self.intercept + sum(w * values[name] for name, w in self.weights.items())
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


@cache
def models(module: str) -> dict[str, Logistic]:
    """The models of ``MODULE.json`` in this package, by name."""
    path = Path(__file__).with_name(f"{module}.json")
    fitted = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Logistic(told["intercept"], told["weights"])
        for name, told in fitted["models"].items()
    }
