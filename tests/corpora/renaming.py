"""A consistent renaming of the names in a corpus, and ports that undo it.

Every proper name that the closed word lists do not know is replaced, wherever it stands, by an
invented one of the same length whose inflected forms share a stem as before; a first name by
another first name. What reads meaning or length into letters (the embedder, the token counter)
sits behind a port and is given the old names, so that nothing else can tell the worlds apart.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import takewhile

import regex

from core.ports import FloatArray, TokenCounter
from core.reasoning.extractive.lexicon import _tables, words
from core.retrieval.tokenizer import STOP_WORDS, stem
from core.retrieval.vectors import Embedder

_WORD = regex.compile(r"(?<![\p{L}\p{M}])[A-Za-z]+(?![\p{L}\p{M}])")
_ADDRESS = regex.compile(r"\S*(?:[/@_`]|\w[.]\w)\S*")
_INSIDE = regex.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
"""A capital inside a sentence, where only a name has one."""
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnprtvw"
SHORTEST = 4


class Renaming:
    """A bijection of words, applied in lower case, Title case and UPPER CASE alike."""

    def __init__(self, texts: Iterable[str], seed: str) -> None:
        self._rng = random.Random(f"renaming {seed}")
        texts = tuple(texts)
        folded = {w.lower() for text in texts for w in _WORD.findall(text)}
        prose = " ".join(_ADDRESS.sub(" ", text) for text in texts)
        small = {w for w in _WORD.findall(prose) if w.islower()}
        inside = {w.lower() for w in _INSIDE.findall(prose)}
        self._taken = folded | {stem(w) for w in folded} | _closed_words()
        self.words: dict[str, str] = {}
        names = sorted(inside - small)
        families: dict[str, list[str]] = {}
        for name in names:
            families.setdefault(stem(name), []).append(name)
        other = {stem(w) for w in folded.difference(names)}
        for root, members in sorted(families.items()):
            if root not in other:
                self._rename(members)

    def _rename(self, members: Sequence[str]) -> None:
        fixed = STOP_WORDS | _closed_words()
        if min(map(len, members)) < SHORTEST or any(m in fixed for m in members):
            return
        firsts = words("names", "first")
        if len(members) == 1 and members[0] in firsts:
            same = [w for w in sorted(firsts) if len(w) == len(members[0])]
            self._rng.shuffle(same)
            options: Iterator[list[str]] = ([w] for w in same if w.isascii())
        elif firsts.intersection(members):
            return
        else:
            options = (self._invented(members) for _ in range(200))
        for new in options:
            fresh = not any(w in self._taken or stem(w) in self._taken for w in new)
            alike = [len({stem(w) for w in group}) for group in (members, new)] == [1, 1]
            kept = len(set(new)) == len(members) and [len(stem(w)) for w in new] == [
                len(stem(w)) for w in members
            ]
            if fresh and alike and kept:
                self._taken |= {*new, *map(stem, new)}
                self.words.update(zip(members, new, strict=True))
                return

    def _invented(self, members: Sequence[str]) -> list[str]:
        columns = takewhile(lambda c: len(set(c)) == 1, zip(*members, strict=False))
        shared = [c[0] for c in columns]
        letters = [
            self._rng.choice(_VOWELS if letter in _VOWELS else _CONSONANTS) for letter in shared
        ]
        return ["".join(letters) + m[len(shared) :] for m in members]

    def __call__(self, text: str) -> str:
        return _replaced(text, self.words)

    def back(self, text: str) -> str:
        """The text with the old names."""
        return _replaced(text, self._old)

    @cached_property
    def _old(self) -> dict[str, str]:
        return {new: old for old, new in self.words.items()}


def _replaced(text: str, table: dict[str, str]) -> str:
    def other(match: regex.Match[str]) -> str:
        word = match.group()
        new = table.get(word.lower())
        if new is None:
            return str(word)
        return new.upper() if word.isupper() else new.title() if word[0].isupper() else new

    return str(_WORD.sub(other, text))


@cache
def _closed_words() -> frozenset[str]:
    """Every word of the lists but first names, of which one is as good as another."""
    found: set[str] = set()

    def collect(part: object) -> None:
        if isinstance(part, str):
            found.update(w.lower() for w in _WORD.findall(part))
        elif isinstance(part, dict):
            for name, value in part.items():
                if name != "first":
                    collect(value)
        elif isinstance(part, list):
            for value in part:
                collect(value)

    collect(_tables())
    return frozenset(found)


class OldNamesEmbedder:
    """Embeds texts as they were before the renaming."""

    def __init__(self, embedder: Embedder, renaming: Renaming) -> None:
        self._embedder, self._renaming = embedder, renaming
        self.model = embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def load(self) -> None:
        """Nothing to load."""

    def encode(self, texts: Sequence[str]) -> FloatArray:
        return self._embedder.encode([self._renaming.back(t) for t in texts])


class OldNamesTokens:
    """Counts tokens of texts as they were before the renaming."""

    def __init__(self, tokens: TokenCounter, renaming: Renaming) -> None:
        self._tokens, self._renaming = tokens, renaming

    def count(self, text: str) -> int:
        return self._tokens.count(self._renaming.back(text))
