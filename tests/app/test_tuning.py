"""Settings on the page: generated from the fields, in the URL, and re-deciding a finished run."""

from __future__ import annotations

import pytest

from components import ghosts, session, settings_panel
from core import registry
from core.events import RunFinished
from core.settings import extra, override
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, Open, html
from tests.app.recorded import record

ANSWER = session.setting_key("beliefrag", "answer_threshold")


@pytest.mark.parametrize("name", list(registry.systems()))
def test_every_setting_of_every_system_has_a_widget(page: Open, name: str) -> None:
    app = page(RUN, system=name)
    app.toggle(key=session.ADVANCED).set_value(True).run()
    assert not app.exception
    kind = registry.system(name).settings
    for field in kind.model_fields:
        if extra(kind, field):
            widget = app.get_by_key(session.setting_key(name, field))
            assert widget.label.startswith(str(kind.model_fields[field].title))


def test_only_plain_settings_are_shown_at_first(page: Open) -> None:
    app = page(RUN, system="beliefrag")
    assert app.slider(key=ANSWER).value == 0.5
    with pytest.raises(KeyError):
        app.get_by_key(session.setting_key("beliefrag", "w_gap_gap"))


def test_a_changed_setting_is_marked_and_stands_in_the_url(page: Open) -> None:
    app = page(RUN, system="beliefrag")
    app.slider(key=ANSWER).set_value(0.7).run()
    assert app.query_params["set"] == "answer_threshold=0.7"
    assert any("default 0.5" in c.value for c in app.caption)
    app.button(key="reset:beliefrag").click().run()
    assert app.slider(key=ANSWER).value == 0.5
    assert "set" not in app.query_params


def test_settings_in_the_url_are_taken_and_bad_ones_refused_in_words(page: Open) -> None:
    app = page(RUN, system="beliefrag", set=["answer_threshold=0.8", "channel=dense"])
    assert app.slider(key=ANSWER).value == 0.8
    assert app.selectbox(key=session.setting_key("beliefrag", "channel")).value == "dense"
    app = page(RUN, system="beliefrag", set="answer_treshold=0.8")
    assert "Did you mean &#x27;answer_threshold&#x27;" in html(app)
    assert app.slider(key=ANSWER).value == 0.5


def test_own_coefficients_are_typed_as_json_and_checked(page: Open) -> None:
    app = page(RUN, system="beliefrag")
    app.toggle(key=session.ADVANCED).set_value(True).run()
    key = session.setting_key("beliefrag", "answerability")
    app.text_area(key=key).set_value("{not json").run()
    assert "This is no JSON" in html(app)
    app.text_area(key=key).set_value('{"intercept": 0.5, "support": 1.0}').run()
    assert "This is no JSON" not in html(app)
    assert '"support":1.0' in app.query_params["set"]


def test_a_moved_slider_re_decides_a_finished_run_at_once(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun")
    app.get_by_key(session.RAIL).set_value("settings").run()
    assert app.slider(key=ANSWER).value == 0.55, "the panel starts as the run was made"
    app.slider(key=ANSWER).set_value(0.9).run()
    shown = html(app)
    assert "Under the settings now (Answer threshold changed)" in shown
    assert "Step 27 would come out as" in shown
    app.get_by_key(session.VIEW).set_value("gates").run()
    shown = html(app)
    assert "0.7417 ≥ 0.5500" in shown or "≥ 0.5500" in shown, "the recorded value stays"
    assert "≥ 0.9000: does not fire" in shown, "the re-decided one is a ghost"
    app.button(key="recorded:beliefrag").click().run()
    assert "Under the settings now" not in html(app)


def test_a_setting_that_changes_what_was_fetched_is_unknown_from_its_first_use(
    page: Open, bench: FakeBench
) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun", set="top_k=3")
    shown = html(app)
    assert "Unknown from step 5" in shown
    assert "run again to see it" in shown


def test_the_run_page_starts_as_recorded_and_the_url_tells_what_was_changed(
    page: Open, bench: FakeBench
) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun", set="flip_threshold=0.3")
    app.get_by_key(session.RAIL).set_value("settings").run()
    assert app.slider(key=ANSWER).value == 0.55
    app.slider(key=ANSWER).set_value(0.5).run()
    assert set(app.query_params["set"]) == {"flip_threshold=0.3", "answer_threshold=0.5"}


def test_ghosts_of_unchanged_settings_are_none(bench: FakeBench) -> None:
    steps = record(answer_threshold=0.55)
    bench.journal.append(steps)
    kind = registry.system("beliefrag").settings
    recorded = override(kind(), {"answer_threshold": 0.55, "profile": "paper"})
    same = ghosts.redecide(bench.journal, "recordedrun", steps, recorded, recorded)
    assert same is ghosts.NONE
    heavier = override(recorded, {"w_sufficiency_support": 5.0})
    moved = ghosts.redecide(bench.journal, "recordedrun", steps, recorded, heavier)
    assert moved.readings[26].values["sufficiency"] > 0.35
    assert moved.readings[2].values["sufficiency"] == pytest.approx(0.042, abs=5e-4)
    assert moved.greyed_from is None


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0])
def test_where_the_answer_is_said_to_be_read_alike_a_real_run_reads_it_alike(
    bench: FakeBench, threshold: float
) -> None:
    steps = record(answer_threshold=0.55)
    bench.journal.append(steps)
    kind = registry.system("beliefrag").settings
    recorded = override(kind(), steps[0].event.settings)  # type: ignore[union-attr]
    now = override(recorded, {"answer_threshold": threshold})
    ghost = ghosts.redecide(bench.journal, "recordedrun", steps, recorded, now)
    other = record(answer_threshold=threshold)
    assert ghost.reads_alike == (threshold > 0.75)
    if ghost.reads_alike:
        first, last = steps[-1].event, other[-1].event
        assert isinstance(first, RunFinished)
        assert isinstance(last, RunFinished)
        assert (first.answer, first.evidence, first.citations) == (
            last.answer,
            last.evidence,
            last.citations,
        )
        assert (first.branch, last.branch) == ("answer", "stop")
        assert ghost.greyed_from is None


def test_what_differs_from_the_defaults_is_what_is_kept() -> None:
    kind = registry.system("beliefrag").settings
    changed = override(kind(), {"top_k": 3, "channel": "dense"})
    assert settings_panel.differing(changed) == {"top_k": 3, "channel": "dense"}
    assert settings_panel.differing(kind()) == {}


@pytest.mark.parametrize("name", list(registry.systems()))
def test_no_label_names_its_unit_twice(name: str) -> None:
    kind = registry.system(name).settings
    for key, field in kind.model_fields.items():
        unit = str(extra(kind, key).get("unit") or "")
        label = f"{field.title}{settings_panel._unit(str(field.title), unit)}".lower()
        if len(unit) > 1:
            assert label.count(unit.removesuffix("s").lower()) == 1, label
        elif unit:
            assert label.endswith(f"({unit})")
