"""Where the evidence says it, BeliefRAG ends by its answer gate, and the gate is what ends it."""

import pytest

from core.events import RunFinished
from core.replay import replay
from tests.corpora.worlds import World, passages, world

CORPUS = "film_night"
ASKED = {
    "Who is the spouse of the actor who plays Jarvis in Iron Man?": "Jennifer Connelly",
    "Who is the father of the man who directed Moon?": "David Bowie",
    "Who is older, Emma Thompson or Jennifer Connelly?": "Emma Thompson",
}


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> World:
    return world(tmp_path_factory.mktemp("films"), passages(CORPUS))


@pytest.mark.parametrize("question", ASKED)
def test_the_answer_gate_ends_the_run_and_a_higher_threshold_ends_it_otherwise(
    films: World, question: str
) -> None:
    steps = films.run("beliefrag", question)
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert (end.terminal, end.branch, end.answer) == ("answered", "answer", ASKED[question])
    report = replay(steps, {"answer_threshold": 0.99})
    assert report.first_divergence is not None
    assert report.first_divergence.recorded == "answer"
