"""What an agent observes while it forages, as text: a controller writes it, a reasoner reads it.

An observation is a header line and rows below it. Handles, titles and document text are flattened
or numbered row by row, so that no document can write a header or a row (specification: ragX,
"Forage loop"). ``fencing`` puts the whole between delimiters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import regex

from core.fencing import one_line, unfence

ACTIONS = ("RANK", "READ", "SEARCH", "ANSWER")
"""The action words of the forage grammar, as an agent writes them."""
RANKED = "Passages, best first (handle, tab, title):"
PRINTED = "The passage, line by line:"
MATCHED = "Lines (handle, tab, line):"
_NUMBERED = regex.compile(r"(\d+): ?(.*)", regex.DOTALL)


class Listed(NamedTuple):
    """A row of a ranking or of a line search: the handle to READ, and the title or the line."""

    handle: str
    label: str


class Printed(NamedTuple):
    """A passage that was read."""

    handle: str
    title: str
    text: str


class Observation(NamedTuple):
    """A parsed observation. All empty: a message, in ``message``."""

    ranked: tuple[Listed, ...] = ()
    printed: Printed | None = None
    matched: tuple[Listed, ...] = ()
    message: str = ""


def write_ranking(rows: Iterable[Listed]) -> str:
    """Passages by handle and title."""
    return "\n".join((RANKED, *(_row(row) for row in rows)))


def write_matches(rows: Iterable[Listed]) -> str:
    """Lines that a search found, with the handle of their passage."""
    return "\n".join((MATCHED, *(_row(row) for row in rows)))


def write_passage(handle: str, title: str, text: str, first_line: int) -> str:
    """A passage whole, every line with its number in the document."""
    lines = (f"{n}: {line}" for n, line in enumerate(text.split("\n"), first_line))
    return "\n".join((PRINTED, _row(Listed(handle, title)), *lines))


def read_observation(observation: str) -> Observation:
    """What ``write_*`` wrote, fenced or not.

    >>> read_observation(write_passage("a.md:3", "A", "x\\ny", 3)).printed
    Printed(handle='a.md:3', title='A', text='x\\ny')
    """
    header, _, body = unfence(observation).partition("\n")
    rows = body.split("\n") if body else []
    if header == RANKED:
        return Observation(ranked=tuple(_listed(row) for row in rows))
    if header == MATCHED:
        return Observation(matched=tuple(_listed(row) for row in rows))
    if header == PRINTED and rows:
        named = _listed(rows[0])
        lines = (_NUMBERED.fullmatch(row) for row in rows[1:])
        text = "\n".join(line[2] for line in lines if line)
        return Observation(printed=Printed(named.handle, named.label, text))
    return Observation(message=unfence(observation))


def _row(row: Listed) -> str:
    return f"{one_line(row.handle)}\t{one_line(row.label)}"


def _listed(row: str) -> Listed:
    handle, _, label = row.partition("\t")
    return Listed(handle, label)
