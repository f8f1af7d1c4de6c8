"""What is read off a passage's candidates without a question: a table, cached with the passage."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from core.ports import FloatArray
from core.reasoning.extractive.candidates import Candidate, candidates
from core.reasoning.extractive.columns import KINDS, SHAPES, STATIC
from core.reasoning.extractive.features import PassageParse, parse
from core.reasoning.extractive.lexicon import words
from core.retrieval.tokenizer import STOP_WORDS

IntArray = npt.NDArray[np.int32]

HEADING_TOKENS = 8
REACH = 4
"""Stop words that may stand between a candidate and the word that governs it."""

_NAMING = frozenset(["as", "called", "named", "titled", "nicknamed", "termed", "dubbed"])
_COPULA = frozenset(["is", "was", "are", "were", "be", "been"])
_PLACING = frozenset(["in", "at", "near", "on"])


class Table:
    """The candidates of a sentence, column by column.

    ``static`` has the columns ``STATIC``; ``kinds`` the strength of each of ``KINDS``;
    ``first``/``last`` are token indices of the passage; ``left``/``right`` the nearest content
    token with stop words only in between, or -1; ``content``, ``beside``, ``near`` and ``after``
    are sets of stems: of the candidate, of the token on either side, of the candidate and three
    on either side, and of the two that follow.
    """

    def __init__(self, parsed: PassageParse, rows: tuple[Candidate, ...]) -> None:
        self.parsed, self.rows = parsed, rows
        n = len(rows)
        self.keys = [c.key for c in rows]
        self.units = [c.unit for c in rows]
        self.first: IntArray = np.array([c.first for c in rows], dtype=np.int32)
        self.last: IntArray = np.array([c.last for c in rows], dtype=np.int32)
        self.left: IntArray = np.full(n, -1, dtype=np.int32)
        self.right: IntArray = np.full(n, -1, dtype=np.int32)
        self.shape = np.array([SHAPES.index(c.shape) for c in rows], dtype=np.int8)
        self.own_title = np.array([c.key in parsed.aliases for c in rows], dtype=bool)
        self.kinds: FloatArray = np.zeros((n, len(KINDS)), dtype=np.float32)
        self.content: list[frozenset[str]] = []
        self.beside: list[frozenset[str]] = []
        self.near: list[frozenset[str]] = []
        self.after: list[frozenset[str]] = []
        flags = [_static(parsed, c) for c in rows]
        self.static: FloatArray = np.array(flags, dtype=np.float32).reshape(n, len(STATIC))
        for i, c in enumerate(rows):
            for kind, strength in c.kinds.items():
                self.kinds[i, KINDS.index(kind)] = strength
            self._context(i, c)

    def _context(self, i: int, c: Candidate) -> None:
        tokens, sentence = self.parsed.tokens, self.parsed.sentences[c.sentence]
        low, high = sentence.first, sentence.last
        inner = tokens[c.first : c.last]
        if c.shape == "title":
            content = self.parsed.title_terms
        else:
            content = frozenset(t.term for t in inner if t.surface not in STOP_WORDS)
            content = content or frozenset(t.term for t in inner)
        self.content.append(content)
        before = tokens[max(low, c.first - 3) : c.first]
        after = tokens[c.last : min(high, c.last + 3)]
        self.near.append(frozenset(t.term for t in (*before, *inner, *after)))
        self.beside.append(frozenset(t.term for t in (*before[-1:], *after[:1])))
        self.after.append(frozenset(t.term for t in after[:2]))
        for j in range(c.first - 1, max(low, c.first - 1 - REACH) - 1, -1):
            if tokens[j].surface not in STOP_WORDS:
                self.left[i] = j
                break
        for j in range(c.last, min(high, c.last + REACH)):
            if tokens[j].surface not in STOP_WORDS:
                self.right[i] = j
                break


@lru_cache(maxsize=8_192)
def table(title: str, text: str, sentence: int) -> Table:
    """The cached table of a sentence of a passage."""
    return Table(parse(title, text), candidates(title, text, sentence))


@lru_cache(maxsize=16_384)
def _is_verb(surface: str) -> bool:
    return (
        surface in words("grammar", "auxiliaries")
        or surface in words("grammar", "past_verbs")
        or surface in words("grammar", "present_verbs")
        or (surface.endswith("ed") and len(surface) > 4)
    )


def _life_date(parsed: PassageParse, c: Candidate) -> int:
    """1 or 2 for the first or second date in the brackets of a passage's first sentence, and 1
    for one just after "born"; else 0."""
    if c.shape != "date" or c.sentence > 0:
        return 0
    text = parsed.text
    open_ = text.find("(")
    close = text.find(")", open_)
    if not 0 <= open_ < c.start < close:
        return int(text[max(0, c.start - 12) : c.start].rstrip(" on").endswith("born"))
    return 2 if any(dash in text[open_ : c.start] for dash in ("–", "—", " - ")) else 1


def _is_heading(parsed: PassageParse, c: Candidate) -> bool:
    """Whether the candidate stands in a line that marks itself as a heading, or in a short
    sentence that ends in no punctuation before a line's end."""
    sentence = parsed.sentences[c.sentence]
    text = parsed.text[sentence.start : sentence.end]
    if text.startswith("#"):
        return True
    bare = text[-1:].isalnum() and parsed.text[sentence.end : sentence.end + 1] == "\n"
    return bare and sentence.last - sentence.first <= HEADING_TOKENS


def _static(parsed: PassageParse, c: Candidate) -> list[float]:
    tokens, text = parsed.tokens, parsed.text
    sentence = parsed.sentences[c.sentence]
    is_title = c.shape == "title"

    def surface(i: int) -> str:
        return tokens[i].surface if sentence.first <= i < sentence.last and not is_title else ""

    before = surface(c.first - 1)
    article = before in ("the", "a", "an")
    lead = surface(c.first - 2) if article else before
    after = surface(c.last)
    left = text[max(0, c.start - 2) : c.start]
    right = text[c.end : c.end + 2]
    n = c.key.count(" ") + 1
    life = _life_date(parsed, c)
    prepositions = words("grammar", "prepositions")
    noun_after = (
        bool(after)
        and after not in STOP_WORDS
        and after not in prepositions
        and not _is_verb(after)
        and right[:1] in (" ", "-")
    )
    flags = [
        *(c.shape == s for s in SHAPES),
        c.inside,
        c.joined,
        min(n, 8) / 8,
        n == 1,
        c.text[:1].islower(),
        c.kinds.get("nationality", 0.0) > 0,
        any(w in STOP_WORDS for w in c.key.split()),
        c.shape == "number" and c.text.isalpha(),
        article,
        lead == "by",
        lead in _PLACING,
        lead == "of",
        lead in _NAMING,
        article and lead in _COPULA,
        lead in prepositions,
        _is_verb(lead),
        c.first - article <= sentence.first,
        "," in left,
        right[:1] == ",",
        _is_verb(after),
        after in prepositions,
        noun_after,
        "(" in left or right[:1] == ")",
        after == "of",
        right in ("'s", "’s"),
        after == "as",
        c.shape == "name" and n == 1 and c.first == sentence.first and not c.kinds,
        life == 1,
        life == 2,
        _is_heading(parsed, c),
    ]
    return [float(flag) for flag in flags]
