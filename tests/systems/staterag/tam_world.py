"""Random small corpora for the abstraction memory, with vectors of hashed words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from core.ports import FloatArray
from core.retrieval.lexical import indexed_text
from core.types import Metadata, Passage, digest
from tests.retrieval.world import DIMENSION, HashedWords

PEOPLE = ("Ada Bell", "Tom Reeve", "Ina Marsh", "Low Tide", "Kestrel Records", "Øre Šant")
WORDS = tuple("sings plays the drum near harbour in June 1987 海辺の町 E-4012".split())


def passage(document: str, title: str, text: str, start: int = 0, **metadata: str) -> Passage:
    return Passage(
        id=digest([document, title, text, start]),
        document=document,
        title=title,
        text=text,
        start=start,
        end=start + len(text),
        digest=digest([title, text]),
        metadata=Metadata(**metadata),
    )


def vectors(passages: Sequence[Passage]) -> FloatArray:
    if not passages:
        return np.zeros((0, DIMENSION), dtype=np.float32)
    return HashedWords().encode([indexed_text(p) for p in passages])


@st.composite
def corpora(draw: st.DrawFn, most: int = 14) -> list[Passage]:
    """Documents of one to three passages; titles, texts and whole documents may repeat."""
    sentence = st.lists(st.sampled_from(PEOPLE + WORDS), max_size=6).map(" ".join)
    text = st.lists(sentence, max_size=3).map(". ".join)
    title = st.sampled_from((*PEOPLE, "", "The Who", "Reeve (singer)", "Bell, Ada"))
    tenants = st.sampled_from(({}, {"tenant": "a"}, {"tenant": "b"}))
    documents = draw(
        st.lists(st.tuples(title, st.lists(text, min_size=1, max_size=3), tenants), max_size=most)
    )
    found = []
    for number, (name, texts, metadata) in enumerate(documents):
        found += [
            passage(f"{number}.md", name, part, 100 * place, **metadata)
            for place, part in enumerate(texts)
        ]
    return found
