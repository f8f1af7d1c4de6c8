"""What a cycle proposes of its region, and what is admitted from several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decisions import Decision
from core.systems.staterag.decide import (
    ABSTAIN,
    ADMIT,
    SELECT,
    AbstainInputs,
    AdmitInputs,
    Gathered,
    Place,
    SelectInputs,
)
from core.systems.staterag.settings import StateRAGSettings

HITS = (("x", 1.4), ("a", 1.1), ("b", 0.9), ("c", 0.3), ("d", 0.2))


def proposed(inputs: SelectInputs, **settings: object) -> list[str]:
    decided = SELECT.decide(inputs, StateRAGSettings(**settings))  # type: ignore[arg-type]
    assert isinstance(decided, Decision)
    return decided.outcome.removeprefix("propose ").split(",")


@pytest.mark.parametrize(
    ("anchor", "earlier", "settings", "ids"),
    [
        ("a", (), {}, ["a", "x", "b"]),
        ("a", (), {"release_ratio": 0.7}, ["a", "x"]),
        ("a", (), {"release_least": 1, "release_ratio": 1.0}, ["a", "x"]),
        ("a", ("q",), {}, ["a", "x"]),
        ("x", ("q",), {}, ["x"]),
        ("a", ("c",), {}, ["c", "a", "x"]),
        ("a", ("c",), {"carry": False}, ["a", "x"]),
        ("a", ("c",), {"revision_most": 1}, ["c", "a"]),
        ("x", ("x", "a"), {}, ["x", "a", "b"]),
        ("x", ("x", "a", "b", "c", "d"), {}, ["x", "a", "b", "c", "d"]),
    ],
    ids=[
        "the anchor, the best other, and one that is near enough",
        "no third that is far behind",
        "the least is kept to",
        "a later cycle adds its anchor and what scores higher",
        "a later cycle adds its anchor alone",
        "what was evidence is carried over",
        "nothing is carried over",
        "one alone",
        "the best new one where the anchor was evidence",
        "nothing new",
    ],
)
def test_what_a_cycle_proposes(
    anchor: str, earlier: tuple[str, ...], settings: dict[str, object], ids: list[str]
) -> None:
    assert proposed(SelectInputs(anchor=anchor, hits=HITS, earlier=earlier), **settings) == ids


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1))
def test_one_cycle_in_which_an_answer_was_seen_is_enough(
    uncertainties: list[float], threshold: float
) -> None:
    decided = ABSTAIN.decide(
        AbstainInputs(uncertainties=tuple(uncertainties)),
        StateRAGSettings(abstain_uncertainty=threshold),
    )
    assert isinstance(decided, Decision)
    seen = any(u <= threshold for u in uncertainties)
    assert decided.outcome == ("answer" if seen else "abstain")


scores = st.floats(0, 2, allow_nan=False)


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), scores, min_size=1),
    st.sampled_from("abcdefgh"),
    st.lists(st.sampled_from("abcdefghq"), unique=True),
    st.integers(1, 8),
)
def test_a_proposal_lies_in_the_region_and_adds_what_is_new(
    found: dict[str, float], anchor: str, earlier: list[str], most: int
) -> None:
    hits = tuple(sorted(found.items(), key=lambda hit: (-hit[1], hit[0])))
    inputs = SelectInputs(anchor=anchor, hits=hits, earlier=tuple(earlier))
    ids = proposed(inputs, revision_most=most)
    assert set(ids) <= set(found)
    assert len(ids) == len(set(ids)) <= 8
    fresh = set(found) - set(earlier)
    if fresh:
        assert fresh & set(ids), "a region that holds something new gives some of it"
    if earlier:
        assert len(fresh & set(ids)) <= most


def gathered(evidence: str, region: str = "") -> Gathered:
    return Gathered(
        evidence=tuple(Place(id=i, document=i, start=0, end=1) for i in evidence),
        region=tuple(Place(id=i, document=i, start=0, end=1) for i in evidence + region),
    )


@pytest.mark.parametrize(
    ("branch", "settings", "ids"),
    [
        ("FALLBACK", {}, "dbaec"),
        ("FALLBACK", {"evidence_window": 3}, "dba"),
        ("RELEASE", {}, "db"),
        ("RELEASE", {"reader_fill": 4}, "dbae"),
        ("RELEASE", {"reader_fill": 6}, "dbaeci"),
        ("RELEASE", {"reader_fill": 9}, "dbaecirst"),
        ("RELEASE", {"reader_fill": 9, "evidence_window": 3}, "dba"),
    ],
)
def test_the_newest_cycle_comes_first_and_filling_takes_the_initial_before_regions(
    branch: str, settings: dict[str, object], ids: str
) -> None:
    inputs = AdmitInputs.model_validate(
        {
            "branch": branch,
            "cycles": [gathered("ec", "t"), gathered("ae", "s"), gathered("db", "r")],
            "initial": gathered("ei").evidence,
        }
    )
    decided = ADMIT.decide(inputs, StateRAGSettings(**settings))  # type: ignore[arg-type]
    assert isinstance(decided, Decision)
    assert decided.outcome == "admit " + ",".join(ids)
