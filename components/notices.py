"""Messages to the person. They may quote what was given, so none is Markdown."""

from __future__ import annotations

import streamlit as st

from components.markup import icon
from components.palette import PASSED, REFUSED, WARNING, Sign
from components.safe import esc

INFO = Sign("#0072B2", "info", "Note")


def notice(text: str, sign: Sign = INFO) -> None:
    """One message with its icon, read out by screen readers."""
    role = "alert" if sign is REFUSED else "status"
    st.html(
        f'<div class="ri-notice" role="{role}" style="--c:{sign.colour}">'
        f"{icon(sign.icon, sign.colour, 1.3)}<div>{esc(text)}</div></div>"
    )


def error(text: str) -> None:
    """Something was refused: says what to do."""
    notice(text, REFUSED)


def warning(text: str) -> None:
    """Something is not as it should be, and the work goes on."""
    notice(text, WARNING)


def done(text: str) -> None:
    """Something worked."""
    notice(text, PASSED)


def empty(symbol: str, title: str, text: str) -> None:
    """What to do where there is nothing yet."""
    st.html(
        f'<div class="ri-empty">{icon(symbol, size=2.2)}<b>{esc(title)}</b>'
        f"<span>{esc(text)}</span></div>"
    )
