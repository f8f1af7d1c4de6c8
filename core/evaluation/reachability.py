"""Gate reachability: in which share of the visited states the condition of each gate holds.

A gate whose condition holds nearly never or nearly always decides nothing: it is inert there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from core.contracts import decision_inputs, run_settings
from core.evaluation.metrics import started
from core.events import Decided, Step
from core.settings import SystemSettings
from core.systems.beliefrag.belief import assess
from core.systems.beliefrag.decide import ACT, BeliefInputs
from core.systems.beliefrag.settings import BeliefRAGSettings
from core.types import Count, Frozen, Unit

INERT = 0.02
"""A share below this, or above 1 - this, is inert."""


class Reach(Frozen):
    """How often a gate's condition held; ``states`` are those in which it is known.

    BeliefRAG's belief gates are known in every state; any other gate where it was evaluated, for
    a gate that fires earlier hides those after it.
    """

    decider: str
    gate: str
    states: Count
    held: Count
    share: Unit
    inert: bool


def reachability(runs: Iterable[Sequence[Step]]) -> list[Reach]:
    """The reach of every gate over the decisions of these runs, by decider and gate."""
    seen: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for steps in runs:
        start = started(steps)
        if start is None:
            continue
        settings = run_settings(start)
        for step in steps:
            if isinstance(step.event, Decided):
                for gate, holds in _conditions(step.event, settings).items():
                    seen[step.event.decider, gate].append(holds)
    return [
        Reach(
            decider=decider,
            gate=gate,
            states=len(holds),
            held=sum(holds),
            share=sum(holds) / len(holds),
            inert=not INERT <= sum(holds) / len(holds) <= 1 - INERT,
        )
        for (decider, gate), holds in sorted(seen.items())
    ]


def _conditions(event: Decided, settings: SystemSettings) -> dict[str, bool]:
    """Whether each gate's condition holds, where that is known; a gate met twice counts once."""
    evaluated = {gate.name: gate.fired for gate in event.gates}
    if event.decider != ACT.name:
        return evaluated
    inputs = decision_inputs(event)
    assert isinstance(inputs, BeliefInputs)
    assert isinstance(settings, BeliefRAGSettings)
    if inputs.pending != "none":
        return {}
    now = assess(inputs.observations, inputs.rounds, inputs.reasoner, inputs.fit, settings)
    return evaluated | {
        "conflict": now.belief.conflict >= settings.conflict_threshold,
        "reliability": now.belief.reliability < settings.reliability_threshold,
        "answer": now.p_ans >= settings.answer_threshold,
        "unhelpful": inputs.unhelpful >= 1,
        "retrieval_value": now.p_flip >= settings.flip_threshold,
        "novelty": now.x.novelty < settings.novelty_threshold,
        "abstain": now.p_ans < settings.abstain_threshold,
    }
