"""The typed abstraction memory: what it finds on the development questions, and what it costs.

Found: gold among the first ``TRACES`` completed traces of a beam search (g = half cosine, half
idf share; a trace counts g of its EVIDENCE node and ``PARENT`` times that of its RELATION),
beside the same g over all passages (flat); and whether some gold passage's region, or that of the
first trace, holds all gold. Cost, in seconds of one thread's own time (whatever else runs
beside it): a build of synthetic passages and vectors, and a navigation through it with the query's
vector given.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.retrieval import DATA, clustered, zipf_texts
from core.adapters.chroma import ChromaStores
from core.adapters.embeddings import SentenceEmbedder
from core.evaluation.questions import QuestionSet, load_questions, pooled_passage
from core.evaluation.report import Table, markdown
from core.retrieval.index import Index
from core.retrieval.library import Library
from core.systems.staterag.tam import REGION_WIDTH, TYPES, Tam, validate_tam
from core.systems.staterag.tam_build import build_tam
from core.systems.staterag.tam_graph import IndexGraph
from core.systems.staterag.tam_view import NodeScores, TamView
from core.types import Access, Passage

BEAM, TRACES, PARENT, DENSE = 8, 8, 0.6, 0.5
PASSAGES, QUERIES, NAMES_EACH = 10_000, 50, 6
BUILD_LIMIT, NAVIGATE_LIMIT = 120.0, 0.050
PARTS = ("found", "cost")
Scored = list[tuple[str, float]]


def navigate(view: TamView, scores: NodeScores) -> Scored:
    """EVIDENCE nodes of the completed traces, best first, by the edges that the port gives."""
    frontier: list[tuple[str, float]] = [(view.tam.root, 0.0)]
    seen = {view.tam.root}
    done: dict[str, float] = {}
    while frontier:
        own = dict(frontier)
        open_: dict[str, float] = {}
        for edge in view.edges(own, scores):
            g = DENSE * (edge.dense or 0.0) + (1 - DENSE) * (edge.lexical or 0.0)
            if edge.types[1] == "EVIDENCE":
                value = g + PARENT * own[edge.parent]
                done[edge.child] = max(done.get(edge.child, -np.inf), value)
            elif edge.child not in seen:
                open_[edge.child] = g
        frontier = sorted(open_.items(), key=_order)[:BEAM]
        seen.update(name for name, _ in frontier)
    return sorted(done.items(), key=_order)


def _order(scored: tuple[str, float]) -> tuple[float, str]:
    return (-scored[1], scored[0])


def flat(view: TamView, scores: NodeScores) -> Scored:
    """All passages by the same g."""
    first = view.tam.first_evidence
    g = DENSE * scores.dense[first:] + (1 - DENSE) * scores.lexical[first:]
    return sorted(zip(view.tam.ids[first:], g.tolist(), strict=True), key=_order)


def found_row(name: str, index: Index, questions: QuestionSet) -> tuple[str, ...]:
    graph, everyone = IndexGraph.of(index), Access()
    view = graph.view(everyone)
    hits = dict.fromkeys(("any", "all", "flat any", "flat all", "gold", "first", "flat first"), 0)
    for q in questions.questions:
        scores = view.scores(q.question, index.query_vector(q.question))
        traces = [n for n, _ in navigate(view, scores)[:TRACES]]
        entries = [n for n, _ in flat(view, scores)[:TRACES]]

        def holds(node: str, q: object = q) -> bool:
            region = graph.region(node, q.question, REGION_WIDTH, everyone)  # type: ignore[attr-defined]
            return q.gold <= {hit.passage.id for hit in region}  # type: ignore[attr-defined]

        hits["any"] += bool(q.gold & set(traces))
        hits["all"] += q.gold <= set(traces)
        hits["flat any"] += bool(q.gold & set(entries))
        hits["flat all"] += q.gold <= set(entries)
        hits["gold"] += any(holds(node) for node in sorted(q.gold))
        hits["first"] += holds(traces[0])
        hits["flat first"] += holds(entries[0])
    return (name, *(f"{count / len(questions.questions):.2f}" for count in hits.values()))


def found_table(library: Library, sets: dict[str, QuestionSet]) -> Table:
    heading = (
        "questions",
        f"any gold in {TRACES} traces",
        "all gold",
        f"any gold in {TRACES} flat",
        "all gold, flat",
        "a gold region holds all",
        "the first trace's region",
        "the first flat one's",
    )
    rows = [found_row(name, library.open(name), q) for name, q in sets.items()]
    return Table(heading, rows)


def synthetic(count: int) -> list[Passage]:
    """Passages of words by Zipf's law, each titled by an invented name and naming others."""
    chooser = random.Random(4)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]

    def word() -> str:
        return "".join(chooser.choice(syllables) for _ in range(3)).capitalize()

    names = [f"{word()} {word()}" for _ in range(count)]
    weights = [1 / (rank + 20) for rank in range(count)]
    passages = []
    for name, text in zip(names, zipf_texts(count), strict=True):
        words = text.split()
        named = chooser.choices(names, weights, k=NAMES_EACH)
        spoken = [
            f"It has {' '.join(words[i * 8 : i * 8 + 8])} with {other} in it."
            for i, other in enumerate(named)
        ]
        passages.append(pooled_passage(name, " ".join(spoken)))
    return passages


def cost_table(count: int) -> tuple[Table, Tam]:
    passages = synthetic(count)
    vectors = clustered(count)
    started = time.process_time()
    tam, texts = build_tam(passages, vectors)
    built = time.process_time() - started
    started = time.process_time()
    build_tam(passages, vectors, cached=texts)
    again = time.process_time() - started
    ordered = sorted(range(count), key=lambda row: passages[row].id)
    known = [passages[row] for row in ordered]
    started = time.process_time()
    validate_tam(tam, known)
    validated = time.process_time() - started
    started = time.process_time()
    view = TamView(tam, known, np.ascontiguousarray(vectors[ordered]))
    opened = time.process_time() - started
    chooser = np.random.default_rng(5)
    asked = chooser.integers(count, size=QUERIES + 1)
    times = []
    for number, row in enumerate(asked.tolist()):
        query = f"Which {known[row].title} has {' '.join(known[row].text.split()[2:8])}?"
        started = time.process_time()
        navigate(view, view.scores(query, view.vectors[row]))
        if number:  # the first one warms up
            times.append(time.process_time() - started)

    mine, high = float(np.median(times)), float(np.quantile(times, 0.95))
    rows = [
        line("build, s", built, BUILD_LIMIT),
        line("build with abstractions kept, s", again, BUILD_LIMIT),
        ("validation, s", f"{validated:.2f}", "", "", ""),
        ("opening, s", f"{opened:.2f}", "", "", ""),
        line("navigation (median), ms", mine, NAVIGATE_LIMIT, 1e3),
        line("navigation (95th of 100), ms", high, NAVIGATE_LIMIT, 1e3),
    ]
    return Table((f"{count:,} passages", "measured", "limit", "ratio", "holds"), rows), tam


def line(name: str, value: float, limit: float, unit: float = 1.0) -> tuple[str, ...]:
    holds = "yes" if value <= limit else "NO"
    return (name, f"{value * unit:.1f}", f"{limit * unit:g}", f"{value / limit:.2f}", holds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all; 0 whatever came out."""
    parser = argparse.ArgumentParser(prog="benchmarks tam", description=__doc__)
    parser.add_argument("--data", type=Path, help="keep indexes here, for a second run")
    parser.add_argument("--part", choices=PARTS, action="append", help="run only this")
    parser.add_argument("--passages", type=int, default=PASSAGES, help="for the cost")
    given = parser.parse_args(arguments)
    parts = given.part or PARTS
    if "found" in parts:
        print("## What the abstraction memory finds\n")
        names = ("hotpotqa_dev50.json", "musique_dev50.json")
        sets = {n.split("_")[0]: load_questions(DATA / n) for n in names if (DATA / n).exists()}
        if sets:
            with tempfile.TemporaryDirectory() as temporary:
                place = given.data or Path(temporary)
                library = Library(place, "bench", SentenceEmbedder(), ChromaStores(url=""))
                for name, questions in sets.items():
                    library.index_passages(name, questions.passages)
                print(markdown(found_table(library, sets)) + "\n", flush=True)
        else:
            print("The development questions are not beside the project.\n")
    if "cost" in parts:
        table, tam = cost_table(given.passages)
        kinds = [f"{int((tam.types == n).sum()):,} {kind}" for n, kind in enumerate(TYPES)]
        print(f"## What it costs ({', '.join(kinds)}; {len(tam.edges):,} edges)\n")
        print(markdown(table) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
