"""Markdown that carries no statement: headings, front matter, rules; and code among the prose."""

from __future__ import annotations

from functools import lru_cache

import regex

MAX_HEADING_WORDS = 5
"""Words of a line that is a heading although nothing marks it."""

_HEADING = regex.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]|$)")
_RULE = regex.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}|[ \t]*\|?[-:| \t]+\|?[ \t]*")
_FRONT = regex.compile(r"\A---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|\Z)")
_LISTED = regex.compile(r"[ \t]*(?:[-*+|]|\d+[.)])[ \t]")
_BARE = regex.compile(r"\p{Lu}[^\n.!?:;`|]*[\p{L}\p{N})]")
_CODE = regex.compile(
    r"`(?P<tick>[^`\n]{1,80})`"
    r"|(?<![\w/.`:-])(?P<bare>"
    r"(?:~|\.{1,2})?/[\w.-]*\w(?:/[\w.-]*\w)+/?"
    r"|--[a-z][\w-]+"
    r"|[A-Za-z][A-Za-z\d]*(?:_[A-Za-z\d]+)+(?:[ ]?=[ ]?[\w./:-]*\w)?"
    r"|[\w-]+\.(?:toml|ya?ml|json|conf|cfg|ini|log|py|sh|txt|xml|csv|jar|exe|properties|env)"
    r")(?!\w)"
)


@lru_cache(maxsize=2_048)
def _lines(text: str) -> tuple[tuple[int, int], ...]:
    """The lines that state nothing, as spans."""
    found = []
    front = _FRONT.match(text)
    start = 0
    if front:
        found.append(front.span())
        start = front.end()
    for match in regex.finditer(r"[^\n]+", text, pos=start):
        line = match.group()
        if _HEADING.match(line) or _RULE.fullmatch(line) or _bare(text, match):
            found.append(match.span())
    return tuple(found)


def _bare(text: str, line: regex.Match[str]) -> bool:
    """Whether a line is a heading by its look: a few words with no stop, alone between a blank
    line (or the beginning) and a blank line that text follows."""
    before, after = text[: line.start()], text[line.end() :]
    alone = (not before.strip() or before.endswith("\n\n")) and after.startswith("\n\n")
    words = line.group().split()
    return (
        alone
        and bool(after.strip())
        and len(words) <= MAX_HEADING_WORDS
        and not _LISTED.match(line.group())
        and not any(c.isdigit() for c in line.group())
        and _BARE.fullmatch(line.group().strip()) is not None
    )


def is_structure(text: str, start: int, end: int) -> bool:
    """Whether the characters ``start:end`` lie wholly in lines that state nothing."""
    at = start
    for a, b in _lines(text):
        if a <= at < b:
            at = b
            while at < end and text[at].isspace():
                at += 1
            if at >= end:
                return True
    return False


def heading_of(text: str, start: int) -> str:
    """The last heading before a character, without its marks; empty where there is none."""
    above = [text[a:b] for a, b in _lines(text) if b <= start and not text[a:b].startswith("---")]
    return above[-1].strip(" \t#") if above else ""


@lru_cache(maxsize=2_048)
def code_spans(text: str) -> frozenset[tuple[int, int]]:
    """Spans written as code: in backticks (which are left out), and paths, file names, options
    and names with underscores (with a value, where one follows) outside of them."""
    return frozenset(
        m.span("tick") if m.group("tick") is not None else m.span("bare")
        for m in _CODE.finditer(text)
    )
