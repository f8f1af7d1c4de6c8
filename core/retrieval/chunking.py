"""Documents cut into passages of about 120 words, exact to the character.

Sections begin at headings; a section is cut at sentence ends, and inside a longer sentence at
line ends. The sentence spans are the same ones that are embedded and cited, which is why no
general splitter is used: those cut after abbreviations and leave short remainders.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

import regex

from core.retrieval.loading import Document
from core.retrieval.sentences import sentence_spans
from core.types import Passage, digest

CHUNKER_VERSION = 1
"""Raised when the same text would be cut differently, so that every index is cut anew."""
TARGET_WORDS = 120
MAX_WORDS = 150
"""A section is cut into the fewest even parts that have no more words than this each, as far as
sentence ends allow."""

Span = tuple[int, int]
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}"
_WORD = regex.compile(rf"[{_CJK}]{{1,2}}|[^\s{_CJK}]+")
_HEADING = regex.compile(
    r"^ {0,3}#{1,6}(?:[ \t]+\S.*)?$|^(?=\S)(?![-*+>|#]).{1,200}\n {0,3}(?:={3,}|-{3,})[ \t]*$",
    regex.MULTILINE,
)
_FENCE = regex.compile(r"^ {0,3}(`{3,}|~{3,})", regex.MULTILINE)


def chunk(document: Document) -> list[Passage]:
    """The passages of a document, in order.

    Each passage's text is ``document.text[start:end]``; passages do not overlap, and together
    they hold every character of the body that is not white space. The id derives from document,
    title and text, and from how often the same text came before in the document, so that an
    edit elsewhere leaves it as it is.
    """
    text = document.text
    lines = [match.start() for match in regex.finditer("\n", text)]
    seen: Counter[str] = Counter()
    passages = []
    for start, end in _chunk_spans(text, document.body_start):
        content = text[start:end]
        number, seen[content] = seen[content], seen[content] + 1
        passages.append(
            Passage(
                id=digest([document.id, document.title, content, number]),
                document=document.id,
                title=document.title,
                text=content,
                start=start,
                end=end,
                digest=digest([document.title, content]),
                line_start=bisect_right(lines, start - 1) + 1,
                line_end=bisect_right(lines, end - 1) + 1,
                metadata=document.metadata,
            )
        )
    return passages


def words(text: str) -> int:
    """Length in words: runs between white space, and pairs of Chinese, Japanese or Korean
    characters."""
    return len(_WORD.findall(text))


def _chunk_spans(text: str, start: int) -> Iterator[Span]:
    for section in _sections(text, start):
        units = [(unit, words(text[unit[0] : unit[1]])) for unit in _units(text, section)]
        total = sum(count for _, count in units)
        parts = max(1, -(-total // MAX_WORDS))
        held: list[Span] = []
        done = closed = 0
        for unit, count in units:
            # A part ends where the running total comes nearest to its even share.
            if held and closed < parts - 1 and done + count / 2 > total * (closed + 1) / parts:
                yield held[0][0], held[-1][1]
                held, closed = [], closed + 1
            held.append(unit)
            done += count
        if held:
            yield held[0][0], held[-1][1]


def _sections(text: str, start: int) -> Iterator[Span]:
    """Spans that each begin with a heading (or several without text between), code left whole."""
    fenced = _fenced(text, start)
    opens = [a for a, _ in fenced]
    position = after = start
    has_body = False
    for match in _HEADING.finditer(text, start):
        inside = bisect_right(opens, match.start()) - 1
        if inside >= 0 and match.start() < fenced[inside][1]:
            continue
        has_body = has_body or bool(text[after : match.start()].strip())
        after = match.end()
        if has_body and match.start() > position:
            yield position, match.start()
            position, has_body = match.start(), False
    yield position, len(text)


def _fenced(text: str, start: int) -> list[Span]:
    """Spans of fenced code, whose lines are no headings; an open fence reaches to the end."""
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text, start):
        mark = match.group(1)
        if opened is None:
            opened = (match.start(), mark)
        elif mark[0] == opened[1][0] and len(mark) >= len(opened[1]):
            spans.append((opened[0], match.end()))
            opened = None
    if opened is not None:
        spans.append((opened[0], len(text)))
    return spans


def _units(text: str, section: Span) -> Iterator[Span]:
    """Sentences of a section; a sentence that is too long for a passage, line by line."""
    offset = section[0]
    for start, end in sentence_spans(text[section[0] : section[1]]):
        start, end = start + offset, end + offset
        if words(text[start:end]) <= MAX_WORDS:
            yield start, end
        else:
            yield from _pieces(text, start, end)


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """Lines of a span; a line that is still too long, cut between words."""
    for line in regex.finditer(r"[^\n]+", text, pos=start, endpos=end):
        found = list(_WORD.finditer(text, line.start(), line.end()))
        for i in range(0, len(found), TARGET_WORDS):
            group = found[i : i + TARGET_WORDS]
            yield group[0].start(), group[-1].end()
