"""The belief state of BeliefRAG: diagnostics, update, answerability, retrieval value.

Source: the BeliefRAG paper, Table 1 (diagnostics), Table 4 (parameters) and the specification's
equations: ``b^ = sigmoid(alpha_d + w_d . x)`` and
``b_t = sigmoid((1 - lambda_d) logit(b_{t-1}) + lambda_d logit(b^))``; cost is K itself.
Everything here is pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter, mul
from typing import NamedTuple

from core.events import Belief, Term
from core.systems.beliefrag.profiles import Answerability, FitName, RetrievalValue, resolve
from core.systems.beliefrag.settings import WEIGHTED, BeliefRAGSettings
from core.types import Count, Frozen, Unit

SIGNALS = ("support", "relevance", "gap", "uncertainty", "conflict", "novelty", "cost")
DIMENSIONS = ("sufficiency", "reliability", "conflict", "uncertainty", "gap")
_TINY = 1e-9
_FARTHEST = math.log((1.0 - _TINY) / _TINY)
_PARAMETERS = tuple(
    attrgetter(f"prior_{d}", f"alpha_{d}", f"lambda_{d}", *(f"w_{d}_{s}" for s in WEIGHTED[d]))
    for d in DIMENSIONS
)
"""For each dimension: its prior, alpha, lambda and weights, from settings."""
_PLACES = tuple(tuple(SIGNALS.index(s) for s in WEIGHTED[d]) for d in DIMENSIONS)
_COEFFICIENTS = attrgetter(*SIGNALS)


class Signals(NamedTuple):
    """The diagnostics as bare numbers."""

    support: float
    relevance: float
    gap: float
    uncertainty: float
    conflict: float
    novelty: float
    cost: float


class Levels(NamedTuple):
    """The belief as bare numbers."""

    sufficiency: float
    reliability: float
    conflict: float
    uncertainty: float
    gap: float
    cost: float


class Observation(Frozen):
    """What was measured at one step, raw: everything that settings may reweigh.

    ``calibrated`` are the calibrated retrieval scores of the passages last returned, in [0, 1];
    ``tokens`` is what the run had spent when it was measured.
    """

    calibrated: tuple[Unit, ...]
    support: Unit
    conflict: Unit
    uncertainty: Unit
    gap: Unit
    novelty: Unit
    tokens: Count


class Diagnostics(Frozen):
    """x = (R, S, C, U, G, N, K), each in [0, 1]."""

    relevance: Unit
    support: Unit
    conflict: Unit
    uncertainty: Unit
    gap: Unit
    novelty: Unit
    cost: Unit


NOTHING_HELD = Observation(
    calibrated=(), support=0, conflict=0, uncertainty=1, gap=1, novelty=1, tokens=0
)
"""The structural diagnostics without evidence; no verifier is asked."""


def sigmoid(z: float) -> float:
    """1 / (1 + exp(-z)), safe for any finite z."""
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    e = math.exp(z)
    return e / (1.0 + e)


def logit(p: float) -> float:
    """ln(p / (1 - p)) with p kept 1e-9 away from 0 and 1."""
    p = min(max(p, _TINY), 1.0 - _TINY)
    return math.log(p / (1.0 - p))


def relevance(calibrated: Sequence[float], temperature: float) -> float:
    """R = sum of softmax(z~ / temperature)_i z~_i over the passages last returned; 0 for none."""
    if not calibrated:
        return 0.0
    top, total, weighted = max(calibrated), 0.0, 0.0
    for z in calibrated:
        weight = math.exp((z - top) / temperature)
        total += weight
        weighted += weight * z
    return min(1.0, weighted / total)


def diagnostics(observation: Observation, settings: BeliefRAGSettings) -> Diagnostics:
    """The seven signals of an observation under these settings; K = min(1, tokens / budget)."""
    return Diagnostics(**_signals(observation, settings)._asdict())


def _signals(observation: Observation, settings: BeliefRAGSettings) -> Signals:
    return Signals(
        observation.support,
        relevance(observation.calibrated, settings.relevance_temperature),
        observation.gap,
        observation.uncertainty,
        observation.conflict,
        observation.novelty,
        min(1.0, observation.tokens / settings.token_budget),
    )


def prior(settings: BeliefRAGSettings) -> Belief:
    """b_0 of Table 4."""
    return Belief(cost=0.0, **{d: getattr(settings, f"prior_{d}") for d in DIMENSIONS})


def terms(x: Diagnostics, settings: BeliefRAGSettings) -> tuple[Term, ...]:
    """Every summand of every dimension's logit, the intercept (``alpha``) first."""
    found = []
    for dimension in DIMENSIONS:
        alpha = getattr(settings, f"alpha_{dimension}")
        found.append(
            Term(dimension=dimension, signal="alpha", weight=alpha, value=1.0, product=alpha)
        )
        for signal in WEIGHTED[dimension]:
            weight, value = getattr(settings, f"w_{dimension}_{signal}"), getattr(x, signal)
            found.append(
                Term(
                    dimension=dimension,
                    signal=signal,
                    weight=weight,
                    value=value,
                    product=weight * value,
                )
            )
    return tuple(found)


def update(
    before: Belief, x: Diagnostics, settings: BeliefRAGSettings
) -> tuple[Belief, Belief, tuple[Term, ...]]:
    """The instantaneous belief, the updated belief, and the terms they come from."""
    summands = terms(x, settings)
    logits = dict.fromkeys(DIMENSIONS, 0.0)
    for term in summands:
        logits[term.dimension] += term.product
    now = {d: sigmoid(z) for d, z in logits.items()}
    after = {}
    for d in DIMENSIONS:
        rate = getattr(settings, f"lambda_{d}")
        after[d] = sigmoid((1 - rate) * logit(getattr(before, d)) + rate * logit(now[d]))
    return Belief(cost=x.cost, **now), Belief(cost=x.cost, **after), summands


def believe(
    observations: Sequence[Observation], settings: BeliefRAGSettings
) -> tuple[Belief, Diagnostics]:
    """The belief after all observations, from the prior, and the newest diagnostics."""
    levels, x = _fold(observations, settings)
    return Belief(**levels._asdict()), Diagnostics(**x._asdict())


class _Parameters(NamedTuple):
    """Settings as numbers: per dimension alpha, lambda and a weight for every signal; and the
    logits of the priors."""

    of: BeliefRAGSettings | None
    rows: tuple[tuple[float, ...], ...]
    priors: tuple[float, ...]


_newest = _Parameters(None, (), ())
"""Those of the settings used last: a replay takes many decisions under the same ones."""


def _parameters(
    settings: BeliefRAGSettings,
) -> tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]:
    global _newest
    held = _newest
    if held.of is not settings:
        rows, priors = [], []
        for read, places in zip(_PARAMETERS, _PLACES, strict=True):
            first, alpha, rate, *given = read(settings)
            weights = [0.0] * len(SIGNALS)
            for place, weight in zip(places, given, strict=True):
                weights[place] = weight
            rows.append((alpha, rate, *weights))
            priors.append(logit(first))
        held = _newest = _Parameters(settings, tuple(rows), tuple(priors))
    return held.rows, held.priors


def _fold(
    observations: Sequence[Observation], settings: BeliefRAGSettings
) -> tuple[Levels, Signals]:
    """``update`` over each observation in turn, in logit space and without its terms: a replay
    does this for every recorded decision at every move of a slider."""
    rows, logits = _parameters(settings)
    x = _signals(NOTHING_HELD, settings)
    for observation in observations:
        x = _signals(observation, settings)
        s, r, g, u, c, n, k = x
        moved = []
        for before, (alpha, rate, ws, wr, wg, wu, wc, wn, wk) in zip(logits, rows, strict=True):
            now = alpha + ws * s + wr * r + wg * g + wu * u + wc * c + wn * n + wk * k
            if not -_FARTHEST < now < _FARTHEST:
                now = math.copysign(_FARTHEST, now)
            moved.append(before + rate * (now - before))
        logits = tuple(moved)
    cost = x.cost if observations else 0.0
    return Levels._make([*map(sigmoid, logits), cost]), x


def answerability(x: Diagnostics | Signals, model: Answerability) -> float:
    """p_ans = sigmoid(intercept + sum of weight x signal)."""
    return sigmoid(model.intercept + sum(map(mul, _COEFFICIENTS(model), _COEFFICIENTS(x))))


def retrieval_value(
    rounds: int, x: Diagnostics | Signals, belief: Belief, model: RetrievalValue
) -> float:
    """p_flip: the chance that one more retrieval makes the question answerable.

    ``sigmoid(intercept + w_rounds rounds + w_novelty N + w_sufficiency sufficiency)`` where
    fitted, else the table by rounds used (its last entry holds for more).
    """
    if model.by_rounds:
        return model.by_rounds[min(rounds, len(model.by_rounds) - 1)]
    return sigmoid(
        model.intercept
        + model.rounds * rounds
        + model.novelty * x.novelty
        + model.sufficiency * belief.sufficiency
    )


class Assessment(NamedTuple):
    """All that a decision looks at, computed from raw history under given settings."""

    x: Signals
    belief: Belief
    p_ans: float
    p_flip: float


def assess(
    observations: Sequence[Observation],
    rounds: int,
    reasoner: str,
    fit: FitName,
    settings: BeliefRAGSettings,
) -> Assessment:
    """Belief, answerability and retrieval value from the raw history."""
    levels, x = _fold(observations, settings)
    belief = Belief(**levels._asdict())
    answer_model, value_model = resolve(settings, reasoner, fit)
    return Assessment(
        x=x,
        belief=belief,
        p_ans=answerability(x, answer_model),
        p_flip=retrieval_value(rounds, x, belief, value_model),
    )
