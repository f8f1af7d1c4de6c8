from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import BadInput
from core.evaluation.results import COLUMNS, Row, read_rows, summarise, write_json, write_rows


def row(**changes: Any) -> Row:
    fields: dict[str, Any] = {
        "question_id": "q1",
        "system": "static",
        "terminal": "answered",
        "branch": "schedule",
        "answer": "Paris",
        "em": 1.0,
        "f1": 1.0,
        "evidence_precision": 0.2,
        "evidence_recall": 0.5,
        "evidence_f1": 0.3,
        "all_gold": 0.0,
        "evidence_tokens": 100,
        "tokens": 300,
        "calls": 1,
        "rounds": 1,
        "seconds": 0.5,
        "lost_at": "answered",
        "run_id": "r1",
        "hops": 2,
        "type": "bridge",
    }
    return Row.model_validate(fields | changes)


def test_the_columns_are_the_ones_that_scripts_rely_on() -> None:
    assert ",".join(COLUMNS) == (
        "question_id,system,terminal,branch,answer,em,f1,evidence_precision,evidence_recall,"
        "evidence_f1,all_gold,evidence_tokens,tokens,calls,rounds,seconds,lost_at,run_id,hops,type"
    )


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [
        row(answer='a, "quoted"\nline; ünï'),
        row(question_id="q2", answer=None, evidence_f1=None, all_gold=None, hops=None, type=""),
    ]
    write_rows(tmp_path / "results.csv", rows)
    assert read_rows(tmp_path / "results.csv") == rows


def test_a_broken_file_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    write_rows(path, [row(), row(question_id="q2")])
    path.write_text(path.read_text().replace("q2,static,answered,schedule,Paris,1.0", "q2,static"))
    with pytest.raises(BadInput, match="Line 3"):
        read_rows(path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_rows(tmp_path / "none.csv")


def test_the_summary_has_the_documented_shape() -> None:
    rows = [row(), row(question_id="q2", f1=0.0, em=0.0, terminal="abstained", evidence_f1=None)]
    summary = summarise(rows, ["static"])
    assert list(summary) == ["static"]
    static: Any = summary["static"]
    assert list(static) == [
        "n",
        "em",
        "f1",
        "evidence_precision",
        "evidence_recall",
        "evidence_f1",
        "all_gold",
        "evidence_tokens",
        "tokens",
        "calls",
        "rounds",
        "seconds",
        "terminals",
    ]
    assert (static["n"], static["f1"], static["evidence_f1"]) == (2, 0.5, 0.3)
    assert static["terminals"] == {"abstained": 1, "answered": 1}


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})  # type: ignore[dict-item]
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["summary.json"]
