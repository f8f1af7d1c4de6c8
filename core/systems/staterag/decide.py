"""The decisions of a cycle and of its end: reuse, selection, verdict, action, admission."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.decisions import Card, Decider, Decision, Undetermined, gate, register
from core.systems.staterag.settings import StateRAGSettings
from core.types import Count, Finite, Frozen, Gate, Unit

Branch = Literal["BYPASS", "RELEASE", "FALLBACK"]
VERIFIER_WINDOW = 8
"""The verifier sees at most this many passages."""

# --- reuse --------------------------------------------------------------------------------------


class Trail(Frozen):
    """A verified path in the pool with the artifacts made beside it. ``similarity``: Jaccard
    similarity of its question's content terms to this one's; ``names_missing``: names of this
    question that the other does not hold."""

    path: str
    plan: str | None
    region: str | None
    question: str
    similarity: Unit
    names_missing: Count


class ReuseInputs(Frozen):
    """What the pool offers, most similar first."""

    trails: tuple[Trail, ...]


def decide_reuse(inputs: ReuseInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """Follow the most similar verified trail, or search."""
    best = next((t for t in inputs.trails if not t.names_missing), None)
    if best is None:
        offered = gate("trails", 0, ">=", 1)
        return Decision(outcome="none", gates=(offered,), reason="No trail is of these names.")
    near = gate("similarity", best.similarity, ">=", settings.reuse_threshold)
    if near.fired:
        reason = "A similar question was verified along this path."
        return Decision(outcome=f"reuse {best.path}", gates=(near,), reason=reason)
    return Decision(outcome="none", gates=(near,), reason="No earlier question is near enough.")


REUSE = register(
    Decider(
        name="staterag.reuse",
        inputs=ReuseInputs,
        decide=decide_reuse,
        outcomes=("reuse ", "none"),
        terminal_outcomes=frozenset(),
        card=Card(
            fitted=False,
            basis="Shared content words of two questions.",
            inspects="Questions of verified trails in the pool, never their answers.",
            fails="Questions in the same words that ask for something else share a trail; the "
            "verifier then judges the evidence anew.",
            prohibited=("reusing a verdict",),
        ),
    )
)

# --- selection ----------------------------------------------------------------------------------


class SelectInputs(Frozen):
    """The region's passages, best first, with their scores. ``anchor``: the passage of the path's
    last node; ``earlier``: evidence of earlier cycles; ``known``: evidence that a reused trail
    was verified with."""

    anchor: str
    hits: tuple[tuple[str, Finite], ...]
    earlier: tuple[str, ...] = ()
    known: tuple[str, ...] = ()


def decide_selection(inputs: SelectInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """What is carried over; then the anchor and the best others, a further one if near enough to
    the best other. A later cycle, which looks for what is missing, adds the anchor and what scores
    higher, or the best where the anchor was evidence before. What a reused trail was verified with
    comes as it was."""
    scores = dict(inputs.hits)
    carried = [i for i in inputs.earlier if i in scores] if settings.carry else []
    gates: tuple[Gate, ...]
    if known := [i for i in inputs.known if i in scores]:
        chosen, gates = known, (gate("known", len(known), ">=", 1),)
    else:
        fresh = [i for i, _ in inputs.hits if i not in carried]
        chosen = [i for i in fresh if i == inputs.anchor]
        others = [i for i in fresh if i != inputs.anchor]
        if inputs.earlier:
            least, most = 1, settings.revision_most
            floor = scores.get(inputs.anchor, 0.0)
        else:
            least, most = settings.release_least, settings.release_most
            floor = settings.release_ratio * max((scores[i] for i in others), default=0.0)
        most = max(least, most)
        for passage in others:
            if len(chosen) >= most:
                break
            if len(chosen) < least or scores[passage] >= floor:
                chosen.append(passage)
        gates = (gate("region", len(scores), ">=", 1), gate("proposed", len(chosen), "<=", most))
    room = max(0, VERIFIER_WINDOW - len(chosen))
    ids = list(dict.fromkeys([*carried[:room], *chosen]))[:VERIFIER_WINDOW]
    if not ids:
        return Decision(outcome="none", gates=gates, reason="The region gave nothing.")
    over = f", {len(ids) - len(chosen)} carried over" if len(ids) > len(chosen) else ""
    reason = f"{len(chosen)} of the region's {len(scores)} passages{over}."
    return Decision(outcome=f"propose {','.join(ids)}", gates=gates, reason=reason)


SELECT = register(
    Decider(
        name="staterag.select",
        inputs=SelectInputs,
        decide=decide_selection,
        outcomes=("propose ", "none"),
        terminal_outcomes=frozenset({"none"}),
        card=Card(
            fitted=False,
            basis="Two or three passages in the first cycle, a third at half of the best or more; "
            "one or two more in each later cycle, beside what is carried over.",
            inspects="Scores of the region's passages, and which were evidence before.",
            fails="A needed passage behind the third of a wide region waits for a later cycle.",
            prohibited=("a passage from outside the committed path's region",),
        ),
    )
)

# --- verdict ------------------------------------------------------------------------------------


class VerdictInputs(Frozen):
    """What the verifier measured on the committed evidence."""

    support: Unit
    gap: Unit
    conflict: Unit
    uncertainty: Unit


def decide_verdict(inputs: VerdictInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """PASS where the evidence supports a whole answer and leaves little open."""
    gates = (
        gate("support", inputs.support, ">=", settings.pass_support),
        gate("gap", inputs.gap, "<=", settings.pass_gap),
    )
    if all(g.fired for g in gates):
        return Decision(outcome="PASS", gates=gates, reason="The evidence suffices.")
    lacking = " and ".join(g.name for g in gates if not g.fired)
    return Decision(outcome="FAIL", gates=gates, reason=f"The evidence falls short in {lacking}.")


VERDICT = register(
    Decider(
        name="staterag.verdict",
        inputs=VerdictInputs,
        decide=decide_verdict,
        outcomes=("PASS", "FAIL"),
        terminal_outcomes=frozenset(),
        final_outcomes=frozenset({"PASS"}),
        card=Card(
            fitted=False,
            basis="Thresholds on the verifier's support and gap.",
            inspects="Support and gap of the committed evidence.",
            fails="A verifier that is sure of incomplete evidence releases it.",
            prohibited=("a pending verdict",),
        ),
    )
)

# --- action -------------------------------------------------------------------------------------


class ActionInputs(Frozen):
    """The committed verdict and what was spent. ``cycle_tokens``: an upper estimate of what
    another cycle takes with the answer after it; ``stopped``: another cycle could not be
    completed within the budgets."""

    verdict: Literal["PASS", "FAIL"]
    cycle: Count = Field(ge=1)
    rounds: Count
    actions: Count
    tokens: Count
    cycle_tokens: Count
    stopped: bool = False


def decide_action(inputs: ActionInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """PASS: RELEASE. FAIL with a cycle left in every budget: REVISE. Else FALLBACK."""
    gates = [gate("passed", float(inputs.verdict == "PASS"), "==", 1.0)]
    if gates[-1].fired:
        return Decision(outcome="RELEASE", gates=tuple(gates), reason="The verdict is PASS.")
    left = settings.token_budget - inputs.tokens
    for budget in (
        gate("stopped", float(inputs.stopped), "==", 0.0),
        gate("cycles_left", settings.max_cycles - inputs.cycle, ">=", 1),
        gate("rounds_left", settings.max_rounds - inputs.rounds, ">=", 1),
        gate("actions_left", settings.max_actions - inputs.actions, ">=", 2),
        gate("tokens_left", left, ">=", inputs.cycle_tokens),
    ):
        gates.append(budget)
        if not budget.fired:
            reason = f"The verdict is FAIL and no cycle is left ({budget.name.replace('_', ' ')})."
            return Decision(outcome="FALLBACK", gates=tuple(gates), reason=reason)
    return Decision(outcome="REVISE", gates=tuple(gates), reason="The verdict is FAIL: once more.")


ACTION = register(
    Decider(
        name="staterag.action",
        inputs=ActionInputs,
        decide=decide_action,
        outcomes=("RELEASE", "REVISE", "FALLBACK"),
        terminal_outcomes=frozenset(),
        final_outcomes=frozenset({"RELEASE", "FALLBACK"}),
        card=Card(
            fitted=False,
            basis="The transition table of the paper (equation 6), and the budgets.",
            inspects="The committed verdict, completed cycles, and what was spent.",
            fails="Spends every cycle on a question that the corpus does not answer.",
            prohibited=("asking the reader after REVISE", "a RELEASE without a PASS"),
        ),
    )
)

# --- abstention ---------------------------------------------------------------------------------


class AbstainInputs(Frozen):
    """How uncertain the verifier was of each committed cycle's evidence, oldest first."""

    uncertainties: tuple[Unit, ...] = Field(min_length=1)


def decide_abstention(inputs: AbstainInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """After a FALLBACK: answer where the verifier saw an answer in some cycle, or abstain."""
    least = gate("least_uncertainty", min(inputs.uncertainties), "<=", settings.abstain_uncertainty)
    if least.fired:
        reason = "No cycle passed, but one of them may hold the answer."
        return Decision(outcome="answer", gates=(least,), reason=reason)
    reason = "No cycle passed, and the verifier saw the answer in none of them."
    return Decision(outcome="abstain", gates=(least,), reason=reason)


ABSTAIN = register(
    Decider(
        name="staterag.abstain",
        inputs=AbstainInputs,
        decide=decide_abstention,
        outcomes=("answer", "abstain"),
        terminal_outcomes=frozenset(),
        final_outcomes=frozenset({"answer", "abstain"}),
        card=Card(
            fitted=False,
            basis="A threshold on the verifier's least uncertainty: on questions whose answer was "
            "taken out of the corpus and on answerable ones it tells them apart better than "
            "support and gap.",
            inspects="The verifier's uncertainty in every committed cycle of a FALLBACK.",
            fails="A wrong answer of the right kind, from a passage of the right topic, passes "
            "for one that is there; a yes or no is the most uncertain of right answers.",
            prohibited=("abstaining after a PASS", "judging by a reader's answer"),
        ),
    )
)

# --- admission ----------------------------------------------------------------------------------


class Place(Frozen):
    """A passage by its source span."""

    id: str
    document: str
    start: Count
    end: Count


class Gathered(Frozen):
    """A committed cycle's evidence in order, and its whole region, best first."""

    evidence: tuple[Place, ...]
    region: tuple[Place, ...]


class AdmitInputs(Frozen):
    """What may go to the reader: ``bypassed`` passages, or committed cycles, oldest first.
    ``initial`` is the initial retrieval, best first."""

    branch: Branch
    bypassed: tuple[Place, ...] = ()
    cycles: tuple[Gathered, ...] = ()
    initial: tuple[Place, ...] = ()


def admitted(inputs: AdmitInputs, settings: StateRAGSettings) -> tuple[Place, ...]:
    """E*: the bypassed part, the last cycle's evidence, or all cycles' merged, newest first; one
    passage a source span, whole passages, within the reader budget."""
    newest = inputs.cycles[::-1]
    if inputs.branch == "BYPASS":
        first = inputs.bypassed
    elif inputs.branch == "RELEASE":
        first = newest[0].evidence
    else:
        first = tuple(p for cycle in newest for p in cycle.evidence)
    chosen = _distinct((), first)[: settings.evidence_window]
    if len(chosen) < settings.reader_fill:
        more = [p for cycle in newest for p in cycle.evidence]
        regions = [p for cycle in newest for p in cycle.region]
        filled = _distinct(chosen, (*more, *inputs.initial, *regions))
        chosen = filled[: min(settings.reader_fill, settings.evidence_window)]
    return chosen


def _distinct(held: tuple[Place, ...], more: tuple[Place, ...]) -> tuple[Place, ...]:
    """``held`` and what of ``more`` lies within no span that is held already."""
    found = list(held)
    for place in more:
        if not any(_within(place, other) for other in found):
            found.append(place)
    return tuple(found)


def _within(place: Place, other: Place) -> bool:
    if place.id == other.id:
        return True
    if place.document != other.document or not place.end or not other.end:
        return False
    return other.start <= place.start and place.end <= other.end


def decide_admission(inputs: AdmitInputs, settings: StateRAGSettings) -> Decision | Undetermined:
    """Which passages go to the reader, in order."""
    places = admitted(inputs, settings)
    found = {p.id for c in inputs.cycles for p in c.evidence} | {p.id for p in inputs.bypassed}
    gates = (
        gate("admitted", len(places), ">=", 1),
        gate("reader_budget", len(places), "<=", settings.evidence_window),
    )
    ids = ",".join(p.id for p in places)
    reason = f"{len(places)} passages of {len(found)} found go to the reader."
    return Decision(outcome=f"admit {ids}", gates=gates, reason=reason)


ADMIT = register(
    Decider(
        name="staterag.admit",
        inputs=AdmitInputs,
        decide=decide_admission,
        outcomes=("admit ",),
        terminal_outcomes=frozenset({"admit "}),
        card=Card(
            fitted=False,
            basis="Newest cycle first, one passage a source span, whole passages.",
            inspects="Ids and source spans of committed evidence; never a text.",
            fails="Where the budget is small, a late cycle's evidence displaces an early one's.",
            prohibited=(
                "a passage that no committed cycle or bypass selected, unless filling is asked for",
            ),
        ),
    )
)
