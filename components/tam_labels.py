"""What the nodes of a typed abstraction memory are called, as far as that can be told here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from components.safe import shorten
from core.errors import BadInput, RagError
from core.events import Called, Step
from core.graph import NodeTexts
from core.types import Access, CorpusRef

if TYPE_CHECKING:
    from core.retrieval.library import Library
    from core.systems.staterag.tam import Tam
    from core.systems.staterag.tam_graph import IndexGraph


@dataclass(slots=True)
class Names:
    """Names and texts of nodes. ``graph`` is the one that a run walked, where it is here still;
    else ``why`` says why not, and nodes go by what the run recorded of them."""

    titles: Mapping[str, str]
    access: Access = Access()  # noqa: RUF009
    graph: IndexGraph | None = None
    tam: Tam | None = None
    why: str = ""
    recorded: Mapping[str, str] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def texts(self, nodes: Iterable[str]) -> dict[str, str]:
        """The abstraction of each node that has one here."""
        wanted = [n for n in nodes if n not in self._texts]
        if wanted and self.graph is not None:
            self._texts.update(zip(wanted, self.graph.texts(wanted, self.access), strict=True))
        else:
            self._texts.update((n, self.recorded.get(n, "")) for n in wanted)
        return self._texts

    def label(self, node: str, kind: str) -> str:
        """A short name."""
        if node in self.titles:
            return self.titles[node]
        return short(node, kind, self.texts([node]).get(node, ""))


def short(node: str, kind: str, text: str) -> str:
    """A node's name from its abstraction: a passage's title, what a relation is about, the first
    phrases of a topic; of an unknown node its type and the end of its id."""
    if kind == "ROOT":
        return "whole corpus"
    if not text:
        return f"{kind.lower()} {node.rpartition(':')[2][:6]}"
    if kind == "EVIDENCE":
        return text.partition(": ")[0]
    if kind == "RELATION":
        return text.partition(" · ")[0]
    return shorten(", ".join(text.split(" · ")[:3]), 60)


def recorded_texts(steps: Iterable[Step]) -> dict[str, str]:
    """Abstractions of nodes that a run has recorded, by id."""
    return {
        node: text
        for step in steps
        if isinstance(called := step.event, Called)
        and (called.port, called.task) == ("retriever", "texts")
        and called.response is not None
        for node, text in NodeTexts.model_validate(called.response).nodes
    }


def names(
    library: Library,
    corpus: CorpusRef,
    root: str,
    titles: Mapping[str, str],
    access: Access,
    recorded: Mapping[str, str] | None = None,
) -> Names:
    """Names for a run over a corpus whose graph had this root; without that graph, those that
    the run has ``recorded``."""
    from core.systems.staterag.tam_graph import IndexGraph

    found = Names(titles, access, recorded=recorded or {})
    try:
        graph = IndexGraph.of(library.open(corpus.id))
        if graph.root != root:
            found.why = "The corpus has changed since this run, and its graph with it."
            return found
        found.tam = graph.stored()
    except BadInput:
        found.why = "The corpus of this run is not indexed here."
        return found
    except RagError as problem:
        found.why = problem.message
        return found
    if found.tam is None:
        found.why = "The graph of this corpus is not built here; the Corpus page builds it."
    else:
        found.graph = graph
    return found
