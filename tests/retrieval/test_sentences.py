from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.sentences import MAX_SENTENCE, sentence_spans


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Fox met J. R. Smith.", ["Dr. Fox met J. R. Smith."]),
        ("It cost 3.5 million. It was dear.", ["It cost 3.5 million.", "It was dear."]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("In the U.S. it rained. It poured.", ["In the U.S. it rained.", "It poured."]),
        ("- one\n- two", ["- one", "- two"]),
        ("A line\nthat goes on.\n\nA paragraph", ["A line\nthat goes on.", "A paragraph"]),
        ("東京です。人口は多い。", ["東京です。", "人口は多い。"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text(max_size=300))
def test_every_visible_character_is_in_one_sentence(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end
        assert text[position:start].strip() == ""
        assert text[start:end].strip() == text[start:end]
        position = end
    assert text[position:].strip() == ""


@given(st.integers(1, 5_000), st.sampled_from(["x", "word ", "東"]))
def test_no_sentence_is_longer_than_the_limit(count: int, piece: str) -> None:
    assert all(len(sentence) <= MAX_SENTENCE for sentence in cut(piece * count))


@pytest.mark.parametrize("piece", ["Mr. ", "etc. and ", ". ", '."', "\n ", "a.b ", "- "])
def test_no_text_takes_long(piece: str) -> None:
    """Fifty times the text takes nearer to fifty times as long than to 2,500 times."""

    def seconds(count: int) -> float:
        started = time.process_time()
        sentence_spans(piece * count)
        return time.process_time() - started

    seconds(100)
    assert seconds(50_000) < 500 * max(seconds(1_000), 1e-3)
