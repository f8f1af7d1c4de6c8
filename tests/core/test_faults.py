"""Every fault at every stage of every system, held against what was expected beforehand."""

from __future__ import annotations

from typing import Any

import pytest

from core import malformed, registry, trace
from core.errors import BadInput, MalformedOutput, RetrieverTimeout
from core.events import Called, EvidenceChanged, FaultInjected, RunFinished, Step, Warned
from core.faults import FAULTS, Fault, unstruck
from core.journal import Journal
from core.reasoning.replies import validate_reply
from core.runs import execute
from core.tasks import (
    TASKS,
    Abstraction,
    ClaimVerdict,
    ClaimVerdicts,
    Decomposition,
    Fact,
    Facts,
    ForageReply,
    Grades,
    HopAnswer,
    PassageGrade,
    Plan,
    Reading,
    Reply,
    Rewrite,
    Routing,
    Support,
    Verification,
    WrittenQuery,
)
from tests.core.world import deps, run, spec

SETTINGS: dict[str, dict[str, Any]] = {
    "beliefrag": {"answer_threshold": 0.9, "max_actions": 12},
    "ragx-fast": {"slot_chain": True},
    "staterag": {"bypass_margin": 1.0, "memory": "shared"},
}
"""Settings under which a run visits every stage."""

# The expected end of each cell, by the stages in which the fault is met; where it is not met, the
# run ends as it would have. Why: without evidence a retriever's failure fails the run, and finding
# nothing makes it abstain; a reasoner's failure leaves it incomplete and commits nothing; a budget
# that ends while evidence is held and the answer is reserved lets it answer; a full disk fails it.
RETRIEVER = {"retriever-timeout", "retriever-error", "stale-index"}
MODEL = {
    "malformed-output",
    "model-refusal",
    "model-timeout",
    "rate-limit",
    "auth-error",
    "context-too-long",
}
EVERYWHERE = object()
Row = dict[Any, str]


def _table(searches: str, asks: tuple[str, ...], rest: dict[str, Row]) -> dict[str, Row]:
    """Rows that follow from where a system searches and asks, and the rows of its own."""
    rows: dict[str, Row] = {name: {searches: "failed"} for name in RETRIEVER}
    rows |= {name: dict.fromkeys(asks, "incomplete") for name in MODEL}
    rows["disk-full"] = {EVERYWHERE: "failed"}
    rows["empty-shard"] = {searches: "abstained"}
    rows["corrupt-metadata"] = {searches: "answered"}
    return rows | rest


RAGX: dict[str, Row] = {
    # Two routes and a call over both: what fails in one route is made up for by the other, and
    # only a failing compose call, or a key that is refused, ends the run.
    **{name: dict.fromkeys(("forage", "chain", "compose"), "answered") for name in RETRIEVER},
    **{
        name: {"forage": "answered", "chain": "answered", "compose": "incomplete"} for name in MODEL
    },
    "auth-error": {EVERYWHERE: "incomplete"},
    "disk-full": {EVERYWHERE: "failed"},
    "empty-shard": {EVERYWHERE: "answered"},
    "corrupt-metadata": {EVERYWHERE: "answered"},
    "verifier-error": {},
    "always-irrelevant": {},
    "repeated-rewrite": {"forage": "answered"},
    "budget-exhausted": {
        "forage": "answered",
        "chain": "answered",
        "compose": "budget_exhausted",
    },
}
EXPECTED: dict[str, dict[str, Row]] = {
    **{name: RAGX for name in registry.systems() if name.startswith("ragx")},
    "beliefrag": _table(
        "retrieve",
        ("measure", "retrieve", "rewrite", "answer"),
        {
            "verifier-error": {"measure": "incomplete"},
            "always-irrelevant": {"measure": "abstained"},
            "repeated-rewrite": {"retrieve": "answered", "rewrite": "answered"},
            "budget-exhausted": {
                "measure": "answered",
                "verify": "answered",
                "rewrite": "answered",
                "decide": "budget_exhausted",
                "retrieve": "budget_exhausted",
                "answer": "budget_exhausted",
            },
        },
    ),
    "staterag": {
        # A cycle counts as a whole: whatever keeps one of its four proposals from being committed
        # leaves the run incomplete, without the reader. The initial retrieval is before it.
        **{
            name: {
                "initial": "failed",
                "bypass": "answered",
                "navigator": "incomplete",
                "retriever": "incomplete",
            }
            for name in RETRIEVER
        },
        **{name: dict.fromkeys(("planner", "verifier", "answer"), "incomplete") for name in MODEL},
        "disk-full": {EVERYWHERE: "failed"},
        "empty-shard": {
            "initial": "answered",
            "bypass": "answered",
            "navigator": "incomplete",
            "retriever": "incomplete",
        },
        # What the committed region has lost may be no evidence any more.
        "corrupt-metadata": {
            "initial": "answered",
            "bypass": "answered",
            "navigator": "incomplete",
            "retriever": "answered",
        },
        "verifier-error": {"verifier": "incomplete"},
        "always-irrelevant": {"verifier": "abstained"},
        "repeated-rewrite": {},
        "budget-exhausted": {EVERYWHERE: "budget_exhausted"},
    },
    "static": _table(
        "retrieve",
        ("answer",),
        {
            "verifier-error": {},
            "always-irrelevant": {},
            "repeated-rewrite": {},
            "budget-exhausted": {EVERYWHERE: "budget_exhausted"},
        },
    ),
    "iterative": _table(
        "retrieve",
        ("retrieve", "answer"),
        {
            "verifier-error": {},
            "always-irrelevant": {},
            "repeated-rewrite": {"retrieve": "answered"},
            "budget-exhausted": {EVERYWHERE: "budget_exhausted"},
        },
    ),
}
UNDISTURBED = "answered"
CELLS = [
    (name, fault, node.name)
    for name in EXPECTED
    for fault in FAULTS
    for node in registry.system(name).stages
    if fault != "evidence-outside-region"
]


def expected(name: str, fault: str, stage: str) -> tuple[str, bool]:
    """The terminal of a cell, and whether the fault is met in it."""
    row = EXPECTED[name][fault]
    found = row.get(stage, row.get(EVERYWHERE))
    return (UNDISTURBED, False) if found is None else (found, True)


def held(steps: list[Step]) -> tuple[str, ...]:
    return trace.state_at(steps[:-1], len(steps)).evidence


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> tuple[Journal, Journal]:
    """A journal to write to, and another one that reads the same file."""
    directory = tmp_path_factory.mktemp("journal")
    return Journal(directory), Journal(directory)


def test_every_system_has_a_table() -> None:
    assert set(EXPECTED) == set(registry.systems())
    for rows in EXPECTED.values():
        assert set(rows) == set(FAULTS) - {"evidence-outside-region"}


@pytest.mark.parametrize(("name", "fault", "stage"), CELLS)
def test_a_fault_at_a_stage_ends_as_expected_with_its_lineage(
    name: str, fault: str, stage: str, journals: tuple[Journal, Journal]
) -> None:
    terminal, met = expected(name, fault, stage)
    chosen = spec(name, faults=(Fault(fault, stage),), **SETTINGS.get(name, {}))
    writer, reader = journals
    steps = list(execute(chosen, deps(), writer))
    end = steps[-1].event
    assert isinstance(end, RunFinished)
    assert end.terminal == terminal
    assert end.reason
    assert end.evidence == held(steps)
    assert reader.steps(chosen.run_id) == steps
    assert reader.run(chosen.run_id).status == "finished"
    injected = [s.event for s in steps if isinstance(s.event, FaultInjected)]
    assert unstruck(steps, chosen.faults) == (() if injected else chosen.faults)
    assert bool(injected) == met
    assert all(x.fault == fault and x.where.split(":")[0] == stage for x in injected)
    usage, budgets = end.usage, chosen.settings.budgets()
    assert usage.tokens <= (budgets.tokens or 0)
    assert usage.rounds <= (budgets.rounds or 0)
    assert usage.actions <= (budgets.actions or 0)
    paid = [s.event for s in steps if isinstance(s.event, Called)]
    unkept = fault == "disk-full"  # what was paid for may be the very step that was not kept
    tokens = sum(c.tokens_in + c.tokens_out for c in paid)
    calls = sum(c.attempt for c in paid if c.port == "reasoner")
    assert usage.tokens == tokens or (unkept and usage.tokens > tokens)
    assert usage.calls == calls or (unkept and usage.calls == calls + 1)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("fault", sorted(set(FAULTS) - {"evidence-outside-region"}))
def test_without_a_stage_a_fault_strikes_wherever_it_can(name: str, fault: str) -> None:
    met = any(expected(name, fault, n.name)[1] for n in registry.system(name).stages)
    steps = run(name, faults=(Fault(fault),), **SETTINGS.get(name, {}))
    assert any(isinstance(s.event, FaultInjected) for s in steps) == met


@pytest.mark.parametrize("name", EXPECTED)
def test_the_stages_are_all_visited_by_the_undisturbed_run(name: str) -> None:
    steps = run(name, **SETTINGS.get(name, {}))
    assert {n.name for n in registry.system(name).stages} <= {s.stage for s in steps}
    assert steps[-1].event.terminal == UNDISTURBED


def test_a_failing_retriever_after_evidence_is_held_lets_the_run_answer() -> None:
    class Once:
        """The first search succeeds."""

        def __init__(self) -> None:
            self.inner, self.used = deps().retriever, False
            self.corpus = self.inner.corpus

        def search(self, *arguments: Any) -> Any:
            if self.used:
                raise RetrieverTimeout("Too slow; try again later.")
            self.used = True
            return self.inner.search(*arguments)

    for name in ("beliefrag", "iterative"):
        steps = run(name, deps(retriever=Once()), **SETTINGS.get(name, {}))
        assert steps[-1].event.terminal == "answered"
        assert any(
            isinstance(s.event, Warned) and s.event.fault == "retriever_timeout" for s in steps
        )


def test_corrupt_passages_are_left_out_and_said() -> None:
    clean, corrupt = run("static"), run("static", faults=(Fault("corrupt-metadata"),))
    found = {s.event.kind: s.event for s in corrupt}
    assert "left out" in found["Warned"].effect
    lost = {h.id for h in {s.event.kind: s.event for s in clean}["Retrieved"].passages} - {
        h.id for h in found["Retrieved"].passages
    }
    assert lost
    assert not lost & set(trace.passages(corrupt))


def test_always_irrelevant_is_bounded_and_commits_no_pruned_passage_again() -> None:
    steps = run("beliefrag", faults=(Fault("always-irrelevant"),), **SETTINGS["beliefrag"])
    state = trace.state_at(steps, len(steps))
    assert state.usage.rounds <= 3
    assert not state.banned & set(state.evidence)


# --- choosing faults ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_written_with_or_without_a_stage(name: str) -> None:
    assert Fault.parse(name) == Fault(name)
    assert Fault.parse(f" {name}@answer ") == Fault(name, "answer")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rate-limmit", "Did you mean 'rate-limit'"),
        ("", "Known: always-irrelevant"),
        ("rate-limit@", "names no stage"),
    ],
)
def test_an_unknown_fault_is_refused_and_all_are_listed(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Fault.parse(text)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_unknown_stage_is_refused_and_all_are_listed(name: str) -> None:
    with pytest.raises(BadInput) as refused:
        spec(name, faults=(Fault("rate-limit", "nowhere"),))
    for node in registry.system(name).stages:
        assert node.name in refused.value.message
    if name != "staterag":
        with pytest.raises(BadInput, match="no retrieval region"):
            spec(name, faults=(Fault("evidence-outside-region"),))


# --- malformed output ---------------------------------------------------------------------------

GOOD: dict[str, Reply] = {
    "verify": Verification(support=0.5, conflict=0, uncertainty=0.5, gap=0.5, missing=("x",)),
    "write_query": WrittenQuery(query="low tide", rationale="a name", bridge="Low Tide"),
    "rewrite": Rewrite(query="low tide", transformation="keywords", rationale="shorter"),
    "answer": Reading(answer="1987", supports=(Support(passage_id="p", start=0, end=4),)),
    "compose": Reading(answer="1987", confidence=0.5),
    "plan": Plan(objective="find", required_facts=("a",), entities=("b",)),
    "decompose": Decomposition(sub_questions=("Who?", "Where was #1?")),
    "forage_turn": ForageReply(text="RANK: low tide"),
    "hop_answer": HopAnswer(answer="Ada Bell"),
    "grade": Grades(
        passages=(PassageGrade(passage_id="p", relevance=1, authority=1, currency=1),),
        sufficiency=0.5,
    ),
    "check_claims": ClaimVerdicts(verdicts=(ClaimVerdict(index=0, verdict="supported"),)),
    "route": Routing(complexity="single", reason="one fact"),
    "extract_facts": Facts(
        facts=(Fact(subject="a", relation="b", object="c", passage_id="p", confidence=0.5),)
    ),
    "abstract": Abstraction(text="Bands of Whitby."),
}


@pytest.mark.parametrize("task", TASKS)
def test_a_good_reply_comes_through(task: str) -> None:
    assert set(GOOD) == set(TASKS)
    assert validate_reply(TASKS[task], GOOD[task].model_dump_json()) == GOOD[task]


@pytest.mark.parametrize("form", malformed.FORMS)
@pytest.mark.parametrize("task", TASKS)
def test_no_task_takes_a_malformed_reply(task: str, form: str) -> None:
    raw = malformed.reply(form, GOOD[task])
    with pytest.raises(MalformedOutput) as refused:
        validate_reply(TASKS[task], raw)
    assert task in refused.value.message
    assert len(refused.value.message) < 300


@pytest.mark.parametrize("form", malformed.FORMS)
@pytest.mark.parametrize(
    ("name", "stage"),
    [
        (name, stage)
        for name, rows in EXPECTED.items()
        for stage, end in rows["malformed-output"].items()
        if end == "incomplete"
    ],
)
def test_nothing_is_committed_from_a_malformed_reply(name: str, stage: str, form: str) -> None:
    chosen = Fault("malformed-output", stage, (form,))
    steps = run(name, faults=(chosen,), **SETTINGS.get(name, {}))
    end = steps[-1].event
    assert (end.terminal, end.branch, end.answer) == ("incomplete", "malformed_output", None)
    at = next(s.seq for s in steps if isinstance(s.event, FaultInjected))
    assert not any(isinstance(s.event, EvidenceChanged) for s in steps[at:])
    failed = [s.event for s in steps if isinstance(s.event, Called) and s.event.error]
    assert [c.response for c in failed] == [None]
