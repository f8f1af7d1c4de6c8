"""The small world in place of the real corpora and reasoners; the journal is the real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.journal import Journal
from tests.core.world import deps


class Bench:
    """What the command line uses of ``wiring.Workbench``."""

    world: Callable[[], Any] = staticmethod(deps)
    default: Path

    def __init__(self, journal_dir: Path | None = None) -> None:
        self.journal = Journal(journal_dir or self.default)
        self.library = self.embedder = self

    def ensure(self, corpus: str, progress: Any) -> str:
        if corpus != "world":
            raise BadInput(f"Unknown corpus {corpus!r}.")
        return corpus

    def load(self) -> None:
        """The embedder's."""

    def deps_over(self, index: Any, model: str, api_base: str | None = None) -> Any:
        if model != "extractive":
            raise BadInput(f"No key is set for {model}.")
        return Bench.world()
