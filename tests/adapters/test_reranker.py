"""A real cross-encoder, tiny and random, made here: loading, scoring, refusing."""

import math
from pathlib import Path

import pytest

from core.adapters.embeddings import packaged_model
from core.adapters.reranker import CrossEncoderReranker
from core.errors import BadInput, RetrieverError
from core.types import Passage

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "paul", "jennifer", "film", "wed", "who"]


def tiny_cross_encoder(folder: Path, labels: int = 1) -> str:
    """The smallest BERT with a classification head, saved as sentence-transformers reads it."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=1.0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(
        folder
    )
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_cross_encoder(tmp_path_factory.mktemp("cross") / "encoder")


def passage(text: str) -> Passage:
    return Passage(id=text, document="d", title="film", text=text)


TEXTS = ["paul wed jennifer", "the film", "a film of the actor", "who"]


def test_every_passage_gets_a_finite_score_of_its_own(model: str) -> None:
    reranker = CrossEncoderReranker()
    scores = reranker.scores(model, "who wed paul", [passage(t) for t in TEXTS])
    assert len(scores) == len(TEXTS)
    assert all(math.isfinite(s) for s in scores)
    assert len(set(scores)) > 1
    alone = [reranker.scores(model, "who wed paul", [passage(t)])[0] for t in reversed(TEXTS)]
    assert alone == list(reversed(scores))
    fresh = CrossEncoderReranker().scores(model, "who wed paul", [passage(t) for t in TEXTS])
    assert fresh == pytest.approx(scores, abs=1e-5)


def test_scores_depend_on_the_query(model: str) -> None:
    reranker = CrossEncoderReranker()
    one, two = (reranker.scores(model, q, [passage(TEXTS[0])]) for q in ("film", "who wed paul"))
    assert one != two
    assert reranker.scores(model, "film", []) == []


@pytest.mark.parametrize("name", ["", "no/such-cross-encoder", "nowhere/at/all"])
def test_what_is_not_there_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(BadInput, match="folder"):
        CrossEncoderReranker().check(name)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="cannot be loaded"):
        CrossEncoderReranker().check(str(tmp_path))
    with pytest.raises(RetrieverError, match="cannot be loaded"):
        CrossEncoderReranker().scores(str(tmp_path), "q", [passage("x")])


def test_a_classifier_of_three_labels_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="3 scores"):
        CrossEncoderReranker().check(tiny_cross_encoder(tmp_path / "three", labels=3))


def test_an_embedding_model_is_no_reranker() -> None:
    with pytest.raises(BadInput, match="no layer that scores"):
        CrossEncoderReranker().check(str(packaged_model()))
