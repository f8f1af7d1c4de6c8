"""The decision order of BeliefRAG, gate by gate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.systems.beliefrag.belief import NOTHING_HELD, Observation
from core.systems.beliefrag.decide import ACT, CORRECTION_ACTIONS, OUTCOMES, BeliefInputs
from core.systems.beliefrag.settings import BeliefRAGSettings

PAPER = BeliefRAGSettings(profile="paper")


def _seen(**changes):
    values = {
        "calibrated": (0.7, 0.6),
        "support": 0.7,
        "conflict": 0.0,
        "uncertainty": 0.2,
        "gap": 0.1,
        "novelty": 1.0,
        "tokens": 900,
    }
    return Observation(**{**values, **changes})


WEAK = _seen(calibrated=(0.2,), support=0.0, uncertainty=1.0, gap=1.0, novelty=0.5)


def _inputs(*observations, **changes):
    values = {
        "reasoner": "extractive",
        "observations": (NOTHING_HELD, *observations),
        "rounds": len(observations),
        "actions": len(observations),
        "tokens": 900,
        "evidence": 5 * len(observations),
        "unhelpful": 0,
    }
    return BeliefInputs(**{**values, **changes})


CASES = {
    "nothing held: retrieve": (_inputs(), {}, "retrieve"),
    "a correction under way is finished first": (
        _inputs(_seen(conflict=1.0), pending="rewrite"),
        {},
        "rewrite",
    ),
    "a rewritten query is searched": (_inputs(_seen(), pending="retrieve"), {}, "retrieve"),
    "conflict is corrected before answering": (_inputs(_seen(conflict=1.0)), {}, "verify"),
    "unreliable evidence is corrected before answering": (
        _inputs(_seen(calibrated=(0.0,), conflict=0.2)),
        {"reliability_threshold": 0.9},
        "verify",
    ),
    "answerable and no conflict: answer": (_inputs(_seen()), {}, "answer"),
    "flags do not stop an answer by default": (_inputs(_seen(), unhelpful=3), {}, "answer"),
    "flags come before the answer when so set": (
        _inputs(_seen(), unhelpful=3),
        {"unhelpful_trigger": "before_answer"},
        "verify",
    ),
    "flags start a correction when not answerable": (_inputs(WEAK, unhelpful=3), {}, "verify"),
    "flags start nothing when off": (
        _inputs(WEAK, unhelpful=3),
        {"unhelpful_trigger": "off"},
        "stop",
    ),
    "low value of retrieval: stop with the best answer": (_inputs(WEAK), {}, "stop"),
    "value above its threshold: retrieve again": (
        _inputs(WEAK),
        {"flip_threshold": 0.05},
        "retrieve",
    ),
    "little new last time: rewrite first": (
        _inputs(_seen(support=0.0, uncertainty=1.0, gap=1.0, novelty=0.1, calibrated=(0.4,))),
        {"flip_threshold": 0.05},
        "rewrite",
    ),
    "no action left for a rewrite: retrieve at once": (
        _inputs(
            _seen(support=0.0, uncertainty=1.0, gap=1.0, novelty=0.1, calibrated=(0.4,)),
            actions=4,
        ),
        {"flip_threshold": 0.05},
        "retrieve",
    ),
    "inadequate evidence: abstain": (_inputs(WEAK), {"abstain_threshold": 0.5}, "abstain"),
    "nothing found at all: abstain": (_inputs(WEAK, evidence=0), {}, "abstain"),
    "conflict without a round left": (
        _inputs(_seen(), _seen(conflict=1.0), _seen(conflict=1.0), rounds=3),
        {},
        "conflict",
    ),
    "no action left for a whole correction": (
        _inputs(_seen(conflict=1.0), actions=3),
        {},
        "conflict",
    ),
    "no tokens left for a whole correction": (
        _inputs(WEAK, unhelpful=3, tokens=11_000, correction_tokens=2_000),
        {},
        "stop",
    ),
    "nothing missing leads to the answer gate": (
        _inputs(WEAK, unhelpful=3, nothing_missing=True),
        {"flip_threshold": 0.0},
        "stop",
    ),
    "the retriever is down: answer from what is held": (
        _inputs(WEAK, unhelpful=3, retriever_down=True),
        {"flip_threshold": 0.0},
        "stop",
    ),
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_decision(case):
    inputs, overrides, outcome = CASES[case]
    settings = PAPER.model_copy(update=overrides)
    assert ACT(inputs, settings).outcome == outcome


observations = st.builds(
    Observation,
    calibrated=st.lists(st.floats(0, 1), max_size=5).map(tuple),
    support=st.floats(0, 1),
    conflict=st.floats(0, 1),
    uncertainty=st.floats(0, 1),
    gap=st.floats(0, 1),
    novelty=st.floats(0, 1),
    tokens=st.integers(0, 12_000),
)
any_inputs = st.builds(
    BeliefInputs,
    reasoner=st.sampled_from(["extractive", "llm"]),
    observations=st.lists(observations, max_size=4).map(tuple),
    rounds=st.integers(0, 4),
    actions=st.integers(0, 7),
    tokens=st.integers(0, 13_000),
    evidence=st.integers(0, 15),
    unhelpful=st.integers(0, 8),
    pending=st.sampled_from(["none", "rewrite", "retrieve"]),
    nothing_missing=st.booleans(),
    retriever_down=st.booleans(),
    retrieve_tokens=st.integers(0, 5_000),
    correction_tokens=st.integers(0, 6_000),
)
any_settings = st.builds(
    BeliefRAGSettings,
    answer_threshold=st.floats(0, 1),
    conflict_threshold=st.floats(0, 1),
    reliability_threshold=st.floats(0, 1),
    flip_threshold=st.floats(0, 1),
    novelty_threshold=st.floats(0, 1),
    abstain_threshold=st.floats(0, 1),
    unhelpful_trigger=st.sampled_from(["before_answer", "after_answer", "off"]),
    profile=st.sampled_from(["auto", "paper", "extractive"]),
)


@given(any_inputs, any_settings)
def test_every_decision_keeps_the_prohibitions(inputs, settings):
    decision = ACT(inputs, settings)
    gates = {g.name: g for g in decision.gates}
    assert decision.outcome in OUTCOMES
    assert ACT(inputs, settings) == decision
    if decision.outcome == "answer":
        assert not gates["conflict"].fired
    if decision.outcome == "verify":
        assert inputs.evidence > 0
        assert inputs.rounds < settings.max_rounds
        assert inputs.actions + CORRECTION_ACTIONS <= settings.max_actions
        assert inputs.tokens + inputs.correction_tokens <= settings.token_budget
    if decision.outcome == "retrieve" and inputs.pending == "none":
        assert inputs.rounds < settings.max_rounds
        assert inputs.actions < settings.max_actions


@given(any_inputs, any_settings)
def test_a_margin_says_how_far_a_gate_is_from_firing(inputs, settings):
    for gate in ACT(inputs, settings).gates:
        if gate.op == "<":
            assert gate.fired == (gate.margin > 0)
        else:
            assert gate.fired == (gate.margin >= 0)


@pytest.mark.parametrize(
    ("inputs", "changes", "said"),
    [
        (_inputs(), {"max_rounds": 0}, "round"),
        (_inputs(), {"max_actions": 1}, "actions"),
        (_inputs(retrieve_tokens=99_999), {}, "tokens"),
        (_inputs(), {"flip_threshold": 1.0}, "value of another retrieval"),
        (_inputs(WEAK), {"flip_threshold": 1.0}, "value of another retrieval"),
        (_inputs(WEAK, nothing_missing=True), {}, "nothing missing"),
        (_inputs(WEAK, retriever_down=True), {}, "retriever is down"),
        (_inputs(WEAK, rounds=3), {}, "round"),
    ],
)
def test_an_ending_names_what_closed_the_way(inputs, changes, said):
    decision = ACT(inputs, PAPER.model_copy(update=changes))
    assert decision.outcome in ("stop", "abstain", "exhausted")
    assert said in decision.reason
    spent = said in ("round", "actions", "tokens")
    assert (decision.outcome == "exhausted") == (spent and not inputs.evidence)
