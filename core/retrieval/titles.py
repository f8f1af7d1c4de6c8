"""Titles of a corpus and where a text mentions them: the links between passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import regex

from core.retrieval.tokenizer import STOP_WORDS, Token, tokenize

_PARENTHETICAL = regex.compile(r"\s*\([^()]*\)\s*$")
MAX_ALIAS_TOKENS = 12


def aliases(title: str) -> tuple[str, ...]:
    """Normalised names that a title may be mentioned by: without its parenthetical, and the
    part before a comma.

    >>> aliases("Alice Munro, Writer (born 1931)")
    ('alice munro writer', 'alice munro')
    """
    bare = _PARENTHETICAL.sub("", title.replace("_", " ")).strip()
    names = [bare, bare.split(",")[0].strip()]
    keys = [alias_key(name) for name in names]
    return tuple(dict.fromkeys(key for key in keys if _usable(key)))


def alias_key(name: str) -> str:
    """The normalised form under which names are compared."""
    return " ".join(token.surface for token in tokenize(name))


def _usable(key: str) -> bool:
    return " " in key or (len(key) >= 3 and key not in STOP_WORDS)


def _only_stop_words(key: str) -> bool:
    return all(word in STOP_WORDS for word in key.split())


class TitleIndex:
    """Finds mentions of titles; longest match, left to right, a capital or a digit first.

    A title of stop words alone ("The Who") is mentioned only where every word has its capital.
    """

    def __init__(self, titles: Iterable[str]) -> None:
        """``titles``: one for each passage, so that an alias's count is its ambiguity."""
        self._counts: Counter[str] = Counter()
        for title in titles:
            self._counts.update(aliases(title))
        self._lengths: dict[str, int] = {}
        for alias in self._counts:
            first, length = alias.split(" ", 1)[0], alias.count(" ") + 1
            self._lengths[first] = max(self._lengths.get(first, 0), min(length, MAX_ALIAS_TOKENS))

    def count(self, alias: str) -> int:
        """How many passages have a title with this alias."""
        return self._counts.get(alias, 0)

    def find(self, text: str, tokens: list[Token] | None = None) -> list[tuple[int, int, str]]:
        """Mentions in a text: ``(start, end, alias)`` in order, not overlapping."""
        tokens = tokenize(text) if tokens is None else tokens
        found = []
        i = 0
        while i < len(tokens):
            longest = self._lengths.get(tokens[i].surface, 0)
            first = text[tokens[i].start]
            step = 1
            if longest and (first.isupper() or first.isdigit() or not first.isascii()):
                for n in range(min(longest, len(tokens) - i), 0, -1):
                    alias = " ".join(t.surface for t in tokens[i : i + n])
                    words = tokens[i : i + n]
                    if alias in self._counts and (
                        not _only_stop_words(alias) or all(text[t.start].isupper() for t in words)
                    ):
                        found.append((tokens[i].start, tokens[i + n - 1].end, alias))
                        step = n
                        break
            i += step
        return found
