"""Bundled fits stay as they were: a run is decided again with the fit that decided it."""

from __future__ import annotations

from typing import get_args

import pytest

from core.events import BeliefUpdated, Decided
from core.systems.beliefrag.belief import answerability, assess
from core.systems.beliefrag.decide import BeliefInputs
from core.systems.beliefrag.profiles import FIRST, NEWEST, FitName, profile, resolve
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.types import digest
from tests.app.recorded import record

KEPT = {
    "extractive-1": "e4b47fc3aa9ab3b8",
    "extractive-2": "aa93168e928bac77",
}


@pytest.mark.parametrize("name", get_args(FitName))
def test_a_fit_that_has_decided_runs_is_not_changed(name: FitName) -> None:
    found = profile(name)
    assert found.name == name
    said = f"{name} has decided recorded runs: a new fit gets a name of its own"
    models = [found.answerability.model_dump(), found.retrieval_value.model_dump()]
    assert digest(models) == KEPT[name], said


def test_a_run_says_which_fit_decided_it_and_one_that_does_not_was_decided_by_the_first() -> None:
    decided = [s.event for s in record(profile="auto") if isinstance(s.event, Decided)]
    assert decided
    for event in decided:
        assert BeliefInputs.model_validate(event.inputs).fit == NEWEST
        older = {k: v for k, v in event.inputs.items() if k != "fit"}
        assert BeliefInputs.model_validate(older).fit == FIRST


@pytest.mark.parametrize("chosen", ["auto", "extractive"])
def test_the_fit_of_the_inputs_is_the_one_that_is_used(chosen: str) -> None:
    settings = BeliefRAGSettings(profile=chosen)  # type: ignore[arg-type]
    steps = record(profile=chosen)
    decided = [s.event for s in steps if isinstance(s.event, Decided)]
    beliefs = [s.event for s in steps if isinstance(s.event, BeliefUpdated)]
    last = BeliefInputs.model_validate(decided[-1].inputs)
    for fit in get_args(FitName):
        now = assess(last.observations, last.rounds, last.reasoner, fit, settings)
        assert now.p_ans == answerability(now.x, profile(fit).answerability)
        if fit == NEWEST:
            assert now.p_ans == beliefs[-1].p_ans, "what was recorded"


def test_the_paper_and_other_reasoners_take_no_fit_of_ours() -> None:
    paper = profile("paper")
    for settings, reasoner in (
        (BeliefRAGSettings(profile="paper"), "extractive"),
        (BeliefRAGSettings(), "llm"),
    ):
        for fit in get_args(FitName):
            assert resolve(settings, reasoner, fit) == (paper.answerability, paper.retrieval_value)
