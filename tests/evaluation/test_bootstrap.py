from __future__ import annotations

import numpy as np
import pytest

from core.evaluation.bootstrap import mean_interval, paired_difference, paired_ratio


def test_the_interval_holds_the_mean_and_is_the_same_every_time() -> None:
    values = list(np.random.default_rng(1).random(60))
    found = mean_interval(values)
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(np.mean(values))
    assert found.low < found.value < found.high
    assert found == mean_interval(values)
    assert found != mean_interval(values, seed=7)


def test_the_interval_has_the_width_that_theory_says() -> None:
    values = list(np.random.default_rng(2).normal(size=400))
    found = mean_interval(values, resamples=4_000)
    width = 2 * 1.96 * np.std(values) / np.sqrt(400)
    assert found.high is not None
    assert found.low is not None
    assert found.high - found.low == pytest.approx(width, rel=0.08)


def test_pairing_removes_what_both_share() -> None:
    shared = np.random.default_rng(3).normal(scale=10, size=100)
    a, b = shared + 0.1, shared
    found = paired_difference(list(a), list(b))
    assert found.value == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1)
    assert found.high == pytest.approx(0.1)


def test_a_ratio_is_of_means() -> None:
    found = paired_ratio([1.0, 3.0], [2.0, 2.0])
    assert found.value == 1
    assert found.low is not None
    assert 0.5 <= found.low <= 1


def test_one_question_has_no_interval() -> None:
    found = mean_interval([0.5])
    assert (found.value, found.low, found.high) == (0.5, None, None)
    assert f"{found:.2f}" == "0.50"
    assert f"{mean_interval([1.0, 1.0]):.1f}" == "1.0 [1.0, 1.0]"


@pytest.mark.parametrize("values", [[], [float("nan")], [float("inf"), 1.0]])
def test_what_has_no_mean_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        mean_interval(values)


def test_what_cannot_be_paired_is_refused() -> None:
    with pytest.raises(ValueError, match="paired"):
        paired_difference([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="mean of 0"):
        paired_ratio([1.0, 1.0], [0.0, 0.0])
