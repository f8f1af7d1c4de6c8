"""Names in Japanese, Chinese and Korean, by runs of script, particles and function characters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from core.reasoning.extractive.tongues.asked import Asked, stripped
from core.reasoning.extractive.tongues.pieces import Piece
from core.reasoning.extractive.tongues.tables import Tongue

_JA = regex.compile(r"[\p{Han}々\p{Katakana}ー・＝\p{Latin}]+(?:の(?=\p{Han}))?")
_JA_AFTER = regex.compile(r"\p{Hiragana}{1,6}")
_HANGUL = regex.compile(r"[\p{Hangul}\p{Latin}\p{N}]+")
_QUOTED = regex.compile(r"[「『《“‘]([^」』》”’]{1,60})[」』》”’]")
_DIGIT = regex.compile(r"\p{N}")
_COPULAS = ("である", "です", "であった", "でした")
MOST_CHARACTERS = 30


def names(text: str, start: int, end: int, asked: Asked) -> Iterator[Piece]:
    """Names of the kind asked for in ``text[start:end]``."""
    find = {"ja": _japanese, "zh": _chinese, "ko": _korean}[asked.tongue.code]
    for a, b, before, after in find(text, start, end, asked):
        while a < b and text[a] in "·・＝":
            a += 1
        while b > a and text[b - 1] in "·・＝の":
            b -= 1
        a = _past_occupation(text, a, b, asked.tongue)
        if not 1 < b - a <= MOST_CHARACTERS and not (b - a == 1 and asked.kind == "place"):
            continue
        if _DIGIT.search(text[a:b]) or _echoes(text[a:b], asked):
            continue
        yield Piece(a, b, asked.kind, _cue(text[a:b], before, after, asked))


def _past_occupation(text: str, a: int, b: int, tongue: Tongue) -> int:
    for noun in tongue.phrases("occupations"):
        if text.startswith(noun, a) and a + len(noun) < b:
            a += len(noun)
            while a < b and (text[a].isspace() or text[a] == "の"):
                a += 1
            return a
    return a


def _echoes(run: str, asked: Asked) -> bool:
    return run in asked.terms or all(part in asked.terms for part in regex.split(r"[・·\s]", run))


def _cue(run: str, before: str, after: str, asked: Asked) -> float:
    tongue, kind = asked.tongue, asked.kind
    named = 0.3 if regex.search(r"[・·\s]", run) else 0.0
    named += 0.8 if before in asked.terms else 0.0  # "the wife IS ..." where the wife is asked for
    if kind == "org":
        fits = any(run.endswith(e) for e in tongue.phrases("org_ends"))
        fits = fits or (bool(asked.head) and run.endswith(asked.head))
        return 1.0 if fits else -0.5
    if any(run.endswith(e) for e in tongue.phrases("org_ends") if len(e) > 1):
        named -= 0.5
    if kind == "place":
        cued = after in tongue.phrases("place_after") or before in tongue.phrases("place_before")
        return (1.0 if cued else 0.0) - named
    if kind == "person":
        named -= 0.5 if run.endswith(tongue.phrases("occupations")) else 0.0
        cued = after in tongue.phrases("person_after") or before in tongue.phrases("person_before")
        elsewhere = after in tongue.phrases("place_after") or before in tongue.phrases(
            "place_before"
        )
        return (0.6 if cued else 0.0) + named - (0.5 if elsewhere and not cued else 0.0)
    return named


def _japanese(text: str, start: int, end: int, asked: Asked) -> Iterator[tuple[int, int, str, str]]:
    """Runs of Han and katakana, and the particle behind each."""
    places = sorted(asked.tongue.phrases("place_after"), key=lambda p: -len(p))
    topic = ""
    for match in _JA.finditer(text, start, end):
        a, b = match.span()
        follows = _JA_AFTER.match(text, b, end)
        said = follows.group() if follows else ""
        listed = (*places, *asked.tongue.phrases("person_after"))
        after = next((p for p in sorted(listed, key=len, reverse=True) if said.startswith(p)), "")
        if match.group().endswith("の"):
            b -= 1
        if said.startswith(_COPULAS):
            after = ""
        yield a, b, topic, after
        topic = match.group() if said.startswith("は") else ""


@cache
def _chinese_cuts(tongue: Tongue) -> regex.Pattern[str]:
    listed = (p for t in ("function", "place_before", "person_before") for p in tongue.phrases(t))
    parts = "|".join(sorted({regex.escape(p) for p in listed}, key=len, reverse=True))
    return regex.compile(rf"({parts}|[^\p{{Han}}\p{{Latin}}·]+)")


def _chinese(text: str, start: int, end: int, asked: Asked) -> Iterator[tuple[int, int, str, str]]:
    """What stands between function characters, verbs, and what the question says."""
    position, before = start, ""
    for cut in (*_chinese_cuts(asked.tongue).finditer(text, start, end), None):
        a, b = position, cut.start() if cut else end
        behind = cut.group() if cut else ""
        while a < b:
            stop, word = _verb(text, a, b, asked)
            if a < stop:
                yield a, stop, before, word or behind
            a, before = stop + len(word), word
        if cut is not None:
            position, before = cut.end(), behind


def _verb(text: str, a: int, b: int, asked: Asked) -> tuple[int, str]:
    """The first verb or word of the question in ``text[a:b]``, longest first; else the end."""
    listed = (
        *asked.tongue.phrases("place_verbs"),
        *asked.tongue.phrases("person_verbs"),
        *(t for t in asked.terms if len(t) > 1),
    )
    found = [(at, -len(w), w) for w in listed if (at := text.find(w, a, b)) >= 0]
    return (min(found)[0], min(found)[2]) if found else (b, "")


def _korean(text: str, start: int, end: int, asked: Asked) -> Iterator[tuple[int, int, str, str]]:
    """Words without a particle and the next that has one, without the particle."""
    tongue = asked.tongue
    first: int | None = None
    last_end, topic = start, ""
    for match in _HANGUL.finditer(text, start, end):
        if first is None or text[last_end : match.start()] != " ":
            first = match.start()
        word = match.group()
        if _DIGIT.search(word):
            first, last_end = None, start
            continue
        bare = stripped(word, tongue)
        last_end = match.end()
        if bare == word:
            continue
        particle = word[len(bare) :]
        yield first, match.start() + len(bare), topic, particle
        topic = bare if particle in ("은", "는") else ""
        first = None


def quotes(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands in quotation marks."""
    for match in _QUOTED.finditer(text, start, end):
        yield match.span(1)
