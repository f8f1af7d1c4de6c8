"""Abstractions written by a model: those of RELATION and TOPIC nodes, the lower ones first.

Nothing but texts changes: nodes, edges, regions and what routes a query stay those of the graph. A
text is kept by the digest of what it was written from and by whom, so that a later build asks only
for what is new. Where the model fails, a node keeps its extractive text, and that is counted.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import ReasonerError, TaskUnsupported
from core.ports import Reasoner
from core.systems.staterag.tam import EVIDENCE, RELATION, ROOT, Ints, Tam
from core.tasks import ABSTRACT, AbstractRequest, Allowance
from core.types import Passage, digest

WRITTEN_VERSION = 1
"""Raised when a release asks for abstractions in other words."""
MOST_SHOWN = 12
"""Passages of a relation, or parts of a topic, that the model is shown, the first by id."""
MOST_FAILURES = 5
"""After so many failures in a row the model is asked no more."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it. Of ``nodes``, an earlier build had the texts of ``kept``, and ``failed``
    keep their extractive ones: the model failed, or was asked no more. ``problem``: the first
    failure's message."""

    nodes: int
    asked: int = 0
    kept: int = 0
    failed: int = 0
    problem: str = ""

    @property
    def in_vain(self) -> bool:
        """Whether the model was asked and every request failed."""
        return self.asked > 0 and self.kept + self.failed == self.nodes


def write_abstractions(
    tam: Tam,
    passages: Sequence[Passage],
    reasoner: Reasoner,
    known: MutableMapping[str, str],
    step: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Tam, Written]:
    """The graph with the reasoner's texts in place of the extractive ones, and what came of it.

    ``passages`` ascend by id. ``known``: texts by the digest of what they were written from and
    by whom; what is new is added at once, so that work which is stopped is not lost. ``step`` is
    told how many nodes are done and may raise.

    Raises:
        TaskUnsupported: the reasoner writes no abstractions.
    """
    nodes = np.flatnonzero((tam.types != EVIDENCE) & (tam.types != ROOT)).tolist()
    children = np.searchsorted(tam.edges[:, 0], np.arange(len(tam.ids) + 1))
    texts = list(tam.texts)
    asked = kept = failed = in_a_row = 0
    problem = ""
    for done, node in enumerate(reversed(nodes)):
        step(done, len(nodes))
        below = tam.edges[children[node] : children[node + 1], 1]
        request = _request(tam, node, below, texts, passages)
        key = _key(reasoner, request)
        if key in known:
            kept += 1
        elif in_a_row < MOST_FAILURES:
            asked += 1
            try:
                known[key] = reasoner.perform(ABSTRACT, request, Allowance()).value.text
                in_a_row = 0
            except TaskUnsupported:
                raise
            except ReasonerError as error:
                problem = problem or error.message
                in_a_row += 1
        failed += key not in known
        texts[node] = known.get(key, texts[node])
    step(len(nodes), len(nodes))
    written = Written(len(nodes), asked, kept, failed, problem)
    if failed == len(nodes):
        return tam, written
    return replace(tam, texts=tuple(texts), writer=_writer(reasoner)), written


def _writer(reasoner: Reasoner) -> str:
    return reasoner.model or reasoner.name


def _key(reasoner: Reasoner, request: AbstractRequest) -> str:
    shown = [[p.title, p.text] for p in request.passages]
    return digest([WRITTEN_VERSION, _writer(reasoner), request.names, shown, request.parts])


def _request(
    tam: Tam, node: int, below: Ints, texts: Sequence[str], passages: Sequence[Passage]
) -> AbstractRequest:
    """A RELATION by its passages; a TOPIC by the texts beneath it as they now read."""
    shown = below[:MOST_SHOWN].tolist()
    if tam.types[node] == RELATION:
        rows = [child - tam.first_evidence for child in shown]
        names = tam.names.get(node, ())
        return AbstractRequest(names=names, passages=tuple(passages[row] for row in rows))
    return AbstractRequest(parts=tuple(texts[child] for child in shown))
