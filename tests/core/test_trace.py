"""Folds over a run: states, evidence, spans, differences, narration of hostile text."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import trace
from core.events import (
    BeliefUpdated,
    Decided,
    EvidenceChanged,
    QueryIssued,
    Retrieved,
    RunFinished,
    Step,
    Warned,
)
from tests.core.samples import step as sample_step
from tests.core.world import PASSAGES, run


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    """A BeliefRAG run that prunes, rewrites and retrieves again."""
    found = run("beliefrag", answer_threshold=0.9, max_actions=12)
    assert sum(isinstance(s.event, Retrieved) for s in found) > 1
    assert any(isinstance(s.event, EvidenceChanged) and s.event.removed for s in found)
    return found


def test_folding_by_single_steps_gives_every_state(steps: list[Step]) -> None:
    for k, state in enumerate(trace.states(steps)):
        assert state == trace.state_at(steps, k)
        assert (state.seq, state.stage) == (k, steps[k].stage)
        assert state.usage == steps[k].usage == trace.usage_at(steps, k)
    assert trace.state_at(steps, -1) == trace.RunState()
    assert trace.state_at(steps, 10_000) == trace.state_at(steps, len(steps) - 1)


def test_a_state_holds_the_newest_of_each_kind(steps: list[Step]) -> None:
    for k, state in enumerate(trace.states(steps)):
        events = [s.event for s in steps[: k + 1]]

        def newest(kind: type) -> object:
            return next((x for x in reversed(events) if isinstance(x, kind)), None)  # noqa: B023

        updated, decided, found = newest(BeliefUpdated), newest(Decided), newest(Retrieved)
        assert state.belief == (updated.after if updated else None)  # type: ignore[attr-defined]
        assert state.decision == decided
        assert state.hits == found
        assert list(state.queries) == [x for x in events if isinstance(x, QueryIssued)]


def test_evidence_follows_its_events_and_banned_ids_stay_out(steps: list[Step]) -> None:
    held: list[str] = []
    for k, step in enumerate(steps):
        if isinstance(step.event, EvidenceChanged):
            held = [i for i in held if i not in step.event.removed] + [*step.event.added]
        state = trace.state_at(steps, k)
        assert list(state.evidence) == held
        assert not state.banned.intersection(held)
        assert [p.id for p in trace.evidence_at(steps, k)] == held
    assert trace.state_at(steps, len(steps)).banned


def test_the_end_is_in_the_last_state(steps: list[Step]) -> None:
    state, end = trace.state_at(steps, len(steps)), steps[-1].event
    assert isinstance(end, RunFinished)
    assert (state.terminal, state.branch, state.answer) == (end.terminal, end.branch, end.answer)
    assert state.citations == end.citations
    assert trace.state_at(steps, len(steps) - 2).terminal is None


def test_a_step_out_of_order_is_refused(steps: list[Step]) -> None:
    with pytest.raises(ValueError, match="does not follow"):
        trace.advance(trace.state_at(steps, 2), steps[4])


def test_passages_are_those_shown(steps: list[Step]) -> None:
    shown = trace.passages(steps)
    assert set(shown.values()) <= set(PASSAGES)
    assert trace.titles(steps) == {i: p.title for i, p in shown.items()}


def test_spans_tile_the_run_and_add_up(steps: list[Step]) -> None:
    spans = trace.spans(steps)
    assert [s.first for s in spans] == [0, *(s.last + 1 for s in spans[:-1])]
    assert spans[-1].last == len(steps) - 1
    assert all(a.end_ms == b.start_ms for a, b in itertools.pairwise(spans))
    assert all({steps[k].stage for k in range(s.first, s.last + 1)} == {s.stage} for s in spans)
    assert sum(s.tokens for s in spans) == steps[-1].usage.tokens
    assert sum(s.calls for s in spans) == steps[-1].usage.calls
    assert trace.spans([]) == []


def test_two_runs_of_one_seed_are_identical_though_their_ids_differ() -> None:
    one, two = run(), run()
    assert one[0].run_id != two[0].run_id
    assert trace.identical(one, two)


def test_the_first_difference_names_the_step_and_the_fields(steps: list[Step]) -> None:
    other = run("beliefrag", answer_threshold=0.5, max_actions=12)
    found = trace.diff(steps, other)
    assert found is not None
    assert found.seq == 0
    assert found.fields == ("event.settings.answer_threshold",)
    found = trace.diff(steps, other, first=1)
    assert found is not None
    assert isinstance(found.left.event, Decided)  # type: ignore[union-attr]
    assert trace.identical(steps[1 : found.seq], other[1 : found.seq])
    assert any(f.startswith("event.") for f in found.fields)


def test_a_run_that_stops_earlier_differs_where_it_stops(steps: list[Step]) -> None:
    found = trace.diff(steps, steps[:4])
    assert found is not None
    assert (found.seq, found.left, found.right) == (4, steps[4], None)


def test_narration_uses_titles_where_it_has_them() -> None:
    steps = run()
    taken = next(s for s in steps if isinstance(s.event, EvidenceChanged))
    assert "Kestrel Records" in trace.narrate(taken, trace.titles(steps))


@given(st.text(max_size=400), st.integers(2, 100))
def test_plain_text_is_one_safe_line(text: str, limit: int) -> None:
    line = trace.plain(text, limit)
    assert len(line) <= limit
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") for c in line)
    assert trace.plain(line, limit) == line


@pytest.mark.parametrize(
    "hostile", ["\x1b[31mred\x1b[0m", "a\nb\r\nc", "\u202egnorw", "\u2028two", "x" * 100_000]
)
def test_hostile_text_stays_on_its_line(hostile: str) -> None:
    event = Warned(fault=hostile, where=hostile, effect=hostile)
    line = trace.narrate(sample_step(event))
    assert line.isprintable()
    assert len(line) < 500
