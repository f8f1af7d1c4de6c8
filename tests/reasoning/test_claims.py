import pytest

from core.reasoning.extractive.reasoner import ExtractiveReasoner
from core.tasks import CHECK_CLAIMS, Allowance, ClaimsRequest
from tests.reasoning.bag_view import WordTokens, passage, view_of

QUEUE = passage(
    "Wrack queue",
    "The Wrack queue accepts messages of up to 4 MB. Messages are kept for 14 days after that.",
)
FILM = passage("Grey Harbour (film)", "Oda Lind plays the pilot Marsh in Grey Harbour of 1998.")
ACTOR = passage("Oda Lind", "Oda Lind was raised in Visby. Oda Lind wed Per Holm in 1999.")
VIEW = view_of(QUEUE, FILM, ACTOR)


def check(question, *claims, passages=(QUEUE, FILM, ACTOR)):
    made = ExtractiveReasoner(VIEW, WordTokens())
    request = ClaimsRequest(question=question, claims=claims, passages=passages)
    reply = made.perform(CHECK_CLAIMS, request, Allowance()).value
    assert [v.index for v in reply.verdicts] == list(range(len(claims)))
    return reply.verdicts


QUESTION = "How large may messages in the Wrack queue be?"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The Wrack queue accepts messages of up to 4 MB.", "supported"),
        ("Messages in the Wrack queue may have up to 4 MB", "supported"),
        ("The Wrack queue accepts messages of up to 8 MB.", "contradicted"),
        ("The Wrack queue does not accept messages of up to 4 MB.", "contradicted"),
        ("The Wrack queue was painted green by its owner last summer.", "unsupported"),
        ("The Fathom store accepts messages of up to 4 MB.", "unsupported"),
        ("Messages in the Wrack queue are kept for 30 days after that.", "contradicted"),
        ("4 MB", "supported"),
        ("8 MB", "unsupported"),
        ("", "unsupported"),
        ("the of and", "unsupported"),
    ],
)
def test_verdicts(claim, verdict):
    said = check(QUESTION, claim)[0]
    assert said.verdict == verdict, said
    assert said.passage_ids == (() if verdict == "unsupported" else (QUEUE.id,))


def test_linked_passages_support_together():
    question = "Who is the spouse of the actor who plays Marsh in Grey Harbour?"
    claim = "The spouse of the actor who plays the pilot Marsh in Grey Harbour is Per Holm."
    said = check(question, claim)[0]
    assert said.verdict == "supported"
    assert set(said.passage_ids) == {FILM.id, ACTOR.id}
    wrong = claim.replace("Per Holm", "Bo Marklund")
    assert check(question, wrong)[0].verdict != "supported"


def test_without_passages_nothing_is_supported():
    assert [v.verdict for v in check(QUESTION, "It is so.", "4 MB", passages=())] == [
        "unsupported",
        "unsupported",
    ]


def test_no_claims_no_verdicts():
    assert check(QUESTION) == ()
