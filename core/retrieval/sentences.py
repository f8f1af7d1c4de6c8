"""Sentence spans of a text, exact to the character."""

from __future__ import annotations

import regex

_ABBREVIATIONS = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "jr",
        "sr",
        "vs",
        "etc",
        "inc",
        "ltd",
        "co",
        "corp",
        "no",
        "vol",
        "fig",
        "approx",
        "gen",
        "col",
        "lt",
        "capt",
        "sgt",
        "rev",
        "hon",
        "gov",
        "sen",
        "rep",
        "pres",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "ft",
        "mt",
        "ca",
        "cf",
        "al",
        "ed",
        "eds",
        "pp",
        "e.g",
        "i.e",
        "u.s",
        "u.k",
    ]
)
_ORDINAL = regex.compile(r"(?<!\p{N})\d{1,2}\.$")
_MONTHS = regex.compile(
    r"(?:Jänner|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
"""After a number and a full stop, a German day: "am 12. Mai"."""
_END = regex.compile(
    r"[.!?]+[\"'”’)\]]*(?=\s+|$)|[。！？]+[」』”）]*|\n\s*\n|\n(?=\s*(?:[-*#|]|\d+[.)]\s))"
)
_LAST_WORD = regex.compile(r"([\p{L}\p{N}.]+)\.[\"'”’)\]]*$")
_LONGEST_ABBREVIATION = 40
"""Characters looked back over; without a bound, a long run of abbreviations takes hours."""
MAX_SENTENCE = 1_000
"""A longer run without an end is cut at white space, so that no sentence is unbounded."""


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Spans ``(start, end)`` of the sentences, in order, without surrounding white space.

    Every character that is not white space lies in exactly one span.

    >>> [t[a:b] for t in ["Dr. Fox ran. He fell."] for a, b in sentence_spans(t)]
    ['Dr. Fox ran.', 'He fell.']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match.group().startswith(".") and _continues(text, start, match.end()):
            continue
        _add(spans, text, start, match.end())
        start = match.end()
    _add(spans, text, start, len(text))
    return tuple(spans)


def _continues(text: str, start: int, end: int) -> bool:
    """Whether the full stop that ends at ``end`` belongs to an abbreviation or an initial."""
    rest = text[end : end + 40].lstrip()
    if not rest:
        return False
    if rest[0].islower():
        return True
    if _MONTHS.match(rest) and _ORDINAL.search(text, max(start, end - 4), end):
        return True
    last = _LAST_WORD.search(text, max(start, end - _LONGEST_ABBREVIATION), end)
    if last is None:
        return False
    word = last.group(1).lower()
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha())


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > MAX_SENTENCE:
        cut = text.rfind(" ", start, start + MAX_SENTENCE)
        cut = cut if cut > start else start + MAX_SENTENCE
        spans.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        spans.append((start, end))
