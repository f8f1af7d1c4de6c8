import pytest

from core.reasoning.extractive.conflict import conflicts
from core.reasoning.extractive.features import build_scene
from core.types import Metadata
from tests.reasoning.bag_view import passage, view_of

QUESTION = "When was the Harlow Bridge over the river Tarn opened?"
FACT = "The Harlow Bridge over the river Tarn was opened to traffic on 4 May 1931 by the mayor."


def found(question, *passages):
    return conflicts(build_scene(question, passages, view_of(*passages)))


def pair(first, second, titles=("Harlow Bridge", "Harlow Bridge")):
    return passage(titles[0], first), passage(titles[1], second)


@pytest.mark.parametrize(
    ("old", "new"),
    [("1931", "1935"), ("4 May 1931", "12 June 1934"), ("May", "July")],
)
def test_a_changed_date_is_a_conflict(old, new):
    hits = found(QUESTION, *pair(FACT, FACT.replace(old, new) + " It is painted green."))
    assert len(hits) == 1
    assert 0.9 <= hits[0].strength <= 1
    assert {hits[0].first.passage, hits[0].second.passage} == {0, 1}


def test_only_the_value_differs_is_the_strongest():
    plain = found(QUESTION, *pair(FACT, FACT.replace("1931", "1935")))
    looser = found(QUESTION, *pair(FACT, FACT.replace("1931", "1935").replace("to traffic ", "")))
    assert plain[0].strength == pytest.approx(1.0)
    assert plain[0].values == (("1931", "1935"),)
    assert looser[0].strength < plain[0].strength


def test_numbers_and_names():
    text = "In the census of that year the Harlow Bridge district had 4,120 inhabitants in all."
    question = "How many inhabitants had the Harlow Bridge district in the census?"
    assert found(question, *pair(text, text.replace("4,120", "5,310")))
    text = "The Harlow Bridge over the river Tarn was designed and built by the engineer Ann Holt."
    question = "Who designed and built the Harlow Bridge over the river Tarn?"
    hits = found(question, *pair(text, text.replace("Ann Holt", "Bo Marsh")))
    assert hits[0].values == (("Ann Holt", "Bo Marsh"),)


def test_no_conflict_in_parallel_sentences_about_different_things():
    other = FACT.replace("Harlow Bridge", "Dunmore Bridge").replace("1931", "1935")
    titles = ("Harlow Bridge", "Dunmore Bridge")
    assert not found(QUESTION, *pair(FACT, other, titles))


def test_another_title_conflicts_where_it_names_the_first():
    note = FACT.replace("1931", "1935")
    assert found(QUESTION, *pair(FACT, note, ("Harlow Bridge", "Bridges of the Tarn")))


def test_no_conflict_in_one_passage_or_in_equal_or_additional_words():
    twice = passage("Harlow Bridge", f"{FACT} {FACT.replace('1931', '1935')}")
    assert not found(QUESTION, twice)
    assert not found(QUESTION, *pair(FACT, FACT + " "))
    assert not found(QUESTION, *pair(FACT, FACT.replace("by the mayor", "by the old mayor")))


def test_different_kinds_are_no_conflict():
    assert not found(QUESTION, *pair(FACT, FACT.replace("4 May 1931", "Ann Holt's birthday")))


def test_off_the_question_is_no_conflict():
    hits = found("Who sings in the band?", *pair(FACT, FACT.replace("1931", "1935")))
    assert not hits


def test_the_two_things_asked_about_do_not_conflict():
    question = "Was the river Tarn or the river Usk bridged first by the mayor at Harlow?"
    first = "At Harlow the first bridge of the mayor over the river Tarn is a long one of stone."
    assert not found(question, *pair(first, first.replace("Tarn", "Usk")))


def test_two_places_of_one_name_do_not_conflict():
    text = "Midway is an unincorporated community in Floyd County, Iowa, United States of America."
    other = text.replace("Floyd", "White").replace("Iowa", "Arkansas")
    titles = ("Midway, Floyd County, Iowa", "Midway, White County, Arkansas")
    assert not found("In which country is the community of Midway?", *pair(text, other, titles))


HELD_APART = [
    ({"superseded_by": "new.md"}, {}),
    ({}, {"superseded_by": "new.md"}),
    ({"superseded_by": "b.md"}, {"superseded_by": "c.md"}),
    ({"tenant": "aurora"}, {"tenant": "borealis"}),
    ({"jurisdiction": "EU"}, {"jurisdiction": "US"}),
]
HELD_TOGETHER = [
    ({}, {}),
    ({"tenant": "aurora"}, {"tenant": "aurora"}),
    ({"tenant": "aurora"}, {}),
    ({"jurisdiction": "EU"}, {"tenant": "aurora"}),
    ({"date": "2020-01-01", "source_tier": "official"}, {"date": "2024-01-01"}),
]


def told(one, other):
    passages = pair(FACT, FACT.replace("1931", "1935"))
    known = [
        p.model_copy(update={"metadata": Metadata(**m)})
        for p, m in zip(passages, (one, other), strict=True)
    ]
    return found(QUESTION, *known)


@pytest.mark.parametrize(("one", "other"), HELD_APART)
def test_documents_that_hold_for_other_times_or_readers_do_not_contradict(one, other):
    assert not told(one, other)


@pytest.mark.parametrize(("one", "other"), HELD_TOGETHER)
def test_documents_that_hold_together_do(one, other):
    assert told(one, other)


def test_a_contradiction_beside_the_question_is_no_doubt_of_the_answer():
    toll = "The Harlow Bridge over the river Tarn takes a toll of 4 shillings from every cart."
    sides = pair(f"{FACT} {toll}", toll.replace("4", "6"))
    assert not found("When was the Harlow Bridge over the river Tarn opened to traffic?", *sides)
    assert found("What toll does the Harlow Bridge over the river Tarn take from carts?", *sides)


NAMED = [
    ("The Tarn Valley Library in Harlow has {} seats.", "120", "95", "How many seats has it?"),
    ("Jan Orlov was born in {}.", "1975", "1977", "When was Jan Orlov born?"),
    ("Mount Usk Observatory was designed by {}.", "Ann Holt", "Bo Marsh", "Who designed it?"),
]


@pytest.mark.parametrize(("text", "one", "other", "question"), NAMED)
def test_two_documents_of_other_titles_conflict_over_the_name_they_begin_with(
    text, one, other, question
):
    asked = f"{question} {text.split(' has ')[0].split(' was ')[0]}"
    sides = pair(text.format(one), text.format(other), ("Opening hours", "A visit in spring"))
    hits = found(asked, *sides)
    assert [h.values for h in hits] == [((one, other),)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("He was born in Harlow in 1975.", "He was born in Harlow in 1977."),
        ("Jan Orlov was born in 1975.", "Jan Marsh was born in 1977."),
        ("Jan Orlov won 3 medals at Usk in 1975.", "Jan Orlov won 5 medals at Usk in 1977."),
        ("Trains to Harlow leave every 10 minutes.", "Trains to Harlow leave every 20 minutes."),
    ],
)
def test_no_conflict_between_other_titles_without_one_name_and_one_value(one, other):
    sides = pair(one, other, ("Notes of May", "Notes of June"))
    assert not found(f"{one} Is it so?", *sides)
