from __future__ import annotations

import threading

import numpy as np
import pytest

from core.retrieval import textview
from core.retrieval.textview import CorpusTextView
from tests.retrieval.world import HashedWords, passage

PASSAGES = [passage(f"Tower {n}", f"Tower {n} has a lamp. It is red.") for n in range(40)]


def test_counted_and_given_frequencies_agree() -> None:
    counted = CorpusTextView(PASSAGES, HashedWords().encode)
    given = CorpusTextView(
        PASSAGES, HashedWords().encode, frequencies={"lamp": 40, "tower": 40, "7": 1}
    )
    for term in ("lamp", "tower", "7", "unheard"):
        assert counted.idf(term) == given.idf(term)


def test_texts_are_encoded_once_in_their_order() -> None:
    embedder = HashedWords()
    view = CorpusTextView(PASSAGES, embedder.encode)
    first = view.encode(["a lamp", "a reef", "a lamp"])
    assert embedder.texts == ["a lamp", "a reef"]
    again = view.encode(["a reef", "a keeper"])
    assert embedder.texts == ["a lamp", "a reef", "a keeper"]
    np.testing.assert_array_equal(first[1], again[0])
    np.testing.assert_array_equal(first[0], first[2])
    assert view.encode([]).shape[0] == 0


def test_many_threads_share_it_while_it_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textview, "ENCODED_TEXTS_KEPT", 3)
    monkeypatch.setattr(textview, "ENCODED_PASSAGES_KEPT", 3)
    view = CorpusTextView(PASSAGES, HashedWords().encode)
    expected = HashedWords().encode([f"lamp {n}" for n in range(9)])
    failures: list[BaseException] = []

    def work(start: int) -> None:
        try:
            for n in range(200):
                row = (start + n) % 9
                vectors = view.encode([f"lamp {row}", f"lamp {(row + 1) % 9}"])
                np.testing.assert_array_equal(vectors[0], expected[row])
                assert len(view.sentence_vectors(PASSAGES[(start * n) % 40])[0]) == 2
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
