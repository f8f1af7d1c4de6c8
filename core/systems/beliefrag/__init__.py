"""BeliefRAG: a belief over the evidence decides whether to retrieve, correct, answer or stop."""

from core.systems.beliefrag.controller import run
from core.systems.beliefrag.decide import ACT
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.systems.definition import Branch, StageNode, System

SYSTEM = System(
    name="beliefrag",
    title="BeliefRAG",
    kind="system",
    summary="After every search it scores what it holds (is it enough, reliable, free of "
    "contradiction?), and thresholds decide: search on, correct, answer, or stop.",
    run=run,
    settings=BeliefRAGSettings,
    deciders=(ACT,),
    stages=(
        StageNode(
            "measure",
            "Measure",
            "Signals of the evidence, then the belief",
            ("reasoner.verify",),
        ),
        StageNode("decide", "Decide", "Gates in their order"),
        StageNode(
            "retrieve",
            "Retrieve",
            "Write a query and search",
            ("reasoner.write_query", "retriever.search"),
        ),
        StageNode("verify", "Verify", "Prune what was flagged"),
        StageNode("rewrite", "Rewrite", "Reformulate the query", ("reasoner.rewrite",)),
        StageNode("answer", "Answer", "Read and ground", ("reasoner.answer",)),
    ),
    edges=(
        ("measure", "decide"),
        ("decide", "retrieve"),
        ("decide", "verify"),
        ("decide", "rewrite"),
        ("decide", "answer"),
        ("verify", "decide"),
        ("rewrite", "decide"),
        ("retrieve", "measure"),
    ),
    branches=(
        Branch("answer", ACT.name, ("answer",)),
        Branch(
            "stop",
            ACT.name,
            ("answer",),
            forced="Searching ended before the evidence was answerable enough.",
        ),
        Branch(
            "budget",
            ACT.name,
            ("answer",),
            forced="A budget ran out before the evidence was answerable enough.",
        ),
    ),
)
