from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

from core.errors import BadInput
from core.evaluation.runner import evaluate
from core.evaluation.states import probed_runs
from core.evaluation.store import Evaluation
from core.evaluation.sweep import parse_range, sweep
from tests.evaluation.small_world import ASKED, SmallWorld, question_file


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("probed")
    path = question_file(folder, ASKED)
    return evaluate(path, ["beliefrag"], folder / "out", world=SmallWorld(), probe=True)


def test_states_say_what_would_be_answered_and_whether_that_is_right(probed: Evaluation) -> None:
    by_id = {run.question.id: run for run in probed_runs(probed)}
    assert set(by_id) == {"band", "town"}
    states = by_id["band"].states
    assert [s.inputs.rounds for s in states] == [0, 1, 2, 3]
    assert [s.right for s in states] == [False, True, True, True]
    assert [s.flips for s in states] == [True, False, False, None]
    assert states[0].x.gap == 1
    assert not any(s.flips for s in by_id["town"].states)


@pytest.mark.parametrize("knob", ["answer_threshold", "flip_threshold", "abstain_threshold"])
def test_a_swept_value_gives_what_a_run_with_it_gives(
    probed: Evaluation, tmp_path: Path, knob: str
) -> None:
    values = (0.0, 0.3, 0.5, 0.55, 0.6, 0.65, 0.8, 1.0)
    for point in sweep(probed, knob, values):
        live = evaluate(
            question_file(tmp_path, ASKED[:2]),
            ["beliefrag"],
            tmp_path / f"{point.value}",
            settings={knob: point.value},
            world=SmallWorld(),
        )
        assert point.f1.value == pytest.approx(fmean(r.f1 for r in live.rows))
        assert point.tokens == pytest.approx(fmean(r.tokens for r in live.rows))
        assert point.rounds == pytest.approx(fmean(r.rounds for r in live.rows))
        assert point.answered == fmean(r.terminal == "answered" for r in live.rows)


def test_the_front_holds_what_nothing_beats(probed: Evaluation) -> None:
    points = sweep(probed, "answer_threshold", parse_range("x=0:1:0.05")[1])
    front = [p for p in points if p.front]
    assert front
    best = max(p.f1.value for p in points)
    assert min(p.tokens for p in points if p.f1.value == best) in {p.tokens for p in front}
    for p in points:
        if not p.front:
            assert any(f.f1.value >= p.f1.value and f.tokens <= p.tokens for f in front)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("k=0.3:0.8:0.25", (0.3, 0.55, 0.8)),
        ("k=0:1:0.4", (0.0, 0.4, 0.8, 1.0)),
        ("k=0.5:0.5:0.1", (0.5,)),
    ],
)
def test_a_range_includes_both_ends(text: str, values: tuple[float, ...]) -> None:
    assert parse_range(text) == ("k", values)


@pytest.mark.parametrize(
    "text",
    [
        "k",
        "k=1",
        "k=1:2",
        "k=a:b:c",
        "k=0:1:0",
        "k=1:0:0.1",
        "k=0:nan:1",
        "k=0:1:1e-9",
        "k=0:inf:1",
    ],
)
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_range(text)


def test_what_cannot_be_swept_is_said(probed: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be swept without new runs"):
        sweep(probed, "top_k", (1, 2))
    with pytest.raises(BadInput, match="answer_threshold"):
        sweep(probed, "answer_threshold", (1.5,))
    plain = evaluate(question_file(tmp_path), ["beliefrag"], tmp_path / "o", world=SmallWorld())
    with pytest.raises(BadInput, match="no probe runs"):
        sweep(plain, "answer_threshold", (0.5,))
