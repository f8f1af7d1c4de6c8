"""Every knob of BeliefRAG. Defaults: the paper's Table 2 (thresholds), 4 (belief), 6 (budgets)."""

from __future__ import annotations

from typing import Any, Literal

from core.settings import Role, SystemSettings, knob
from core.systems.beliefrag.profiles import Answerability, RetrievalValue

WEIGHTED: dict[str, tuple[str, ...]] = {
    "sufficiency": (
        "support",
        "relevance",
        "gap",
        "uncertainty",
        "conflict",
    ),
    "reliability": (
        "relevance",
        "support",
        "conflict",
    ),
    "conflict": (
        "conflict",
        "support",
    ),
    "uncertainty": (
        "uncertainty",
        "gap",
        "support",
        "conflict",
    ),
    "gap": (
        "gap",
        "support",
        "novelty",
    ),
}
"""The signals with a weight in each belief dimension (Table 4)."""


def _threshold(default: float, title: str, description: str) -> Any:
    return knob(
        default,
        ge=0.0,
        le=1.0,
        step=0.01,
        role=Role.DECISION,
        group="Thresholds",
        title=title,
        description=description,
    )


def _prior(dimension: str, default: float) -> Any:
    return knob(
        default,
        gt=0.0,
        lt=1.0,
        step=0.01,
        role=Role.DECISION,
        group=f"Belief: {dimension}",
        title=f"Prior of {dimension}",
        description="Belief before anything was observed.",
        advanced=True,
    )


def _alpha(dimension: str, default: float) -> Any:
    return knob(
        default,
        ge=-10.0,
        le=10.0,
        step=0.1,
        role=Role.DECISION,
        group=f"Belief: {dimension}",
        title=f"Intercept of {dimension}",
        description="Logit of the instantaneous belief when every signal is 0.",
        advanced=True,
    )


def _rate(dimension: str, default: float) -> Any:
    return knob(
        default,
        ge=0.0,
        le=1.0,
        step=0.05,
        role=Role.DECISION,
        group=f"Belief: {dimension}",
        title=f"Weight of the new observation ({dimension})",
        description="Lambda: 0 keeps the old belief, 1 takes the newest observation alone.",
        advanced=True,
    )


def _weight(dimension: str, signal: str, default: float) -> Any:
    return knob(
        default,
        ge=-10.0,
        le=10.0,
        step=0.1,
        role=Role.DECISION,
        group=f"Belief: {dimension}",
        title=f"Weight of {signal} in {dimension}",
        description=f"How far {signal} moves the logit of {dimension}.",
        advanced=True,
    )


class BeliefRAGSettings(SystemSettings):
    """Thresholds, trigger, fitted models and belief parameters."""

    answer_threshold: float = _threshold(
        0.50, "Answer threshold", "Answer when p(answerable) reaches this."
    )
    conflict_threshold: float = _threshold(
        0.50, "Conflict threshold", "Correct, and never answer, while conflict is at or above this."
    )
    reliability_threshold: float = _threshold(
        0.30, "Reliability threshold", "Correct while reliability is below this."
    )
    flip_threshold: float = _threshold(
        0.10,
        "Retrieval value threshold",
        "Retrieve again only if its chance to make the question answerable reaches this.",
    )
    novelty_threshold: float = _threshold(
        0.20, "Novelty threshold", "Rewrite before retrieving when the last retrieval added less."
    )
    abstain_threshold: float = _threshold(
        0.10,
        "Abstain threshold",
        "When nothing more is worth doing: abstain below this p(answerable), else answer.",
    )
    unhelpful_trigger: Literal["before_answer", "after_answer", "off"] = knob(
        "after_answer",
        role=Role.DECISION,
        group="Control",
        title="Unhelpful passages",
        description="Whether flagged passages start a correction before or after the answer gate.",
    )
    profile: Literal["auto", "paper", "extractive"] = knob(
        "auto",
        role=Role.DECISION,
        group="Fitted models",
        title="Profile",
        description="Coefficients of p(answerable) and retrieval value: the paper's, or those "
        "fitted for the extractive reasoner; auto takes what fits the reasoner in use.",
    )
    answerability: Answerability | None = knob(
        None,
        role=Role.DECISION,
        group="Fitted models",
        title="Own p(answerable)",
        description="Coefficients of your own fit; they replace the profile's.",
        advanced=True,
    )
    retrieval_value: RetrievalValue | None = knob(
        None,
        role=Role.DECISION,
        group="Fitted models",
        title="Own retrieval value",
        description="Coefficients of your own fit; they replace the profile's.",
        advanced=True,
    )
    relevance_temperature: float = knob(
        0.2,
        gt=0.0,
        le=10.0,
        step=0.05,
        role=Role.DECISION,
        group="Diagnostics",
        title="Relevance temperature",
        description="Softmax temperature over the calibrated retrieval scores in R.",
        advanced=True,
    )

    prior_sufficiency: float = _prior("sufficiency", 0.35)
    alpha_sufficiency: float = _alpha("sufficiency", -1.6)
    lambda_sufficiency: float = _rate("sufficiency", 0.6)
    w_sufficiency_support: float = _weight("sufficiency", "support", 2.6)
    w_sufficiency_relevance: float = _weight("sufficiency", "relevance", 1.2)
    w_sufficiency_gap: float = _weight("sufficiency", "gap", -2.2)
    w_sufficiency_uncertainty: float = _weight("sufficiency", "uncertainty", -1.0)
    w_sufficiency_conflict: float = _weight("sufficiency", "conflict", -0.6)
    prior_reliability: float = _prior("reliability", 0.5)
    alpha_reliability: float = _alpha("reliability", -1.4)
    lambda_reliability: float = _rate("reliability", 0.5)
    w_reliability_relevance: float = _weight("reliability", "relevance", 2.8)
    w_reliability_support: float = _weight("reliability", "support", 0.9)
    w_reliability_conflict: float = _weight("reliability", "conflict", -2.4)
    prior_conflict: float = _prior("conflict", 0.05)
    alpha_conflict: float = _alpha("conflict", -2.2)
    lambda_conflict: float = _rate("conflict", 0.6)
    w_conflict_conflict: float = _weight("conflict", "conflict", 4.4)
    w_conflict_support: float = _weight("conflict", "support", -0.5)
    prior_uncertainty: float = _prior("uncertainty", 0.7)
    alpha_uncertainty: float = _alpha("uncertainty", -1.2)
    lambda_uncertainty: float = _rate("uncertainty", 0.6)
    w_uncertainty_uncertainty: float = _weight("uncertainty", "uncertainty", 2.6)
    w_uncertainty_gap: float = _weight("uncertainty", "gap", 1.3)
    w_uncertainty_support: float = _weight("uncertainty", "support", -1.6)
    w_uncertainty_conflict: float = _weight("uncertainty", "conflict", 0.7)
    prior_gap: float = _prior("gap", 0.9)
    alpha_gap: float = _alpha("gap", -1.0)
    lambda_gap: float = _rate("gap", 0.7)
    w_gap_gap: float = _weight("gap", "gap", 3.0)
    w_gap_support: float = _weight("gap", "support", -1.4)
    w_gap_novelty: float = _weight("gap", "novelty", 0.4)
