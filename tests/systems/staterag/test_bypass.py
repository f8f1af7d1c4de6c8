"""The compact-evidence rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions import Decision, Undetermined
from core.systems.staterag.bypass import BYPASS, BypassInputs, Candidate, names_of
from core.systems.staterag.settings import StateRAGSettings


def inputs(*passages: tuple[str, float, tuple[int, ...]], region: str | None = "ab") -> object:
    return BypassInputs(
        words=("w0", "w1", "w2", "w3"),
        names=("Ada",),
        passages=tuple(
            Candidate(id=i, likeness=likeness, words=words, names=(0,) if 0 in words else ())
            for i, likeness, words in passages
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
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2, 3))), {"bypass_rule": "single"}, "MARS"),
        (inputs(("a", 0.9, (0, 1)), ("b", 0.3, (2, 3))), {"bypass_most": 1}, "MARS"),
        (inputs(("a", 0.9, ALL)), {"bypass_rule": "off"}, "MARS"),
        (inputs(("a", 0.5, ALL), ("b", 0.48, ALL)), {}, "MARS"),
        (inputs(("a", 0.9, (1, 2, 3))), {"bypass_single": 0.5}, "MARS"),
        (inputs(("a", 0.9, (0, 1, 2))), {}, "MARS"),
        (inputs(("a", 0.9, (0, 1, 2))), {"bypass_single": 0.75}, "BYPASS a"),
        (inputs(), {"bypass_coverage": 0.0, "bypass_margin": -1.0}, "MARS"),
    ],
    ids=[
        "one passage holds all",
        "two of a region hold all together",
        "the second is of another region",
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
    assert isinstance(held, BypassInputs)
    assert isinstance(BYPASS.decide(held, StateRAGSettings()), Undetermined)
    single = BYPASS.decide(held, StateRAGSettings(bypass_rule="single"))
    assert isinstance(single, Decision)


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
