"""A question in another language: its form, the type of the answer, and what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex

from core.reasoning.extractive.question import Form, Kind, Wh
from core.reasoning.extractive.tongues.tables import WORD, Tongue, tongue_of

HEADS: tuple[Kind, ...] = ("person", "place", "org", "date", "number")
_ORDER: tuple[Wh, ...] = ("how_many", "when", "where", "which", "who", "how", "what", "why")
_ENDS = regex.compile(r"[?？;\u037e]\s*[\"»”」]*\s*$")
_POLAR = {
    "ja": regex.compile(r"か[。？?]?\s*$|[？?]\s*$"),
    "zh": regex.compile(r"[吗嗎么][？?。]?\s*$|[？?]\s*$"),
    "ko": regex.compile(r"(?:까|나요|가요|지요|니|냐)[?？.]?\s*$|[?？]\s*$"),
}
_RUNS = {
    "ja": regex.compile(r"[\p{Han}々]+|[\p{Katakana}ー]+|[\p{Latin}\p{N}.]+"),
    "zh": regex.compile(r"[\p{Han}]+|[\p{Latin}\p{N}.]+"),
}
MOST_BEFORE = 3
"""A word that asks has at most this many words before it, or stands last, or after a comma."""
_VERBAL_HEAD = 3
Measure = Literal["", "count", "quality"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as read.

    ``kind``: the type of the answer, ``any`` where nothing tells; ``year``: a year alone is asked
    for; ``measure``: whether things are counted or a quality measured; ``terms``: what the
    question is about, folded, in order; ``head``: the noun that the answer is one of or that is
    counted, folded ("" where there is none); ``operands``: the terms on either side of "or".
    """

    tongue: Tongue
    form: Form
    wh: Wh
    kind: Kind
    year: bool
    measure: Measure
    terms: tuple[str, ...]
    head: str
    operands: tuple[tuple[str, ...], ...] = ()


@lru_cache(maxsize=1_024)
def asked_of(question: str) -> Asked | None:
    """The reading of a question in another language; None where English is read instead."""
    tongue = tongue_of(question)
    if tongue is None:
        return None
    return _spaced(question, tongue) if tongue.segmented else _unspaced(question, tongue)


# --- scripts with words apart ---------------------------------------------------------------


def _spaced(question: str, tongue: Tongue) -> Asked:
    matches = list(WORD.finditer(question))
    raw = [m.group().lower() for m in matches]
    words = [tongue.folded(w) for w in raw]
    opens = next((p for p in tongue.phrases("yes_no") if _at(p, raw, 0)), None)
    found = None if opens else _asks(question, matches, raw, tongue)
    skip = set(range(len(opens.replace("-", " ").split()))) if opens else set()
    wh: Wh = "none"
    kind: Kind = "any"
    head, measure, year = "", "", False
    if found is not None:
        wh, at, length = found
        skip |= set(range(at, at + length))
        kind, head, measure, year, used = _wanted(words, wh, at, length, tongue)
        skip |= used
    terms = tuple(
        w
        for i, w in enumerate(words)
        if i not in skip and w not in tongue.words("function") and (len(w) > 1 or w.isdigit())
    )
    operands = _operands(matches, raw, words, tongue)
    form: Form = "span"
    if operands and (found is None or wh in ("who", "which", "what")):
        form = "choice"
    elif found is None and (opens or _ENDS.search(question)):
        form = "yes_no"
    return Asked(tongue, form, wh, kind, year, measure, terms, head, operands)  # type: ignore[arg-type]


def _at(phrase: str, raw: list[str], i: int) -> int:
    """How many words from the ``i``-th on are the phrase; 0 where they are not."""
    parts = WORD.findall(phrase)
    return len(parts) if raw[i : i + len(parts)] == parts else 0


def _asks(
    question: str, matches: list[regex.Match[str]], raw: list[str], tongue: Tongue
) -> tuple[Wh, int, int] | None:
    best: tuple[int, int, int, Wh] | None = None
    for rank, wh in enumerate(_ORDER):
        for phrase in tongue.phrases(wh):
            for i in range(len(raw)):
                length = _at(phrase, raw, i)
                if not length:
                    continue
                gap = question[matches[i - 1].end() : matches[i].start()] if i else ""
                last = i + length == len(raw)
                if i > MOST_BEFORE and not last and not any(c in gap for c in ",:;"):
                    continue
                key = (i, -length, rank, wh)
                if best is None or key[:3] < best[:3]:
                    best = key
    return (best[3], best[0], -best[1]) if best else None


def _wanted(
    words: list[str], wh: Wh, at: int, length: int, tongue: Tongue
) -> tuple[Kind, str, str, bool, set[int]]:
    """Type, head noun, measure, whether a year is asked for, and words that only say so."""
    after = range(at + length, min(at + length + _VERBAL_HEAD, len(words)))
    if wh == "when":
        return "date", "", "", length > 1 or at + length == 0, set()
    if wh == "where":
        return "place", "", "", False, set()
    if wh == "how_many":
        noun = next((i for i in after if words[i] not in tongue.words("function")), None)
        if noun is None:
            return "number", "", "count", False, set()
        quality = tongue.begins("measure_stems", words[noun]) or tongue.begins(
            "number_stems", words[noun]
        )
        return "number", words[noun], "quality" if quality else "count", False, set()
    if wh == "how":
        near = next(iter(after), None)
        if near is not None and tongue.begins("measure_stems", words[near]):
            return "number", "", "quality", False, set()
        if words[at] not in tongue.words("which"):
            return "any", "", "", False, set()
    direct = [i for i in after if words[i] not in tongue.words("function")][:1]
    for i in direct:
        for kind in HEADS:
            if tongue.begins(f"{kind}_stems", words[i]):
                year = kind == "date"
                measure = "quality" if kind == "number" else ""
                used = {i} if kind in ("place", "date") else set()
                if wh == "who":
                    kind = "person"
                return kind, words[i], measure, year, used
    if wh == "who" or words[at] in tongue.words("who"):
        return "person", "", "", False, set()
    return "any", words[direct[0]] if direct and wh == "which" else "", "", False, set()


def _operands(
    matches: list[regex.Match[str]], raw: list[str], words: list[str], tongue: Tongue
) -> tuple[tuple[str, ...], ...]:
    """The capitalised words next to "or" on either side."""
    for i in range(1, len(raw) - 1):
        if raw[i] not in tongue.phrases("or"):
            continue
        right = _run(matches, words, range(i + 1, len(words)), tongue)
        left = _run(matches, words, range(i - 1, -1, -1), tongue)
        if left and right:
            return tuple(reversed(left)), right
    return ()


def _run(
    matches: list[regex.Match[str]], words: list[str], order: range, tongue: Tongue
) -> tuple[str, ...]:
    found: list[str] = []
    for i in order:
        first = matches[i].group()[0]
        if first.isupper() or first.isdigit():
            found.append(words[i])
        elif found or words[i] not in tongue.words("function"):
            break
    return tuple(found)


# --- scripts without capitals ---------------------------------------------------------------


def _unspaced(question: str, tongue: Tongue) -> Asked:
    found = _phrase(question, tongue)
    wh: Wh = "none"
    kind: Kind = "any"
    head, measure, year, rest = "", "", False, question
    if found is not None:
        wh, start, end = found
        said = question[start:end]
        kinds: dict[Wh, Kind] = {
            "who": "person",
            "when": "date",
            "where": "place",
            "how_many": "number",
        }
        kind = kinds.get(wh, "any")
        year = said in tongue.phrases("year")
        measure = (
            ("count" if not said.startswith(("有多", "多")) else "quality")
            if wh == "how_many"
            else ""
        )
        extra = said[-1] if measure == "quality" and said[-1] not in "少" else ""
        tail = question[end:]
        if wh == "which":
            for name in HEADS:
                noun = next(
                    (p for p in tongue.phrases(f"{name}_stems") if tail.lstrip().startswith(p)), ""
                )
                if noun:
                    kind, head = name, noun
                    tail = tail.lstrip()[len(noun) :]
                    break
        rest = f"{question[:start]} {extra} {tail}"
    terms = tuple(dict.fromkeys(terms_of(rest, tongue)))
    operands = _either(question, tongue)
    form: Form = "span"
    if operands and wh in ("none", "which", "who"):
        form = "choice"
    elif found is None and _POLAR[tongue.code].search(question):
        form = "yes_no"
    return Asked(tongue, form, wh, kind, year, measure, terms, head, operands)  # type: ignore[arg-type]


def _phrase(question: str, tongue: Tongue) -> tuple[Wh, int, int] | None:
    """The longest phrase that asks, and where it stands."""
    best: tuple[int, int, Wh, int] | None = None
    for rank, wh in enumerate(_ORDER):
        for phrase in tongue.phrases(wh):
            at = question.find(phrase)
            if tongue.code == "ko":
                match = regex.search(rf"(?<!\p{{Hangul}}){regex.escape(phrase)}", question)
                at = match.start() if match else -1
            if at >= 0:
                key = (-len(phrase), rank, wh, at)
                if best is None or key[:2] < best[:2]:
                    best = key
                break
    return (best[2], best[3], best[3] - best[0]) if best else None


def terms_of(text: str, tongue: Tongue) -> list[str]:
    """What a text in such a script is about: words, runs, or (Chinese) pairs of characters."""
    if tongue.code == "ko":
        words = [stripped(m.group(), tongue) for m in WORD.finditer(text)]
        return [w for w in words if w not in tongue.words("function")]
    if tongue.code == "ja":
        return [m.group() for m in _RUNS["ja"].finditer(text)]
    small = "".join(p for p in tongue.phrases("function") if len(p) == 1)
    found = []
    for run in _RUNS["zh"].findall(text):
        for part in regex.split(rf"[{small}]", run):
            if regex.fullmatch(r"\p{Han}{2,}", part):
                found += [part[i : i + 2] for i in range(len(part) - 1)]
            elif part:
                found.append(part)
    return found


def stripped(word: str, tongue: Tongue) -> str:
    """A Korean word without the particle at its end."""
    for particle in tongue.phrases("particles"):
        if word.endswith(particle) and len(word) > len(particle):
            return word[: -len(particle)]
    return word


def _either(question: str, tongue: Tongue) -> tuple[tuple[str, ...], ...]:
    """The runs next to "or" on either side that do not stand on both."""
    for joint in tongue.phrases("or"):
        at = question.find(joint)
        if at > 0:
            left = _chunks(question[:at], tongue)
            right = _chunks(question[at + len(joint) :], tongue)
            both = set(left) & set(right)
            first = [t for t in left if t not in both]
            second = [t for t in right if t not in both]
            if first and second:
                return (first[-1],), (second[0],)
    return ()


def _chunks(text: str, tongue: Tongue) -> list[str]:
    if tongue.code != "zh":
        return terms_of(text, tongue)
    small = "".join(p for p in tongue.phrases("function") if len(p) == 1)
    return [p for run in _RUNS["zh"].findall(text) for p in regex.split(rf"[{small}]", run) if p]
