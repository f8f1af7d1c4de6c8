"""The one tokenizer of the index: what a term is, for BM25, idf, coverage and query overlap.

Terms are case- and accent-folded; plain Latin words are stemmed (Snowball English). Names such
as ``AT&T``, ``C++`` and ``C#``, versions (``3.2.1``), percentages and error codes (``E-4012``)
stay whole; runs of Chinese, Japanese or Korean script become character bigrams.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

import regex
import snowballstemmer

TOKENIZER_VERSION = 2
"""Raised when a release gives other terms, so that older indexes are made anew."""
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー"
_PATTERN = regex.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    r"|(?P<dotted>(?<!\p{L})(?:\p{L}\.){2,}(?:\p{L}(?!\p{L}))?)"
    rf"|(?P<code>\p{{L}}+-?\d(?:(?![{_CJK}])[\p{{L}}\p{{N}}])*"
    rf"(?:[.\-]\d(?:(?![{_CJK}])[\p{{L}}\p{{N}}])*)*)"
    r"|(?P<amp>\p{L}+(?:&\p{L}+)+)"
    r"|(?P<plus>(?<![\p{L}\p{N}])\p{L}(?:\+\+|\#))"
    rf"|(?P<number>\d+(?:[.,:]\d+)*(?:%|(?:(?![{_CJK}])\p{{L}})+)?)"
    rf"|(?P<word>(?:(?![{_CJK}])[\p{{L}}\p{{M}}])+(?:['’](?:(?![{_CJK}])[\p{{L}}\p{{M}}])+)*)"
)
_POSSESSIVE = regex.compile(r"['’]s\b", regex.IGNORECASE)
_VOICED = "\u3099\u309a"
"""Kana's marks of voice: another sound and another word, no accent."""
_UNDECOMPOSED = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe"}
)
_STEMMER = snowballstemmer.stemmer("english")

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "against",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "herself",
        "him",
        "himself",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "me",
        "more",
        "most",
        "my",
        "myself",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "ourselves",
        "out",
        "over",
        "own",
        "s",
        "same",
        "she",
        "should",
        "so",
        "some",
        "such",
        "t",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "themselves",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
        "yourself",
        "yourselves",
    ]
)


class Token(NamedTuple):
    """A term and the characters ``start:end`` it came from; ``surface`` is unstemmed, folded."""

    term: str
    start: int
    end: int
    surface: str


def fold(text: str) -> str:
    """Lower case without accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(c for c in decomposed if c in _VOICED or not unicodedata.combining(c))
    return unicodedata.normalize("NFKC", kept).translate(_UNDECOMPOSED)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The Snowball English stem of a folded word; other scripts come back unchanged."""
    return str(_STEMMER.stemWord(word)) if word.isascii() and word.isalpha() else word


def tokenize(text: str) -> list[Token]:
    """Every token of a text in order, stop words included.

    >>> [t.term for t in tokenize("AT&T's C++ builds: E-4012 in v3.2.1")]
    ['at&t', 'c++', 'build', 'e-4012', 'in', 'v3.2.1']
    """
    found: list[Token] = []
    position = 0
    while match := _PATTERN.search(text, position):
        kind, start, end = match.lastgroup, match.start(), match.end()
        position = end
        raw = match.group()
        if kind == "cjk":
            folded = fold(raw)
            if len(folded) != len(raw) or len(raw) == 1:
                found.append(Token(folded, start, end, folded))
                continue
            for i in range(len(raw) - 1):
                found.append(Token(folded[i : i + 2], start + i, start + i + 2, folded[i : i + 2]))
            continue
        surface = fold(raw)
        if kind == "word":
            surface = surface.replace("’", "'")
            if surface.endswith("'s"):
                surface, end = surface[:-2], end - 2
            surface = surface.replace("'", "")
            if not surface:
                continue
            found.append(Token(stem(surface), start, end, surface))
        else:
            if kind == "number":
                surface = surface.replace(",", "")
            elif kind == "dotted":
                surface = surface.replace(".", "")
            if possessive := _POSSESSIVE.match(text, end):
                position = possessive.end()
            term = stem(surface) if kind == "dotted" else surface
            found.append(Token(term, start, end, surface))
    return found


def terms(text: str) -> list[str]:
    """Index terms of a text in order, stop words included."""
    return [token.term for token in tokenize(text)]


STOP_TERMS = frozenset(stem(word) for word in STOP_WORDS) | STOP_WORDS


def content_terms(text: str) -> list[str]:
    """Index terms of a text in order, without stop words."""
    return [t.term for t in tokenize(text) if t.surface not in STOP_WORDS]
