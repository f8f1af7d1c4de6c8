"""ragX: an agent forages, a slot chain resolves hop by hop, one call composes over both."""

from __future__ import annotations

from dataclasses import replace

from core.systems.definition import StageNode, System
from core.systems.ragx.controller import run
from core.systems.ragx.decide import FORAGE, HOP, SLOTS
from core.systems.ragx.packing import PACK
from core.systems.ragx.ranker import preflight
from core.systems.ragx.settings import (
    RagXCoreSettings,
    RagXFastSettings,
    RagXFusedSettings,
    RagXLexicalSettings,
    RagXRerankSettings,
    RagXSettings,
    RagXThinkSettings,
)

_FORAGE = StageNode(
    "forage",
    "Forage",
    "One action a turn: rank, read, answer",
    ("reasoner.forage_turn", "retriever.search", "retriever.read"),
)
_CHAIN = StageNode(
    "chain",
    "Slot chain",
    "Sub-questions, each answer in the next one's slot",
    ("reasoner.decompose", "retriever.search", "reasoner.hop_answer"),
)
_COMPOSE = StageNode(
    "compose",
    "Compose",
    "One call over both routes, grounded",
    ("retriever.search", "reasoner.compose"),
)


def _variant(
    name: str, title: str, summary: str, settings: type[RagXSettings], *also: str
) -> System:
    """``also``: port tasks that every stage of the variant calls beside the common ones."""
    stages = tuple(replace(s, calls=(*s.calls, *also)) for s in (_FORAGE, _CHAIN, _COMPOSE))
    return System(
        name=name,
        title=title,
        kind="system",
        summary=summary,
        run=run,
        settings=settings,
        deciders=(FORAGE, SLOTS, HOP, PACK),
        stages=stages,
        edges=(
            ("forage", "forage"),
            ("forage", "chain"),
            ("forage", "compose"),
            ("chain", "chain"),
            ("chain", "compose"),
        ),
        preflight=preflight,
    )


SYSTEMS = (
    _variant(
        "ragx",
        "ragX",
        "Forages with dense ranking, resolves a slot chain, and composes once over both with the "
        "question's own top 48 behind them.",
        RagXSettings,
    ),
    _variant("ragx-think", "ragX think", "ragX with the model's thinking on.", RagXThinkSettings),
    _variant("ragx-core", "ragX core", "ragX without backfill.", RagXCoreSettings),
    _variant("ragx-lexical", "ragX lexical", "ragX core ranking by BM25.", RagXLexicalSettings),
    _variant(
        "ragx-fused",
        "ragX fused",
        "ragX core ranking by BM25 and embeddings, fused by reciprocal rank.",
        RagXFusedSettings,
    ),
    _variant(
        "ragx-rerank",
        "ragX rerank",
        "ragX core with the dense top 100 reordered by a cross-encoder.",
        RagXRerankSettings,
        "retriever.rerank",
    ),
    _variant("ragx-fast", "ragX fast", "ragX core without the slot chain.", RagXFastSettings),
)
