"""What the tree adds over flat entry, end to end, on the development questions.

The same StateRAG enters a region in two ways: by navigating the tree, and flat, where every
EVIDENCE node hangs under one relation of one topic, so that the Navigator ranks all passages by the
same scorer. Regions, roles, budgets and all else are the same. Differences are paired by question,
tree less flat, with 95% bootstrap intervals (10,000 resamples).

    python -m benchmarks.tam_entry [--out DIR] [--limit N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from core.evaluation.bootstrap import paired_difference
from core.evaluation.questions import load_questions
from core.evaluation.report import Table, markdown
from core.evaluation.results import Row, mean
from core.evaluation.runner import evaluate
from core.evaluation.worlds import LibraryWorld, prepared
from core.graph import ADMISSIBLE, AbstractionMemory, GraphEdge, NodeType, PathFacts, Spread
from core.ports import Deps
from core.retrieval.index import Index
from core.systems.staterag.tam_graph import IndexGraph
from core.types import Access, Passage, Scored
from core.wiring import Workbench

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OUT = Path(tempfile.gettempdir()) / "rag-inspector-bench" / "entry"
FILES = {"HotpotQA": "hotpotqa_dev50.json", "MuSiQue": "musique_dev50.json"}
COLUMNS = ("evidence_f1", "all_gold", "f1")
TOPIC, RELATION = "topic:all", "relation:all"
Entry = Literal["tree", "flat"]


class FlatGraph:
    """The abstraction memory of an index without its tree: one topic, one relation, and under it
    every passage, with the scores and the regions that the tree gives it."""

    def __init__(self, index: Index) -> None:
        self._index, self._tree = index, IndexGraph.of(index)

    @property
    def digest(self) -> str:
        return f"flat:{self._tree.digest}"

    @property
    def root(self) -> str:
        return self._tree.root

    def expand(self, query: str, parents: Sequence[str], access: Access) -> list[GraphEdge]:
        found = []
        for parent in sorted(set(parents)):
            for child, lexical, dense in self._children(parent, query, access):
                types = (self._type(parent), self._type(child))
                assert types in ADMISSIBLE
                found.append(
                    GraphEdge(parent=parent, child=child, types=types, lexical=lexical, dense=dense)
                )
        return found

    def _children(self, parent: str, query: str, access: Access) -> list[tuple[str, float, float]]:
        if parent == self.root:
            return [(TOPIC, 1.0, 1.0)]
        if parent == TOPIC:
            return [(RELATION, 1.0, 1.0)]
        if parent != RELATION:
            return []
        view = self._tree.view(access)
        scores = view.scores(query, self._index.query_vector(query))
        first = view.tam.first_evidence
        return sorted(
            (view.tam.ids[n], float(scores.lexical[n]), float(scores.dense[n]))
            for n in range(first, len(view.tam.ids))
            if view.there[n]
        )

    def _type(self, node: str) -> NodeType:
        upper: dict[str, NodeType] = {self.root: "ROOT", TOPIC: "TOPIC", RELATION: "RELATION"}
        return upper.get(node, "EVIDENCE")

    def facts(self, path: Sequence[str], access: Access) -> PathFacts:
        upper = (self.root, TOPIC, RELATION)
        there = self._tree.facts(path[len(upper) :], access).types
        edges = tuple(pair in pairwise(upper) or pair[0] == RELATION for pair in pairwise(path))
        kinds = tuple(self._type(node) for node in path[: len(upper)])
        return PathFacts(root=self.root, types=(*kinds, *there), edges=edges)

    def texts(self, nodes: Sequence[str], access: Access) -> list[str]:
        return self._tree.texts(nodes, access)

    def spread(self, terms: Sequence[str], access: Access) -> Spread:
        return self._tree.spread(terms, access)

    def region(self, node: str, query: str, width: int, access: Access) -> list[Scored]:
        return self._tree.region(node, query, width, access)


@dataclass(frozen=True, slots=True)
class FlatWorld:
    """A world whose abstraction memory is flat."""

    inner: LibraryWorld

    def open(self) -> Deps:
        graph: AbstractionMemory = FlatGraph(_library(self.inner.root, self.inner.corpus))
        return replace(self.inner.open(), graph=graph)

    def passages(self) -> Sequence[Passage]:
        return self.inner.passages()


@lru_cache(maxsize=2)
def _library(root: Path, corpus: str) -> Index:
    return Workbench(root).library.open(corpus)


def compared(name: str, rows: dict[Entry, Sequence[Row]]) -> list[tuple[str, ...]]:
    """Lines of the table: tree, flat, and tree less flat."""
    lines = []
    for entry, own in rows.items():
        means = (mean(own, column) for column in (*COLUMNS, "tokens"))
        lines.append((name, entry, *(_figure(value) for value in means)))
    flat = {row.question_id: row for row in rows["flat"]}
    cells = []
    for column in COLUMNS:
        both = [(getattr(r, column), getattr(flat[r.question_id], column)) for r in rows["tree"]]
        known = [(a, b) for a, b in both if a is not None and b is not None]
        cells.append(f"{paired_difference([a for a, _ in known], [b for _, b in known]):+.3f}")
    return [*lines, (name, "difference", *cells, "")]


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value <= 1 else f"{value:.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both on each set; 0 whatever came out."""
    parser = argparse.ArgumentParser(prog="benchmarks.tam_entry", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args(arguments)
    if not DATA.is_dir():
        print("Entry: skipped, the development questions are not beside the project.")
        return 0
    lines = []
    for name, file in FILES.items():
        tree = prepared(load_questions(DATA / file), given.out / name, None, "extractive")
        rows: dict[Entry, Sequence[Row]] = {}
        for entry, world in (("tree", tree), ("flat", FlatWorld(tree))):
            made = evaluate(
                DATA / file, ["staterag"], given.out / name / entry, limit=given.limit, world=world
            )
            rows[entry] = made.rows  # type: ignore[index]
        lines += compared(name, rows)
    heading = ("questions", "entry", "evidence F1", "all gold", "F1", "tokens")
    print(f"StateRAG with entry by the tree and flat\n\n{markdown(Table(heading, lines))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
