"""Every page, with nothing in it and with runs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies
from streamlit.testing.v1 import AppTest

from components import composer, home, launch, session
from core import registry
from tests.app.bench import FakeBench
from tests.app.conftest import CORPUS, RUN, RUNS, Open, html
from tests.app.recorded import BETTANY, NASTY, QUESTION, record


@pytest.mark.parametrize(
    ("path", "empty"),
    [
        ("app.py", "No runs yet"),
        (RUN, "No run on this page yet"),
        (RUNS, "No runs yet"),
        (CORPUS, "Not indexed yet"),
    ],
)
def test_a_page_with_nothing_in_it_says_what_it_is_for_and_what_to_do(
    page: Open, path: str, empty: str
) -> None:
    shown = html(page(path))
    assert "<h1>" in shown
    assert empty in shown


def test_home_has_a_question_ready_so_that_one_click_is_enough(page: Open) -> None:
    app = page()
    assert app.text_area(key="ask_question").value.endswith("?")
    assert app.selectbox(key="ask_corpus").value == "film_night"
    assert not app.button(key="home:ask").disabled


def test_asking_from_home_makes_a_run_in_the_journal(page: Open, bench: FakeBench) -> None:
    app = page()
    app.selectbox(key="ask_system").set_value("static").run()
    app.button(key="home:ask").click().run()
    launcher = launch.launcher()
    for started in list(launcher._launches.values()):  # none where the page has seen its run
        assert started.done.wait(60)
        assert not started.problem
    for run_id in launcher.pool.active():
        assert launcher.pool.wait(run_id, 60)
    (kept,) = bench.journal.runs()
    assert kept.status == "finished"
    assert kept.system == "static"
    assert kept.question.startswith("Who is the spouse")


def test_an_empty_question_is_refused_in_words_and_starts_nothing(
    page: Open, bench: FakeBench
) -> None:
    app = page()
    app.text_area(key="ask_question").set_value("  ").run()
    app.button(key="home:ask").click().run()
    assert "The question is empty" in html(app)
    assert bench.journal.count() == 0


def test_a_recorded_run_shows_question_outcome_and_answer(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun")
    shown = html(app)
    assert QUESTION in shown
    assert "Answered" in shown
    assert "Jennifer Connelly" in shown
    assert app.slider(key="run_slider").value == 30


def test_every_view_of_a_run_draws(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun")
    assert len(app.get("plotly_chart")) == 3
    for view, words in {
        "gates": "Correction under way",
        "evidence": "pruned",
        "answer": BETTANY.title,
        "story": "Finished, answered",
    }.items():
        app.get_by_key("run_view").set_value(view).run()
        assert not app.exception
        assert words in html(app), view


def test_the_url_names_the_step_and_the_hidden_panels(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun", step="12", hide=["settings", "meters"])
    assert app.slider(key="run_slider").value == 12
    assert "Step 12" in html(app)
    assert "ri-meters" not in html(app)
    with pytest.raises(KeyError):
        app.toggle(key="settings_advanced")


def test_stepping_moves_cursor_and_url(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun")
    app.button(key="step_back").click().run()
    assert app.slider(key="run_slider").value == 29
    assert app.query_params["step"] == "29"
    app.slider(key="run_slider").set_value(3).run()
    assert app.query_params["step"] == "3"
    assert "Step 3" in html(app)


def _told(app: AppTest, name: str) -> dict[str, Any] | None:
    """What an element of our own was told to show."""
    for element in app.get("bidi_component"):
        if element.proto.component_name == f"ri_{name}":
            found: dict[str, Any] = json.loads(element.proto.json)["content"]
            return found
    return None


def test_the_player_goes_on_from_the_selected_step_and_at_the_end_from_the_start(
    page: Open, bench: FakeBench
) -> None:
    steps = record(answer_threshold=0.55)
    bench.journal.append(steps)
    told = _told(page(RUN, run="recordedrun", step="12"), "player")
    assert told == {"step": 12, "next": 13, "first": 0, "play": False}
    app = page(RUN, run="recordedrun")
    told = _told(app, "player")
    assert told == {"step": 30, "next": None, "first": 0, "play": False}
    app.button(key="run_watch").click().run()
    told = _told(app, "player")
    assert told is not None
    assert (told["step"], told["play"]) == (0, True)
    assert app.query_params["step"] == "0"
    app.run()
    again = _told(app, "player")
    assert again == {**told, "play": False}, "a page that is drawn anew does not begin to play"
    with pytest.raises(KeyError):
        app.button(key="run_watch")


def test_what_plays_are_the_steps_of_the_timeline(page: Open, bench: FakeBench) -> None:
    steps = record(answer_threshold=0.55)
    bench.journal.append(steps)
    app = page(RUN, run="recordedrun", step="1")
    lines = [i["seq"] for i in _told(app, "timeline")["items"]]  # type: ignore[index]
    minor = next(s.seq for s in steps if s.seq not in lines)
    app.slider(key="run_slider").set_value(minor - 1).run()
    assert _told(app, "player")["next"] == next(s for s in lines if s >= minor)  # type: ignore[index]
    app.toggle(key="run_every_step").set_value(True).run()
    assert _told(app, "player")["next"] == minor  # type: ignore[index]


def test_a_run_that_took_long_or_is_not_over_is_not_offered_to_be_watched(
    page: Open, bench: FakeBench
) -> None:
    steps = record(answer_threshold=0.55)
    late = steps[-1].model_copy(update={"elapsed_ms": 60_000.0})
    bench.journal.append([*steps[:-1], late])
    app = page(RUN, run="recordedrun")
    assert _told(app, "player") is not None
    with pytest.raises(KeyError):
        app.button(key="run_watch")
    bench.journal.append([s.model_copy(update={"run_id": "going"}) for s in steps[:-1]])
    app = page(RUN, run="going")
    assert _told(app, "player") is None, "its steps come by themselves"


def test_a_run_that_is_not_here_is_said_and_a_new_one_offered(page: Open) -> None:
    app = page(RUN, run="nowhere")
    assert "There is no run" in html(app)
    assert app.button(key="new:ask").label == "Ask"


def test_hostile_text_is_shown_as_text_on_every_view(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(question=NASTY, answer_threshold=0.55))
    app = page(RUN, run="recordedrun")
    for view in ("belief", "gates", "evidence", "answer", "story"):
        app.get_by_key("run_view").set_value(view).run()
        assert not app.exception
        shown = html(app)
        assert "<script" not in shown
        assert "<img" not in shown
        assert "\u202e" not in shown
        assert "\u200b" not in shown
        assert not any("evil.example" in m.value for m in app.markdown)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "[U+202E]" in html(app)


def test_home_lists_recent_runs(page: Open, bench: FakeBench) -> None:
    for n in range(8):
        bench.journal.append(record(system="static", run_id=f"run{n}", question=f"Question {n}?"))
    app = page()
    assert "All 8 runs" in [link.label for link in app.page_link]


@pytest.mark.parametrize("path", ["app.py", RUN, RUNS, CORPUS])
@pytest.mark.parametrize("run", ["", "../../etc/passwd"])
def test_hostile_query_parameters_open_the_page_all_the_same(
    page: Open, path: str, run: str
) -> None:
    shown = html(
        page(
            path,
            run=run,
            step="1e9",
            system="staterag",
            corpus="../..",
            q=NASTY,
            hide=["nope", "<b>"],
            ws="../..",
            set=["beam=" + "[" * 100_000],
        )
    )
    assert "<h1>" in shown
    assert "<script" not in shown
    assert "Traceback" not in shown


def test_recent_runs_of_one_question_are_told_apart(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(run_id="plain"))
    bench.journal.append(record(run_id="changed", answer_threshold=0.55))
    bench.journal.append(record(system="static", run_id="other"))
    shown = html(page())
    assert shown.count(">BeliefRAG<") == 2
    assert shown.count(">Static RAG<") == 1
    assert shown.count(" changed</span>") >= 1
    assert "ago</span>" in shown or "just now" in shown or re.search(r">\d{4}-\d\d-\d\d<", shown)


@given(strategies.timedeltas(timedelta(0), timedelta(days=9)))
def test_a_time_ago_is_of_one_unit_and_never_too_long(gone: timedelta) -> None:
    now = datetime(2026, 3, 20, 12, tzinfo=UTC)
    told = home.ago(now - gone, now)
    units = {"min": 1, "h": 60, "day": 1440, "days": 1440}
    if found := re.fullmatch(r"(\d+) (min|h|days?) ago", told):
        minutes = int(found[1]) * units[found[2]]
        assert minutes <= gone.total_seconds() / 60 < minutes + units[found[2]]
    else:
        assert told == "just now" if gone < timedelta(minutes=1) else gone >= timedelta(days=7)


def test_a_sample_is_chosen_from_a_list_of_all_of_them(page: Open) -> None:
    app = page()
    box = app.selectbox(key="home:samples")
    offered = composer.samples("film_night")
    assert list(box.options) == offered
    box.set_value(offered[-1]).run()
    assert app.text_area(key=session.QUESTION).value == offered[-1]
    assert app.selectbox(key="home:samples").value is None, "so that it can be chosen again"


def test_every_system_is_offered_under_its_own_words(page: Open) -> None:
    options = page().selectbox(key=session.SYSTEM).options
    assert len(set(options)) == len(options) == len(registry.systems())
    assert not [o for o in options if "(system)" in o]
    assert all(": " in o for o in options if o.startswith("ragX "))
