"""Untrusted text as literal text.

Documents, file names, questions, model output and imported runs are data. They reach a page
only through ``st.text``, ``st.code``, a text node of our own components, or ``esc`` inside
``st.html``; never through Markdown, which would fetch images and set formulas.
"""

from __future__ import annotations

from core.literal import esc, isolated, marked, visible
from core.narration import counted as plural

__all__ = ["esc", "isolated", "marked", "plural", "shorten", "visible"]


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters on one line, an ellipsis where more were."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
