"""The packaged MiniLM, for real."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from core.adapters.embeddings import SentenceEmbedder
from core.errors import BadInput
from core.ports import FloatArray


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    return SentenceEmbedder()


def test_vectors_are_of_unit_length_and_meaning(embedder: SentenceEmbedder) -> None:
    vectors = embedder.encode(
        ["Who built the tower?", "Its builder was Smeaton.", "Fish is cheap."]
    )
    assert vectors.shape == (3, embedder.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


def test_no_texts_give_no_vectors(embedder: SentenceEmbedder) -> None:
    assert embedder.encode([]).shape == (0, 384)


def test_a_text_does_not_depend_on_its_batch(embedder: SentenceEmbedder) -> None:
    texts = ["A lamp.", "The keepers of the light came from the island and went home in spring."]
    together = embedder.encode(texts)
    alone = np.stack([embedder.encode([text])[0] for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_threads_may_share_it(embedder: SentenceEmbedder) -> None:
    texts = [f"Lamp {n} " + "burns " * n for n in range(12)]
    expected = [embedder.encode([text])[0] for text in texts]
    found: dict[int, FloatArray] = {}

    def work(n: int) -> None:
        found[n] = embedder.encode([texts[n]])[0]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, vector in enumerate(expected):
        np.testing.assert_allclose(found[n], vector, atol=1e-6)


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be loaded"):
        SentenceEmbedder(str(tmp_path / "nothing")).encode(["x"])
