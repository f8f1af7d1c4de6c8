"""ragX: an agent forages, a slot chain resolves hop by hop, one call composes over both."""

from __future__ import annotations

from dataclasses import replace

from core.systems.definition import Branch, StageNode, System
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
    name: str,
    title: str,
    summary: str,
    settings: type[RagXSettings],
    *also: str,
    differs: str = "",
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
        branches=(Branch("compose"),),
        preflight=preflight,
        differs=differs,
    )


SYSTEMS = (
    _variant(
        "ragx",
        "ragX",
        "Searches and reads turn by turn, splits the question into sub-questions answered one by "
        "one, and writes one answer from both, with the question's 48 best hits behind them.",
        RagXSettings,
    ),
    _variant(
        "ragx-think",
        "ragX think",
        "ragX with a language model that thinks before it replies: slower, and dearer in tokens.",
        RagXThinkSettings,
        differs="the model thinks first",
    ),
    _variant(
        "ragx-core",
        "ragX core",
        "ragX without the 48 direct hits: the answer sees only what was found on the way.",
        RagXCoreSettings,
        differs="no direct hits added",
    ),
    _variant(
        "ragx-lexical",
        "ragX lexical",
        "ragX core, searching by the words of the query (BM25) instead of by meaning.",
        RagXLexicalSettings,
        differs="searches by words",
    ),
    _variant(
        "ragx-fused",
        "ragX fused",
        "ragX core, searching by words (BM25) and by meaning (embeddings), both rankings merged.",
        RagXFusedSettings,
        differs="searches by words and meaning",
    ),
    _variant(
        "ragx-rerank",
        "ragX rerank",
        "ragX core; a second model (a cross-encoder) reorders the top 100 of every search.",
        RagXRerankSettings,
        "retriever.rerank",
        differs="reorders what it finds",
    ),
    _variant(
        "ragx-fast",
        "ragX fast",
        "ragX core without sub-questions: it only searches and reads, turn by turn.",
        RagXFastSettings,
        differs="no sub-questions",
    ),
)
