from core.reasoning.extractive.reasoner import ExtractiveReasoner
from core.tasks import EXTRACT_FACTS, Allowance, FactsRequest
from tests.reasoning.bag_view import WordTokens, passage, view_of

ACTOR = passage(
    "Oda Lind (actress)",
    "Oda Lind was raised in Visby. She wed the painter Per Holm in 1999. Lind plays Marsh in Grey"
    " Harbour; the Swedish critics liked it. Critics paid 4,000 kronor for seats.",
)


def facts(*passages, question="Where was Oda Lind raised and whom did she wed?"):
    made = ExtractiveReasoner(view_of(ACTOR), WordTokens())
    request = FactsRequest(question=question, passages=passages)
    return made.perform(EXTRACT_FACTS, request, Allowance()).value.facts


def test_subject_relation_and_object_in_the_passage_s_words():
    found = {(f.subject, f.relation, f.object) for f in facts(ACTOR)}
    assert ("Oda Lind (actress)", "was raised in", "Visby") in found
    assert ("Oda Lind (actress)", "wed the painter", "Per Holm") in found
    for fact in facts(ACTOR):
        assert fact.passage_id == ACTOR.id
        assert 0 <= fact.confidence <= 1
        assert fact.object in ACTOR.text
        assert fact.relation in ACTOR.text


def test_facts_do_not_cross_a_break_and_peoples_are_no_objects():
    found = facts(ACTOR, question="What did the Swedish critics of Grey Harbour like?")
    assert not any(f.object == "Swedish" for f in found)
    assert not any(";" in f.relation for f in found)


def test_at_most_four_a_passage_and_two_hundred_in_all():
    many = [
        passage(f"Stone {i}", " ".join(f"Stone {i} met Rock {j} near Lake {j}." for j in range(9)))
        for i in range(60)
    ]
    made = facts(*many, question="Which Stone met Rock near Lake?")
    assert len(made) <= 200
    for p in many:
        assert sum(f.passage_id == p.id for f in made) <= 4


def test_nothing_to_read():
    assert facts() == ()
    assert facts(passage("", "no names at all here")) == ()
    assert facts(passage("Blank", "  ")) == ()
