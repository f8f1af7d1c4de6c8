"""Retrieval beside what it is made of: ratios in one run, and what each channel finds.

Lexical search is compared with bm25s as its documentation shows it (its tokenizer, ``retrieve``)
and with the BM25 of the ragX package; dense search with encoding and asking Chroma; indexing with
sentence-transformers alone over the same texts. Growth is from 10,000 to 100,000 passages, of
words drawn by Zipf's law and of clustered vectors. All are measured in turn, several times, and
the fastest of each counts.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.steps import fastest
from core.adapters.chroma import ChromaStores
from core.adapters.embeddings import SentenceEmbedder
from core.evaluation.questions import QuestionSet, load_questions
from core.evaluation.report import Table, markdown
from core.ports import FloatArray
from core.retrieval.calibration import pseudo_queries
from core.retrieval.dense import DenseIndex
from core.retrieval.index import Index
from core.retrieval.lexical import LexicalIndex, best, indexed_text, ranked
from core.retrieval.library import Library
from core.retrieval.sentences import sentence_spans
from core.retrieval.textview import sentence_texts
from core.types import Access, Channel

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SMALL, LARGE = 10_000, 100_000
WORDS, VOCABULARY = 50, 200_000
QUERIES, TERMS, K = 50, 8, 10
DIMENSION, CENTRES = 384, 500
CHANNELS: tuple[Channel, ...] = ("lexical", "dense", "fused")
PARTS = ("lexical", "found", "indexing", "dense")
Line = tuple[str, ...]


def memory() -> str:
    """The most memory this process has held so far."""
    import resource

    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"


def line(name: str, mine: float, other: float, unit: float, limit: float, least: bool) -> Line:
    """Both times (in ``unit`` seconds), their ratio, and whether it is as asked."""
    ratio = mine / other
    holds = "yes" if (ratio >= limit if least else ratio <= limit) else "NO"
    wanted = f"at {'least' if least else 'most'} {limit:g}"
    return (name, f"{mine / unit:,.2f}", f"{other / unit:,.2f}", f"{ratio:.2f}", wanted, holds)


def each(work: Callable[[Any], object], items: Sequence[Any]) -> Callable[[], float]:
    """Seconds for one item, over all items."""

    def once() -> float:
        started = time.perf_counter()
        for item in items:
            work(item)
        return (time.perf_counter() - started) / len(items)

    return once


# --- lexical ----------------------------------------------------------------------------------


def zipf_texts(count: int) -> list[str]:
    """Passages of ``WORDS`` words; the r-th most common of ``VOCABULARY`` has weight 1/(r+2.7)."""
    chooser = np.random.default_rng(1)
    weights = 1 / (np.arange(VOCABULARY) + 2.7)
    drawn = chooser.choice(VOCABULARY, size=(count, WORDS), p=weights / weights.sum())
    return [" ".join(f"w{n}" for n in row) for row in drawn.tolist()]


def zipf_queries(texts: Sequence[str]) -> list[str]:
    """Words of one passage each."""
    chooser = random.Random(2)
    return [" ".join(chooser.sample(chooser.choice(texts).split(), TERMS)) for _ in range(QUERIES)]


def ours_lexical(index: LexicalIndex) -> Callable[[str], object]:
    return lambda query: best(index.scores(query), K)


def raw_bm25s(texts: Sequence[str]) -> Callable[[str], object]:
    """bm25s with its own tokenizer and defaults, but for k1 and b."""
    import bm25s

    tokens = bm25s.tokenize(list(texts), stopwords=None, show_progress=False)
    raw = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
    raw.index(tokens, show_progress=False)

    def search(query: str) -> object:
        asked = bm25s.tokenize(query, stopwords=None, show_progress=False, return_ids=False)
        return raw.retrieve(asked, k=K, show_progress=False)

    return search


def ragx(texts: Sequence[str]) -> Callable[[str], object] | None:
    """The BM25 of the ragX package, where it is installed."""
    try:
        from ragx.rankers import BM25Ranker
    except ImportError:
        return None
    passages = [SimpleNamespace(pid=n, title="", text=text) for n, text in enumerate(texts)]
    ranker = BM25Ranker(SimpleNamespace(passages=passages))
    return lambda query: ranker.search(query, K)


def lexical_table() -> Table:
    """Milliseconds a query at 10,000 and 100,000 passages."""
    texts = zipf_texts(LARGE)
    queries = zipf_queries(texts[:SMALL])
    small, large = LexicalIndex.build(texts[:SMALL]), LexicalIndex.build(texts)
    timed = {
        "ours": each(ours_lexical(small), queries),
        "bm25s": each(raw_bm25s(texts[:SMALL]), queries),
        "large": each(ours_lexical(large), queries),
    }
    package = ragx(texts[:SMALL])
    if package is not None:
        timed["ragx"] = each(package, queries)
    found = fastest(timed)
    mine, ms = found["ours"], 1e-3
    lines = [line("bm25s itself", mine, found["bm25s"], ms, 1.3, least=False)]
    if "ragx" in found:
        lines.append(line("ragX's BM25", mine, found["ragx"], ms, 0.1, least=False))
    else:
        lines.append(("ragX's BM25 (not installed)", "", "", "", "at most 0.1", ""))
    grown = line("itself with 10,000", found["large"], mine, ms, 8, least=False)
    if found["large"] < 3 * ms:
        grown = (*grown[:4], "at most 8, or 3 ms", "yes")
    return Table(
        ("lexical search and", "ours, ms", "it, ms", "ratio", "asked", "holds"), [*lines, grown]
    )


# --- dense ------------------------------------------------------------------------------------


def clustered(count: int) -> FloatArray:
    """Unit vectors around ``CENTRES`` centres."""
    chooser = np.random.default_rng(3)
    centres = chooser.standard_normal((CENTRES, DIMENSION), dtype=np.float32)
    noise = chooser.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors = centres[chooser.integers(CENTRES, size=count)] + noise
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def synthetic_dense(vectors: FloatArray, folder: Path) -> DenseIndex:
    store = ChromaStores(url="").create(folder, f"synthetic {len(vectors)}")
    ids = [f"{n:016x}" for n in range(len(vectors))]
    store.upsert(ids, vectors)
    rows = {identifier: row for row, identifier in enumerate(ids)}
    return DenseIndex(vectors, np.arange(len(vectors)), rows, lambda: store)


def dense_search(index: DenseIndex) -> Callable[[FloatArray], object]:
    def search(vector: FloatArray) -> object:
        rows = index.candidates(vector, K, None)
        return rows[ranked(index.cosines(vector, rows), np.arange(len(rows)), K)]

    return search


def dense_table(index: Index, embedder: SentenceEmbedder, folder: Path) -> Table:
    """Milliseconds a query: real passages against encode and query; synthetic for growth."""
    import chromadb

    passages = index.passages()
    texts = [text for _, text in pseudo_queries(passages)][:QUERIES]
    client = chromadb.PersistentClient(str(folder / "raw"))
    raw = client.create_collection(
        "raw", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    raw.upsert(ids=[p.id for p in passages], embeddings=index.passage_vectors())
    retriever = index.retriever()

    def ours(text: str) -> object:
        index.forget_queries()
        return retriever.search(text, K, "dense", Access())

    def parts(text: str) -> object:
        return raw.query(query_embeddings=embedder.encode([text]), n_results=K)

    vectors = clustered(LARGE)
    asked = list(clustered(QUERIES))
    small = dense_search(synthetic_dense(vectors[:SMALL], folder / "small"))
    large = dense_search(synthetic_dense(vectors, folder / "large"))
    found = fastest(
        {
            "ours": each(ours, texts),
            "raw": each(parts, texts),
            "encode": each(lambda text: embedder.encode([text]), texts),
            "small": each(small, asked),
            "large": each(large, asked),
        }
    )
    encode, ms = found["encode"], 1e-3
    with_encoding = (found["large"] + encode, found["small"] + encode)
    alone = line("without encoding", found["large"], found["small"], ms, 1.5, least=False)
    return Table(
        ("dense search and", "ours, ms", "it, ms", "ratio", "asked", "holds"),
        [
            line("encode and Chroma's query", found["ours"], found["raw"], ms, 1.3, least=False),
            line("itself with 10,000", *with_encoding, ms, 1.5, least=False),
            (*alone[:4], "", ""),
        ],
    )


# --- indexing ---------------------------------------------------------------------------------


def indexing_table(library: Library, embedder: SentenceEmbedder) -> Table:
    """Texts a second: a whole build of the largest bundled corpus, and the encoder alone."""
    bundled = [corpus for corpus in library.list() if corpus.kind == "bundled"]
    name = max(bundled, key=lambda corpus: corpus.passages).name
    passages = library.open(name).passages()
    texts = [indexed_text(p) for p in passages]
    for p in passages:
        texts.extend(sentence_texts(p, sentence_spans(p.text)))
    texts.extend(text for _, text in pseudo_queries(passages))
    texts = list(dict.fromkeys(texts))
    model = embedder.load()

    def whole() -> float:
        library.delete(name)
        report = library.index(name)
        assert report.embedded == len(texts)
        return report.seconds / len(texts)

    def alone() -> float:
        started = time.perf_counter()
        model.encode(texts, normalize_embeddings=True, show_progress_bar=False, batch_size=64)
        return (time.perf_counter() - started) / len(texts)

    found = fastest({"whole": whole, "alone": alone})
    mine, other = 1 / found["whole"], 1 / found["alone"]
    return Table(
        (f"indexing {name} ({len(texts)} texts) and", "ours", "it", "ratio", "asked", "holds"),
        [line("the encoder alone, texts/s", mine, other, 1.0, 0.9, least=True)],
    )


# --- what is found ----------------------------------------------------------------------------


def found_table(library: Library, sets: dict[str, QuestionSet]) -> Table:
    """All-gold at 5, 10 and 20 passages, and recall at 10, by channel."""
    lines = []
    for name, questions in sets.items():
        retriever = library.open(name).retriever()
        for channel in CHANNELS:
            lists = [
                (
                    q.gold,
                    [h.passage.id for h in retriever.search(q.question, 20, channel, Access())],
                )
                for q in questions.questions
            ]
            held = [sum(gold <= set(ids[:k]) for gold, ids in lists) for k in (5, 10, 20)]
            recall = sum(len(gold & set(ids[:10])) / len(gold) for gold, ids in lists)
            n = len(lists)
            lines.append((name, channel, *(f"{h / n:.2f}" for h in held), f"{recall / n:.2f}"))
    heading = ("questions", "channel", "all gold @5", "@10", "@20", "recall @10")
    return Table(heading, lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all; 0 whatever came out."""
    parser = argparse.ArgumentParser(prog="benchmarks retrieval", description=__doc__)
    parser.add_argument(
        "--data", type=Path, help="keep indexes here, so that a second run has them"
    )
    parser.add_argument("--part", choices=PARTS, action="append", help="run only this")
    given = parser.parse_args(arguments)
    parts = given.part or PARTS
    if "lexical" in parts:
        print(f"## Lexical search ({SMALL:,} passages of {WORDS} words, {TERMS} terms a query)\n")
        print(markdown(lexical_table()))
        print(f"\nMemory with {LARGE:,} passages and their texts: {memory()}.\n", flush=True)
    if set(parts) == {"lexical"}:
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        _over_indexes(given.data or Path(temporary) / "data", Path(temporary), parts)
    return 0


def _over_indexes(data: Path, folder: Path, parts: Sequence[str]) -> None:
    embedder = SentenceEmbedder()
    library = Library(data, "bench", embedder, ChromaStores(url=""))
    names = ("hotpotqa_dev50.json", "musique_dev50.json", "nq_dev300.jsonl")
    sets = {n.split("_")[0]: load_questions(DATA / n) for n in names if (DATA / n).exists()}
    for name, questions in sets.items():
        library.index_passages(name, questions.passages)
    if not sets or "indexing" in parts:
        for corpus in library.list():
            library.index(corpus.name)
    if "found" in parts:
        print("## What a channel finds\n")
        if sets:
            print(markdown(found_table(library, sets)) + "\n", flush=True)
        else:
            print("The development questions are not beside the project.\n")
    if "indexing" in parts:
        print(f"## Indexing\n\n{markdown(indexing_table(library, embedder))}\n", flush=True)
    if "dense" in parts:
        index = library.open("musique" if sets else library.list()[0].name)
        print(f"## Dense search ({len(index.passages())} passages; synthetic for growth)\n")
        print(markdown(dense_table(index, embedder, folder)))
        print(f"\nMemory with {SMALL + LARGE:,} vectors: {memory()}.\n")


if __name__ == "__main__":
    sys.exit(main())
