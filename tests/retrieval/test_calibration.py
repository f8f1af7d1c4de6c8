from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.calibration import QUERIES, Calibration, fit, pseudo_queries
from tests.retrieval.world import passage

scores = st.floats(-1e6, 1e6, allow_nan=False)


def test_median_and_interquartile_range() -> None:
    fitted = fit([1.0, 2.0, 3.0, 4.0, 5.0])
    assert fitted.mu == 3.0
    assert fitted.tau == pytest.approx(2.0 / 1.349)


def test_a_normal_sample_gives_its_standard_deviation() -> None:
    from statistics import NormalDist

    normal = NormalDist(10.0, 2.0)
    fitted = fit([normal.inv_cdf((i + 0.5) / 2000) for i in range(2000)])
    assert fitted.mu == pytest.approx(10.0, abs=0.01)
    assert fitted.tau == pytest.approx(2.0, abs=0.01)


def test_no_scores_give_the_defaults() -> None:
    assert fit([]) == Calibration(mu=0.0, tau=1.0)


def test_equal_scores_give_a_step_without_overflow() -> None:
    fitted = fit([0.5] * 10)
    assert fitted.tau == 0.0
    assert fitted(0.5) == 0.5
    assert fitted(0.4) < 1e-9
    assert fitted(0.6) > 1 - 1e-9


def test_the_sigmoid() -> None:
    assert Calibration(mu=2.0, tau=4.0)(6.0) == pytest.approx(1 / (1 + math.exp(-1)))


@given(st.lists(scores, max_size=30), scores, scores)
def test_in_bounds_and_monotone(sample: list[float], one: float, other: float) -> None:
    fitted = fit(sample)
    low, high = sorted((one, other))
    assert 0.0 <= fitted(low) <= fitted(high) <= 1.0


def test_pseudo_queries_are_seeded_sentences_of_the_corpus() -> None:
    passages = [
        passage(f"T{i}", f"The {i} keeper lit the northern lamp. Ships came home {i} times.")
        for i in range(300)
    ]
    chosen = pseudo_queries(passages)
    assert len(chosen) == QUERIES
    assert len({row for row, _ in chosen}) == QUERIES
    assert all(text in passages[row].text for row, text in chosen)
    assert pseudo_queries(passages) == chosen


def test_sentences_that_say_nothing_are_no_queries() -> None:
    assert pseudo_queries([passage("a", "It is so."), passage("b", ""), passage("c", "Yes.")]) == []
