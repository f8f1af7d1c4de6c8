"""What stops a page is said on it, in one sentence."""

from __future__ import annotations

from collections.abc import Callable


def page(body: Callable[[], None]) -> None:
    """Draw the body of a page; a full disk, a locked journal or a damaged index is an error
    message under the heading, not a trace of the program."""
    from components.notices import error
    from core.errors import RagError

    try:
        body()
    except RagError as problem:
        error(problem.message)
