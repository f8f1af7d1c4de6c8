"""What a unit measures, and which measure a question asks for; the tables are the lexicon's."""

from __future__ import annotations

from functools import cache, lru_cache

import regex

from core.reasoning.extractive.lexicon import table
from core.retrieval.tokenizer import tokenize

_EVERY = regex.compile(r"\b(?:every|each|once (?:a|an|per|every))\s*$", regex.IGNORECASE)


@cache
def _units() -> dict[str, tuple[str, float]]:
    found: dict[str, tuple[str, float]] = {}
    for measure, raw in table("measures").items():
        for pair in raw.split():
            unit, _, factor = pair.partition("=")
            found[unit] = measure, float(factor)
    return found


@lru_cache(maxsize=4_096)
def measure_of(unit: str) -> tuple[str, float]:
    """What a unit measures and how much of the measure's base unit it is; empty for a unit that
    measures nothing known, and for none.

    >>> measure_of("minutes"), measure_of("votes")
    (('time', 60.0), ('', 1.0))
    """
    folded = unit.lower()
    return _units().get(folded) or _units().get(folded.split(" ")[-1]) or ("", 1.0)


@cache
def _asked() -> dict[str, frozenset[str]]:
    return {
        word: frozenset(measures.split())
        for measures, words in table("asked_measures").items()
        for word in words.split()
    }


@lru_cache(maxsize=1_024)
def measures_asked(question: str) -> frozenset[str]:
    """The measures that an amount asked for by "how much", "how large", "what price" may have;
    empty where nothing tells, and where things are counted.

    >>> sorted(measures_asked("How heavy is it?")), sorted(measures_asked("How many are there?"))
    (['mass'], [])
    """
    surfaces = [t.surface for t in tokenize(question)]
    for i, surface in enumerate(surfaces[:-1]):
        following = surfaces[i + 1]
        if surface == "how" and following == "much":
            for word in surfaces[i + 2 : i + 4]:
                if word in table("amounts"):
                    return frozenset([table("amounts")[word]])
            paid = [w for w in surfaces if w in table("amount_verbs")]
            return frozenset([table("amount_verbs")[paid[0]]]) if paid else frozenset()
        if surface == "how" and following in _asked():
            return _asked()[following]
        if surface in ("what", "within", "after"):
            for word in surfaces[i + 1 : i + 5]:
                if word in table("measured_nouns"):
                    return frozenset(table("measured_nouns")[word].split())
                if word in ("of", "for", "that", "which", "who"):
                    break
    return frozenset()


def is_interval(text: str, start: int) -> bool:
    """Whether a time at ``start`` is one between two events: "every 10 seconds"."""
    return _EVERY.search(text[max(0, start - 12) : start]) is not None
