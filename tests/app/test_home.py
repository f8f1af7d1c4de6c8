"""The front page's list of recent runs."""

from __future__ import annotations

import pytest

from components import session
from core import registry
from core.runs import new_run_id
from core.settings import SystemSettings, override
from tests.app.bench import FakeBench
from tests.app.conftest import Open, html
from tests.core.world import run


@pytest.mark.parametrize("place", ["the command line", "these pages"])
@pytest.mark.parametrize("name", list(registry.systems()))
def test_only_what_a_person_changed_counts_as_changed(
    page: Open, bench: FakeBench, name: str, place: str
) -> None:
    kind = registry.system(name).settings
    usual = kind() if place == "the command line" else session.defaults(kind)
    keep(bench, name, usual)
    assert "changed</span>" not in html(page())
    keep(bench, name, override(usual, {"max_seconds": 599, "max_calls": 39}))
    assert html(page()).count("2 settings changed</span>") == 1


def keep(bench: FakeBench, name: str, settings: SystemSettings) -> None:
    """A run that says it was started so; its steps are of another system."""
    run_id = new_run_id()
    steps = [step.model_copy(update={"run_id": run_id}) for step in run("static")]
    values = settings.model_dump(mode="json")
    started = steps[0].event.model_copy(update={"system": name, "settings": values})
    bench.journal.append([steps[0].model_copy(update={"event": started}), *steps[1:]])
