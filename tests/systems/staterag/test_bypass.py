"""The compact-evidence rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions import Decision, Undetermined
from core.systems.staterag.bypass import (
    BYPASS,
    BypassInputs,
    Candidate,
    bypass_inputs,
    clauses_of,
    names_of,
)
from core.systems.staterag.settings import StateRAGSettings
from core.types import Scored
from tests.core.world import passage


def inputs(
    *passages: tuple[str, float, tuple[int, ...]],
    region: str | None = "ab",
    linked: bool = True,
    clauses: int = 1,
    asked: bool = False,
    weights: tuple[float, ...] | None = (1.0, 1.0, 1.0, 1.0),
) -> BypassInputs:
    """Four words, of which the first is a name; with ``linked``, all passages belong together."""
    places = range(len(passages))
    return BypassInputs(
        words=("w0", "w1", "w2", "w3"),
        weights=weights,
        names=("Ada",),
        clauses=clauses,
        passages=tuple(
            Candidate(
                id=i,
                likeness=likeness,
                words=words,
                names=(0,) if 0 in words else (),
                asked=asked,
                linked=tuple(m for m in places if m != n) if linked else (),
            )
            for n, (i, likeness, words) in enumerate(passages)
        ),
        region=None if region is None else tuple(region),
    )


ALL = (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("given_", "settings", "outcome"),
    [
        (inputs(("a", 0.9, ALL), ("b", 0.3, (1,))), {}, "BYPASS a"),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2, 3))), {}, "BYPASS a,b"),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2, 3)), region="a"), {}, "MARS"),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2, 3)), linked=False), {}, "MARS"),
        (inputs(("a", 0.9, ALL), ("b", 0.3, (1,)), clauses=2), {}, "BYPASS a,b"),
        (inputs(("a", 0.9, ALL), ("b", 0.3, (1,)), clauses=2, linked=False), {}, "MARS"),
        (inputs(("a", 0.9, ALL), ("b", 0.3, (1,)), clauses=3), {}, "MARS"),
        (inputs(("a", 0.9, ALL), ("b", 0.3, (1,)), asked=True), {}, "BYPASS a,b"),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2,)), weights=(1, 1, 1, 9)), {}, "MARS"),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2,)), weights=(1, 9, 1, 1)), {}, "BYPASS a,b"),
        (
            inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2,)), ("c", 0.2, (3,)), region="abc"),
            {},
            "BYPASS a,b",
        ),
        (
            inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2,)), ("c", 0.2, (3,)), region="abc"),
            {"bypass_most": 3},
            "BYPASS a,b,c",
        ),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2, 3))), {"bypass_rule": "single"}, "MARS"),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2, 3))), {"bypass_most": 1}, "MARS"),
        (inputs(("a", 0.9, ALL)), {"bypass_rule": "off"}, "MARS"),
        (inputs(("a", 0.5, ALL), ("b", 0.48, ALL)), {}, "MARS"),
        (inputs(("a", 0.9, (1, 2, 3))), {"bypass_single": 0.5}, "MARS"),
        (inputs(("a", 0.9, (0, 1, 2))), {}, "MARS"),
        (inputs(("a", 0.9, (0, 1, 2))), {"bypass_single": 0.75}, "BYPASS a"),
        (inputs(weights=None), {"bypass_coverage": 0.0, "bypass_margin": -1.0}, "MARS"),
    ],
    ids=[
        "one passage holds all",
        "two of a region hold all together",
        "the second is of another region",
        "the second has nothing to do with the first",
        "two clauses take two passages",
        "two clauses are not answered by one passage",
        "a clause more than passages",
        "the question names the other as well",
        "the word that is missing is rare",
        "the word that is missing is common",
        "a third would be too many",
        "a third holds what is missing",
        "one passage only",
        "at most one",
        "off",
        "another is as near",
        "a name is missing",
        "a word is missing",
        "fewer words are enough",
        "nothing was found",
    ],
)
def test_the_rule(given_: BypassInputs, settings: dict[str, object], outcome: str) -> None:
    decided = BYPASS.decide(given_, StateRAGSettings(**settings))  # type: ignore[arg-type]
    assert isinstance(decided, Decision)
    assert decided.outcome == outcome


def test_a_region_that_was_not_fetched_leaves_the_rule_open() -> None:
    held = inputs(("a", 0.9, ALL), region=None)
    assert isinstance(BYPASS.decide(held, StateRAGSettings()), Undetermined)
    single = BYPASS.decide(held, StateRAGSettings(bypass_rule="single"))
    assert isinstance(single, Decision)


def test_what_earlier_runs_did_not_record_leaves_the_rule_open() -> None:
    old = inputs(("a", 0.9, ALL)).model_dump(mode="json")
    without_weights = {k: v for k, v in old.items() if k != "weights"}
    without_links = {**old, "passages": [{**p, "linked": None} for p in old["passages"]]}
    for recorded in (without_weights, without_links):
        read = BypassInputs.model_validate(recorded)
        assert isinstance(BYPASS.decide(read, StateRAGSettings()), Undetermined)


def hits(*titled: tuple[str, str]) -> list[Scored]:
    return [
        Scored(passage=passage(title, text), score=1.0, calibrated=0.5, rank=n)
        for n, (title, text) in enumerate(titled, 1)
    ]


def test_passages_belong_together_by_a_mention_or_where_the_question_names_both() -> None:
    found = hits(
        ("Moon (film)", "It was directed by Duncan Jones."),
        ("Duncan Jones", "He is a son of a singer."),
        ("Elf (film)", "It was directed by Jon Favreau."),
        ("Elf (film)", "It earned much."),
    )
    mentioned = bypass_inputs("Who is the father of the director of Moon?", found, ())
    assert [p.linked for p in mentioned.passages] == [(1,), (0,), (), ()]
    compared = bypass_inputs("Which is older, Elf or Moon?", found, ())
    assert [p.linked for p in compared.passages] == [(1, 2, 3), (0,), (0,), (0,)]
    assert [p.asked for p in compared.passages] == [True, False, True, True]


@given(
    st.text(max_size=80),
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=60)), max_size=4),
)
def test_what_belongs_together_does_so_both_ways(
    question: str, texts: list[tuple[str, str]]
) -> None:
    passages = bypass_inputs(question, hits(*texts), ()).passages
    pairs = {(n, m) for n, p in enumerate(passages) for m in p.linked or ()}
    assert pairs == {(m, n) for n, m in pairs}
    assert all(n != m for n, m in pairs)


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        ("Who directed Moon?", 1),
        ("Who is the father of the man who directed Moon?", 2),
        ("In which city was the person who scored it born?", 2),
        ("Moon is directed by a man whose father is whom?", 2),
        ("Did the same person compose both scores?", 1),
        ("", 1),
    ],
)
def test_clauses_of_a_question(question: str, clauses: int) -> None:
    assert clauses_of(question) == clauses


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who plays the Dude in The Big Lebowski?", ["Dude", "The Big Lebowski"]),
        ("Were Michael Caine and Russell Crowe born there?", ["Michael Caine", "Russell Crowe"]),
        ("The woman who made it has a husband. Which group?", []),
        ("Iron Man was scored by whom?", ["Iron Man"]),
        ("who played the nurse on andy griffith", []),
        ("Who did the voice of HAL 9000?", ["HAL 9000"]),
        ("", []),
        ("...?!", []),
    ],
)
def test_names_of_a_question(question: str, names: list[str]) -> None:
    assert [n.name for n in names_of(question)] == names


@given(st.text(max_size=200))
def test_names_are_parts_of_the_question(question: str) -> None:
    for need in names_of(question):
        assert need.name in question
        assert need.terms
