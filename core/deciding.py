"""Which gate of a recorded decision chose its outcome, where the record tells."""

from __future__ import annotations

from collections.abc import Mapping

from core.events import Decided
from core.measures import measure

_SPENT = (("rounds_left", False), ("actions_left", False), ("tokens_left", False))
_OVER = (("drafted", True), ("halted", True), ("turns_left", False), *_SPENT[1:])
_CHOSEN: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "beliefrag.act rewrite": (("correction_under_way", True), ("novelty", True)),
    "beliefrag.act retrieve": (("correction_under_way", True), ("retrieval_value", True)),
    "beliefrag.act verify": (("conflict", True), ("reliability", True), ("unhelpful", True)),
    "beliefrag.act answer": (("answer", True),),
    "beliefrag.act conflict": (("conflict", True),),
    "beliefrag.act abstain": (("evidence_held", False), ("abstain", True)),
    "beliefrag.act exhausted": _SPENT,
    "beliefrag.act stop": (*_SPENT, ("retrieval_value", False)),
    "staterag.action RELEASE": (("passed", True),),
    "ragx.forage chain": _OVER,
    "ragx.forage compose": _OVER,
}
"""The gates that can choose an outcome, first the one that is asked first, and whether they do so
by firing. Of all other outcomes: a gate that did not fire keeps from the other outcome."""
_ASIDE = {("staterag.action", "passed"), ("ragx.forage", "drafted"), ("ragx.forage", "halted")}
"""Gates that bar nothing by not firing."""


def deciding(event: Decided) -> tuple[str, ...]:
    """Names of the gates that chose the outcome; none where all that fired had to, or where what
    chose it is no gate."""
    decider, gates = event.decider, event.gates
    if len(gates) == 1:
        return (gates[0].name,)
    came = {g.name: g.fired for g in gates}
    key = f"{decider} {event.outcome.partition(' ')[0]}"
    if key in _CHOSEN:
        found = [name for name, fired in _CHOSEN[key] if came.get(name) is fired]
        down = found[:1] == ["rounds_left"] and event.inputs.get("retriever_down") is True
        return () if down else tuple(found[:1])
    return tuple(g.name for g in gates if not g.fired and (decider, g.name) not in _ASIDE)


def told(event: Decided) -> str:
    """The same in words, and what the others were for."""
    chose, gates = deciding(event), event.gates
    others = any(g.fired for g in gates if g.name not in chose)
    if not chose:
        held = all(g.fired for g in gates)
        return "All of these held." if held else "No gate decided alone: all that fired had to."
    names = " and ".join(f"“{measure(event.decider, name).title}”" for name in chose)
    return f"{names} decided." + (" The others that fired had to hold at most." if others else "")
