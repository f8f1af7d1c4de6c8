"""Dates and numbers as other languages write them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from core.reasoning.extractive.tongues.pieces import Piece, alike
from core.reasoning.extractive.tongues.tables import Tongue

_YEAR = r"(?:1\d{3}|20\d{2})"
_DIGITS = r"(?:\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
_HAN_DIGITS = "[〇零一二三四五六七八九十百千万億亿兆两]+"
FULL, MONTH, YEAR = 0.5, 0.3, 0.0
FITS, NEAR = 1.0, 0.7
_GAP = r"[\s\u00a0]+"


@cache
def _dates(tongue: Tongue) -> regex.Pattern[str]:
    if not tongue.segmented:
        gap = r"\s?"
        year, month, day = {
            "ko": ("년", "월", "일"),
        }.get(tongue.code, ("年", "月", "日"))
        return regex.compile(
            rf"(?<year>\d{{3,4}}{gap}{year}){gap}(?:(?<month>\d{{1,2}}{gap}{month}){gap}"
            rf"(?<day>\d{{1,2}}{gap}[{day}号號])?)?"
        )
    months = "|".join(regex.escape(m) for m in tongue.phrases("months"))
    day = r"(?:3[01]|[12]\d|0?[1-9])(?:\.|er|º|°)?"
    of = rf"(?:{_GAP}(?:de|del))?{_GAP}"
    return regex.compile(
        rf"(?<![\p{{L}}\p{{N}}])(?:(?<day>{day}{of})?(?<month>{months})"
        rf"(?:{of}(?<year>{_YEAR}))?|(?<day>\d{{1,2}}\.\s?\d{{1,2}}\.\s?)(?<year>{_YEAR})"
        rf"|(?<year>{_YEAR}))(?![\p{{L}}\p{{N}}]|[.,]\d)",
        regex.IGNORECASE,
    )


def dates(text: str, start: int, end: int, tongue: Tongue, year: bool) -> list[Piece]:
    """The dates of ``text[start:end]``, the fullest form of each; years alone where ``year``."""
    found = []
    for match in _dates(tongue).finditer(text, start, end):
        if year:
            if match.group("year"):
                found.append(Piece(match.start("year"), match.end("year"), "date", FULL))
            continue
        if not match.group("year") and not match.group("day"):
            continue  # a month's name alone may be another word
        cue = FULL if match.group("day") else MONTH if match.group("month") else YEAR
        a, b = match.span()
        while text[b - 1].isspace():
            b -= 1
        found.append(Piece(a, b, "date", cue))
    return found


@cache
def _numbers(tongue: Tongue) -> regex.Pattern[str]:
    if not tongue.segmented:
        units = "|".join(regex.escape(u) for u in tongue.phrases("counters"))
        scale = "[万億亿兆만억]?"
        return regex.compile(
            rf"(?<![\d.,])(?<value>{_DIGITS}\s?{scale}|{_HAN_DIGITS})\s?(?<unit>{units})"
            rf"|(?<![\d.,])(?<value>{_DIGITS}{scale})(?<unit>)"
        )
    names = "|".join(regex.escape(n) for n in tongue.phrases("numbers"))
    return regex.compile(
        rf"(?<![\p{{L}}\p{{N}}.,])(?<value>{_DIGITS}(?:{_GAP}(?:{names})(?!\p{{L}}))?"
        rf"|(?:{names})(?:[\s-](?:{names})(?!\p{{L}}))*)(?![\p{{L}}\p{{N}}]|[.,]\d)",
        regex.IGNORECASE,
    )


_NEXT = regex.compile(r"[\s\u00a0]*(?:(\p{L}+)[\s\u00a0]*)?(?:de\s+)?(\p{L}+)?")


def numbers(
    text: str, start: int, end: int, tongue: Tongue, head: str, measure: str
) -> Iterator[Piece]:
    """The numbers of ``text[start:end]`` that belong to no date, with their units.

    ``head`` is the noun counted: a number beside it speaks for itself.
    """
    taken = [(m.start(), m.end()) for m in _dates(tongue).finditer(text, start, end) if _full(m)]
    for match in _numbers(tongue).finditer(text, start, end):
        a, b = match.span()
        if not tongue.segmented:
            if any(x < b and a < y for x, y in taken):
                continue
            yield Piece(a, b, "number", FITS if match.group("unit") else 0.0)
            continue
        after = _NEXT.match(text, b, end)
        nouns = [tongue.folded(w) for w in after.groups() if w] if after else []
        counted = bool(head) and any(alike(head, n) for n in nouns)
        unit = bool(nouns) and after is not None and nouns[0].startswith(_units(tongue))
        if any(x < b and a < y for x, y in taken) and not (counted or unit):
            continue
        if unit and not counted and measure != "count" and after is not None:
            b = after.end(1)
        cue = FITS if counted else NEAR if unit == (measure == "quality") else 0.0
        yield Piece(a, b, "number", cue)


def _full(match: regex.Match[str]) -> bool:
    return bool(match.group("year") or match.group("day"))


@cache
def _units(tongue: Tongue) -> tuple[str, ...]:
    return tuple(tongue.words("units_stems"))
