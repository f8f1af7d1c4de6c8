import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reasoning.extractive.question import analyse


@pytest.mark.parametrize(
    ("question", "wh", "kind", "head"),
    [
        ("Who directed The Long River?", "who", "person", set()),
        ("Who is the captain of the Mayfly?", "who", "person", {"captain"}),
        ("when did the tower open", "when", "date", set()),
        ("In what year was the tower opened?", "what", "date", {"year"}),
        ("Where was the film shot?", "where", "place", set()),
        ("Which river runs through Elk Hill?", "which", "place", {"river"}),
        ("How many members does the band have?", "how_many", "number", {"member"}),
        ("What type of car is a jeep considered?", "what", "any", {"car"}),
        ("What is the native language of the singer?", "what", "language", {"languag"}),
        ("He was born in the city of which country?", "which", "place", {"countri"}),
        ("The book was written by whom?", "who", "person", set()),
        ("the outer layer of the bark is called", "none", "any", {"layer"}),
        ("What county shares a border with Elk County?", "what", "place", {"counti"}),
    ],
)
def test_what_a_question_asks_for(question, wh, kind, head):
    found = analyse(question)
    assert (found.form, found.wh, found.kind, set(found.head)) == ("span", wh, kind, head)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Are A and B both lakes?", "yes_no"),
        ("Paul has a medal. Does Mia also have one?", "yes_no"),
        ("Which is older, A or B?", "choice"),
        ("Is A or B the older one?", "choice"),
        ("Do Lafzon is a film released in which year?", "span"),
    ],
)
def test_the_form_of_a_question(question, form):
    assert analyse(question).form == form


def test_a_birth_and_a_kind_are_noticed():
    assert analyse("When was she born?").life == "birth"
    assert analyse("Where did he die?").life == "death"
    assert analyse("What kind of boat is it?").type_of


@settings(max_examples=150)
@given(st.text(max_size=120))
def test_any_text_is_analysed(text):
    found = analyse(text)
    assert found.span[0] <= max(found.span[1], found.span[0])
    assert found == analyse(text)
