import pytest

from core.reasoning.extractive.reasoner import ExtractiveReasoner
from core.tasks import HOP_ANSWER, PLAN, ROUTE, Allowance, HopRequest, PlanRequest, RouteRequest
from tests.reasoning.bag_view import WordTokens, passage, view_of

FILM = passage(
    "Grey Harbour (film)",
    "Grey Harbour is a crime film of 1998. Oda Lind plays the pilot Marsh in Grey Harbour.",
)
ACTOR = passage("Oda Lind", "Oda Lind was raised in Visby. Oda Lind wed Per Holm in 1999.")
QUESTION = "Who is the spouse of the actor who plays Marsh in Grey Harbour?"
REASONER = ExtractiveReasoner(view_of(FILM, ACTOR), WordTokens())


def do(task, request):
    return REASONER.perform(task, request, Allowance()).value


def route(question, *sources):
    return do(ROUTE, RouteRequest(question=question, sources=sources))


@pytest.mark.parametrize(
    "question",
    ["Hello!", "thanks", "What is 12 * (3 + 4)?", "2+2", "what is 7 plus 5?", "", "who is it?"],
)
def test_no_document_is_needed(question):
    assert route(question, "films").complexity == "none"


@pytest.mark.parametrize(
    "question",
    ["When was Oda Lind born?", "How many films did Grey Harbour win 2 prizes with?"],
)
def test_one_passage(question):
    assert route(question).complexity == "single"


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "Which film is older, Grey Harbour or Night Ferry?",
        "Were Oda Lind and Per Holm born in the same town?",
    ],
)
def test_several_passages(question):
    assert route(question).complexity == "multi"


def test_the_source_shares_words_or_is_the_only_one():
    assert route("Which film was Oda Lind in?", "support desk", "film night").source == "film night"
    assert route("Which film was Oda Lind in?", "anything").source == "anything"
    assert route("Which film was Oda Lind in?").source is None
    assert route("Which film was Oda Lind in?", "xyzzy", "plugh").source is None
    assert route("Hello!", "films").source is None


def test_a_plan_lists_what_is_not_known_first_and_fills_slots():
    plan = do(PLAN, PlanRequest(question=QUESTION))
    assert plan.required_facts == (
        "Which actor plays Marsh in Grey Harbour?",
        "Who is the spouse of the answer to step 1?",
    )
    assert "Which actor plays Marsh" in plan.objective
    assert {"Marsh", "Grey Harbour"} <= set(plan.entities)

    known = ("Oda Lind plays the pilot Marsh in Grey Harbour.",)
    revised = do(PLAN, PlanRequest(question=QUESTION, known=known, note="No spouse is named."))
    assert revised.required_facts[0] == "Who is the spouse of Oda Lind?"
    assert "Oda Lind" in revised.objective
    assert "No spouse is named." in revised.objective
    assert revised.entities[0] == "Oda Lind"


def test_a_plan_for_a_plain_or_empty_question():
    plan = do(PLAN, PlanRequest(question="Where was Oda Lind raised?"))
    assert plan.required_facts == ("Where was Oda Lind raised?",)
    assert plan.entities == ("Oda Lind",)
    assert len(do(PLAN, PlanRequest(question="")).required_facts) == 1


def test_a_hop_is_answered_or_left_empty():
    request = HopRequest(question="Which actor plays Marsh in Grey Harbour?", passages=(FILM,))
    assert do(HOP_ANSWER, request).answer == "Oda Lind"
    assert do(HOP_ANSWER, HopRequest(question="Who sang?", passages=())).answer == ""
    echo = passage("Marsh", "Marsh.")
    assert do(HOP_ANSWER, HopRequest(question="Who is Marsh?", passages=(echo,))).answer == ""
