from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import outcomes
from benchmarks.__main__ import main
from core.evaluation.results import Row
from core.evaluation.runner import evaluate
from tests.evaluation.small_world import SmallWorld, question_file
from tests.evaluation.test_results import row


def rows(system: str, f1: float, tokens: int) -> list[Row]:
    return [row(question_id=f"q{n}", system=system, f1=f1, tokens=tokens + n) for n in range(20)]


def test_the_outcomes_asked_for_are_told_from_the_rows() -> None:
    good = {"HotpotQA": rows("beliefrag", 0.6, 600) + rows("iterative", 0.5, 1_000)}
    assert [c.holds for c in outcomes.beliefrag_checks(good)] == [True, True, True]
    bad = {"HotpotQA": rows("beliefrag", 0.4, 900) + rows("iterative", 0.5, 1_000)}
    checks = outcomes.beliefrag_checks(bad)
    assert [c.holds for c in checks] == [False, False, False]
    assert checks[2].found == "0.400 against 0.500"


def test_only_the_multi_hop_sets_count_for_the_third() -> None:
    sets = {
        "MuSiQue": rows("beliefrag", 0.6, 600) + rows("iterative", 0.5, 1_000),
        "NQ": [
            r.model_copy(update={"question_id": r.question_id + "nq"})
            for r in rows("beliefrag", 0.1, 600) + rows("iterative", 0.9, 1_000)
        ],
    }
    assert [c.holds for c in outcomes.beliefrag_checks(sets)] == [True, False, True]


def test_losses_are_counted_and_listed(tmp_path: Path) -> None:
    evaluation = evaluate(
        question_file(tmp_path), ["beliefrag", "iterative"], tmp_path / "out", world=SmallWorld()
    )
    text = outcomes.lost_to_iterative({"own": evaluation})
    assert "BeliefRAG is below iterative on 0 questions: nowhere" in text


def test_without_the_questions_it_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(outcomes, "DATA", tmp_path / "none")
    assert outcomes.main([]) == 0
    assert "skipped" in capsys.readouterr().out


def test_an_unknown_benchmark_or_system_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["nope"]) == 2
    monkeypatch.setattr(outcomes, "DATA", tmp_path)
    assert outcomes.main(["--sets", "NQ", "--out", str(tmp_path)]) == 2
    assert "nq_dev300.jsonl cannot be read" in capsys.readouterr().err
