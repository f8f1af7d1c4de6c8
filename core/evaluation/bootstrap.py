"""Bootstrap intervals over questions (percentile method, seeded)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from core.types import Frozen

Floats = npt.NDArray[np.float64]

RESAMPLES = 2_000
PAIRED_RESAMPLES = 10_000
SEED = 0


class Interval(Frozen):
    """An estimate from ``n`` questions.

    ``low`` and ``high`` are absent where they are undefined: n < 2, or a ratio whose resamples
    include a mean of 0 below the line.
    """

    value: float
    low: float | None
    high: float | None
    n: int

    def __format__(self, spec: str) -> str:
        spec = spec or ".3f"
        value = format(self.value, spec)
        if self.low is None or self.high is None:
            return value
        return f"{value} [{format(self.low, spec)}, {format(self.high, spec)}]"


def mean_interval(
    values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED, level: float = 0.95
) -> Interval:
    """The mean of one value for each question.

    Raises:
        ValueError: no value, or one that is not finite.
    """
    return _interval((_floats(values),), _mean, resamples, seed, level)


def paired_difference(
    a: Sequence[float],
    b: Sequence[float],
    *,
    resamples: int = PAIRED_RESAMPLES,
    seed: int = SEED,
    level: float = 0.95,
) -> Interval:
    """mean(a) - mean(b), where a[i] and b[i] belong to one question.

    Raises:
        ValueError: the lengths differ, no value, or one that is not finite.
    """
    left, right = _pair(a, b)
    return _interval((left - right,), _mean, resamples, seed, level)


def paired_ratio(
    a: Sequence[float],
    b: Sequence[float],
    *,
    resamples: int = PAIRED_RESAMPLES,
    seed: int = SEED,
    level: float = 0.95,
) -> Interval:
    """mean(a) / mean(b), where a[i] and b[i] >= 0 belong to one question.

    Raises:
        ValueError: as :func:`paired_difference`, or b has a mean of 0.
    """
    left, right = _pair(a, b)
    if not right.mean():
        raise ValueError("the ratio to a mean of 0 is undefined")
    return _interval((left, right), _ratio, resamples, seed, level)


def grouped_interval(
    statistic: Callable[[npt.NDArray[np.intp]], float | None],
    groups: Sequence[Sequence[int]],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = 0.95,
) -> Interval | None:
    """A statistic of items that come in groups (states of one question); groups are resampled.

    ``statistic`` is given places of items; where it is undefined on a resample (``None``), the
    resample is left out. ``None`` where it is undefined on the items themselves.
    """
    members = [np.asarray(group, dtype=np.intp) for group in groups if len(group)]
    value = statistic(np.concatenate(members))
    if value is None:
        return None
    n, rng = len(members), np.random.default_rng(seed)
    found = []
    for _ in range(resamples if n > 1 else 0):
        drawn = rng.integers(0, n, n)
        again = statistic(np.concatenate([members[i] for i in drawn]))
        if again is not None:
            found.append(again)
    if not found:
        return Interval(value=value, low=None, high=None, n=n)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value=value, low=float(low), high=float(high), n=n)


def _mean(values: Floats, axis: int = -1) -> Floats:
    return np.asarray(values.mean(axis=axis))


def _ratio(a: Floats, b: Floats, axis: int = -1) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a.mean(axis=axis) / b.mean(axis=axis))


def _floats(values: Sequence[float]) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if not array.size or not np.isfinite(array).all():
        raise ValueError("an interval needs at least one value, and finite ones")
    return array


def _pair(a: Sequence[float], b: Sequence[float]) -> tuple[Floats, Floats]:
    left, right = _floats(a), _floats(b)
    if left.shape != right.shape:
        raise ValueError(f"{len(left)} values cannot be paired with {len(right)}")
    return left, right


def _interval(
    data: tuple[Floats, ...],
    statistic: Callable[..., Floats],
    resamples: int,
    seed: int,
    level: float,
) -> Interval:
    from scipy import stats

    value = float(statistic(*data))
    n = len(data[0])
    if n < 2:
        return Interval(value=value, low=None, high=None, n=n)
    with warnings.catch_warnings():  # an undefined interval is told by its absence
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            data,
            statistic,
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            confidence_level=level,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return Interval(value=value, low=None, high=None, n=n)
    return Interval(value=value, low=float(found.low), high=float(found.high), n=n)
