from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.evaluation.questions import load_questions
from core.retrieval.lexical import LexicalIndex, best, indexed_text, query_terms, ranked
from core.retrieval.sentences import sentence_spans
from core.retrieval.tokenizer import terms

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


class Formula:
    """BM25 as it is printed, term by term in plain Python."""

    def __init__(self, texts: list[str], k1: float = 0.9, b: float = 0.4) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / len(texts) if texts else 0.0
        self.parts: dict[str, list[tuple[int, float]]] = {}
        for row, count in enumerate(counts):
            for term, tf in count.items():
                length = (1 - b) + b * lengths[row] / mean
                self.parts.setdefault(term, []).append((row, tf / (k1 * length + tf)))
        self.size = len(texts)

    def idf(self, term: str) -> float:
        df = len(self.parts[term])
        return math.log(1 + (self.size - df + 0.5) / (df + 0.5))

    def ranking(self, query: str, k: int) -> list[tuple[int, float]]:
        scores: dict[int, float] = {}
        for term in query_terms(query):
            for row, part in self.parts.get(term, ()):
                scores[row] = scores.get(row, 0.0) + self.idf(term) * part
        return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:k]


def ranking(index: LexicalIndex, query: str, k: int) -> list[tuple[int, float]]:
    scores = index.scores(query)
    return [(int(row), float(scores[row])) for row in best(scores, k)]


words = st.sampled_from(
    [
        "lamp",
        "lamps",
        "reef",
        "keeper",
        "the",
        "of",
        "AT&T",
        "C++",
        "3.2.1",
        "E-4012",
        "café",
        "東京都",
    ]
)
texts = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=8)


@settings(max_examples=200)
@given(texts, st.lists(words, max_size=6).map(" ".join), st.integers(0, 12))
def test_rankings_are_the_formulas(corpus: list[str], query: str, k: int) -> None:
    found = ranking(LexicalIndex.build(corpus), query, k)
    expected = Formula(corpus).ranking(query, k)
    assert [row for row, _ in found] == [row for row, _ in expected]
    assert [s for _, s in found] == pytest.approx([s for _, s in expected], rel=1e-12)


@pytest.mark.data
def test_rankings_are_the_formulas_on_real_passages() -> None:
    if not DATA.is_dir():
        pytest.skip("the development questions are not beside the project")
    pool = {}
    for name in ("hotpotqa_dev50.json", "musique_dev50.json", "nq_dev300.jsonl"):
        pool.update({p.id: p for p in load_questions(DATA / name).passages})
    passages = [pool[i] for i in sorted(pool)]
    corpus = [indexed_text(p) for p in passages]
    index, formula = LexicalIndex.build(corpus), Formula(corpus)
    chooser = random.Random(7)
    ties = 0
    for _ in range(1_000):
        text = chooser.choice(passages).text
        start, end = chooser.choice(sentence_spans(text))
        pieces = text[start:end].split()
        query = " ".join(chooser.sample(pieces, min(len(pieces), chooser.randint(1, 10))))
        expected = formula.ranking(query, 100)
        assert ranking(index, query, 100) == expected, query
        ties += len({score for _, score in expected}) < len(expected)
    assert ties > 20, "too few ties to say that they are broken right"


def test_query_terms_count_once_and_stop_words_only_where_there_is_nothing_else() -> None:
    assert query_terms("the lamp, the lamps and a reef") == ["lamp", "reef"]
    assert query_terms("Who are The Who?") == ["who", "are", "the"]
    index = LexicalIndex.build(["The Who\nA band.", "Lamp\nIt burns."])
    assert ranking(index, "The Who", 5)[0][0] == 0
    assert ranking(index, "the lamp", 5) == ranking(index, "lamp lamp", 5)


@pytest.mark.parametrize(
    "corpus",
    [[], [""], ["", ""], ["\n", " "], ["...", "!!"]],
    ids=["none", "one empty", "two empty", "blank", "no terms"],
)
def test_a_corpus_without_terms_has_no_hits(corpus: list[str], tmp_path: Path) -> None:
    index = LexicalIndex.build(corpus)
    assert ranking(index, "lamp", 5) == []
    index.save(tmp_path)
    assert ranking(LexicalIndex.open(tmp_path), "lamp", 5) == []


def test_identical_documents_tie_by_row_and_nothing_divides_by_zero() -> None:
    found = ranking(LexicalIndex.build(["lamp"] * 4), "lamp", 10)
    assert [row for row, _ in found] == [0, 1, 2, 3]
    assert len({score for _, score in found}) == 1


def test_a_term_in_half_of_two_documents_scores_above_zero() -> None:
    assert ranking(LexicalIndex.build(["lamp reef", "reef"]), "lamp", 5)[0][1] > 0


def test_k_beyond_the_corpus_and_unknown_words() -> None:
    index = LexicalIndex.build(["lamp", "reef", ""])
    assert len(ranking(index, "lamp reef", 50)) == 2
    assert ranking(index, "nothing known", 50) == []
    assert ranking(index, "", 50) == []
    assert ranking(index, "lamp", 0) == []


def test_the_mask_is_applied_before_the_cut() -> None:
    scores = LexicalIndex.build(["lamp lamp lamp", "lamp lamp", "lamp", "reef"]).scores("lamp")
    assert best(scores, 1).tolist() == [0]
    assert best(scores, 1, np.array([False, False, True, True])).tolist() == [2]
    assert best(scores, 9, np.zeros(4, dtype=bool)).tolist() == []


@given(
    st.lists(st.floats(0, 3, allow_nan=False).map(lambda x: round(x, 1)), max_size=40),
    st.integers(0, 50),
)
def test_the_cut_is_that_of_a_full_sort(values: list[float], k: int) -> None:
    scores = np.array(values, dtype=np.float64)
    expected = sorted(range(len(values)), key=lambda row: (-values[row], row))[:k]
    assert ranked(scores, np.arange(len(values)), k).tolist() == expected


def test_saved_and_opened_it_is_the_same_without_pickle(tmp_path: Path) -> None:
    corpus = ["lamp reef", "reef of AT&T", "東京都 café"]
    built = LexicalIndex.build(corpus)
    built.save(tmp_path)
    opened = LexicalIndex.open(tmp_path)
    for query in ("lamp", "reef", "at&t cafe", "東京都"):
        assert ranking(opened, query, 5) == ranking(built, query, 5)
    assert opened.frequencies() == built.frequencies()
    for path in tmp_path.glob("*.npy"):
        np.load(path, allow_pickle=False)


def test_a_damaged_index_is_noticed(tmp_path: Path) -> None:
    LexicalIndex.build(["lamp", "reef"]).save(tmp_path)
    (tmp_path / "size.json").write_text("7")
    with pytest.raises(ValueError, match="damaged"):
        LexicalIndex.open(tmp_path)


def test_frequencies_count_documents() -> None:
    index = LexicalIndex.build(["lamp lamp", "lamp reef", ""])
    assert index.frequencies() == {"lamp": 2, "reef": 1}
