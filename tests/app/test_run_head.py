"""The head of a run: how it ended, where it came from, what was made of it, what can be done."""

from __future__ import annotations

import html as html_library
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components import session, story
from components.judging import JUDGED
from core import endings
from core.events import RunFinished, RunStarted, Step
from core.export.page import dump
from core.journal import Label
from core.types import CorpusRef
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, RUNS, Open, html
from tests.app.recorded import record

CERTAIN = ">Answered</span>"
GUESS = ">Best guess</span>"
FOUND, NOT_FOUND = ">found in the sources<", ">not found in the sources<"
STANDS = ">its words stand in the sources<"


def _ungrounded(steps: list[Step]) -> list[Step]:
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    changed = end.model_copy(update={"grounded": False, "citations": ()})
    return [*steps[:-1], steps[-1].model_copy(update={"event": changed})]


def _outcome(app: AppTest) -> str:
    """The line that says how the run ended."""
    return html(app).split('<div class="ri-outcome">')[1].split("</div>")[0]


@pytest.mark.parametrize("way", ["fired", "forced", "ungrounded"])
def test_a_best_guess_is_told_apart_wherever_a_run_is_shown(
    page: Open, bench: FakeBench, way: str
) -> None:
    steps = record(answer_threshold=0.99 if way == "forced" else 0.55)
    if way == "ungrounded":
        steps = _ungrounded(steps)
    bench.journal.append(steps)
    sure = way == "fired"
    for shown in (page(), page(RUNS), page(RUN, run="recordedrun")):
        assert (CERTAIN in _outcome(shown)) == sure
        assert (GUESS in _outcome(shown)) != sure
        assert (CERTAIN in html(shown)) == sure
    grounding = {"fired": FOUND, "forced": STANDS, "ungrounded": NOT_FOUND}[way]
    whole = dump(steps).lower()
    app = page(RUN, run="recordedrun")
    answer = html(app.get_by_key(session.VIEW).set_value("answer").run())
    for part in (_outcome(page(RUN, run="recordedrun")), answer, whole):
        assert grounding in part
        assert not {FOUND, STANDS, NOT_FOUND} - {grounding} & set(re.findall(">[^<>]+<", part))
    if way == "forced":
        for part in (answer, whole):
            assert endings.STANDS.lower() in html_library.unescape(part).lower()
    lines = story.lines(steps, None, {}, {}, guess=bool(endings.guess_of(steps)))
    assert lines[-1]["icon"] == ("check_circle" if sure else "warning")
    app = page(RUN, run="recordedrun")
    app.get_by_key(session.VIEW).set_value("story").run()
    told = html(app).split('<ol class="ri-story">')[1].split("</ol>")[0]
    assert (">warning<" in told) != sure
    whole = dump(steps)
    assert ("⚠ Best guess" in whole) != sure
    if way == "forced":
        why = endings.guess_of(steps)
        assert "below the threshold 0.99" in why
        assert why in _outcome(shown)
        assert why in whole
    assert bench.journal.run("recordedrun").terminal == "answered"


def test_a_new_question_begins_empty_and_keeps_how_it_was_asked(
    page: Open, bench: FakeBench
) -> None:
    bench.library.ensure("film_night")
    steps = record(run_id="mine", top_k=3)
    started = steps[0].event
    assert isinstance(started, RunStarted)
    corpus = CorpusRef(id="film_night", version="v1")
    first = started.model_copy(update={"corpus": corpus, "model": "some/model"})
    bench.journal.append([steps[0].model_copy(update={"event": first}), *steps[1:]])
    app = page()
    app.selectbox(key=session.SYSTEM).set_value("static").run()
    app.text_area(key=session.QUESTION).set_value("What was asked before?").run()
    app.switch_page(RUN)
    app.query_params.update({"run": "mine", "step": "4", "set": "answer_threshold=0.9"})
    app.run()
    app.button(key="run_new").click().run()
    assert not app.exception
    assert app.text_area(key=session.QUESTION).value == ""
    assert app.selectbox(key=session.CORPUS).value == "film_night"
    assert app.selectbox(key=session.SYSTEM).value == "beliefrag"
    assert app.get_by_key(session.REASONER).value == "llm"
    assert app.text_input(key=session.MODEL).value == "some/model"
    assert len(app.selectbox(key="new:samples").options) > 3
    changed = session_of(app)
    assert changed["top_k"] == 3
    assert changed["answer_threshold"] == 0.9
    assert not {"run", "step", "q"} & set(app.query_params)
    assert sorted(app.query_params["set"])[0].startswith("answer_threshold")
    app.run()
    assert app.text_area(key=session.QUESTION).value == ""
    assert session_of(app) == changed


def session_of(app: AppTest) -> dict[str, Any]:
    """The settings of BeliefRAG that are not at their defaults, as the page holds them."""
    found: dict[str, Any] = app.session_state["settings_changed"]["beliefrag"]
    return found


@pytest.mark.parametrize("label", list(JUDGED))
def test_an_answer_is_judged_on_the_run_itself(page: Open, bench: FakeBench, label: Label) -> None:
    bench.journal.append(record(answer_threshold=0.55))
    app = page(RUN, run="recordedrun")
    app.session_state["run_mark"] = True
    app.run()
    app.get_by_key("label:recordedrun").set_value(label).run()
    assert bench.journal.run("recordedrun").label == label
    if label != "unanswerable":
        app.session_state["run_mark"] = True
        app.run()
        app.text_input(key="right:recordedrun").set_value("Ada Brook").run()
        assert bench.journal.run("recordedrun").right_answer == "Ada Brook"
    assert JUDGED[label].word.lower() in html(page(RUNS)).lower()


def test_a_run_that_is_not_over_is_not_judged(page: Open, bench: FakeBench) -> None:
    bench.journal.append(record()[:-1])
    app = page(RUN, run="recordedrun")
    assert not [p for p in app.get("popover") if p.proto.popover.label.startswith("Mark")]


@pytest.mark.parametrize(("given", "opened"), [("story", "story"), ("nonsense", "belief")])
def test_the_open_view_is_in_the_address(
    page: Open, bench: FakeBench, given: str, opened: str
) -> None:
    bench.journal.append(record())
    app = page(RUN, run="recordedrun", view=given)
    assert app.get_by_key(session.VIEW).value == opened
    app.get_by_key(session.VIEW).set_value("gates").run()
    assert app.query_params["view"] in ("gates", ["gates"])
    app.get_by_key(session.VIEW).set_value("belief").run()
    assert "view" not in app.query_params
