"""StateRAG: a typed abstraction memory, navigated in cycles of four roles."""

from core.systems.definition import Branch, StageNode, System
from core.systems.staterag.bypass import BYPASS
from core.systems.staterag.controller import preflight, run
from core.systems.staterag.decide import ABSTAIN, ACTION, ADMIT, REUSE, SELECT, VERDICT
from core.systems.staterag.navigator import NAVIGATE
from core.systems.staterag.settings import StateRAGSettings
from core.systems.staterag.state import EvidenceValue, PathValue, PlanValue, VerdictValue

SYSTEM = System(
    name="staterag",
    title="StateRAG",
    kind="system",
    summary="Finds its evidence along a path through a graph of the corpus, from topics down to "
    "passages. Four roles plan, navigate, retrieve and verify; each proposal is checked.",
    run=run,
    settings=StateRAGSettings,
    deciders=(REUSE, BYPASS, NAVIGATE, SELECT, VERDICT, ACTION, ABSTAIN, ADMIT),
    stages=(
        StageNode(
            "initial",
            "Initial retrieval",
            "One search, and what memory offers",
            ("retriever.search", "memory.recall"),
        ),
        StageNode(
            "bypass", "Bypass", "Is the evidence compact?", ("retriever.region", "retriever.spread")
        ),
        StageNode(
            "planner",
            "Planner",
            "Objective, facts, entities",
            ("reasoner.plan", "reasoner.write_query"),
        ),
        StageNode(
            "navigator",
            "Navigator",
            "Beam search for a typed path",
            ("retriever.expand", "retriever.texts", "retriever.path", "retriever.region"),
        ),
        StageNode("retriever", "Retriever", "Evidence of the region", ("retriever.region",)),
        StageNode("verifier", "Verifier", "PASS or FAIL", ("reasoner.verify",)),
        StageNode("action", "Action", "Release, revise or fall back", ("memory.persist",)),
        StageNode("answer", "Answer", "Read and ground", ("reasoner.answer",)),
    ),
    edges=(
        ("initial", "bypass"),
        ("bypass", "answer"),
        ("bypass", "planner"),
        ("planner", "navigator"),
        ("navigator", "retriever"),
        ("retriever", "verifier"),
        ("verifier", "action"),
        ("action", "planner"),
        ("action", "answer"),
    ),
    branches=(
        Branch("BYPASS", BYPASS.name, ("coverage", "lead")),
        Branch("RELEASE", VERDICT.name, ("support", "gap")),
        Branch(
            "FALLBACK",
            VERDICT.name,
            ("support", "gap"),
            forced="No cycle's evidence passed the verifier.",
        ),
    ),
    payloads=(
        ("planner", PlanValue),
        ("navigator", PathValue),
        ("retriever", EvidenceValue),
        ("verifier", VerdictValue),
    ),
    preflight=preflight,
    navigates=True,
)
