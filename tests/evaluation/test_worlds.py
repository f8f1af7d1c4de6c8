from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core import wiring
from core.errors import BadInput
from core.evaluation import worlds
from core.evaluation.gold import resolve_gold
from core.evaluation.questions import load_questions
from core.ports import FloatArray
from core.types import Access

HOTPOT = [
    {
        "_id": "h1",
        "question": "Where was the founder of Acme born?",
        "answer": "Leeds",
        "type": "bridge",
        "supporting_facts": [["Acme", 0], ["Ann Roe", 0]],
        "context": [
            ["Acme", ["Acme was founded by Ann Roe."]],
            ["Ann Roe", ["Ann Roe was born in Leeds."]],
            ["Tern", ["The tern is a bird."]],
        ],
    },
    {
        "_id": "h2",
        "question": "What is a tern?",
        "answer": "a bird",
        "type": "bridge",
        "supporting_facts": [["Tern", 0]],
        "context": [["Tern", ["The tern is a bird."]]],
    },
]


class WordVectors:
    """Unit vectors of hashed words; counts what it is given."""

    model, dimension = "words", 32

    def __init__(self) -> None:
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self.encoded += len(texts)
        vectors = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, sum(map(ord, word)) % self.dimension] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> WordVectors:
    given = WordVectors()
    benches: dict[Path, wiring.Workbench] = {}

    def bench(root: Path) -> wiring.Workbench:
        return benches.setdefault(root, wiring.Workbench(root, embedder=given))  # type: ignore[arg-type]

    monkeypatch.setattr(worlds, "_workbench", bench)
    monkeypatch.setenv("RAG_INSPECTOR_DATA", str(tmp_path / "data"))
    return given


def test_the_pool_of_a_file_is_its_corpus(tmp_path: Path, embedder: WordVectors) -> None:
    path = tmp_path / "hotpot.json"
    path.write_text(json.dumps(HOTPOT))
    given = load_questions(path)
    world = worlds.prepared(given, tmp_path / "out", None, "extractive")
    assert world.root == tmp_path / "out"
    assert {p.title for p in world.passages()} == {"Acme", "Ann Roe", "Tern"}
    gold = resolve_gold(given.questions, world.passages())
    assert [len(gold[q]) for q in ("h1", "h2")] == [2, 1]
    done = embedder.encoded
    assert worlds.prepared(given, tmp_path / "out", None, "extractive") == world
    assert embedder.encoded == done
    index = wiring.Workbench(world.root, embedder=embedder).library.open(world.corpus)  # type: ignore[arg-type]
    hits = index.retriever().search("tern bird", 1, "lexical", Access())
    assert [h.passage.title for h in hits] == ["Tern"]


def test_a_folder_of_documents_can_be_the_corpus(tmp_path: Path, embedder: WordVectors) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "acme.md").write_text("# Acme\n\nAcme was founded by Ann Roe.\n")
    path = tmp_path / "own.jsonl"
    quote = {"document": "acme.md", "quote": "founded by Ann Roe"}
    path.write_text(json.dumps({"id": "1", "question": "Who?", "answers": [], "gold": [quote]}))
    given = load_questions(path)
    world = worlds.prepared(given, tmp_path / "out", str(folder), "extractive")
    assert world.root == tmp_path / "data"
    assert len(resolve_gold(given.questions, world.passages())["1"]) == 1


def test_an_unknown_corpus_is_refused(tmp_path: Path, embedder: WordVectors) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"id": "1", "question": "Who?", "answers": []}))
    with pytest.raises(BadInput, match="film_night"):
        worlds.prepared(load_questions(path), tmp_path / "out", "film_nite", "extractive")
