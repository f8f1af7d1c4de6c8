"""Names in languages whose words stand apart and whose names have capitals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import regex

from core.reasoning.extractive.tongues.asked import Asked
from core.reasoning.extractive.tongues.pieces import Piece, Word, alike
from core.reasoning.extractive.tongues.tables import WORD, Tongue

_CONNECTORS = frozenset("de la le du des da di del della van von der den of z ze y".split())
_BINDING = regex.compile(r"[\s\u00a0]|-|['’]|\.[\s\u00a0]|[\s\u00a0]?-[\s\u00a0]?")
MOST_WORDS = 8
BACK = 3
"""Lower-case words looked back over for a preposition."""


@lru_cache(maxsize=8_192)
def words_of(text: str, start: int, end: int, tongue: Tongue) -> tuple[Word, ...]:
    """The words of ``text[start:end]``."""
    return tuple(
        Word(tongue.folded(m.group()), m.start(), m.end()) for m in WORD.finditer(text, start, end)
    )


def names(text: str, words: Sequence[Word], asked: Asked, known: frozenset[str]) -> Iterator[Piece]:
    """Names of the kind asked for. ``known``: folded words that have capitals within sentences
    or stand in titles, so that a capital at a sentence's start is one too."""
    tongue = asked.tongue
    if asked.kind == "org":
        yield from _organisations(text, words, asked)
    for first, last in _runs(text, words, tongue, known):
        if _echoes(words[first:last], asked):
            continue
        first, last = _trimmed(words, first, last, asked)
        cue = _cue(text, words, first, last, asked)
        yield Piece(words[first].start, words[last - 1].end, asked.kind, cue)


def _capital(text: str, word: Word) -> bool:
    """Whether a word has a capital, or is the end of one that has ("Hoch'schen")."""
    start = word.start
    if start and text[start - 1] in "'’":
        before = regex.search(r"\p{Lu}\p{L}{2,}$", text[max(0, start - 30) : start - 1])
        return before is not None or text[start].isupper()
    return text[start].isupper()


def _bound(text: str, left: Word, right: Word) -> bool:
    gap = text[left.end : right.start]
    if gap.startswith("."):
        return len(gap) == 2 and left.end - left.start == 1
    return bool(_BINDING.fullmatch(gap))


def _runs(
    text: str, words: Sequence[Word], tongue: Tongue, known: frozenset[str]
) -> Iterator[tuple[int, int]]:
    i, n = 0, len(words)
    small = tongue.words("function")
    while i < n:
        if not _capital(text, words[i]) or words[i].key in small:
            i += 1
            continue
        last, j = i, i + 1
        while j < n and j - i < MOST_WORDS and _bound(text, words[j - 1], words[j]):
            if _capital(text, words[j]) and words[j].key not in small - _CONNECTORS:
                last = j
            elif words[j].key not in _CONNECTORS:
                break
            j += 1
        first = i
        if i == 0 and words[0].key not in known:
            first = i + 1  # a capital that only begins the sentence
        elif (
            last > i
            and tongue.words("articles")
            and i
            and words[i - 1].key in tongue.words("articles")
        ):
            first = i + 1  # "der Architekt Peter Parler"
        if first <= last:
            yield first, last + 1
        i = last + 1


def _echoes(words: Sequence[Word], asked: Asked) -> bool:
    return all(w.key in _CONNECTORS or any(alike(w.key, t) for t in asked.terms) for w in words)


def _trimmed(words: Sequence[Word], first: int, last: int, asked: Asked) -> tuple[int, int]:
    """The run without what the question names at its end ("... de Nueva York")."""
    cut = last
    while cut > first + 1 and _echoes(words[cut - 1 : cut], asked):
        cut -= 1
    return (first, cut) if cut < last and words[cut].key in _CONNECTORS else (first, last)


def _cue(text: str, words: Sequence[Word], first: int, last: int, asked: Asked) -> float:
    """What stands before the name, and how the name is made."""
    tongue, kind = asked.tongue, asked.kind
    before = words[first - 1].key if first else ""
    cue = 0.3 if asked.head and before and alike(before, asked.head) else 0.0
    placed = before in tongue.words("place_before")
    if kind == "place":
        if placed:
            return cue + 1.0
        return cue + (0.6 if _introduced(text, words, first, tongue) else 0.0)
    if kind == "person":
        cue += 0.5 if last - first >= 2 else 0.0
        cue += 0.3 if tongue.begins("person_stems", before) and before else 0.0
        if before in tongue.words("person_before"):
            return cue + 0.4
        if before in tongue.words("articles"):
            return cue - 0.5
        return cue - (0.7 if placed else 0.0)
    if kind == "org":
        return cue + (0.0 if placed else 0.2) - 0.5
    return cue


def _introduced(text: str, words: Sequence[Word], first: int, tongue: Tongue) -> bool:
    """Whether a preposition of place stands before with lower-case words between."""
    for i in range(first - 1, max(first - 1 - BACK, -1), -1):
        if not _bound(text, words[i], words[i + 1]):
            return False
        if i < first - 1 and words[i].key in tongue.words("place_before"):
            return True
        if _capital(text, words[i]) or words[i].key.isdigit():
            return False
    return False


def _organisations(text: str, words: Sequence[Word], asked: Asked) -> Iterator[Piece]:
    """Runs around a noun of an organisation, with one capital at least."""
    tongue = asked.tongue
    small = tongue.words("function")
    for i, word in enumerate(words):
        if not tongue.begins("org_stems", word.key) or len(word.key) < 4:
            continue
        first, last = i, i + 1
        while (
            first > 0
            and _capital(text, words[first - 1])
            and _bound(text, words[first - 1], words[first])
        ):
            if words[first - 1].key in small or not (first - 1 or words[0].key not in small):
                break
            first -= 1
        while last < len(words) and _bound(text, words[last - 1], words[last]):
            after = words[last]
            if _capital(text, after) and after.key not in small:
                last += 1
            elif (
                after.key in _CONNECTORS
                and last + 1 < len(words)
                and _capital(text, words[last + 1])
                and _bound(text, after, words[last + 1])
            ):
                last += 2
            elif last == i + 1 and _capital(text, word) and after.key not in small:
                last += 1  # "Conservatoire national"
            else:
                break
        if not any(_capital(text, w) for w in words[first:last]) or (last - first < 2):
            continue
        if _echoes(words[first:last], asked):
            continue
        first, last = _trimmed(words, first, last, asked)
        fits = bool(asked.head) and alike(asked.head, word.key)
        yield Piece(words[first].start, words[last - 1].end, "org", 1.0 + 0.5 * fits)
