"""A TAM as one asker sees it: the nodes, texts and scores that his passages alone give."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from core.graph import ADMISSIBLE, GraphEdge, NodeType, PathFacts, Spread
from core.ports import FloatArray
from core.retrieval.lexical import idf, query_terms
from core.systems.staterag.tam import EVIDENCE, RELATION, ROOT, TOPIC, TYPES, Floats, Ints, Tam
from core.systems.staterag.tam_names import read_sentences
from core.systems.staterag.tam_texts import evidence_text, relation_text, root_text, topic_texts
from core.types import Passage

QUERIES_KEPT = 64
DECIMALS = 6
BLOCK = 16_384
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class NodeScores:
    """For every node by number: ``lexical`` in [0, 1], ``dense`` in [-1, 1]."""

    lexical: Floats
    dense: Floats


class TamView:
    """One graph under one access; safe to use from several threads.

    A node is there if ``mask`` (by passage row; None: all) allows a passage under it. Its
    centroid is the unit mean of the allowed passages under it, its routing text their titles
    and entities; of an EVIDENCE node, the whole passage.
    """

    def __init__(
        self, tam: Tam, passages: Sequence[Passage], vectors: FloatArray, mask: Mask | None = None
    ) -> None:
        """``passages`` ascend by id; ``vectors`` are theirs, shape (passages, dimension)."""
        from scipy.sparse import csr_array

        self.tam, self.passages, self.vectors = tam, passages, vectors
        self._rows = np.arange(len(passages)) if mask is None else np.flatnonzero(mask)
        self._whole = mask is None
        self._first = tam.first_evidence
        self.number = {name: n for n, name in enumerate(tam.ids)}
        under = self._under()
        if mask is not None:
            under = csr_array(under.multiply(mask[None, :].astype(np.float32)))
            under.eliminate_zeros()
        self._members = under
        allowed = np.ones(len(passages), dtype=bool) if mask is None else mask
        self.there: Mask = np.concatenate([np.diff(under.indptr) > 0, allowed])
        self.there[0] = True
        self._norms = self._centroid_norms()
        self._children = np.searchsorted(tam.edges[:, 0], np.arange(len(tam.ids) + 1))
        self._postings = self._by_term()
        self._vocabulary = {term: n for n, term in enumerate(tam.terms)}
        self._lock = threading.Lock()
        self._scores: OrderedDict[str, NodeScores] = OrderedDict()

    def _under(self) -> Any:
        """Sparse, shape (inner nodes, passages): 1 where a passage lies under a node."""
        from scipy.sparse import csr_array

        tam, first = self.tam, self._first
        edges, kinds = tam.edges, tam.types
        ones = np.ones(len(edges), dtype=np.float32)
        nodes = len(tam.ids)
        graph = csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(nodes, nodes))
        inner, direct = graph[:first, :first], graph[:first, first:]
        reached = direct
        for _ in range(first):
            grown = csr_array(direct + inner @ reached)
            grown.data[:] = 1.0
            if grown.nnz == reached.nnz:
                break
            reached = grown
        assert kinds[0] == ROOT
        return csr_array(reached)

    def _centroid_norms(self) -> Floats:
        """Length of the sum of the vectors under each inner node; 1 where there are none."""
        norms = np.ones(self._first)
        for start in range(0, self._first, BLOCK):
            sums = self._members[start : start + BLOCK] @ self.vectors
            norms[start : start + BLOCK] = np.linalg.norm(sums, axis=1)
        return np.where(norms > 0, norms, 1.0)

    # --- scores ------------------------------------------------------------------------------

    def scores(self, query: str, vector: FloatArray) -> NodeScores:
        """How well each node meets a query; recent queries come from memory."""
        with self._lock:
            if query in self._scores:
                self._scores.move_to_end(query)
                return self._scores[query]
        cosines = np.zeros(0)
        if len(self.passages):
            cosines = (self.vectors @ vector).astype(np.float64)
        above = (self._members @ cosines) / self._norms
        dense = np.clip(np.concatenate([above, cosines]), -1.0, 1.0).round(DECIMALS)
        found = NodeScores(self._lexical(query), dense)
        with self._lock:
            self._scores[query] = found
            while len(self._scores) > QUERIES_KEPT:
                self._scores.popitem(last=False)
        return found

    def _lexical(self, query: str) -> Floats:
        """idf share of the query's terms that a node's routing text has."""
        from scipy.sparse import csr_array

        tam, passages = self.tam, len(self.passages)
        asked = query_terms(query)
        weights = np.zeros(len(asked))
        of_rows: list[tuple[Ints, Ints]] = []
        for place, term in enumerate(asked):
            rows, routed = self._holders(term)
            weights[place] = idf(passages, len(rows))
            of_rows.append((rows, routed))
        total = weights.sum()
        if not total > 0:
            return np.zeros(len(tam.ids))
        own = np.zeros(passages)
        cells = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for place, (rows, routed) in enumerate(of_rows):
            own[rows] += weights[place]
            cells[0].append(routed)
            cells[1].append(np.full(len(routed), place))
        row, column = np.concatenate(cells[0]), np.concatenate(cells[1])
        ones = np.ones(len(row), dtype=np.float32)
        routes = csr_array((ones, (row, column)), shape=(passages, len(asked)))
        covered = csr_array(self._members @ routes)
        covered.data[:] = 1.0
        above = covered @ weights
        shares: Floats = np.clip(np.concatenate([above, own]) / total, 0.0, 1.0).round(DECIMALS)
        return shares

    def _by_term(self) -> tuple[Ints, Ints, Mask]:
        """By term: where its rows start, the rows, and whether it routes there."""
        tam = self.tam
        rows = np.repeat(np.arange(len(self.passages)), np.diff(tam.term_ends))
        order = np.argsort(tam.term_ids, kind="stable")
        starts = np.searchsorted(tam.term_ids[order], np.arange(len(tam.terms) + 1))
        return starts, rows[order], tam.term_routes[order]

    def _holders(self, term: str) -> tuple[Ints, Ints]:
        """Rows whose text has a term, and those of them that it routes to."""
        number = self._vocabulary.get(term)
        if number is None:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing
        starts, rows, routes = self._postings
        here = slice(starts[number], starts[number + 1])
        return rows[here], rows[here][routes[here]]

    def spread(self, terms: Sequence[str]) -> Spread:
        """How many passages are there, and how many hold each term."""
        there = self.there[self._first :]
        holders = tuple(int(there[self._holders(term)[0]].sum()) for term in terms)
        return Spread(passages=len(self._rows), holders=holders)

    # --- structure ---------------------------------------------------------------------------

    def edges(self, parents: Iterable[str], scores: NodeScores) -> list[GraphEdge]:
        """Scored edges out of nodes, to children that are there, by (parent, child)."""
        tam = self.tam
        found = []
        for name in sorted(set(parents)):
            parent = self.number.get(name)
            if parent is None or not self.there[parent]:
                continue
            here = slice(self._children[parent], self._children[parent + 1])
            children = tam.edges[here, 1]
            kept = sorted((tam.ids[c], int(c)) for c in children[self.there[children]])
            for child_name, child in kept:
                types = (TYPES[tam.types[parent]], TYPES[tam.types[child]])
                admissible = types in ADMISSIBLE
                found.append(
                    GraphEdge(
                        parent=name,
                        child=child_name,
                        types=types,
                        lexical=float(scores.lexical[child]) if admissible else None,
                        dense=float(scores.dense[child]) if admissible else None,
                    )
                )
        return found

    def facts(self, path: Sequence[str]) -> PathFacts:
        """What the graph holds of a path."""
        numbers = [self.number.get(name) for name in path]
        numbers = [n if n is not None and self.there[n] else None for n in numbers]
        types: list[NodeType | None] = [
            None if n is None else TYPES[self._kind(n)] for n in numbers
        ]
        edges = tuple(
            a is not None and b is not None and self._has_edge(a, b) for a, b in pairwise(numbers)
        )
        return PathFacts(root=self.tam.root, types=tuple(types), edges=edges)

    def _kind(self, node: int) -> int:
        return int(self.tam.types[node])

    def _has_edge(self, parent: int, child: int) -> bool:
        here = slice(self._children[parent], self._children[parent + 1])
        return bool((self.tam.edges[here, 1] == child).any())

    # --- texts -------------------------------------------------------------------------------

    def text(self, name: str) -> str:
        """The abstraction of a node; empty for one that is not there."""
        node = self.number.get(name)
        if node is None or not self.there[node]:
            return ""
        kind = self._kind(node)
        if self._whole or kind == EVIDENCE:
            return self.tam.texts[node]
        if kind == RELATION:
            rows = self._members_of(node)
            names = self.tam.names.get(node, ())
            if len(rows) == 1:
                row = rows[0]
                return evidence_text(self.passages[row], read_sentences(self.passages[row].text))
            return relation_text(
                rows, names, self.passages, lambda row: read_sentences(self.passages[row].text)
            )
        return self._upper_texts[node]

    def _members_of(self, node: int) -> list[int]:
        start, end = self._members.indptr[node : node + 2]
        rows: list[int] = np.sort(self._members.indices[start:end]).tolist()
        return rows

    @cached_property
    def _upper_texts(self) -> dict[int, str]:
        """Texts of ROOT and TOPIC nodes from allowed passages alone."""
        kinds = self.tam.types
        relations = [int(n) for n in np.flatnonzero(kinds == RELATION) if self.there[n]]
        members = {n: self._members_of(n) for n in relations}
        found = {0: root_text(self._rows.tolist(), members, self.tam.names, self.passages)}
        beneath: dict[int, set[int]] = {n: {n} for n in relations}
        levels: dict[int, list[int]] = {}
        for node in reversed([int(n) for n in np.flatnonzero(kinds == TOPIC) if self.there[n]]):
            children = self._kept_children(node)
            beneath[node] = set().union(*(beneath.get(c, set()) for c in children))
            level = int(any(kinds[c] == TOPIC for c in children))
            levels.setdefault(level, []).append(node)
        for nodes in levels.values():
            under = [sorted(beneath[n]) for n in nodes]
            texts = topic_texts(under, members, self.tam.names, self.passages)
            found.update(zip(nodes, texts, strict=True))
        return found

    def _kept_children(self, node: int) -> list[int]:
        here = slice(self._children[node], self._children[node + 1])
        children = self.tam.edges[here, 1]
        kept: list[int] = children[self.there[children]].tolist()
        return kept
