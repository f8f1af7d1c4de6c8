"""A corpus as a list shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from core.retrieval.home import Home
from core.retrieval.manifest import FORMAT, Lexical, Manifest
from core.types import Frozen

Kind = Literal["bundled", "folder", "uploads", "pool"]
State = Literal["ready", "not indexed", "needs re-indexing"]


class CorpusSummary(Frozen):
    """A corpus as a list shows it; counts are 0 until it is indexed."""

    name: str
    kind: Kind
    state: State
    documents: int = 0
    passages: int = 0
    skipped: int = 0
    warnings: int = 0
    version: str = ""
    embedder: str = ""
    updated_at: datetime | None = None
    source_tiers: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    jurisdictions: tuple[str, ...] = ()
    dates: tuple[str, str] | None = None


class Summaries:
    """The summaries of corpora, each read again only when its manifest on disk is another one:
    pages that wait for a change ask often, and a large corpus has a large manifest."""

    def __init__(self, embedder: str, place: str) -> None:
        self._embedder, self._place = embedder, place
        self._known: dict[str, tuple[object, CorpusSummary]] = {}

    def of(self, name: str, kind: Kind, home: Home) -> CorpusSummary:
        """The summary of the corpus that is kept in ``home``."""
        stamp = (kind, home.stamp())
        known = self._known.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        found = self._read(name, kind, home)
        self._known[name] = (stamp, found)
        return found

    def _read(self, name: str, kind: Kind, home: Home) -> CorpusSummary:
        manifest = home.manifest()
        if manifest is None:
            gone: State = "not indexed" if home.current() is None else "needs re-indexing"
            return CorpusSummary(name=name, kind=kind, state=gone)
        verdicts = [entry.verdict.status for entry in manifest.files]
        return CorpusSummary(
            name=name,
            kind=kind,
            state="ready" if self._usable(manifest) else "needs re-indexing",
            documents=len(manifest.documents),
            passages=manifest.passages,
            skipped=verdicts.count("skipped"),
            warnings=verdicts.count("warning"),
            version=manifest.version,
            embedder=manifest.embedder.model,
            updated_at=manifest.updated_at,
            source_tiers=manifest.values("source_tier"),
            tenants=manifest.values("tenant"),
            jurisdictions=manifest.values("jurisdiction"),
            dates=manifest.dates(),
        )

    def _usable(self, manifest: Manifest) -> bool:
        return (
            manifest.embedder.model == self._embedder
            and manifest.format == FORMAT
            and manifest.lexical == Lexical()
            and manifest.place == self._place
        )
