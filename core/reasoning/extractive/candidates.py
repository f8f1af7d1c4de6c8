"""Answer candidates of a passage: every span that could answer some question.

They depend on the passage alone and are cached with its parse; ranking is in ``scoring``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import regex

from core.reasoning.extractive.features import PassageParse, Span, is_name_like, parse
from core.reasoning.extractive.kinds import (
    STRONG,
    WEAK,
    Kinds,
    context_kind,
    name_kinds,
    title_kinds,
)
from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.quantities import quantities
from core.reasoning.extractive.structure import code_spans
from core.retrieval.tokenizer import STOP_WORDS, Token

Shape = Literal["name", "quote", "title", "date", "number", "ordinal", "noun"]
MAX_NOUN_TOKENS = 8
MAX_LIST = 5
MAX_SENTENCE_CANDIDATES = 400

_QUOTED = regex.compile(
    r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|«([^»\n]{2,80})»|「([^」\n]{1,80})」"
    r"|`([^`\n]{1,80})`"
)
_ARTICLES = frozenset(["a", "an", "the"])
_SPACE = frozenset(" -–'’/\u00a0")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span ``start:end`` of a passage's text (tokens ``first:last``) in sentence ``sentence``.

    ``text`` is what would be answered: ``passage text[start:end]``, but for a title candidate,
    which stands at the subject of a sentence and answers the title. ``key``: folded words without
    articles, equal for variants. ``inside``: part of a larger candidate of its own shape;
    ``joined``: made of several names; ``unit`` of a date or number as in ``quantities``.
    """

    sentence: int
    first: int
    last: int
    start: int
    end: int
    text: str
    key: str
    shape: Shape
    kinds: Kinds
    inside: bool = False
    joined: bool = False
    unit: str = ""
    value: float | None = None


def answer_key(tokens: list[Token]) -> str:
    """Folded words without articles: what two variants of one answer share."""
    kept = [t.surface for t in tokens if t.surface not in _ARTICLES]
    return " ".join(kept or [t.surface for t in tokens])


MAX_CHARACTERS = 200
"""A longer span (encoded data, minified text) is no answer."""


@lru_cache(maxsize=2_048)
def _finder(title: str, text: str) -> _Finder:
    return _Finder(parse(title, text))


def candidates(title: str, text: str, sentence: int) -> tuple[Candidate, ...]:
    """The candidates of a sentence of a passage, in order of their start; none twice."""
    return _finder(title, text).sentence(sentence)


class _Finder:
    def __init__(self, parsed: PassageParse) -> None:
        self.parsed, self.text, self.tokens = parsed, parsed.text, parsed.tokens
        self.starts = [t.start for t in self.tokens]
        self.title_kinds = title_kinds(parsed)
        self.quantities = quantities(self.text)
        self.quoted = [m for m in _QUOTED.finditer(self.text)]

    def sentence(self, index: int) -> tuple[Candidate, ...]:
        found: dict[tuple[int, int, bool], Candidate] = {}
        for candidate in self._generate(index):
            where = candidate.start, candidate.end, candidate.shape == "title"
            if len(candidate.text) > MAX_CHARACTERS:
                continue
            if candidate.key and where not in found:
                found[where] = candidate
            if len(found) >= MAX_SENTENCE_CANDIDATES:
                break
        return tuple(sorted(found.values(), key=lambda c: (c.start, c.end, c.shape)))

    def _generate(self, index: int) -> Iterator[Candidate]:
        yield from self._title(index)
        yield from self._quantities(index)
        yield from self._quotes(index)
        yield from self._names(index)
        yield from self._nouns(index)

    def _make(
        self,
        index: int,
        start: int,
        end: int,
        shape: Shape,
        kinds: Kinds,
        inside: bool = False,
        joined: bool = False,
        unit: str = "",
        value: float | None = None,
    ) -> Candidate:
        first = bisect_left(self.starts, start)
        last = max(bisect_left(self.starts, end), first)
        tokens = self.tokens[first:last]
        text = self.text[start:end]
        key = answer_key(tokens) or text.casefold()
        return Candidate(
            index, first, last, start, end, text, key, shape, kinds, inside, joined, unit, value
        )

    def _title(self, index: int) -> Iterator[Candidate]:
        """The title, at the first token of the sentence: its likely subject."""
        sentence = self.parsed.sentences[index]
        if not self.parsed.aliases:
            return
        bare = regex.sub(r"\s*\([^()]*\)\s*$", "", self.parsed.title.replace("_", " ")).strip()
        yield Candidate(
            sentence=index,
            first=sentence.first,
            last=sentence.first,
            start=sentence.start,
            end=sentence.start,
            text=bare,
            key=answer_key(self.parsed.title_tokens[: len(self.parsed.aliases[0].split())]),
            shape="title",
            kinds=self.title_kinds,
        )

    def _quantities(self, index: int) -> Iterator[Candidate]:
        sentence = self.parsed.sentences[index]
        low = bisect_left(self.quantities, sentence.start, key=lambda q: q.start)
        high = bisect_left(self.quantities, sentence.end, key=lambda q: q.start)
        for q in self.quantities[low:high]:
            kinds: Kinds = {"date" if q.kind == "date" else "number": STRONG}
            if q.kind == "ordinal":
                kinds = {"number": WEAK}
            yield self._make(
                index, q.start, q.end, q.kind, kinds, inside=q.part, unit=q.unit, value=q.value
            )
            before = bisect_left(self.starts, q.start) - 1
            if q.kind == "number" and not q.part and before >= sentence.first:
                start = self._approximate(before, sentence.first)
                if start is not None:
                    yield self._make(
                        index,
                        start,
                        q.end,
                        "number",
                        kinds,
                        joined=True,
                        unit=q.unit,
                        value=q.value,
                    )

    def _approximate(self, before: int, first: int) -> int | None:
        """Where "about", "more than" or "over" before a number begins."""
        token = self.tokens[before]
        if token.surface == "than" and before - 1 >= first:
            return self.tokens[before - 1].start
        return token.start if token.surface in words("numbers", "approximate") else None

    def _quotes(self, index: int) -> Iterator[Candidate]:
        sentence = self.parsed.sentences[index]
        for match in self.quoted:
            if sentence.start <= match.start() < sentence.end:
                group = next(g for g in range(1, 6) if match.group(g) is not None)
                start, end = match.span(group)
                if bisect_left(self.starts, end) - bisect_left(self.starts, start) <= 12:
                    kinds: Kinds = {} if group == 5 else {"work": STRONG}
                    yield self._make(index, start, end, "quote", kinds)
        for start, end in sorted(code_spans(self.text)):
            if sentence.start <= start and end <= sentence.end and self.text[start - 1] != "`":
                yield self._make(index, start, end, "quote", {})

    def _kinds(self, key: str, first: int, last: int) -> Kinds:
        found = dict(name_kinds(key))
        if key in self.parsed.aliases and self.title_kinds:
            return self.title_kinds
        before, after = context_kind(self.tokens, first, last)
        if before is not None and found.get(before, 0.0) < STRONG:
            found[before] = STRONG
        if after is not None and after in ("place", "org") and not found:
            found[after] = WEAK
        if self.text[self.tokens[last - 1].end :].startswith(" (born"):
            found = {"person": STRONG}
        return found

    def _name(self, index: int, first: int, last: int, inside: bool, joined: bool) -> Candidate:
        end = self.tokens[last - 1].end
        if self.text[end : end + 1] == "." and self.tokens[last - 1].surface in _DOTTED:
            end += 1
        key = " ".join(t.surface for t in self.tokens[first:last])
        kinds = self._kinds(key, first, last)
        start = self.tokens[first].start
        return self._make(index, start, end, "name", kinds, inside, joined)

    def _names(self, index: int) -> Iterator[Candidate]:
        spans = self.parsed.spans[index]
        for span in spans:
            yield self._name(index, span.first, span.last, False, False)
            for first, last in self._parts(span):
                yield self._name(index, first, last, True, False)
        yield from self._lists(index, spans)

    def _parts(self, span: Span) -> Iterator[tuple[int, int]]:
        """Parts of a name: around "and", "of" and possessives, without a leading title or
        demonym, and its first and last tokens."""
        first, last = span.first, span.last
        cuts = [
            i for i in range(first, last) if self.tokens[i].surface in ("and", "of", "for", "the")
        ]
        for i in cuts:
            if i > first:
                yield first, i
            if i + 1 < last:
                yield i + 1, last
        for i in range(first, last - 1):
            if self.text[self.tokens[i].end : self.tokens[i].end + 2] in ("'s", "’s"):
                yield first, i + 1
                yield i + 1, last
        for n in (1, 2, 3):
            if last - first > n:
                yield first + n, last
                yield first, last - n

    def _lists(self, index: int, spans: tuple[Span, ...]) -> Iterator[Candidate]:
        """ "A, B" as in City, State, and "A, B and C"."""
        for i, span in enumerate(spans):
            for j in range(i + 1, min(i + MAX_LIST, len(spans))):
                gap = self.text[spans[j - 1].end : spans[j].start]
                if gap.strip() not in (",", "and", ", and", "&", "or", ", or") or "\n" in gap:
                    break
                kinds: Kinds = {}
                if gap == ", " and j == i + 1:
                    right = name_kinds(spans[j].key)
                    kinds = {"place": STRONG if "place" in right else WEAK}
                elif "person" in name_kinds(span.key):
                    kinds = {"person": WEAK}
                yield self._make(index, span.start, spans[j].end, "name", kinds, joined=True)

    def _nouns(self, index: int) -> Iterator[Candidate]:
        """Runs of words that are neither stop words nor likely verbs, their ends, and "X of Y"."""
        sentence = self.parsed.sentences[index]
        runs: list[tuple[int, int]] = []
        i = sentence.first
        while i < sentence.last:
            if not self._nominal(i):
                i += 1
                continue
            j = i + 1
            while j < sentence.last and self._nominal(j) and self._bound(j):
                j += 1
            runs.append((i, j))
            i = j
        for a, b in runs:
            if b - a <= MAX_NOUN_TOKENS:
                yield self._noun(index, a, b, False)
            for n in (1, 2, 3):
                if b - a > n:
                    yield self._noun(index, b - n, b, True)
                    yield self._noun(index, a, a + n, True)
        for (a, b), (c, d) in pairwise(runs):
            link = [t.surface for t in self.tokens[b:c]]
            if link and d - a <= MAX_NOUN_TOKENS and self._bound(b) and self._bound(c):
                plain = [w for w in link if w not in _ARTICLES]
                if plain in (["of"], ["and"], ["in"], ["or"], ["for"], ["to"]) and len(link) <= 2:
                    yield self._noun(index, a, d, False, True)

    def _noun(
        self, index: int, first: int, last: int, inside: bool, joined: bool = False
    ) -> Candidate:
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        kinds: Kinds = {}
        if last < len(self.tokens) or first > 0:
            before, _ = context_kind(self.tokens, first, last)
            if before is not None and is_name_like(self.text, self.tokens[first]):
                kinds = {before: WEAK}
        return self._make(index, start, end, "noun", kinds, inside, joined)

    def _nominal(self, i: int) -> bool:
        surface = self.tokens[i].surface
        return not (
            surface in STOP_WORDS
            or surface in words("grammar", "prepositions")
            or surface in words("grammar", "past_verbs")
            or surface in words("grammar", "present_verbs")
        )

    def _bound(self, i: int) -> bool:
        gap = self.text[self.tokens[i - 1].end : self.tokens[i].start]
        bound = "--" not in gap and all(c in _SPACE for c in gap)
        return bound or gap in ("'s ", "’s ", ". ")


_DOTTED = frozenset(["jr", "sr", "inc", "ltd", "co", "corp", "bros"])
