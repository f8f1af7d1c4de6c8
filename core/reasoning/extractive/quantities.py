"""Dates and numbers in a text: where they are and what they are worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import regex

from core.reasoning.extractive.lexicon import words

QuantityKind = Literal["date", "number", "ordinal"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """Characters ``start:end`` that state a date or a number.

    ``value`` is the year of a date or the number itself (None where it names none); ``unit`` is
    ``day``, ``month``, ``year``, ``decade``, ``century`` or ``season`` of a date, and the folded
    unit word of a number (empty: bare); ``part``: it lies inside a longer one.
    """

    start: int
    end: int
    kind: QuantityKind
    unit: str
    value: float | None
    part: bool = False


def _any(section: str, name: str) -> str:
    return "|".join(regex.escape(w) for w in sorted(words(section, name), key=len, reverse=True))


_MONTH = rf"(?:{_any('time', 'months')})\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1\d{3}|20\d{2})"
_ERA = r"(?:\s?(?:B\.?C\.?E?\.?|A\.?D\.?|C\.?E\.?)(?!\p{L}))"
_ORDINAL = rf"(?:\d+(?:st|nd|rd|th)|{_any('numbers', 'ordinals')})"
_SOME = r"(?:(?:early|mid|late|mid-to-late|early to mid)[\s-])"
_GAP = r"[\s\u00a0]+"
_SCALE = _any("numbers", "scale")
_UNIT = _any("numbers", "units")
_TIME_UNIT = _any("time", "units")

_DATE = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}.,])(?:"
    rf"(?P<dmy>{_DAY}{_GAP}(?:of{_GAP})?{_MONTH},?{_GAP}(?P<y1>{_YEAR}))"
    rf"|(?P<mdy>{_MONTH}{_GAP}{_DAY},?{_GAP}(?P<y2>{_YEAR}))"
    rf"|(?P<my>{_SOME}?{_MONTH}(?:{_GAP}of)?,?{_GAP}(?P<y3>{_YEAR}))"
    rf"|(?P<md>{_MONTH}{_GAP}{_DAY}(?:\s?[-–—]\s?(?:{_MONTH}{_GAP})?{_DAY})?|"
    rf"{_DAY}(?:\s?[-–—]\s?{_DAY})?{_GAP}(?:of{_GAP})?{_MONTH})"
    rf"|(?P<century>(?:the{_GAP})?{_SOME}?{_ORDINAL}[\s-]+(?:century|centuries){_ERA}?)"
    rf"|(?P<decade>{_SOME}?{_YEAR}['’]?s)"
    rf"|(?P<season>(?:{_any('time', 'seasons')}){_GAP}(?:of{_GAP})?(?P<y4>{_YEAR}))"
    rf"|(?P<range>(?P<y5>{_YEAR})\s?[-–—/]\s?(?:{_YEAR}|\d{{2}}|present))"
    rf"|(?P<year>{_SOME}?(?P<y6>{_YEAR})(?:{_ERA})?(?!\s(?:{_UNIT})(?!\p{{L}})))"
    rf"|(?P<era>(?:AD\s)?\d{{1,4}}{_ERA}|AD\s\d{{1,4}})"
    rf")(?![\p{{L}}\p{{N}}]|[.,]\d)",
    regex.IGNORECASE,
)
_DATE_UNITS = {
    "dmy": "day",
    "mdy": "day",
    "md": "day",
    "my": "month",
    "century": "century",
    "decade": "decade",
    "season": "season",
    "range": "range",
    "year": "year",
    "era": "year",
}
_YEAR_IN = regex.compile(rf"(?<!\d){_YEAR}(?!\d)")
_DAY_MONTH = regex.compile(
    rf"{_DAY}{_GAP}(?:of{_GAP})?{_MONTH}|{_MONTH}{_GAP}{_DAY}(?![\d])", regex.IGNORECASE
)
_MONTH_IN = regex.compile(rf"{_MONTH}", regex.IGNORECASE)

_WORD_NUMBER = _any("numbers", "words")
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}.,])(?P<currency>(?:US|A|C|HK)?[$£€¥₹]\s?)?"
    rf"(?P<digits>{_DIGITS}|(?:(?:{_WORD_NUMBER})(?:[\s-](?:and\s)?(?:{_WORD_NUMBER}))*))"
    rf"(?![\p{{N}}])(?:(?P<scale>(?:[\s-](?:{_SCALE})(?!\p{{L}}))+|\s?%))?"
    rf"(?:[\s-]?(?P<unit>(?:(?:square|cubic|nautical)[\s-])?(?:{_UNIT}|{_TIME_UNIT}))(?!\p{{L}}))?"
    rf"(?!\p{{L}}|[.,:]?\d)",
    regex.IGNORECASE,
)
_ORDINALS = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}-]){_ORDINAL}(?![\p{{L}}\p{{N}}])", regex.IGNORECASE
)
_TIMES = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}-])(?:{_any('numbers', 'times')}|(?:{_WORD_NUMBER})-time)(?!\p{{L}})",
    regex.IGNORECASE,
)
_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "quadrillion": 1e15,
    "dozen": 12.0,
}
_SMALL = {
    word: float(i)
    for i, word in enumerate(
        [
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
            *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
            *("seventeen", "eighteen", "nineteen"),
        ]
    )
} | {
    word: 10.0 * (i + 2)
    for i, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
    )
}
_FREQUENCY = {"once": 1.0, "twice": 2.0, "thrice": 3.0}


def number_value(text: str) -> float | None:
    """The number that digits or English number words state; None where none is read.

    >>> number_value("two hundred and six"), number_value("1,500"), number_value("3 million")
    (206.0, 1500.0, 3000000.0)
    """
    total, current, seen = 0.0, 0.0, False
    for part in regex.findall(rf"{_DIGITS}|\p{{L}}+", text.lower()):
        if part[0].isdigit():
            current, seen = float(part.replace(",", "")), True
        elif part in _SMALL:
            current, seen = current + _SMALL[part], True
        elif part == "hundred":
            current, seen = (current or 1.0) * 1e2, True
        elif part in _SCALES:
            total, current, seen = total + (current or 1.0) * _SCALES[part], 0.0, True
        elif part in _FREQUENCY:
            current, seen = _FREQUENCY[part], True
    return total + current if seen else None


_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)


def part_of_year(date: str) -> float:
    """How far into its year a date is, in [0, 1): its month, and its day; 0 where it names none.

    >>> part_of_year("March 2020") < part_of_year("5 May 2020"), part_of_year("2020")
    (True, 0.0)
    """
    month = _MONTH_IN.search(date)
    if month is None or month.group()[:3].lower() not in _MONTHS:
        return 0.0
    day = regex.search(r"(?<!\d)\d{1,2}(?!\d)", date)
    return (_MONTHS.index(month.group()[:3].lower()) + (int(day.group()) if day else 0) / 32) / 12


def _dates(text: str) -> Iterator[Quantity]:
    for match in _DATE.finditer(text):
        name = match.lastgroup or "year"
        if name.startswith("y") and name != "year":
            name = next(n for n in _DATE_UNITS if match.group(n) is not None)
        start, end = match.span()
        found = _YEAR_IN.search(match.group())
        value = float(found.group()) if found else None
        if name == "century" and (digits := regex.search(r"\d+", match.group())):
            value = (int(digits.group()) - 1) * 100.0
        yield Quantity(start, end, "date", _DATE_UNITS[name], value)
        if name not in ("year", "era", "md", "century"):
            for year in _YEAR_IN.finditer(match.group()):
                span = start + year.start(), start + year.end()
                yield Quantity(span[0], span[1], "date", "year", float(year.group()), part=True)
        if name in ("dmy", "mdy"):
            if day := _DAY_MONTH.search(match.group()):
                yield Quantity(start + day.start(), start + day.end(), "date", "day", None, True)
        elif name == "my" and (month := _MONTH_IN.search(match.group())):
            yield Quantity(start + month.start(), start + month.end(), "date", "month", None, True)


def _numbers(text: str, taken: list[tuple[int, int]]) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        if any(a < end and start < b for a, b in taken):
            continue
        scale = (match.group("scale") or "").strip(" -")
        unit = "currency" if match.group("currency") else (match.group("unit") or "").lower()
        if "%" in scale or "percent" in scale.lower():
            unit = "percent"
        bare = f"{match.group('digits')} {scale}"
        value = number_value(bare)
        yield Quantity(start, end, "number", unit, value)
        if match.group("unit"):
            number_end = len(text[start : match.start("unit")].rstrip(" -\u00a0\n\t")) + start
            yield Quantity(start, number_end, "number", "", value, part=True)
    for match in _TIMES.finditer(text):
        yield Quantity(match.start(), match.end(), "number", "times", number_value(match.group()))
    for match in _ORDINALS.finditer(text):
        if not any(a < match.end() and match.start() < b for a, b in taken):
            yield Quantity(match.start(), match.end(), "ordinal", "", None)


def quantities(text: str) -> tuple[Quantity, ...]:
    """Dates, numbers and ordinals of a text, in order of their start; parts after their whole.

    >>> text = "Born 3 May 1821; 6 ft tall"
    >>> [text[q.start : q.end] for q in quantities(text)]
    ['3 May 1821', '3 May', '1821', '6 ft', '6']
    """
    dates = list(_dates(text))
    taken = [(q.start, q.end) for q in dates if not q.part]
    found = [*dates, *_numbers(text, taken)]
    return tuple(sorted(found, key=lambda q: (q.start, q.start - q.end, q.part)))
