"""What may be committed: one pure validator for each field of the state.

A validator returns the refusal, or None for a proposal that it accepts. The first breach counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.graph import ADMISSIBLE, PathFacts
from core.systems.staterag.state import EvidenceValue, PathValue, PlanValue, VerdictValue
from core.types import Passage

MOST_FACTS = 20
MOST_ENTITIES = 20
MOST_TEXT = 4_000
MOST_NODES = 64


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a proposal is refused: a stable code, and one sentence."""

    code: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


def validate_plan(value: PlanValue, justification: str) -> Refusal | None:
    """Schema of a plan: an objective, required facts, entities, none of them blank or overlong;
    the note is the justification of the last verdict, empty in the first cycle."""
    if not value.objective.strip():
        return Refusal("no_objective", "The plan names no objective.")
    if not value.required_facts:
        return Refusal("no_facts", "The plan requires no fact.")
    if len(value.required_facts) > MOST_FACTS or len(value.entities) > MOST_ENTITIES:
        return Refusal(
            "overlong",
            f"The plan has more than {MOST_FACTS} facts or {MOST_ENTITIES} entities.",
        )
    texts = (value.objective, *value.required_facts, *value.entities)
    if any(not text.strip() for text in texts):
        return Refusal("blank", "A fact or an entity of the plan is blank.")
    if any(len(text) > MOST_TEXT for text in texts):
        return Refusal("overlong", f"A text of the plan has more than {MOST_TEXT} characters.")
    if value.note != justification:
        return Refusal("wrong_note", "The plan's note is not the last verdict's justification.")
    return None


def validate_path(value: PathValue, facts: PathFacts) -> Refusal | None:
    """Membership in the completed typed paths: root first, EVIDENCE last, every edge present and
    of an admissible type pair."""
    nodes = value.nodes
    if not nodes:
        return Refusal("empty_path", "There is no path.")
    if len(nodes) > MOST_NODES:
        return Refusal("overlong", f"The path has more than {MOST_NODES} nodes.")
    if len(facts.types) != len(nodes) or len(facts.edges) != len(nodes) - 1:
        return Refusal("wrong_facts", "The graph's facts are not of this path.")
    if nodes[0] != facts.root:
        return Refusal("not_from_root", "The path does not start at the root.")
    for node, kind in zip(nodes, facts.types, strict=True):
        if kind is None:
            return Refusal("unknown_node", f"The graph has no node {node!r}.")
    for n, present in enumerate(facts.edges):
        if not present:
            return Refusal("no_edge", f"There is no edge from {nodes[n]!r} to {nodes[n + 1]!r}.")
    for n, pair in enumerate(zip(facts.types, facts.types[1:], strict=False)):
        if pair not in ADMISSIBLE:
            return Refusal(
                "inadmissible", f"Step {n + 1} goes from {pair[0]} to {pair[1]}, which is refused."
            )
    if facts.types[-1] != "EVIDENCE":
        return Refusal("not_completed", f"The path ends at {facts.types[-1]}, not at EVIDENCE.")
    return None


def validate_evidence(value: EvidenceValue, region: Mapping[str, Passage]) -> Refusal | None:
    """Every item lies in the region of the committed path, once, and its provenance is that of
    the region's passage. ``region``: the passages of the committed region by id."""
    if not value.items:
        return Refusal("no_evidence", "No evidence was proposed.")
    seen: set[str] = set()
    for item in value.items:
        if item.id in seen:
            return Refusal("repeated", f"Passage {item.id!r} is proposed twice.")
        seen.add(item.id)
        passage = region.get(item.id)
        if passage is None:
            return Refusal(
                "outside_region", f"Passage {item.id!r} lies outside the committed path's region."
            )
        if item.document != passage.document:
            return Refusal("wrong_document", f"Passage {item.id!r} is of another document.")
        if (item.start, item.end) != (passage.start, passage.end):
            return Refusal("wrong_span", f"The span of passage {item.id!r} is not its own.")
        if not item.digest or item.digest != passage.digest:
            return Refusal("wrong_digest", f"The digest of passage {item.id!r} is not its own.")
    return None


def validate_verdict(value: VerdictValue) -> Refusal | None:
    """PASS or FAIL, a FAIL with its justification."""
    if value.verdict == "PENDING":
        return Refusal("pending", "The verdict is still pending.")
    if value.verdict not in ("PASS", "FAIL"):
        return Refusal("unknown_verdict", "The verdict is neither PASS nor FAIL.")
    if value.verdict == "FAIL" and not value.justification.strip():
        return Refusal("no_justification", "A FAIL says what is missing.")
    if len(value.justification) > MOST_TEXT:
        return Refusal("overlong", f"The justification has more than {MOST_TEXT} characters.")
    return None
