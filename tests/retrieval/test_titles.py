from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.titles import TitleIndex, alias_key, aliases

TITLES = ["Iron Man", "Iron Man 2", "Her (film)", "Bath, Somerset", "The Who", "Ada", "Of", "Łódź"]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Her (2013 film)", ()),
        ("Moon (film)", ("moon",)),
        ("Bath, Somerset", ("bath somerset", "bath")),
        ("Iron_Man_2", ("iron man 2",)),
        ("It", ()),
        ("The Who", ("the who",)),
        ("", ()),
    ],
)
def test_aliases(title: str, expected: tuple[str, ...]) -> None:
    assert aliases(title) == expected


def found(text: str) -> list[tuple[str, str]]:
    return [(text[start:end], alias) for start, end, alias in TitleIndex(TITLES).find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "After Iron Man 2 came Iron Man.",
            [("Iron Man 2", "iron man 2"), ("Iron Man", "iron man")],
        ),
        ("He went to Bath.", [("Bath", "bath")]),
        ("He took a bath.", []),
        ("Lodz and Łódź", [("Lodz", "lodz"), ("Łódź", "lodz")]),
        ("He drummed for The Who.", [("The Who", "the who")]),
        ("The who and the what of it", []),
        ("", []),
    ],
)
def test_the_longest_mention_with_a_capital_first(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text) == expected


def test_counts_are_passages() -> None:
    index = TitleIndex(["Ada", "Ada", "Ada (ship)", "Bath"])
    assert (index.count("ada"), index.count("bath"), index.count("moon")) == (3, 1, 0)


@given(st.lists(st.text(max_size=12), max_size=6), st.text(max_size=80))
def test_mentions_are_in_order_and_do_not_overlap(titles: list[str], text: str) -> None:
    index = TitleIndex(titles)
    position = 0
    for start, end, alias in index.find(text):
        assert position <= start < end <= len(text)
        assert alias_key(text[start:end]) == alias
        assert index.count(alias) > 0
        position = end
