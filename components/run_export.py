"""A run as a file to download, in each of the forms."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components import session
from core.export import FORMATS, written
from core.journal import Journal
from core.reasoning.llm.redact import Redact, masking


def draw(journal: Journal, run_id: str, key: str) -> None:
    """A button for each form. A file is made when its button is pressed."""
    redact = masking(str(session.get(session.MODEL_KEY, "")).strip() or None)
    for name, form in FORMATS.items():
        st.download_button(
            f"Export as {form.title}",
            partial(_made, journal, run_id, name, redact),
            file_name=f"run-{run_id}.{form.suffix}",
            mime=form.mime,
            icon=":material/download:",
            key=f"{key}:{name}",
            on_click="ignore",  # a page drawn anew meanwhile can lose the file
            help=f"{form.summary[0].upper()}{form.summary[1:]}.",
        )


def _made(journal: Journal, run_id: str, name: str, redact: Redact) -> str:
    return written(journal.steps(run_id), name, redact)
