"""Elements of our own: their files lie under ``front/``, and ``order.js`` goes before each."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from components import session

_FRONT = Path(__file__).parent / "front"


def read(name: str) -> str:
    """A file under ``front/``."""
    return (_FRONT / name).read_text(encoding="utf-8")


def script(name: str) -> str:
    """The whole script of an element: what all have in common, and its own ``draw``."""
    return f"{read('order.js')}\n{read(f'{name}.js')}"


class Element:
    """An element whose script is ``front/NAME.js`` and whose style is ``front/NAME.css``.

    The script has a function ``draw(content, frame, pick)``: ``content`` as it is handed to
    ``show``, ``frame`` the node that holds ``html``, and ``pick(seq)`` to select a step.
    """

    def __init__(self, name: str, html: str) -> None:
        self.name, self.html = name, html
        self._mount = st.components.v2.component(
            f"ri_{name}", html=html, css=read(f"{name}.css"), js=script(name)
        )

    def show(self, content: Mapping[str, Any], *, key: str, on_pick: Callable[[], None]) -> None:
        """Show ``content``; the step that was picked is in the element's ``picked`` trigger."""
        self._mount(
            key=key, data={"order": _order(), "content": dict(content)}, on_picked_change=on_pick
        )


def _order() -> list[str | int]:
    """Which draw of which session this is: a browser may carry out two of them in the other
    order, and what it shows must be the newer."""
    session.first(session.DRAWS, [secrets.token_hex(4), 0])
    name, count = session.get(session.DRAWS)
    session.put(session.DRAWS, [name, count + 1])
    return [name, count]
