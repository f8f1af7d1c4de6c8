import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import TaskUnsupported
from core.reasoning.extractive import bridge
from core.reasoning.extractive.logistic import models
from core.reasoning.extractive.reasoner import HANDLERS, ExtractiveReasoner
from core.reasoning.extractive.relevance import passage_signals
from core.reasoning.extractive.signals import signals
from core.retrieval.textview import CorpusTextView
from core.tasks import (
    ANSWER,
    DECOMPOSE,
    EXTRACT_FACTS,
    HOP_ANSWER,
    PLAN,
    REWRITE,
    TASKS,
    VERIFY,
    WRITE_QUERY,
    Allowance,
    AnswerRequest,
    DecomposeRequest,
    FactsRequest,
    HopRequest,
    PlanRequest,
    Request,
    RewriteRequest,
    Task,
    VerifyRequest,
    WriteQueryRequest,
)
from tests.reasoning.bag_view import WordTokens, bag_vectors, passage

FILM = passage(
    "Grey Harbour (film)",
    "Grey Harbour is a crime film of 1998. Oda Lind plays the pilot Marsh in Grey Harbour.",
)
ACTOR = passage("Oda Lind", "Oda Lind was raised in Visby. Oda Lind wed Per Holm in 1999.")
OTHER = passage("Cheese", "Cheese is made from milk in many lands. Some of it is blue.")
QUESTION = "Who is the spouse of the actor who plays Marsh in Grey Harbour?"
BLANK = passage("Blank", " \n ")


def reasoner(*extra, encode=bag_vectors):
    return ExtractiveReasoner(CorpusTextView((FILM, ACTOR, OTHER, *extra), encode), WordTokens())


def verify(*passages, question=QUESTION, made=None):
    request = VerifyRequest(question=question, passages=passages)
    return (made or reasoner()).perform(VERIFY, request, Allowance()).value


def test_identity_and_tokens():
    made = reasoner()
    assert (made.name, made.model) == ("extractive", None)
    request = VerifyRequest(question="one two three", passages=(FILM,), draft="four")
    words = len(f"one two three {FILM.title} {FILM.text} {FILM.document} four".split())
    assert made.tokens_in(VERIFY, request) <= words
    assert made.tokens_in(VERIFY, request) == sum(len(t.split()) for t in request.texts())


def test_more_of_the_chain_is_more_support_and_less_gap():
    nothing, off = verify(), verify(OTHER)
    half, whole = verify(FILM, OTHER), verify(FILM, ACTOR)
    assert (nothing.support, nothing.conflict) == (0, 0)
    assert (nothing.uncertainty, nothing.gap) == (1, 1)
    assert off.support < half.support < whole.support
    assert off.gap > half.gap > whole.gap
    assert half.uncertainty > whole.uncertainty
    assert "spouse" in half.missing
    assert "spouse" not in whole.missing
    assert {"Marsh", "Grey Harbour"} <= set(off.missing)


def test_blank_passages_are_no_evidence():
    said = verify(BLANK)
    assert (said.support, said.gap, said.uncertainty) == (0, 1, 1)
    assert said.unhelpful == ()


def test_what_leads_nowhere_is_flagged_by_its_id():
    said = verify(FILM, ACTOR, OTHER)
    assert said.unhelpful == (OTHER.id,)


def test_a_contradiction_names_both_passages_and_keeps_them():
    lie = passage("Oda Lind", ACTOR.text.replace("1999", "2003"))
    said = verify(FILM, ACTOR, lie, question="When did Oda Lind of Grey Harbour wed Per Holm?")
    assert said.conflict >= 0.9
    assert set(said.conflicting) == {ACTOR.id, lie.id}
    assert not set(said.conflicting) & set(said.unhelpful)
    assert any("1999" in m and "2003" in m for m in said.missing)
    assert verify(FILM, ACTOR).conflict == 0


def test_write_query_then_answer():
    made = reasoner()
    request = WriteQueryRequest(question=QUESTION, passages=(FILM, OTHER), previous=(QUESTION,))
    written = made.perform(WRITE_QUERY, request, Allowance()).value
    assert written.bridge == "Oda Lind"
    rewritten = made.perform(
        REWRITE,
        RewriteRequest(question=QUESTION, passages=(FILM,), previous=(QUESTION,)),
        Allowance(),
    ).value
    assert rewritten.query
    assert rewritten.query != QUESTION
    answered = made.perform(
        ANSWER, AnswerRequest(question=QUESTION, passages=(FILM, ACTOR)), Allowance()
    ).value
    assert answered.answer
    for support in answered.supports:
        held = {FILM.id: FILM, ACTOR.id: ACTOR}[support.passage_id]
        assert 0 <= support.start < support.end <= len(held.text)


def test_no_passages_no_answer():
    request = AnswerRequest(question=QUESTION, passages=())
    answered = reasoner().perform(ANSWER, request, Allowance()).value
    assert answered.answer == ""
    assert answered.confidence == 0


def test_verifying_and_then_answering_costs_once():
    asked: list[str] = []

    def counting(texts):
        asked.extend(texts)
        return bag_vectors(texts)

    made = reasoner(encode=counting)
    verify(FILM, ACTOR, made=made)
    before = len(asked)
    assert before
    assert made.case(QUESTION, (FILM, ACTOR)) is made.case(QUESTION, (FILM, ACTOR))
    made.perform(ANSWER, AnswerRequest(question=QUESTION, passages=(FILM, ACTOR)), Allowance())
    assert len(asked) == before
    assert made.case(QUESTION, (FILM,)) is not made.case(QUESTION, (FILM, ACTOR))


def test_cases_are_bounded():
    made = reasoner()
    first = made.case("first question?", (FILM,))
    for n in range(100):
        made.case(f"question number {n}?", (FILM,))
    assert made.case("first question?", (FILM,)) is not first


def test_the_same_request_gives_the_same_reply():
    assert verify(FILM, ACTOR, OTHER) == verify(FILM, ACTOR, OTHER)


def test_decompose():
    reply = reasoner().perform(DECOMPOSE, DecomposeRequest(question=QUESTION), Allowance()).value
    assert reply.sub_questions[-1] == "Who is the spouse of #1?"


def test_a_task_without_rules_says_what_to_do():
    task = Task("compare_poems", Request, VERIFY.reply, 10)
    with pytest.raises(TaskUnsupported, match="language model"):
        reasoner().perform(task, Request(), Allowance())


def test_handlers_are_known_tasks():
    assert set(HANDLERS) <= set(TASKS)


TEXTS = st.text(max_size=80)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=4), st.lists(TEXTS, max_size=3))
def test_any_text_is_fine(question, held, previous):
    passages = tuple(
        p.model_copy(update={"id": f"{n}-{p.id}"})
        for n, p in enumerate(passage(title, text) for title, text in held)
    )
    made = reasoner(*passages)
    said = verify(*passages, question=question, made=made)
    assert set(said.unhelpful) < {p.id for p in passages} or not passages
    written = made.perform(
        WRITE_QUERY,
        WriteQueryRequest(question=question, passages=passages, previous=tuple(previous)),
        Allowance(),
    ).value
    assert written.nothing_missing or written.query not in previous


@pytest.mark.parametrize("word", ["Lind", "x1!", "港", "#1"])
def test_a_plan_for_a_question_of_any_length_is_within_its_limit(word):
    class Characters:
        def count(self, text):
            return len(text)

    made = ExtractiveReasoner(CorpusTextView((FILM, ACTOR), bag_vectors), Characters())
    question = " ".join([QUESTION, *[word] * 700])[:4_000]
    reply = made.perform(PLAN, PlanRequest(question=question, note="x " * 300), Allowance()).value
    assert sum(len(text) for text in reply.texts()) <= PLAN.max_tokens_out
    assert reply.objective.strip()
    assert all(fact.strip() for fact in reply.required_facts)


@pytest.mark.parametrize(
    "long", ["A" * 20_000, "Ab1" * 5_000, "港" * 5_000, f'"{"quote " * 2_000}"']
)
def test_encoded_data_in_a_passage_is_no_answer(long):
    held = (passage("Blob", f"Marsh is {long}. Oda Lind wed {long} in 1999."), ACTOR)
    made = reasoner(*held[:1])
    for task, request in (
        (ANSWER, AnswerRequest(question=QUESTION, passages=held)),
        (VERIFY, VerifyRequest(question=QUESTION, passages=held)),
        (WRITE_QUERY, WriteQueryRequest(question=QUESTION, passages=held)),
        (EXTRACT_FACTS, FactsRequest(question=QUESTION, passages=held)),
        (HOP_ANSWER, HopRequest(question=QUESTION, passages=held)),
    ):
        reply = made.perform(task, request, Allowance()).value
        assert all(len(text) <= 1_000 for text in reply.texts())


def test_fitted_weights_are_of_the_signals_that_there_are():
    case = reasoner().case(QUESTION, (FILM, ACTOR))
    for model in models("verify").values():
        assert set(model.weights) <= set(signals(case))
    for told in passage_signals(case):
        assert set(models("relevance")["passage"].weights) == set(told)
    for _, features in bridge.mentions(case):
        assert set(features) == set(bridge.weights())
