"""Whole runs with the llm reasoner: lineage, budgets, and how failures end."""

import json
import random

import pytest

from core.errors import AuthenticationFailed, ContextTooLong, ModelTimeout, ModelUnavailable
from core.events import Called, EvidenceChanged, ModelCalled, RunFinished
from core.reasoning.llm.reasoner import LLMReasoner
from tests.core import world
from tests.reasoning.llm.samples import GOOD, FakeGateway, good_text

SYSTEMS = ("static", "iterative", "beliefrag")


class TaskGateway(FakeGateway):
    """Answers each request with a good reply of its task, unless ``spoil`` says otherwise."""

    def __init__(self, spoil=lambda request: None):
        super().__init__([""])
        self.spoil = spoil

    def complete(self, request):
        line = self.spoil(request)
        self.script = [good_text(request.task) if line is None else line]
        return super().complete(request)


def run(name, gateway, **settings):
    made = LLMReasoner(gateway, world.Words(), wait=lambda _: None)
    deps = world.deps(reasoner=made)
    return world.run(name, deps, **settings)


def end(steps):
    finished = steps[-1].event
    assert isinstance(finished, RunFinished)
    return finished


def of(steps, kind):
    return [s.event for s in steps if isinstance(s.event, kind)]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_run_by_a_model_is_answered_and_every_request_is_on_record(name):
    gateway = TaskGateway()
    steps = run(name, gateway)
    assert end(steps).answer == "Night Ferry"
    calls = of(steps, ModelCalled)
    assert [c.prompt for c in calls] == [r.text() for r in gateway.requests]
    reasoner = [c for c in of(steps, Called) if c.port == "reasoner"]
    assert sum(c.tokens_in + c.tokens_out for c in reasoner) == end(steps).usage.tokens
    assert len(calls) == end(steps).usage.calls


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(
    ("error", "requests"),
    [
        (AuthenticationFailed("The provider refused the key."), 1),
        (ContextTooLong("The prompt does not fit."), 1),
        (ModelUnavailable("The server cannot be reached."), 3),
        (ModelTimeout("Too late."), 3),
    ],
)
def test_a_failing_model_ends_the_run_with_its_lineage_whole(name, error, requests):
    gateway = TaskGateway(lambda request: error)
    steps = run(name, gateway)
    assert end(steps).terminal == "incomplete"
    assert end(steps).reason == error.message
    assert len(gateway.requests) == requests == len(of(steps, ModelCalled))
    assert all(c.error for c in of(steps, ModelCalled))
    assert end(steps).usage.calls == requests
    assert of(steps, Called)[-1].error.startswith(error.code)
    assert [s.seq for s in steps] == list(range(len(steps)))


@pytest.mark.parametrize("name", SYSTEMS)
def test_prose_twice_commits_nothing(name):
    steps = run(name, TaskGateway(lambda request: "As I see it, the answer is clear."))
    assert end(steps).terminal == "incomplete"
    assert end(steps).answer is None
    assert not [e for e in of(steps, EvidenceChanged) if e.removed or e.banned]
    assert of(steps, Called)[-1].response is None
    assert [c.attempt for c in of(steps, ModelCalled)] == [1, 2]


def test_a_verifier_that_names_unknown_passages_prunes_nothing():
    bad = json.dumps({**GOOD["verify"], "unhelpful": [1, 2, 3, 44]})
    steps = run("beliefrag", TaskGateway(lambda r: bad if r.task == "verify" else None))
    assert end(steps).terminal == "incomplete"
    assert not [e for e in of(steps, EvidenceChanged) if e.removed]


@pytest.mark.parametrize("seed", range(12))
def test_no_budget_is_passed_whatever_the_model_writes(seed):
    rng = random.Random(seed)

    def spoil(request):
        return rng.choice(
            [
                None,
                None,
                "prose " * rng.randrange(900),
                ModelTimeout("late"),
                "",
                "{",
                good_text("plan"),
            ]
        )

    limits = {
        "token_budget": rng.randrange(900, 6_000),
        "max_calls": rng.randrange(1, 9),
        "max_rounds": rng.randrange(1, 4),
    }
    for name in SYSTEMS:
        own = {k: v for k, v in limits.items() if name != "static" or k != "max_rounds"}
        steps = run(name, TaskGateway(spoil), **own)
        usage = end(steps).usage
        assert usage.tokens <= limits["token_budget"]
        assert usage.calls <= limits["max_calls"]
