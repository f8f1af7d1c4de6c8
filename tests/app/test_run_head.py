"""The head of a run: how it ended, where it came from, what was made of it, what can be done."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core import endings
from core.events import RunFinished, Step
from core.export.page import dump
from tests.app.bench import FakeBench
from tests.app.conftest import RUN, RUNS, Open, html
from tests.app.recorded import record

CERTAIN = ">Answered</span>"
GUESS = ">Best guess</span>"


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
    whole = dump(steps)
    assert ("⚠ Best guess" in whole) != sure
    if way == "forced":
        why = endings.guess_of(steps)
        assert "below the threshold 0.99" in why
        assert why in _outcome(shown)
        assert why in whole
    assert bench.journal.run("recordedrun").terminal == "answered"
