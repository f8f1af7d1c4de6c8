"""Fitted models of BeliefRAG, by profile: p(answerable) and retrieval value."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from core.types import Count, Finite, Frozen, Unit

if TYPE_CHECKING:
    from core.systems.beliefrag.settings import BeliefRAGSettings


FitName = Literal["extractive-1", "extractive-2"]
FIRST: FitName = "extractive-1"
"""The fit of runs that do not say which: it stays, so that they are decided again as they were."""
NEWEST: FitName = "extractive-2"


class Answerability(Frozen):
    """Logistic coefficients of p_ans over the seven diagnostics."""

    intercept: Finite
    support: Finite = 0.0
    relevance: Finite = 0.0
    gap: Finite = 0.0
    uncertainty: Finite = 0.0
    conflict: Finite = 0.0
    novelty: Finite = 0.0
    cost: Finite = 0.0


class RetrievalValue(Frozen):
    """p_flip: logistic coefficients, or where nothing is fitted a table by rounds used."""

    intercept: Finite = 0.0
    rounds: Finite = 0.0
    novelty: Finite = 0.0
    sufficiency: Finite = 0.0
    by_rounds: tuple[Unit, ...] = ()


Spread = tuple[Finite, Finite | None, Finite | None]
"""A figure and its 95% interval."""


class Fit(Frozen):
    """How a model was fitted, and how good it is on questions that it was not fitted on.

    ``base_rate`` is the share of states in which the target is true; ``penalty`` is the inverse
    strength C of the L2 penalty; ``split`` says how questions were divided.
    """

    target: Literal["answerability", "retrieval-value"]
    data: str
    states: Count
    questions: Count
    base_rate: Unit
    split: str
    penalty: Finite
    date: str
    auc: Spread | None
    brier: Spread
    ece: Spread


class Profile(Frozen):
    """Both models and where they come from; ``fits`` are those of the models fitted here."""

    name: str
    source: str
    answerability: Answerability
    retrieval_value: RetrievalValue
    fits: tuple[Fit, ...] = ()


@cache
def profile(name: str) -> Profile:
    """The bundled profile of that name."""
    text = files(__package__).joinpath("fitted", f"{name}.json").read_text(encoding="utf-8")
    return Profile.model_validate(json.loads(text))


def resolve(
    settings: BeliefRAGSettings, reasoner: str, fit: FitName
) -> tuple[Answerability, RetrievalValue]:
    """The models in force: the person's own, else the profile's; ``auto`` goes by the reasoner.
    ``fit`` is which of the fits for the extractive reasoner was in force when the run was made."""
    paper = settings.profile == "paper" or (settings.profile == "auto" and reasoner != "extractive")
    chosen = profile("paper" if paper else fit)
    return (
        settings.answerability or chosen.answerability,
        settings.retrieval_value or chosen.retrieval_value,
    )
