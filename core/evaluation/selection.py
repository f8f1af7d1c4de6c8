"""How well a probability tells two kinds of states apart, and how true it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.types import Frozen, Unit

BINS = 10


class Bin(Frozen):
    """States whose probability lies in [low, high): how many, mean probability, share true."""

    low: Unit
    high: Unit
    n: int
    predicted: Unit
    observed: Unit


class Selection(Frozen):
    """Quality of a probability over ``n`` states; ``auc`` is absent where all are of one kind."""

    n: int
    base_rate: Unit
    auc: Unit | None
    brier: Unit
    ece: Unit
    bins: tuple[Bin, ...]


Reals = Sequence[float] | npt.NDArray[np.float64]
Truths = Sequence[bool] | npt.NDArray[np.bool_]


def selection(probabilities: Reals, outcomes: Truths) -> Selection:
    """AUC, Brier score, expected calibration error, base rate, and the reliability bins.

    Raises:
        ValueError: no state, differing lengths, or a probability outside [0, 1].
    """
    p, y = _checked(probabilities, outcomes)
    return Selection(
        n=len(p),
        base_rate=float(y.mean()),
        auc=auc(probabilities, outcomes),
        brier=brier(probabilities, outcomes),
        ece=ece(probabilities, outcomes),
        bins=reliability_bins(probabilities, outcomes),
    )


def auc(scores: Reals, outcomes: Truths) -> float | None:
    """P(score of a true state > score of a false one), ties counted half; ``None`` of one kind."""
    from sklearn.metrics import roc_auc_score

    y = np.asarray(outcomes, dtype=bool)
    if y.all() or not y.any():
        return None
    return float(roc_auc_score(y, np.asarray(scores, dtype=np.float64)))


def brier(probabilities: Reals, outcomes: Truths) -> float:
    """Mean of (p - y)^2 over states, y in {0, 1}."""
    p, y = _checked(probabilities, outcomes)
    return float(((p - y) ** 2).mean())


def ece(probabilities: Reals, outcomes: Truths, bins: int = BINS) -> float:
    """Sum over equal-width bins b of n_b/n |mean p in b - share true in b|."""
    p, y = _checked(probabilities, outcomes)
    places = np.minimum((p * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(places, weights=p - y)).sum() / len(p))


def reliability_bins(probabilities: Reals, outcomes: Truths, bins: int = BINS) -> tuple[Bin, ...]:
    """The non-empty ones of ``bins`` equal-width bins; the last one includes 1."""
    p, y = _checked(probabilities, outcomes)
    places = np.minimum((p * bins).astype(int), bins - 1)
    return tuple(
        Bin(
            low=float(b / bins),
            high=float((b + 1) / bins),
            n=int((places == b).sum()),
            predicted=float(p[places == b].mean()),
            observed=float(y[places == b].mean()),
        )
        for b in np.unique(places)
    )


def _checked(
    probabilities: Reals, outcomes: Truths
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    p = np.asarray(probabilities, dtype=np.float64)
    y = np.asarray(outcomes, dtype=bool).astype(np.float64)
    if not p.size or p.shape != y.shape:
        raise ValueError(f"{p.size} probabilities do not match {y.size} outcomes")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a probability lies outside [0, 1]")
    return p, y
