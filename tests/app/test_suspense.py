"""A run watched from its start tells nothing of its end before its last step or "Reveal"."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from components import session
from core.events import RunFinished, Step
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, Open, html
from tests.app.foraging import foraged
from tests.app.navigating import navigated
from tests.app.recorded import record

HIDDEN = "The end is hidden"
RUNS: dict[str, Callable[[], list[Step]]] = {
    "beliefrag": lambda: record(answer_threshold=0.55),
    "staterag": navigated,
    "ragx": lambda: foraged(run_id="recordedrun"),
}


def _open(page: Open, bench: FakeBench, steps: list[Step], **params: object) -> AppTest:
    if not bench.journal.runs():
        bench.journal.append(steps)
    return page(RUN, run=steps[0].run_id, **params)


def _outcome(app: AppTest) -> str:
    return html(app).split('<div class="ri-outcome">')[1].split("</div>")[0]


def _seen(app: AppTest) -> str:
    """All that the page tells: its own markup, and what its components are given."""
    given = [str(e.proto) for e in app.main.get("bidi_component")]
    return html(app) + "".join(given)


def _keys(app: AppTest) -> set[str]:
    return {str(b.key) for b in app.button}


@pytest.mark.parametrize("name", list(RUNS))
def test_nothing_tells_the_end_before_it_is_reached(
    page: Open, bench: FakeBench, name: str
) -> None:
    steps = RUNS[name]()
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    before_the_end = str(next(s for s in steps[::-1] if s.stage != steps[-1].stage).seq)
    for step in ("0", before_the_end):
        app = _open(page, bench, steps, step=step, hide="end")
        for view in app.get_by_key(session.VIEW).options:
            app.get_by_key(session.VIEW).set_value(view).run()
            assert not app.exception
            assert _outcome(app).count("ri-chip") == 1
            assert HIDDEN in _outcome(app)
            assert "Finished, " not in _seen(app)
            assert step != "0" or str(end.answer) not in _seen(app), "no step has found it yet"
            assert "run_reveal" in _keys(app)
        app.button(key="run_reveal").click().run()
        assert "Finished, " in _seen(app)
        assert str(end.answer) in _seen(app)


def test_the_end_stays_hidden_step_by_step_and_is_shown_for_good_at_the_last(
    page: Open, bench: FakeBench
) -> None:
    steps = RUNS["beliefrag"]()
    app = _open(page, bench, steps)
    app.button(key="run_watch").click().run()
    while app.session_state[session.CURSOR] < steps[-1].seq:
        assert HIDDEN in _outcome(app)
        app.button(key="step_next").click().run()
    assert HIDDEN not in _outcome(app)
    assert "Jennifer Connelly" in _outcome(app)
    app.button(key="step_back").click().run()
    assert HIDDEN not in _outcome(app)


def test_reveal_shows_the_end_at_any_step(page: Open, bench: FakeBench) -> None:
    app = _open(page, bench, RUNS["beliefrag"]())
    app.button(key="run_watch").click().run()
    app.button(key="run_reveal").click().run()
    assert "Jennifer Connelly" in _outcome(app)
    assert app.session_state[session.CURSOR] == 0
    assert "hide" not in app.query_params
    assert "run_reveal" not in _keys(app)


def test_a_link_may_hand_a_run_out_with_its_end_hidden_and_hides_no_panel_by_it(
    page: Open, bench: FakeBench
) -> None:
    app = _open(page, bench, RUNS["beliefrag"](), step="2", hide=["settings", "end"])
    assert HIDDEN in _outcome(app)
    app.button(key="run_reveal").click().run()
    assert HIDDEN not in _outcome(app)
    assert app.query_params["hide"] in ("settings", ["settings"])
