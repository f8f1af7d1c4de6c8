"""The front page's list of recent runs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from components import composer, session
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


def test_the_last_questions_of_the_chosen_corpus_are_offered_to_be_asked_again(
    page: Open, bench: FakeBench
) -> None:
    sample = composer.samples("film_night")[7]
    for question in ("One?", "Two?", "Three?", sample, "Four?", "Three?", "Five?"):
        asked(bench, question)
    asked(bench, "Of another corpus?", "music_labels")
    asked(bench, "Thrown away?", deleted=True)
    app = page()
    choices = app.selectbox(key="home:samples")
    before = ["Five?", "Three?", "Four?", sample, "Two?"]
    assert choices.options[:6] == [
        *(f"Asked before: {question}" for question in before),
        composer.samples("film_night")[0],
    ]
    assert len(choices.options) == len({*before, *composer.samples("film_night")})
    choices.select_index(1).run()
    assert app.text_area(key=session.QUESTION).value == "Three?"
    app.selectbox(key=session.CORPUS).set_value("support_desk").run()
    offered = app.selectbox(key="home:samples").options
    assert offered == composer.samples("support_desk"), "nothing was asked of it"


def test_a_corpus_without_samples_offers_what_was_asked_of_it(page: Open, bench: FakeBench) -> None:
    bench.library.add_files("mine", [("a.txt", b"A lamp.")])
    app = page(corpus="mine")
    assert not [s for s in app.selectbox if s.key == "home:samples"]
    asked(bench, "What **is** lit?", "mine")
    app = page(corpus="mine")
    assert app.selectbox(key="home:samples").options == ["Asked before: What **is** lit?"]


def asked(
    bench: FakeBench, question: str, corpus: str = "film_night", *, deleted: bool = False
) -> None:
    """A run that asked a question of a corpus, each newer than the one before."""
    run_id = new_run_id()
    steps = [step.model_copy(update={"run_id": run_id}) for step in run("static")]
    first = steps[0].event
    started = first.model_copy(
        update={
            "question": question,
            "corpus": first.corpus.model_copy(update={"id": corpus}),
        }
    )
    at = steps[0].at + timedelta(minutes=bench.journal.count())
    bench.journal.append([steps[0].model_copy(update={"event": started, "at": at}), *steps[1:]])
    if deleted:
        bench.journal.delete(run_id)


def keep(bench: FakeBench, name: str, settings: SystemSettings) -> None:
    """A run that says it was started so; its steps are of another system."""
    run_id = new_run_id()
    steps = [step.model_copy(update={"run_id": run_id}) for step in run("static")]
    values = settings.model_dump(mode="json")
    started = steps[0].event.model_copy(update={"system": name, "settings": values})
    bench.journal.append([steps[0].model_copy(update={"event": started}), *steps[1:]])
