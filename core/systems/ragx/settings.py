"""The knobs of ragX: the frozen settings as defaults, by variant (specification, section 3)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from core.settings import Role, SystemSettings, knob
from core.types import Channel

RANK_DEPTH = 100
"""How deep the question's own ranking goes, which orders what was surfaced and gives backfill."""
THINKING_TOKENS = 8_192
"""What a model may think with in each call, where thinking is on."""

Tools = Literal["RANK, READ", "RANK, READ, SEARCH"]


def _channel(default: Channel) -> Any:
    return knob(
        default,
        role=Role.ACTION,
        first_use="Retrieved",
        group="Retrieval",
        title="Ranker",
        description="What RANK, the hops and the question's own ranking use: BM25, embeddings, or "
        "both fused by reciprocal rank.",
    )


def _backfill(default: int) -> Any:
    return knob(
        default,
        ge=0,
        le=RANK_DEPTH,
        role=Role.DECISION,
        group="Compose",
        unit="passages",
        title="Backfill",
        description="How many of the question's own top passages are appended.",
    )


def _slot_chain(default: bool) -> Any:
    return knob(
        default,
        role=Role.DECISION,
        group="Slot chain",
        title="Slot chain",
        description="Whether the question is decomposed and resolved hop by hop as well.",
    )


def _extra_cap(default: int) -> Any:
    return knob(
        default,
        ge=0,
        le=100,
        role=Role.DECISION,
        group="Compose",
        unit="passages",
        title="Extra passages",
        description="At most this many passages beside those read: first those that resolved a "
        "hop, then the other surfaced ones.",
    )


def _thinking(default: bool) -> Any:
    return knob(
        default,
        role=Role.ACTION,
        first_use="RunStarted",
        group="Model",
        title="Thinking",
        description=f"Let a language model think before it replies, with {THINKING_TOKENS} more "
        "tokens a call.",
    )


def _token_budget(default: int) -> Any:
    return knob(
        default,
        ge=100,
        le=2_000_000,
        role=Role.DECISION,
        group="Budgets",
        unit="tokens",
        title="Token budget",
        description="Every text given to or taken from the reasoner counts against it.",
    )


class RagXSettings(SystemSettings):
    """Forage loop, slot chain and compose call; the defaults of ``ragx``."""

    top_k: ClassVar[int] = 8  # type: ignore[misc]  # rank_k and hop_k are this system's knobs

    channel: Channel = _channel("dense")
    steps: int = knob(
        10,
        ge=0,
        le=40,
        role=Role.DECISION,
        group="Forage loop",
        unit="turns",
        title="Forage turns",
        description="At most this many actions of the agent, who is told; malformed and repeated "
        "ones count.",
    )
    rank_k: int = knob(
        8,
        ge=1,
        le=50,
        role=Role.ACTION,
        first_use="Retrieved",
        group="Forage loop",
        unit="passages",
        title="Listed a RANK",
        description="How many passages one RANK lists by name and title.",
    )
    tools: Tools = knob(
        "RANK, READ",
        role=Role.ACTION,
        first_use="ragx.forage",
        group="Forage loop",
        title="Tools",
        description="The agent's actions beside ANSWER; SEARCH finds lines that hold given words.",
    )
    fence: bool = knob(
        True,
        role=Role.ACTION,
        first_use="ForageTurn",
        group="Forage loop",
        title="Fence",
        description="Mark everything that the agent observes as untrusted data.",
    )
    slot_chain: bool = _slot_chain(True)
    max_hops: int = knob(
        4,
        ge=1,
        le=8,
        role=Role.DECISION,
        group="Slot chain",
        unit="hops",
        title="Hops",
        description="At most this many sub-questions.",
    )
    hop_k: int = knob(
        4,
        ge=1,
        le=20,
        role=Role.ACTION,
        first_use="ragx.hop",
        group="Slot chain",
        unit="passages",
        title="Retrieved a hop",
        description="How many passages a hop's answer is read from; its two top ones are kept.",
    )
    read_cap: int = knob(
        8,
        ge=0,
        le=50,
        role=Role.DECISION,
        group="Compose",
        unit="passages",
        title="Read passages",
        description="At most this many of the passages that the agent read are composed.",
    )
    extra_cap: int = _extra_cap(12)
    backfill: int = _backfill(48)
    context_window: int = knob(
        32_768,
        ge=100,
        le=2_000_000,
        role=Role.DECISION,
        group="Compose",
        unit="tokens",
        title="Context window",
        description="What the compose call may hold, question and reply included; over it, whole "
        "passages are cut from the end.",
    )
    thinking: bool = _thinking(False)
    evidence_window: int = knob(
        200,
        ge=1,
        le=200,
        role=Role.DECISION,
        group="Budgets",
        unit="passages",
        title="Reader window",
        description="At most this many passages are composed, whatever their route.",
    )
    max_rounds: int = knob(
        20,
        ge=0,
        le=100,
        role=Role.DECISION,
        group="Budgets",
        unit="rounds",
        title="Retrieval rounds",
        description="At most this many searches: one a RANK, one a hop, one for the question's "
        "own ranking.",
    )
    max_actions: int = knob(
        20,
        ge=1,
        le=100,
        role=Role.DECISION,
        group="Budgets",
        unit="actions",
        title="Actions",
        description="At most this many forage turns, hops and compose calls.",
    )
    token_budget: int = _token_budget(100_000)

    @property
    def words(self) -> tuple[str, ...]:
        """The tools as action words."""
        return tuple(self.tools.split(", "))

    @property
    def thinking_tokens(self) -> int:
        """Tokens a call may think with."""
        return THINKING_TOKENS if self.thinking else 0


class RagXThinkSettings(RagXSettings):
    """``ragx-think``: the model's thinking on."""

    thinking: bool = _thinking(True)
    token_budget: int = _token_budget(300_000)


class RagXCoreSettings(RagXSettings):
    """``ragx-core``: no backfill."""

    backfill: int = _backfill(0)


class RagXLexicalSettings(RagXCoreSettings):
    """``ragx-lexical``: BM25."""

    channel: Channel = _channel("lexical")


class RagXFusedSettings(RagXCoreSettings):
    """``ragx-fused``: BM25 and embeddings by reciprocal rank."""

    channel: Channel = _channel("fused")


class RagXRerankSettings(RagXCoreSettings):
    """``ragx-rerank``: the dense top 100, reordered by a cross-encoder."""

    reranker: str = knob(
        "cross-encoder/ms-marco-MiniLM-L6-v2",
        role=Role.ACTION,
        first_use="Retrieved",
        group="Retrieval",
        title="Cross-encoder",
        description="Any cross-encoder of sentence-transformers: a folder, or a name that was "
        "downloaded before.",
    )
    rerank_depth: int = knob(
        100,
        ge=1,
        le=1_000,
        role=Role.ACTION,
        first_use="Retrieved",
        group="Retrieval",
        unit="passages",
        title="Reranked",
        description="How many of the ranker's top passages the cross-encoder reorders.",
    )


class RagXFastSettings(RagXCoreSettings):
    """``ragx-fast``: no slot chain."""

    slot_chain: bool = _slot_chain(False)
    extra_cap: int = _extra_cap(16)
