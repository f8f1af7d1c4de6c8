"""Blocks in the shape of what comes, where a page waits for something slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import streamlit as st
from streamlit.elements.lib.skeleton_placeholder import SkeletonPlaceholder

from components import session

Column = tuple[float, Sequence[int]]
"""The share of the width, and the heights of the blocks in pixels from above."""
Shape = Sequence[Sequence[Column]]
"""Rows of columns."""

BENCH = 377
_BELOW: Shape = (
    ((1, (104,)), (2.6, (104,))),
    ((1, (47,)),),
    ((1, (35,)),),
    ((1.02, (BENCH,)), (1.72, (BENCH,)), (0.95, (BENCH,))),
)
ASK: Shape = (((1.35, (28, 62, 37, 60, 100, 38)), (1, (28, 74, 74, 74, 74))),)
RUN: Shape = (((2, (84,)), (1, (37,))), *_BELOW)
BELOW_HEAD: Shape = _BELOW
LIST: Shape = (((1, (37, 62, 92, 92, 92, 92)),),)
CORPUS: Shape = (((1, (62, 37, 30)),), ((1, (62, 41, 41, 41, 41, 41, 41)),))
DOCUMENTS: Shape = (((1, (62, 41, 41, 41, 41, 41, 41)),),)
HITS: Shape = (((1, (190, 190, 190)),),)
PICTURE: Shape = (((1, (460,)),),)


@contextmanager
def until(shape: Shape, key: str, once: str = "") -> Iterator[None]:
    """Show ``shape`` from half a second on, until the block is left. Read and reckon in it; draw
    after it, for what is drawn takes the place of the shape. What is named by ``once`` is waited
    for a single time in a session: a page that is drawn again all the time is spared the blocks.
    """
    session.first(session.WAITED, set())
    waited = session.get(session.WAITED)
    if once in waited:
        st.container(key=f"ri_wait_{key}")
        yield
        return
    with ExitStack() as shown:
        for each in _blocks(shape, key):
            shown.enter_context(each)
        yield
    if once:
        waited.add(once)


def draw(shape: Shape, key: str) -> None:
    """Show ``shape`` at once, as a part of the page."""
    for _ in _blocks(shape, key):
        pass


def _blocks(shape: Shape, key: str) -> list[SkeletonPlaceholder]:
    found = []
    with st.container(key=f"ri_wait_{key}"):
        for row in shape:
            columns = st.columns([share for share, _ in row], gap="medium")
            for column, (_, heights) in zip(columns, row, strict=True):
                found += [column.skeleton(height=height) for height in heights]
    return found
