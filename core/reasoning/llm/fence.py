"""Untrusted text made safe to stand in a prompt.

``core.fencing`` holds the delimiters. Here the text inside loses what a model could take for
something other than text: control, invisible and direction characters, escape sequences, the
special tokens and role tags of chat formats, and ``[3]``, which only a prompt may write (a
passage's handle). Words stay as they are, so a quotation is still found in its passage.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from core.fencing import fence, neutralise, one_line
from core.types import Passage

MAX_TITLE = 300
"""Longest title that is shown, in characters."""

_ESCAPES = regex.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|.)?")
_BREAKS = regex.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_JOINING = (
    r"[\p{Arabic}\p{Syriac}\p{Devanagari}\p{Bengali}\p{Tamil}\p{Telugu}\p{Kannada}"
    r"\p{Malayalam}\p{Sinhala}\p{Mongolian}]"
)
_INVISIBLE = regex.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"
    r"|[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    rf"|(?<!{_JOINING})[\u200c\u200d]|[\u200c\u200d](?!{_JOINING})"
    r"|[\U000e0000-\U000e0fff]|\p{Cs}"
)
_TAG = regex.compile(r"<(?=[|/!?\p{L}｜])([^<>\n]{0,200})(>?)")
_BRACKETED = regex.compile(r"\[(/?(?:INST|SYS|IMG|ARGS|THINK|[A-Z]+(?:_[A-Z]+)+))\]")
_ROLE = regex.compile(
    r"^([ \t#*>`_-]*(?:system|user|assistant|human|developer|tool|instructions?|response)"
    r"[*_` \t]*):",
    regex.IGNORECASE | regex.MULTILINE,
)
_HANDLE = regex.compile(r"\[(\s*\d+(?:\s*[,;-]\s*\d+)*\s*)\]")


def visible(text: str) -> str:
    """``text`` without escape sequences, control, invisible and direction characters.

    Line breaks of every kind become ``\\n``; joiners stay inside scripts that write with them.
    """
    text = _ESCAPES.sub("", text)
    text = _BREAKS.sub("\n", text)
    return str(_INVISIBLE.sub("", text))


def inert(text: str) -> str:
    """``text`` with nothing in it that a chat format could be made of. Idempotent."""
    text = neutralise(visible(text))
    text = _TAG.sub(lambda m: f"‹{m[1]}{'›' if m[2] else ''}", text)
    text = _BRACKETED.sub(r"(\1)", text)
    return str(_ROLE.sub(r"\1 -", text))


def plain(text: str, words: Sequence[str] = ()) -> str:
    """``text`` made inert, without handles, and with action ``words`` (``RANK``) disarmed.

    Idempotent.
    """
    return neutralise(_HANDLE.sub(r"(\1)", inert(text)), words)


def line(text: str, words: Sequence[str] = ()) -> str:
    """``text`` made plain, on one line."""
    return plain(one_line(visible(text)), words)


def listed(texts: Sequence[str]) -> str:
    """Texts as a fenced list numbered from 1, one a line: ``[1] first``."""
    rows = [f"[{n}] {line(text)}" for n, text in enumerate(texts, start=1)]
    return fence("\n".join(rows)) if rows else "(none)"


def numbered(passages: Sequence[Passage]) -> str:
    """Passages in one fence, each headed by its handle and title: ``[1] Title``."""
    blocks = [
        f"[{n}] {line(p.title)[:MAX_TITLE]}\n{plain(p.text).strip()}"
        for n, p in enumerate(passages, start=1)
    ]
    return fence("\n\n".join(blocks)) if blocks else "(none)"
