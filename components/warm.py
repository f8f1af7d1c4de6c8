"""While a question is read or typed, the browser fetches what the run page draws with."""

from __future__ import annotations

import streamlit as st

from components import timeline


def draw() -> None:
    """Draw an empty chart, an empty timeline and a letter of each face out of sight. Call it at the
    end of a page: what is above it is on screen before this loads."""
    import plotly.graph_objects as go

    with st.container(key="ri_warm"):
        st.plotly_chart(go.Figure(), key="warm_chart")
        st.html('<span class="ri-answer">a</span> <code>a</code>')
        timeline.draw([], 0, count="", key="warm_timeline", on_pick=_nothing)


def _nothing() -> None:
    """Nothing can be picked there."""
