"""Everything that can happen in a run: a closed union of frozen events, and the step envelope.

A run is a list of :class:`Step`. Controllers emit events; ``runs.execute`` stamps each into a
step and journals it before anyone sees it; every view is a fold over the list (``trace``).
``Decided.inputs``, ``RunStarted.settings``, ``Called.response`` and ``Proposed.value`` belong to
a system or a port; ``contracts.check`` validates them against the registered model whenever a
step is appended or imported.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Union, get_args

from pydantic import Field, JsonValue, TypeAdapter, field_validator

from core.errors import Terminal
from core.types import (
    Access,
    Budgets,
    Channel,
    Citation,
    CorpusRef,
    Count,
    Finite,
    Frozen,
    Gate,
    JsonObject,
    Passage,
    Seed,
    Unit,
    Usage,
)

SCHEMA_VERSION = 2
"""Raised when an old reader could misread a new run; a newer one than this is refused."""

MAIN = "main"

Origin = Literal["live", "fork", "probe", "import", "lesson"]
Port = Literal["retriever", "reasoner", "memory"]


class ParentStep(Frozen):
    """The step of another run that this run was forked from; of a run that is no fork, the first
    step of the one whose question it asks again."""

    run_id: str
    seq: Count


class RunStarted(Frozen):
    """First event of every run: all that is needed to show, replay, fork and resume it.

    ``faults`` are those that are injected, as ``faults.Fault`` writes them. ``graph`` is the digest
    of the corpus's abstraction memory, for a system that uses it; empty in runs of before it was
    recorded.
    """

    kind: Literal["RunStarted"] = "RunStarted"
    system: str
    question: str
    settings: JsonObject
    corpus: CorpusRef
    reasoner: str
    model: str | None
    budgets: Budgets
    access: Access = Access()
    seed: Seed
    memory_digest: str
    origin: Origin
    parent: ParentStep | None = None
    faults: tuple[str, ...] = ()
    graph: str = ""
    schema_version: int = SCHEMA_VERSION


class Proposed(Frozen):
    """A role proposes a value for the state field it owns; nothing is changed yet."""

    kind: Literal["Proposed"] = "Proposed"
    role: str
    field: str
    value: JsonValue


class Validated(Frozen):
    """The controller's verdict on a proposal."""

    kind: Literal["Validated"] = "Validated"
    validator: str
    verdict: Literal["accept", "reject", "not_run"]
    reason: str


class Committed(Frozen):
    """A state field was changed; digests of the whole state before and after."""

    kind: Literal["Committed"] = "Committed"
    field: str
    before: str
    after: str


class QueryIssued(Frozen):
    """A query and its lineage. ``overlap``: Jaccard similarity of its terms to its parent's."""

    kind: Literal["QueryIssued"] = "QueryIssued"
    query: str
    parent: str | None = None
    transformation: str
    rationale: str
    constraints_kept: bool = True
    overlap: Unit | None = None


class Called(Frozen):
    """One call of a port and its recorded response; what a fork or a resume plays back."""

    kind: Literal["Called"] = "Called"
    port: Port
    task: str
    request_digest: str
    response: JsonValue
    error: str | None = None
    ms: Annotated[float, Field(ge=0)] = 0.0
    tokens_in: Count = 0
    tokens_out: Count = 0
    attempt: Annotated[int, Field(ge=1)] = 1
    cached: bool = False
    cost: Annotated[float, Field(ge=0)] = 0.0


class ModelCalled(Frozen):
    """One request to a language model, as sent and as answered, beside its ``Called``."""

    kind: Literal["ModelCalled"] = "ModelCalled"
    task: str
    prompt: str
    reply: str
    model: str
    tokens_in: Count
    tokens_out: Count
    ms: Annotated[float, Field(ge=0)] = 0.0
    attempt: Annotated[int, Field(ge=1)] = 1
    cached: bool = False
    error: str | None = None


class PassagesShown(Frozen):
    """Full text of passages at their first appearance in a run; later events name only ids."""

    kind: Literal["PassagesShown"] = "PassagesShown"
    passages: tuple[Passage, ...]


class Hit(Frozen):
    """A retrieved passage by id, with the scores of both channels where they were computed, and
    a cross-encoder's (``reranked``) where one put the passages in order."""

    id: str
    title: str
    score: Finite
    calibrated: Unit
    rank: Annotated[int, Field(ge=1)]
    lexical: Finite | None = None
    dense: Finite | None = None
    reranked: Finite | None = None


class Retrieved(Frozen):
    """What a search returned, best first."""

    kind: Literal["Retrieved"] = "Retrieved"
    query: str
    channel: Channel
    passages: tuple[Hit, ...]
    ms: Annotated[float, Field(ge=0)] = 0.0


class EvidenceChanged(Frozen):
    """The retained evidence changed: ids added and removed; banned ids never come back."""

    kind: Literal["EvidenceChanged"] = "EvidenceChanged"
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    reason: str


class DiagnosticsMeasured(Frozen):
    """Signals of the evidence, each in [0, 1]. Other systems name theirs in ``signals``."""

    kind: Literal["DiagnosticsMeasured"] = "DiagnosticsMeasured"
    relevance: Unit | None = None
    support: Unit | None = None
    conflict: Unit | None = None
    uncertainty: Unit | None = None
    gap: Unit | None = None
    novelty: Unit | None = None
    cost: Unit | None = None
    signals: dict[str, Unit] = {}  # noqa: RUF012


class Belief(Frozen):
    """The belief state over the evidence, each dimension in [0, 1]."""

    sufficiency: Unit
    reliability: Unit
    conflict: Unit
    uncertainty: Unit
    gap: Unit
    cost: Unit


class Term(Frozen):
    """One summand of a belief dimension's logit; ``signal`` is ``alpha`` for the intercept."""

    dimension: str
    signal: str
    weight: Finite
    value: Finite
    product: Finite


class BeliefUpdated(Frozen):
    """A belief update: prior, what the newest observation alone says, and the posterior."""

    kind: Literal["BeliefUpdated"] = "BeliefUpdated"
    before: Belief
    instantaneous: Belief
    after: Belief
    p_ans: Unit
    p_flip: Unit
    terms: tuple[Term, ...]


class Decided(Frozen):
    """A registered decider chose what comes next, from ``inputs`` and the settings alone."""

    kind: Literal["Decided"] = "Decided"
    decider: str
    inputs: JsonObject
    gates: tuple[Gate, ...]
    outcome: str
    reason: str


class Transition(Frozen):
    """One edge considered by a graph navigator, with its component scores."""

    parent: str
    child: str
    types: tuple[str, str]
    admissible: bool
    lexical: Finite | None = None
    dense: Finite | None = None
    score: Finite | None = None


class PathExplored(Frozen):
    """One round of navigation; ``dropped_count`` transitions are not listed."""

    kind: Literal["PathExplored"] = "PathExplored"
    round: Count
    frontier: tuple[str, ...]
    transitions: tuple[Transition, ...]
    dropped_count: Count = 0


class PathCommitted(Frozen):
    """The chosen path and the retrieval region of its last node."""

    kind: Literal["PathCommitted"] = "PathCommitted"
    path: tuple[str, ...]
    region: tuple[str, ...]


class ForageTurn(Frozen):
    """One turn of a forage loop: the action taken and what was observed."""

    kind: Literal["ForageTurn"] = "ForageTurn"
    turn: Count
    action: str
    argument: str
    observation: str
    error: str | None = None


class HopResolved(Frozen):
    """One hop of a slot chain: ``filled`` is the sub-question with earlier answers in place."""

    kind: Literal["HopResolved"] = "HopResolved"
    hop: Count
    sub_question: str
    filled: str
    passages: tuple[str, ...]
    answer: str


class Route(Frozen):
    """By which route a passage came into the composed evidence."""

    id: str
    route: str


class Trimmed(Frozen):
    """A passage that was cut from the composed evidence, and why."""

    id: str
    route: str
    reason: str


class Composed(Frozen):
    """The packing of the final call: what came in, in order, and what was cut."""

    kind: Literal["Composed"] = "Composed"
    passages: tuple[Route, ...]
    trimmed: tuple[Trimmed, ...] = ()
    hint: str = ""


class Grounded(Frozen):
    """Where the composed passages bear the answer out."""

    kind: Literal["Grounded"] = "Grounded"
    grounded: bool
    citations: tuple[Citation, ...]


class MemoryOp(Frozen):
    """An operation on the shared memory pool, applied or refused."""

    kind: Literal["MemoryOp"] = "MemoryOp"
    role: str
    operation: str
    scope: str
    artifact: str
    allowed: bool
    reason: str


class Probed(Frozen):
    """What would be answered at ``at_seq``; spent from a ledger of its own."""

    kind: Literal["Probed"] = "Probed"
    at_seq: Count
    answer: str
    tokens: Count = 0


class FaultInjected(Frozen):
    """A fault was injected on purpose."""

    kind: Literal["FaultInjected"] = "FaultInjected"
    fault: str
    where: str
    effect: str


class Warned(Frozen):
    """Something went wrong and the run went on."""

    kind: Literal["Warned"] = "Warned"
    fault: str
    where: str
    effect: str


class RunFinished(Frozen):
    """Last event of every run. ``reason`` says in words why it ended so."""

    kind: Literal["RunFinished"] = "RunFinished"
    terminal: Terminal
    branch: str
    answer: str | None
    grounded: bool
    citations: tuple[Citation, ...]
    evidence: tuple[str, ...]
    usage: Usage
    reason: str = ""


Event = Annotated[
    Union[
        RunStarted,
        Proposed,
        Validated,
        Committed,
        QueryIssued,
        Called,
        ModelCalled,
        PassagesShown,
        Retrieved,
        EvidenceChanged,
        DiagnosticsMeasured,
        BeliefUpdated,
        Decided,
        PathExplored,
        PathCommitted,
        ForageTurn,
        HopResolved,
        Composed,
        Grounded,
        MemoryOp,
        Probed,
        FaultInjected,
        Warned,
        RunFinished,
    ],
    Field(discriminator="kind"),
]

EVENT_TYPES: tuple[type[Frozen], ...] = get_args(get_args(Event)[0])
EVENT_ADAPTER: TypeAdapter[Any] = TypeAdapter(Event)


class Step(Frozen):
    """An event in its envelope.

    ``seq`` counts from 0 without holes. ``parent_seq`` is the previous step of the same branch,
    for the first step of a parallel branch the step that opened it, and null for the first.
    ``elapsed_ms`` is time since the run started; ``usage`` is what was spent up to here.
    """

    run_id: str
    seq: Count
    parent_seq: Count | None
    branch: str = MAIN
    at: datetime
    elapsed_ms: Annotated[float, Field(ge=0)]
    stage: str
    usage: Usage = Usage()
    event: Event

    @field_validator("at")
    @classmethod
    def _aware(cls, value: datetime) -> datetime:
        if value.tzinfo is None:
            raise ValueError("the time of a step needs a time zone")
        try:
            value.astimezone(UTC)
        except OverflowError:
            raise ValueError("the time of a step lies outside the calendar") from None
        return value


VOLATILE = frozenset({"run_id", "at", "elapsed_ms", "ms", "seconds"})
"""Fields that may differ between two identical runs."""


def identity(value: Any) -> Any:
    """The JSON form of a step, a run or a part of either, without what may differ by time."""
    if isinstance(value, Frozen):
        value = value.model_dump(mode="json")
    if isinstance(value, dict):
        return {k: identity(v) for k, v in value.items() if k not in VOLATILE}
    if isinstance(value, (list, tuple)):
        return [identity(v) for v in value]
    return value
