"""Every knob of StateRAG. Defaults: specification, section 2 (budgets, beam, cycles) and what the
development questions gave (thresholds)."""

from __future__ import annotations

from typing import Any, Literal

from core.memory import MemoryMode
from core.settings import Role, SystemSettings, knob

BypassRule = Literal["compact", "single", "off"]


def _share(default: float, title: str, group: str, description: str, **more: Any) -> Any:
    return knob(
        default,
        ge=0.0,
        le=1.0,
        step=0.01,
        role=Role.DECISION,
        group=group,
        title=title,
        description=description,
        **more,
    )


class StateRAGSettings(SystemSettings):
    """Cycle budget, bypass, navigation, retrieval, verification and memory."""

    max_cycles: int = knob(
        3,
        ge=1,
        le=6,
        role=Role.DECISION,
        group="Control",
        unit="cycles",
        title="Cycles (T_max)",
        description="After this many cycles without a PASS, the evidence of all is merged.",
    )
    bypass_rule: BypassRule = knob(
        "compact",
        role=Role.DECISION,
        group="Bypass",
        title="Compact-evidence rule",
        description="When the initial evidence may answer at once: one passage, or few linked ones "
        "of one region, cover the question; one passage only; or never.",
    )
    bypass_coverage: float = _share(
        0.75,
        "Bypass coverage",
        "Bypass",
        "idf share of the question's content words that several linked passages must hold; its "
        "names must all be there.",
    )
    bypass_single: float = _share(
        1.0,
        "Bypass coverage of one passage",
        "Bypass",
        "The same share where a single passage is selected.",
    )
    bypass_margin: float = knob(
        0.05,
        ge=-1.0,
        le=1.0,
        step=0.01,
        role=Role.DECISION,
        group="Bypass",
        title="Bypass margin",
        description="How far the selected passages' best likeness to the question must lie above "
        "that of every passage left out.",
    )
    bypass_most: int = knob(
        2,
        ge=1,
        le=8,
        role=Role.DECISION,
        group="Bypass",
        unit="passages",
        title="Bypass size",
        description="At most this many passages of one region answer a question at once.",
    )
    beam: int = knob(
        4,
        ge=1,
        le=32,
        role=Role.DECISION,
        group="Navigator",
        unit="traces",
        title="Beam",
        description="How many open traces the navigator keeps from round to round.",
    )
    dense_share: float = _share(
        0.5,
        "Dense share of the scorer",
        "Navigator",
        "Weight of likeness by embedding against shared words in a trace's score.",
    )
    plan_share: float = _share(
        0.5,
        "Plan's share of the scorer",
        "Navigator",
        "Weight of the fact that the plan looks for first against the query in a trace's score.",
    )
    region_width: int = knob(
        8,
        ge=1,
        le=20,
        role=Role.ACTION,
        first_use="retriever.region",
        group="Retriever",
        unit="passages",
        title="Region width",
        description="At most this many passages belong to the region of an EVIDENCE node.",
    )
    release_least: int = knob(
        2,
        ge=1,
        le=8,
        role=Role.DECISION,
        group="Retriever",
        unit="passages",
        title="Passages a cycle, least",
        description="So many passages of the region are proposed in any case.",
    )
    release_most: int = knob(
        3,
        ge=1,
        le=8,
        role=Role.DECISION,
        group="Retriever",
        unit="passages",
        title="Passages a cycle, most",
        description="Further passages come in up to this many, if near enough to the best.",
    )
    revision_most: int = knob(
        2,
        ge=1,
        le=8,
        role=Role.DECISION,
        group="Retriever",
        unit="passages",
        title="Passages a later cycle, most",
        description="After a FAIL at most so many are added to those carried over: the path's own "
        "passage, and what scores higher. A revised plan asks for one thing that is missing.",
    )
    release_ratio: float = _share(
        0.5,
        "Further passages",
        "Retriever",
        "Share of the best other passage's score that a further passage must reach.",
    )
    carry: bool = knob(
        True,
        role=Role.DECISION,
        group="Retriever",
        title="Carry evidence over",
        description="Evidence of earlier cycles that lies in the new region is proposed again, so "
        "that the verifier sees it beside what is new.",
    )
    pass_support: float = _share(
        0.5,
        "PASS support",
        "Verifier",
        "PASS needs at least this chance that the evidence holds all that is required.",
    )
    pass_gap: float = _share(
        0.2,
        "PASS gap",
        "Verifier",
        "PASS needs the unsupported share of the question at or below this.",
    )
    abstain_uncertainty: float = _share(
        0.87,
        "Abstain above",
        "Verifier",
        "After a FALLBACK the reader is asked only if the verifier's uncertainty was at or below "
        "this in some cycle; 1 always asks.",
    )
    reuse_threshold: float = _share(
        0.5,
        "Reuse threshold",
        "Memory",
        "An artifact is reused where its question shares at least this much of the content words "
        "of both, and all names.",
    )
    memory: MemoryMode = knob(
        "isolated",
        role=Role.ACTION,
        first_use="RunStarted",
        group="Memory",
        title="Memory",
        description="Shared: reads and keeps artifacts of earlier questions. Isolated: a pool of "
        "this run alone. Off: none.",
    )
    evidence_window: int = knob(
        10,
        ge=1,
        le=50,
        role=Role.DECISION,
        group="Budgets",
        unit="passages",
        title="Reader budget",
        description="At most this many whole passages are admitted to the reader.",
    )
    reader_fill: int = knob(
        0,
        ge=0,
        le=50,
        role=Role.DECISION,
        group="Budgets",
        unit="passages",
        title="Fill the reader up to",
        description="Admitted evidence is topped up to this many from the committed evidence, the "
        "initial retrieval and the committed regions, in this order; 0 adds nothing.",
        advanced=True,
    )
    max_rounds: int = knob(
        4,
        ge=0,
        le=20,
        role=Role.DECISION,
        group="Budgets",
        unit="rounds",
        title="Retrieval rounds",
        description="The initial retrieval, and one for each cycle.",
    )

    def memory_mode(self) -> MemoryMode:
        """As ``memory`` says."""
        return self.memory
