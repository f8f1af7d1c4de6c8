"""Other scripts: what rules over words can do there, and that they do not claim more."""

from __future__ import annotations

import pytest

from core.reasoning.extractive.question import analyse
from core.reasoning.extractive.reasoner import ExtractiveReasoner
from core.tasks import (
    ANSWER,
    CHECK_CLAIMS,
    DECOMPOSE,
    EXTRACT_FACTS,
    GRADE,
    PLAN,
    VERIFY,
    WRITE_QUERY,
    Allowance,
    AnswerRequest,
    ClaimsRequest,
    DecomposeRequest,
    FactsRequest,
    GradeRequest,
    PlanRequest,
    VerifyRequest,
    WriteQueryRequest,
)
from tests.reasoning.bag_view import WordTokens, passage, view_of

# question, what asks in it, (title, text) of the passage that answers and of another, a year in it
TEXTS = {
    "latin": (
        "Where was Antonín Dvořák born?",
        "Where",
        ("Antonín Dvořák", "The composer Antonín Dvořák was born in Nelahozeves in May 1841."),
        ("Bedřich Smetana", "The composer Bedřich Smetana was born in Litomyšl in 1824."),
        "1841",
    ),
    "czech": (
        "Kde se narodil Antonín Dvořák?",
        "Kde",
        ("Antonín Dvořák", "Antonín Dvořák byl skladatel. Narodil se roku 1841 v Nelahozevsi."),
        ("Bedřich Smetana", "Bedřich Smetana byl skladatel. Narodil se v Litomyšli."),
        "1841",
    ),
    "cyrillic": (
        "Где родился Антон Чехов?",
        "Где",
        ("Антон Чехов", "Антон Чехов — русский писатель. Он родился в 1860 году в Таганроге."),
        ("Иван Бунин", "Иван Бунин — русский писатель. Он родился в Воронеже."),
        "1860",
    ),
    "greek": (
        "Πού γεννήθηκε ο Νίκος Καζαντζάκης;",
        "Πού",
        ("Νίκος Καζαντζάκης", "Ο Νίκος Καζαντζάκης γεννήθηκε το 1883 στο Ηράκλειο της Κρήτης."),
        ("Γιώργος Σεφέρης", "Ο Γιώργος Σεφέρης γεννήθηκε στη Σμύρνη."),
        "1883",
    ),
    "chinese": (
        "鲁迅出生在哪里？",
        "哪里",
        ("鲁迅", "鲁迅是中国作家。鲁迅1881年出生于浙江绍兴。"),
        ("老舍", "老舍是中国作家。老舍出生于北京。"),
        "1881",
    ),
    "japanese": (
        "夏目漱石はどこで生まれましたか。",
        "どこ",
        ("夏目漱石", "夏目漱石は日本の小説家。1867年に江戸の牛込で生まれた。"),
        ("森鷗外", "森鷗外は日本の小説家。津和野で生まれた。"),
        "1867",
    ),
    "korean": (
        "윤동주는 어디에서 태어났습니까?",
        "어디",
        ("윤동주", "윤동주는 한국의 시인이다. 그는 1917년 명동촌에서 태어났다."),
        ("김소월", "김소월은 한국의 시인이다. 그는 구성에서 태어났다."),
        "1917",
    ),
}
UNSEGMENTED = ("chinese", "japanese", "korean")
SPACED = tuple(name for name in TEXTS if name not in UNSEGMENTED)
every = pytest.mark.parametrize("name", TEXTS)
spaced = pytest.mark.parametrize("name", SPACED)


def given(name):
    question, asks, *texts, year = TEXTS[name]
    passages = tuple(passage(*text) for text in texts)
    return question, asks, passages, year


def do(task, request, passages):
    made = ExtractiveReasoner(view_of(*passages), WordTokens())
    return made.perform(task, request, Allowance()).value


@every
def test_an_answer_stands_in_the_passage_about_what_is_asked(name):
    question, _, passages, _ = given(name)
    reading = do(ANSWER, AnswerRequest(question=question, passages=passages), passages)
    first = reading.supports[0]
    assert first.passage_id == passages[0].id
    assert reading.answer in passages[0].text
    assert passages[0].text[first.start : first.end]


@pytest.mark.parametrize(
    ("name", "question", "answer"),
    [
        ("latin", "Where was Antonín Dvořák born?", "Nelahozeves"),
        ("latin", "When was Antonin Dvorak born?", "May 1841"),
        ("czech", "Kdy se narodil Antonín Dvořák?", "1841"),
        ("cyrillic", "Когда родился Антон Чехов?", "1860"),
        ("greek", "Πότε γεννήθηκε ο Νίκος Καζαντζάκης;", "1883"),
    ],
)
def test_the_answer(name, question, answer):
    passages = given(name)[2]
    request = AnswerRequest(question=question, passages=passages)
    assert do(ANSWER, request, passages).answer == answer


@pytest.mark.parametrize("name", ["czech", "cyrillic", "greek", "chinese", "japanese", "korean"])
def test_words_that_ask_are_known(name):
    question, *_ = given(name)
    assert (analyse(question).wh, analyse(question).kind) == ("where", "place")


@every
def test_words_that_ask_are_neither_missing_nor_searched_for(name):
    question, asks, passages, _ = given(name)
    verified = do(VERIFY, VerifyRequest(question=question, passages=passages), passages)
    written = do(
        WRITE_QUERY,
        WriteQueryRequest(question=question, passages=passages, previous=(question,)),
        passages,
    )
    words = (*verified.missing, *written.query.split())
    assert asks.lower() not in {word.lower() for word in words}


@every
def test_a_query_is_made_of_words_not_of_pairs_of_characters(name):
    question, _, passages, _ = given(name)
    request = WriteQueryRequest(question=question, passages=passages, previous=(question,))
    query = do(WRITE_QUERY, request, passages).query
    assert len("".join(query.split())) <= len(question) + max(len(p.text) for p in passages) // 2
    pairs = [word for word in query.split() if len(word) == 2 and not word.isascii()]
    assert len(pairs) <= 3


@every
def test_the_passage_about_something_else_is_graded_lower(name):
    question, _, passages, _ = given(name)
    grades = do(GRADE, GradeRequest(question=question, passages=passages), passages)
    assert grades.passages[0].relevance > grades.passages[1].relevance


@every
def test_a_claim_in_the_passages_own_words_is_supported_and_another_is_not(name):
    question, _, passages, _ = given(name)
    other = passage("Kestrel", "Kestrels hover above the meadow.")
    request = ClaimsRequest(
        question=question, claims=(passages[0].text, other.text), passages=passages
    )
    verdicts = do(CHECK_CLAIMS, request, passages).verdicts
    assert [v.verdict for v in verdicts] == ["supported", "unsupported"]


@spaced
def test_another_year_in_a_like_sentence_is_a_conflict(name):
    question, _, passages, year = given(name)
    copy = passage(passages[0].title, passages[0].text.replace(year, str(int(year) + 4)))
    held = (*passages, copy)
    verified = do(VERIFY, VerifyRequest(question=question, passages=held), held)
    assert verified.conflict >= 0.9
    assert {passages[0].id, copy.id} == set(verified.conflicting)
    assert do(VERIFY, VerifyRequest(question=question, passages=passages), passages).conflict == 0


@every
def test_a_question_it_cannot_parse_stays_whole(name):
    question, _, passages, _ = given(name)
    assert do(DECOMPOSE, DecomposeRequest(question=question), passages).sub_questions == (question,)
    assert question in do(PLAN, PlanRequest(question=question), passages).objective


@pytest.mark.parametrize("name", UNSEGMENTED)
def test_without_blanks_between_words_it_says_that_it_is_unsure_and_states_no_facts(name):
    question, _, passages, _ = given(name)
    verified = do(VERIFY, VerifyRequest(question=question, passages=passages), passages)
    assert verified.uncertainty >= 0.6
    assert verified.support <= 0.6
    assert (
        do(EXTRACT_FACTS, FactsRequest(question=question, passages=passages), passages).facts == ()
    )
