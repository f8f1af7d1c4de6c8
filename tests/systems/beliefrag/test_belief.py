"""The belief update: the specification's vectors, and the laws of its equations."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.systems.beliefrag.belief import (
    DIMENSIONS,
    NOTHING_HELD,
    SIGNALS,
    Diagnostics,
    Observation,
    answerability,
    believe,
    diagnostics,
    prior,
    relevance,
    retrieval_value,
    terms,
    update,
)
from core.systems.beliefrag.profiles import profile
from core.systems.beliefrag.settings import WEIGHTED, BeliefRAGSettings

SETTINGS = BeliefRAGSettings()
unit = st.floats(0, 1)
diagnostic_values = st.builds(Diagnostics, **dict.fromkeys(SIGNALS, unit))


def _x(relevance, support, conflict, uncertainty, gap, novelty, cost):
    return Diagnostics(
        relevance=relevance,
        support=support,
        conflict=conflict,
        uncertainty=uncertainty,
        gap=gap,
        novelty=novelty,
        cost=cost,
    )


def test_the_published_example_comes_out_to_four_places():
    belief = prior(SETTINGS)
    expected = [
        (_x(0, 0, 0, 1, 1, 1, 0), [0.0420, 0.3318, 0.0760, 0.8764, 0.9121], 0.4242),
        (_x(0.27, 0.30, 0, 0.8, 0.7, 1, 0.21), [0.0496, 0.3689, 0.0825, 0.8277, 0.8112], 0.5337),
        (_x(0.34, 0.30, 0, 0.6, 0.6, 0.9, 0.45), [0.0704, 0.4116, 0.0852, 0.7357, 0.7222], 0.5704),
    ]
    for x, after, p_ans in expected:
        _, belief, _ = update(belief, x, SETTINGS)
        assert [round(getattr(belief, d), 4) for d in DIMENSIONS] == after
        assert round(answerability(x, profile("paper").answerability), 4) == p_ans


@given(diagnostic_values)
def test_paper_answerability_is_confined(x):
    p = answerability(x, profile("paper").answerability)
    assert 0.408 <= round(p, 3) <= 0.791


@given(st.lists(diagnostic_values, max_size=6))
def test_belief_stays_in_its_bounds(xs):
    belief = prior(SETTINGS)
    for x in xs:
        instantaneous, belief, _ = update(belief, x, SETTINGS)
        for value in (*belief.model_dump().values(), *instantaneous.model_dump().values()):
            assert 0.0 <= value <= 1.0


@given(
    diagnostic_values,
    st.sampled_from([(d, s) for d, signals in WEIGHTED.items() for s in signals]),
    unit,
)
def test_belief_moves_with_the_sign_of_its_weight(x, pair, raised):
    dimension, signal = pair
    assume(raised > getattr(x, signal) + 1e-6)
    higher = x.model_copy(update={signal: raised})
    _, low, _ = update(prior(SETTINGS), x, SETTINGS)
    _, high, _ = update(prior(SETTINGS), higher, SETTINGS)
    difference = getattr(high, dimension) - getattr(low, dimension)
    assert difference * getattr(SETTINGS, f"w_{dimension}_{signal}") >= 0


@given(diagnostic_values, st.sampled_from(DIMENSIONS))
def test_lambda_one_keeps_nothing_and_zero_keeps_everything(x, dimension):
    start = prior(SETTINGS)
    now, all_new, _ = update(start, x, SETTINGS.model_copy(update={f"lambda_{dimension}": 1.0}))
    _, all_old, _ = update(start, x, SETTINGS.model_copy(update={f"lambda_{dimension}": 0.0}))
    assert getattr(all_new, dimension) == pytest.approx(getattr(now, dimension), abs=1e-6)
    assert getattr(all_old, dimension) == pytest.approx(getattr(start, dimension), abs=1e-6)


@given(diagnostic_values)
def test_the_terms_are_the_whole_logit(x):
    instantaneous, _, summands = update(prior(SETTINGS), x, SETTINGS)
    assert summands == terms(x, SETTINGS)
    for dimension in DIMENSIONS:
        listed = [t.signal for t in summands if t.dimension == dimension]
        assert listed == ["alpha", *WEIGHTED[dimension]]
    assert instantaneous.cost == x.cost


observations = st.builds(
    Observation,
    calibrated=st.lists(unit, max_size=6).map(tuple),
    tokens=st.integers(0, 20_000),
    **dict.fromkeys(("support", "conflict", "uncertainty", "gap", "novelty"), unit),
)


@given(
    st.lists(observations, max_size=5),
    st.dictionaries(
        st.sampled_from([n for n in BeliefRAGSettings.model_fields if n[:2] in ("w_", "al")]),
        st.floats(-10, 10),
        max_size=8,
    ),
    st.floats(0, 1),
)
def test_believing_all_at_once_is_updating_one_by_one(seen, weights, rate):
    settings = BeliefRAGSettings(**weights, lambda_gap=rate, lambda_conflict=1 - rate)
    belief = prior(settings)
    for observation in seen:
        _, belief, _ = update(belief, diagnostics(observation, settings), settings)
    together, newest = believe(seen, settings)
    for dimension, value in belief:
        assert getattr(together, dimension) == pytest.approx(value, abs=1e-9)
    assert newest == diagnostics(seen[-1] if seen else NOTHING_HELD, settings)


@given(st.lists(unit, min_size=1, max_size=20), st.floats(0.01, 10))
def test_relevance_lies_between_its_scores_and_leans_to_the_best(scores, temperature):
    value = relevance(scores, temperature)
    mean = sum(scores) / len(scores)
    assert min(scores) - 1e-9 <= value <= max(scores) + 1e-9
    assert value >= mean - 1e-9
    assert relevance([], temperature) == 0.0


def test_cost_is_the_share_of_the_budget_and_never_more_than_one():
    seen = Observation(
        calibrated=(), support=0, conflict=0, uncertainty=1, gap=1, novelty=1, tokens=300
    )
    assert diagnostics(seen, BeliefRAGSettings(token_budget=1200)).cost == 0.25
    assert diagnostics(seen, BeliefRAGSettings(token_budget=100)).cost == 1.0


@pytest.mark.parametrize(
    ("rounds", "value"), [(0, 0.59), (1, 0.073), (2, 0.05), (3, 0.05), (9, 0.05)]
)
def test_retrieval_value_falls_back_to_the_table_by_rounds(rounds, value):
    x = _x(0, 0, 0, 1, 1, 1, 0)
    model = profile("paper").retrieval_value
    assert retrieval_value(rounds, x, prior(SETTINGS), model) == value
