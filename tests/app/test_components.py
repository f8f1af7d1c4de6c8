"""Components on their own: safe text, the ledger, evidence, meters, equations, the diagram."""

from __future__ import annotations

import gc
import html as html_library
import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from benchmarks.long_run import lengthened
from components import (
    belief_charts,
    belief_view,
    event_signs,
    evidence,
    palette,
    safe,
    session,
    settings_panel,
    stages,
    story,
)
from components.run_store import LONG, StepStore
from core import contracts, registry
from core.events import EVENT_TYPES, BeliefUpdated, RunFinished, RunStarted, Step
from core.replay import ParsedRun
from core.settings import override, parse_assignments
from tests.app.bench import FakeBench
from tests.app.recorded import JARVIS, NASTY, OTHER, World, record

STEPS = record(answer_threshold=0.55)
UPDATES = [s.event for s in STEPS if isinstance(s.event, BeliefUpdated)]


# --- text ---------------------------------------------------------------------------------------


@given(st.text(alphabet=st.characters(), max_size=80))
def test_no_text_can_open_markup_or_hide_a_character(text: str) -> None:
    shown = safe.esc(text)
    assert not set("<>\"'") & set(shown.replace("&#x27;", ""))
    for c in html_library.unescape(shown):
        assert c in "\n\t\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs")


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(-3, 70), st.integers(-3, 70))))
def test_marking_spans_keeps_the_text(text: str, spans: list[tuple[int, int]]) -> None:
    plain = safe.marked(text, spans).replace("<mark>", "").replace("</mark>", "")
    assert plain == safe.esc(text)


def test_direction_and_zero_width_characters_are_written_out_where_they_hide() -> None:
    assert (
        safe.visible("a\u202eb\u200bc\ufeff\x1b[31m") == "a[U+202E]b[U+200B]c[U+FEFF][U+001B][31m"
    )
    assert safe.visible("می\u200cخواهم") == "می\u200cخواهم"
    assert safe.visible("👩\u200d🚀 灯台 ünï") == "👩\u200d🚀 灯台 ünï"
    assert safe.visible("zero\u200dwidth") == "zero[U+200D]width"


def test_shortening_says_that_it_did() -> None:
    assert safe.shorten("one  two\nthree", 20) == "one two three"
    assert safe.shorten("x" * 30, 10) == "x" * 9 + "…"
    assert [safe.plural(n, "run") for n in (0, 1, 1200)] == ["0 runs", "1 run", "1,200 runs"]


# --- the palette ---------------------------------------------------------------------------------


def test_every_kind_of_step_has_an_icon_and_every_end_a_word() -> None:
    from typing import get_args

    from core.errors import Terminal

    assert set(get_args(Terminal)) <= set(palette.TERMINALS)
    kinds = {kind.model_fields["kind"].default for kind in EVENT_TYPES}
    drawn = {"Decided", "Validated", "EvidenceChanged", "Grounded", "MemoryOp", "RunFinished"}
    assert kinds == set(event_signs._KINDS) | drawn


def test_each_belief_dimension_keeps_a_hue_and_a_glyph_of_its_own() -> None:
    looks = list(palette.DIMENSIONS.values())
    for name in ("colour", "glyph", "symbol", "dash"):
        assert len({getattr(look, name) for look in looks}) == len(looks)
    assert palette.GHOST not in {look.colour for look in looks}


# --- evidence ------------------------------------------------------------------------------------


def test_every_passage_tells_why_it_came_and_why_it_went() -> None:
    lives = {one.title: one for one in evidence.lives(STEPS)}
    assert lives[JARVIS.title].sign is evidence.HELD
    gone = lives[OTHER.title]
    assert gone.sign is evidence.PRUNED
    assert gone.came is not None
    assert gone.came[0] == 8
    assert gone.went == (13, "flagged as unhelpful")
    assert len(gone.hits) == 2, "found again, and not admitted"
    table = evidence.evidence_table(evidence.lives(STEPS), evidence.citations(STEPS))
    assert "flagged as unhelpful" in table
    assert "Moon &lt;b&gt;film&lt;/b&gt;" in table
    assert "<mark>He married Jennifer Connelly" in table


def test_before_the_first_search_there_is_no_evidence() -> None:
    assert evidence.lives(STEPS[:4]) == []


# --- belief --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reasoner", "model", "by_rules"),
    [
        ("extractive", None, True),
        ("llm", "openai/x", False),
        ("mixed", "extractive, answer=openai/x", True),
        ("mixed", "extractive, verify=openai/x", False),
        ("mixed", "openai/x, answer=extractive", False),
    ],
)
def test_what_conflict_cannot_find_is_said_where_rules_judge(
    reasoner: str, model: str | None, by_rules: bool
) -> None:
    start = STEPS[0].event.model_copy(update={"reasoner": reasoner, "model": model})
    steps = [STEPS[0].model_copy(update={"event": start}), *STEPS[1:]]
    assert belief_view.judged_by_rules(steps) is by_rules
    shown = AppTest.from_function(_belief, kwargs={"steps": steps}).run()
    assert not shown.exception
    told = any(
        "contradiction in other words is not found" in h.proto.body for h in shown.get("html")
    )
    assert told is by_rules


def _belief(steps: list) -> None:  # type: ignore[type-arg]  # run by its source
    from components import belief_view

    belief_view.draw(steps, steps[-1].seq, {}, key="test", on_point=lambda: None)


def test_the_waterfall_adds_up_to_the_belief() -> None:
    for update in UPDATES:
        for dimension in belief_view.update_dimensions(update):
            figure = belief_charts.waterfall(update, dimension)
            *terms, total = figure.data[0].y
            assert math.fsum(terms) == pytest.approx(total)
            now = getattr(update.instantaneous, dimension)
            assert 1 / (1 + math.exp(-total)) == pytest.approx(now)


def test_the_equation_shows_the_numbers_of_the_specification() -> None:
    text = belief_view.equation(UPDATES[0], "sufficiency")
    assert "0.0420" in text
    assert "0.60·logit" in text
    assert belief_view.weight_of_new(0.35, 0.0083, 0.0083) == pytest.approx(1.0)
    assert belief_view.weight_of_new(0.5, 0.5, 0.5) is None


def test_gauges_draw_the_recorded_threshold_and_the_ghost() -> None:
    limits = belief_view.thresholds(STEPS, 12)
    assert [(t.value, t.op) for t in limits["conflict"]] == [(0.5, ">=")]
    assert [(t.value, t.op) for t in limits["reliability"]] == [(0.3, "<")]
    assert (0.55, ">=") in [(t.value, t.op) for t in limits["p_ans"]]
    now = belief_view.readings(STEPS)[-1]
    plain = belief_charts.gauges(now, limits)
    ghosted = belief_charts.gauges(now, limits, {"conflict": 0.8})
    assert len(plain.data) == 8
    conflict = [d.gauge.steps for d in (plain.data[2], ghosted.data[2])]
    assert len(conflict[1]) == len(conflict[0]) + 1
    assert conflict[0][0].range == (0.5, 1.0), "the side on which the gate fires"
    assert plain.layout.margin.t is not None
    assert "Believed conflict 0.083, correction ≥ 0.50;" in belief_charts.gauges_alt(now, limits)


MOVES = {
    "conflict": ("conflict_threshold", "correction ≥ 0.50"),
    "reliability": ("reliability_threshold", "correction < 0.30"),
    "answer": ("answer_threshold", "answer ≥ 0.98"),
    "abstain": ("abstain_threshold", "abstain < 0.10"),
    "retrieval_value": ("flip_threshold", "retrieve ≥ 0.10"),
}


@pytest.mark.parametrize("gate", MOVES)
def test_a_threshold_that_was_moved_is_drawn_beside_the_recorded_one_and_named(gate: str) -> None:
    setting, recorded = MOVES[gate]
    steps = record(answer_threshold=0.98)
    start = steps[0].event
    assert isinstance(start, RunStarted)
    before = contracts.run_settings(start)
    newest = belief_view.readings(steps)[-1]
    marks = []
    for settings in (before, override(before, {setting: 0.77})):
        moved = settings is not before
        limits = belief_view.thresholds(steps, steps[-1].seq, settings)
        every = [t for listed in limits.values() for t in listed]
        assert len(every) == len(MOVES)
        assert [t.now for t in every if t.now is not None] == [0.77] * moved
        dials = belief_charts.gauges(newest, limits)
        marks.append(sum(len(d.gauge.steps) for d in dials.data))
        words = " ".join(a.text for a in dials.layout.annotations)
        assert (f"{recorded} → <b>0.77</b>" in words) is moved
        assert recorded in words
        legend = belief_view.legend(limits, turned=False, by_rules=False)
        assert ("threshold under the settings now" in legend) is moved
        assert (f"{recorded}, moved to 0.77" in belief_charts.gauges_alt(newest, limits)) is moved
        lines = belief_charts.history([newest], list(palette.DIMENSIONS), newest.seq, limits)
        named = [a.text for a in lines.layout.annotations]
        assert any("now 0.77" in text for text in named) is (
            moved and gate in ("conflict", "reliability")
        )
    assert marks[1] > marks[0]


def test_what_makes_low_sufficiency_answerable_is_told_beside_the_dials() -> None:
    text = belief_view.legend({}, turned=False, by_rules=False)
    assert "<summary>" in text
    assert "Only p(answerable) is compared with the answer threshold" in text


def test_the_history_ends_at_the_cursor() -> None:
    every = belief_view.readings(STEPS)
    figure = belief_charts.history(every[:2], ["gap"], 12, {})
    assert list(figure.data[0].x) == [2, 11]


# --- stages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(registry.systems()))
def test_every_system_has_a_diagram(name: str) -> None:
    system = registry.system(name)
    drawn = stages.diagram(system, [])
    assert [n["title"] for n in drawn["nodes"]] == [s.title for s in system.stages]
    assert len(drawn["edges"]) == len(system.edges)
    assert drawn["alt"].startswith("Stages of")


def test_the_diagram_marks_the_stage_of_the_cursor_and_the_arrow_that_led_there() -> None:
    drawn = stages.diagram(registry.system("beliefrag"), STEPS[:13])
    (now,) = [n for n in drawn["nodes"] if n["now"]]
    assert now["title"] == "Decide"
    assert now["note"] == "now, 2 times"
    assert sum(e["taken"] for e in drawn["edges"]) == 1


@pytest.mark.parametrize("name", list(registry.systems()))
def test_no_arrow_leaves_the_diagram_and_no_row_of_stages_is_too_small_to_read(name: str) -> None:
    whole = stages.diagram(registry.system(name), [])
    assert whole["height"] <= 130, "a tall diagram is drawn small"
    assert ("narrow" in whole) is (whole["width"] * 0.8 > 740), "more than a narrow page has room"
    for drawn in filter(None, (whole, whole.get("narrow"))):
        assert drawn is whole or drawn["width"] * 0.8 <= 740
        assert len({(n["x"], n["y"]) for n in drawn["nodes"]}) == len(drawn["nodes"])
        for edge in drawn["edges"]:
            ends = re.findall(r"[ML ](-?[\d.]+) (-?[\d.]+)", edge["d"].replace("C", " "))
            heights = [float(y) for _, y in ends]
            top = bottom = heights[0]
            if len(heights) == 4:  # a cubic curve comes three quarters of the way to its handles
                turn = 0.75 * heights[1] + 0.25 * heights[0]
                top, bottom = min(turn, heights[0]), max(turn, heights[0])
            assert top >= 0
            assert bottom <= drawn["height"]


def test_a_stage_that_a_finished_run_never_entered_is_not_said_to_come() -> None:
    static = record(system="static")
    for steps, word in ((static[:3], "not yet"), (static, "not entered")):
        notes = {n["note"] for n in stages.diagram(registry.system("beliefrag"), steps)["nodes"]}
        assert word in notes


def test_two_runs_of_one_seed_are_the_same_pictures() -> None:
    def pictures(steps: list[Step]) -> list[object]:
        every, update = belief_view.readings(steps), UPDATES[-1]
        limits = belief_view.thresholds(steps, steps[-1].seq)
        charts = [
            belief_charts.gauges(every[-1], limits),
            belief_charts.history(every, list(palette.DIMENSIONS), steps[-1].seq, limits),
            belief_charts.waterfall(update, "gap"),
        ]
        drawn = stages.diagram(registry.system("beliefrag"), steps)
        return [*(chart.to_json() for chart in charts), drawn]

    again = record(answer_threshold=0.55, run_id="another")
    assert pictures(again) == pictures(STEPS)


# --- timeline ------------------------------------------------------------------------------------


def test_a_long_run_is_paged_with_a_stated_count() -> None:
    many = [STEPS[0].model_copy(update={"seq": n}) for n in range(450)]
    first, page = story.window(many, 420)
    assert (first, len(page)) == (400, 50)
    assert story.count(450, 450, first, len(page)) == "450 steps, lines 401 to 450"
    assert story.count(31, 20, 0, 20) == "20 of 31 steps"


def test_lines_carry_what_falls_between_them() -> None:
    stops = story.stops(STEPS, every=False)
    lines = story.lines(stops, None, {}, {}, unknown_from=20)
    assert [line["seq"] for line in lines] == [s.seq for s in stops]
    assert [line["seq"] for line in lines if line["unknown"]] == [
        s.seq for s in stops if s.seq > 19
    ]
    last = STEPS[-1].event
    assert isinstance(last, RunFinished)
    spent = sum(int(m.split()[0]) for x in lines for m in x["meta"] if m.endswith("tokens"))
    assert spent == last.usage.tokens


def test_the_story_marks_one_line_whatever_step_is_selected() -> None:
    page = story.stops(STEPS, every=False)
    for step in STEPS:
        told = story.narration(page, step.seq, {})
        assert told.count("aria-current") == 1
        before = max(s.seq for s in page if s.seq <= step.seq)
        assert re.search(rf'aria-current="step"><span>{before}</span>', told)


def test_hostile_titles_stay_text_on_the_timeline() -> None:
    text = " ".join(str(x["text"]) for x in story.lines(STEPS, None, {OTHER.id: NASTY}, {}))
    assert "\u202e" not in text


# --- reading runs ---


def test_a_run_under_way_is_read_step_by_step(bench: FakeBench) -> None:
    kept = StepStore()
    bench.journal.append(STEPS[:5])
    assert len(kept.steps(bench.journal, "recordedrun")) == 5
    bench.journal.append(STEPS[5:])
    assert kept.steps(bench.journal, "recordedrun") == STEPS
    report = kept.replay(bench.journal, "recordedrun", ParsedRun(STEPS).settings)
    assert not report.diverged


def test_the_store_forgets_the_longest_unused_run(bench: FakeBench) -> None:
    kept = StepStore(kept=2)
    for n in range(3):
        bench.journal.append(record(system="static", run_id=f"run{n}"))
        kept.steps(bench.journal, f"run{n}")
    assert [key[1] for key in kept._runs] == ["run1", "run2"]


def test_a_failed_search_is_a_run_like_any_other() -> None:
    steps = record(world=World(down_after=0))
    assert isinstance(steps[-1].event, RunFinished)
    assert evidence.citations(steps) == ()
    assert "failed" in story.lines(steps, None, {}, {})[-1]["text"]


# --- settings in the URL ---


def test_the_url_form_is_the_command_lines() -> None:
    values = {
        "top_k": 3,
        "channel": "dense",
        "answerability": {"intercept": 0.5},
        "max_seconds": 2.5,
    }
    assert parse_assignments(session.settings_param(values)) == values
    kind = registry.system("beliefrag").settings
    assert settings_panel.differing(override(kind(), values))["channel"] == "dense"


def test_a_long_run_is_set_aside_from_the_collector_while_it_is_kept(bench: FakeBench) -> None:
    for run_id, count in (("a", LONG), ("b", 10)):
        bench.journal.append(lengthened(STEPS, count, run_id))
    kept = StepStore(kept=1)
    try:
        assert len(kept.steps(bench.journal, "a")) == LONG
        assert gc.get_freeze_count() > LONG
        kept.steps(bench.journal, "b")
        assert gc.get_freeze_count() == 0
    finally:
        gc.unfreeze()
