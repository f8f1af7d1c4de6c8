"""Runs as JSON lines: exported, imported again, and files that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import jsonl
from core.errors import BadInput
from core.events import Step
from core.journal import Journal, RunFilter
from core.runs import execute
from tests.core.world import deps, run, spec


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


def lines_of(steps: list[Step]) -> list[str]:
    return jsonl.dump(steps).splitlines()


def test_export_has_exactly_the_envelope_and_comes_back_the_same(
    journal: Journal, tmp_path: Path
) -> None:
    run_id = list(execute(spec("iterative"), deps(), journal))[-1].run_id
    text = journal.export_jsonl(run_id)
    rows = [json.loads(line) for line in text.splitlines()]
    assert [r["seq"] for r in rows] == list(range(len(rows)))
    assert set(rows[0]) == {
        "run_id",
        "seq",
        "parent_seq",
        "branch",
        "at",
        "elapsed_ms",
        "stage",
        "usage",
        "event",
    }
    other = Journal(tmp_path / "other")
    file = tmp_path / "run.jsonl"
    file.write_text(text, encoding="utf-8")
    record = other.import_jsonl(file)
    assert record.run_id == run_id
    assert (record.status, record.origin) == ("finished", "live")
    assert other.export_jsonl(run_id) == text


def test_importing_twice_is_the_same_as_once(journal: Journal) -> None:
    steps = run()
    text = jsonl.dump(steps)
    assert journal.import_jsonl(text) == journal.import_jsonl("\ufeff" + text)
    assert journal.count() == 1
    other = jsonl.dump(steps[:-1])
    with pytest.raises(BadInput, match="Another run"):
        journal.import_jsonl(other)
    journal.delete(steps[0].run_id)
    assert journal.import_jsonl(text).deleted_at is None


def test_a_run_without_its_end_is_imported_as_interrupted(journal: Journal) -> None:
    steps = run()
    record = journal.import_jsonl(jsonl.dump(steps[:6]))
    assert (record.status, record.steps) == ("interrupted", 6)
    assert journal.claim(record.run_id) == steps[:6]


def _edited(line: str, **changes: object) -> str:
    return json.dumps({**json.loads(line), **changes})


def _event(line: str, **changes: object) -> str:
    step = json.loads(line)
    return json.dumps({**step, "event": {**step["event"], **changes}})


def _replace(n: int, make: object) -> object:
    return lambda lines: [make(x) if i == n else x for i, x in enumerate(lines)]  # type: ignore[operator]


HOSTILE = {
    "not JSON": (3, _replace(2, lambda x: "Sure, here is the run:")),
    "truncated line": (3, _replace(2, lambda x: x[: len(x) // 2])),
    "not an object": (1, _replace(0, lambda x: "[]")),
    "NaN": (4, _replace(3, lambda x: x.replace('"elapsed_ms":', '"elapsed_ms":NaN,"x":', 1))),
    "a name twice": (2, _replace(1, lambda x: x.replace("{", '{"seq":1,', 1))),
    "deep nesting": (2, _replace(1, lambda x: "[" * 100_000)),
    "blank line": (2, lambda lines: [lines[0], "", *lines[1:]]),
    "hole in seq": (4, lambda lines: lines[:3] + lines[4:]),
    "step twice": (4, lambda lines: [*lines[:3], lines[2], *lines[3:]]),
    "starts late": (1, lambda lines: lines[1:]),
    "second start": (2, _replace(1, lambda x: x)),
    "after the end": (None, lambda lines: [*lines, _edited(lines[-2], seq=len(lines))]),
    "another run's step": (3, _replace(2, lambda x: _edited(x, run_id="b" * 24))),
    "run id with a path": (1, _replace(0, lambda x: _edited(x, run_id="../../etc"))),
    "unknown event": (3, _replace(2, lambda x: _event(x, kind="Exploded"))),
    "unknown field": (1, _replace(0, lambda x: _edited(x, extra=1))),
    "text for a number": (3, _replace(2, lambda x: _edited(x, seq="2"))),
    "no time zone": (3, _replace(2, lambda x: _edited(x, at="2024-01-01T00:00:00"))),
    "after the calendar": (3, _replace(2, lambda x: _edited(x, at="9999-12-31T23:59:59-14:00"))),
    "before the calendar": (3, _replace(2, lambda x: _edited(x, at="0001-01-01T00:00:00+14:00"))),
    "negative time": (3, _replace(2, lambda x: _edited(x, elapsed_ms=-1))),
    "unknown system": (1, _replace(0, lambda x: _event(x, system="skynet"))),
    "unknown setting": (1, _replace(0, lambda x: _event(x, settings={"sudo": True}))),
    "parent later": (3, _replace(2, lambda x: _edited(x, parent_seq=2))),
    "no parent": (3, _replace(2, lambda x: _edited(x, parent_seq=None))),
    "newer version": (1, _replace(0, lambda x: _event(x, schema_version=99, novel="field"))),
    "a seed past the journal's numbers": (1, _replace(0, lambda x: _event(x, seed=10**30))),
    "a parent past them": (
        1,
        _replace(0, lambda x: _event(x, parent={"run_id": "a" * 24, "seq": 10**30})),
    ),
    "a count past them": (
        3,
        _replace(2, lambda x: _edited(x, usage={**json.loads(x)["usage"], "tokens": 10**30})),
    ),
    "too long a line": (2, _replace(1, lambda x: x + " " * (jsonl.MAX_LINE + 1))),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_bad_file_is_refused_with_its_line_and_nothing_is_imported(
    case: str, journal: Journal, tmp_path: Path
) -> None:
    line, spoil = HOSTILE[case]
    lines = lines_of(run("iterative"))
    if case == "second start":
        lines[1] = _edited(lines[0], seq=1, parent_seq=0)
    spoilt = spoil(lines)  # type: ignore[operator]
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(spoilt) + "\n", encoding="utf-8")
    for source in (file, file.read_text(encoding="utf-8")):
        with pytest.raises(BadInput) as refused:
            journal.import_jsonl(source)
        assert f"Line {line or len(spoilt)} " in refused.value.message
        assert "\n" not in refused.value.message
        assert len(refused.value.message) < 500
    if case == "newer version":
        assert "update the product" in refused.value.message
    assert journal.count() == 0
    assert journal.count(RunFilter(deleted=True)) == 0


@pytest.mark.parametrize(
    "bad",
    [{"outcome": None}, {"inputs": {}}, {"decider": "no.such"}],
    ids=["outcome", "inputs", "decider"],
)
def test_payloads_are_checked_like_live_ones(journal: Journal, bad: dict[str, object]) -> None:
    lines = lines_of(run())
    at = next(n for n, x in enumerate(lines) if json.loads(x)["event"]["kind"] == "Decided")
    lines[at] = _event(lines[at], **bad)
    with pytest.raises(BadInput, match=f"Line {at + 1} "):
        journal.import_jsonl("\n".join(lines))
    assert journal.count() == 0


def test_not_utf8_missing_and_empty_files_are_refused(journal: Journal, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(BadInput, match=r"Line 1 .*UTF-8"):
        journal.import_jsonl(file)
    file.write_bytes(b"")
    with pytest.raises(BadInput, match="empty"):
        journal.import_jsonl(file)
    with pytest.raises(BadInput, match="cannot be read"):
        journal.import_jsonl(tmp_path / "missing.jsonl")
    with pytest.raises(BadInput, match="cannot be read"):
        journal.import_jsonl(tmp_path)


def test_nul_and_direction_marks_in_a_question_survive(journal: Journal) -> None:
    steps = list(execute(spec(question="Who\x00 is \u202eit?"), deps(), journal))
    run_id = steps[0].run_id
    assert journal.steps(run_id) == steps
    assert "\x00" not in journal.run(run_id).question
    assert jsonl.load(journal.export_jsonl(run_id)) == steps
