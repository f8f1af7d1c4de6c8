"""Corpora and reasoners that questions are asked of, as every process can open them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import BadInput
from core.evaluation.questions import QuestionSet
from core.ports import Deps
from core.types import Passage, digest

if TYPE_CHECKING:
    from core.wiring import Workbench


@dataclass(frozen=True, slots=True)
class LibraryWorld:
    """An indexed corpus of the library in ``root``, read by a reasoner."""

    root: Path
    corpus: str
    model: str
    api_base: str | None = None

    def open(self) -> Deps:
        """The ports of a run over the corpus."""
        return _workbench(self.root).deps(self.corpus, self.model, api_base=self.api_base)

    def passages(self) -> Sequence[Passage]:
        """Every passage of the corpus."""
        return _workbench(self.root).library.open(self.corpus).passages()


def prepared(
    given: QuestionSet,
    out: Path,
    corpus: str | None,
    model: str,
    api_base: str | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> LibraryWorld:
    """The named corpus, or the pool of the question file's passages, indexed under ``out``.

    Raises:
        BadInput: the corpus cannot be used, or none is named and the file brings no passages.
        RunCancelled: ``cancelled`` said so while indexing.
    """
    from core.wiring import data_dir

    if corpus is not None:
        root = data_dir()
        library = _workbench(root).library
        library.index(corpus, cancelled=cancelled)
        return LibraryWorld(root, library.open(corpus).corpus.id, model, api_base)
    if not given.passages:
        raise BadInput("The question file brings no passages; name a corpus with --corpus.")
    name = f"pool-{digest(sorted(p.id for p in given.passages))}"
    _workbench(out).library.index_passages(name, given.passages, cancelled=cancelled)
    return LibraryWorld(out, name, model, api_base)


@lru_cache(maxsize=2)
def _workbench(root: Path) -> Workbench:
    from core.wiring import Workbench

    return Workbench(root)
