"""What a passage is called: its title, and where several share it, what tells them apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import regex

from core.types import Passage

_HEADING = regex.compile(r"#{1,6}[ \t]+(\S[^\n]*?)[ \t]*#*(?:\n|$)")
LONGEST_SECTION = 40


def passage_names(passages: Iterable[Passage]) -> dict[str, str]:
    """A name for each of these passages, by id; no two of different place are alike.

    A title that only one of them has is enough. Among several documents of one title the document
    is named too; among several passages of one document the section that the passage opens, or
    else the line on which it begins.

    >>> one = Passage(id="1", document="a.md", title="Ada", text="## Youth\\nBorn in Rome.")
    >>> two = Passage(id="2", document="a.md", title="Ada", text="Ada is a ship.", line_start=9)
    >>> passage_names([one, two])
    {'1': 'Ada · Youth', '2': 'Ada, line 9'}
    """
    every = {p.id: p for p in passages}
    by_title: dict[str, list[Passage]] = defaultdict(list)
    for passage in every.values():
        by_title[passage.title].append(passage)
    names = {}
    for title, group in by_title.items():
        files = _files(sorted({p.document for p in group}))
        for document, file in files.items():
            of_document = [p for p in group if p.document == document]
            sections = Counter(section(p) for p in of_document)
            for passage in of_document:
                name = title if len(files) == 1 else f"{title} ({file})"
                if len(of_document) > 1:
                    opened = section(passage)
                    own = opened and sections[opened] == 1
                    name += f" · {opened}" if own else f", line {passage.line_start}"
                names[passage.id] = name
    return {i: names[i] for i in every}


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
