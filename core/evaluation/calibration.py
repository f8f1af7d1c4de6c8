"""Fit p_ans and p_flip of BeliefRAG for a reasoner, from probe runs.

p_ans is logistic over the seven diagnostics of a state with evidence that a live run could come
to, each once; its target is that the reader's answer from the evidence is right (F1 >= .5).
p_flip is logistic over rounds, novelty and sufficiency; its target is that answering is wrong now
and right after one more retrieval. Both are five-fold cross-fitted by question: each fifth is
predicted by a model whose penalty was chosen by Brier score on the next fifth, fitted on all four.
The stored coefficients are fitted on all questions, with the penalty that was best on average.
In a fit the question files weigh equally, however many states each brings.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from core.errors import BadInput
from core.evaluation.bootstrap import RESAMPLES, Interval, grouped_interval
from core.evaluation.results import write_json
from core.evaluation.selection import Selection, auc, brier, ece, selection
from core.evaluation.states import ProbedState, probed_runs
from core.evaluation.store import Evaluation
from core.narration import counted
from core.systems.beliefrag.belief import SIGNALS
from core.systems.beliefrag.profiles import (
    NEWEST,
    Answerability,
    Fit,
    Profile,
    RetrievalValue,
    Spread,
    profile,
)
from core.types import Frozen

Measure = Callable[[npt.NDArray[np.float64], npt.NDArray[np.bool_]], float | None]
Floats = npt.NDArray[np.float64]
Target = Literal["answerability", "retrieval-value"]
TARGETS: tuple[Target, ...] = ("answerability", "retrieval-value")

FOLDS = 5
SALT = "rag-inspector"
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
"""Values of C, the inverse strength of the L2 penalty, to choose from."""

SPLIT = f"{FOLDS}-fold cross-fitted by question, fold = sha256({SALT!r} + id) mod {FOLDS}"


class Sample(NamedTuple):
    """States as arrays: features (states, d), outcomes (states,), the question of each, and how
    much each state weighs in a fit (all the same where empty)."""

    names: tuple[str, ...]
    features: Floats
    outcomes: npt.NDArray[np.bool_]
    questions: tuple[str, ...]
    weights: Floats = np.empty(0)


class Calibration(Frozen):
    """A fit, its coefficients by name (``intercept`` among them), and the quality of the
    cross-fitted probabilities, over all states and over those of each question file."""

    fit: Fit
    coefficients: dict[str, float]
    quality: Selection
    by_file: dict[str, Selection]


def fold_of(question_id: str, folds: int = FOLDS) -> int:
    """The fold of a question, by its salted id: the same in every file and every order."""
    hashed = hashlib.sha256((SALT + question_id).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(hashed[:8], "big") % folds


def states(evaluations: Sequence[Evaluation]) -> list[ProbedState]:
    """The probed states of several evaluations.

    Raises:
        BadInput: one of them holds no probe runs.
    """
    return [s for e in evaluations for run in probed_runs(e) for s in run.states]


def sample(found: Sequence[ProbedState], target: Target) -> Sample:
    """The states that a target is defined on, as arrays."""
    if target == "answerability":
        names: tuple[str, ...] = SIGNALS
        used = [s for s in found if s.inputs.evidence and not s.inputs.nothing_missing]
        rows = [[float(getattr(s.x, name)) for name in names] for s in used]
        outcomes = [s.right for s in used]
    else:
        names = ("rounds", "novelty", "sufficiency")
        used = [s for s in found if s.flips is not None]
        rows = [[float(s.inputs.rounds), s.x.novelty, s.sufficiency] for s in used]
        outcomes = [bool(s.flips) for s in used]
    return Sample(
        names,
        np.asarray(rows, dtype=np.float64).reshape(len(used), len(names)),
        np.asarray(outcomes, dtype=bool),
        tuple(s.question_id for s in used),
    )


def calibrate(
    evaluations: Sequence[Evaluation], target: Target, date: str, resamples: int = RESAMPLES
) -> Calibration:
    """Fit a target on the probe runs of the evaluations; ``date`` is written into the fit.

    ``resamples`` is of the intervals over questions.

    Raises:
        BadInput: no probe runs, fewer than five questions, or states of one outcome only.
    """
    parts = [sample(states([e]), target) for e in evaluations]
    data = together(parts)
    questions = len(set(data.questions))
    if questions < FOLDS or data.outcomes.all() or not data.outcomes.any():
        given = f"{counted(questions, 'question')} with {counted(len(data.outcomes), 'state')}"
        raise BadInput(
            f"{given} are too few to fit {target}: it takes {FOLDS} questions, and states of both "
            "outcomes; evaluate more questions."
        )
    predicted, penalty = cross_fit(data)
    model = _fitted(data, np.ones(len(data.outcomes), dtype=bool), penalty)
    coefficients = dict(zip(data.names, map(float, model.coef_[0]), strict=True))
    return Calibration(
        fit=Fit(
            target=target,
            data=", ".join(_described(e) for e in evaluations),
            states=len(data.outcomes),
            questions=questions,
            base_rate=float(data.outcomes.mean()),
            split=SPLIT,
            penalty=penalty,
            date=date,
            auc=_spread(auc, predicted, data, resamples),
            brier=_certain(_spread(brier, predicted, data, resamples)),
            ece=_certain(_spread(ece, predicted, data, resamples)),
        ),
        coefficients={"intercept": float(model.intercept_[0]), **coefficients},
        quality=selection(predicted, data.outcomes),
        by_file={
            e.manifest.questions_file: selection(predicted[own], data.outcomes[own])
            for e in evaluations
            if (own := np.asarray([q in e.questions for q in data.questions])).any()
        },
    )


def cross_fit(data: Sample) -> tuple[Floats, float]:
    """Probabilities of every state by models that never saw its question, shape (states,), and
    the penalty that was best on average."""
    folds = np.asarray([fold_of(q) for q in data.questions])
    predicted = np.full(len(folds), float(data.outcomes.mean()))
    scores: defaultdict[float, list[float]] = defaultdict(list)
    for test in range(FOLDS):
        chosen, held = (test + 1) % FOLDS, folds == test
        tuning, training = folds == chosen, ~held & (folds != chosen)
        found = {c: _tuned(data, training, tuning, c) for c in PENALTIES}
        for penalty, score in found.items():
            if score is not None:
                scores[penalty].append(score)
        known = {c: s for c, s in found.items() if s is not None}
        rest = ~held
        if held.any() and known and _both(data.outcomes[rest]):
            best = min(known, key=lambda c: (known[c], c))
            model = _fitted(data, rest, best)
            predicted[held] = model.predict_proba(data.features[held])[:, 1]
    means = {c: float(np.mean(s)) for c, s in scores.items()}
    return predicted, min(means, key=lambda c: (means[c], c)) if means else 1.0


def _tuned(
    data: Sample, training: npt.NDArray[np.bool_], tuning: npt.NDArray[np.bool_], penalty: float
) -> float | None:
    if not tuning.any() or not _both(data.outcomes[training]):
        return None
    model = _fitted(data, training, penalty)
    p = model.predict_proba(data.features[tuning])[:, 1]
    return brier(p, data.outcomes[tuning])


def together(parts: Sequence[Sample]) -> Sample:
    """The states of several question files; the files weigh equally, however many states each
    brings: a fit is for questions of every kind, not for the kind that has most of them."""
    weights = [np.full(n, 1 / n) for part in parts if (n := len(part.outcomes))]
    joined = np.concatenate([np.empty(0), *weights])
    return Sample(
        parts[0].names,
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.outcomes for part in parts]),
        tuple(question for part in parts for question in part.questions),
        joined * len(joined) / joined.sum() if len(joined) else joined,
    )


def _fitted(data: Sample, used: npt.NDArray[np.bool_], penalty: float) -> Any:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # so few features gain nothing from threads, and lose on a busy core
        return LogisticRegression(C=penalty, max_iter=2_000).fit(
            data.features[used],
            data.outcomes[used],
            sample_weight=data.weights[used] if len(data.weights) else None,
        )


def _both(outcomes: npt.NDArray[np.bool_]) -> bool:
    return bool(outcomes.any() and not outcomes.all())


def _spread(measure: Measure, predicted: Floats, data: Sample, resamples: int) -> Spread | None:
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for place, question in enumerate(data.questions):
        groups[question].append(place)

    def statistic(places: npt.NDArray[np.intp]) -> float | None:
        return measure(predicted[places], data.outcomes[places])

    found: Interval | None = grouped_interval(statistic, list(groups.values()), resamples=resamples)
    return None if found is None else (found.value, found.low, found.high)


def _certain(spread: Spread | None) -> Spread:
    assert spread is not None
    return spread


def _described(evaluation: Evaluation) -> str:
    manifest = evaluation.manifest
    questions = counted(len(manifest.questions), "question")
    return f"{manifest.questions_file} ({questions}, {manifest.model})"


# --- profiles ------------------------------------------------------------------------------


def into_profile(calibration: Calibration, base: Profile, name: str) -> Profile:
    """The profile with this fit in it; the other target's model stays as it is."""
    fit = calibration.fit
    kept = tuple(f for f in base.fits if f.target != fit.target)
    model: Answerability | RetrievalValue
    if fit.target == "answerability":
        field, model = "answerability", Answerability(**calibration.coefficients)
    else:
        field, model = "retrieval_value", RetrievalValue(**calibration.coefficients)
    fits = tuple(sorted((*kept, fit), key=lambda f: f.target))
    unfitted = [t for t in TARGETS if t not in {f.target for f in fits}]
    source = "; ".join(
        [*(f"{f.target} fitted on {f.data}" for f in fits), *(f"{t} as before" for t in unfitted)]
    )
    return base.model_copy(update={"name": name, "source": source, field: model, "fits": fits})


def read_profile(path: Path) -> Profile:
    """A profile file, or the bundled profile of the extractive reasoner where there is none.

    Raises:
        BadInput: the file is no profile.
    """
    try:
        return Profile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return profile(NEWEST)
    except (OSError, ValidationError) as error:
        raise BadInput(f"{path.name} is no profile ({error}); give another --out.") from None


def fit_profile(
    folders: Sequence[Path], target: Target, out: Path, date: str, resamples: int = RESAMPLES
) -> tuple[Profile, Calibration]:
    """Fit a target on the evaluations in these folders and write it into the profile ``out``.

    Raises:
        BadInput: a folder without probe runs, too few questions, or ``out`` is no profile.
    """
    if target not in TARGETS:
        raise BadInput(f"--target is {' or '.join(TARGETS)}, not {target!r}.")
    base = read_profile(out)
    calibration = calibrate(
        [Evaluation.open(folder) for folder in folders], target, date, resamples
    )
    result = into_profile(calibration, base, out.stem)
    write_json(out, result.model_dump(mode="json"))
    return result, calibration
