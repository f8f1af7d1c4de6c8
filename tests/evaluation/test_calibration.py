from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput
from core.evaluation.bootstrap import Interval, grouped_interval
from core.evaluation.calibration import (
    FOLDS,
    PENALTIES,
    Sample,
    cross_fit,
    fit_profile,
    fold_of,
    into_profile,
    sample,
    states,
    together,
)
from core.evaluation.runner import evaluate
from core.evaluation.store import Evaluation
from core.systems.beliefrag.belief import SIGNALS, sigmoid
from core.systems.beliefrag.profiles import NEWEST, Profile, profile
from core.systems.beliefrag.settings import BeliefRAGSettings
from tests.evaluation.small_world import ASKED, SmallWorld, question_file


def drawn(questions: int, seed: int = 0) -> Sample:
    """States whose outcomes follow sigmoid(-1 + 4 support - 2 gap), three a question."""
    rng = np.random.default_rng(seed)
    features = rng.random((3 * questions, len(SIGNALS)))
    logits = -1 + 4 * features[:, 0] - 2 * features[:, 2]
    outcomes = rng.random(len(logits)) < [sigmoid(z) for z in logits]
    asked = tuple(f"q{n // 3}" for n in range(len(logits)))
    return Sample(SIGNALS, features, outcomes, asked)


def test_folds_go_by_the_salted_id_alone() -> None:
    assert [fold_of(f"q{n}") for n in range(6)] == [fold_of(f"q{n}") for n in range(6)]
    counts = np.bincount([fold_of(f"q{n}") for n in range(1_000)], minlength=FOLDS)
    assert counts.min() > 150


def test_cross_fitting_orders_states_of_unseen_questions() -> None:
    from core.evaluation.selection import auc, ece

    data = drawn(300)
    predicted, penalty = cross_fit(data)
    found = auc(predicted.tolist(), data.outcomes.tolist())
    assert found is not None
    assert found > 0.7
    assert ece(predicted.tolist(), data.outcomes.tolist()) < 0.08
    assert penalty in PENALTIES


def test_a_questions_prediction_never_sees_its_own_outcomes() -> None:
    data = drawn(60)
    predicted, _ = cross_fit(data)
    own = np.asarray([fold_of(q) == 2 for q in data.questions])
    flipped = data._replace(outcomes=np.where(own, ~data.outcomes, data.outcomes))
    again, _ = cross_fit(flipped)
    assert np.array_equal(predicted[own], again[own])
    assert not np.array_equal(predicted[~own], again[~own])


def test_question_files_weigh_equally_however_many_states_they_bring() -> None:
    many, few = drawn(300), drawn(20, seed=1)
    joined = together([many, few])
    n = len(many.outcomes)
    assert joined.weights[:n].sum() == pytest.approx(joined.weights[n:].sum())
    assert joined.weights.mean() == pytest.approx(1.0)
    assert joined.questions == (*many.questions, *few.questions)
    assert np.array_equal(joined.features, np.concatenate([many.features, few.features]))
    empty = few._replace(
        features=few.features[:0], outcomes=few.outcomes[:0], questions=(), weights=np.empty(0)
    )
    assert together([many, empty]).weights == pytest.approx(np.ones(n))


def test_an_interval_over_questions_is_wider_than_one_over_their_states() -> None:
    values = np.repeat(np.random.default_rng(4).random(30), 10)

    def mean(places: object) -> float:
        return float(values[places].mean())  # type: ignore[index]

    def width(found: Interval) -> float:
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    alone = grouped_interval(mean, [[n] for n in range(300)])
    together = grouped_interval(mean, [range(10 * n, 10 * n + 10) for n in range(30)])
    assert alone is not None
    assert together is not None
    assert width(together) > 2 * width(alone)


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("fit")
    asked = [
        {**item, "id": f"{item['id']}-{n}", "question": item["question"] + " " * n}
        for n in range(6)
        for item in ASKED[:2]
    ]
    path = question_file(folder, asked)
    return evaluate(path, ["beliefrag"], folder / "out", world=SmallWorld(), probe=True)


def test_samples_are_the_states_on_which_a_target_is_defined(probed: Evaluation) -> None:
    found = states([probed])
    answerable = sample(found, "answerability")
    assert answerable.names == SIGNALS
    assert len(answerable.outcomes) == sum(s.inputs.evidence > 0 for s in found)
    value = sample(found, "retrieval-value")
    assert len(value.outcomes) == sum(s.flips is not None for s in found)
    assert 0 in value.features[:, 0]


def test_a_fit_becomes_a_profile_that_settings_take(probed: Evaluation, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    fitted, calibration = fit_profile([probed.out], "answerability", out, "2026-01-02", 50)
    assert fitted.name == "mine"
    assert fitted.retrieval_value == profile(NEWEST).retrieval_value
    assert calibration.fit.questions == 12
    assert 0 < calibration.fit.base_rate < 1
    both, _ = fit_profile([probed.out], "retrieval-value", out, "2026-01-03", 50)
    assert [f.target for f in both.fits] == ["answerability", "retrieval-value"]
    assert both.answerability == fitted.answerability
    assert both.retrieval_value.by_rounds == ()
    stored = json.loads(out.read_text())
    assert stored["fits"][0]["date"] == "2026-01-02"
    assert "12 questions" in stored["fits"][0]["data"]
    BeliefRAGSettings(answerability=stored["answerability"])
    assert Profile.model_validate(stored) == both


def test_fitting_again_replaces_the_fit(probed: Evaluation, tmp_path: Path) -> None:
    out = tmp_path / "p.json"
    first, calibration = fit_profile([probed.out], "answerability", out, "2026-01-02", 50)
    again = into_profile(calibration, first, "p")
    assert [f.target for f in again.fits] == [f.target for f in first.fits]
    assert again == first


def test_what_cannot_be_fitted_is_said(probed: Evaluation, tmp_path: Path) -> None:
    few = evaluate(
        question_file(tmp_path), ["beliefrag"], tmp_path / "few", world=SmallWorld(), probe=True
    )
    with pytest.raises(BadInput, match="too few"):
        fit_profile([few.out], "answerability", tmp_path / "p.json", "2026-01-02", 50)
    plain = evaluate(question_file(tmp_path), ["beliefrag"], tmp_path / "o", world=SmallWorld())
    with pytest.raises(BadInput, match="no probe runs"):
        fit_profile([plain.out], "answerability", tmp_path / "p.json", "2026-01-02", 50)
    with pytest.raises(BadInput, match="--target is answerability or"):
        fit_profile([probed.out], "speed", tmp_path / "p.json", "")  # type: ignore[arg-type]
    (tmp_path / "p.json").write_text("{}")
    with pytest.raises(BadInput, match="no profile"):
        fit_profile([probed.out], "answerability", tmp_path / "p.json", "2026-01-02", 50)
    with pytest.raises(BadInput, match="holds no evaluation"):
        fit_profile([tmp_path], "answerability", tmp_path / "q.json", "2026-01-02", 50)
