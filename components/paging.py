"""Long lists a page at a time, with a stated count: nothing is cut silently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from components import session
from components.safe import plural

T = TypeVar("T")
BUTTON, MOST_BUTTONS = 60, 7
"""Pixels allowed for a page's button (with less some are elided), and most of them at once."""


def page(
    items: Sequence[T], size: int, *, key: str, noun: str, order: str = "", always: bool = False
) -> Sequence[T]:
    """The items of the page that is open; where there are more than fit, how many there are and
    buttons to the other pages. ``always``: the count also where they fit.

    ``order`` says how they are sorted ("newest first"). Call it where the count shall stand.
    """
    total = len(items)
    if total <= size:
        session.take(key)
        if always:
            st.caption(stated(0, total, total, noun, order))
        return items
    first = (number(key, total, size) - 1) * size
    shown = items[first : first + size]
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.caption(stated(first, len(shown), total, noun, order))
        buttons(total, size, key)
    return shown


def buttons(total: int, size: int, key: str) -> None:
    """Buttons to the pages, wide enough that as many as are asked for are shown."""
    pages = -(-total // size)
    st.pagination(pages, key=key, width=BUTTON * (min(pages, MOST_BUTTONS) + 2))


def number(key: str, total: int, size: int) -> int:
    """The page that is open, kept within what there is."""
    wanted = int(session.get(key, 1))
    now = min(max(1, wanted), max(1, -(-total // size)))
    if now != wanted:
        session.put(key, now)
    return now


def stated(first: int, shown: int, total: int, noun: str, order: str = "") -> str:
    """``1 to 15 of 40 runs, newest first``."""
    text = f"{first + 1:,} to {first + shown:,} of {plural(total, noun)}"
    return f"{text}, {order}" if order else text
