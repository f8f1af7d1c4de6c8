"""One cursor: the selected step of the run on the page, moved by click, slider, button or key."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import session


def place(run_id: str, last: int) -> int:
    """The selected step. A run that is newly opened starts at the URL's step, else at its newest,
    and goes with the newest until the cursor is moved."""
    if session.get(session.OPENED) != run_id:
        session.put(session.OPENED, run_id)
        given = session.param(session.P_STEP)
        session.put(session.FOLLOWING, not given)
        session.put(session.CURSOR, int(given) if given.isdecimal() and len(given) < 9 else last)
    if session.get(session.FOLLOWING):
        session.put(session.CURSOR, last)
    cursor = max(0, min(int(session.get(session.CURSOR, last)), last))
    session.put(session.CURSOR, cursor)
    return cursor


def move(seq: int) -> None:
    """Select a step, and stop following."""
    session.put(session.CURSOR, seq)
    _moved()


def _moved() -> None:
    session.put(session.FOLLOWING, False)
    session.show(**{session.P_STEP: session.get(session.CURSOR)})


def _slid() -> None:
    move(int(session.get(session.SLIDER)))


def _followed() -> None:
    following = bool(session.get(session.FOLLOW))
    session.put(session.FOLLOWING, following)
    if following:
        session.show(**{session.P_STEP: None})


def picked(key: str) -> None:
    """A step was clicked in a component."""
    seq = getattr(session.get(key), "picked", None)
    if seq is not None:
        move(int(seq))


def pointed(key: str) -> None:
    """A point of a chart over the steps was clicked."""
    points = session.get(key, {}).get("selection", {}).get("points", [])
    if points:
        move(int(points[0]["x"]))


def bar(stops: Sequence[int], last: int, live: bool) -> DeltaGenerator:
    """Buttons, slider, and whether to follow; ``stops`` are the steps on the timeline. Returns the
    place of the player."""
    cursor = session.get(session.CURSOR)
    before = [s for s in stops if s < cursor]
    after = [s for s in stops if s > cursor]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ri_cursor"):
        st.button(
            "Back",
            icon=":material/chevron_left:",
            key="step_back",
            shortcut="Left",
            disabled=not before,
            on_click=move,
            args=(before[-1] if before else 0,),
        )
        st.button(
            "Next",
            icon=":material/chevron_right:",
            icon_position="right",
            key="step_next",
            shortcut="Right",
            disabled=not after,
            on_click=move,
            args=(after[0] if after else last,),
        )
        place = st.container(width="content", key="ri_player")
        if live and session.get(session.FOLLOWING):
            # No slider here: a busy browser would send back where it stood some steps ago.
            st.progress(1.0, text=f"Step {last:,}, the newest")
        elif last > 0:
            session.agree(session.SLIDER, cursor)
            st.slider(
                "Selected step",
                0,
                last,
                key=session.SLIDER,
                label_visibility="collapsed",
                on_change=_slid,
            )
        if live:
            session.put(session.FOLLOW, bool(session.get(session.FOLLOWING)))
            st.toggle("Follow newest", key=session.FOLLOW, on_change=_followed)
        st.toggle(
            "Every step",
            key=session.EVERY_STEP,
            persist_state="session",
            help="Also the bookkeeping of ports: calls and the texts of passages.",
        )
    return place
