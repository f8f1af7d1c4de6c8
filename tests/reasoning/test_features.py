import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.reasoning.extractive.features import build_scene, capitalised_spans
from core.retrieval.tokenizer import tokenize
from tests.reasoning.bag_view import passage, view_of

FILM = passage("Long River", "Long River is a film by Victor Hallam. It was shot in Broome.")
MAN = passage("Victor Hallam", "Victor Hallam was a director. He made Long River.")
LAKE = passage("Ash Lake", "Ash Lake lies in Ohio.")
EVERYTHING = (FILM, MAN, LAKE)


def scene(question, *passages):
    return build_scene(question, passages or EVERYTHING, view_of(*EVERYTHING))


def names(text):
    return [text[s.start : s.end] for s in capitalised_spans(text, tokenize(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Bank of Elk Hill closed.", ["Bank of Elk Hill"]),
        ("He met Peter Vale Jr. and Dr. Ann Low.", ["Peter Vale Jr. and Dr. Ann Low"]),
        ("In 1990 Oda, Inc. closed.", ["Oda", "Inc."]),
        ("During May he left.", ["May"]),
        ("no names here", []),
        ("Она видела Ивана Орлова.", ["Ивана Орлова"]),
    ],
)
def test_capitalised_spans(text, found):
    assert names(text) == found


def test_a_sentence_scores_its_cosine_and_half_its_coverage():
    for s in scene("Where was Long River shot?").sentences:
        assert s.s == pytest.approx(s.emb + 0.5 * s.cov)
        assert 0.0 <= s.cov_alone <= s.cov <= 1.0
        assert -1.0001 <= s.emb <= 1.0001


def test_coverage_counts_the_title():
    shot = scene("Where was Long River shot?").passages[0].sentences[1]
    assert shot.cov == pytest.approx(1.0)
    assert shot.cov_alone < 1.0


def test_passages_are_compared_with_the_best():
    found = scene("Where was Long River shot?").passages
    assert max(p.p_rel for p in found) == 0.0
    assert found[0].p_rel == 0.0
    assert found[2].p_rel < 0.0
    assert found[0].title_share == pytest.approx(1.0)
    assert found[2].title_share == 0.0


def test_titles_link_passages_either_way():
    found = scene("Who made it?")
    assert set(found.mentions[0]) == {1}
    start, end = found.mentions[0][1][0]
    assert FILM.text[start:end] == "Victor Hallam"
    assert found.linked == (frozenset({1}), frozenset({0}), frozenset())


def test_rows_of_sentences_are_rows_of_vectors():
    found = scene("Who made it?")
    assert [s.row for s in found.sentences] == list(range(len(found.vectors)))


def test_asking_another_question_shares_the_passages_and_changes_the_scores():
    first = scene("Where was Long River shot?")
    second = first.asking("Where does Ash Lake lie?")
    fresh = scene("Where does Ash Lake lie?")
    assert second.vectors is first.vectors
    assert [s.s for s in second.sentences] == [s.s for s in fresh.sentences]


@settings(max_examples=60)
@given(question=st.text(max_size=60), text=st.text(max_size=120))
def test_any_text_makes_a_scene(question, text):
    given_ = passage("T", text)
    found = build_scene(question, (given_, given_), view_of(given_))
    assert len(found.passages) == 2
    for s in found.sentences:
        assert 0 <= s.start < s.end <= len(text)
    assert found.mentions == ({}, {})
