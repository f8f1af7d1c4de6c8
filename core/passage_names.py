"""What a passage is called: its title, and what tells it from others of its document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import regex

from core.types import Passage

_HEADING = regex.compile(r"#{1,6}[ \t]+(\S[^\n]*?)[ \t]*#*(?:\n|$)")
LONGEST_SECTION = 40
LEAST_TITLE = 12
FRONT_MATTER = 12
"""A passage without a heading that begins up to this line begins its document: only front matter
stands before it."""
_APART = regex.compile(r"( \([^()]{1,40}\))?( · [^·]{1,40}|, line \d+)$| \([^()]{1,40}\)$")
"""How a name ends that tells passages of one title apart."""


def passage_names(passages: Iterable[Passage]) -> dict[str, str]:
    """A name for each of these passages, by id; no two of different place are alike.

    The passage that begins a document, or a heading that is its title, is called by the title;
    any other by the section that it opens, or else by the line on which it begins. So a passage
    has one name whatever else is at hand. Only among several documents of one title the document
    is named too, and where that leaves two names alike the line.

    >>> one = Passage(id="1", document="a.md", title="Ada", text="## Youth\\nBorn.", line_start=4)
    >>> two = Passage(id="2", document="a.md", title="Ada", text="Ada is a ship.", line_start=19)
    >>> passage_names([one, two])
    {'1': 'Ada · Youth', '2': 'Ada, line 19'}
    """
    every = {p.id: p for p in passages}
    by_title: dict[str, list[Passage]] = defaultdict(list)
    for passage in every.values():
        by_title[passage.title].append(passage)
    names = {}
    for title, group in by_title.items():
        files = _files(sorted({p.document for p in group}))
        ends = Counter((p.document, _end(p)) for p in group)
        for p in group:
            name = title if len(files) == 1 else f"{title} ({files[p.document]})"
            end = _end(p)
            names[p.id] = name + (end if ends[p.document, end] == 1 else f", line {p.line_start}")
    return {i: names[i] for i in every}


def brief(name: str, limit: int) -> str:
    """A name on about ``limit`` characters: its title is cut, never what tells it apart.

    >>> brief("Information Retrieval, a course · Ranking", 30)
    'Information Retriev… · Ranking'
    """
    if len(name) <= limit:
        return name
    found = _APART.search(name)
    end = found[0] if found else ""
    room = max(LEAST_TITLE, limit - len(end) - 1)
    return f"{name[: min(room, len(name) - len(end))].rstrip()}…{end}"


def _end(passage: Passage) -> str:
    """What follows the title in a passage's name; nothing where the title is enough."""
    opened = section(passage)
    begins = passage.line_start <= (1 if opened else FRONT_MATTER)
    if begins or opened == passage.title:
        return ""
    return f" · {opened}" if opened else f", line {passage.line_start}"


def section(passage: Passage) -> str:
    """The heading that a passage opens with, without its marks; empty where it opens with none."""
    found = _HEADING.match(passage.text)
    text = " ".join(found[1].split()) if found else ""
    return text if len(text) <= LONGEST_SECTION else text[: LONGEST_SECTION - 1].rstrip() + "…"


def _files(documents: Sequence[str]) -> dict[str, str]:
    """Documents by the shortest ends of their paths that differ."""
    parts = {d: PurePosixPath(d).parts for d in documents}
    depth = 1
    while True:
        ends = {d: "/".join(p[-depth:]) for d, p in parts.items()}
        if len(set(ends.values())) == len(documents) or depth > max(map(len, parts.values())):
            return ends
        depth += 1
