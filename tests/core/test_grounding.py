"""Where an answer is grounded: at token boundaries, in any script, never made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.grounding import CONTENT_SHARE, MAX_CITATIONS, ground
from core.tasks import Support
from core.types import Passage


def passage(text: str, ident: str = "p") -> Passage:
    return Passage(id=ident, document="d", title="t", text=text, end=len(text))


INSIDE = [
    ("no", "It is not known."),
    ("art", "The party was long."),
    ("12", "It opened in 1912."),
    ("5", "It grew by 3.5% a year."),
    ("3.5", "It rose by 3.5% in May."),
    ("C", "It is written in C++."),
    ("10", "It began at 10:30."),
    ("T", "It was bought by AT&T."),
    ("cat", "The category is empty."),
    ("Lodz Fabryczna", "He was born in Łódź."),
    ("大阪", "彼は東京で生まれた。"),
]
WHOLE = [
    ("東京", "彼は東京で生まれた。"),
    ("Łódź", "He was born in Łódź, Poland."),
    ("Lodz", "He was born in Łódź, Poland."),
    ("C++", "It is written in C++ and Rust."),
    ("3.5%", "It rose by 3.5% in May."),
    ("AT&T", "It was bought by AT&T's rival."),
    ("O'Brien", "The host was Conan O’Brien."),
    ("12", "There were 12 of them."),
    ("1,000", "A list of 1000 names."),
    ("Москва", "Город Москва велик."),
    ("서울", "그는 서울에서 태어났다."),
    ("the Beatles", "They were the Beatles."),
    ("E-4012", "Error E-4012 was shown."),
]


@pytest.mark.parametrize(("answer", "text"), INSIDE)
def test_a_part_of_a_token_does_not_ground(answer: str, text: str) -> None:
    assert ground(answer, [passage(text)]) == ()


@pytest.mark.parametrize(("answer", "text"), WHOLE)
def test_whole_tokens_ground_in_any_script(answer: str, text: str) -> None:
    (citation,) = ground(answer, [passage(text)])
    assert citation.quote == text[citation.start : citation.end]
    assert citation.quote == text


def test_the_matching_sentence_is_quoted_at_its_span() -> None:
    text = "She was born in Łódź. In 2003 she wed Paul. They live in London."
    (citation,) = ground("Paul", [passage(text)])
    assert citation.quote == "In 2003 she wed Paul."
    assert text[citation.start : citation.end] == citation.quote


def test_most_of_the_content_words_ground_where_the_run_is_not_there() -> None:
    text = "Connelly, Jennifer, an actor of New York, won."
    assert ground("Jennifer Connelly of New York", [passage(text)])
    assert CONTENT_SHARE > 4 / 6
    assert ground("Jennifer Connelly, New York, Ohio, Kansas", [passage(text)]) == ()


@pytest.mark.parametrize("answer", ["yes", "No", "no."])
def test_yes_and_no_are_grounded_by_the_places_used_alone(answer: str) -> None:
    p = passage("There is no doubt, yes. It rose.")
    assert ground(answer, [p]) == ()
    (citation,) = ground(answer, [p], [Support(passage_id="p", start=24, end=31)])
    assert citation.quote == "It rose."


def test_unknown_handles_and_spans_are_rejected() -> None:
    p = passage("It rose.")
    used = [
        Support(passage_id="other", start=0, end=4),
        Support(passage_id="p", start=0, end=99),
        Support(passage_id="p", start=5, end=5),
    ]
    assert ground("yes", [p], used) == ()


def test_at_most_eight_passages_are_cited_each_once() -> None:
    found = ground("Paul", [passage("Paul and Paul.", f"p{n}") for n in range(20)])
    assert [c.passage_id for c in found] == [f"p{n}" for n in range(MAX_CITATIONS)]


@pytest.mark.parametrize("answer", ["", "  ", "?!", "—"])
def test_an_answer_without_a_token_is_never_grounded(answer: str) -> None:
    assert ground(answer, [passage("— ?! text")]) == ()


@given(st.text(max_size=30), st.text(max_size=120))
def test_a_citation_always_quotes_its_passage(answer: str, text: str) -> None:
    for c in ground(answer, [passage(text)]):
        assert c.quote == text[c.start : c.end]
        assert c.quote
