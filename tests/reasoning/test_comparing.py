"""A comparison is decided by values that can be compared or by a sentence that states it; asked
the other way round it gives the other option, and without either it gives none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reasoning.extractive.comparatives import asked_of
from core.reasoning.extractive.reading import answer
from core.retrieval.tokenizer import tokenize
from core.tasks import AnswerRequest
from tests.reasoning.bag_view import passage, view_of


def ask(question, *passages):
    return answer(AnswerRequest(question=question, passages=passages), view_of(*passages))


OPPOSITES = (
    ("is taller", "is shorter", "It is {} tall.", ("9 metres", "40 m", "300 feet", "2 km")),
    ("is higher", "is lower", "It has a height of {}.", ("20 metres", "40 m", "300 feet")),
    ("is longer", "is shorter", "It is {} long.", ("30 cm", "40 metres", "3 miles", "9 km")),
    ("took longer", "took less time", "It took {}.", ("50 seconds", "3 minutes", "2 hours")),
    ("is heavier", "is lighter", "It weighs {}.", ("300 grams", "2 kg", "90 pounds", "3 tons")),
    ("is larger", "is smaller", "It covers {}.", ("3 acres", "30 hectares", "4 square kilometres")),
    ("holds more", "holds less", "It holds {}.", ("70 mb", "2 gb", "1 tb")),
    ("is faster", "is slower", "It reaches {}.", ("20 km/h", "30 mph", "90 knots")),
    ("is more expensive", "is cheaper", "It costs {}.", ("9 euros", "€ 12", "90 euros")),
    ("is more expensive", "is less expensive", "Its price is {}.", ("$9", "12 dollars", "$900")),
    ("costs more", "costs less", "It costs {} a month.", ("9 euros", "12 euros", "90 euros")),
    ("is deeper", "is shallower", "It is {} deep.", ("90 cm", "4 metres", "1 mile")),
    ("is wider", "is narrower", "It is {} wide.", ("90 cm", "4 metres", "1 mile")),
    ("has more members", "has fewer members", "It has {} members.", ("9", "40", "1,200")),
    ("has the most seats", "has the fewest seats", "There are {} wooden seats.", ("9", "40", "90")),
    ("is more populous", "is less populous", "It has {} people.", ("90", "4,000", "2 million")),
    ("has the larger area", "has the smaller area", "Its area is {}.", ("3 acres", "30 hectares")),
    ("has a higher price", "has a lower price", "Its price is {}.", ("9 euros", "12 euros")),
    ("is older", "is younger", "It was opened in {}.", ("1990", "1901", "1850")),
    ("is older", "is newer", "It was built in {}.", ("1990", "1901", "1850")),
    ("opened later", "opened earlier", "It opened in {}.", ("1850", "1901", "May 1990")),
    ("is hotter", "is colder", "It is {} warm.", ("9 °c", "40 °c", "90 °c")),
)  # fmt: skip
"""What has more, what has less, the sentence of a value, and values from the least of it up."""
NAMES = ("Ash Tower", "Birch Hall", "Cedar Court")
NOISE = (
    "",
    "It was painted by 12 workers.",
    "It stands in Hull.",
    "Its owner has 3 dogs and 700 books.",
)


@settings(max_examples=250, deadline=None)
@given(
    kind=st.sampled_from(OPPOSITES),
    data=st.data(),
    noise=st.sampled_from(NOISE),
    names=st.permutations(NAMES),
    one_text=st.booleans(),
)
def test_opposite_questions_give_opposite_options(kind, data, noise, names, one_text):
    more, less, told, scale = kind
    low, high = sorted(data.draw(st.permutations(range(len(scale))))[:2])
    values = dict(zip(names[:2], (scale[low], scale[high]), strict=True))
    if one_text:
        told = told.removeprefix("It ") if told.startswith("It ") else f"is known: {told}"
        lines = [f"The {n} {told.format(v)}" for n, v in values.items()]
        pages = [passage("Notes", " ".join(data.draw(st.permutations(lines))))]
    else:
        pages = [passage(n, f"{n} is known. {told.format(v)} {noise}") for n, v in values.items()]
        pages.append(passage(names[2], f"{names[2]} is known. It is closed."))
    pages = data.draw(st.permutations(pages))
    first, second = data.draw(st.permutations(names[:2]))
    least, most = names[:2]
    offered = [first, second] if one_text else data.draw(st.permutations(names))
    listed = f"{', '.join(offered[:-1])} or {offered[-1]}"
    replies = [ask(f"Which {asked}, {listed}?", *pages) for asked in (more, less)]
    assert [r.answer for r in replies] == [most, least]
    by_id = {p.id: p for p in pages}
    for reply in replies:
        cited = {by_id[s.passage_id].text[s.start : s.end] for s in reply.supports}
        assert len(cited) == 2


ASH = passage("Ash Tower", "Ash Tower was opened in 1901. It is 40 m tall.")
BIRCH = passage("Birch Hall", "Birch Hall was opened in 1850. It is 90 m tall.")
PLANS = passage("Storage plans", "Storage plans are offered to all. They hold 7 logs.")
LEVEL = passage("Level Hall", "Level Hall is 40 metres tall.")
LONG = passage("Long Barn", "Long Barn is 70 metres long and 9 metres wide.")
PRICES = passage("Prices", "The Ash plan costs 90 euros. The Birch plan costs 12 dollars.")
SAID = passage(
    "Said",
    "The Birch plan costs less than the Ash plan. Ash Tower is older than Birch Hall. The red pump "
    "is safer than the blue pump. The old gate is not heavier than the new gate.",
)
OTHER = passage("Elm", "Ash Tower is 5 m taller than Elm Court. Birch Hall is 3 m tall.")


@pytest.mark.parametrize(
    "asked",
    [
        *("is heavier", "is lighter", "is better", "is worse", "is more dangerous"),
        *("is less dangerous", "has more members", "has fewer members", "costs more"),
    ],
)
def test_without_two_values_there_is_no_answer(asked):
    for pages in ((ASH, BIRCH), (BIRCH, ASH)):
        assert ask(f"Which {asked}, Ash Tower or Birch Hall?", *pages).answer == ""


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("Which is taller, Ash Tower or Level Hall?", (ASH, LEVEL)),
        ("Which is taller, Ash Tower or Long Barn?", (ASH, LONG)),
        ("Which is taller, Storage plans or Birch Hall?", (PLANS, BIRCH)),
        ("Which is cheaper, the Ash plan or the Birch plan?", (PRICES,)),
        ("Which is heavier, the old gate or the new gate?", (SAID,)),
        ("Which is taller, Ash Tower or Birch Hall?", (OTHER,)),
    ],
)
def test_equal_and_incomparable_values_decide_nothing(question, pages):
    assert ask(question, *pages).answer == ""


@pytest.mark.parametrize("asked", ["older", "newer", "taller", "shorter"])
@pytest.mark.parametrize("turn", range(3))
def test_an_option_without_the_value_is_never_chosen_by_it(asked, turn):
    names = ["Ash Tower", "Birch Hall", "Storage plans"]
    names = names[turn:] + names[:turn]
    reply = ask(f"Which is {asked}, {names[0]}, {names[1]} or {names[2]}?", ASH, BIRCH, PLANS)
    assert reply.answer == ("Birch Hall" if asked in ("older", "taller") else "Ash Tower")


@pytest.mark.parametrize(
    "question",
    [
        "Ash Tower, Birch Hall or Storage plans: which is older?",
        "Ash Tower or Birch Hall, which is older?",
        "Which is not younger, Ash Tower or Birch Hall?",
    ],
)
def test_options_may_stand_first_and_a_comparison_may_be_denied(question):
    assert ask(question, PLANS, ASH, BIRCH).answer == "Birch Hall"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which is cheaper, the Ash plan or the Birch plan?", "Birch plan"),
        ("Which is more expensive, the Ash plan or the Birch plan?", "Ash plan"),
        ("Which costs less, the Birch plan or the Ash plan?", "Birch plan"),
        ("Which costs more, the Birch plan or the Ash plan?", "Ash plan"),
        ("Which is older, Birch Hall or Ash Tower?", "Ash Tower"),
        ("Which is younger, Birch Hall or Ash Tower?", "Birch Hall"),
        ("Which is safer, the blue pump or the red pump?", "red pump"),
    ],
)
def test_a_sentence_that_states_the_comparison_decides(question, expected):
    reply = ask(question, SAID)
    assert reply.answer == expected
    assert "than" in SAID.text[reply.supports[0].start : reply.supports[0].end]


@pytest.mark.parametrize(
    ("text", "asked", "most", "least"),
    [
        ("Ash Tower is 40 m tall and Birch Hall is 90 m tall.", ("taller", "shorter"), 1, 0),
        ("The Ash Tower costs 90 euros, the Birch Hall 12 euros.", ("dearer", "cheaper"), 0, 1),
    ],
)
def test_one_sentence_may_tell_the_values_of_several(text, asked, most, least):
    for asks, expected in zip(asked, (most, least), strict=True):
        reply = ask(f"Which is {asks}, Ash Tower or Birch Hall?", passage("Notes", text))
        assert reply.answer == NAMES[expected]


def test_a_stated_comparison_stands_above_values_and_reaches_over_a_third():
    chain = passage("Sizes", "The ash is taller than the elm. The elm is taller than the birch.")
    for order in ("the ash, the elm or the birch", "the birch, the ash or the elm"):
        assert ask(f"Which is tallest, {order}?", chain).answer == "ash"
        assert ask(f"Which is shortest, {order}?", chain).answer == "birch"


NO, YES = "{} does not store logs.", "{} stores logs."


@pytest.mark.parametrize("asked", ["does not store", "doesn't store", "never stores"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("titles", [False, True])
def test_what_is_denied_answers_only_a_question_that_denies(asked, turned, titles):
    lines = [NO.format("Disk 1"), YES.format("Disk 2")]
    pages = (
        [passage(f"Disk {i}", line) for i, line in enumerate(lines, 1)]
        if titles
        else [passage("Disks", " ".join(lines))]
    )
    pages = pages[::-1] if turned else pages
    options = "disk 2 or disk 1" if turned else "disk 1 or disk 2"
    assert ask(f"Which {asked} logs, {options}?", *pages).answer.casefold() == "disk 1"
    assert ask(f"Which stores logs, {options}?", *pages).answer.casefold() == "disk 2"


def test_a_denial_that_no_sentence_makes_is_not_answered():
    pages = (passage("Disk 1", YES.format("Disk 1")), passage("Disk 2", YES.format("Disk 2")))
    assert ask("Which does not store logs, Disk 1 or Disk 2?", *pages).answer == ""
    notes = passage("Disks", pages[0].text)
    assert ask("Which does not store logs, disk 1 or disk 2?", notes).answer == ""


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("the of and ? ... which is it who , or not".split()), max_size=6))
def test_a_question_without_a_word_that_tells_something_is_not_answered(parts):
    reading = ask(" ".join(parts), ASH, BIRCH)
    assert (reading.answer, reading.supports, reading.confidence) == ("", (), 0.0)


@pytest.mark.parametrize(
    ("question", "name", "more"),
    [
        ("Which is more expensive", "price", True),
        ("Which is least expensive", "price", False),
        ("Which is less cheap", "price", True),
        ("Which has fewer active members", "count member", False),
        ("Which has the higher elevation", "elevation", True),
        ("Which weighs less", "weight", False),
    ],
)
def test_a_comparative_names_a_quantity_and_an_end_of_it(question, name, more):
    assert [(c.name, c.more) for c in asked_of(tokenize(question))] == [(name, more)]
