"""Where a question offers options, the answer is one of them, as they are written, or nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reasoning.extractive.options import options
from core.reasoning.extractive.reading import answer
from core.tasks import AnswerRequest
from tests.reasoning.bag_view import passage, view_of

NOTES = passage(
    "Marl history",
    "# Marl history\n\nVersion 4.1 was published on 3 May 2021. Version 4.2 was published on "
    "9 November 2021. The small pump moves 300 litres an hour. The large pump moves 2 litres a "
    "minute. The red lamp warns of fire.",
)
PEAR = passage("Pear Records", "Pear Records is a label from Hull. It was founded in 1961.")
QUINCE = passage("Quince Recordings", "Quince Recordings is a label that was founded in 1958.")
QUINCE_TREE = passage("Quince tree", "A quince tree was planted in 1920.")
FAST = passage("Rust probe", "The Rust probe sends a sign of life every 20 seconds.")
SLOW = passage("Tin probe", "The Tin probe sends a sign of life every 5 minutes.")
BIG = passage("Basic shelf", "The Basic shelf holds up to 2 GB. It is sold since March 2019.")
SMALL = passage("Extra shelf", "The Extra shelf holds up to 700 MB. It is sold since June 2019.")
EVERYTHING = (NOTES, PEAR, QUINCE, QUINCE_TREE, FAST, SLOW, BIG, SMALL)


def ask(question, *passages):
    return answer(AnswerRequest(question=question, passages=passages), view_of(*EVERYTHING))


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("Which came out first, version 4.1 or version 4.2?", (NOTES,), "version 4.1"),
        ("Which came out later, version 4.1 or version 4.2?", (NOTES,), "version 4.2"),
        ("Which label is older, Pear or Quince?", (PEAR, QUINCE), "Quince"),
        ("Which label is younger, Pear or Quince?", (PEAR, QUINCE), "Pear"),
        ("Which reports more often, the Rust probe or the Tin probe?", (FAST, SLOW), "Rust probe"),
        ("Which reports less often, the Rust probe or the Tin probe?", (FAST, SLOW), "Tin probe"),
        ("Which holds more, the Basic shelf or the Extra shelf?", (SMALL, BIG), "Basic shelf"),
        ("Which holds less, the Basic shelf or the Extra shelf?", (SMALL, BIG), "Extra shelf"),
        ("Which sold for longer, the Basic shelf or the Extra shelf?", (BIG, SMALL), "Basic shelf"),
        ("Which lamp warns of fire, the red lamp or the blue lamp?", (NOTES,), "red lamp"),
    ],
)  # fmt: skip
def test_the_better_option_answers_as_the_question_writes_it(question, passages, expected):
    reading = ask(question, *passages)
    assert reading.answer == expected
    assert reading.supports


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("Which label is older, Pear or Quince?", (PEAR, QUINCE, QUINCE_TREE)),
        ("Which label is older, Pear or Quince?", (PEAR,)),
        ("Which came out first, version 5.1 or version 5.2?", (NOTES,)),
        ("Which moves more, the small pump or the large pump?", (PEAR,)),
    ],
)
def test_no_option_where_one_is_unknown_or_could_be_several(question, passages):
    reading = ask(question, *passages)
    assert (reading.answer, reading.confidence) == ("", 0.0)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which is older, the Ash Tower or Birch Hall?", ("Ash Tower", "Birch Hall")),
        ("Ash Tower or Birch Hall: which is older?", None),
        ("Between Ash Tower and Birch Hall, which is older?", ("Ash Tower", "Birch Hall")),
        ("Which was built first Ash Tower or Birch Hall ?", ("Ash Tower", "Birch Hall")),
        (
            "Which is older, Ash Tower, Birch Hall or Elm Court?",
            ("Ash Tower", "Birch Hall", "Elm Court"),
        ),
        ("In 2010, which was older, the Ash or the Birch?", ("Ash", "Birch")),
        ("Which is older: Ash or Birch or Elm?", ("Ash", "Birch", "Elm")),
        ("Who directed the film that was shot in or around Hull?", None),
        ("Is it more or less the same?", None),
    ],
)
def test_options_are_read_off_the_question(question, expected):
    found = options(question)
    assert (found and tuple(o.text for o in found)) == expected


THINGS = st.sampled_from(
    ["the small pump", "version 4.1", "Pear", "the Rust probe", "the red lamp"]
)
ASKED = st.sampled_from(
    ["Which is older", "Which is larger", "Which warns of fire", "Which came first"]
)


@settings(max_examples=60)
@given(asked=ASKED, a=THINGS, b=THINGS, n=st.integers(0, len(EVERYTHING)))
def test_an_answer_is_an_option_or_nothing(asked, a, b, n):
    reply = ask(f"{asked}, {a} or {b}?", *EVERYTHING[:n]).answer
    named = {x.removeprefix("the ") for x in (a, b)}
    assert reply == "" or reply.casefold() in {x.casefold() for x in named}
