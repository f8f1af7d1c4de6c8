from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.selection import auc, brier, ece, reliability_bins, selection

states = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50)


def test_auc_is_the_share_of_pairs_in_order() -> None:
    assert auc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == pytest.approx(0.75)
    assert auc([0.5, 0.5], [True, False]) == 0.5
    assert auc([0.2, 0.9], [True, True]) is None


def test_brier_is_the_mean_squared_error() -> None:
    assert brier([0.8, 0.4], [True, False]) == pytest.approx((0.04 + 0.16) / 2)


def test_ece_weighs_each_bins_gap_by_its_size() -> None:
    p, y = [0.05, 0.05, 0.05, 0.95], [False, False, True, True]
    assert ece(p, y) == pytest.approx(3 / 4 * (1 / 3 - 0.05) + 1 / 4 * 0.05)


def test_the_last_bin_holds_one() -> None:
    (last,) = reliability_bins([1.0, 0.95], [True, True])
    assert (last.n, last.low, last.high) == (2, 0.9, 1.0)


@given(states)
def test_bins_hold_every_state_once(drawn: list[tuple[float, bool]]) -> None:
    p, y = zip(*drawn, strict=True)
    found = selection(p, y)
    assert sum(b.n for b in found.bins) == found.n == len(drawn)
    assert sum(b.n * b.observed for b in found.bins) == pytest.approx(sum(y))
    assert 0 <= found.ece <= 1


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        brier([1.2], [True])
    with pytest.raises(ValueError, match="match"):
        brier([0.5], [True, False])
