"""Runs that go on: resumed after their process died, forked from a step, refused in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from components import launch, lineage, run_view, session
from components.run_store import store
from core import registry, trace
from core.events import ModelCalled, ParentStep, RunFinished, RunStarted, Step
from core.journal import RunFilter
from core.runs import RunSpec, execute
from core.settings import override
from core.systems.beliefrag.settings import BeliefRAGSettings
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, Open, html
from tests.app.recorded import NASTY, Kept, record
from tests.core.drawn import wide
from tests.core.world import deps, run

QUESTION = "Who did the voice of HAL 9000?"


def _recorded(bench: FakeBench, system: str = "beliefrag") -> list[Step]:
    """A whole run over a real index of a bundled corpus."""
    bench.library.ensure("film_night")
    known = registry.system(system)
    spec = RunSpec(known, QUESTION, known.settings(), run_id="whole")
    return list(execute(spec, bench.deps("film_night"), Kept()))


@pytest.mark.parametrize("name", list(registry.systems()))
def test_every_setting_that_differs_from_the_parents_is_told_and_no_other(name: str) -> None:
    kind = registry.system(name).settings
    before = run(name, deps())[0].event
    assert isinstance(before, RunStarted)
    assert lineage.changes(before, before) == []
    for seed in range(4):
        now = before.model_copy(
            update={"settings": override(kind(), wide(name, seed)).model_dump(mode="json")}
        )
        differing = [
            str(field.title)
            for n, field in kind.model_fields.items()
            if now.settings[n] != before.settings[n]
        ]
        assert [title for title, _, _ in lineage.changes(before, now)] == differing
        older = {k: v for k, v in before.settings.items() if k not in ("memory", "seed_terms")}
        assert lineage.changes(before.model_copy(update={"settings": older}), before) == []


def _wait(run_id: str) -> launch.Launch:
    """Until a started run is over; the page forgets a preparation once it has seen its run."""
    started = launch.launcher()._launches.get(run_id) or launch.Launch(run_id, "", "", "")
    if started.run_id in launch.launcher()._launches:
        assert started.done.wait(60)
    launch.launcher().pool.wait(started.run_id, 60)
    return started


def test_an_interrupted_run_is_resumed_under_its_own_id(page: Open, bench: FakeBench) -> None:
    steps = _recorded(bench)
    bench.journal.append(steps[:9])
    bench.journal.abandon("whole")
    app = page(RUN, run="whole")
    assert "Interrupted" in html(app)
    app.button(key="run_resume").click().run()
    started = _wait("whole")
    assert not started.problem
    assert bench.journal.run("whole").status == "finished"
    app.run()
    assert len(bench.journal.steps("whole")) == len(steps)
    assert "Interrupted" not in html(app)


def test_going_on_from_a_step_makes_a_new_run_with_the_same_past(
    page: Open, bench: FakeBench
) -> None:
    steps = _recorded(bench)
    bench.journal.append(steps)
    app = page(RUN, run="whole", set="answer_threshold=0.99")
    button = app.button(key="run_fork")
    turn = int(button.label.split()[-1])
    assert f"Step {turn} would come out as" in html(app), "the button names the step of the text"
    button.click().run()
    started = _wait(app.query_params["run"])
    assert not started.problem
    forked = bench.journal.steps(started.run_id)
    assert bench.journal.run(started.run_id).origin == "fork"
    kinds = [s.event.kind for s in steps[:turn]]
    assert [s.event.kind for s in forked[:turn]] == kinds
    app.run()
    assert app.query_params["run"] == started.run_id
    assert app.button(key="run_parent").label == f"Forked from step {turn - 1} of another run"
    assert "Answer threshold 0.5 → 0.99" in html(app)
    bench.journal.delete("whole")
    bench.journal.purge(deleted_before=datetime.now(UTC) + timedelta(days=1))
    app.run()
    assert "another run, which is not here any more" in html(app)


def test_a_fork_leads_to_the_step_it_was_forked_from(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    made = record(answer_threshold=0.99, run_id="made")
    started = made[0].event
    assert isinstance(started, RunStarted)
    parent = ParentStep(run_id="recordedrun", seq=12)
    first = started.model_copy(update={"origin": "fork", "parent": parent})
    bench.journal.append([made[0].model_copy(update={"event": first}), *made[1:]])
    app = page(RUN, run="made", set="top_k=2")
    app.button(key="run_parent").click().run()
    assert {k: app.query_params.get(k) for k in ("run", "step", "set")} == {
        "run": "recordedrun",
        "step": "12",
        "set": None,
    }
    assert app.slider(key="run_slider").value == 12
    app.session_state["run_children"] = True
    app.run()
    app.button(key="child:made").click().run()
    assert app.query_params["run"] == "made"
    assert "step" not in app.query_params


def test_a_run_lists_what_was_made_of_it_with_what_was_changed(
    page: Open, bench: FakeBench
) -> None:
    steps = _recorded(bench)
    bench.journal.append(steps)
    app = page(RUN, run="whole")
    assert not [p for p in app.get("popover") if "from this" in p.proto.popover.label]
    for settings in ("top_k=2", "answer_threshold=0.99"):
        app = page(RUN, run="whole", set=settings)
        app.button(key="run_again" if "top_k" in settings else "run_fork").click().run()
        _wait(app.query_params["run"])
    app = page(RUN, run="whole")
    (made,) = [p for p in app.get("popover") if "from this" in p.proto.popover.label]
    assert made.proto.popover.label == "2 runs from this"
    children = bench.journal.runs(RunFilter(parent_run="whole"))
    assert {c.origin for c in children} == {"fork", "live"}
    started = trace.start(steps)
    changed = {
        child.origin: lineage.changes(started, store().start(bench.journal, child.run_id))
        for child in children
    }
    assert changed["live"] == [(str(BeliefRAGSettings.model_fields["top_k"].title), "5", "2")]
    assert changed["fork"] == [("Answer threshold", "0.5", "0.99")]


def test_running_again_asks_the_same_question_under_the_settings_now(
    page: Open, bench: FakeBench
) -> None:
    bench.journal.append(_recorded(bench))
    app = page(RUN, run="whole", set="top_k=2")
    app.button(key="run_again").click().run()
    started = _wait(app.query_params["run"])
    again = bench.journal.run(started.run_id)
    assert again.question == QUESTION
    assert again.origin == "live"
    assert again.parent == ParentStep(run_id="whole", seq=0)
    first = bench.journal.steps(started.run_id)[0].event
    assert first.settings["top_k"] == 2  # type: ignore[union-attr]


@pytest.mark.parametrize("kept", [2, 9])
def test_a_resume_that_is_refused_says_why_above_the_run(
    page: Open, bench: FakeBench, kept: int
) -> None:
    bench.journal.append(record(answer_threshold=0.55)[:kept])  # its corpus is not here
    bench.journal.abandon("recordedrun")
    app = page(RUN, run="recordedrun")
    app.button(key="run_resume").click().run()
    said = html(app)
    _wait("recordedrun")
    app.run()
    assert "Unknown corpus" in said + html(app)
    app.run()
    assert app.button(key="run_resume"), "the run is there, and can be tried again"
    assert "Interrupted" in html(app)


def test_a_run_that_cannot_start_says_why_and_leaves_nothing(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun")
    app.button(key="run_again").click().run()
    started = _wait(app.query_params["run"])
    assert "Unknown corpus" in started.problem
    app.run()
    assert "Unknown corpus" in html(app)
    assert bench.journal.count() == 1


def test_a_model_that_is_not_named_is_asked_for(page: Open, bench: FakeBench) -> None:
    app = page()
    app.get_by_key(session.REASONER).set_value("llm").run()
    app.button(key="home:ask").click().run()
    assert "Name the language model" in html(app)
    assert bench.journal.count() == 0


def test_a_typed_key_is_neither_in_the_url_nor_on_the_page(page: Open) -> None:
    app = page()
    app.get_by_key(session.REASONER).set_value("llm").run()
    app.text_input(key=session.MODEL).set_value("openai/some-model").run()
    app.text_input(key=session.MODEL_KEY).set_value("sk-very-secret").run()
    assert "sk-very-secret" not in html(app)
    assert "sk-very-secret" not in str(app.query_params)
    assert "sk-very-secret" not in repr(launch.reader("openai/some-model"))


def test_prompts_are_shown_as_sent_beside_their_replies(page: Open, bench: FakeBench) -> None:
    steps = record(answer_threshold=0.55)
    call = ModelCalled(
        task="verify",
        prompt=f"Judge this: {NASTY}",
        reply="{}",
        model="some/model",
        tokens_in=10,
        tokens_out=2,
    )
    placed = steps[9].model_copy(update={"event": call})
    bench.journal.append([*steps[:9], placed, *steps[10:]])
    app = page(RUN, run="recordedrun")
    app.get_by_key(session.VIEW).set_value("prompts").run()
    shown = [block.value for block in app.code]
    assert any("Judge this: Ignore all rules <script>" in text for text in shown)
    assert not any("\u202e" in text for text in shown)
    assert isinstance(steps[-1].event, RunFinished)


@pytest.mark.parametrize("drawn", ["store", "_picture"])
def test_a_run_deleted_for_good_while_it_is_open_is_told_in_words(
    page: Open, bench: FakeBench, monkeypatch: pytest.MonkeyPatch, drawn: str
) -> None:
    """``drawn``: what is called before the page reads the run once more."""
    bench.journal.append(record()[:-1])
    before = getattr(run_view, drawn)

    def gone_by_now(*given: object) -> object:
        bench.journal.abandon("recordedrun")
        bench.journal.purge(corpus_id=bench.journal.run("recordedrun").corpus.id)
        monkeypatch.setattr(run_view, drawn, before)
        return before(*given)

    monkeypatch.setattr(run_view, drawn, gone_by_now)
    app = page(RUN, run="recordedrun")
    assert bench.journal.count() == 0
    assert "There is no run" in html(app)
