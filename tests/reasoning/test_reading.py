import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reasoning.extractive.features import build_scene
from core.reasoning.extractive.question import analyse
from core.reasoning.extractive.reading import answer, read
from core.reasoning.extractive.rules import rule
from core.tasks import AnswerRequest
from tests.reasoning.bag_view import passage, view_of

ORMOND = passage(
    "Clara Ormond",
    "Clara Ormond (born 12 March 1961) is a Scottish painter and teacher. She married the drummer "
    "Peter Vale in 1988. She lives in Dundee.",
)
HALLAM = passage(
    "Victor Hallam",
    "Victor Hallam (4 May 1947 – 9 June 2011) was an Australian film director. He was married to "
    "the actress Nora Quill.",
)
RIVER = passage(
    "The Long River (film)",
    "The Long River is a 1984 drama film directed by Victor Hallam and written by Ada Stone. It "
    "was shot in Broome, Western Australia, and sold 2.4 million tickets.",
)
TOWER = passage(
    "Kessel Tower",
    "Kessel Tower is an office tower in Leipzig. It was completed in 1972 and is 142 metres tall.",
)
LOCAL = passage(
    "Oda",
    'The song is known as "Night Ferry" in English. It was first recorded by Ingrid Løvås in 1979.',
)
OWL = passage("Ösel", "Город основал Иван Петрович Кузнецов. The mayor of Ösel is Владимир Орлов.")
EVERYTHING = (ORMOND, HALLAM, RIVER, TOWER, LOCAL, OWL)


def ask(question, *passages):
    return answer(AnswerRequest(question=question, passages=passages), view_of(*EVERYTHING))


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("Who is the spouse of Clara Ormond?", (ORMOND,), "Peter Vale"),
        ("Who was Victor Hallam married to?", (HALLAM, TOWER), "Nora Quill"),
        ("In what year was Clara Ormond born?", (ORMOND,), "1961"),
        ("When was Kessel Tower completed?", (TOWER, ORMOND), "1972"),
        ("How tall is Kessel Tower?", (TOWER, RIVER), "142 metres"),
        ("Who directed The Long River?", (RIVER, TOWER), "Victor Hallam"),
        ("Who wrote The Long River?", (RIVER, ORMOND), "Ada Stone"),
        ("In which city is Kessel Tower?", (TOWER,), "Leipzig"),
        ("Who is the spouse of the director of The Long River?", (RIVER, HALLAM), "Nora Quill"),
        ("What is the song known as in English?", (LOCAL,), "Night Ferry"),
        ("who first recorded the song oda", (LOCAL, TOWER), "Ingrid Løvås"),
        ("Who is the mayor of Ösel?", (OWL, TOWER), "Владимир Орлов"),
        ("Which film was shot in Broome?", (RIVER, TOWER), "The Long River"),
    ],
)
def test_answers_are_read_from_the_passages(question, passages, expected):
    assert ask(question, *passages).answer == expected


def test_the_answer_does_not_depend_on_the_order_of_the_passages():
    question = "Who is the spouse of the director of The Long River?"
    assert ask(question, *EVERYTHING).answer == ask(question, *reversed(EVERYTHING)).answer


def test_supports_of_a_span_answer_reproduce_it():
    reading = ask("Who directed The Long River?", RIVER, TOWER)
    assert reading.supports
    for support in reading.supports:
        assert support.passage_id == RIVER.id
        assert RIVER.text[support.start : support.end] == reading.answer


def test_a_title_answer_is_supported_by_the_sentence_that_was_read():
    reading = ask("Which film was shot in Broome?", RIVER)
    first = reading.supports[0]
    assert RIVER.text[first.start : first.end]
    assert reading.answer == "The Long River"


def test_variants_are_merged_and_probabilities_are_a_distribution():
    scene = build_scene("Who directed The Long River?", EVERYTHING, view_of(*EVERYTHING))
    ranked = read(scene)
    probabilities = [a.probability for a in ranked.answers]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0.0 < sum(probabilities) <= 1.0 + 1e-6
    assert ranked.p1 == pytest.approx(probabilities[0])
    assert ranked.best == ranked.answers[0]
    assert ranked.entropy > 0
    assert len({a.text.casefold() for a in ranked.answers}) == len(ranked.answers)


def test_hops_are_told_as_they_were_filled():
    question = "Who is the spouse of the director of The Long River?"
    ranked = read(build_scene(question, (RIVER, HALLAM), view_of(*EVERYTHING)))
    assert ranked.hops[-1] == "Who is the spouse of Victor Hallam?"


def test_the_same_question_gives_the_same_reading():
    first = ask("When was Kessel Tower completed?", *EVERYTHING)
    assert ask("When was Kessel Tower completed?", *EVERYTHING) == first


@pytest.mark.parametrize("texts", [(), ("",), ("   ",), ("", "")])
def test_nothing_to_read_gives_an_empty_answer(texts):
    passages = tuple(passage("", text) for text in texts)
    reading = ask("Who directed The Long River?", *passages)
    assert (reading.answer, reading.supports, reading.confidence) == ("", (), 0.0)


# --- rules ----------------------------------------------------------------------------------

OLD = passage("Tern Players", "Tern Players is a folk band from Cork, formed in 1974.")
NEW = passage("Slate Parade", "Slate Parade is a Welsh rock band. The band was formed in 1991.")
BIG = passage("Ash Lake", "Ash Lake is a lake in Ohio. It has an area of 1,900 acres.")
SMALL = passage("Birch Lake", "Birch Lake is a lake in Ohio. It has an area of 320 acres.")
ELDER = passage("Paul Sorrel", "Paul Sorrel (born 2 June 1940) is an Irish film director.")
YOUNGER = passage("Mia Brandt", "Mia Brandt (born 9 May 1971) is a German novelist.")
SHORT_LIFE = passage("Otto Kern", "Otto Kern (1 March 1930 – 8 May 1961) was a painter.")
LOCAL_MAN = passage("Jan Peer", "Jan Peer (born 1950) was a painter from Germany.")


def ruled(question, *passages):
    found = (*EVERYTHING, OLD, NEW, BIG, SMALL, ELDER, YOUNGER, LOCAL_MAN, SHORT_LIFE)
    scene = build_scene(question, passages, view_of(*found))
    return rule(scene, analyse(question))


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("Which band was formed first, Tern Players or Slate Parade?", (NEW, OLD), "Tern Players"),
        ("Which band was formed later, Slate Parade or Tern Players?", (NEW, OLD), "Slate Parade"),
        ("Who is older, Paul Sorrel or Mia Brandt?", (YOUNGER, ELDER), "Paul Sorrel"),
        ("Who is younger, Paul Sorrel or Mia Brandt?", (YOUNGER, ELDER), "Mia Brandt"),
        ("which lake has a larger area, ash lake or birch lake", (BIG, SMALL), "Ash Lake"),
        ("Which lake has a smaller area, Ash Lake or Birch Lake?", (BIG, SMALL), "Birch Lake"),
        ("Who is a novelist, Paul Sorrel or Mia Brandt?", (YOUNGER, ELDER), "Mia Brandt"),
        ("Are Paul Sorrel and Mia Brandt of the same nationality?", (ELDER, YOUNGER), "no"),
        ("Are Jan Peer and Mia Brandt of the same nationality?", (LOCAL_MAN, YOUNGER), "yes"),
        ("Are Ash Lake and Birch Lake in the same state?", (BIG, SMALL), "yes"),
        ("Was Slate Parade formed in the same decade as Tern Players?", (NEW, OLD), "no"),
        ("Are Tern Players and Slate Parade both a band?", (OLD, NEW), "yes"),
        ("Are Paul Sorrel and Mia Brandt both Irish film directors?", (ELDER, YOUNGER), "no"),
        ("Is Mia Brandt a French novelist?", (YOUNGER,), "no"),
        ("Between Ash Lake and Birch Lake, which has the larger area?", (SMALL, BIG), "Ash Lake"),
        ("Who lived longer, Victor Hallam or Otto Kern?", (HALLAM, SHORT_LIFE), "Victor Hallam"),
        (
            "What nationality do both Jan Peer and Mia Brandt share?",
            (LOCAL_MAN, YOUNGER),
            "Germany",
        ),
        (
            "What is the profession of both Jan Peer and Clara Ormond?",
            (LOCAL_MAN, ORMOND),
            "painter",
        ),
    ],
)
def test_rules_compare_what_the_passages_say(question, passages, expected):
    ruling = ruled(question, *passages)
    assert ruling is not None
    assert ruling.answer == expected
    for index, start, end in ruling.places:
        assert passages[index].text[start:end]


def test_a_comparison_cites_the_values_it_compared():
    ruling = ruled("Who is older, Paul Sorrel or Mia Brandt?", ELDER, YOUNGER)
    texts = [(ELDER, YOUNGER)[i].text[start:end] for i, start, end in ruling.places]
    assert texts == ["2 June 1940", "9 May 1971"]


@pytest.mark.parametrize(
    "question",
    [
        "Who directed the film that was shot in or around Broome?",
        "Which band was formed first, Gulls or Herons?",
        "Who directed The Long River?",
    ],
)
def test_no_rule_where_what_is_compared_is_not_found(question):
    found = ruled(question, RIVER, OLD)
    assert found is None or not found.answer


# --- laws -----------------------------------------------------------------------------------

WILD = st.one_of(st.text(max_size=60), st.text("AaΩж中あ한ا 0123.,;:()\"“”'’?!-–\n#", max_size=80))


@settings(max_examples=60)
@given(question=WILD, title=WILD, texts=st.lists(WILD, max_size=3))
def test_any_text_is_read_without_an_error(question, title, texts):
    passages = tuple(passage(title, text) for text in texts)
    view = view_of(*passages)
    reading = answer(AnswerRequest(question=question, passages=passages), view)
    assert 0.0 <= reading.confidence <= 1.0
    by_id = {p.id: p for p in passages}
    for support in reading.supports:
        assert 0 <= support.start <= support.end <= len(by_id[support.passage_id].text)


@settings(max_examples=30)
@given(
    subject=st.sampled_from(["Clara Ormond", "Victor Hallam", "Kessel Tower", "Oda"]),
    form=st.sampled_from(["Who is {} or what?", "Was {} in Ohio?", "{} is a", "when did {} open"]),
    n=st.integers(0, 6),
)
def test_an_answer_stands_in_a_passage_or_is_a_title_or_a_verdict(subject, form, n):
    reading = ask(form.format(subject), *EVERYTHING[:n])
    places = "\n".join(f"{p.title}\n{p.text}" for p in EVERYTHING[:n])
    assert reading.answer in (*("yes", "no", ""),) or reading.answer in places
