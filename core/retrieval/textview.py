"""Corpus statistics and cached sentence vectors, as the extractive reasoner reads them."""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from core.ports import FloatArray
from core.retrieval.sentences import sentence_spans
from core.retrieval.titles import TitleIndex
from core.retrieval.tokenizer import terms
from core.types import Passage

Encode = Callable[[Sequence[str]], FloatArray]
Spans = tuple[tuple[int, int], ...]
ENCODED_TEXTS_KEPT = 4_096
ENCODED_PASSAGES_KEPT = 2_048


def sentence_texts(passage: Passage, spans: Spans) -> list[str]:
    """What is embedded for each sentence: "title. sentence"."""
    return [f"{passage.title}. {passage.text[start:end]}" for start, end in spans]


class CorpusTextView:
    """``ports.TextView`` over a corpus in memory; safe to use from several threads.

    ``vectors`` maps a passage digest to its sentence vectors where the index holds them; other
    passages are encoded when first asked for. Two bounded caches keep recent encodings.
    """

    def __init__(
        self,
        passages: Iterable[Passage],
        encode: Encode,
        vectors: Mapping[str, FloatArray] | None = None,
        frequencies: Mapping[str, int] | None = None,
    ) -> None:
        """``frequencies``: how many passages each index term occurs in, counted if not given."""
        self._encode_many = encode
        self._lock = threading.Lock()
        self._vectors = vectors or {}
        counted: Counter[str] = Counter()
        titles = []
        self.size = 0
        for passage in passages:
            self.size += 1
            titles.append(passage.title)
            if frequencies is None:
                counted.update(set(terms(f"{passage.title}\n{passage.text}")))
        self._frequency: Mapping[str, int] = counted if frequencies is None else frequencies
        self._titles = TitleIndex(titles)
        self._texts: OrderedDict[str, FloatArray] = OrderedDict()
        self._sentences: OrderedDict[tuple[str, str], tuple[Spans, FloatArray]] = OrderedDict()

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension); recent texts come from memory."""
        with self._lock:
            known = {text: self._texts[text] for text in texts if text in self._texts}
            for text in known:
                self._texts.move_to_end(text)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, self._encode_many(missing), strict=True))
            with self._lock:
                self._texts.update((text, known[text]) for text in missing)
                while len(self._texts) > ENCODED_TEXTS_KEPT:
                    self._texts.popitem(last=False)
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def sentence_vectors(self, passage: Passage) -> tuple[Spans, FloatArray]:
        """Sentence spans of the passage's text and their unit vectors."""
        key = (passage.title, passage.text)
        with self._lock:
            if key in self._sentences:
                self._sentences.move_to_end(key)
                return self._sentences[key]
        spans = sentence_spans(passage.text)
        vectors = self._vectors.get(passage.digest) if passage.digest else None
        if vectors is None or len(vectors) != len(spans):
            vectors = (
                self._encode_many(sentence_texts(passage, spans))
                if spans
                else np.zeros((0, 0), dtype=np.float32)
            )
        with self._lock:
            self._sentences[key] = (spans, vectors)
            if len(self._sentences) > ENCODED_PASSAGES_KEPT:
                self._sentences.popitem(last=False)
        return spans, vectors

    def idf(self, term: str) -> float:
        """ln(1 + (N - df + .5)/(df + .5)); highest for a term that no passage has."""
        frequency = self._frequency.get(term, 0)
        return math.log(1 + (self.size - frequency + 0.5) / (frequency + 0.5))

    def alias_count(self, alias: str) -> int:
        """How many passages have a title with this alias."""
        return self._titles.count(alias)

    def titles_in(self, text: str) -> list[tuple[int, int, str]]:
        """Mentions of the corpus's titles in a text."""
        return self._titles.find(text)
