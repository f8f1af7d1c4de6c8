"""Untrusted text as literal text of an HTML document.

Documents, file names, questions, model output and imported runs are data: what could act as
markup is escaped, and what cannot be seen is written out.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable

_KEPT = frozenset("\n\t")
_JOINERS = frozenset("\u200c\u200d")
_HIDDEN = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0\u2800")


def visible(text: str) -> str:
    """The text with every control, bidirectional and zero-width character written out.

    ``U+202E`` becomes ``[U+202E]``. Line feeds and tabs stay; so do the two joiners between
    letters or symbols that are not ASCII, where scripts and emoji need them.

    >>> visible("a\\u202eb")
    'a[U+202E]b'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(text, i, c) for i, c in enumerate(text))


def _shown(text: str, i: int, c: str) -> str:
    if c in _KEPT:
        return c
    if c in _JOINERS and _joins(text[i - 1 : i]) and _joins(text[i + 1 : i + 2]):
        return c
    category = unicodedata.category(c)
    if c in _HIDDEN or category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"[U+{ord(c):04X}]"
    return c


def _joins(c: str) -> bool:
    return bool(c) and not c.isascii() and unicodedata.category(c)[0] in "LMS"


def esc(text: object) -> str:
    """Text for an element's content or a quoted attribute."""
    return html.escape(visible(str(text)), quote=True)


def isolated(text: object) -> str:
    """Escaped text whose direction cannot reorder what stands beside it."""
    return f"<bdi>{esc(text)}</bdi>"


def marked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Escaped text with ``spans`` (characters of the original, start and end) in ``<mark>``.

    Overlapping spans are merged; spans beyond the text are cut to it.
    """
    merged: list[list[int]] = []
    for start, end in sorted((max(0, s), min(len(text), e)) for s, e in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    parts, at = [], 0
    for start, end in merged:
        parts += [esc(text[at:start]), "<mark>", esc(text[start:end]), "</mark>"]
        at = end
    return "".join([*parts, esc(text[at:])])
