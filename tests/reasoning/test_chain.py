import pytest

from core.reasoning.extractive.case import Case
from core.reasoning.extractive.chain import MAX_PASSAGES, Chain, best_chain
from core.reasoning.extractive.features import build_scene
from core.reasoning.extractive.unhelpful import unhelpful
from tests.reasoning.bag_view import passage, view_of

FILM = passage(
    "Grey Harbour (film)",
    "Grey Harbour is a crime film. Oda Lind plays the pilot Marsh in Grey Harbour.",
)
ACTOR = passage("Oda Lind", "Oda Lind was raised in Visby. She wed the painter Per Holm in 1999.")
PAINTER = passage("Per Holm", "Per Holm paints harbours in oil. His studio is in Malmo.")
OTHER = passage("Cheese", "Cheese is made from milk in many lands. Some of it is blue.")
QUESTION = "Who is the spouse of the actor who plays Marsh in Grey Harbour?"
VIEW = view_of(FILM, ACTOR, PAINTER, OTHER)


def case(question, *passages):
    return Case(build_scene(question, passages, VIEW))


def test_the_chain_goes_over_the_linking_name_and_relation_words_count():
    chain = case(QUESTION, OTHER, FILM, ACTOR).chain
    assert chain.passages == (1, 2)
    assert [(link.source, link.target, link.name) for link in chain.links] == [(1, 2, "Oda Lind")]
    assert dict(chain.stated)["spous"] == pytest.approx(0.8)
    alone = case(QUESTION, OTHER, FILM).chain
    assert alone.passages == (1,)
    assert "spous" not in alone.covered
    assert chain.coverage > alone.coverage
    assert chain.score > alone.score


def test_a_shared_name_that_is_no_title_links_too():
    one = passage("Harbour list", "The harbours of the coast are kept by Elmer Quist today.")
    two = passage("Pilots", "Elmer Quist was a pilot before he kept the tide tables of Visby.")
    view = view_of(one, two)
    question = "Which pilot keeps the harbours of the coast and the tide tables?"
    chain = best_chain(build_scene(question, (one, two), view))
    assert len(chain.passages) == 2
    assert chain.links[0].name == "Elmer Quist"
    assert chain.links[0].titled == ""


def test_no_passage_and_no_sentence():
    assert best_chain(build_scene(QUESTION, (), VIEW)) == Chain()
    assert best_chain(build_scene(QUESTION, (passage("Empty", "   "),), VIEW)) == Chain()


def test_bounds_and_determinism():
    passages = [
        passage(f"Stone {i}", f"Stone {i} lies by Stone {i + 1} on the grey harbour wall.")
        for i in range(8)
    ]
    view = view_of(*passages)
    chains = [best_chain(build_scene(QUESTION, passages, view)) for _ in range(2)]
    assert chains[0] == chains[1]
    assert 1 <= len(chains[0].passages) <= MAX_PASSAGES
    assert len(set(chains[0].passages)) == len(chains[0].passages)
    assert 0 <= chains[0].coverage <= 1


def test_only_what_leads_nowhere_is_unhelpful():
    held = case(QUESTION, OTHER, FILM, ACTOR, PAINTER)
    assert unhelpful(held.weave, held.chain, ()) == [0]
    assert unhelpful(held.weave, held.chain, {0}) == []


def test_a_passage_with_words_of_its_own_is_kept():
    # "milk" is asked for and said by this passage alone
    held = case(f"{QUESTION} And what is made from milk?", OTHER, FILM, ACTOR)
    assert unhelpful(held.weave, held.chain, ()) == []


def test_a_lone_passage_is_never_dropped():
    held = case(QUESTION, OTHER)
    assert unhelpful(held.weave, held.chain, ()) == []
