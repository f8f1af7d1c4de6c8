from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import trace
from core.errors import BadInput, RagError, RunCancelled
from core.evaluation import runner
from core.evaluation.jobs import Progress
from core.evaluation.results import COLUMNS, Row
from core.evaluation.runner import evaluate
from core.evaluation.store import Evaluation
from core.events import RunStarted
from core.journal import Journal
from tests.evaluation.small_world import (
    ASKED,
    BrokenWorld,
    KillingWorld,
    OtherGraphWorld,
    SmallWorld,
    question_file,
)

SYSTEMS = ["static", "iterative"]


def run(tmp_path: Path, systems: Any = SYSTEMS, **options: Any) -> Evaluation:
    options.setdefault("world", SmallWorld())
    return evaluate(question_file(tmp_path), systems, tmp_path / "out", **options)


def stable(row: Row) -> dict[str, Any]:
    return row.model_dump(exclude={"seconds"})


def test_every_question_is_answered_by_every_system(tmp_path: Path) -> None:
    evaluation = run(tmp_path)
    keys = [(r.question_id, r.system) for r in evaluation.rows]
    assert keys == [(q["id"], s) for q in ASKED for s in SYSTEMS]
    band = evaluation.rows[0]
    assert (band.answer, band.em, band.lost_at, band.hops) == ("Low Tide", 1, "answered", 2)
    assert band.evidence_recall == 1
    assert band.tokens > 0
    nothing = evaluation.rows[4]
    assert (nothing.terminal, nothing.f1, nothing.all_gold) == ("abstained", 1, None)
    assert nothing.lost_at == "answered"


def test_the_files_are_those_that_scripts_rely_on(tmp_path: Path) -> None:
    run(tmp_path)
    out = tmp_path / "out"
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 6
    summary = json.loads((out / "summary.json").read_text())
    assert list(summary) == SYSTEMS
    assert summary["static"]["n"] == 3
    assert sum(summary["static"]["terminals"].values()) == 3
    journal = Journal(out)
    assert {r["run_id"] for r in rows} == {r.run_id for r in journal.runs()}
    again = Evaluation.open(out)
    assert again.gold("nothing") == ()
    assert len(again.gold("band")) == 2


def test_starting_again_keeps_what_is_finished(tmp_path: Path) -> None:
    first = run(tmp_path)
    count = Journal(tmp_path / "out").count()
    again = run(tmp_path)
    assert Journal(tmp_path / "out").count() == count
    assert again.rows == first.rows


def test_an_interrupted_run_is_done_again_and_what_is_left_of_it_is_kept(tmp_path: Path) -> None:
    first = run(tmp_path, ["static"])
    out = tmp_path / "killed"
    journal = Journal(out)
    steps = first.journal.steps(first.rows[0].run_id)
    journal.append(steps[:3])
    journal.abandon(steps[0].run_id)
    again = evaluate(question_file(tmp_path), ["static"], out, world=SmallWorld())
    assert [stable(r) | {"run_id": ""} for r in again.rows] == [
        stable(r) | {"run_id": ""} for r in first.rows
    ]
    assert again.rows[0].run_id != first.rows[0].run_id
    assert journal.run(steps[0].run_id).status == "interrupted"
    assert len(journal.steps(steps[0].run_id)) == 3


def test_stopped_in_the_middle_it_goes_on_where_it_was(tmp_path: Path) -> None:
    seen: list[Progress] = []
    with pytest.raises(RunCancelled):
        run(tmp_path, progress=seen.append, cancelled=lambda: len(seen) == 2)
    assert not (tmp_path / "out" / "results.csv").exists()
    kept = {r.run_id for r in Journal(tmp_path / "out").runs()}
    assert len(kept) == 2
    evaluation = run(tmp_path)
    assert kept <= {r.run_id for r in evaluation.rows}


def test_progress_counts_up_and_estimates(tmp_path: Path) -> None:
    seen: list[Progress] = []
    run(tmp_path, progress=seen.append)
    assert [(p.done, p.total) for p in seen] == [(n, 6) for n in range(1, 7)]
    assert seen[-1].seconds_left == 0
    assert all(p.seconds_left is not None for p in seen)
    seen.clear()
    run(tmp_path, progress=seen.append)
    assert all(p.seconds_left is None for p in seen)


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    alone = run(tmp_path)
    together = evaluate(
        question_file(tmp_path), SYSTEMS, tmp_path / "two", workers=2, world=SmallWorld()
    )
    assert [stable(r) for r in together.rows] == [stable(r) for r in alone.rows]


def test_another_setting_is_another_run(tmp_path: Path) -> None:
    first = run(tmp_path, ["iterative"])
    other = run(tmp_path, ["iterative"], settings={"max_rounds": 1})
    assert {r.run_id for r in first.rows}.isdisjoint(r.run_id for r in other.rows)
    assert all(r.rounds <= 1 for r in other.rows)


@pytest.mark.parametrize("system", ["staterag", "static"])
def test_over_another_graph_only_what_navigates_it_is_another_run(
    tmp_path: Path, system: str
) -> None:
    first = run(tmp_path, [system])
    other = run(tmp_path, [system], world=OtherGraphWorld())
    starts = {trace.start(other.journal.steps(r.run_id)).graph for r in other.rows}
    if system == "staterag":
        assert {r.run_id for r in first.rows}.isdisjoint(r.run_id for r in other.rows)
        assert starts == {"other words"}
    else:
        assert first.rows == other.rows
        assert starts == {""}


def test_limit_and_offset_choose_questions(tmp_path: Path) -> None:
    evaluation = run(tmp_path, ["static"], limit=1, offset=1)
    assert [r.question_id for r in evaluation.rows] == ["town"]


def test_a_questions_own_settings_go_to_the_systems_that_have_them(tmp_path: Path) -> None:
    item = {**ASKED[0], "settings": {"answer_threshold": 0.7, "top_k": 1}}
    path = question_file(tmp_path, [item])
    evaluation = evaluate(
        path, ["beliefrag", "static"], tmp_path / "out", settings={"top_k": 4}, world=SmallWorld()
    )
    starts = [evaluation.journal.steps(r.run_id)[0].event for r in evaluation.rows]
    settings = [s.settings for s in starts if isinstance(s, RunStarted)]
    assert [s["top_k"] for s in settings] == [1, 1]
    assert settings[0]["answer_threshold"] == 0.7
    assert "answer_threshold" not in settings[1]


def test_a_questions_tenant_is_all_that_its_run_may_see(tmp_path: Path) -> None:
    path = question_file(tmp_path, [{**ASKED[0], "tenant": "north"}])
    evaluation = evaluate(path, ["static"], tmp_path / "out", world=SmallWorld())
    start = evaluation.journal.steps(evaluation.rows[0].run_id)[0].event
    assert isinstance(start, RunStarted)
    assert start.access.tenants == {"north"}


def test_a_fault_strikes_and_is_a_row_like_others(tmp_path: Path) -> None:
    evaluation = run(tmp_path, ["static"], fault="retriever-error")
    assert {r.terminal for r in evaluation.rows} == {"failed"}
    assert evaluation.rows[0].lost_at == "failed"
    assert run(tmp_path, ["static"]).rows[0].terminal == "answered"


def test_runs_that_failed_for_a_reason_that_passes_are_made_again(tmp_path: Path) -> None:
    broken = run(tmp_path, ["static"], world=BrokenWorld())
    mended = run(tmp_path, ["static"])
    by_id = {r.question_id: r for r in mended.rows}
    assert (by_id["band"].terminal, by_id["band"].em) == ("answered", 1)
    kept = {r.run_id for r in broken.rows if r.terminal != "failed"}
    assert kept <= {r.run_id for r in mended.rows}


def test_runs_of_other_code_are_no_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tmp_path, ["static"])
    monkeypatch.setattr(runner, "code_digest", lambda: "changed")
    again = run(tmp_path, ["static"])
    assert {r.run_id for r in first.rows}.isdisjoint(r.run_id for r in again.rows)


def test_an_error_of_ours_fails_its_runs_and_not_the_evaluation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    evaluation = run(tmp_path, ["static"], world=BrokenWorld("broken"))
    by_id = {r.question_id: r for r in evaluation.rows}
    assert (by_id["band"].terminal, by_id["band"].branch) == ("failed", "internal_error")
    assert by_id["nothing"].terminal == "abstained"
    assert "internal error" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": ["statik"]}, "Did you mean 'static'"),
        ({"systems": []}, "at least one system"),
        ({"settings": {"answer_treshold": 0.5}}, "Unknown setting 'answer_treshold'"),
        ({"systems": ["beliefrag"], "settings": {"answer_treshold": 0.5}}, "'answer_threshold'"),
        ({"settings": {"top_k": 0}}, "top_k"),
        ({"fault": "no-such-fault"}, "fault"),
        ({"limit": 0}, "--limit"),
        ({"offset": 99}, "--offset 99 is past"),
        ({"workers": 0}, "--workers"),
        ({"probe": True}, "--probe works on beliefrag"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_runs(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        run(tmp_path, options.pop("systems", SYSTEMS), **options)
    assert not (tmp_path / "out" / "journal.db").exists()


def test_a_questions_bad_setting_is_named_with_the_question(tmp_path: Path) -> None:
    path = question_file(tmp_path, [{**ASKED[0], "settings": {"top_k": -3}}])
    with pytest.raises(BadInput, match=r"'band'.*top_k"):
        evaluate(path, SYSTEMS, tmp_path / "out", world=SmallWorld())


@pytest.mark.parametrize("text", ["  ", "why " * 2_000])
def test_a_question_that_cannot_be_asked_is_named(tmp_path: Path, text: str) -> None:
    path = question_file(tmp_path, [{**ASKED[0], "question": text}])
    with pytest.raises(BadInput, match=r"'band'.*question"):
        evaluate(path, SYSTEMS, tmp_path / "out", world=SmallWorld())


def test_gold_that_the_corpus_does_not_hold_is_an_error(tmp_path: Path) -> None:
    wrong = {**ASKED[0], "gold": [{"document": "Ada Bell.md", "quote": "never written"}]}
    with pytest.raises(BadInput, match="'band'"):
        evaluate(question_file(tmp_path, [wrong]), SYSTEMS, tmp_path / "out", world=SmallWorld())


@pytest.mark.parametrize("text", ["", "{", '{"id": 1}', "[1]", '[{"ctxs": 3}]'])
def test_a_broken_question_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "q.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"q\.json"):
        evaluate(path, SYSTEMS, tmp_path / "out", world=SmallWorld())


def test_a_file_without_passages_needs_a_corpus(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--corpus"):
        evaluate(question_file(tmp_path), SYSTEMS, tmp_path / "out")


def test_an_unknown_backend_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEP_BACKEND", "spark")
    with pytest.raises(BadInput, match="loky, ray, dask"):
        run(tmp_path, workers=2)


@pytest.mark.parametrize(("backend", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_a_cluster_gives_what_one_process_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, package: str
) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.setenv("SWEEP_BACKEND", backend)
    together = run(tmp_path, workers=2)
    monkeypatch.delenv("SWEEP_BACKEND")
    alone = evaluate(question_file(tmp_path), SYSTEMS, tmp_path / "alone", world=SmallWorld())
    assert [stable(r) for r in together.rows] == [stable(r) for r in alone.rows]


def test_a_backend_that_is_not_installed_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEEP_BACKEND", "ray")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match="needs the package ray"):
        run(tmp_path, workers=2)


def test_one_evaluation_at_a_time_writes_into_a_folder(tmp_path: Path) -> None:
    inner: list[str] = []

    def start_another(progress: Progress) -> None:
        if not inner:
            with pytest.raises(BadInput, match="Another evaluation") as caught:
                run(tmp_path)
            inner.append(caught.value.message)

    run(tmp_path, progress=start_another)
    assert len(inner) == 1


def test_a_folder_without_an_evaluation_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no evaluation"):
        Evaluation.open(tmp_path)
    (tmp_path / "evaluation.json").write_text("{}")
    with pytest.raises(BadInput, match=r"evaluation\.json"):
        Evaluation.open(tmp_path)


def test_rows_are_joined_by_id_whatever_order_they_come_in(tmp_path: Path) -> None:
    evaluation = run(tmp_path)
    shuffled = replace(evaluation, rows=evaluation.rows[::-1])
    assert shuffled.by_question("static") == evaluation.by_question("static")
    with pytest.raises(BadInput, match="evaluated: static, iterative"):
        evaluation.by_question("beliefrag")


KILLED = """
from pathlib import Path
from core.evaluation.runner import evaluate
from tests.evaluation.small_world import KillingWorld
evaluate(Path({questions!r}), ["static", "iterative"], Path({out!r}), world=KillingWorld())
"""


def test_killed_in_the_middle_of_a_run_it_goes_on(tmp_path: Path) -> None:
    questions, out = question_file(tmp_path), tmp_path / "out"
    code = KILLED.format(questions=str(questions), out=str(out))
    root = Path(__file__).parents[2]
    dead = subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    assert dead.returncode == -signal.SIGKILL
    finished = {r.run_id for r in Journal(out).runs() if r.status == "finished"}
    assert len(finished) == 2
    evaluation = run(tmp_path)
    assert finished <= {r.run_id for r in evaluation.rows}
    left = [r for r in Journal(out).runs() if r.status == "interrupted"]
    assert len(left) == 1
    whole = evaluate(questions, SYSTEMS, tmp_path / "whole", world=SmallWorld())
    same = {"seconds", "run_id"}
    assert [r.model_dump(exclude=same) for r in evaluation.rows] == [
        r.model_dump(exclude=same) for r in whole.rows
    ]


def test_a_worker_that_dies_is_one_sentence_and_nothing_is_lost(tmp_path: Path) -> None:
    with pytest.raises(RagError, match="fewer workers") as caught:
        run(tmp_path, world=KillingWorld(), workers=2)
    assert caught.value.reason_code == "worker_died"
    assert len(run(tmp_path).rows) == 6
