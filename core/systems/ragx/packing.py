"""Packing: what the compose call is shown, in which order, and what is cut (ragX, "Compose").

A pure function of recorded ids, routes and token counts, so that other caps, backfill, windows
and budgets re-decide it without a call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import model_validator

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.events import Route, Trimmed
from core.systems.ragx.settings import RagXSettings
from core.types import Count, Frozen

RouteName = Literal["read", "hop", "surfaced", "backfill"]


class PackInputs(Frozen):
    """Everything that may be composed.

    ``reads``: in the order they were read; ``hops``: the two top passages of each hop, in order;
    ``surfaced``: what RANK, SEARCH and the hops listed, in order; ``ranked``: the question's own
    ranking, at most ``depth``; ``tokens``: of each passage as it is shown; ``overhead``: of the
    call without passages, the longest reply included; ``spent``: tokens of the run so far.
    """

    reads: tuple[str, ...]
    hops: tuple[str, ...]
    surfaced: tuple[str, ...]
    ranked: tuple[str, ...]
    depth: Count
    tokens: dict[str, Count]
    overhead: Count
    spent: Count

    @model_validator(mode="after")
    def _every_passage_is_counted(self) -> PackInputs:
        named = {*self.reads, *self.hops, *self.surfaced, *self.ranked}
        if not named <= self.tokens.keys():
            raise ValueError("a passage has no token count")
        return self


@dataclass(frozen=True, slots=True)
class Packing:
    """The composed passages in order, those cut, and the tokens of the whole call."""

    passages: tuple[Route, ...]
    trimmed: tuple[Trimmed, ...]
    tokens: int

    def count(self, route: RouteName) -> int:
        """How many composed passages came by a route."""
        return sum(p.route == route for p in self.passages)


def candidates(inputs: PackInputs, settings: RagXSettings) -> tuple[list[Route], list[Trimmed]]:
    """The passages that the caps let in, in order, and those that a cap keeps out."""
    chosen = [Route(id=i, route="read") for i in _unique(inputs.reads)[: settings.read_cap]]
    place = {i: n for n, i in enumerate(inputs.ranked)}
    surfaced = sorted(
        _unique((*inputs.surfaced, *inputs.reads)), key=lambda i: place.get(i, len(place))
    )
    taken = {p.id for p in chosen}
    hops = _unique(inputs.hops)
    extras = [Route(id=i, route="hop") for i in hops if i not in taken]
    extras += [
        Route(id=i, route="surfaced") for i in surfaced if i not in taken and i not in set(hops)
    ]
    chosen += extras[: settings.extra_cap]
    taken = {p.id for p in chosen}
    fill = [i for i in _unique(inputs.ranked) if i not in taken][: settings.backfill]
    chosen += [Route(id=i, route="backfill") for i in fill]
    taken.update(fill)
    cut = [
        Trimmed(id=p.id, route=p.route, reason="extra_cap")
        for p in extras[settings.extra_cap :]
        if p.id not in taken
    ]
    return chosen, cut


def pack(inputs: PackInputs, settings: RagXSettings) -> Packing:
    """Whole passages in order; over a window or the token budget they go from the end, so
    backfill first."""
    chosen, cut = candidates(inputs, settings)
    limit = _limit(inputs, settings)
    total = inputs.overhead + sum(inputs.tokens[p.id] for p in chosen)
    dropped: list[Trimmed] = []
    while chosen and (len(chosen) > settings.evidence_window or total > limit):
        last = chosen.pop()
        over_window = len(chosen) + 1 > settings.evidence_window
        reason = "reader_window" if over_window else _binding(inputs, settings)
        dropped.append(Trimmed(id=last.id, route=last.route, reason=reason))
        total -= inputs.tokens[last.id]
    return Packing(tuple(chosen), (*cut, *reversed(dropped)), total)


def decide(inputs: PackInputs, settings: RagXSettings) -> Decision | Undetermined:
    """The packing as a decision: the outcome counts the passages of each route, which together
    with the inputs names them all."""
    reach = settings.backfill + len(set(inputs.reads) | set(inputs.hops) | set(inputs.surfaced))
    if settings.backfill and len(inputs.ranked) == inputs.depth and reach > inputs.depth:
        used = {p.id for p in candidates(inputs, settings)[0] if p.route != "backfill"}
        if len([i for i in inputs.ranked if i not in used]) < settings.backfill:
            return Undetermined(f"the question's ranking deeper than {inputs.depth} passages")
    packing = pack(inputs, settings)
    counts = {
        "read": (packing.count("read"), settings.read_cap),
        "extra": (packing.count("hop") + packing.count("surfaced"), settings.extra_cap),
        "backfill": (packing.count("backfill"), settings.backfill),
        "window": (len(packing.passages), settings.evidence_window),
        "tokens": (packing.tokens, _limit(inputs, settings)),
    }
    gates = [gate(name, value, "<=", cap) for name, (value, cap) in counts.items()]
    gates.append(gate("passages", len(packing.passages), ">=", 1))
    if not packing.passages:
        held = bool(inputs.reads or inputs.hops or inputs.surfaced or inputs.ranked)
        reason = "Not one passage fits." if held else "Nothing was found."
        outcome = "exhausted" if held else "abstain"
        return Decision(outcome=outcome, gates=tuple(gates), reason=reason)
    routes: tuple[RouteName, ...] = ("read", "hop", "surfaced", "backfill")
    shown = " + ".join(f"{packing.count(r)} {r}" for r in routes)
    cut = sum(t.reason != "extra_cap" for t in packing.trimmed)
    reason = f"{len(packing.passages)} passages are composed, {cut} were cut to fit."
    return Decision(outcome=f"compose {shown}", gates=tuple(gates), reason=reason)


def _limit(inputs: PackInputs, settings: RagXSettings) -> int:
    return max(0, min(settings.context_window, settings.token_budget - inputs.spent))


def _binding(inputs: PackInputs, settings: RagXSettings) -> str:
    budget = settings.token_budget - inputs.spent
    return "context_window" if settings.context_window <= budget else "token_budget"


def _unique(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))


PACK = register(
    Decider(
        name="ragx.pack",
        inputs=PackInputs,
        decide=decide,
        outcomes=("compose ", "exhausted", "abstain"),
        terminal_outcomes=frozenset({"exhausted", "abstain"}),
        card=Card(
            fitted=False,
            basis="The order and caps of the frozen settings.",
            inspects="Ids, routes, ranks and token counts; never a passage's text.",
            fails="A passage that was surfaced by a bridge and is far from the question's own "
            "words comes late among the extra ones.",
            prohibited=("cutting inside a passage", "cutting anything before the backfill"),
        ),
    )
)
