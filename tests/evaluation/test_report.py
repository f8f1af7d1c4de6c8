from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import BadInput
from core.evaluation import report
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
