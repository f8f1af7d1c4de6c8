from __future__ import annotations

from pathlib import Path

from benchmarks import app
from benchmarks.long_run import lengthened
from core.events import PassagesShown, RunFinished, RunStarted
from core.journal import Journal
from tests.app.recorded import record


def test_a_lengthened_run_is_one_that_the_journal_takes(tmp_path: Path) -> None:
    steps = lengthened(record(answer_threshold=0.55), 500, "long")
    assert [s.seq for s in steps] == list(range(500))
    assert isinstance(steps[0].event, RunStarted)
    assert isinstance(steps[-1].event, RunFinished)
    shown = [p.id for s in steps if isinstance(s.event, PassagesShown) for p in s.event.passages]
    assert len(shown) == len(set(shown)) > 30
    journal = Journal(tmp_path)
    journal.import_jsonl("".join(f"{s.model_dump_json()}\n" for s in steps))
    assert journal.steps("long") == steps
    journal.close()


def test_a_figure_is_held_against_what_was_asked() -> None:
    assert app.row("x", [0.5, 0.9, 5.0], 1.0) == ("x", "3", "0.90 (5.00)", "at most 1", "yes")
    assert app.row("x", [1.5], 1.0)[-1] == "NO"
