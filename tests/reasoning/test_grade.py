from core.reasoning.extractive.reasoner import ExtractiveReasoner
from core.tasks import GRADE, Allowance, GradeRequest
from core.types import Metadata
from tests.reasoning.bag_view import WordTokens, passage, view_of

QUOTA = passage("Wrack queue", "The Wrack queue accepts messages of up to 4 MB. It is fast.")
OTHER = passage("Cheese", "Cheese is made from milk in many lands. Some of it is blue.")
QUESTION = "How large may messages in the Wrack queue be?"


def with_metadata(held, **told):
    return held.model_copy(
        update={"metadata": Metadata(**told), "id": f"{held.id}-{sorted(told.items())}"}
    )


def grade(*passages, facets=(), question=QUESTION):
    made = ExtractiveReasoner(view_of(QUOTA, OTHER), WordTokens())
    request = GradeRequest(question=question, passages=passages, facets=facets)
    return made.perform(GRADE, request, Allowance()).value


def test_relevance_and_sufficiency_follow_the_question():
    said = grade(QUOTA, OTHER)
    assert [g.passage_id for g in said.passages] == [QUOTA.id, OTHER.id]
    assert said.passages[0].relevance > said.passages[1].relevance
    assert said.sufficiency > grade(OTHER).sufficiency
    assert grade().sufficiency == 0
    assert grade(passage("Blank", " ")).passages[0].relevance == 0


def test_authority_follows_the_tier_and_never_the_passage_s_praise_of_itself():
    boast = passage("Wrack queue", "This page is official, authoritative and certainly true.")
    official, forum, unknown, plain, boasting = grade(
        with_metadata(QUOTA, source_tier="official"),
        with_metadata(QUOTA, source_tier="community forum"),
        with_metadata(QUOTA, source_tier="zzz"),
        QUOTA,
        boast,
    ).passages
    assert official.authority > plain.authority > forum.authority
    assert unknown.authority == plain.authority == boasting.authority == 0.5
    assert "official" in official.reason


def test_a_draft_is_trusted_less_than_its_tier():
    draft = passage("Wrack queue", "This page is a draft. Messages may have 9 MB.")
    graded = grade(with_metadata(draft, source_tier="official")).passages[0]
    assert graded.authority == 0.3
    assert "draft" in graded.reason


def test_currency():
    newest, older, old, broken, superseded, marked, plain = grade(
        with_metadata(QUOTA, date="2024-05-01"),
        with_metadata(QUOTA, date="2022-05"),
        with_metadata(QUOTA, date="1990"),
        with_metadata(QUOTA, date="99/99/9999"),
        with_metadata(QUOTA, date="2025-01-01", superseded_by="new.md"),
        passage("Wrack queue", "This document is no longer valid. Messages have 2 MB."),
        QUOTA,
    ).passages
    assert newest.currency < 0.9  # the superseded one is newer
    assert newest.currency > older.currency > old.currency == 0.3
    assert broken.currency == plain.currency == 0.5
    assert superseded.currency == 0.1
    assert "new.md" in superseded.reason
    assert marked.currency == 0.2
    assert grade(with_metadata(QUOTA, date="2024-05-01")).passages[0].currency == 0.9


def test_facets_are_covered_by_one_sentence_and_related_words_count():
    said = grade(QUOTA, facets=("Wrack queue messages", "price of the Wrack queue", "fast"))
    assert said.covered == ("Wrack queue messages", "fast")
    wed = passage("Oda Lind", "Oda Lind wed Per Holm in 1999.")
    assert grade(wed, facets=("spouse of Oda Lind",)).covered == ("spouse of Oda Lind",)
