"""Reranking by a cross-encoder of sentence-transformers: a folder, or a name downloaded before."""

from __future__ import annotations

import math
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from core.errors import BadInput, RetrieverError
from core.types import Passage, digest

BATCH = 32
MODELS_KEPT = 2
SCORES_KEPT = 20_000


class CrossEncoderReranker:
    """``ports.Reranker``. Models are loaded when first named and never downloaded; scores of
    recent pairs come from memory. Safe between threads."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, Any] = OrderedDict()
        self._scores: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._lock = threading.RLock()

    def check(self, model: str) -> None:
        """Load a model, or say why it cannot be.

        Raises:
            BadInput: it is not there, or is no cross-encoder that gives one score.
        """
        self._load(model)

    def scores(self, model: str, query: str, passages: Sequence[Passage]) -> list[float]:
        """The model's raw score (logit) of the query with each "title, newline, text".

        Raises:
            RetrieverError: the model cannot be loaded, or what it gives are no finite scores.
        """
        texts = [f"{p.title}\n{p.text}" for p in passages]
        keys = [(model, query, digest(text)) for text in texts]
        with self._lock:
            missing = [n for n, key in enumerate(keys) if key not in self._scores]
            if missing:
                fresh = self._predict(model, [(query, texts[n]) for n in missing])
                self._scores.update(zip((keys[n] for n in missing), fresh, strict=True))
            found = [self._scores[key] for key in keys]
            for key in keys:
                self._scores.move_to_end(key)
            while len(self._scores) > SCORES_KEPT:
                self._scores.popitem(last=False)
        return found

    def _predict(self, model: str, pairs: list[tuple[str, str]]) -> list[float]:
        try:
            loaded = self._load(model)
        except BadInput as error:
            raise RetrieverError(error.message, code="reranker") from error
        from torch.nn import Identity

        try:
            values = loaded.predict(
                pairs, batch_size=BATCH, show_progress_bar=False, activation_fn=Identity()
            )
            scores = [float(v) for v in values]
        except Exception as error:
            raise RetrieverError(
                f"The cross-encoder {model!r} failed ({error}); choose another one.",
                code="reranker",
            ) from error
        if not all(math.isfinite(s) for s in scores):
            raise RetrieverError(
                f"The cross-encoder {model!r} gives scores that are no numbers; choose another.",
                code="reranker",
            )
        return scores

    def _load(self, model: str) -> Any:
        with self._lock:
            if model not in self._models:
                self._models[model] = _loaded(model)
                while len(self._models) > MODELS_KEPT:
                    self._models.popitem(last=False)
            self._models.move_to_end(model)
            return self._models[model]


def _loaded(model: str) -> Any:
    if not model.strip():
        raise BadInput("No cross-encoder is named; give a folder or a name downloaded before.")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(1)
    try:
        loaded = CrossEncoder(model, device="cpu", local_files_only=True)
    except Exception as error:
        raise BadInput(
            f"The cross-encoder {model!r} cannot be loaded ({_first_line(error)}); give the folder "
            "of one, a name that was downloaded before, or choose another variant of ragX."
        ) from error
    made_as = getattr(loaded.config, "architectures", None) or []
    if made_as and not any("Classification" in a or "LM" in a for a in made_as):
        raise BadInput(
            f"{model!r} is a {made_as[0]}, which has no layer that scores a pair; give the folder "
            "or name of a cross-encoder."
        )
    if loaded.num_labels != 1:
        raise BadInput(
            f"The cross-encoder {model!r} gives {loaded.num_labels} scores a pair, not one; "
            "choose one that was made for ranking."
        )
    return loaded


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
