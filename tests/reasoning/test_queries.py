import pytest

from core.reasoning.extractive import queries
from core.reasoning.extractive.case import Case
from core.reasoning.extractive.features import build_scene
from core.reasoning.extractive.queries import covers, rewrite, write_query
from core.retrieval.tokenizer import terms
from tests.reasoning.bag_view import passage, view_of

FILM = passage(
    "Grey Harbour (film)",
    "Grey Harbour is a crime film of 1998. Oda Lind plays the pilot Marsh in Grey Harbour.",
)
ACTOR = passage("Oda Lind", "Oda Lind was raised in Visby. Oda Lind wed Per Holm in 1999.")
OTHER = passage("Cheese", "Cheese is made from milk in many lands. Some of it is blue.")
QUESTION = "Who is the spouse of the actor who plays Marsh in Grey Harbour?"
VIEW = view_of(FILM, ACTOR, OTHER)


def case(*passages, question=QUESTION):
    return Case(build_scene(question, passages, VIEW))


def test_the_next_query_is_the_bridge_entity_and_what_its_passage_does_not_say():
    written = write_query(case(FILM, OTHER), (QUESTION,))
    assert written.bridge == "Oda Lind"
    assert "Oda Lind" in written.query
    assert "spouse" in written.query.split()
    assert not {"harbour", "marsh", "plays"} & set(written.query.lower().split())
    assert "Grey Harbour (film)" in written.rationale
    assert not written.nothing_missing


def test_nothing_is_missing_when_the_chain_says_it_by_a_related_word():
    held = case(FILM, ACTOR)
    assert covers(held)
    written = write_query(held)
    assert written.nothing_missing
    assert written.query == ""


def test_a_query_is_never_repeated_and_the_writer_ends():
    held = case(FILM, OTHER)
    previous = [QUESTION]
    for _ in range(40):
        written = write_query(held, tuple(previous))
        if written.nothing_missing:
            break
        asked = frozenset(terms(written.query))
        assert asked not in [frozenset(terms(q)) for q in previous]
        previous.append(written.query)
    assert written.nothing_missing
    assert written.query == ""
    assert len(previous) > 3


def test_an_entity_that_was_asked_for_is_passed_over():
    first = write_query(case(FILM, OTHER), (QUESTION,))
    second = write_query(case(FILM, OTHER), (QUESTION, first.query))
    assert second.bridge != first.bridge


def test_without_evidence_the_question_is_asked_in_other_words():
    written = write_query(case(), (QUESTION,))
    assert written.bridge is None
    assert written.query
    assert frozenset(terms(written.query)) != frozenset(terms(QUESTION))


def test_a_rewrite_keeps_names_and_drops_what_asks():
    rewritten = rewrite(case(FILM, OTHER), (QUESTION,))
    assert rewritten.transformation == "key words"
    assert {"Marsh", "Grey", "Harbour", "spouse"} <= set(rewritten.query.split())
    assert not {"who", "is", "the", "of"} & set(rewritten.query.lower().split())


def test_the_second_rewrite_adds_related_words():
    first = rewrite(case(FILM, OTHER), (QUESTION,))
    second = rewrite(case(FILM, OTHER), (QUESTION, first.query))
    assert second.transformation == "synonyms"
    assert "married" in second.query.split()
    assert "Grey Harbour" in second.query


def test_rewrites_end_too():
    previous = [QUESTION]
    for _ in range(10):
        rewritten = rewrite(case(FILM), tuple(previous))
        if rewritten.nothing_missing:
            break
        previous.append(rewritten.query)
    assert rewritten.nothing_missing
    assert rewritten.transformation == "none"


def test_a_plain_question_needs_no_second_passage():
    held = case(ACTOR, question="Who wed Oda Lind?")
    assert covers(held)
    assert not covers(case(OTHER, question="Who wed Oda Lind?"))


@pytest.mark.parametrize("question", ["", "?", "who", "\x00", "a " * 3_000])
def test_any_question_gets_a_reply(question):
    for passages in ((), (FILM, OTHER)):
        held = case(*passages, question=question)
        assert write_query(held, ()).query is not None
        assert rewrite(held, ()).query is not None


@pytest.mark.parametrize(("enough", "nothing_missing"), [(0.0, True), (1.1, False)])
def test_a_query_is_not_reworded_where_support_is_high(monkeypatch, enough, nothing_missing):
    monkeypatch.setattr(queries, "ENOUGH_SUPPORT", enough)
    rewritten = rewrite(case(FILM, OTHER), (QUESTION,))
    assert rewritten.nothing_missing is nothing_missing
    assert bool(rewritten.query) is not nothing_missing
