"""A run that is watched from its start keeps to itself how it ends, so that it can be guessed.

That the end is hidden is in the URL: it outlives a reload, and a run can be handed out so.
"""

from __future__ import annotations

import streamlit as st

from components import cursor, session


def holds(at: int, last: int, live: bool) -> bool:
    """Whether how the run ends is still to be guessed. At the last step it is known for good."""
    if session.END not in session.hidden():
        return False
    if at >= last or live:
        session.hide_end(False)
        return False
    return True


def played(first: int, before: int) -> None:
    """The player went on. Where it began at the first step, the end is left to be guessed."""
    cursor.picked(session.PLAYER)
    if min(before, session.get(session.CURSOR)) <= first:
        session.hide_end(True)


def draw() -> None:
    """While the end is hidden: what is to be guessed, and how to see it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            "Reveal",
            icon=":material/visibility:",
            key="run_reveal",
            on_click=session.hide_end,
            args=(False,),
            help="Show how the run ends, and all of its steps.",
        )
        words = "The end is hidden up to the last step. What will be decided next? How will it end?"
        st.html(f'<div class="ri-turn-rest">{words}</div>')
