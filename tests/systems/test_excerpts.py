"""Distilled excerpts: bounded, from the passage, the first and most related sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.systems.excerpts import EXCERPT, distil
from core.types import Passage

TEXT = (
    "Iron Man is a 2008 film. It was made in California. Paul Bettany plays Jarvis. "
    "It made much money. Jarvis is a computer that Iron Man built."
)


def passage(text):
    return Passage(id="p", document="d", title="Iron Man", text=text, end=len(text), digest="x")


def test_a_passage_is_distilled_to_its_first_and_most_related_sentences():
    got = distil(passage(TEXT), "Who plays Jarvis in Iron Man?")
    assert got.text == (
        "Iron Man is a 2008 film. Paul Bettany plays Jarvis. "
        "Jarvis is a computer that Iron Man built."
    )
    assert (got.id, got.title, got.digest) == ("p", "Iron Man", "")


def test_ties_go_to_the_earlier_sentence():
    assert distil(passage("One. Two. Three. Four."), "nothing shared?").text == "One. Two. Three."


@given(st.text(max_size=1_500), st.text(max_size=60), st.integers(1, EXCERPT))
def test_an_excerpt_is_bounded_and_from_the_passage(text, question, limit):
    got = distil(passage(text), question, limit).text
    assert len(got) <= limit
    for word in got.split():
        assert word in text


@pytest.mark.parametrize("text", ["", " ", "x" * 2_000, "東京は日本の首都である。" * 80])
def test_odd_texts_are_distilled_too(text):
    assert len(distil(passage(text), "東京 x?").text) <= EXCERPT
