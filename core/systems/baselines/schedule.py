"""Baselines with a fixed schedule: ``static`` retrieves once, ``iterative`` a few times.

Source: specification section 6; the published comparison calls them Static RAG and Iterative RAG.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.errors import BudgetExhausted, RetrieverError
from core.events import Warned
from core.ports import Deps
from core.settings import Role, SystemSettings, knob
from core.steps import Emit, Stage, ask, decide, emit, search, stage
from core.systems.definition import Branch, StageNode, System
from core.systems.evidence import EvidenceSet, query_overlap
from core.systems.reader import answer, answer_tokens, finish, reserve_answer
from core.tasks import WRITE_QUERY, WriteQueryRequest
from core.types import Count, Frozen


class StaticSettings(SystemSettings):
    """One retrieval, then the answer."""

    max_rounds: int = knob(
        1,
        ge=0,
        le=1,
        role=Role.DECISION,
        group="Budgets",
        unit="rounds",
        title="Retrieval rounds",
        description="Static RAG searches once, or not at all.",
    )


class IterativeSettings(SystemSettings):
    """The fixed multi-round schedule: 3 rounds of 5 passages by default (paper, Table 6)."""


class ScheduleInputs(Frozen):
    """How far the schedule is; ``next_tokens`` is what writing another query and answering take."""

    rounds: Count
    actions: Count
    tokens: Count
    evidence: Count
    next_tokens: Count
    retriever_down: bool = False


def next_step(inputs: ScheduleInputs, settings: SystemSettings) -> Decision | Undetermined:
    """Retrieve while the schedule and the budgets allow it, then answer."""
    rounds = 0 if inputs.retriever_down else settings.max_rounds - inputs.rounds
    gates = [gate("rounds_left", rounds, ">=", 1)]
    if gates[-1].fired:
        gates.append(gate("actions_left", settings.max_actions - inputs.actions, ">=", 2))
    if gates[-1].fired:
        left = settings.token_budget - inputs.tokens
        gates.append(gate("tokens_left", left, ">=", inputs.next_tokens))
    if gates[-1].fired:
        return Decision(outcome="retrieve", gates=tuple(gates), reason="The schedule goes on.")
    gates.append(gate("evidence_held", inputs.evidence, ">=", 1))
    if gates[-1].fired:
        return Decision(outcome="answer", gates=tuple(gates), reason="The schedule is done.")
    if not inputs.rounds:
        reason = "The budgets do not let in a single retrieval."
        return Decision(outcome="exhausted", gates=tuple(gates), reason=reason)
    return Decision(outcome="abstain", gates=tuple(gates), reason="Nothing relevant was found.")


_CARD = Card(
    fitted=False,
    basis="A fixed number of rounds.",
    inspects="Rounds, actions and tokens spent; never the evidence itself.",
    fails="Spends every round on easy questions, and stops after the last one on hard ones.",
    prohibited=("retrieving past the schedule",),
)


def _decider(name: str) -> Decider[ScheduleInputs, SystemSettings]:
    return register(
        Decider(
            name=f"{name}.next",
            inputs=ScheduleInputs,
            decide=next_step,
            outcomes=("retrieve", "answer", "abstain", "exhausted"),
            terminal_outcomes=frozenset({"answer", "abstain", "exhausted"}),
            card=_CARD,
        )
    )


STATIC = _decider("static")
ITERATIVE = _decider("iterative")


def run_static(question: str, deps: Deps, settings: SystemSettings) -> Iterator[Emit]:
    """Search for the question once, answer from what came."""
    return _run(question, deps, settings, STATIC)


def run_iterative(question: str, deps: Deps, settings: SystemSettings) -> Iterator[Emit]:
    """Search, write the next query from what is held, search again, answer."""
    return _run(question, deps, settings, ITERATIVE)


def _run(
    question: str,
    deps: Deps,
    settings: SystemSettings,
    decider: Decider[ScheduleInputs, SystemSettings],
) -> Iterator[Emit]:
    evidence, down = EvidenceSet(), False
    queries: tuple[str, ...] = ()
    window = settings.evidence_window
    while True:
        reserve_answer(deps, question, evidence, window)
        decision = yield from choose(deps, question, evidence, queries, down, settings, decider)
        if decision.outcome == "answer":
            yield from answer(deps, question, evidence, window, "schedule", decision.reason)
            return
        if decision.outcome == "abstain":
            yield from finish(deps, "abstained", "no_evidence", evidence, decision.reason)
            return
        if decision.outcome == "exhausted":
            yield from finish(deps, "budget_exhausted", "budget", evidence, decision.reason)
            return
        try:
            evidence, queries = yield from retrieve(deps, question, evidence, queries, settings)
        except (BudgetExhausted, RetrieverError) as error:
            if not len(evidence):
                raise
            warned = Warned(fault=error.reason_code, where=error.stage, effect=error.message)
            yield from emit(deps, warned)
            down = True


@stage("decide")
def choose(
    deps: Deps,
    question: str,
    evidence: EvidenceSet,
    queries: tuple[str, ...],
    down: bool,
    settings: SystemSettings,
    decider: Decider[ScheduleInputs, SystemSettings],
) -> Stage[Decision]:
    """Where the schedule goes next."""
    usage = deps.ledger.usage()
    window = evidence.window(settings.evidence_window)
    cost = 2 * answer_tokens(deps, question, window) if queries else 0
    inputs = ScheduleInputs(
        rounds=usage.rounds,
        actions=usage.actions,
        tokens=usage.tokens,
        evidence=len(evidence),
        next_tokens=cost,
        retriever_down=down,
    )
    return (yield from decide(deps, decider, inputs, settings))


@stage("retrieve")
def retrieve(
    deps: Deps,
    question: str,
    evidence: EvidenceSet,
    queries: tuple[str, ...],
    settings: SystemSettings,
) -> Stage[tuple[EvidenceSet, tuple[str, ...]]]:
    """One round: the question first, then a query written from what is held."""
    deps.ledger.require(stage=deps.stage, actions=1, rounds=1)
    query, parent, transformation, rationale = question, None, "verbatim", "the question"
    if queries:
        parent, transformation, rationale = queries[-1], "follow_up", "nothing is held yet"
        if len(evidence):
            passages = evidence.window(settings.evidence_window)
            written = yield from ask(
                deps,
                WRITE_QUERY,
                WriteQueryRequest(question=question, passages=passages, previous=queries),
            )
            query, rationale = written.query.strip() or question, written.rationale
            transformation = "bridge" if written.bridge else transformation
    deps.ledger.charge(actions=1)
    hits = yield from search(
        deps,
        query,
        k=settings.top_k,
        channel=settings.channel,
        parent=parent,
        transformation=transformation,
        rationale=rationale,
        overlap=None if parent is None else query_overlap(query, parent),
    )
    evidence, _, changed = evidence.admit(hits, len(queries) + 1, "retrieved")
    if changed is not None:
        yield from emit(deps, changed)
    return evidence, (*queries, query)


_STAGES = (
    StageNode("decide", "Schedule", "How far the schedule is"),
    StageNode("retrieve", "Retrieve", "Search for the question", ("retriever.search",)),
    StageNode("answer", "Answer", "Read and ground", ("reasoner.answer",)),
)
_PLANNED = frozenset({"rounds"})
_BRANCHES = (Branch("schedule"),)
_EDGES = (("decide", "retrieve"), ("retrieve", "decide"), ("decide", "answer"))

SYSTEMS = (
    System(
        name="static",
        title="Static RAG",
        kind="baseline",
        summary="One retrieval with the question as it is, then the answer.",
        run=run_static,
        settings=StaticSettings,
        deciders=(STATIC,),
        stages=_STAGES,
        edges=_EDGES,
        branches=_BRANCHES,
        planned=_PLANNED,
    ),
    System(
        name="iterative",
        title="Iterative RAG",
        kind="baseline",
        summary="A fixed schedule: search, write the next query from what is held, three rounds.",
        run=run_iterative,
        settings=IterativeSettings,
        deciders=(ITERATIVE,),
        stages=(
            _STAGES[0],
            StageNode(
                "retrieve",
                "Retrieve",
                "Write the next query and search",
                ("reasoner.write_query", "retriever.search"),
            ),
            _STAGES[2],
        ),
        edges=_EDGES,
        branches=_BRANCHES,
        planned=_PLANNED,
    ),
)
