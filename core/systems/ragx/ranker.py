"""The variant's ranker: a channel of the index, or its top reordered by a cross-encoder."""

from __future__ import annotations

from core.errors import BadInput
from core.ports import Deps
from core.steps import Stage, search
from core.systems.evidence import query_overlap
from core.systems.ragx.settings import RagXRerankSettings, RagXSettings
from core.types import Scored


def rank(
    deps: Deps,
    query: str,
    k: int,
    settings: RagXSettings,
    *,
    parent: str | None,
    transformation: str,
    rationale: str,
) -> Stage[tuple[Scored, ...]]:
    """The best ``k`` passages for a query, best first. Spends one round.

    Raises:
        BudgetExhausted: no round is left.
        RetrieverError: the retriever or the cross-encoder failed.
    """
    depth, reranker = k, None
    if isinstance(settings, RagXRerankSettings):
        depth, reranker = max(k, settings.rerank_depth), settings.reranker
    hits = yield from search(
        deps,
        query,
        k=depth,
        channel=settings.channel,
        parent=parent,
        transformation=transformation,
        rationale=rationale,
        overlap=None if parent is None else query_overlap(query, parent),
        reranker=reranker,
    )
    return hits[:k]


def preflight(deps: Deps, settings: RagXSettings) -> None:
    """Load the cross-encoder where the variant has one.

    Raises:
        BadInput: it is not there; the run does not start.
    """
    if not isinstance(settings, RagXRerankSettings):
        return
    if deps.reranker is None:
        raise BadInput("No cross-encoder can be used here; choose another variant of ragX.")
    deps.reranker.check(settings.reranker)
