"""What every page begins with: its title, the style, the navigation, and what it is for.

Kept light, so that a page's heading is on screen before anything heavy is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from components import address
from components.markup import icon
from components.safe import esc
from components.session import link

_STYLES = (
    Path(__file__).with_name("style.css"),
    Path(__file__).with_name("systems.css"),
)
_ICON = Path(__file__).parent / "front" / "icon.svg"
"""A file of ours: an emoji or a Material icon here would be fetched from elsewhere."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the navigation lists it."""

    path: str
    title: str
    icon: str


PAGES = (
    Page("app.py", "Home", "home"),
    Page("pages/1_Run.py", "Run", "play_circle"),
    Page("pages/2_Runs.py", "Runs", "list_alt"),
    Page("pages/3_Corpus.py", "Corpus", "library_books"),
)
HOME, RUN, RUNS, CORPUS = (page.path for page in PAGES)


def head(path: str, purpose: str, *, heading: str | None = None) -> None:
    """Begin the page: configuration, style, navigation, heading and purpose in one line."""
    page = next(p for p in PAGES if p.path == path)
    st.set_page_config(
        page_title=f"{page.title} · RAG Inspector",
        page_icon=_ICON,
        layout="wide",
        initial_sidebar_state="collapsed",
        menu_items={"About": None, "Get help": None, "Report a bug": None},
    )
    for style in _STYLES:
        st.html(style)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="ri_nav", wrap=True
    ):
        st.html(f'<div class="ri-brand">{icon("troubleshoot")}RAG Inspector</div>', width="content")
        for other in PAGES:
            st.page_link(
                other.path,
                label=other.title,
                icon=f":material/{other.icon}:",
                query_params=link(),
            )
        address.draw()
    st.html(
        f'<div class="ri-head"><h1>{esc(heading or page.title)}</h1><p>{esc(purpose)}</p></div>'
    )
