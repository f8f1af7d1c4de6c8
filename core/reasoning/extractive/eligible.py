"""Which candidates may answer at all: rules that stand above the fitted ranking.

Each rule bars candidates of a wrong form, and only where one of the right form is there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from core.reasoning.extractive.lexicon import words
from core.reasoning.extractive.measures import is_interval, measure_of, measures_asked
from core.reasoning.extractive.question import code_asked
from core.reasoning.extractive.scoring import Pool, Row
from core.reasoning.extractive.structure import code_spans, is_structure
from core.retrieval.tokenizer import STOP_WORDS, stem, tokenize

BEST = 5
"""Sentences of the pool, by rank, in which a rule looks for a candidate of the right form."""
KEPT = 0.5
"""Mass that is left at least to the candidates that the rules let through."""
EXTENSION = 5

Mask = npt.NDArray[np.bool_]


def eligible(pool: Pool) -> tuple[Mask, float]:
    """One flag a row of the pool, all set where no rule applies; and the mass that those let
    through have at least, 0 where none is barred."""
    allowed = np.ones(len(pool.rows), dtype=bool)
    kept = 0.0
    for rule in (_code, _measured, _person, _named):
        found = rule(pool)
        if found is None or not (allowed & found).any():
            continue
        if not found[allowed].all():
            kept = KEPT
        allowed &= found
    return allowed, kept


def _mask(pool: Pool, fits: Callable[[Row], bool]) -> Mask:
    return np.array([fits(row) for row in pool.rows], dtype=bool)


def _best(pool: Pool, row: Row) -> bool:
    return pool.rank[row.sentence.row] < BEST


def _text(pool: Pool, row: Row) -> str:
    return pool.scene.passages[row.sentence.passage].text


def _code(pool: Pool) -> Mask | None:
    """What is written as code, where a command, a file, a setting is asked for."""
    form = code_asked(pool.scene.question)
    if not form:
        return None

    def is_code(row: Row) -> bool:
        c = row.candidate
        return _best(pool, row) and (c.start, c.end) in code_spans(_text(pool, row))

    code = _mask(pool, is_code)
    shaped = code & _mask(pool, lambda row: _of_form(row.candidate.text, form))
    return shaped if shaped.any() else code


def _of_form(text: str, form: str) -> bool:
    if form == "file":
        stem_, dot, extension = text.rpartition(".")
        named = bool(stem_ and dot) and extension.isalpha() and len(extension) <= EXTENSION
        return " " not in text and ("/" in text or named)
    if form == "flag":
        return text.startswith("-")
    if form == "setting":
        return "=" in text or ("_" in text and " " not in text)
    if form == "command":
        return text[:1].isalpha() and "=" not in text and "_" not in text and "/" not in text[:1]
    return True


def _measured(pool: Pool) -> Mask | None:
    """A unit of the measure asked for: "how much memory" is no time. The bare number of one with
    a unit is no amount either, and a time between events alone says how often."""
    if pool.analysis.counts:
        return None
    asked = measures_asked(pool.scene.question)
    amount = pool.analysis.kind == "number" and pool.analysis.wh == "how_many"
    if not (asked or amount):
        return None

    def measures(row: Row) -> bool:
        c = row.candidate
        return c.shape == "number" and measure_of(c.unit)[0] in asked and not c.inside

    fitting = _mask(pool, lambda row: _best(pool, row) and measures(row)).any()
    whole = {
        (row.sentence.row, row.candidate.start)
        for row in pool.rows
        if row.candidate.shape == "number" and measure_of(row.candidate.unit)[0]
    }

    def fits(row: Row) -> bool:
        c = row.candidate
        measure = measure_of(c.unit)[0] if c.shape == "number" else ""
        if c.shape == "number" and c.inside and (row.sentence.row, c.start) in whole:
            return False
        if asked and measure and measure not in asked:
            return False
        return not fitting or c.shape in ("number", "date") or any(d.isdigit() for d in c.text)

    found = _mask(pool, fits)
    if "frequency" in asked and "length" not in asked and "often" in pool.analysis.measure:
        spaced = _mask(
            pool,
            lambda row: measures(row) and is_interval(_text(pool, row), row.candidate.start),
        )
        if spaced.any():
            return spaced
    return found


def _person(pool: Pool) -> Mask | None:
    """A page is nobody and no town: "Escalation runbook" is no answer to "who"."""
    a = pool.analysis
    if a.wh != "who" and not (a.kind in ("place", "org") and _asks_name(pool)):
        return None
    pages = {p.index for p in pool.scene.passages if is_page(p.parse.title)}
    keys = {alias for i in pages for alias in pool.scene.passages[i].parse.aliases}

    def fits(row: Row) -> bool:
        c = row.candidate
        if row.sentence.passage in pages and (
            c.shape == "title" or is_structure(_text(pool, row), c.start, c.end)
        ):
            return False
        return c.key not in keys

    return _mask(pool, fits) if pages else None


def is_page(title: str) -> bool:
    """Whether a title is the heading of a page, not a name: a word of it that tells something
    begins with a small letter, or it has a colon.

    >>> is_page("Escalation runbook"), is_page("Ludwig van der Rohe"), is_page("Red Cross")
    (True, False, False)
    >>> is_page("Kim Jong-il")
    False
    """
    tokens = tokenize(title.split("(")[0])
    small = ("van", "von", "der", "den", "del", "della", "dos", "das", "bin", "ibn", "ben", "el")
    return ": " in title or any(
        title[t.start].islower()
        and title[t.start - 1].isspace()
        and t.surface not in STOP_WORDS
        and t.surface not in small
        for t in tokens[1:]
    )


def _asks_name(pool: Pool) -> bool:
    a = pool.analysis
    heads = {stem(w) for w in words("named", "things")}
    return a.wh in ("what", "which") and not a.type_of and not a.head.isdisjoint(heads)


def _named(pool: Pool) -> Mask | None:
    """A name, where an album, a label, a city is asked for: common nouns and dates are none."""
    a = pool.analysis
    if not _asks_name(pool):
        return None
    asked = pool.scene.asked

    def is_new(row: Row) -> bool:
        tokens = tokenize(row.candidate.text)
        return any(t.term not in asked for t in tokens if t.surface not in STOP_WORDS)

    def is_name(row: Row) -> bool:
        c = row.candidate
        if c.shape not in ("name", "quote", "title") or not is_new(row):
            return False
        return (not c.kinds or c.kinds.get(a.kind, 0.0) > 0) and _best(pool, row)

    if not _mask(pool, is_name).any():
        return None

    def fits(row: Row) -> bool:
        c = row.candidate
        if c.shape in ("name", "quote", "title"):
            return is_new(row)
        if c.shape == "noun":
            return c.text[:1].isupper()
        return c.shape == "date" and c.unit == "year"

    return _mask(pool, fits)
