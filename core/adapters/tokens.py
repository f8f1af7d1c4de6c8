"""The token counter: MiniLM's own tokenizer, the same for every reasoner."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

from core.adapters.embeddings import packaged_model


class MiniLMTokens:
    """Counts word pieces of a text; counts of recent texts are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self.count = lru_cache(maxsize=20_000)(self._count)

    def _count(self, text: str) -> int:
        with self._lock:
            if self._tokenizer is None:
                from tokenizers import Tokenizer

                self._tokenizer = Tokenizer.from_file(str(packaged_model() / "tokenizer.json"))
                self._tokenizer.no_truncation()
                self._tokenizer.no_padding()
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)
