"""Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

RRF_CONSTANT = 60
DEPTH = 100
"""How deep the fused lists are."""


class _Ordered(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=_Ordered)


def reciprocal_rank(
    lists: Iterable[Sequence[T]], constant: int = RRF_CONSTANT
) -> list[tuple[T, float]]:
    """Items with the sum over the lists of 1/(constant + rank), rank from 1, best first.

    An item counts once in a list, at its first place; the items after a repeated one move up.
    Ties go to the lower item.
    """
    scores: dict[T, float] = {}
    for items in lists:
        for rank, item in enumerate(dict.fromkeys(items), 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (constant + rank)
    return sorted(sorted(scores.items(), key=lambda pair: pair[0]), key=lambda pair: -pair[1])
