"""The abstraction memory on the corpus page: built from there, searched and walked."""

from __future__ import annotations

import pytest

from components import session, tam_explorer, tam_labels
from components.jobs import graph_jobs
from core.types import CorpusRef
from tests.app.bench import FakeBench
from tests.app.conftest import CORPUS, Open, html, srcdoc
from tests.app.navigating import ROOT
from tests.app.test_corpus_page import FILES


@pytest.fixture
def indexed(bench: FakeBench) -> FakeBench:
    bench.library.add_files("keepers", FILES)
    bench.library.index("keepers")
    return bench


def _explore(page: Open):  # type: ignore[no-untyped-def]
    app = page(CORPUS, corpus="keepers")
    return app.get_by_key(session.CORPUS_VIEW).set_value("graph").run()


def _built(page: Open):  # type: ignore[no-untyped-def]
    app = _explore(page)
    assert "Not built yet" in html(app)
    app.button(key="tam_build").click().run()
    job = graph_jobs().get("shared", "keepers")
    assert job is not None
    assert job.done.wait(60)
    assert not job.problem
    return app.run()


def test_the_graph_is_built_from_the_page_and_explored(page: Open, indexed: FakeBench) -> None:
    app = _built(page)
    assert app.get("iframe")
    assert "EVIDENCE" in html(app)
    app.text_input(key=session.TAM_FIND).set_value("lamp").run()
    app.get_by_key(session.TAM_KIND).set_value("EVIDENCE").run()
    (show,) = [b for b in app.button if b.label == "Show"]
    show.click().run()
    shown = html(app)
    assert "The lamp was changed in 1951." in shown
    assert "Above: " in shown
    assert "Below: 0 children" in shown
    app.button(key="tam_open").click().run()
    assert "characters 0 to" in html(app)
    app.text_input(key=session.TAM_FIND).set_value("zzzz").run()
    assert "No node matches" in html(app)


def test_parents_and_children_agree(page: Open, indexed: FakeBench) -> None:
    from core.systems.staterag.tam_graph import IndexGraph

    index = indexed.library.open("keepers")
    graph = IndexGraph.of(index)
    assert graph.stored() is None, "looking does not build"
    names = tam_labels.Names({}, graph=graph, tam=graph.tam())
    assert graph.stored() is names.tam
    assert names.tam is not None
    for node in names.tam.ids:
        parents, children = tam_explorer.around(names, node)
        for parent in parents:
            assert node in tam_explorer.around(names, parent)[1]
        assert bool(children) == (names.tam.types[names.tam.ids.index(node)] != 3)


def test_hostile_documents_are_text_in_the_explorer(page: Open, indexed: FakeBench) -> None:
    app = _built(page)
    for button in [b for b in app.button if b.label == "Show"][:4]:
        button.click().run()
        shown = html(app)
        assert "<b>bold" not in shown
        (frame,) = app.get("iframe")
        assert "<b>bold" not in srcdoc(frame)


def test_a_run_over_another_state_of_the_corpus_says_so(indexed: FakeBench) -> None:
    reference = indexed.library.open("keepers").corpus
    from core.types import Access

    stale = tam_labels.names(indexed.library, reference, "root:other", {}, Access())
    assert stale.graph is None
    assert "has changed" in stale.why
    gone = tam_labels.names(
        indexed.library, CorpusRef(id="nowhere", version="x"), ROOT, {}, Access()
    )
    assert "not indexed here" in gone.why
    assert gone.label("relation:abcdef123", "RELATION") == "relation abcdef"
