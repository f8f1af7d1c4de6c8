"""The app in this process, over a workbench with fakes at its ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components import workspace
from tests.app.bench import FakeBench

ROOT = Path(__file__).resolve().parents[2]
RUN, RUNS, CORPUS = "pages/1_Run.py", "pages/2_Runs.py", "pages/3_Corpus.py"
Open = Callable[..., AppTest]


@pytest.fixture
def benches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, FakeBench]]:
    """The workbenches by workspace, as pages ask for them."""
    found: dict[str, FakeBench] = {}

    def bench(name: str) -> FakeBench:
        if name not in found:
            found[name] = FakeBench(root=tmp_path, workspace=name)
        return found[name]

    monkeypatch.setattr(workspace, "_bench", bench)
    monkeypatch.setattr(workspace, "warm", lambda: None)
    st.cache_resource.clear()
    yield found
    for made in found.values():
        made.journal.close()


@pytest.fixture
def bench(benches: dict[str, FakeBench]) -> FakeBench:
    """The shared workbench."""
    return workspace.bench_of(workspace.SHARED)  # type: ignore[return-value]


@pytest.fixture
def page(benches: dict[str, FakeBench]) -> Open:
    """Opens a page with query parameters, and runs it."""

    def opened(path: str = "app.py", **params: object) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        if path != "app.py":
            app.switch_page(path)
        for name, value in params.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception[0].message
        return app

    return opened


def html(app: AppTest) -> str:
    """Everything that a page shows through ``st.html``, the style sheet left out."""
    blocks = [str(block.value) for block in app.html]
    return "\n".join(block for block in blocks if not block.startswith("<style"))


def srcdoc(frame) -> str:  # type: ignore[no-untyped-def]
    return str(frame.proto.srcdoc)
