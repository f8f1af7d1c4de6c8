from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from core.evaluation import runner
from tests.evaluation.small_world import ASKED, SmallWorld, question_file


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runner, "prepared", lambda *_: SmallWorld())
    return tmp_path / "out"


def evaluate(tmp_path: Path, out: Path, *options: str, asked: Any = None) -> int:
    path = question_file(tmp_path, asked)
    return main(["evaluate", "--questions", str(path), "--out", str(out), *options])


def test_evaluate_writes_its_files_and_prints_the_means(
    tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(tmp_path, out, "--systems", "static, iterative", "--set", "top_k=2") == 0
    printed = capsys.readouterr().out
    assert "| iterative" in printed
    assert "F1" in printed
    assert set(json.loads((out / "summary.json").read_text())) == {"static", "iterative"}
    assert (out / "results.csv").is_file()
    assert (out / "journal.db").is_file()


def test_sweep_and_fit_go_on_from_probe_runs(
    tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [{**q, "id": f"{q['id']}{n}"} for q in ASKED[:2] for n in range(4)]
    assert evaluate(tmp_path, out, "--systems", "beliefrag,static", "--probe", asked=asked) == 0
    assert capsys.readouterr().err == "Run as they are, without probes: static.\n"
    assert main(["sweep", str(out), "--knob", "answer_threshold=0.3:0.7:0.2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["knob"] == "answer_threshold"
    assert [p["value"] for p in found["points"]] == [0.3, 0.5, 0.7]
    assert set(found["points"][0]) == {
        *("value", "f1", "f1_low", "f1_high", "tokens", "rounds", "answered", "front")
    }
    assert main(["sweep", str(out), "--knob", "answer_threshold=0.3:0.7:0.2"]) == 0
    assert "on the front" in capsys.readouterr().out
    assert main(["fit", str(out), "--target", "answerability"]) == 0
    fitted = json.loads(capsys.readouterr().out)
    assert fitted["questions"] == 8
    assert "support" in fitted["coefficients"]
    assert (out / "profile.json").is_file()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--systems", "belief"], "Did you mean 'beliefrag'"),
        (["--systems", "static", "--set", "topk=1"], "Did you mean 'top_k'"),
        (["--systems", "static", "--workers", "0"], "--workers"),
        (["--systems", "static", "--fault", "flood"], "fault"),
    ],
)
def test_bad_input_is_exit_code_two_and_one_sentence(
    tmp_path: Path,
    out: Path,
    options: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert evaluate(tmp_path, out, *options) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_folder_without_probe_runs_is_exit_code_two(
    tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(tmp_path), "--target", "answerability"]) == 2
    assert evaluate(tmp_path, out, "--systems", "beliefrag") == 0
    assert main(["sweep", str(out), "--knob", "answer_threshold=0:1:0.5"]) == 2
    assert "no probe runs" in capsys.readouterr().err
