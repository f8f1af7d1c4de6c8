import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reasoning.extractive.candidates import candidates
from core.reasoning.extractive.features import parse
from core.reasoning.extractive.kinds import name_kinds, title_kinds
from core.reasoning.extractive.quantities import number_value, quantities


def texts(text, title="Oda"):
    n = len(parse(title, text).sentences)
    return {c.text for i in range(n) for c in candidates(title, text, i)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She met the drummer Peter Vale Jr. in Cork.", {"Peter Vale Jr.", "Cork"}),
        ("It opened in Columbus, Ohio.", {"Columbus, Ohio", "Columbus", "Ohio"}),
        ('He sang "Night Ferry" twice.', {"Night Ferry", "twice"}),
        ("Born 3 May 1821, he left.", {"3 May 1821", "3 May", "1821"}),
        ("It is more than 142 metres tall.", {"142 metres", "142", "more than 142 metres"}),
        ("The Bank of Elk Hill closed.", {"Bank of Elk Hill"}),
        ("Ann Low, Bo Ray and Cy Dee sang.", {"Ann Low", "Ann Low, Bo Ray and Cy Dee"}),
        ("Bark has a corky outer layer.", {"corky outer layer", "outer layer", "layer"}),
        ("It ran in the late 19th century.", {"the late 19th century"}),
        ("Он видел Владимир Орлов.", {"Владимир Орлов"}),
    ],
)
def test_what_could_answer_is_a_candidate(text, expected):
    assert expected <= texts(text)


def test_the_title_is_a_candidate_without_its_bracket():
    assert "Oda" in texts("It was shot in Cork.", "Oda (film)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,900 acres", [("number", "acres", 1900.0), ("number", "", 1900.0)]),
        ("$3.5 million", [("number", "currency", 3.5e6)]),
        ("30.4%", [("number", "percent", 30.4)]),
        ("twenty-five years", [("number", "years", 25.0), ("number", "", 25.0)]),
        ("1500 people", [("number", "people", 1500.0), ("number", "", 1500.0)]),
        ("1990s", [("date", "decade", 1990.0), ("date", "year", 1990.0)]),
        ("300 BC", [("date", "year", None)]),
        ("the third", [("ordinal", "", None)]),
    ],
)
def test_quantities_have_a_unit_and_a_value(text, found):
    assert [(q.kind, q.unit, q.value) for q in quantities(text)] == found


@pytest.mark.parametrize(
    ("text", "value"),
    [("two hundred and six", 206.0), ("1,234.5", 1234.5), ("three million", 3e6), ("none", None)],
)
def test_number_words_are_read(text, value):
    assert number_value(text) == value


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("north carolina", "place"),
        ("university of oslo", "org"),
        ("dr clara ormond", "person"),
        ("peter vale", "person"),
        ("ash lake", "place"),
        ("norwegian", "nationality"),
        ("latin", "language"),
    ],
)
def test_kinds_of_names(name, kind):
    assert name_kinds(name)[kind] > 0


@pytest.mark.parametrize(
    ("title", "text", "kind"),
    [
        ("Ada Ray", "Ada Ray (born 1950) is an American film director and writer.", "person"),
        ("Night Ferry", "Night Ferry is a 1979 song by Oda.", "work"),
        ("Gull", "Gull is a town in the county of Cork.", "place"),
        ("Slate", "Slate were a Welsh rock band formed in 1991.", "org"),
    ],
)
def test_a_passage_says_what_its_title_is(title, text, kind):
    assert title_kinds(parse(title, text)) == {kind: 1.0}


@settings(max_examples=100)
@given(st.text(max_size=200))
def test_a_candidate_is_the_text_where_it_stands(text):
    for i in range(len(parse("Oda", text).sentences)):
        sentence = parse("Oda", text).sentences[i]
        for c in candidates("Oda", text, i):
            assert sentence.start <= c.start <= c.end <= len(text)
            if c.shape != "title":
                assert text[c.start : c.end] == c.text
