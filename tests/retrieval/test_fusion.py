from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.fusion import reciprocal_rank


def test_the_formula() -> None:
    fused = dict(reciprocal_rank([["a", "b"], ["b", "c"]]))
    assert fused == {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}


def test_ties_go_to_the_lower_item() -> None:
    assert [item for item, _ in reciprocal_rank([["b"], ["a"], ["c"]])] == ["a", "b", "c"]


def test_a_duplicate_counts_once_at_its_first_place() -> None:
    assert reciprocal_rank([["a", "a", "b", "a"]]) == [("a", 1 / 61), ("b", 1 / 62)]


@pytest.mark.parametrize("lists", [[], [[]], [[], []]])
def test_nothing_gives_nothing(lists: list[list[str]]) -> None:
    assert reciprocal_rank(lists) == []


lists = st.lists(st.lists(st.integers(0, 20), max_size=15), max_size=4)


@given(lists)
def test_scores_are_those_of_exact_arithmetic(lists: list[list[int]]) -> None:
    fused = reciprocal_rank(lists)
    expected: dict[int, Fraction] = {}
    for items in lists:
        seen: list[int] = []
        for item in items:
            if item not in seen:
                seen.append(item)
                expected[item] = expected.get(item, Fraction()) + Fraction(1, 60 + len(seen))
    assert {item for item, _ in fused} == set(expected)
    assert all(score == pytest.approx(float(expected[item])) for item, score in fused)
    assert [score for _, score in fused] == sorted((s for _, s in fused), reverse=True)


@given(st.lists(st.integers(0, 20), unique=True))
def test_fusing_a_list_with_itself_keeps_its_order(items: list[int]) -> None:
    assert [item for item, _ in reciprocal_rank([items, items])] == items
