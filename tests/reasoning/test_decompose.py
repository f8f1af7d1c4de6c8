import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.reasoning.extractive.decompose import decompose, sub_questions
from core.tasks import DecomposeRequest
from tests.reasoning.bag_view import passage, view_of

VIEW = view_of(passage("Hello Love", "A record."), passage("The Girl Who Fell Down", "A novel."))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Who is the spouse of the actor who plays Jarvis in Iron Man?",
            ("Which actor plays Jarvis in Iron Man?", "Who is the spouse of #1?"),
        ),
        (
            "What county borders the county in which Elk Hill, Ohio is located?",
            ("What is the county in which Elk Hill, Ohio is located?", "What county borders #1?"),
        ),
        (
            "How many shops are in the state that borders the state where Hello Love's performer"
            " lived when he died?",
            (
                "Who is the performer of Hello Love?",
                "What is the state where #1 lived when he died?",
                "Which state borders #2?",
                "How many shops are in #3?",
            ),
        ),
        (
            "What is the airport in the birth place of the director of The Girl Who Fell Down?",
            (
                "Who is the director of The Girl Who Fell Down?",
                "What is the birth place of #1?",
                "What is the airport in #2?",
            ),
        ),
        (
            "When did the country containing Tarnow leave the League?",
            ("Which country containing Tarnow?", "When did #1 leave the League?"),
        ),
        (
            "What currency came before the Euro in the country Marko is from?",
            ("What is the country Marko is from?", "What currency came before the Euro in #1?"),
        ),
        (
            "Ada Brill was a biographer for an American thief who belonged to what crime family?",
            (
                "Ada Brill was a biographer for which American thief?",
                "#1 belonged to what crime family?",
            ),
        ),
        (
            "The manuscript for Flute Suite is in the hand of a German musician whose godfather is"
            " whom?",
            (
                "The manuscript for Flute Suite is in the hand of which German musician?",
                "#1's godfather is whom?",
            ),
        ),
        (
            "Who was president when the area where Elk Wind Farm is located became a state?",
            (
                "What is the area where Elk Wind Farm is located?",
                "Who was president when #1 became a state?",
            ),
        ),
        (
            "Night Ferry is the third album by a singer-songwriter from what state?",
            (
                "Night Ferry is the third album by which singer-songwriter?",
                "#1 is from what state?",
            ),
        ),
        (
            "Which region is Corey Tay's city of birth located in?",
            ("What is the city of birth of Corey Tay?", "Which region is #1 located in?"),
        ),
    ],
)
def test_nested_descriptions(question, expected):
    assert sub_questions(question, VIEW) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who is the wife of Kim Lo?",
        "Are Ann Nolan and Bo Kalat both film directors?",
        "Which band was formed first, The Ex or Circus Day?",
        "Who wrote The Girl Who Fell Down?",
        "What is the capital of France?",
        "",
        "?",
        "What does #1 mean in chess notation?",
        "the \ue000 of the \ue001 that is where \x00?",
    ],
)
def test_simple_questions_stay_whole(question):
    assert sub_questions(question, VIEW) == (question,)


def test_the_limit_keeps_the_outermost_hops():
    question = "Where was the son of the director of the film that Ann Lee produced born?"
    everything = sub_questions(question, VIEW)
    assert len(everything) == 4
    for most in (1, 2, 3):
        hops = sub_questions(question, VIEW, most)
        assert len(hops) <= most
        assert hops[-1].startswith("Where was")


def test_request_and_reply():
    reply = decompose(DecomposeRequest(question="Who is the wife of Hello Love's singer?"), VIEW)
    assert reply.sub_questions == ("Who is the singer of Hello Love?", "Who is the wife of #1?")


WORDS = st.sampled_from(
    """who what which that where the a of in is was did actor state film Iron Man Anna Bell 's ,
    directed by located born country when whose city #1 #2 . and or ( " ?""".split()
)


@given(st.lists(WORDS, max_size=25).map(" ".join), st.integers(1, 8))
def test_slots_refer_backwards_whatever_the_words(question, most):
    hops = sub_questions(question, VIEW, most)
    assert 1 <= len(hops) <= most
    if len(hops) > 1:
        for number, hop in enumerate(hops, 1):
            slots = [int(c) for c in hop.split("#")[1:] for c in c[:1] if c.isdigit()]
            assert all(1 <= slot < number for slot in slots)
        used = {slot for hop in hops for slot in range(1, len(hops)) if f"#{slot}" in hop}
        assert used == set(range(1, len(hops)))


@given(st.text(max_size=200))
def test_any_text_is_fine(question):
    assert sub_questions(question, VIEW)
