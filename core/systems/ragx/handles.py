"""Handles: the names by which a forage loop lists passages, and how an agent's words find them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import regex

from core.fencing import neutralise, one_line
from core.observations import ACTIONS
from core.types import Passage

_AT_LINE = regex.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?:-\d{1,9})?")
_QUOTES = "\"'“”‘’«»<>()[]"


@dataclass(frozen=True, slots=True)
class Entry:
    """A listed passage: its handle, and what else it can be called by."""

    handle: str
    path: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Handles:
    """The passages listed so far, in order; a handle never changes its meaning."""

    entries: tuple[Entry, ...] = ()

    def add(self, passages: Iterable[Passage]) -> Handles:
        """With these passages, where they are new.

        A handle is ``path:line``, the first line of the passage; where that is taken, a number
        is added.
        """
        entries = list(self.entries)
        known = {e.passage.id for e in entries}
        taken = {e.handle for e in entries}
        for passage in passages:
            if passage.id in known:
                continue
            path = displayed(passage.document)
            first = handle = f"{path}:{passage.line_start}"
            number = 1
            while handle in taken:
                number += 1
                handle = f"{first}#{number}"
            known.add(passage.id)
            taken.add(handle)
            entries.append(Entry(handle, path, passage))
        return Handles(tuple(entries))

    def of(self, passage_id: str) -> str:
        """The handle of a listed passage."""
        return next(e.handle for e in self.entries if e.passage.id == passage_id)

    def resolve(self, argument: str, read: Iterable[str] = ()) -> tuple[Entry, ...]:
        """The passages that an agent may mean: one where that is clear, none, or several.

        In this order: exact handle or id (also with more after it, as a listed row has), path and
        line, bare path, base name, suffix at a folder, name without extension, title. A document
        with several passages means its first one that is not in ``read``.
        """
        wanted = displayed(argument).strip()
        candidates = [wanted, wanted.strip(_QUOTES + " ").rstrip(".,;")]
        for text in dict.fromkeys(c for c in candidates if c):
            if found := self._exact(text) or self._at_line(text) or self._named(text, read):
                return found
        return ()

    def _exact(self, text: str) -> tuple[Entry, ...]:
        for entry in self.entries:
            if text in (entry.handle, entry.passage.id):
                return (entry,)
        longest = [e for e in self.entries if text.startswith((e.handle + " ", e.handle + "\t"))]
        if longest:
            return (max(longest, key=lambda e: len(e.handle)),)
        folded = [e for e in self.entries if e.handle.casefold() == text.casefold()]
        return (folded[0],) if len(folded) == 1 else ()

    def _at_line(self, text: str) -> tuple[Entry, ...]:
        match = _AT_LINE.fullmatch(text)
        if match is None:
            return ()
        line = int(match["line"])
        within = [e for e in self.entries if e.passage.line_start <= line <= e.passage.line_end]
        return _first_kind(within, match["path"])

    def _named(self, text: str, read: Iterable[str]) -> tuple[Entry, ...]:
        found = _first_kind(self.entries, text)
        if len({e.path for e in found}) > 1:
            return found
        done = set(read)
        return tuple(e for e in found if e.passage.id not in done)[:1] or found[:1]


NOTHING_LISTED = Handles()


def displayed(name: str) -> str:
    """A file name or an argument as it stands in a listing: one line, disarmed."""
    return neutralise(one_line(name), ACTIONS)


def _first_kind(entries: Iterable[Entry], text: str) -> tuple[Entry, ...]:
    """Entries by the first kind of name that any of them answers to."""
    listed = tuple(entries)
    text = text.casefold().replace("\\", "/").removeprefix("./")
    for answers in _KINDS:
        found = tuple(e for e in listed if answers(e, text))
        if found:
            return found
    return ()


def _path(entry: Entry) -> str:
    return entry.path.casefold().replace("\\", "/")


def _base(entry: Entry) -> str:
    return _path(entry).rsplit("/", 1)[-1]


_KINDS: tuple[Callable[[Entry, str], bool], ...] = (
    lambda e, text: _path(e) == text,
    lambda e, text: _base(e) == text,
    lambda e, text: _path(e).endswith("/" + text) or text.endswith("/" + _path(e)),
    lambda e, text: _base(e).rsplit(".", 1)[0] == text,
    lambda e, text: displayed(e.passage.title).casefold() == text,
)
