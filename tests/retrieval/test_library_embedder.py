"""Pools of ready-made passages, and the vectors behind an index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput, IndexMismatch
from core.retrieval.lexical import indexed_text
from core.retrieval.sentences import sentence_spans
from core.retrieval.textview import sentence_texts
from tests.retrieval.world import (
    ALL,
    HashedWords,
    library,
    passage,
    titles,
    write,
)

# --- pooled passages ---------------------------------------------------------------------------


def test_pooled_passages_are_never_cut_again(tmp_path: Path) -> None:
    long = passage("Long", "A sentence about lamps. " * 200)
    lib = library(tmp_path)
    report = lib.index_passages("pool", [long, passage("B", "Reefs."), long])
    assert report.passages == 2
    assert long in lib.open("pool").passages()
    assert not lib.index_passages("pool", [passage("B", "Reefs."), long]).changed
    assert lib.open("pool").manifest.chunking.pooled


def test_different_passages_of_one_id_are_refused(tmp_path: Path) -> None:
    one, other = passage("A", "One."), passage("A", "Two.")
    with pytest.raises(BadInput, match="have the id"):
        library(tmp_path).index_passages(
            "pool", [one, other.model_copy(update={"id": one.id, "digest": one.digest})]
        )


def test_a_pool_is_re_embedded_when_the_embedder_changed(tmp_path: Path) -> None:
    library(tmp_path).index_passages("pool", [passage("A", "A lamp."), passage("B", "A reef.")])
    other = library(tmp_path, embedder=HashedWords("other", 16))
    with pytest.raises(IndexMismatch, match="re-index"):
        other.open("pool")
    assert other.index("pool").changed
    assert titles(other, "pool", "lamp", "dense")[0] == "A"


# --- the embedder ------------------------------------------------------------------------------


def test_another_embedder_is_refused_before_search_with_the_way_out(
    tmp_path: Path, folder: Path
) -> None:
    library(tmp_path).index(folder)
    other = library(tmp_path, embedder=HashedWords("other-model", 16))
    with pytest.raises(IndexMismatch, match=r"other-model.*re-index"):
        other.open(folder)
    assert other.list()[-1].state == "needs re-indexing"
    assert other.index(folder).changed
    assert other.open(folder).manifest.embedder.dimension == 16
    assert titles(other, folder, "Smeaton granite", "dense")[0] == "Eddystone"


def test_a_model_of_the_same_name_with_another_dimension_is_refused_at_the_search(
    tmp_path: Path, folder: Path
) -> None:
    library(tmp_path).index(folder)
    changed = library(tmp_path, embedder=HashedWords(dimension=16))
    with pytest.raises(IndexMismatch, match=r"dimension 16.*re-index"):
        changed.open(folder).retriever().search("lamp", 5, "dense", ALL)
    write(folder, {"docs/New.md": "A new one."})
    changed.index(folder)
    assert changed.open(folder).manifest.embedder.dimension == 16


def test_stored_vectors_are_those_of_the_texts(tmp_path: Path, folder: Path) -> None:
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    lib.index(folder)
    index = lib.open(folder)
    passages = index.passages()
    np.testing.assert_array_equal(
        index.passage_vectors(), embedder.encode([indexed_text(p) for p in passages])
    )
    del embedder.texts[:]
    view = index.text_view()
    for p in passages:
        spans, vectors = view.sentence_vectors(p)
        assert spans == sentence_spans(p.text)
        np.testing.assert_array_equal(vectors, HashedWords().encode(sentence_texts(p, spans)))
    assert embedder.texts == []


def test_a_large_corpus_stores_no_sentence_vectors_but_has_them(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.retrieval.building.SENTENCES_UP_TO", 3)
    embedder = HashedWords()
    lib = library(tmp_path, embedder=embedder)
    lib.index(folder)
    index = lib.open(folder)
    assert index.manifest.sentences == 0
    del embedder.texts[:]
    (first, *_) = index.passages()
    spans, vectors = index.text_view().sentence_vectors(first)
    assert embedder.texts == sentence_texts(first, spans)
    assert len(vectors) == len(spans)


def test_a_digest_that_is_not_of_the_text_gives_no_other_texts_vectors(tmp_path: Path) -> None:
    one, two = (
        passage(name, "The same words.").model_copy(update={"digest": "same"}) for name in "AB"
    )
    lib = library(tmp_path)
    lib.index_passages("pool", [one, two])
    view = lib.open("pool").text_view()
    for p in (one, two):
        expected = HashedWords().encode([f"{p.title}. The same words."])
        np.testing.assert_array_equal(view.sentence_vectors(p)[1], expected)


def test_the_text_view_counts_as_the_index_does(tmp_path: Path, folder: Path) -> None:
    lib = library(tmp_path)
    lib.index(folder)
    index = lib.open(folder)
    view, n = index.text_view(), len(index.passages())
    assert view.size == n
    assert view.idf("stevenson") == pytest.approx(np.log(1 + (n - 2 + 0.5) / 2.5))
    assert view.idf("unheard") == pytest.approx(np.log(1 + (n + 0.5) / 0.5))
    assert view.alias_count("bell rock") == 1
