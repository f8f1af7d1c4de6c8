from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.tokenizer import content_terms, fold, terms, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AT&T's C++ and C# builds", ["at&t", "c++", "and", "c#", "build"]),
        ("E-4012 in v3.2.1, at 12.5%", ["e-4012", "in", "v3.2.1", "at", "12.5%"]),
        ("1,000,000 U.S. dollars", ["1000000", "us", "dollar"]),
        ("Café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
        ("Łódź Øresund Æsir", ["lodz", "oresund", "aesir"]),
        ("東京都", ["東京", "京都"]),
        ("東", ["東"]),
        ("Kim's kims", ["kim", "kim"]),
        ("don’t don't", ["dont", "dont"]),
        ("running runs", ["run", "run"]),
        ("Привет МИР", ["привет", "мир"]),
        ("🎬 — … !", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_content_terms_leave_out_stop_words() -> None:
    assert content_terms("Who was the keeper of the lamp?") == ["keeper", "lamp"]
    assert content_terms("Who is it?") == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_tokens_are_places_of_the_text_in_order(text: str) -> None:
    position = 0
    for token in tokenize(text):
        assert position <= token.start < token.end <= len(text) or token.start < position
        assert token.term
        assert not any(c.isspace() for c in token.term)
        position = token.start


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_case_does_not_matter(text: str) -> None:
    assert terms(text.upper()) == terms(text.lower())


@pytest.mark.parametrize("piece", ["a&", "1,", "a.", "x-1.", "'", "é\u0301", "東", "a1-", "'s"])
def test_no_text_takes_long(piece: str) -> None:
    """Fifty times the text takes nearer to fifty times as long than to 2,500 times."""

    def seconds(count: int) -> float:
        started = time.process_time()
        tokenize(piece * count)
        return time.process_time() - started

    seconds(100)
    assert seconds(50_000) < 500 * max(seconds(1_000), 1e-3)
