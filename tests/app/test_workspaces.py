"""Served: a workspace is a capability in the link, and two never meet."""

from __future__ import annotations

import re

import pytest

from components import launch, session, workspace
from tests.app.bench import FakeBench
from tests.app.conftest import CORPUS, RUN, RUNS, Open, html
from tests.app.recorded import QUESTION, record

ONE, TWO = "0" * 31 + "1", "0" * 31 + "2"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_INSPECTOR_SERVED", "1")


def test_locally_there_is_one_shared_workspace(page: Open, benches: dict[str, FakeBench]) -> None:
    app = page()
    assert "ws" not in app.query_params
    assert list(benches) == ["shared"]


@pytest.mark.usefixtures("served")
def test_a_newcomer_gets_a_capability_of_128_bits(
    page: Open, benches: dict[str, FakeBench]
) -> None:
    first, second = page(), page()
    links = {first.query_params["ws"], second.query_params["ws"]}
    assert len(links) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", link) for link in links)
    assert not any(link in name for link in links for name in benches)


@pytest.mark.usefixtures("served")
def test_the_link_brings_a_workspace_back_and_another_one_does_not(
    page: Open, benches: dict[str, FakeBench]
) -> None:
    page(RUNS, ws=ONE)
    (mine,) = benches.values()
    mine.journal.append(record(system="static"))
    mine.library.add_files("secret_notes", [("a.txt", b"A secret.")])
    assert QUESTION in html(page(RUNS, ws=ONE))
    assert QUESTION in html(page(RUN, ws=ONE, run="recordedrun"))
    assert QUESTION not in html(page(RUNS, ws=TWO))
    stranger = page(RUN, ws=TWO, run="recordedrun")
    assert "There is no run" in html(stranger)
    assert QUESTION not in html(stranger)
    assert "secret_notes" in page(CORPUS, ws=ONE).selectbox(key=session.CORPUS_CHOSEN).options[-1]
    options = page(CORPUS, ws=TWO).selectbox(key=session.CORPUS_CHOSEN).options
    assert not any("secret" in option for option in options)


@pytest.mark.usefixtures("served")
def test_a_run_being_prepared_is_not_seen_from_another_workspace(
    page: Open, benches: dict[str, FakeBench]
) -> None:
    page(ws=ONE)
    (mine,) = benches.values()
    system = "static"
    from core import registry

    kind = registry.system(system).settings
    key = launch.launcher().start(mine, "film_night", system, "A secret question?", kind())
    assert launch.launcher().get(mine.workspace, key) is not None
    assert launch.launcher().get("shared", key) is None
    assert "secret question" not in html(page(RUN, ws=TWO, run=key))
    launch.launcher()._launches[key].done.wait(60)
    launch.launcher().pool.wait(key, 60)


@pytest.mark.usefixtures("served")
def test_every_link_to_another_page_carries_the_workspace(page: Open) -> None:
    app = page(ws=ONE)
    assert all(f"ws={ONE}" in link.proto.query_string for link in app.page_link)


@pytest.mark.usefixtures("served")
def test_a_forged_capability_is_replaced(page: Open, benches: dict[str, FakeBench]) -> None:
    app = page(ws="../../shared")
    assert re.fullmatch("[0-9a-f]{32}", app.query_params["ws"])
    assert all(re.fullmatch("ws-[0-9a-f]{32}", name) for name in benches)
    assert workspace.SHARED not in benches


@pytest.mark.usefixtures("served")
def test_ten_sessions_share_neither_corpora_nor_runs_nor_keys(
    page: Open, benches: dict[str, FakeBench]
) -> None:
    links = [f"{n:032x}" for n in range(10)]
    sessions = []
    for n, link in enumerate(links):
        known = set(benches)
        app = page(ws=link)
        (name,) = set(benches) - known
        benches[name].library.add_files(f"corpus_{n}", [("a.txt", f"Secret {n}.".encode())])
        benches[name].journal.append(
            record(system="static", run_id=f"run{n}", question=f"What is secret {n}?")
        )
        app.get_by_key(session.REASONER).set_value("llm").run()
        app.text_input(key=session.MODEL_KEY).set_value(f"key-of-{n}").run()
        sessions.append(app)
    assert len(benches) == 10
    for n, (link, app) in enumerate(zip(links, sessions, strict=True)):
        app.run()
        assert app.session_state[session.MODEL_KEY] == f"key-of-{n}"
        shown = html(app) + html(page(RUNS, ws=link))
        options = str(page(CORPUS, ws=link).selectbox(key=session.CORPUS_CHOSEN).options)
        for other in range(10):
            assert (f"What is secret {other}?" in shown) == (other == n)
            assert (f"corpus_{other}" in options) == (other == n)
            assert f"key-of-{other}" not in shown
        again = page(ws=link)
        assert session.MODEL_KEY not in again.session_state, "a key stays in its session"


@pytest.mark.usefixtures("served")
def test_the_index_that_all_share_is_not_for_a_visitor_to_delete(page: Open) -> None:
    app = page(CORPUS, ws=ONE, corpus="film_night")
    assert "corpus_delete" not in [b.key for b in app.button]
