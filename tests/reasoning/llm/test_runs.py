"""Whole runs with the llm reasoner: lineage, budgets, and how failures end."""

import json
import random

import pytest

from core.errors import AuthenticationFailed, ContextTooLong, ModelTimeout, ModelUnavailable
from core.events import Called, EvidenceChanged, ModelCalled, RunFinished
from core.reasoning.llm.reasoner import LLMReasoner
from core.registry import systems
from tests.core import world
from tests.reasoning.llm.mutations import mutated
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


MARK = "zqx17"


def rooted(events):
    """What a run holds besides the record of the model's own traffic."""
    traffic = (ModelCalled,)
    return [e.model_dump_json() for e in events if not isinstance(e, traffic)]


@pytest.mark.parametrize("name", [name for name in systems() if not name.startswith("ragx-")])
def test_fuzz_nothing_of_an_invalid_reply_is_ever_committed(name):
    """Every text of a mutated reply is marked; a mark may be found only in what was validated."""
    rng = random.Random(f"fuzz {name}")
    invalid = 0
    for _ in range(12):
        marks: dict[str, str] = {}

        def spoil(request, marks=marks):
            if rng.random() < 0.5:
                return None
            mark = f"{MARK}{len(marks):03}q"
            marks[mark] = request.task
            return mutated(request.task, rng, mark)

        steps = run(name, TaskGateway(spoil))
        assert end(steps).usage.calls == len(of(steps, ModelCalled))
        events = [s.event for s in steps]
        refused, pending = set(), []
        for event in events:
            if isinstance(event, ModelCalled):
                pending.append(event)
            elif isinstance(event, Called) and event.port == "reasoner":
                own = [{m for m in marks if m in call.reply} for call in pending]
                used = json.dumps(event.response)
                for call, found in zip(pending, own, strict=True):
                    if call.error is not None:
                        refused |= {m for m in found if m not in used}
                if event.error is not None:
                    assert event.response is None
                    invalid += bool(pending and pending[-1].error)
                pending = []
        told = "".join(rooted(events))
        assert not [m for m in refused if m in told]
    assert invalid
