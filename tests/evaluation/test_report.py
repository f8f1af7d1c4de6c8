from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from core.errors import BadInput
from core.evaluation import report, runner
from core.evaluation.losses import losses
from core.evaluation.results import Row
from core.evaluation.runner import evaluate
from core.evaluation.store import Evaluation
from tests.evaluation.small_world import ASKED, SmallWorld, question_file
from tests.evaluation.test_results import row


def rows(system: str, *f1s: float, **changes: Any) -> list[Row]:
    return [row(question_id=f"q{n}", system=system, f1=f1, **changes) for n, f1 in enumerate(f1s)]


def cell(table: report.Table, line: str, column: str) -> str:
    found = next(cells for cells in table.lines if cells[0] == line)
    return found[table.heading.index(column)]


def test_means_have_intervals_and_one_line_a_system() -> None:
    table = report.means([*rows("a", 1.0, 0.0), *rows("b", 0.5, 0.5)], ["a", "b"])
    assert cell(table, "b", "F1") == "0.500 [0.500, 0.500]"
    assert cell(table, "a", "F1").startswith("0.500 [0.000, 1.000]")
    assert cell(table, "a", "n") == "2"


def test_a_column_that_no_question_has_is_a_dash() -> None:
    table = report.means(rows("a", 1.0, evidence_f1=None, all_gold=None), ["a"])
    assert cell(table, "a", "evidence F1") == "–"


def test_slices_are_by_value_and_say_how_many() -> None:
    both = [*rows("a", 1.0, hops=2), row(question_id="z", system="a", f1=0.0, hops=None)]
    table = report.slices(both, ["a"], "hops")
    assert [line[:2] for line in table.lines] == [("2", "1"), ("–", "1")]
    assert cell(table, "2", "a") == "1.000"


def test_ends_count_where_and_how() -> None:
    table = report.ends(
        rows("a", 1.0) + rows("b", 0.0, terminal="abstained", lost_at="withheld"), ["a", "b"]
    )
    assert cell(table, "a", "answered") == "1"
    assert cell(table, "b", "withheld") == "1"
    assert cell(table, "b", "ended abstained") == "1"


def test_pairs_are_joined_by_question_and_not_by_place() -> None:
    a, b = rows("a", 0.0, 0.5, 1.0), rows("b", 0.0, 0.5, 1.0)
    found = report.pair([*a, *b[::-1]], "a", "b")
    f1 = next(d for d in found.differences if d.column == "f1").difference
    assert (f1.value, f1.low, f1.high) == (0, 0, 0)
    assert found.tokens_ratio is not None
    assert found.tokens_ratio.value == 1


def test_a_difference_leaves_out_what_one_side_lacks() -> None:
    a = rows("a", 1.0, 1.0)
    b = [row(question_id="q0", system="b", all_gold=None), row(question_id="q9", system="b")]
    found = report.pair([*a, *b], "a", "b")
    assert "all_gold" not in {d.column for d in found.differences}
    assert {d.difference.n for d in found.differences} == {1}


@pytest.mark.parametrize("column", [*report.WITH_INTERVAL, "evidence_precision"])
def test_a_mean_over_fewer_questions_says_over_how_many(column: str) -> None:
    headings = {"em": "EM", "f1": "F1", "evidence_precision": "precision"}
    shown = headings.get(column, column.replace("_", " ")).replace("evidence f1", "evidence F1")
    whole = [*rows("a", 1.0, 0.0, 1.0), *rows("b", 1.0, 1.0, 1.0)]
    assert "(n=" not in report.markdown(report.means(whole, ["a", "b"]))
    fewer = [whole[0].model_copy(update={column: None}), *whole[1:]]
    table = report.means(fewer, ["a", "b"])
    assert cell(table, "a", "n") == "3"
    assert cell(table, "a", shown).endswith(" (n=2)")
    assert "(n=" not in cell(table, "b", shown)


def test_the_tables_of_one_system_say_why_they_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "prepared", lambda *_: SmallWorld())
    file, out = question_file(tmp_path), tmp_path / "out"
    asked = ("evaluate", "--questions", str(file), "--systems", "beliefrag,static")
    assert main([*asked, "--out", str(out), "--probe"]) == 0
    probed = capsys.readouterr().out.partition("\n\n")[0]
    assert "Means over 3 questions" in probed
    assert "1 question of these without an answer" in probed
    assert "The runs of beliefrag went on past every stop" in probed
    assert "static" not in probed
    assert main(["sweep", str(out), "--knob", "answer_threshold=0.5:0.6:0.1"]) == 0
    swept = capsys.readouterr().out.partition("\n\n")[0]
    assert "Means over 2 questions; 1 question without an answer left out." in swept
    assert "would have ended it" in swept
    assert main(["sweep", str(out), "--knob", "answer_threshold=0.5:0.6:0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["left_out"]) == (2, 1)
    assert main([*asked, "--out", str(tmp_path / "plain")]) == 0
    assert "past every stop" not in capsys.readouterr().out
    assert probed in report.report(Evaluation.open(out))


def test_markdown_escapes_what_would_break_the_table() -> None:
    lines = report.markdown(report.Table(("a", "b"), [("x|y", "z")])).splitlines()
    assert len(lines) == 3
    assert "x\\|y" in lines[2]
    assert {len(line) for line in lines} == {len(lines[0])}


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    asked = [
        *ASKED,
        {
            "id": "singer",
            "question": "Kestrel Records label signing",
            "answers": ["Low Tide"],
            "gold": [
                {"document": "Kestrel Records.md", "quote": "Its first signing"},
                {"document": "Ada Bell.md", "quote": "founded the band Low Tide"},
            ],
            "type": "bridge",
            "hops": 2,
        },
    ]
    path = question_file(tmp_path, asked)
    return evaluate(
        path, ["static", "iterative"], tmp_path / "out", world=SmallWorld(), settings={"top_k": 1}
    )


def test_losses_say_where_and_at_which_step_and_what_the_other_found(
    evaluation: Evaluation,
) -> None:
    found = losses(evaluation, "static", "iterative")
    singer = next(loss for loss in found if loss.question_id == "singer")
    assert singer.f1_a < singer.f1_b
    assert (singer.lost_at, singer.event) == ("retrieval_missed", "Retrieved")
    step = evaluation.journal.steps(singer.run_a)[singer.step]
    assert step.event.kind == "Retrieved"
    (other,) = singer.found
    assert other.title == "Ada Bell"
    assert other.query == "Ada Bell band"
    shown = evaluation.journal.steps(singer.run_b)[other.step].event
    assert other.passage_id in {p.id for p in shown.passages}  # type: ignore[union-attr]
    assert losses(evaluation, "static", "static") == []
    with pytest.raises(BadInput, match="evaluated"):
        losses(evaluation, "static", "beliefrag")


def test_the_whole_report_reads(evaluation: Evaluation) -> None:
    text = report.report(evaluation)
    for words in ("F1 by hops", "static against iterative, paired", "duplicate queries"):
        assert words in text
    table = report.losing(losses(evaluation, "static", "iterative"))
    assert "Ada Bell" in cell(table, "singer", "the other found")
