"""One MARS cycle: Planner, Navigator, Retriever, Verifier, each proposing only its own field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from core.errors import BudgetExhausted, ReasonerError, RetrieverError
from core.events import DiagnosticsMeasured, PathCommitted, QueryIssued
from core.graph_steps import node_texts, path_facts, region
from core.memory import (
    Artifact,
    PathArtifact,
    Payload,
    PlanArtifact,
    RegionArtifact,
    Role,
    artifact_id,
)
from core.ports import Deps
from core.retrieval.sentences import sentence_spans
from core.retrieval.tokenizer import content_terms
from core.steps import Stage, ask, decide, emit, stage
from core.systems.evidence import query_overlap
from core.systems.staterag.decide import (
    SELECT,
    VERDICT,
    VERIFIER_WINDOW,
    SelectInputs,
    VerdictInputs,
)
from core.systems.staterag.memory import read, write
from core.systems.staterag.navigator import navigate
from core.systems.staterag.run import CycleRefused, Run, commit, not_run, stage_value
from core.systems.staterag.settings import StateRAGSettings
from core.systems.staterag.state import (
    PENDING,
    Cycle,
    EvidenceItem,
    EvidenceValue,
    PathValue,
    PlanValue,
    VerdictValue,
)
from core.systems.staterag.validators import (
    MOST_ENTITIES,
    MOST_TEXT,
    Refusal,
    validate_evidence,
    validate_path,
    validate_plan,
    validate_verdict,
)
from core.tasks import PLAN, VERIFY, WRITE_QUERY, PlanRequest, VerifyRequest, WriteQueryRequest
from core.types import Passage

RoleStage: TypeAlias = Callable[[Deps, Run, StateRAGSettings], Stage[Run]]
MOST_KNOWN = 8
NO_TRACE = Refusal(
    "no_completed_trace",
    "No trace of the beam ends at EVIDENCE. Widen the beam or check the corpus's abstraction "
    "memory.",
)
NO_PASSAGES = Refusal(
    "no_passages",
    "The corpus holds no passage that this run may see. Add documents to the corpus, or ask for "
    "another tenant.",
)


def cycle(deps: Deps, run: Run, settings: StateRAGSettings) -> Stage[Run]:
    """The four roles in their order. The run it gives back has one completed cycle more.

    Raises:
        CycleRefused: a proposal was refused or missing; later roles are recorded as not run.
        ReasonerError: a role's language work failed, likewise.
        BudgetExhausted: a role's work did not fit, likewise.
    """
    staged = yield from _open(deps, run)
    for role, work in ROLE_STAGES:
        try:
            staged = yield from work(deps, staged, settings)
        except (CycleRefused, ReasonerError, BudgetExhausted) as error:
            yield from _abandon(deps, role, error)
            raise
        except RetrieverError as error:
            yield from _abandon(deps, role, error)
            raise CycleRefused(error.message, stage=role, code=error.reason_code) from None
    state = staged.state
    done = Cycle(
        number=run.number,
        plan=state.plan,
        path=state.path,
        region=staged.region,
        evidence=state.evidence,
        verdict=state.verdict,
        uncertainty=staged.uncertainty,
    )
    return replace(staged, cycles=(*staged.cycles, done))


def _abandon(
    deps: Deps, role: Role, error: CycleRefused | ReasonerError | BudgetExhausted | RetrieverError
) -> Stage[None]:
    yield from not_run(replace(deps, stage=role), role, error)


@stage("planner")
def _open(deps: Deps, run: Run) -> Stage[Run]:
    """z <- (PENDING, empty)."""
    deps.ledger.require(stage=deps.stage, actions=1, rounds=1)
    deps.ledger.charge(actions=1)
    return (yield from commit(deps, run, "verdict", PENDING))


@stage("planner")
def plan(deps: Deps, run: Run, settings: StateRAGSettings) -> Stage[Run]:
    """p: asked of the reasoner with the last justification and what is known, or taken over from
    a verified trail."""
    value, tokens = None, 0
    if run.trail is not None and run.trail.plan is not None:
        run, found = yield from _reused(deps, run, "planner", run.trail.plan)
        if found is not None and isinstance(found.payload, PlanArtifact):
            made = found.payload
            value = PlanValue(
                objective=made.objective,
                required_facts=made.required_facts,
                entities=made.entities,
            )
            tokens = found.tokens
    if value is None:
        before = deps.ledger.usage().tokens
        request = PlanRequest(question=run.question, note=run.justification, known=known(run))
        reply = yield from ask(deps, PLAN, request)
        value = PlanValue(
            objective=reply.objective,
            required_facts=reply.required_facts,
            entities=reply.entities,
            note=run.justification,
        )
        if run.cycles:
            value = yield from _revised(deps, run, value)
        tokens = deps.ledger.usage().tokens - before
    run = yield from stage_value(
        deps, run, "planner", value, validate_plan(value, run.justification)
    )
    payload = PlanArtifact(
        objective=value.objective, required_facts=value.required_facts, entities=value.entities
    )
    return (yield from _keep(deps, run, "planner", payload, tokens=tokens))


def _revised(deps: Deps, run: Run, value: PlanValue) -> Stage[PlanValue]:
    """The plan with the next query as its objective, written from the evidence so far, and with
    the entity that leads on; as it is where the query writer has nothing to ask."""
    held = dict.fromkeys(i for c in reversed(run.cycles) for i in c.evidence.ids)
    request = WriteQueryRequest(
        question=run.question,
        passages=run.texts([*held][:MOST_KNOWN]),
        previous=run.queries,
    )
    written = yield from ask(deps, WRITE_QUERY, request)
    if written.nothing_missing or not written.query.strip():
        return value
    bridge = (written.bridge,) if written.bridge else ()
    entities = tuple(dict.fromkeys((*bridge, *value.entities)))[:MOST_ENTITIES]
    return value.model_copy(update={"objective": written.query, "entities": entities})


@stage("navigator")
def navigate_role(deps: Deps, run: Run, settings: StateRAGSettings) -> Stage[Run]:
    """pi: the best completed trace for the plan, or the path of a verified trail; then the region
    of its last node."""
    query = query_of(run)
    nodes: tuple[str, ...] = ()
    calls = 0
    if run.trail is not None:
        run, found = yield from _reused(deps, run, "navigator", run.trail.path)
        if found is not None and isinstance(found.payload, PathArtifact):
            nodes, calls = found.payload.nodes, found.calls
    if not nodes:
        if run.cycles:
            yield from emit(
                deps,
                QueryIssued(
                    query=query,
                    parent=run.queries[-1],
                    transformation="plan",
                    rationale=run.justification,
                    overlap=query_overlap(query, run.queries[-1]),
                ),
            )
        excluded = tuple(c.path.nodes[-1] for c in run.cycles)
        nodes, named = yield from navigate(deps, query, fact_of(run), excluded, run.named, settings)
        run = replace(run, named=named)
        calls = len(nodes) - 1
    if not nodes:
        refusal = NO_TRACE if len(run.named) > 1 else NO_PASSAGES  # the root is always named
        raise CycleRefused(refusal.sentence, stage=deps.stage, code=refusal.code)
    if unnamed := [node for node in nodes if node not in run.named]:
        yield from node_texts(deps, unnamed)
        run = replace(run, named=run.named.union(unnamed))
    facts = yield from path_facts(deps, nodes)
    value = PathValue(nodes=nodes)
    run = yield from stage_value(deps, run, "navigator", value, validate_path(value, facts))
    hits = yield from region(deps, nodes[-1], query, settings.region_width)
    run = replace(
        run.seen(hit.passage for hit in hits),
        region=tuple(hit.passage.id for hit in hits),
        queries=(*run.queries, query),
    )
    yield from emit(deps, PathCommitted(path=nodes, region=run.region))
    return (yield from _keep(deps, run, "navigator", PathArtifact(nodes=nodes), calls=calls))


@stage("retriever")
def retrieve(deps: Deps, run: Run, settings: StateRAGSettings) -> Stage[Run]:
    """E: passages of the committed path's region, with their provenance."""
    anchor = run.state.path.nodes[-1]
    known_: tuple[str, ...] = ()
    if run.trail is not None and run.trail.region is not None:
        run, found = yield from _reused(deps, run, "retriever", run.trail.region)
        if found is not None and isinstance(found.payload, RegionArtifact):
            known_ = found.payload.committed
    deps.ledger.require(stage=deps.stage, rounds=1)
    deps.ledger.charge(rounds=1)
    hits = yield from region(deps, anchor, run.queries[-1], settings.region_width)
    inputs = SelectInputs(
        anchor=anchor,
        hits=tuple((hit.passage.id, hit.score) for hit in hits),
        earlier=tuple(dict.fromkeys(i for c in run.cycles for i in c.evidence.ids)),
        known=known_,
    )
    decision = yield from decide(deps, SELECT, inputs, settings)
    _, _, listed = decision.outcome.partition(" ")
    found_ = {hit.passage.id: hit.passage for hit in hits}
    ids = tuple(listed.split(",")) if listed else ()
    value = EvidenceValue(items=tuple(EvidenceItem.of(found_[i]) for i in ids))
    committed = {i: run.passages[i] for i in run.region}
    run = yield from stage_value(deps, run, "retriever", value, validate_evidence(value, committed))
    payload = RegionArtifact(anchor=anchor, passages=run.region, committed=value.ids)
    return (yield from _keep(deps, run, "retriever", payload))


@stage("verifier")
def verify(deps: Deps, run: Run, settings: StateRAGSettings) -> Stage[Run]:
    """z: a verdict on the committed evidence, and what it misses."""
    passages = run.texts(run.state.evidence.ids[:VERIFIER_WINDOW])
    request = VerifyRequest(question=run.question, passages=passages)
    reply = yield from ask(deps, VERIFY, request)
    run = replace(run, uncertainty=reply.uncertainty)
    yield from emit(
        deps,
        DiagnosticsMeasured(
            support=reply.support,
            conflict=reply.conflict,
            uncertainty=reply.uncertainty,
            gap=reply.gap,
        ),
    )
    inputs = VerdictInputs(
        support=reply.support,
        gap=reply.gap,
        conflict=reply.conflict,
        uncertainty=reply.uncertainty,
    )
    decision = yield from decide(deps, VERDICT, inputs, settings)
    missing = "; ".join(" ".join(m.split()) for m in reply.missing if m.strip())
    said = missing if decision.outcome == "FAIL" and missing else decision.reason
    value = VerdictValue(verdict=decision.outcome, justification=said[:MOST_TEXT])
    return (yield from stage_value(deps, run, "verifier", value, validate_verdict(value)))


ROLE_STAGES: tuple[tuple[Role, RoleStage], ...] = (
    ("planner", plan),
    ("navigator", navigate_role),
    ("retriever", retrieve),
    ("verifier", verify),
)


# --- what the Planner is told, and what the Navigator asks --------------------------------------


def known(run: Run) -> tuple[str, ...]:
    """Of each passage that was evidence, newest cycle first: its title and the sentence that
    shares most content terms with the question, ties to the earlier sentence."""
    asked = frozenset(content_terms(run.question))
    ids = dict.fromkeys(i for c in reversed(run.cycles) for i in c.evidence.ids)
    return tuple(_told(p, asked) for p in run.texts([*ids][:MOST_KNOWN]))


def _told(passage: Passage, asked: frozenset[str]) -> str:
    spans = sentence_spans(passage.text)
    sentences = [" ".join(passage.text[a:b].split()) for a, b in spans]
    best = max(sentences, key=lambda s: len(asked.intersection(content_terms(s))), default="")
    return f"{passage.title}: {best}"


def fact_of(run: Run) -> str:
    """The first fact that the plan requires and nothing known states; empty where the Navigator
    asks just that already."""
    first = next(iter(run.state.plan.required_facts), "")
    return "" if first == query_of(run) else first


def query_of(run: Run) -> str:
    """What the Navigator asks: the question, after a FAIL the objective of the revised plan."""
    return run.state.plan.objective if run.cycles else run.question


# --- the pool -----------------------------------------------------------------------------------


def _reused(deps: Deps, run: Run, role: Role, artifact: str) -> Stage[tuple[Run, Artifact | None]]:
    """Read an artifact of the trail, and say what it saves."""
    held = run.pool.held("global").get(artifact)
    why = _saves(held) if held else ""
    pool, found, event = read(run.pool, role, artifact, "global", why)
    yield from emit(deps, event)
    return replace(run, pool=pool), found


def _saves(artifact: Artifact) -> str:
    made = f"reused from “{artifact.question[:120]}”"
    if artifact.payload.kind == "plan":
        return f"{made}: saves a plan of {artifact.tokens} tokens"
    if artifact.payload.kind == "path":
        cycles = artifact.cycles - 1
        more = f" and the {cycles} cycles before it" if cycles > 0 else ""
        return f"{made}: saves {artifact.calls} expansions{more}"
    return f"{made}: what was verified there comes first"


def _keep(
    deps: Deps, run: Run, role: Role, payload: Payload, *, tokens: int = 0, calls: int = 0
) -> Stage[Run]:
    """Put what a role has committed into its private store, where the pool is on."""
    if run.pool.mode == "off":
        return run
    artifact = Artifact(
        id=artifact_id(run.question, payload),
        producer=role,
        store="global",
        question=run.question,
        payload=payload,
        verified=False,
        cycles=run.number,
        tokens=tokens,
        calls=calls,
    )
    pool, event = write(run.pool, role, artifact, role)
    yield from emit(deps, event)
    return replace(run, pool=pool)
